import type { Encoded } from '../../core/codec/value.ts'
import type { Labels } from '../../core/labels.ts'
import type { Retry } from '../../core/retry.ts'
import type { QueueView } from '../../core/schemas/queues.ts'
import type { WorkerUnfit } from '../../core/schemas/workers.ts'
import type { Point } from '../../core/series.ts'
import type { Reach } from '../../core/worker.ts'
import type { BellTrouble, Signal } from '../../redis/types.ts'
import type { Health } from './deliveries.ts'
import type { LimitView } from './limits.ts'

export type { PatchedQueue, QueueDetail, QueuePatch, QueueView } from '../../core/schemas/queues.ts'

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

export type RunUnderWay = {
  job: number
  queue: string
  class: string
  startedAt: number
  leaseUntil: number
  by: string
}

export type ProcessView = { id: string; queues: string[]; runs: RunUnderWay[] } & (
  | { kind: 'lane'; until: number }
  | { kind: 'pull'; startedAt: number; seenAt: number; live: boolean; signal: Signal | null }
)

export type Counts = Record<string, number>

export type DayView = { day: string; counts: Counts; queues: Record<string, { counts: Counts; waits?: number[] }> }

export type Stats = {
  queues: QueueView[]
  processed: number
  failed: number
  today: Record<string, Counts>
  total: Record<string, Counts>
  /**
   * Today's runs by the time from ready to start: up to 10 ms, 100 ms, 1 s, 5 s, 30 s, 1 min, 10 min, 1 h, or longer.
   */
  waits: Record<string, number[]>
  days?: DayView[]
  bells?: BellTrouble
}

export type WaitedLimit = LimitView & { waitedSince: number | null }

export type Glance = {
  stats: Stats
  series: { step: 'minute' | 'hour'; points: Point[]; more: boolean; queues?: Record<string, Point[]> }
  limits: WaitedLimit[]
  moreLimits: boolean
  processes: ProcessView[]
  others: RunUnderWay[]
  more: boolean
  health: Health
  hasSchedules: boolean
  hasMutes: boolean
}
