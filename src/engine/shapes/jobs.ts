import type { Encoded } from '../../core/codec/value.ts'
import type { AskedJob } from '../../core/schemas/job-options.ts'

export type { PortOptions as PortSpecs } from '../../core/run.ts'
export type { CallbackProgress, CallbackTry, CallbackView } from '../../core/schemas/job-views.ts'
export type { CallbackState } from '../../core/schemas/names.ts'

/** An id or an alias: `"7"`, `"nightly"`. */
export type Ref = string
export type Dir = 'in' | 'out'

/** Without an answer within `after` (milliseconds, or modifiers like "+5 MINUTES"), another worker gets the run. */
export type Redeliver = { after: number | string; max?: number }

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
  redeliver?: Redeliver
  uniqueness?: { held?: 'deleted'; hit?: 'same parent' | 'ignored' }
  /** The child starts when the current run of its parent ends. */
  joins?: boolean
  scheduledFor?: number
}

export type CopyChanges = { args?: Encoded; inputs?: Record<string, Encoded[]> | 'last' }
