// What sidejob can do, as one list of verbs: the doors call these, nothing else.

import type { Encoded } from '../core/codec/value.ts'
import type { Constraint } from '../core/constraint.ts'
import type { Code } from '../core/errors.ts'
import type { Graph } from '../core/graph.ts'
import type { Status } from '../core/job.ts'
import type { Orphan } from '../core/plan.ts'
import type { Changes, PastRun, RunError, Snapshot } from '../core/run.ts'
import type { Point } from '../core/series.ts'
import type { Reach } from '../core/worker.ts'
import type { BellTrouble, Fault, Signal } from '../redis/types.ts'
import type { Restore } from '../redis/verbs/commands.ts'

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
  aliases: string[]
  repeat: Encoded
  paused: boolean
  /** Its last run failed or was lost. */
  failing: boolean
  error: Encoded | null
  lastRun: PastRun | null
  next: number[]
}

/** What a new graph did to its flow, or would do. */
export type GraphChange = {
  applied: boolean
  start: string[]
  adopt: string[]
  stop: { node: string; job: number }[]
  replace: { node: string; job: number }[]
  wires: { added: string[]; removed: string[] }
  orphaned: Orphan[]
}

export type WireView = {
  id: string
  from: { node: string | null; port: string }
  to: { node: string | null; port: string }
  /** Whether both ends are there: values pass as they come. */
  laid: boolean
  /** How many values wait at its far end; wires that end in one port share them. */
  size: number
  /** How many wait at its near end. */
  behind: number
  oldest: Item | null
  /** Values a minute. */
  rate: number
}

export type GroupView = {
  id: string
  concurrency: number | null
  paused: boolean
  running: number
  waiting: number
  jobs: number
}

/** Who asks (`key:<id>`), and under which key the answer is kept (for `keep` milliseconds; a day), so that asking twice is safe. */
/** Who asks, and whether it is the same call as before; the signal aborts when the caller hangs up. */
export type Call = { key?: string; fingerprint?: string; by?: string; signal?: AbortSignal; keep?: number }

export type Enqueued = { id: number; status: Status; existing?: true }

export type Item = { data: Encoded; context?: Encoded; default?: true }

export type PortView = { size: number; taken: number; default?: Encoded; channels: string[] }

