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

/** Bounds of the unfinished jobs of an API key, and of its tenant. */
export type Quota = { jobs: number; bytes: number; tenant?: { jobs?: number; bytes?: number } }

/** `by`: `key:<id>`. The answer of an idempotency key is kept for `keep` milliseconds, by default a day. */
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
