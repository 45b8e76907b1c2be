// Views of limits, groups and schedules.

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

/** A schedule in a list: its consecutive failures and, on request, its runs, newest first. */
export type ScheduleRow = ScheduleView & { failedInARow?: number; runs?: PastRun[] }

/** A host with an open breaker: who calls it, its consecutive failures, and when a trial call may be made. */
export type OpenBreaker = { host: string; of: 'callbacks' | 'workers'; failures: number; until: number }

export type ConstraintView = Constraint & { name: string }

/** Maximum number and bytes of unfinished jobs of an API key, and of its tenant. */
export type Quota = { jobs: number; bytes: number; tenant?: { jobs?: number; bytes?: number } }

/**
 * The caller of a request: its key (`key:<id>`) and quota; the idempotency key, whose answer is kept for `keep`
 * milliseconds (a day); a signal that aborts when the client disconnects.
 */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Quota
  /** The caller lacks the scope admin, so its ports may not listen to `/`. */
  rootless?: true
  signal?: AbortSignal
  traceparent?: string
  keep?: number
}
