// What sidejob can do, as one list of verbs: the doors call these, nothing else.

import type { Constraint } from '../core/constraint.ts'
import type { Status } from '../core/job.ts'
import type { Changes, Snapshot } from '../core/run.ts'
import type { Wire } from '../core/value.ts'

/** A job as its id or one of its aliases, in text: `"7"`, `"nightly"`. */
export type Ref = string
export type Dir = 'in' | 'out'

export type PortSpec = { default?: Wire; channels?: string[] }
export type PortSpecs = Record<string, PortSpec>

/** Backoff of retries: base × factor^(n−1), at most cap, plus up to `jitter` of it. Milliseconds. */
export type Retry = {
  max?: number
  backoff?: { base?: number; factor?: number; cap?: number; jitter?: number; delays?: number[] }
}

export type Repeat = string | { cron: string; tz?: string }

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
  /** A job that is made in the step in which the callback is delivered; its argument names the job that ended. */
  afterwards?: { queue: string; class: string; wait?: number }
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
  args?: Wire
  name?: string
  parent?: Ref
  in?: PortSpecs
  out?: PortSpecs
  inputs?: Record<string, Wire[]>
  at?: number
  wait?: number
  priority?: number
  retry?: Retry
  timeout?: number
  /** true: for an hour; a number: for that many milliseconds. */
  keepResult?: boolean | number
  unique?: string
  repeat?: Repeat
  alias?: string[]
  callback?: Callback
  createdBy?: string
  /** An aggregation: the first job that names it sets how many of its jobs may run at once. */
  group?: { id: string; concurrency?: number }
}

export type LimitSettings = {
  concurrency?: number | null
  rate?: { limit: number; period: number } | null
  paused?: boolean
}

export type LimitView = {
  key: string
  concurrency: number | null
  rate: { limit: number; period: number } | null
  paused: boolean
  running: number
  waiting: number
}

export type ConstraintView = Constraint & { name: string }

