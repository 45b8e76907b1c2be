import type { Store } from '../../redis/store.ts'
import type { Executor } from '../run/executor.ts'
import type { ReportedOutcome } from '../run/report.ts'
import { newUsage, type Usage } from '../run/usage.ts'
import { MAX_LINKS, type RunTrace } from '../trace/tracer.ts'
import { createCalledJobs } from './called-jobs.ts'
import { cold, createWarmth, type Listen } from './calls.ts'
import { createInFlight } from './in-flight.ts'
import type { LaneOptions } from './lane-options.ts'
import { createLaneTime } from './lane-time.ts'
import { createRenewals } from './renewals.ts'
import type { Guest } from './ringer.ts'

/** Per isolate. Each warm lane keeps a delivery of QStash open, and the free plan allows ten open deliveries. */
const MAX_WARM = 5
/** When its time is up, a warm lane waits this long for the end of a run, because its commit also ends the lane. */
const LEAVING_MS = 1_000

type Opened = { queue: string; id: string; bell?: string; guest?: Guest; seq?: number }

type LanesOptions = {
  store: Store
  executor: Executor
  listen?: Listen
  settings: Required<LaneOptions>
}

/** Number of runs with calls to other services that may start. A lane without runs may always start one. */
export const callsFree = ({ calls }: Usage, running: number): number =>
  Math.max(running ? 0 : 1, calls.most - calls.wanted)

export function createLanes({ store, executor, listen, settings }: LanesOptions) {
  const { concurrency, budget, lease, warm } = settings
  const newWarmth = createWarmth({ listen, warm, most: MAX_WARM })

  return ({ queue, id, bell = '', guest, seq = 1 }: Opened) => {
    const usage = newUsage(guest)
    const traces: RunTrace[] = []
    const began = store.now()
    const flight = createInFlight(concurrency, (one, when) => executor.run(one, { usage, asked: when }))
    async function renew(): Promise<void> {
      if (flight.size === 0) return
      usage.sent.requests++
      const { ending, lost } = await store.renew(queue, flight.tokens(), lease, id)
      usage.stops.abort(ending, 'a caller has terminated the job')
      usage.stops.abort(lost, 'the lease of this run has ended: its changes will be discarded')
    }
    const renewals = createRenewals(lease, () => void renew().catch(() => undefined))
    const time = createLaneTime({ budget, until: guest?.until, elapsed: () => performance.now() })
    const called = createCalledJobs()
    const take = (call: string): boolean => {
      const jobs = store.lentByCall(call)
      const at = performance.now()
      flight.add(called.byCall(jobs, at), at)
      time.works()
      warmth.worked()
      renewals.soon()
      return jobs.length > 0
    }
    const warmth = guest ? cold : newWarmth(id, time.latest + LEAVING_MS, take)
    return {
      queue,
      id,
      bell,
      guest,
      usage,
      flight,
      called,
      time,
      warmth,
      seq,
      askedBefore: Number.NEGATIVE_INFINITY,
      /** These writes must end before the lane ends. */
      storing: [] as Promise<void>[],
      noteTraces(runs: readonly ReportedOutcome[]): void {
        for (const { trace } of runs) if (trace && traces.length < MAX_LINKS) traces.push(trace)
      },
      close(): void {
        executor.tracer?.lane({ id, queue, began, runs: traces })
        renewals.end()
        warmth.end()
      },
    }
  }
}

export type Lane = ReturnType<ReturnType<typeof createLanes>>
