import { createSlots, type Slots } from '../../core/slots.ts'
import { ops } from '../../redis/ops.ts'
import type { Store } from '../../redis/store.ts'
import type { BellTrouble, Ring } from '../../redis/types.ts'
import type { Sent } from '../run/usage.ts'
import type { Bells } from './bells.ts'

export type Guest = {
  until: number
  calls: Slots
  sent: Sent
  /** The lane's last run must end by this time. Absent if the invocation has no end. */
  ends?: number
}

type RingerOptions = {
  bells: Bells
  store: Store
  defer?: (work: Promise<unknown>) => unknown
  serve: (queue: string, bell: string, guest: Guest) => Promise<unknown>
  eager: boolean
  elapsed?: () => number
}

/** Background work may last this many milliseconds after the response. */
const KEPT = 30_000
const COMMIT = 3_000
export const LONGEST_RUN = KEPT - COMMIT
/** A lane in the invocation of another request stops claiming after this many milliseconds, so its runs end in time. */
const STAY = 8_000
export const BELLS_ONLY: Guest = { until: Number.NEGATIVE_INFINITY, calls: createSlots(), sent: { requests: 0 } }
const TELL = 10_000

/** A lost bell loses no job: the tick finds queues without a bell. */
export function createRinger({ bells, store, defer, serve, eager, elapsed = () => performance.now() }: RingerOptions) {
  let savedAt = Number.NEGATIVE_INFINITY
  let isSaved = false

  /** Stores the trouble, so that other isolates show it in /health and /v1/stats. */
  async function saveTrouble(trouble: BellTrouble | undefined): Promise<void> {
    if (!trouble && !isSaved) return
    if (trouble && elapsed() - savedAt < TELL) return
    await store.setBellTrouble(trouble)
    isSaved = trouble !== undefined
    savedAt = trouble ? elapsed() : Number.NEGATIVE_INFINITY
  }

  async function publish(rings: Ring[]): Promise<Ring[]> {
    if (rings.length === 0) return []
    const failed = await bells.ring(rings)
    await saveTrouble(bells.trouble()).catch(() => undefined)
    return failed
  }

  async function takeBack(rings: Ring[]): Promise<void> {
    if (rings.length === 0) return
    const words = rings.map(({ queue, bell }) => ops.unring({ name: queue, bell }))
    await store.change('', words).catch(() => undefined)
  }

  const newGuest = (): Guest => ({
    until: elapsed() + STAY,
    ends: elapsed() + LONGEST_RUN,
    calls: createSlots(),
    sent: { requests: 0 },
  })
  const isNow = ({ at }: Ring): boolean => at === undefined

  /** Waits for the lanes that `defer` does not keep. */
  async function serveHere(rings: Ring[], guest: Guest): Promise<void> {
    const lanes = rings.map(({ queue, bell }) => serve(queue, bell, guest).catch(() => undefined))
    await Promise.all(lanes.filter((lane) => defer!(lane) === false))
  }

  async function publishOrServe(rings: Ring[], guest: Guest): Promise<void> {
    const failed = await publish(rings)
    const here = defer && elapsed() < guest.until ? failed.filter(isNow) : []
    await Promise.all([serveHere(here, guest), takeBack(failed.filter((ring) => !here.includes(ring)))])
  }

  async function ring(rings: Ring[], guest?: Guest): Promise<void> {
    if (rings.length === 0) return
    const own = guest ?? newGuest()
    const here = defer && eager && elapsed() < own.until ? rings.filter(isNow) : []
    const served = serveHere(here, own)
    const rest = publishOrServe(
      rings.filter((one) => !here.includes(one)),
      own,
    )
    if (!defer || defer(rest) === false) await rest
    await served
  }

  return {
    ring,
    publish,
    takeBack,
    guest: newGuest,
  }
}

export type Ringer = ReturnType<typeof createRinger>
