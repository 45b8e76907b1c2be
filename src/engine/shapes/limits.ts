import type { Constraint } from '../../core/constraint.ts'
import type { PastRun } from '../../core/run.ts'
import type { ScheduleView } from '../../core/schemas/queues.ts'
import type { Reason } from './views.ts'

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

export type ScheduleRow = ScheduleView & {
  reason?: Reason | null
  failedInARow?: number
  lateAt?: number
  runs?: PastRun[]
}

export type OpenBreaker = { host: string; of: 'callbacks' | 'workers'; failures: number; until: number }

export type ConstraintView = Constraint & { name: string }

/** Maximum unfinished jobs of an API key and of its tenant, and maximum bytes of these jobs. */
export type Quota = { jobs: number; bytes: number; tenant?: { jobs?: number; bytes?: number } }

/**
 * `by` identifies the API key as `key:<id>`. `keep` is the retention of the answer for the idempotency key, in
 * milliseconds (default: a day).
 */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Quota
  /** The caller lacks the admin scope, so its ports must not listen to `/`. */
  rootless?: true
  signal?: AbortSignal
  traceparent?: string
  keep?: number
}
