// Jobs, ports and results, as they are told.

import type { Encoded } from '../../core/codec/value.ts'
import type { Status } from '../../core/job.ts'
import type { CallbackProgress, CallbackState, JobInput, Ref, Repeat, Retry } from './jobs.ts'

export type Enqueued = { id: number; status: Status; existing?: true }

export type Item = { data: Encoded; context?: Encoded; default?: true }

/** `schema`: of its values, where it was asked for and the worker says one. */
export type PortView = { size: number; taken: number; default?: Encoded; channels: string[]; schema?: Encoded }

/** `until`: how long the key is held; by a throttle for a time of its own. */
export type JobUnique = { key: string; until: 'started' | 'ended' | 'deleted' | 'time' }

/** A run under way: `process` of a program with a name, `lane` (its first letters) otherwise. */
export type RunFacts = { startedAt: number; leaseUntil: number; process: string | null; lane: string | null }

/** What was asked of a job, what holds it, and who has it. Durations in milliseconds; null: nothing of its own. */
export type JobFacts = {
  /** The keys of the limits that it counts against, that of its worker's own concurrency where the job is looked at alone. */
  limits: string[]
  /** The limit that it waits at. */
  waitingAt: string | null
  tag: string | null
  retry: Retry | null
  timeout: number | null
  retain: number | null
  keepResult: number | null
  history: number
  unique: JobUnique | null
  lockedUntil: number | null
  run: RunFacts | null
  /** Until when it is kept at least, once it has ended. */
  keptUntil: number | null
}

export type JobView = JobBase & JobFacts

/** A job as whoever is lent it sees it. */
export type JobBase = {
  id: number
  queue: string
  class: string
  status: Status
  args: Encoded | null
  name: string | null
  parent: { id: number; name: string } | null
  aliases: string[]
  priority: number
  group: string | null
  attempt: number
  lost: number
  createdAt: number
  createdBy: string
  /** The API key that asked for it, as `key:<id>`. */
  by?: string
  ranAt: number | null
  endedAt: number | null
  runAt: number | null
  waitingFor: 'children' | 'parent' | string[] | null
  error: Encoded | null
  progress: Encoded | null
  repeat: Encoded | null
  callback: CallbackProgress | null
  in: Record<string, PortView>
  out: Record<string, PortView>
  children: Record<string, { id: number; class: string; status: Status }>
  /** How many children are not in `children`. */
  moreChildren?: number
}

export type JobPatch = Partial<Pick<JobInput, 'args' | 'priority' | 'retry' | 'timeout' | 'group'>> & {
  repeat?: Repeat | null
  runAt?: number | null
}

/** What was found by a text: jobs by their id or alias, and what else there is by its name. */
export type Found = {
  jobs: { id: number; class: string; queue: string; status: Status; alias: string | null }[]
  queues: string[]
  limits: string[]
  groups: string[]
  channels: string[]
}

/** A job in short: what a row of a list shows. */
export type JobRow = Pick<
  JobBase,
  | 'id'
  | 'queue'
  | 'class'
  | 'status'
  | 'name'
  | 'parent'
  | 'aliases'
  | 'priority'
  | 'group'
  | 'attempt'
  | 'createdAt'
  | 'ranAt'
  | 'endedAt'
  | 'runAt'
  | 'progress'
> & {
  tag: string | null
  run: RunFacts | null
  /** The message of its error, the first 200 characters. */
  message: string | null
  /** The first reason why it does not run, as far as its record tells it. */
  reason: Reason | null
  callback: CallbackState | null
}

export type JobFilter = {
  status?: Status | readonly Status[]
  tag?: string
  callback?: Exclude<CallbackState, 'IN_PROGRESS'>
  /** Failed with an error of this kind. */
  error?: string
  /** Made from and before these moments. */
  since?: number
  until?: number
  /** Whose run takes, or took, longer: milliseconds. */
  longer?: number
  queue?: string
  class?: string
  group?: string
  parent?: Ref
  alias?: string
  limit?: number
  cursor?: string
}

/** Failed jobs of one kind, of those that were looked at. */
export type ErrorKind = {
  /** Its fingerprint, as lists and bulk take it. */
  error: string
  class: string
  queues: string[]
  /** The message without what differs from job to job, and that of one of them. */
  message: string
  example: string
  frame: string | null
  count: number
  firstAt: number
  lastAt: number
  /** The newest of them. */
  jobs: number[]
}

/** Which jobs: all that fit, or these. */
export type BulkInput = {
  filter?: Pick<JobFilter, 'queue' | 'class' | 'group' | 'parent' | 'error'> & { status?: Status }
  ids?: number[]
  action: 'retry' | 'terminate' | 'delete' | 'requeue'
}

export type Result =
  | { type: 'success'; finishedAt: number; saidAt?: string; result: Encoded }
  | {
      type: 'failure'
      finishedAt: number
      /** When it ended by the worker's own clock, as it said it. */
      saidAt?: string
      reason: 'other' | 'timeout'
      message: string
      error: Encoded | null
      /** The worker said that trying again makes no sense. */
      retry?: false
    }

/**
 * `message` says in words what `data` has as numbers, names and ids. `job`: the one other job that it is about; `key`: the
 * port, channel, child or limit.
 */
export type Reason = {
  code: string
  message: string
  data: Record<string, string | number | string[] | number[]>
  /** Since when the job waits as it does. */
  since: number
  until?: number
  job?: number
  key?: string
}
