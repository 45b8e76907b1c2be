// Jobs that are handed to callers who know them by id.

import type { Encoded } from '../../core/codec/value.ts'
import type { Code } from '../../core/errors.ts'
import type { ExaminedView } from '../../core/examined.ts'
import type { Status } from '../../core/job.ts'
import type { RunError } from '../../core/run.ts'
import type { Fault } from '../../redis/types.ts'
import type { Heart, Restore } from '../../redis/verbs/commands.ts'
import type { Ref, Repeat } from './jobs.ts'
import type { DeliveredJob } from './keys.ts'
import type { Call } from './limits.ts'

export type DeliveredFilter = { queue: string; class?: string; status?: Status; cursor?: string }

/** A child that has ended, as its parent is told of it: `left` is its result, or its error. */
export type ChildResult = {
  id: number
  name: string
  class: string
  how: 'finished' | 'cancelled' | 'failed'
  args: Encoded | null
  left: Encoded | null
}

export type DeliveryRequest = {
  /** Globs: `*`, `?`, `[a-z]`. */
  names?: string[]
  tags?: string[]
  max?: number
  /** Only jobs of this priority. */
  priority?: number
  wait?: number
  lease?: number
}

/** A job that was lent, as it was before, and the children that have ended, when it has waited for them. */
export type Delivery = { token: string; job: DeliveredJob; family: ChildResult[] }

export type DeliveryEnd = {
  end: 'completed' | 'suspended' | 'again' | 'failed'
  /** Only the run of this token. */
  token?: string
  /** Also a job that is in no run. */
  seizes?: boolean
  waitFor?: 'children'
  at?: number
  wait?: number
  /** Of a job that repeats, the next slot: by its repeat, still this one, the moment asked for, or none any more. */
  slot?: 'next' | 'keep' | 'asked' | 'none'
  error?: RunError
  args?: Encoded
  priority?: number
  class?: string
  /** Deletes the children that were finished or cancelled. */
  forget?: boolean
}

export type DeliveryUpdate = {
  args?: Encoded
  priority?: number
  /** null: none any more. */
  repeat?: Repeat | null
  dueAt?: number | 'same'
  /** Only if the arguments still are these. */
  was?: Encoded
  /** Whether deliveries without an answer are counted anew. */
  counted?: 'anew'
}

/**
 * `restored`: Redis was seen to have gone back to older data. `problems`: what Redis or QStash refuses at present, and what to
 * do about it; absent when nothing is.
 */
export type Health = {
  ok: boolean
  redis: boolean
  /** How long Redis took to answer. */
  ms?: number
  /** When a tick came that was written down, each second one is; null: none yet. A tenant has none of its own. */
  tickAt?: number | null
  /** The source of that tick: Cloudflare's cron or QStash. */
  tickBy?: Heart | null
  /** When a bell came last that became a lane. */
  bellAt?: number | null
  version: string
  restored?: Restore
  /** What the doctor has found, where it has ever looked. */
  examined?: ExaminedView
  problems?: { of: 'redis' | 'qstash' | 'data'; code: Code; message: string; remedy: string; inARow?: number }[]
}

/** What the doctor has found, and where the API tells of what it is at. */
export type FoundFault = Fault & { link: string }
