// Sees to it that somebody comes: by a bell, and where QStash takes none, in this invocation or by the tick.

import { createSlots, type Slots } from '../../core/slots.ts'
import { ops } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { BellTrouble, Ring } from '../../redis/types.ts'
import type { Sent } from '../run/executor.ts'
import type { Bells } from './bells.ts'

/** What a lane shares that is served in an invocation which is there for something else. */
export type Guest = {
  /** When it has to have left, on the clock that only measures. */
  until: number
  calls: Slots
  /** What all lanes of the invocation have sent. */
  sent: Sent
  /** When its last run has to have ended, on the same clock; without it the invocation lasts as long as it is asked to. */
  ends?: number
}

export type RingerOptions = {
  bells: Bells
  store: Store
  /** Keeps the invocation alive for what outlasts its answer; without it, or where it says false, that is waited for. */
  defer?: (work: Promise<unknown>) => unknown
  /** Serves a queue here and now, as a guest. */
  serve: (queue: string, bell: string, guest: Guest) => Promise<unknown>
  /** Lanes begin in the invocation that makes jobs: bells are for later. */
  eager: boolean
  elapsed?: () => number
}

/** What an invocation does for longer than this after its answer is cut off. */
const KEPT = 30_000
/** Of which so much is for the commit of what has run. */
const COMMIT = 3_000
/** The longest run that can be begun in an invocation that was just answered. */
export const LONGEST_RUN = KEPT - COMMIT
/** So long a guest claims; the rest is for the runs that it has begun. */
const STAY = 8_000
/** What these rings are for takes too long for an invocation that is answered: only bells will do. */
export const BELLS_ONLY: Guest = { until: Number.NEGATIVE_INFINITY, calls: createSlots(), sent: { requests: 0 } }
/** Others are told this often that bells are refused. */
const TELL = 10_000

/**
 * Rings, without standing between a caller and his answer: Redis has the job, and the tick finds what nobody rang for.
 *
 * @example const ringer = createRinger({ bells, store, serve, eager: false }); await ringer.ring(rings)
 */
export function createRinger({ bells, store, defer, serve, eager, elapsed = () => performance.now() }: RingerOptions) {
  let told = Number.NEGATIVE_INFINITY
  let isTold = false

  /** Tells other isolates how it stands with bells: /health and /v1/stats may be asked there. */
  async function tell(trouble: BellTrouble | undefined): Promise<void> {
    if (!trouble && !isTold) return
    if (trouble && elapsed() - told < TELL) return
    isTold = trouble !== undefined
    told = trouble ? elapsed() : Number.NEGATIVE_INFINITY
    await store.setBellTrouble(trouble)
  }

  /** Publishes them; answers those that QStash did not take. */
  async function publish(rings: Ring[]): Promise<Ring[]> {
    if (rings.length === 0) return []
    const failed = await bells.ring(rings)
    await tell(bells.trouble()).catch(() => undefined)
    return failed
  }

  /** Gives up the places that bells have taken, so that the tick rings again. */
  async function takeBack(rings: Ring[]): Promise<void> {
    if (rings.length === 0) return
    const words = rings.map(({ queue, bell }) => ops.unring({ name: queue, bell }))
    await store.change('', words).catch(() => undefined)
  }

  const newGuest = (): Guest => ({
    ...{ until: elapsed() + STAY, ends: elapsed() + LONGEST_RUN },
    ...{ calls: createSlots(), sent: { requests: 0 } },
  })
  const isNow = ({ at }: Ring): boolean => at === undefined

  function serveHere(rings: Ring[], guest: Guest): void {
    for (const { queue, bell } of rings) defer!(serve(queue, bell, guest).catch(() => undefined))
  }

  async function publishOrServe(rings: Ring[], guest: Guest): Promise<void> {
    const failed = await publish(rings)
    const here = defer && elapsed() < guest.until ? failed.filter(isNow) : []
    serveHere(here, guest)
    await takeBack(failed.filter((ring) => !here.includes(ring)))
  }

  async function ring(rings: Ring[], guest?: Guest): Promise<void> {
    if (rings.length === 0) return
    const own = guest ?? newGuest()
    const here = defer && eager && elapsed() < own.until ? rings.filter(isNow) : []
    serveHere(here, own)
    const rest = publishOrServe(
      rings.filter((one) => !here.includes(one)),
      own,
    )
    if (!defer || defer(rest) === false) await rest
  }

  return {
    ring,
    publish,
    takeBack,
    /** Where a lane begins that is not asked for by a bell. */
    guest: newGuest,
  }
}

export type Ringer = ReturnType<typeof createRinger>
