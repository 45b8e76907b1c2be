// One lane of a queue: claim, perform, commit with the next claim, until nothing is left or the time is over.

import { sleep } from '../../core/sleep.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, CommitAnswer, LaneStart, Ring } from '../../redis/types.ts'
import type { Constraints } from '../jobs/constraints.ts'
import { type Executor, newUsage, type Usage } from '../run/executor.ts'
import { cold, createWarmth, type Listen, type Warmth } from './calls.ts'
import { createInFlight } from './in-flight.ts'
import { newLaneName } from './lane-name.ts'
import { createLaneTime } from './lane-time.ts'
import { createLent } from './lent.ts'
import type { Guest } from './ringer.ts'

export type LaneOptions = {
  /** Most runs of one batch; a queue's own setting may be lower. */
  batch?: number
  /** How many runs of a batch go on at once. */
  concurrency?: number
  /** Milliseconds of work after which a lane hands on to a new invocation; while it waits to be called it does none. */
  budget?: number
  lease?: number
  /** Milliseconds from one request to the next within which runs are short: then a lane takes more at once of jobs in pieces. */
  short?: number
  /** Milliseconds after its last run for which a lane stays, to be called when there is work; 0: it leaves at once. */
  warm?: number
  /** Requests after which it hands on, those of its functions left out. */
  requests?: number
}

// 25 s of budget: well below every plan's response time.
// Half of the requests that a paid invocation may send: the other half is for what functions send.
export const laneDefaults = {
  ...{ batch: 100, concurrency: 100, budget: 25_000, requests: 5_000 },
  ...{ lease: 45_000, short: 100, warm: 0 },
} as const
/** So many lanes of an isolate wait at once, each with a delivery of QStash open: its free plan has ten at a time. */
const WARM_AT_ONCE = 5
/** So many a lane takes of jobs that wait in pieces, where the last ones were short; and no more than so many times those. */
const WIDE = 600
const GROWS = 3
/** A lease is renewed after a third of it: two renewals may be lost. */
const RENEWALS = 3
/** What comes with a call is lent for as long as a bell may take: so long after it, the first time. */
const FIRST_RENEWAL = 6_000
/** A lane whose time is over while it waits leaves with its next commit, where one comes so soon: that one costs nothing more. */
const LEAVING = 1_000
/** A lane waits itself for what is due this soon. */
const SOON = 2_000
/** So long a lane waits for all of a batch before it commits what has ended and claims more. */
const PATIENCE = 1_000

export type DispatcherOptions = {
  store: Store
  executor: Executor
  constraints: Constraints
  ring: (rings: Ring[], guest?: Guest) => Promise<void>
  /** How a lane that waits is called; without it none waits. */
  listen?: Listen
  /** Milliseconds on a clock that only measures. */
  elapsed?: () => number
  lane?: LaneOptions
  newLane?: () => string
}

/** A lane that begins with a request which makes jobs, and when that was. */
export type EagerLane = LaneStart & { asked: number }

export type Dispatched = { runs: number; ended: 'empty' | 'full' | 'stale' | 'handed on' }

