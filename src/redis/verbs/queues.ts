import { hasCode } from '../../core/errors.ts'
import { answerOf, type Row } from '../answers.ts'
import { faultsOf, listWords, type Parts, ringsOf, type ScriptFault } from '../parts.ts'
import { decodeQueue, momentOf } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { NearQueue, QueueRow, Ring } from '../types.ts'

/** `null` restores the default. `ageing` is in milliseconds. */
type QueueSettings = {
  lanes: number | null
  batch: number | null
  paused: boolean
  mode: 'push' | 'pull'
  ageing: number | null
}

type NamedClass = {
  name: string
  definition: string | null
  serves: 'pull' | 'call' | 'push'
  concurrency?: number
  replaces?: string
}

const MAX_DEPLOYMENTS = 20

export const queueRow = ({ document, oldest, ...row }: Row<'queue'>): QueueRow => ({
  ...row,
  settings: decodeQueue(document),
  oldest: oldest ? momentOf(oldest.slice(0, 13)) : null,
})

export function createQueues({ client: { evaluate, ask }, keys, base }: Parts) {
  type Ticked = { rings: Ring[]; more: boolean; faults: ScriptFault[] }

  async function sweep(most: number, skip: number): Promise<Ticked> {
    const raw = await evaluate(scripts.tick, [keys.wake], { ...base(), most, skip }, [])
    const { rings, more, faults } = answerOf(raw, 'ticked')
    return { rings: ringsOf(rings), more, faults: faultsOf(faults, scripts.tick) }
  }

  /** A failing queue must not stop the next queue. */
  async function sweepEach(limit: number): Promise<Ticked> {
    const all: Ticked = { rings: [], more: false, faults: [] }
    for (let [skip, n] = [0, 0]; n < limit; n++) {
      try {
        const { rings, more, faults } = await sweep(1, skip)
        all.rings.push(...rings)
        all.faults.push(...faults)
        if (!more) return all
      } catch (error) {
        if (!hasCode(error, 'INTERNAL')) throw error
        const due = await ask((redis) => redis.zrange<string[]>(keys.wake, 0, MAX_DEPLOYMENTS + skip))
        const job = due.filter((member) => !member.startsWith('d:'))[skip] ?? ''
        all.faults.push({ job, what: String(error.cause ?? error) })
        skip++
      }
    }
    return { ...all, more: true }
  }

  const tick = (limit = 100): Promise<Ticked> =>
    sweep(limit, 0).catch((error: unknown) => {
      if (!hasCode(error, 'INTERNAL')) throw error
      return sweepEach(limit)
    })

  async function overview(queue = ''): Promise<{ queues: QueueRow[]; now: number }> {
    const raw = await evaluate(scripts.overview, [], { ...base(), queue_name: queue }, [])
    const { queues, now } = answerOf(raw, 'queues')
    return { queues: queues.map(queueRow), now }
  }

  async function near(queue: string, most: number): Promise<NearQueue | undefined> {
    const raw = await evaluate(scripts.queue, [], { ...base(), queue_name: queue, most }, [])
    const found = answerOf(raw, 'queue', 'none')
    if (found.is === 'none') return undefined
    return {
      lanes: found.lanes.map(({ lane, till }) => ({ lane, until: till })),
      runs: found.runs.map(({ queue: _, process, ...run }) => ({ ...run, process: process ?? null })),
      claims: found.claims.map(({ id, till, names }) => ({
        id,
        until: till,
        names: names === '' ? [] : names.split('\n'),
      })),
      next: found.next.map(({ group, ...one }) => ({ ...one, group: group ?? null })),
    }
  }

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
        most_lanes: lanes === undefined ? '' : String(lanes ?? 0),
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

  /** A definition of `null` removes a class. `overtaken` means that a class had changed, so nothing was written. */
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