export type JobView = {
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

export type JobFilter = {
  status?: Status
  queue?: string
  class?: string
  group?: string
  parent?: Ref
  alias?: string
  limit?: number
  cursor?: string
}

export type BulkInput = {
  filter: Omit<JobFilter, 'alias' | 'limit' | 'cursor'>
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

export type Reason = { code: string; message: string; since?: number; until?: number; job?: number; key?: string }

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
  description?: string
}

export type QueueView = {
  name: string
  paused: boolean
  mode: 'push' | 'pull'
  lanes: number
  maxLanes: number
  /** So many milliseconds of waiting are worth one step of priority. */
  ageing: number | null
  batch: number
  counts: Record<Status | 'scheduled', number>
  oldestReady: number | null
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

export type Target = { job: Ref; in: string } | { job: Ref; out: string }
export type Scope = 'admin' | 'write' | 'read' | 'work'

/** How much a key may ask for. */
export type KeyLimits = { requestsPerSecond?: number }

export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  createdAt: number
  expiresAt?: number
  /** To the hour. */
  lastUsedAt?: number
  limits?: KeyLimits
}

/** A key that somebody has come with. */
export type KnownKey = {
  id: string
  name: string
  scopes: readonly Scope[]
  limits?: KeyLimits
  /** The deployment's own. */
  unlimited?: true
}

/** Who has asked for what: the key, the verb of the table of routes, method and path. */
export type AuditEntry = { by: string; name: string; verb: string; method: string; path: string }

/** A job as callers see it who know jobs by their ids and keep no tokens. */
export type DeliveredJob = JobView & {
  /** Since when, or from when on, it is due. */
  dueAt: number
  slot: number | null
  redeliver: string | null
  /** How often it was lent since somebody answered. */
  deliveries: number
  /** Nobody answered its last run, and it has not been lent since. */
  unanswered: boolean
  leaseUntil: number | null
  tag: string | null
  cancelled: boolean
}

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

/** Runs for callers that know jobs by their ids. */
export interface Deliveries {
  deliveredJob(job: Ref): Promise<DeliveredJob>
  /** `failed`: how many failed instead of being lent. */
  deliver(queue: string, request: DeliveryRequest, call?: Call): Promise<{ deliveries: Delivery[]; failed: number }>
  /** Of what was lent nobody will hear: it does not count, and the call may be made again. */
  giveBack(deliveries: Delivery[], call?: Call): Promise<void>
  /** What was done under the key of this call is not done again; what was refused may be asked for again. */
  once(call: Call, act: () => Promise<void>): Promise<void>
  /** Ends the run that a job is in, whoever has it. */
  finishDelivery(job: Ref, end: DeliveryEnd): Promise<{ status: Status }>
  /** Back into the queue, whatever it was doing. */
  requeue(job: Ref, options?: { forgiven?: boolean; class?: string }, call?: Call): Promise<void>
  /** Cancels or deletes a job, and takes it from its run, if it still is as it was seen. */
  withdrawJob(seen: DeliveredJob, act: 'cancel' | 'delete', call?: Call): Promise<void>
  updateDelivery(job: Ref, update: DeliveryUpdate, call?: Call): Promise<void>
  /** Jobs of classes like these fail instead of being lent; null: of none any more. */
  block(queue: string, globs: string[] | null): Promise<void>
}

/**
 * `redisMs`: a round trip to Redis. `restored`: it was seen to have gone back to older data. `problems`: what Redis or QStash refuses at present, and what
 * to do about it; absent when nothing is.
 */
export type Health = {
  ok: boolean
  redis: boolean
  redisMs?: number
  version: string
  restored?: Restore
  problems?: { of: 'redis' | 'qstash'; code: Code; message: string; inARow?: number }[]
}

export interface Engine extends Deliveries {
  health(): Promise<Health>

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
  /** `rest`: the job that goes on with what is below, where that is too much for one step. */
  terminate(
    job: Ref,
    options: { recursive?: boolean },
    call?: Call,
  ): Promise<{ id: number; status: Status; rest?: number }>
  retry(job: Ref, call?: Call): Promise<{ id: number; status: Status }>
  cancel(job: Ref, call?: Call): Promise<{ id: number; status: Status }>

  /** With what calls to this address are signed, where it has been given no secret of its own. */
  endpointSecrets(url: string): Promise<{ secrets: string[] }>
  callbacks(filter: {
    state?: CallbackState
    limit?: number
    cursor?: string
  }): Promise<{ callbacks: CallbackView[]; cursor: string | null }>
  /** The last callback once more, now: the same body and id. `job` is the job that ended, or the callback itself. */
  resend(job: Ref, call?: Call): Promise<{ id: number; status: Status }>

  state(job: Ref): Promise<Record<string, Encoded>>
  setState(
    job: Ref,
    change: { set?: Record<string, Encoded>; unset?: string[] },
    call?: Call,
  ): Promise<Record<string, Encoded>>
  result(
    job: Ref,
    options: { wait?: number; take?: boolean },
    call?: Call,
  ): Promise<{ ended: true; result: Result | null } | { ended: false; status: Status }>
  /** Whether a job with this id was ever made, though it may be gone. */
  wasMade(id: string): Promise<boolean>
  why(job: Ref): Promise<{ running: boolean; reasons: Reason[] }>
  /** The last run; of a job that keeps its runs all of those, newest first. */
  runs(job: Ref): Promise<{ runs: PastRun[] }>
  /** The family below a job, nearest first, at most `limit` jobs (5,000); `more`: there are more than are shown. */
  tree(
    job: Ref,
    limit?: number,
  ): Promise<{ id: number; class: string; status: Status; children: Record<string, unknown>; more?: true }>
  adopt(job: Ref, child: { job: Ref; name: string }, call?: Call): Promise<void>
  disown(job: Ref, child: { name: string }, call?: Call): Promise<void>
  alias(job: Ref, alias: string, act: 'add' | 'remove', call?: Call): Promise<void>
  lock(job: Ref, options: { ttl: number }, call?: Call): Promise<{ token: string }>
  refresh(job: Ref, options: { token: string; ttl: number }, call?: Call): Promise<void>
  unlock(job: Ref, options: { token: string }, call?: Call): Promise<void>

  /** Replaces the port sets: SideJob's `inports=` and `outports=`. */
  ports(job: Ref, specs: { in?: PortSpecs; out?: PortSpecs }, call?: Call): Promise<JobView>
  look(job: Ref, dir: Dir, port: string, limit?: number): Promise<PortView & { values: Item[] }>
  write(
    job: Ref,
    dir: Dir,
    port: string,
    values: Encoded[],
    options?: { notify?: boolean; log?: boolean; setDefault?: boolean; context?: Encoded },
    call?: Call,
  ): Promise<{ size: number }>
  take(job: Ref, dir: Dir, port: string, options: { max?: number }, call?: Call): Promise<{ values: Item[] }>
  /** undefined clears the default. */
  setDefault(job: Ref, dir: Dir, port: string, value: Encoded | undefined, call?: Call): Promise<void>
  setChannels(job: Ref, dir: Dir, port: string, channels: string[], call?: Call): Promise<void>
  connect(job: Ref, dir: Dir, port: string, to: Target[], call?: Call): Promise<{ moved: number }>

  publish(
    channel: string,
    message: Encoded,
    options?: { context?: Encoded },
    call?: Call,
  ): Promise<{ subscribers: number }>
  channels(): Promise<{ channels: { name: string; subscribers: { job: number; port: string }[] }[] }>
  /** Messages of a channel and of all below it, at most once each, until the signal aborts. */
  subscribe(channel: string, signal: AbortSignal): AsyncIterable<{ channel: string; message: Encoded }>
  log(entry: Encoded, call?: Call): Promise<void>
  readLog(filter: { job?: Ref; level?: string; cursor?: string; limit?: number }): Promise<{
    entries: { id: string; at: number; job: number | null; level: string; entry: Encoded }[]
    cursor: string | null
  }>

  workers(): Promise<{ workers: ({ queue: string; class: string } & WorkerDefinition)[] }>
  register(queue: string, className: string, definition: WorkerDefinition): Promise<WorkerDefinition>
  unregister(queue: string, className: string): Promise<void>
  queues(): Promise<{ queues: QueueView[] }>
  setQueue(
    queue: string,
    patch: { lanes?: number; batch?: number; paused?: boolean; mode?: 'push' | 'pull'; ageing?: number | null },
  ): Promise<QueueView>
  /** Who is at work, and on which jobs. `others`: runs of nobody with a name; `more`: there are more runs than are shown. */
  processes(): Promise<{ processes: ProcessView[]; others: RunUnderWay[]; more: boolean }>
  /** Tells a process to take no new jobs, to stop, or (null) to go on; it hears with its next claim or heartbeat. */
  signal(process: string, signal: Signal | null): Promise<void>
  limits(): Promise<{ limits: LimitView[] }>
  /** Limits and groups in one look. */
  bounds(): Promise<{ limits: LimitView[]; groups: GroupView[] }>
  limit(key: string): Promise<LimitView>
  setLimit(key: string, settings: LimitSettings): Promise<LimitView>
  removeLimit(key: string): Promise<void>
  constraints(): Promise<{ constraints: ConstraintView[] }>
  constraint(name: string): Promise<ConstraintView>
  setConstraint(name: string, constraint: Constraint): Promise<ConstraintView>
  removeConstraint(name: string): Promise<void>
  schedules(page: {
    limit?: number
    cursor?: string
    failing?: boolean
  }): Promise<{ schedules: ScheduleView[]; cursor: string | null }>
  /** Makes the schedule of a name, or makes the one that there is what is asked for. */
  setSchedule(alias: string, input: JobInput): Promise<ScheduleView>
  /** Jobs for the slots of a stretch of time, as if nobody had missed them; `next` is where to go on. */
  backfill(
    job: Ref,
    stretch: { from: number; to: number },
    call?: Call,
  ): Promise<{ jobs: { id: number; scheduledFor: number }[]; next: number | null }>
  schedule(job: Ref): Promise<ScheduleView>
  patchSchedule(job: Ref, patch: JobPatch, call?: Call): Promise<ScheduleView>
  /** The job stays, and runs no more by itself. */
  endSchedule(job: Ref, call?: Call): Promise<void>
  pauseSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  /** Goes on with the first slot after now. */
  resumeSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  /** The graph of a flow. */
  graph(job: Ref): Promise<Graph>
  /** Gives a flow another graph, in one step; with `preview` only says what that would do. */
  setGraph(job: Ref, graph: Graph, options: { preview?: boolean }, call?: Call): Promise<GraphChange>
  /** The graph before the last one. */
  undoGraph(job: Ref, call?: Call): Promise<GraphChange>
  wires(job: Ref): Promise<{ wires: WireView[] }>
  /** Puts values into the far end of a wire. */
  inject(job: Ref, wire: string, values: Encoded[], call?: Call): Promise<{ size: number }>
  /** Takes what waits at the far end of a wire. */
  drain(job: Ref, wire: string, options: { max?: number }, call?: Call): Promise<{ values: Item[] }>
  /** Moves what waits at the far end of a wire to that of another. */
  moveWire(job: Ref, wire: string, to: string, call?: Call): Promise<{ moved: number }>
  storedGraph(name: string): Promise<Graph>
  storeGraph(name: string, graph: Graph): Promise<void>
  dropGraph(name: string): Promise<void>
  groups(): Promise<{ groups: GroupView[] }>
  group(id: string): Promise<GroupView>
  setGroup(id: string, settings: Omit<LimitSettings, 'rate'>): Promise<GroupView>
  /** `days`: so many days, from today back, of what is kept for five years. */
  stats(options?: { days?: number }): Promise<Stats>
  /** What happened in each of the last 240 minutes or 336 hours, oldest first; `more`: of 50 queues, and there are others. */
  series(of: { queue?: string; step?: 'minute' | 'hour' }): Promise<{
    step: 'minute' | 'hour'
    points: Point[]
    more: boolean
  }>
  /** What is not as it must be, in one slice of the jobs; where the next one begins. */
  examine(cursor?: string): Promise<{ faults: Fault[]; jobs: number; cursor: string | null }>
  /** Puts right what is found in a slice, and answers what that was; what is still found then is in `left`. */
  repair(cursor?: string): Promise<{ repaired: Fault[]; left: Fault[]; jobs: number; cursor: string | null }>
  /** Switches that people set: whether one is on, and setting it. */
  flag(name: string): Promise<boolean>
  setFlag(name: string, on: boolean): Promise<void>
  /** Makes the job that does it: its progress and its result say to how many jobs it was done, and how many it passed over. */
  bulk(input: BulkInput, call?: Call): Promise<Enqueued>

  /** An empty list: nothing came in time. `told` hears what the process that asks was told; to stop ends its wait. */
  claim(
    queue: string,
    options: { names?: string[]; tags?: string[]; max?: number; wait?: number; lease?: number; process?: string },
    call?: Call & { told?: (signal: Signal) => void },
  ): Promise<Snapshot[]>
  /** The job's new status; after a checkpoint also a fresh snapshot. `reach`: in place of what the registration says. */
  commit(token: string, changes: Changes, options?: { reach?: Reach }): Promise<{ status: Status; snapshot?: Snapshot }>
  heartbeat(token: string, options: { progress?: Encoded }): Promise<{ leaseUntil: number; signal?: Signal }>
  release(token: string): Promise<{ status: Status }>
  page(token: string, port: string, after: number): Promise<{ values: Item[]; more: number }>
  /** The children, of which there were too many for the snapshot, page by page: as they are now. */
  children(token: string, cursor?: string): Promise<{ children: Snapshot['children']; cursor: string | null }>
  /** What steps have kept that were too many for the snapshot. */
  steps(token: string, cursor?: string): Promise<{ steps: Record<string, Encoded>; cursor: string | null }>

  /** One lane of a queue: claims, performs and commits until nothing is left or the time is over. */
  dispatch(queue: string, bell: string): Promise<{ runs: number; ended: string }>
  tick(): Promise<{ rung: string[]; more: boolean }>

  keys(): Promise<{ keys: ApiKey[] }>
  addKey(key: Omit<ApiKey, 'id' | 'createdAt' | 'lastUsedAt'>, call?: Call): Promise<{ id: string; key: string }>
  /** Makes a key that may do the same; the old one ends `overlap` (milliseconds) later, or when it would have. */
  rotateKey(id: string, options: { overlap: number }, call?: Call): Promise<{ id: string; key: string; until: number }>
  removeKey(id: string): Promise<void>
  /** Whose key this is, or undefined. */
  authenticate(key: string): Promise<KnownKey | undefined>
  /** Whether there is a key with this id, and it has not ended. */
  knows(id: string): Promise<boolean>
  /** Lets this path be asked for without the key, in its name: for a minute, or for `life`. */
  streamToken(key: string, path: string, life?: number): Promise<{ token: string; expiresAt: number }>
  authenticateStream(token: string, path: string): ReturnType<Engine['authenticate']>

  /** Writes down what an admin's key asks for. */
  audit(entry: AuditEntry): Promise<void>
  readAudit(page: {
    cursor?: string
    limit?: number
  }): Promise<{ entries: (AuditEntry & { id: string; at: number })[]; cursor: string | null }>

  tenants(): Promise<{ tenants: { name: string; createdAt: number }[] }>
  addTenant(name: string): Promise<void>
  /** Its keys and bells are refused from then on; what it has stays in Redis. */
  removeTenant(name: string): Promise<void>
  hasTenant(name: string): Promise<boolean>
}