export function createDispatcher({
  store,
  executor,
  constraints,
  ring,
  listen,
  elapsed = () => performance.now(),
  lane: options = {},
  newLane = () => newLaneName(store.now()),
}: DispatcherOptions) {
  const { batch, concurrency, budget, lease, short, warm, requests } = { ...laneDefaults, ...options }
  const newWarmth = createWarmth({ listen, warm, most: WARM_AT_ONCE, elapsed })

  /** Renews again and again, and once soon after something came that has little time. */
  function renewing(renew: () => void) {
    const again = setInterval(renew, lease / RENEWALS)
    let first: ReturnType<typeof setTimeout> | undefined
    const once = () => {
      first = undefined
      renew()
    }
    return {
      soon: () => void (first ??= setTimeout(once, FIRST_RENEWAL)),
      end(): void {
        clearInterval(again)
        clearTimeout(first)
      },
    }
  }

  type Beginning = { bell?: string; lent?: ClaimedJob[]; asked?: number; guest?: Guest }

  /** Serves a queue, from a bell or from the jobs on that a request has begun its lane with. */
  async function run(
    queue: string,
    lane: string,
    { bell = '', lent = [], asked = 0, guest }: Beginning,
  ): Promise<Dispatched> {
    const usage = newUsage(guest)
    const flight = createInFlight(concurrency, (one, when) => executor.run(one, { usage, asked: when }))
    /** A run whose job is to end, or that is somebody else's by now, hears of it. */
    const renew = async () => {
      if (flight.size === 0) return
      usage.sent.requests++
      const { ending, lost } = await store.renew(queue, flight.tokens(), lease, lane)
      usage.stops.tell(ending, 'the job is to end: somebody has terminated it')
      usage.stops.tell(lost, 'the lease of this run has ended: nothing of it will be kept')
    }
    const renewal = renewing(() => void renew().catch(() => undefined))
    const time = createLaneTime({ budget, until: guest?.until, elapsed })
    const byCalls = createLent()
    const take = (call: string): boolean => {
      const called = store.lentByCall(call)
      flight.add(byCalls.byCall(called, elapsed()), elapsed())
      time.works()
      warmth.worked()
      renewal.soon()
      return called.length > 0
    }
    const warmth = guest ? cold : newWarmth(lane, time.latest + LEAVING, take)
    try {
      if (lent.length) {
        flight.add(lent, asked)
        await flight.landed(PATIENCE)
      }
      return await serve({ queue, bell, lane, usage, flight, byCalls, guest, time, warmth, seq: lent.length ? 2 : 1 })
    } finally {
      renewal.end()
      warmth.end()
    }
  }

  type Lane = {
    queue: string
    bell: string
    lane: string
    usage: Usage
    flight: ReturnType<typeof createInFlight>
    byCalls: ReturnType<typeof createLent>
    guest?: Guest
    time: ReturnType<typeof createLaneTime>
    warmth: Warmth
    /** The number of its next request. */
    seq: number
  }

  /** How many that call others it takes on: as many as can be called at once. One without any takes one, to wait with. */
  const callsFree = ({ calls }: Usage, underWay: number): number =>
    Math.max(underWay ? 0 : 1, calls.most - calls.wanted)

  /** What a lane takes on, with so many short ones just done. Who said how many a batch has gets no larger ones. */
  const freeIn = ({ usage, flight }: Lane, short: number, leave: boolean) => ({
    max: leave ? 0 : Math.max(0, batch - flight.size),
    ...(options.batch === undefined && !leave ? { wide: Math.min(WIDE, GROWS * short) } : {}),
    calls: callsFree(usage, flight.size),
  })

  /** What a lane says of itself with each request. Who could take nothing on is not called either. */
  const ownWords = ({ lane, warmth }: Lane, free: ReturnType<typeof freeIn>, leave: boolean) => ({
    id: lane,
    leave: leave && warmth.busy() ? ('next' as const) : leave,
    waits: SOON,
    warm: free.max > 0 && free.calls > 0 ? warmth.left() : 0,
  })

  /** Waits as the answer says, and goes on; or says how the lane ends. */
  async function rest({ usage, flight, byCalls, time, warmth }: Lane, answer: CommitAnswer, leave: boolean) {
    const wait = answer.dueIn ?? Number.POSITIVE_INFINITY
    if (answer.word === 'warm') {
      if (flight.size === 0) time.rests()
      await warmth.wait(wait, flight.ended())
      time.works()
    } else if (!flight.idle) {
      // Slow runs hold up nobody: what has ended is committed and more is claimed; and when nothing is left the lane
      // is given up, so that new jobs ring, while we wait only to bring home what is under way.
      const serves = answer.word === 'ok' || answer.word === 'more'
      const mayClaim = serves && !leave && callsFree(usage, flight.size) > 0
      await (mayClaim ? flight.landed(PATIENCE) : flight.next())
    } else if (answer.word === 'full' || answer.word === 'stale') return answer.word
    else if (leave) return 'handed on'
    else if (answer.word === 'empty') {
      if (wait > SOON) return 'empty'
      await sleep(wait)
    }
    // Also where the last answer brought what a call had brought already.
    if (flight.size === 0 && !flight.idle) await byCalls.gather()
    return undefined
  }

  async function serve(open: Lane): Promise<Dispatched> {
    const { queue, bell, usage, flight, byCalls, guest, time, warmth } = open
    let runs = 0
    let last = Number.NEGATIVE_INFINITY
    for (let seq = open.seq; ; seq++) {
      const leave = time.isOver() || usage.sent.requests >= requests || executor.usedUp(usage)
      const done = flight.take()
      const asked = elapsed()
      const heard = byCalls.heard()
      const wereShort = done.length > 0 && flight.size === 0 && asked - last < short
      last = asked
      const free = freeIn(open, wereShort ? done.length : 0, leave)
      usage.sent.requests++
      const answer: CommitAnswer = await store.commit({
        queue,
        runs: done,
        lane: { ...ownWords(open, free, leave), seq, heard, bell: seq === 1 ? bell : '' },
        claim: { ...free, lease, begun: concurrency },
      })
      byCalls.told(heard.length)
      await executor.tellRefused(done, answer.answers)
      // Who leaves because its time is over leaves no room for others.
      const here = guest && (leave ? { ...guest, until: 0 } : guest)
      if (answer.rings.length) usage.sent.requests++
      await ring([...answer.rings, ...(await constraints.retag(answer))], here)
      runs += done.length
      flight.add(byCalls.byAnswer(answer.lent), asked)
      if (answer.lent.length || done.length) warmth.worked()
      const ended = await rest(open, answer, leave)
      if (ended) return { runs, ended }
    }
  }

  return {
    dispatch: (queue: string, bell: string, guest?: Guest) => run(queue, newLane(), { bell, guest }),
    /** A lane that a request which makes jobs may begin, and how it goes on with those that it was lent. */
    start: (): EagerLane => ({ id: newLane(), max: batch, lease, begun: concurrency, asked: elapsed() }),
    goOn: ({ id, asked }: EagerLane, lent: ClaimedJob[], guest: Guest) =>
      run(lent[0]!.document.queue, id, { lent, asked, guest }),
  }
}
