import { sleep } from '../../core/sleep.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { Store } from '../../redis/store.ts'
import type { ClaimedJob, CommitAnswer, LaneStart, Ring } from '../../redis/types.ts'
import type { Constraints } from '../jobs/constraints.ts'
import type { Executor } from '../run/executor.ts'
import { isUsedUp } from '../run/usage.ts'
import type { Listen } from './calls.ts'
import { callsFree, createLanes, type Lane } from './lane.ts'
import { newLaneName } from './lane-name.ts'
import { type LaneOptions, laneDefaults } from './lane-options.ts'
import { eventOf, type LaneState, SOON_MS, transitions } from './lane-state.ts'
import type { Guest } from './ringer.ts'

/** After a short batch of n runs, a claim may take GROWTH * n packed jobs (jobs stored together), at most WIDE. */
const WIDE = 600
const GROWTH = 3
const BATCH_WAIT_MS = 1_000

type DispatcherOptions = {
  store: Store
  executor: Executor
  constraints: Constraints
  history?: { committed: (runs: number) => Promise<void> }
  ring: (rings: Ring[], guest?: Guest) => Promise<void>
  listen?: Listen
  lane?: LaneOptions
}

export type EagerLane = LaneStart & { asked: number }

type Dispatched = { runs: number; ended: 'empty' | 'full' | 'stale' | 'handed on' }

export function createDispatcher(parts: DispatcherOptions) {
  const { store, executor, constraints, ring, lane: options = {} } = parts
  const newLane = () => newLaneName(store.now())
  const settings = { ...laneDefaults, ...options }
  const { batch, concurrency, lease, short, requests } = settings
  const openLane = createLanes({ store, executor, listen: parts.listen, settings })

  const roomOf = ({ usage, flight }: Lane, shortRuns: number, leaves: boolean) => ({
    max: leaves ? 0 : Math.max(0, batch - flight.size),
    ...(options.batch === undefined && !leaves ? { wide: Math.min(WIDE, GROWTH * shortRuns) } : {}),
    calls: callsFree(usage, flight.size),
  })

  async function exchange(lane: Lane, done: RunOutcome[], leaves: boolean): Promise<CommitAnswer> {
    const { usage, flight, called, warmth } = lane
    const asked = performance.now()
    const wasShort = done.length > 0 && flight.size === 0 && asked - lane.askedBefore < short
    lane.askedBefore = asked
    const room = roomOf(lane, wasShort ? done.length : 0, leaves)
    const heard = called.tokens()
    const isFirst = lane.seq === 1
    usage.sent.requests++
    const answer = await store.commit({
      queue: lane.queue,
      runs: done,
      lane: {
        id: lane.id,
        seq: lane.seq++,
        heard,
        bell: isFirst ? lane.bell : '',
        waits: SOON_MS,
        leave: leaves && warmth.busy() ? 'next' : leaves,
        warm: room.max > 0 && room.calls > 0 ? warmth.left() : 0,
      },
      claim: { ...room, lease, begun: concurrency },
      version: executor.version,
    })
    called.confirmed(heard.length)
    flight.add(called.byAnswer(answer.claimed), asked)
    if (answer.claimed.length || done.length) warmth.worked()
    lane.noteTraces(done)
    if (parts.history) lane.storing.push(parts.history.committed(done.length))
    // After an error, the lane must still perform and commit the jobs that it has claimed.
    await report(lane, done, answer, leaves).catch(flight.fail)
    return answer
  }

  async function report({ usage, guest }: Lane, done: RunOutcome[], answer: CommitAnswer, leaves: boolean) {
    await executor.tellCommitted(done, answer.answers)
    if (answer.rings.length) usage.sent.requests++
    // A lane that leaves the invocation of another request must not start more lanes in that invocation.
    await ring(
      [...answer.rings, ...(await constraints.retag(answer))],
      guest && leaves ? { ...guest, until: 0 } : guest,
    )
  }

  async function rest(lane: Lane, state: LaneState, dueIn = Number.POSITIVE_INFINITY): Promise<void> {
    const { usage, flight, called, time, warmth } = lane
    if (state === 'warm') {
      if (flight.size === 0) time.rests()
      await warmth.wait(dueIn, flight.ended())
      time.works()
    } else if (!flight.idle) {
      const mayClaim = state === 'serving' && callsFree(usage, flight.size) > 0
      await (mayClaim ? flight.landed(BATCH_WAIT_MS) : flight.next())
    }
    if (flight.size === 0 && !flight.idle) await called.gather()
  }

  async function served(lane: Lane, begin?: () => Promise<void>): Promise<Dispatched> {
    try {
      await begin?.()
      return await serve(lane)
    } finally {
      lane.close()
      await Promise.all(lane.storing)
    }
  }

  async function serve(lane: Lane): Promise<Dispatched> {
    const { flight, time, usage } = lane
    let state: LaneState = transitions.cold.started
    for (let runs = 0; ; ) {
      const leaves = flight.failed || time.isOver() || usage.sent.requests >= requests || isUsedUp(usage)
      const done = flight.take()
      runs += done.length
      const answer = await exchange(lane, done, leaves)
      const event = eventOf(answer, { leaves, idle: flight.idle })
      state = transitions[state][event]
      if (state === 'cold') return { runs, ended: endOf(answer, leaves) }
      if (event === 'due') await sleep(answer.dueIn!)
      await rest(lane, state, answer.dueIn)
      if (state === 'warm') state = transitions.warm.woken
    }
  }

  const endOf = ({ word }: CommitAnswer, leaves: boolean): Dispatched['ended'] => {
    if (word === 'full' || word === 'stale') return word
    return leaves ? 'handed on' : 'empty'
  }

  return {
    dispatch: (queue: string, bell: string, guest?: Guest): Promise<Dispatched> =>
      served(openLane({ queue, id: newLane(), bell, guest })),
    start: (): EagerLane => ({ id: newLane(), max: batch, lease, begun: concurrency, asked: performance.now() }),
    goOn({ id, asked }: EagerLane, claimed: ClaimedJob[], guest: Guest): Promise<Dispatched> {
      const lane = openLane({ queue: claimed[0]!.document.queue, id, guest, seq: 2 })
      return served(lane, async () => {
        lane.flight.add(claimed, asked)
        await lane.flight.landed(BATCH_WAIT_MS)
      })
    },
  }
}
