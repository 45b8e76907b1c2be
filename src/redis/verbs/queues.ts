// Queues: their settings and classes, how they stand, and the sweep over all of them.

import { answerOf, type Row } from '../answers.ts'
import { listWords, type Parts, ringsOf } from '../parts.ts'
import { decodeQueue } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { NearQueue, QueueRow, Ring } from '../types.ts'

/** null: as usual. `ageing` in milliseconds. */
export type QueueSettings = {
  lanes: number | null
  batch: number | null
  paused: boolean
  mode: 'push' | 'pull'
  ageing: number | null
}

/** A class as it is to be known. `replaces`: the definition as it is kept, which this one was made of. */
export type NamedClass = {
  name: string
  definition: string | null
  serves: 'pull' | 'call' | 'push'
  concurrency?: number
  replaces?: string
}

export const queueRow = ({ document, oldest, ...row }: Row<'queue'>): QueueRow => ({
  ...row,
  settings: decodeQueue(document),
  oldest: oldest ? Math.floor(Number.parseInt(oldest.slice(0, 13), 16) / 1000) : null,
})

export function createQueues({ client: { evaluate }, keys, base }: Parts) {
  async function tick(limit = 100): Promise<{ rings: Ring[]; more: boolean }> {
    const raw = await evaluate(scripts.tick, [keys.wake], { ...base(), most: limit }, [])
    const { rings, more } = answerOf(raw, 'ticked')
    return { rings: ringsOf(rings), more }
  }

  async function overview(queue = ''): Promise<{ queues: QueueRow[]; now: number }> {
    const raw = await evaluate(scripts.overview, [], { ...base(), queue_name: queue }, [])
    const { queues, now } = answerOf(raw, 'queues')
    return { queues: queues.map(queueRow), now }
  }

  /** One queue from near, with so many of each kind; undefined where there is none. */
  async function near(queue: string, most: number): Promise<NearQueue | undefined> {
    const raw = await evaluate(scripts.queue, [], { ...base(), queue_name: queue, most }, [])
    const found = answerOf(raw, 'queue', 'none')
    if (found.is === 'none') return undefined
    return {
      lanes: found.lanes.map(({ lane, till }) => ({ lane, until: till })),
      runs: found.runs.map(({ queue: _, process, ...run }) => ({ ...run, process: process ?? null })),
      claims: found.claims.map(({ id, till, names }) => ({
        ...{ id, until: till },
        names: names === '' ? [] : names.split('\n'),
      })),
      next: found.next.map(({ group, ...one }) => ({ ...one, group: group ?? null })),
    }
  }

  /** Sets what is said, and leaves the rest; answers what was in force. */
  async function settings(
    queue: string,
    { lanes, batch, paused, mode, ageing }: Partial<QueueSettings>,
    { unban = false, ban = [] }: { unban?: boolean; ban?: string[] } = {},
  ): Promise<{ rings: Ring[]; was: QueueSettings }> {
    const raw = await evaluate(
      scripts.settings,
      [keys.queue(queue)],
      {
        ...base(),
        queue_name: queue,
        lanes: lanes === undefined ? '' : String(lanes ?? 0),
        batch: batch === undefined ? '' : String(batch ?? 0),
        paused: paused === undefined ? '' : paused ? '1' : '0',
        mode: mode ?? '',
        ageing: ageing === undefined ? '' : String(ageing ?? 0),
        unban: unban ? '1' : '',
      },
      listWords(ban),
    )
    const { rings, ...was } = answerOf(raw, 'settled')
    const before = { lanes: was.lanes || null, batch: was.batch || null, ageing: was.ageing || null }
    return {
      rings: ringsOf(rings),
      was: { ...before, paused: was.paused, mode: was.mode === 'pull' ? 'pull' : 'push' },
    }
  }

  /**
   * Writes definitions (null removes). `whole`: the local classes among them are all there are. `overtaken`: nothing was
   * written, because a class is now this, and not what it was to replace.
   */
  async function register(
    queue: string,
    classes: NamedClass[],
    { whole = false }: { whole?: boolean } = {},
  ): Promise<{ rings: Ring[]; changed: boolean; overtaken?: string }> {
    const rest = classes.flatMap(({ name, definition, serves, concurrency, replaces }) => [
      name,
      definition ?? '',
      serves,
      String(concurrency ?? ''),
      replaces ?? '',
    ])
    const raw = await evaluate(
      scripts.register,
      [keys.queue(queue)],
      { ...base(), queue_name: queue, whole: whole ? '1' : '' },
      [String(classes.length), ...rest],
    )
    const answer = answerOf(raw, 'registered', 'overtaken')
    if (answer.is === 'overtaken') return { rings: [], changed: false, overtaken: answer.definition }
    return { rings: ringsOf(answer.rings), changed: answer.changed }
  }

  return { tick, overview, near, settings, register }
}
