// What is asked of jobs, and what is told of them.

import type { Encoded } from '../../core/codec/value.ts'

/** A job as its id or one of its aliases, in text: `"7"`, `"nightly"`. */
export type Ref = string
export type Dir = 'in' | 'out'

export type PortSpec = { default?: Encoded; channels?: string[] }
export type PortSpecs = Record<string, PortSpec>

/** After so long without an answer (milliseconds, or modifiers: "+5 MINUTES") a run goes to somebody else; after `max` the job fails. */
export type Redeliver = { after: number | string; max?: number }

/** Backoff of retries: base × factor^(n−1), at most cap, plus up to `jitter` of it. Milliseconds. */
export type Retry = {
  max?: number
  backoff?: { base?: number; factor?: number; cap?: number; jitter?: number; delays?: number[] }
}

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

export type CallbackState = 'PENDING' | 'IN_PROGRESS' | 'DELIVERED' | 'FAILED'

export type CallbackProgress = {
  state: CallbackState | null
  attempts: number
  lastError: string | null
  job: number | null
}

export type CallbackView = CallbackProgress & {
  state: CallbackState
  job: number
  of: number
  end: number
  url: string
  createdAt: number
  nextAt: number | null
  endedAt: number | null
}

export type JobInput = {
  queue: string
  class: string
  args?: Encoded
  name?: string
  parent?: Ref
  in?: PortSpecs
  out?: PortSpecs
  inputs?: Record<string, Encoded[]>
  at?: number
  wait?: number
  priority?: number
  retry?: Retry
  timeout?: number
  /** true: for an hour; a number: for that many milliseconds. */
  keepResult?: boolean | number
  unique?:
    | string
    | {
        key: string
        until?: 'started' | 'ended' | 'deleted'
        for?: number
        /** Until started; who asks again moves it to `wait` from then, at most to `max` after it was made. */
        debounce?: { wait: number; max?: number }
      }
  repeat?: Repeat
  alias?: string[]
  callback?: Callback
  createdBy?: string
  /** An aggregation: the first job that names it sets how many of its jobs may run at once. */
  group?: { id: string; concurrency?: number }
  /** How `unique` holds, where not until the job has ended and for whoever asks. */
  uniqueness?: { held?: 'deleted'; hit?: 'same parent' | 'ignored' }
  /** A child for the run that its parent is in: it is held until that run has ended. */
  joins?: boolean
  redeliver?: Redeliver
  /** It is lent only to who asks for the tag. */
  tag?: string
  retain?: number
  /** How many of its runs it keeps. */
  history?: number
  /** The slot of a schedule that it is made for. */
  scheduledFor?: number
}
