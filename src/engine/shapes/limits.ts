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

export type ScheduleRow = ScheduleView & { failedInARow?: number; lateAt?: number; runs?: PastRun[] }

export type OpenBreaker = { host: string; of: 'callbacks' | 'workers'; failures: number; until: number }

export type ConstraintView = Constraint & { name: string }

/** Maximum unfinished jobs and bytes of an API key, and of its tenant. */
export type Quota = { jobs: number; bytes: number; tenant?: { jobs?: number; bytes?: number } }

/** `by`: `key:<id>`. `keep`: how long the answer for an idempotency key is kept, in milliseconds (default: a day). */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Quota
  /** The caller lacks the admin scope, so its ports may not listen to `/`. */
  rootless?: true
  signal?: AbortSignal
  traceparent?: string
  keep?: number
}
