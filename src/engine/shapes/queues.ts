import type { Encoded } from '../../core/codec/value.ts'
import type { Labels } from '../../core/labels.ts'
import type { ProcessView, RunUnderWay } from '../../core/process.ts'
import type { Retry } from '../../core/retry.ts'
import type { WorkerUnfit } from '../../core/schemas/workers.ts'
import type { Series, Stats } from '../../core/stats.ts'
import type { Reach } from '../../core/worker.ts'
import type { Health } from './deliveries.ts'
import type { LimitView } from './limits.ts'

export type { ProcessView, RunUnderWay } from '../../core/process.ts'
export type { PatchedQueue, QueueDetail, QueuePatch, QueueView } from '../../core/schemas/queues.ts'
export type { Stats } from '../../core/stats.ts'

export type WorkerDefinition = {
  args?: Encoded
  result?: Encoded
  concurrency?: number
  limits?: { key?: string; concurrency?: number; rate?: { limit: number; period: number } }[]
  in?: Record<string, { default?: Encoded; schema?: Encoded; channels?: string[] }>
  out?: Record<string, { default?: Encoded; schema?: Encoded; channels?: string[] }>
  push?: { url: string; secret?: string; format?: 'jq' }
  pull?: boolean
  retry?: Retry
  timeout?: number
  retain?: number
  history?: number
  redeliver?: { after: number; max: number }
  labels?: Labels
  shutdown?: boolean
  cron?: { expression: string; tz?: string; missed?: 'run' | 'last' | 'skip'; args?: Encoded }
  reach?: Reach
  redact?: string[]
  pin?: boolean
  description?: string
}

export type Preview = { preview?: boolean }
export type { WorkerUnfit } from '../../core/schemas/workers.ts'
export type StoredWorker = WorkerDefinition & { schema?: string; unfit?: WorkerUnfit }

/** `seen` is the time of the last claim by a named process. `servedBy` lists deployments. */
export type WorkerView = { queue: string; class: string } & WorkerDefinition & {
    schema?: string
    seen: number | null
    servedBy: { id: string; at: number; version: string | null }[]
  }

export type WaitedLimit = LimitView & { waitedSince: number | null }

export type Glance = {
  stats: Stats
  series: Series
  limits: WaitedLimit[]
  moreLimits: boolean
  processes: ProcessView[]
  others: RunUnderWay[]
  more: boolean
  health: Health
  hasSchedules: boolean
  hasMutes: boolean
}
