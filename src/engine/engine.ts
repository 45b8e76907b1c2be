// Types of the inputs and answers of verbs. Types of answers that the HTTP API shows come from its schemas in core.

import type { Encoded } from '../core/codec/value.ts'
import type { Constraint } from '../core/constraint.ts'
import type { Code } from '../core/errors.ts'
import type { ExaminedView } from '../core/examined.ts'
import type { flowView, graphVersion } from '../core/graph.ts'
import type { Status } from '../core/job.ts'
import type { CurrentRun, ProcessView } from '../core/process.ts'
import type { PastRun, RunError } from '../core/run.ts'
import type { breakerList } from '../core/schemas/dashboard.ts'
import type { AskedJob, AskedPatch } from '../core/schemas/job-options.ts'
import type { JobQuery, JobRow as Row } from '../core/schemas/job-rows.ts'
import type { JobView } from '../core/schemas/job-views.ts'
import type { KeyLimits, Scope } from '../core/schemas/keys.ts'
import type { LimitView, ScheduleView } from '../core/schemas/queues.ts'
import type { Reason } from '../core/schemas/why.ts'
import type { keptWorker, storedWorker, WorkerUnfit, workerList } from '../core/schemas/workers.ts'
import type { Series, Stats } from '../core/stats.ts'
import type { Quota } from '../redis/new-job.ts'
import type { EndedChild, Fault } from '../redis/types.ts'
import type { Restore, TickSource } from '../redis/verbs/system-state.ts'
import type { factsOf } from './run/job-facts.ts'

export type { CurrentRun, ProcessView } from '../core/process.ts'
export type { PortOptions as PortSpecs } from '../core/run.ts'
export type * from '../core/schemas/flows.ts'
export type * from '../core/schemas/history.ts'
export type { BulkInput } from '../core/schemas/job-options.ts'
export type {
  BulkPreview,
  ErrorFilter,
  ErrorKind,
  ErrorMute,
  ErrorPage,
  Found,
  MutedKind,
} from '../core/schemas/job-rows.ts'
export type * from '../core/schemas/job-views.ts'
export type { ApiKey, AuditEntry, KeyLimits, Scope, Tenant } from '../core/schemas/keys.ts'
export type { CallbackState } from '../core/schemas/names.ts'
export type { ChannelView } from '../core/schemas/ports.ts'
export type * from '../core/schemas/queues.ts'
export type { Reason, Why, WhyLimit, WhyLink } from '../core/schemas/why.ts'
export type { WorkerUnfit } from '../core/schemas/workers.ts'
export type { Stats } from '../core/stats.ts'
export type { EndedChild } from '../redis/types.ts'

/** Same as z.output, because the engine does not import zod. */
type OutputOf<Schema extends { _zod: { output: unknown } }> = Schema['_zod']['output']

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

/** An id or an alias: `"7"`, `"nightly"`. */
export type Ref = string
export type Dir = 'in' | 'out'

export type Repeat = string | { cron: string; tz?: string } | { bedrock: string; stopOnFail?: boolean }

export type Callback = {
  url?: string
  kafka?: { url: string; topic: string }
  headers?: Record<string, string>
  secret?: string
  retry?: number[]
  timeout?: number
  payload?: { as: string; with: Record<string, unknown> }
  /** The commit of the delivery also creates this job. The args of this job contain the ended job. */
  afterwards?: { queue: string; class: string; wait?: number; args?: Record<string, unknown> }
}

export type CallbackSent = { headers: Record<string, string>; body: string }

export type JobInput = Omit<AskedJob, 'repeat' | 'callback' | 'redeliver'> & {
  repeat?: Repeat
  callback?: Callback
  /** Without an answer within `after` (milliseconds, or modifiers like "+5 MINUTES"), another worker gets the run. */
  redeliver?: { after: number | string; max?: number }
  uniqueness?: { held?: 'deleted'; hit?: 'same parent' | 'ignored' }
  /** The child starts when the current run of its parent ends. */
  joins?: boolean
  scheduledFor?: number
}

export type JobPatch = Omit<AskedPatch, 'repeat'> & { repeat?: Repeat | null }

/** A search reads up to two pages of `lookAt` jobs. */
export type JobFilter = Omit<JobQuery, 'status' | 'fields'> & {
  status?: Status | readonly Status[]
  lookAt?: number
  paths?: readonly string[]
  ids?: number[]
}

export type JobRow = Row & { args?: Record<string, unknown> }

export type JobBase = Omit<JobView, keyof ReturnType<typeof factsOf>>

export type Item = { data: Encoded; context?: Encoded; default?: true }

export type DeliveryRequest = {
  names?: string[]
  tags?: string[]
  max?: number
  priority?: number
  wait?: number
  lease?: number
}

export type DeliveredJob = JobBase & {
  dueAt: number
  slot: number | null
  redeliver: string | null
  deliveries: number
  unanswered: boolean
  leaseUntil: number | null
  tag: string | null
  cancelled: boolean
}

export type Delivery = { token: string; job: DeliveredJob; family: EndedChild[] }

export type DeliveryEnd = {
  end: 'completed' | 'suspended' | 'again' | 'failed'
  token?: string
  seizes?: boolean
  waitFor?: 'children'
  at?: number
  wait?: number
  slot?: 'next' | 'keep' | 'asked' | 'none'
  error?: RunError
  args?: Encoded
  priority?: number
  class?: string
  forget?: boolean
}

export type DeliveryUpdate = {
  args?: Encoded
  priority?: number
  repeat?: Repeat | null
  dueAt?: number | 'same'
  was?: Encoded
  counted?: 'anew'
}

export type KnownKey = {
  id: string
  name: string
  scopes: readonly Scope[]
  limits?: KeyLimits
  unlimited?: true
}

export type ScheduleRow = ScheduleView & {
  reason?: Reason | null
  failedInARow?: number
  lateAt?: number
  runs?: PastRun[]
}

export type ConstraintView = Constraint & { name: string }

export type FlowView = OutputOf<typeof flowView>
export type GraphVersion = OutputOf<typeof graphVersion>

export type OpenBreaker = OutputOf<typeof breakerList>['breakers'][number]

/** Only functions have a `cron`. */
export type WorkerDefinition = Omit<OutputOf<typeof keptWorker>, 'retry' | 'former'> &
  Pick<OutputOf<typeof storedWorker>, 'retry' | 'cron'>

export type WorkerView = WorkerDefinition & Omit<OutputOf<typeof workerList>['workers'][number], keyof WorkerDefinition>

export type StoredWorker = WorkerDefinition & { schema?: string; unfit?: WorkerUnfit }

/** `restored` is set if Redis contains older data than before. */
export type Health = {
  ok: boolean
  redis: boolean
  ms?: number
  /** Accurate to two minutes. Null for tenants, which have no tick. */
  tickAt?: number | null
  tickBy?: TickSource | null
  bellAt?: number | null
  version: string
  restored?: Restore
  examined?: ExaminedView
  problems?: {
    of: 'redis' | 'qstash' | 'data' | 'history'
    code: Code
    message: string
    remedy: string
    inARow?: number
  }[]
}

export type FoundFault = Fault & { link: string }

export type WaitedLimit = LimitView & { waitedSince: number | null }

export type Glance = {
  stats: Stats
  series: Series
  limits: WaitedLimit[]
  moreLimits: boolean
  processes: ProcessView[]
  others: CurrentRun[]
  more: boolean
  health: Health
  hasSchedules: boolean
  hasMutes: boolean
}
