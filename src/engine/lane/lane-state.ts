// A warm lane waits for a call, a due job or the end of a run. A lane that hands over commits its last runs and claims
// nothing.

import type { CommitAnswer } from '../../redis/types.ts'

export type LaneState = 'cold' | 'serving' | 'warm' | 'handing over'

/** The lane waits for a job that becomes ready within this many milliseconds. */
export const SOON_MS = 2_000

const committed = {
  /** The lane has runs, or Redis has more jobs for it. */
  jobs: 'serving',
  /** Nothing is ready, but a job is due within SOON_MS. */
  due: 'serving',
  /** Nothing is ready, and the lane may stay warm. */
  quiet: 'warm',
  /** The lane has runs, but must not claim more. */
  closed: 'handing over',
  /** The lane has no runs, and does not stay warm. */
  done: 'cold',
} as const

export const transitions = {
  cold: { started: 'serving' },
  serving: committed,
  warm: { woken: 'serving' },
  'handing over': committed,
} as const satisfies Record<LaneState, Record<string, LaneState>>

type LaneEvent = keyof typeof committed

export function eventOf(
  { word, dueIn = Number.POSITIVE_INFINITY }: Pick<CommitAnswer, 'word' | 'dueIn'>,
  { leaves, idle }: { leaves: boolean; idle: boolean },
): LaneEvent {
  if (word === 'warm') return 'quiet'
  if (!leaves && (word === 'ok' || word === 'more')) return 'jobs'
  if (!idle) return 'closed'
  return word === 'empty' && !leaves && dueIn <= SOON_MS ? 'due' : 'done'
}
