// One lane of a queue: claim, perform, commit with the next claim, until nothing is left or the time is over.

import type { Settled } from '../redis/changes.ts'
import type { CommitAnswer, Lent, Ring, Store } from '../redis/store.ts'
import { newUsage, type Performer, type Usage } from './performer.ts'
import type { Tags } from './tags.ts'

export type LaneOptions = {
  /** Most runs of one batch; a queue's own setting may be lower. */
  batch?: number
  /** How many runs of a batch go on at once. */
  concurrency?: number
  /** Milliseconds after which a lane hands on to a new invocation. */
  budget?: number
  lease?: number
}

// 25 s of budget: well below every plan's response time.
export const laneDefaults = { batch: 100, concurrency: 100, budget: 25_000, lease: 45_000 } as const
/** A lease is renewed after a third of it: two renewals may be lost. */
const RENEWALS = 3
/** A lane waits itself for what is due this soon. */
const SOON = 2_000

export type DispatcherOptions = {
  store: Store
  performer: Performer
  tags: Tags
  ring: (rings: Ring[]) => Promise<void>
  now: () => number
  /** Milliseconds on a clock that only measures. */
  elapsed?: () => number
  lane?: LaneOptions
  newLane?: () => string
}

export type Dispatched = { runs: number; ended: 'empty' | 'full' | 'stale' | 'handed on' }

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Applies `work` to all items, at most `limit` at a time, answers in their order. */
async function pooled<A, B>(items: readonly A[], limit: number, work: (item: A) => Promise<B>): Promise<B[]> {
  const answers = new Array<B>(items.length)
  let next = 0
  const loop = async (): Promise<void> => {
    while (next < items.length) {
      const i = next++
      answers[i] = await work(items[i]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, loop))
  return answers
}

export function createDispatcher({
  store,
  performer,
  tags,
  ring,
  now,
  elapsed = () => performance.now(),
  lane: options = {},
  newLane = () => crypto.randomUUID().replaceAll('-', ''),
}: DispatcherOptions) {
  const { batch, concurrency, budget, lease } = { ...laneDefaults, ...options }

  /** Performs a batch, and keeps its leases while it takes. */
  async function performAll(queue: string, lane: string, lent: Lent[], usage: Usage): Promise<Settled[]> {
    const open = new Set(lent.map(({ document }) => document.tk!))
    const renewal = setInterval(() => {
      store.extend(queue, [...open], lease, { lane }).catch(() => undefined)
    }, lease / RENEWALS)
    try {
      const settled = await pooled(lent, concurrency, async (one) => {
        const changes = await performer.run(one, { usage })
        open.delete(one.document.tk!)
        return changes
      })
      return settled.filter((one) => one !== undefined)
    } finally {
      clearInterval(renewal)
    }
  }

  /** Serves a queue because a bell rang. */
  async function dispatch(queue: string, bell: string): Promise<Dispatched> {
    const started = elapsed()
    const lane = newLane()
    const usage = newUsage()
    let runs = 0
    let done: Settled[] = []
    for (let seq = 1; ; seq++) {
      const leave = elapsed() - started >= budget || performer.usedUp(usage)
      const answer: CommitAnswer = await store.commit({
        queue,
        runs: done,
        lane: { id: lane, seq, bell: seq === 1 ? bell : '', leave },
        claim: { max: leave ? 0 : batch, lease, begun: concurrency },
      })
      await ring([...answer.rings, ...(await tags.retag(answer))])
      runs += done.length
      done = []
      if (answer.word === 'full' || answer.word === 'stale') return { runs, ended: answer.word }
      if (leave) return { runs, ended: 'handed on' }
      if (answer.word === 'empty') {
        const wait = answer.nextDue === undefined ? Number.POSITIVE_INFINITY : answer.nextDue - now()
        if (wait > SOON) return { runs, ended: 'empty' }
        await pause(Math.max(0, wait))
      }
      if (answer.lent.length) done = await performAll(queue, lane, answer.lent, usage)
    }
  }

  return { dispatch }
}
