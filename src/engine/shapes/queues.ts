// Types of worker classes, queues, processes and counts.

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
  /** `format: 'jq'`: JQ's protocol in MessagePack. */
  push?: { url: string; secret?: string; format?: 'jq' }
  pull?: boolean
  retry?: Retry
  timeout?: number
  retain?: number
  history?: number
  redeliver?: { after: number; max: number }
  labels?: Labels
  shutdown?: boolean
  /** Schedule of a function, with the alias `cron:<queue>/<class>`. */
  cron?: { expression: string; tz?: string; missed?: 'run' | 'last' | 'skip'; args?: Encoded }
  reach?: Reach
  redact?: string[]
  /** Waiting jobs stay on the version of the code, or at the address, that began them. */
  pin?: boolean
  description?: string
}

export type Preview = { preview?: boolean }
export type { WorkerUnfit } from '../../core/schemas/workers.ts'
/** `schema`: hash of its schemas. */
export type StoredWorker = WorkerDefinition & { schema?: string; unfit?: WorkerUnfit }

/**
 * A registered class. `seen`: the last claim of a named process from its queue, null if there was none or the class
 * is not pulled. `servedBy`: deployments that have its function, and when their classes changed last.
 */
export type WorkerView = { queue: string; class: string } & WorkerDefinition & {
    schema?: string
    seen: number | null
    servedBy: { id: string; at: number; version: string | null }[]
  }

/** A run in progress. `by`: function, pull, or the host of the push worker. */
export type RunUnderWay = {
  job: number
  queue: string
  class: string
  startedAt: number
  leaseUntil: number
  by: string
}

/**
 * A lane (an invocation that serves a queue until `until`, unless it is renewed), or a named pull worker (`live`:
 * heard within the last minute, or has a run).
 */
export type ProcessView = { id: string; queues: string[]; runs: RunUnderWay[] } & (
  | { kind: 'lane'; until: number }
  | { kind: 'pull'; startedAt: number; seenAt: number; live: boolean; signal: Signal | null }
)

export type Counts = Record<string, number>

/** Counts of a day (UTC), in total and by queue; `waits` as in `Stats`. */
export type DayView = { day: string; counts: Counts; queues: Record<string, { counts: Counts; waits?: number[] }> }

export type Stats = {
  queues: QueueView[]
  /** All runs that ever ended, and how many of them failed. */
  processed: number
  failed: number
  /** Counts by queue since midnight UTC, and in total. */
  today: Record<string, Counts>
  total: Record<string, Counts>
  /**
   * By queue: how many runs of today had been ready for up to 10 ms, 100 ms, 1 s, 5 s, 30 s, 1 min, 10 min, 1 h,
   * longer.
   */
  waits: Record<string, number[]>
  days?: DayView[]
  bells?: BellTrouble
}

/** A limit with waiting jobs, and since when at least one has waited; null if its record does not say. */
export type WaitedLimit = LimitView & { waitedSince: number | null }

/** Overview in one read. `hasSchedules`: whether any job repeats; present if runs were read. */
export type Glance = {
  stats: Stats
  series: { step: 'minute' | 'hour'; points: Point[]; more: boolean; queues?: Record<string, Point[]> }
  limits: WaitedLimit[]
  processes: ProcessView[]
  others: RunUnderWay[]
  more: boolean
  health: Health
  hasSchedules: boolean
  /** True if any kind of error is or was muted; present if runs were read or any job failed. */
  hasMutes: boolean
}
