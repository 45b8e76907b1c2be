import type { Encoded } from '../../core/codec/value.ts'
import type { Status } from '../../core/job.ts'
import type { AskedPatch } from '../../core/schemas/job-options.ts'
import type { JobQuery, JobRow as Row } from '../../core/schemas/job-rows.ts'
import type { JobView } from '../../core/schemas/job-views.ts'
import type { Repeat } from './jobs.ts'

export type { BulkInput } from '../../core/schemas/job-options.ts'
export type {
  BulkPreview,
  ErrorFilter,
  ErrorKind,
  ErrorMute,
  ErrorPage,
  Found,
  MutedKind,
} from '../../core/schemas/job-rows.ts'
export type { Enqueued, JobView, PortView, Result, RunFacts } from '../../core/schemas/job-views.ts'
export type { ChannelView } from '../../core/schemas/ports.ts'
export type { Reason, Why, WhyLimit, WhyLink } from '../../core/schemas/why.ts'

export type JobUnique = NonNullable<JobView['unique']>

export type JobFacts = Pick<
  JobView,
  | 'limits'
  | 'waitingAt'
  | 'tag'
  | 'retry'
  | 'timeout'
  | 'retain'
  | 'keepResult'
  | 'history'
  | 'unique'
  | 'lockedUntil'
  | 'run'
  | 'keptUntil'
  | 'version'
  | 'pinnedTo'
>

export type JobBase = Omit<JobView, keyof JobFacts>

export type JobPatch = Omit<AskedPatch, 'repeat'> & { repeat?: Repeat | null }

export type JobRow = Row & { args?: Record<string, unknown> }

/** A search reads up to two pages of `lookAt` jobs. */
export type JobFilter = Omit<JobQuery, 'status' | 'fields'> & {
  status?: Status | readonly Status[]
  lookAt?: number
  paths?: readonly string[]
  ids?: number[]
}

export type Item = { data: Encoded; context?: Encoded; default?: true }

export type ListNotes = { total?: number; looked?: number; newest?: number }

export type {
  HistoryJob,
  HistoryQuery,
  HistoryRows,
  HistoryRun,
  HistorySql,
  HistoryStatus,
} from '../../core/schemas/history.ts'
