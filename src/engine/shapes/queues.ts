// Worker classes, queues, processes and counts.

import type { Encoded } from '../../core/codec/value.ts'
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
  /** What args, and what result, its jobs have, as JSON Schema. */
  args?: Encoded
  result?: Encoded
  /** How many runs of the class there may be at once. */
  concurrency?: number
  limits?: { key?: string; concurrency?: number; rate?: { limit: number; period: number } }[]
  in?: Record<string, { default?: Encoded; schema?: Encoded; channels?: string[] }>
  out?: Record<string, { default?: Encoded; schema?: Encoded; channels?: string[] }>
  /** `format: 'jq'`: called with JQ's words, in MessagePack. */
  push?: { url: string; secret?: string; format?: 'jq' }
  pull?: boolean
  retry?: Retry
  timeout?: number
  retain?: number
  history?: number
  redeliver?: { after: number; max: number }
  shutdown?: boolean
  /** A function that repeats by itself: the schedule `cron:<queue>/<class>`. */
  cron?: { expression: string; tz?: string; missed?: 'run' | 'last' | 'skip'; args?: Encoded }
  reach?: Reach
  /** Places in args, state, values, results, errors and progress that are shown as a mark. */
  redact?: string[]
  description?: string
}

export type Preview = { preview?: boolean }
export type { WorkerUnfit } from '../../core/schemas/workers.ts'
/** A class as it is stored, or would be. */
export type StoredWorker = WorkerDefinition & { unfit?: WorkerUnfit }

/**
 * A registered class. `seen`: when a program with a name that claims from its queue was last heard, null where it is no pull
 * class or none was; `servedBy`: the deployments that have its function, and when the classes of each changed last.
 */
export type WorkerView = { queue: string; class: string } & WorkerDefinition & {
    seen: number | null
    servedBy: { id: string; at: number }[]
  }

/** A run that is under way. `by`: function, pull, or the host of the push worker. */
export type RunUnderWay = {
  job: number
  queue: string
  class: string
  startedAt: number
  leaseUntil: number
  by: string
}

/**
 * Who is at work: a lane (an invocation that serves a queue, until `until` unless it is renewed), or a program that asks
 * for work under a name (`live`: it was heard within the last minute, or has a run).
 */
export type ProcessView = { id: string; queues: string[]; runs: RunUnderWay[] } & (
  | { kind: 'lane'; until: number }
  | { kind: 'pull'; startedAt: number; seenAt: number; live: boolean; signal: Signal | null }
)

/** Event → how often. */
export type Counts = Record<string, number>

/** What was counted on a day (UTC), in all and by queue; `waits` as in `Stats`. */
export type DayView = { day: string; counts: Counts; queues: Record<string, { counts: Counts; waits?: number[] }> }

export type Stats = {
  queues: QueueView[]
  /** Runs that have ended, ever, and those of them that failed. */
  processed: number
  failed: number
  /** Queue → what it has counted since midnight UTC, and ever. */
  today: Record<string, Counts>
  total: Record<string, Counts>
  /** Queue → how many runs of today had been ready for up to 10 ms, 100 ms, 1 s, 5 s, 30 s, 1 min, 10 min, 1 h, longer. */
  waits: Record<string, number[]>
  days?: DayView[]
  bells?: BellTrouble
}

/** A limit with waiting jobs, and the time since when at least one has waited; null if its record does not say. */
export type WaitedLimit = LimitView & { waitedSince: number | null }

/** How everything stands, in one look. `hasSchedules`: whether any job repeats, where runs were looked at. */
export type Glance = {
  stats: Stats
  series: { step: 'minute' | 'hour'; points: Point[]; more: boolean; queues?: Record<string, Point[]> }
  limits: WaitedLimit[]
  processes: ProcessView[]
  others: RunUnderWay[]
  more: boolean
  health: Health
  hasSchedules: boolean
  /** Whether any kind of errors is muted, or was until a moment; where runs were looked at or any job has failed. */
  hasMutes: boolean
}
