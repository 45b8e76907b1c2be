// The tick: once a minute it does what is due, and serves the queues itself when QStash takes no bells.

import { createSlots } from '../../core/slots.ts'
import type { Store } from '../../redis/store.ts'
import type { Ring } from '../../redis/types.ts'
import type { Heart } from '../../redis/verbs/commands.ts'
import type { Guest, Ringer } from './ringer.ts'

export type TickOptions = {
  store: Store
  announce: (announced: readonly string[]) => Promise<void>
  ringer: Ringer
  serve: (queue: string, bell: string, guest: Guest) => Promise<unknown>
  /** Milliseconds for which queues are served here, and requests that are sent for them, all together. */
  budget: number
  requests: number
  now: () => number
  /** A tenant's tick is called by that of its deployment, and is not written down. */
  isTenant?: boolean
  elapsed?: () => number
}

type Ticked = { rung: string[]; more: boolean; faults?: string[] }

const ROUNDS = 20
/** What is due so soon is looked for by a script, which knows Redis' clock: ours may be wrong by less. */
const SOON = 15 * 60_000
/** Each second tick is written down: whoever asks for the last one knows that ticks come, at half the cost. */
const NOTED = 90_000
/** So many queues at once; the others after them. */
const LANES = 4

/**
 * Makes the verb.
 *
 * @example const tick = createTick({ store, announce, ringer, serve, now, budget: 25_000, requests: 5_000 }); await tick()
 */
export function createTick({
  store,
  announce,
  ringer,
  serve,
  budget,
  requests,
  now,
  isTenant = false,
  elapsed = () => performance.now(),
}: TickOptions) {
  async function serveUnrung(rings: Ring[]): Promise<void> {
    const places = createSlots(LANES)
    const guest: Guest = { until: elapsed() + budget, calls: createSlots(), sent: { requests: 0 } }
    const isOver = () => elapsed() >= guest.until || guest.sent.requests >= requests
    const left: Ring[] = []
    const serveOne = async (ring: Ring) => {
      const leave = await places.take()
      try {
        if (ring.at !== undefined || isOver()) left.push(ring)
        else await serve(ring.queue, ring.bell, guest)
      } catch {
        // What it had begun comes back when its leases end; one queue's trouble is not the others'.
        left.push(ring)
      } finally {
        leave()
      }
    }
    await Promise.all(rings.map(serveOne))
    await ringer.takeBack(left)
  }

  async function doWhatIsDue(): Promise<Ticked> {
    const rung: string[] = []
    const faults = new Set<string>()
    const ticked = (more: boolean) => ({ rung, more, ...(faults.size > 0 && { faults: [...faults] }) })
    for (let round = 0; round < ROUNDS; round++) {
      const { rings, more, faults: found } = await store.tick()
      for (const { job, what } of found) {
        console.error(`sidejob: the tick passed over ${job}: ${what}`)
        faults.add(job)
      }
      await serveUnrung(await ringer.publish(rings))
      rung.push(...rings.map(({ queue }) => queue))
      if (!more) return ticked(false)
    }
    return ticked(true)
  }

  let noted: { at: number; by: Heart } | undefined

  function toNote(at: number, by: Heart): typeof noted {
    if (isTenant || (noted && noted.by === by && at - noted.at < NOTED)) return undefined
    noted = { at, by }
    return noted
  }

  /** Starts everything that is due. Calls `tell` first with whether there are tenants. */
  return async (by: Heart = 'qstash', tell?: (hasTenants: boolean) => void): Promise<Ticked> => {
    const at = now()
    // In most minutes nothing is due, which one command shows.
    const { announced, hasTenants, isDue } = await store.standingAt(at + SOON, toNote(at, by))
    tell?.(hasTenants)
    await announce(announced)
    return isDue ? doWhatIsDue() : { rung: [], more: false }
  }
}
