// If QStash accepts no bells, the tick serves the queues.

import { createSlots } from '../../core/slots.ts'
import { MINUTE } from '../../core/units.ts'
import type { Store } from '../../redis/store.ts'
import type { Ring } from '../../redis/types.ts'
import type { TickSource } from '../../redis/verbs/system-state.ts'
import type { Guest, Ringer } from './ringer.ts'

type TickOptions = {
  store: Store
  announce: (announced: readonly string[]) => Promise<void>
  ringer: Ringer
  history?: { isOn: boolean; drain: () => Promise<void>; forget: () => Promise<void> }
  serve: (queue: string, bell: string, guest: Guest) => Promise<unknown>
  budget: number
  requests: number
  now: () => number
  isTenant?: boolean
}

type Ticked = { rung: string[]; more: boolean; faults?: string[] }

const ROUNDS = 20
const SOON = 15 * MINUTE
/** Ticks come once a minute. Only every other tick is recorded, which costs one write in two minutes. */
const NOTED = 1.5 * MINUTE
const LANES = 4

export function createTick({
  store,
  announce,
  ringer,
  history,
  serve,
  budget,
  requests,
  now,
  isTenant = false,
}: TickOptions) {
  async function serveUnrung(rings: Ring[]): Promise<void> {
    const places = createSlots(LANES)
    const guest: Guest = { until: performance.now() + budget, calls: createSlots(), sent: { requests: 0 } }
    const isOver = () => performance.now() >= guest.until || guest.sent.requests >= requests
    const left: Ring[] = []
    const serveOne = async (ring: Ring) => {
      const leave = await places.take()
      try {
        if (ring.at !== undefined || isOver()) left.push(ring)
        else await serve(ring.queue, ring.bell, guest)
      } catch {
        // One failing queue must not stop the other queues.
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
        console.error(`sidejob: the tick skipped ${job}: ${what}`)
        faults.add(job)
      }
      await serveUnrung(await ringer.publish(rings))
      rung.push(...rings.map(({ queue }) => queue))
      if (!more) return ticked(false)
    }
    return ticked(true)
  }

  async function keepHistory(): Promise<void> {
    if (!history?.isOn) return
    await history.drain()
    await history
      .forget()
      .catch((error: Error) => console.error(`sidejob: the history cannot forget old jobs: ${error.message}`))
  }

  let noted: { at: number; by: TickSource } | undefined

  function toNote(at: number, by: TickSource): typeof noted {
    if (isTenant || (noted && noted.by === by && at - noted.at < NOTED)) return undefined
    noted = { at, by }
    return noted
  }

  return async (by: TickSource = 'qstash', onTenants?: (hasTenants: boolean) => void): Promise<Ticked> => {
    const at = now()
    const { announced, hasTenants, isDue } = await store.dueAt(at + SOON, toNote(at, by))
    onTenants?.(hasTenants)
    await announce(announced)
    await keepHistory()
    return isDue ? doWhatIsDue() : { rung: [], more: false }
  }
}
