// A warm lane waits for a call, a due job or the end of a run.

import type { CommitAnswer } from '../../redis/types.ts'

export type LaneState = 'cold' | 'serving' | 'warm' | 'handing over'

export const SOON_MS = 2_000

const committed = {
  jobs: 'serving',
  due: 'serving',
  quiet: 'warm',
  ending: 'handing over',
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
  if (!idle) return 'ending'
  return word === 'empty' && !leaves && dueIn <= SOON_MS ? 'due' : 'done'
}
