// What is asked of jobs, and what is told of them.

import type { Encoded } from '../../core/codec/value.ts'
import type { AskedJob } from '../../core/schemas/job-options.ts'

export type { CallbackProgress, CallbackTry, CallbackView } from '../../core/schemas/job-views.ts'
export type { CallbackState } from '../../core/schemas/names.ts'

/** A job as its id or one of its aliases, in text: `"7"`, `"nightly"`. */
export type Ref = string
export type Dir = 'in' | 'out'

export type PortSpec = { default?: Encoded; channels?: string[] }
export type PortSpecs = Record<string, PortSpec>

/** After so long without an answer (milliseconds, or modifiers: "+5 MINUTES") a run goes to somebody else; after `max` the job fails. */
export type Redeliver = { after: number | string; max?: number }

export type Repeat = string | { cron: string; tz?: string } | { bedrock: string; stopOnFail?: boolean }

/** Who is told of a job's end. */
export type Callback = {
  url?: string
  kafka?: { url: string; topic: string }
  headers?: Record<string, string>
  secret?: string
  /** Delays before the second try, the third, … */
  retry?: number[]
  timeout?: number
  /** A body of another form: one of the deployment's payloads, and what it is filled with. */
  payload?: { as: string; with: Record<string, unknown> }
  /** A job that is made in the step in which the callback is delivered; its args name the job that ended, beside those given. */
  afterwards?: { queue: string; class: string; wait?: number; args?: Record<string, unknown> }
}

/** What all tries of a callback have in common; each is signed anew. */
export type CallbackSent = { headers: Record<string, string>; body: string }

/** A job as it is asked for, checked by its schema; and what only the engine and its facades say of one. */
export type JobInput = Omit<AskedJob, 'repeat' | 'callback' | 'redeliver'> & {
  repeat?: Repeat
  callback?: Callback
  redeliver?: Redeliver
  /** How `unique` holds, where not until the job has ended and for whoever asks. */
  uniqueness?: { held?: 'deleted'; hit?: 'same parent' | 'ignored' }
  /** A child for the run that its parent is in: it is held until that run has ended. */
  joins?: boolean
  /** The slot of a schedule that it is made for. */
  scheduledFor?: number
}

/** What is other in a copy of a job. */
export type CopyChanges = { args?: Encoded; inputs?: Record<string, Encoded[]> | 'last' }
