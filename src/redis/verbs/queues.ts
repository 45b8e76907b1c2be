import { hasCode } from '../../core/errors.ts'
import type { Reply } from '../answers.ts'
import { faultsOf, listWords, type Parts, type ScriptFault } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { Ring } from '../types.ts'

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

export function createQueues({ client: { ask }, keys, call }: Parts) {
  type Ticked = { rings: Ring[]; more: boolean; faults: ScriptFault[] }

  async function sweep(most: number, skip: number): Promise<Ticked> {
    const { rings, more, faults } = await call(scripts.tick, { most, skip }, { keys: [keys.wake] })
    return { rings, more, faults: faultsOf(faults, scripts.tick) }
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

  async function overview(queue = ''): Promise<Pick<Reply<'queues'>, 'queues' | 'now'>> {
    return call(scripts.overview, { queue_name: queue })
  }

  async function near(queue: string, most: number) {
    const found = await call(scripts.queue, { queue_name: queue, most })
    return found.is === 'none' ? undefined : found
  }

  async function settings(
    queue: string,
    { lanes, batch, paused, mode, ageing }: Partial<QueueSettings>,
    { unban = false, ban = [] }: { unban?: boolean; ban?: string[] } = {},
  ) {
    const number = (value: number | null | undefined) => (value === undefined ? '' : String(value ?? 0))
    const args = {
      queue_name: queue,
      most_lanes: number(lanes),
      batch: number(batch),
      paused: paused === undefined ? '' : paused ? '1' : '0',
      mode: mode ?? '',
      ageing: number(ageing),
      unban: unban ? '1' : '',
    }
    const was = await call(scripts.settings, args, { keys: [keys.queue(queue)], rest: listWords(ban) })
    return {
      rings: was.rings,
      was: {
        lanes: was.lanes || null,
        batch: was.batch || null,
        ageing: was.ageing || null,
        paused: was.paused,
        mode: was.mode,
      },
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
    const answer = await call(
      scripts.register,
      { queue_name: queue, whole: whole ? '1' : '' },
      { keys: [keys.queue(queue)], rest: [String(classes.length), ...rest] },
    )
    if (answer.is === 'overtaken') return { rings: [], changed: false, overtaken: answer.definition }
    return { rings: answer.rings, changed: answer.changed }
  }

  return { tick, overview, near, settings, register }
}
