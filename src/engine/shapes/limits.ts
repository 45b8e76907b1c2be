import type { Constraint } from '../../core/constraint.ts'
import type { PastRun } from '../../core/run.ts'
import type { ScheduleView } from '../../core/schemas/queues.ts'
import type { Quota } from '../../redis/new-job.ts'
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

/** `by` is the API key: `key:<id>`. `keep` is the retention of the answer in milliseconds (default: a day). */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Omit<Quota, 'by'>
  /** Without the admin scope, ports must not listen to `/`. */
  rootless?: true
  signal?: AbortSignal
  traceparent?: string
  keep?: number
}