/** A job that repeats, with its next slots; none while it is paused. */
export type ScheduleView = {
  job: number
  queue: string
  class: string
  status: Status
  repeat: Wire
  paused: boolean
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

/** Who asks, and under which key the answer is kept, so that asking twice is safe. */
export type Call = { key?: string; fingerprint?: string }

export type Enqueued = { id: number; status: Status; existing?: true }

export type Item = { data: Wire; context?: Wire; default?: true }

export type PortView = { size: number; taken: number; default?: Wire; channels: string[] }

export type JobView = {
  id: number
  queue: string
  class: string
  status: Status
  args: Wire | null
  name: string | null
  parent: { id: number; name: string } | null
  aliases: string[]
  priority: number
  group: string | null
  attempt: number
  lost: number
  createdAt: number
  createdBy: string
  ranAt: number | null
  endedAt: number | null
  runAt: number | null
  waitingFor: 'children' | string[] | null
  error: Wire | null
  progress: Wire | null
  repeat: Wire | null
  callback: CallbackProgress | null
  in: Record<string, PortView>
  out: Record<string, PortView>
  children: Record<string, { id: number; class: string; status: Status }>
}

export type JobPatch = Partial<Pick<JobInput, 'args' | 'priority' | 'retry' | 'timeout' | 'unique' | 'group'>> & {
  repeat?: Repeat | null
  runAt?: number | null
}

export type JobFilter = {
  status?: Status
  queue?: string
  class?: string
  parent?: Ref
  alias?: string
  limit?: number
  cursor?: string
}

export type Result =
  | { type: 'success'; finishedAt: number; result: Wire }
  | { type: 'failure'; finishedAt: number; reason: 'other' | 'timeout'; message: string; error: Wire | null }

export type Reason = { code: string; message: string; since?: number; until?: number; job?: number; key?: string }

export type WorkerDefinition = {
  limits?: { key?: string; concurrency?: number; rate?: { limit: number; period: number } }[]
  in?: Record<string, { default?: Wire; schema?: Wire; channels?: string[] }>
  out?: Record<string, { default?: Wire; schema?: Wire; channels?: string[] }>
  push?: { url: string; secret?: string }
  pull?: boolean
  retry?: Retry
  timeout?: number
  retain?: number
  shutdown?: boolean
  description?: string
}

export type QueueView = {
  name: string
  paused: boolean
  mode: 'push' | 'pull'
  lanes: number
  maxLanes: number
  batch: number
  counts: Record<Status | 'scheduled', number>
  oldestReady: number | null
}

export type Target = { job: Ref; in: string } | { job: Ref; out: string }
export type Scope = 'admin' | 'write' | 'read' | 'work'

export interface Engine {
  health(): Promise<{ ok: boolean; redis: boolean; version: string }>

  enqueue(jobs: JobInput[], call?: Call): Promise<{ jobs: Enqueued[]; existing: boolean }>
  get(job: Ref): Promise<JobView>
  list(filter: JobFilter): Promise<{ jobs: JobView[]; cursor: string | null }>
  patch(job: Ref, patch: JobPatch, call?: Call): Promise<JobView>
  /** 'gone' at once; 'ending' when a run has to end first (only with force). */
  remove(job: Ref, options: { force?: boolean }, call?: Call): Promise<'gone' | 'ending'>
  run(
    job: Ref,
    options: { force?: boolean; at?: number; wait?: number; parent?: boolean },
    call?: Call,
  ): Promise<{ id: number; status: Status; ran?: false }>
  terminate(job: Ref, options: { recursive?: boolean }, call?: Call): Promise<{ id: number; status: Status }>
  retry(job: Ref, call?: Call): Promise<{ id: number; status: Status }>
  cancel(job: Ref, call?: Call): Promise<{ id: number; status: Status }>

  callbacks(filter: {
    state?: CallbackState
    limit?: number
    cursor?: string
  }): Promise<{ callbacks: CallbackView[]; cursor: string | null }>
  /** The last callback once more, now: the same body and id. `job` is the job that ended, or the callback itself. */
  resend(job: Ref, call?: Call): Promise<{ id: number; status: Status }>

  state(job: Ref): Promise<Record<string, Wire>>
  setState(
    job: Ref,
    change: { set?: Record<string, Wire>; unset?: string[] },
    call?: Call,
  ): Promise<Record<string, Wire>>
  result(
    job: Ref,
    options: { wait?: number; peek?: boolean },
    call?: Call,
  ): Promise<{ ended: true; result: Result | null } | { ended: false; status: Status }>
  why(job: Ref): Promise<{ running: boolean; reasons: Reason[] }>
  runs(job: Ref): Promise<{ runs: { startedAt: number; endedAt: number; outcome: string; attempt: number }[] }>
  tree(
    job: Ref,
    limit?: number,
  ): Promise<{ id: number; class: string; status: Status; children: Record<string, unknown> }>
  adopt(job: Ref, child: { job: Ref; name: string }, call?: Call): Promise<void>
  disown(job: Ref, child: { name: string }, call?: Call): Promise<void>
  alias(job: Ref, alias: string, act: 'add' | 'remove', call?: Call): Promise<void>
  lock(job: Ref, options: { ttl: number }, call?: Call): Promise<{ token: string }>
  refresh(job: Ref, options: { token: string; ttl: number }): Promise<void>
  unlock(job: Ref, options: { token: string }): Promise<void>

  /** Replaces the port sets: SideJob's `inports=` and `outports=`. */
  ports(job: Ref, specs: { in?: PortSpecs; out?: PortSpecs }, call?: Call): Promise<JobView>
  look(job: Ref, dir: Dir, port: string, limit?: number): Promise<PortView & { values: Item[] }>
  write(
    job: Ref,
    dir: Dir,
    port: string,
    values: Wire[],
    options?: { notify?: boolean; log?: boolean; setDefault?: boolean; context?: Wire },
    call?: Call,
  ): Promise<{ size: number }>
  take(job: Ref, dir: Dir, port: string, options: { max?: number }, call?: Call): Promise<{ values: Item[] }>
  /** undefined clears the default. */
  setDefault(job: Ref, dir: Dir, port: string, value: Wire | undefined, call?: Call): Promise<void>
  setChannels(job: Ref, dir: Dir, port: string, channels: string[], call?: Call): Promise<void>
  connect(job: Ref, dir: Dir, port: string, to: Target[], call?: Call): Promise<{ moved: number }>

  publish(channel: string, message: Wire, call?: Call): Promise<{ subscribers: number }>
  channels(): Promise<{ channels: { name: string; subscribers: { job: number; port: string }[] }[] }>
  /** Messages of a channel and of all below it, at most once each, until the signal aborts. */
  subscribe(channel: string, signal: AbortSignal): AsyncIterable<{ channel: string; message: Wire }>
  log(entry: Wire, call?: Call): Promise<void>
  readLog(filter: { job?: Ref; level?: string; cursor?: string; limit?: number }): Promise<{
    entries: { id: string; at: number; job: number | null; entry: Wire }[]
    cursor: string | null
  }>

  workers(): Promise<{ workers: ({ queue: string; class: string } & WorkerDefinition)[] }>
  register(queue: string, className: string, definition: WorkerDefinition): Promise<WorkerDefinition>
  unregister(queue: string, className: string): Promise<void>
  queues(): Promise<{ queues: QueueView[] }>
  setQueue(
    queue: string,
    patch: { lanes?: number; batch?: number; paused?: boolean; mode?: 'push' | 'pull' },
  ): Promise<QueueView>
  limits(): Promise<{ limits: LimitView[] }>
  limit(key: string): Promise<LimitView>
  setLimit(key: string, settings: LimitSettings): Promise<LimitView>
  removeLimit(key: string): Promise<void>
  constraints(): Promise<{ constraints: ConstraintView[] }>
  constraint(name: string): Promise<ConstraintView>
  setConstraint(name: string, constraint: Constraint): Promise<ConstraintView>
  removeConstraint(name: string): Promise<void>
  schedules(page: { limit?: number; cursor?: string }): Promise<{ schedules: ScheduleView[]; cursor: string | null }>
  schedule(job: Ref): Promise<ScheduleView>
  patchSchedule(job: Ref, patch: JobPatch, call?: Call): Promise<ScheduleView>
  /** The job stays, and runs no more by itself. */
  endSchedule(job: Ref, call?: Call): Promise<void>
  pauseSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  /** Goes on with the first slot after now. */
  resumeSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  groups(): Promise<{ groups: GroupView[] }>
  group(id: string): Promise<GroupView>
  setGroup(id: string, settings: Omit<LimitSettings, 'rate'>): Promise<GroupView>
  stats(): Promise<Record<string, unknown>>
  /** Switches that people set: whether one is on, and setting it. */
  flag(name: string): Promise<boolean>
  setFlag(name: string, on: boolean): Promise<void>

  /** An empty list: nothing came in time. */
  claim(
    queue: string,
    options: { names?: string[]; max?: number; wait?: number; lease?: number },
    call?: Call & { signal?: AbortSignal },
  ): Promise<Snapshot[]>
  /** The job's new status; after a checkpoint also a fresh snapshot. */
  commit(token: string, changes: Changes): Promise<{ status: Status; snapshot?: Snapshot }>
  heartbeat(token: string, options: { progress?: Wire }): Promise<{ leaseUntil: number }>
  release(token: string): Promise<{ status: Status }>
  page(token: string, port: string, after: number): Promise<{ values: Item[]; more: number }>

  /** One lane of a queue: claims, performs and commits until nothing is left or the time is over. */
  dispatch(queue: string, bell: string): Promise<{ runs: number; ended: string }>
  tick(): Promise<{ rung: string[]; more: boolean }>

  keys(): Promise<{ keys: { id: string; name: string; scopes: Scope[]; createdAt: number }[] }>
  addKey(key: { name: string; scopes: Scope[] }): Promise<{ id: string; key: string }>
  removeKey(id: string): Promise<void>
  /** Whose key this is, or undefined. */
  authenticate(key: string): Promise<{ name: string; scopes: readonly Scope[] } | undefined>
}
