// Limits, groups and schedules, as they are told.

import type { Encoded } from '../../core/codec/value.ts'
import type { Constraint } from '../../core/constraint.ts'
import type { Status } from '../../core/job.ts'
import type { PastRun } from '../../core/run.ts'

export type LimitSettings = {
  concurrency?: number | null
  rate?: { limit: number; period: number } | null
  paused?: boolean
}

/** A host whose breaker is open: what calls it, how often it has failed in a row, and when one call may try it. */
export type OpenBreaker = { host: string; of: 'callbacks' | 'workers'; failures: number; until: number }

export type LimitView = {
  key: string
  concurrency: number | null
  rate: { limit: number; period: number } | null
  paused: boolean
  /** Nobody is let through before; null where that has gone by. */
  shutUntil: number | null
  running: number
  waiting: number
}

/** A limit from near. */
export type RoomView = LimitView & {
  /** How many have started within the period of its rate. */
  started: number
  /** Since when the job waits that is next. */
  fullSince: number | null
  /** When room comes by itself at the latest. */
  nextRoom: number | null
}

/** A run that holds a slot. */
export type Holder = {
  job: number
  queue: string
  class: string
  group: string | null
  startedAt: number | null
  leaseUntil: number
  /** The program that has it, where that has a name. */
  process: string | null
}

/** A job that waits for a slot, in its turn. */
export type LimitWaiter = {
  job: number
  queue: string
  class: string
  group: string | null
  priority: number
  since: number
}

export type ConstraintView = Constraint & { name: string }

/** A job that repeats, with its next slots; none while it is paused. */
export type ScheduleView = {
  job: number
  queue: string
  class: string
  status: Status
  aliases: string[]
  repeat: Encoded
  paused: boolean
  /** Its last run failed or was lost. */
  failing: boolean
  error: Encoded | null
  lastRun: PastRun | null
  next: number[]
}

export type GroupView = {
  id: string
  concurrency: number | null
  paused: boolean
  running: number
  waiting: number
  jobs: number
}

/** What an API key may have waiting: jobs that it asked for and that have not ended, and their bytes. */
export type Quota = { jobs: number; bytes: number }

/**
 * Who asks (`key:<id>`) and what that key may have waiting; under which key the answer is kept (for `keep` milliseconds; a
 * day), so that asking twice is safe; the signal aborts when the caller hangs up.
 */
export type Call = {
  key?: string
  fingerprint?: string
  by?: string
  quota?: Quota
  signal?: AbortSignal
  keep?: number
}
