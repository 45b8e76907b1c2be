// What a due message has to pass before it is sent: its queue, its flow control key, the parallelism of the account.
import type { Clock } from './clock.ts'
import { createHeap, type Heap } from './heap.ts'
import type { FlowControl, Message } from './message.ts'

export type Waiter = { message: Message }
export type Gate<W extends Waiter> = {
  waiting: Heap<W>
  open(waiter: W): boolean
  take(waiter: W): void
  release(): void
}
export type Queue = { name: string; createdAt: number; updatedAt: number; parallelism: number; paused: boolean }
export type QueueGate<W extends Waiter> = Gate<W> & { queue: Queue }
export type FlowGate<W extends Waiter> = Gate<W> & { key: string; state: FlowState; view(): FlowView }

type FlowState = {
  active: number
  count: number
  periodStart: number
  paused: boolean
  latest: Limits
  pinned: Partial<Limits>
}
type Limits = Omit<FlowControl, 'key'>
type FlowView = ReturnType<typeof viewFlow>

const first = (a: Waiter, b: Waiter) => a.message.order < b.message.order

export function accountGate<W extends Waiter>(parallelism: number): Gate<W> & { max: number; active(): number } {
  let active = 0
  return {
    waiting: createHeap<W>(first),
    open: () => active < parallelism,
    take: () => void active++,
    release: () => void active--,
    max: parallelism,
    active: () => active,
  }
}

/** First in, first out: a message keeps its place until it is delivered or given up, callbacks included. */
export function queueGate<W extends Waiter>(queue: Queue): QueueGate<W> {
  let active = 0
  return {
    queue,
    waiting: createHeap<W>(first),
    open: () => !queue.paused && active < queue.parallelism,
    take: () => void active++,
    release: () => void active--,
  }
}

/** So many at once and so many per period for one key; the limits ride on every message unless they are pinned. */
export function flowGate<W extends Waiter>(key: string, clock: Clock, admit: (gate: Gate<W>) => void): FlowGate<W> {
  const waiting = createHeap<W>(first)
  const state: FlowState = { active: 0, count: 0, periodStart: 0, paused: false, latest: { period: 1 }, pinned: {} }
  let timed = false

  const gate: FlowGate<W> = {
    key,
    state,
    waiting,
    view: () => viewFlow(key, state, waiting.size, clock.now()),

    open({ message }) {
      const { parallelism, rate, period } = { ...message.settings.flowControl!, ...state.pinned }
      if (state.paused || (parallelism && state.active >= parallelism)) return false
      const periodEnd = state.periodStart + period * 1_000
      if (!rate || clock.now() >= periodEnd || state.count < rate) return true
      if (!timed) clock.at(periodEnd, startPeriod)
      timed = true
      return false
    },

    take({ message }) {
      const limit = { ...message.settings.flowControl!, ...state.pinned }
      if (clock.now() >= state.periodStart + limit.period * 1_000)
        Object.assign(state, { periodStart: clock.now(), count: 0 })
      state.active++
      state.count++
    },

    release: () => void state.active--,
  }
  return gate

  function startPeriod() {
    timed = false
    admit(gate)
  }
}

function viewFlow(key: string, state: FlowState, waitListSize: number, now: number) {
  const { parallelism = 0, rate = 0, period } = { ...state.latest, ...state.pinned }
  const inPeriod = now < state.periodStart + period * 1_000
  return {
    flowControlKey: key,
    waitListSize,
    parallelismMax: parallelism,
    parallelismCount: state.active,
    rateMax: rate,
    rateCount: inPeriod ? state.count : 0,
    ratePeriod: period,
    ratePeriodStart: Math.floor(state.periodStart / 1_000),
    isPaused: state.paused,
    isPinnedParallelism: state.pinned.parallelism !== undefined,
    isPinnedRate: state.pinned.rate !== undefined,
  }
}
