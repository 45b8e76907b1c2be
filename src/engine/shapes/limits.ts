// Limits, groups and schedules, as they are told.

import type { Constraint } from '../../core/constraint.ts'
import type { PastRun } from '../../core/run.ts'
import type { ScheduleView } from '../../core/schemas/queues.ts'

export type {
  GroupView,
  Holder,
  LimitPreview,
  LimitRow,
  LimitSettings,
  LimitView,
  LimitWaiter,
  Previewed,
  RoomView,
  ScheduleView,
} from '../../core/schemas/queues.ts'

/** A schedule of a list: how often in a row it has failed for good, and its runs, newest first, where that is asked for. */
export type ScheduleRow = ScheduleView & { failedInARow?: number; runs?: PastRun[] }

/** A host whose breaker is open: what calls it, how often it has failed in a row, and when one call may try it. */
export type OpenBreaker = { host: string; of: 'callbacks' | 'workers'; failures: number; until: number }

export type ConstraintView = Constraint & { name: string }

/** What an API key may have waiting: jobs that it asked for and that have not ended, and their bytes. */
export type Quota = { jobs: number; bytes: number }

/**
 * Who asks (`key:<id>`) and what that key may have waiting; under which key the answer is kept (for `keep` milliseconds; a
 * day), so that asking twice is safe; the signal aborts when the caller hangs up.
 */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Quota
  /** The caller may not let ports listen to `/`: it lacks the scope admin. */
  rootless?: true
  signal?: AbortSignal
  keep?: number
}
