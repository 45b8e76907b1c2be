// The states of a lane. A lane is one invocation that serves a queue.
//
// - cold: the lane does not exist: it has not begun, or it has left its queue.
// - serving: it claims jobs, performs them, and commits each batch with the next claim.
// - warm: it has found no work. It waits for a call of Redis, a due job, or the end of a run.
// - handing over: it claims no jobs, because its time is over, the queue is empty, or the queue has no room for it.
//   It waits for its runs to end and commits them.
//
// Redis answers each commit with one word. `eventOf` reads the event from that word, `next` finds the next state.

import type { CommitAnswer } from '../../redis/types.ts'

export type LaneState = 'cold' | 'serving' | 'warm' | 'handing over'

/** A job that becomes ready within this many milliseconds is worth waiting for. */
export const SOON_MS = 2_000

const committed = {
  /** The lane has runs, or Redis has more jobs for it. */
  jobs: 'serving',
  /** Nothing is ready, but a job is due within SOON_MS. */
  due: 'serving',
  /** Nothing is ready, and the lane may stay. */
  quiet: 'warm',
  /** The lane has runs, but may not claim. */
  closed: 'handing over',
  /** The lane has no runs, and may not or need not stay. */
  done: 'cold',
} as const

/** State → event → next state. */
export const transitions = {
  cold: { started: 'serving' },
  serving: committed,
  warm: { woken: 'serving' },
  'handing over': committed,
} as const satisfies Record<LaneState, Record<string, LaneState>>

export type LaneEvent = keyof typeof committed

/** The event of a commit. `leaves`: the lane has used up its time or its requests. `idle`: it has no runs. */
export function eventOf(
  { word, dueIn = Number.POSITIVE_INFINITY }: Pick<CommitAnswer, 'word' | 'dueIn'>,
  { leaves, idle }: { leaves: boolean; idle: boolean },
): LaneEvent {
  if (word === 'warm') return 'quiet'
  if (!leaves && (word === 'ok' || word === 'more')) return 'jobs'
  if (!idle) return 'closed'
  return word === 'empty' && !leaves && dueIn <= SOON_MS ? 'due' : 'done'
}
