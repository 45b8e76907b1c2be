// Everything that can be asked of the engine.

import type { ClassCount, ClassHour } from '../../core/class-counts.ts'
import type { Encoded } from '../../core/codec/value.ts'
import type { Constraint } from '../../core/constraint.ts'
import type { Graph } from '../../core/graph.ts'
import type { Status } from '../../core/job.ts'
import type { Changes, PastRun, Snapshot } from '../../core/run.ts'
import type { KeptStep, PastRunView, WorkerPatch } from '../../core/schemas.ts'
import type { Point } from '../../core/series.ts'
import type { Reach } from '../../core/worker.ts'
import type { Signal } from '../../redis/types.ts'
import type { Heart } from '../../redis/verbs/commands.ts'
import type { Deliveries, FoundFault, Health } from './deliveries.ts'
import type { FlowRecord, FlowRow, FlowView, GraphChange, GraphOptions, GraphVersion, WireView } from './flows.ts'
import type {
  CallbackSent,
  CallbackState,
  CallbackTry,
  CallbackView,
  CopyChanges,
  Dir,
  JobInput,
  PortSpecs,
  Ref,
} from './jobs.ts'
import type { Access, Target } from './keys.ts'
import type {
  Call,
  ConstraintView,
  GroupView,
  Holder,
  LimitRow,
  LimitSettings,
  LimitView,
  LimitWaiter,
  OpenBreaker,
  Previewed,
  RoomView,
  ScheduleRow,
  ScheduleView,
} from './limits.ts'
import type {
  Glance,
  PatchedQueue,
  Preview,
  ProcessView,
  QueueDetail,
  QueuePatch,
  QueueView,
  RunUnderWay,
  Stats,
  StoredWorker,
  WorkerDefinition,
  WorkerView,
} from './queues.ts'
import type {
  BulkInput,
  BulkPreview,
  ChannelView,
  Enqueued,
  ErrorFilter,
  ErrorPage,
  Found,
  Item,
  JobFilter,
  JobPatch,
  JobRow,
  JobView,
  MutedKind,
  PortView,
  Result,
} from './views.ts'
import type { Why } from './why.ts'

/** Notes on a page of a list, each present if the engine knows it. */
export type ListNotes = { total?: number; looked?: number; newest?: number }

export interface Engine extends Deliveries, Access {
  health(): Promise<Health>

  enqueue(jobs: JobInput[], call?: Call): Promise<{ jobs: Enqueued[]; existing: boolean }>
  /** `schemas`: its ports with the JSON Schemas that its worker says; `details`: what its runs have cost. */
  get(job: Ref, options?: { schemas?: boolean; details?: boolean }): Promise<JobView>
  /** A job that was looked at, its ports with the JSON Schemas that its worker says. */
  described(job: JobView): Promise<JobView>
  /** `total`: how many there are, where that costs nothing: of one queue and statuses at rest, and nothing else. */
  list(filter: JobFilter): Promise<{ jobs: JobView[]; cursor: string | null } & ListNotes>
  /** The same in short, each with the first reason why it does not run. */
  rows(filter: JobFilter): Promise<{ jobs: JobRow[]; cursor: string | null } & ListNotes>
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
    host?: string
    limit?: number
    cursor?: string
  }): Promise<{ callbacks: CallbackView[]; cursor: string | null; newest?: number }>
  /** How many callbacks are in each state. */
  callbackCounts(): Promise<Record<CallbackState, number>>
  /** The last ten tries of telling of a job's end, newest first. */
  tries(job: Ref): Promise<{ tries: CallbackTry[] }>
  /** Telling of a job's end from near; `host`: whose breaker holds it up, `sent`: null where that cannot be said any more. */
  callback(
    job: Ref,
  ): Promise<{ callback: CallbackView; tries: CallbackTry[]; sent: CallbackSent | null; host: string | null }>
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
  /** `deep`: so many jobs further, each the cause of the one before, and the limit that the last one waits at. */
  why(job: Ref, options?: { deep?: number }): Promise<Why>
  /** The last run; of a job that keeps its runs all of those, newest first. `details`: what its history tells besides. */
  runs(job: Ref, options?: { details?: boolean }): Promise<{ runs: PastRun[] }>
  /** The job with what its runs have cost, and those runs, by one look. */
  withRuns(job: Ref): Promise<{ job: JobView; runs: PastRun[] }>
  /** One run of a job with a history, by its number, with what it did and what it has logged. */
  pastRun(job: Ref, n: number): Promise<PastRunView>
  /** The steps of its function that are done, in the order in which they were kept. */
  stepsOf(job: Ref, cursor?: string): Promise<{ steps: KeptStep[]; cursor: string | null }>
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
  take(
    job: Ref,
    dir: Dir,
    port: string,
    options: { max?: number; wait?: number },
    call?: Call,
  ): Promise<{ values: Item[] }>
  /** undefined clears the default. */
  setDefault(job: Ref, dir: Dir, port: string, value: Encoded | undefined, call?: Call): Promise<void>
  setChannels(job: Ref, dir: Dir, port: string, channels: string[], call?: Call): Promise<void>
  connect(job: Ref, dir: Dir, port: string, to: Target[], call?: Call): Promise<{ moved: number }>

  publish(
    channel: string,
    message: Encoded,
    /** `keep`: 1 keeps it as the channel's last message, 0 forgets what is kept. */
    options?: { context?: Encoded; keep?: 0 | 1 },
    call?: Call,
  ): Promise<{ subscribers: number }>
  /** A page; `last` also names channels without listeners that have a kept message. */
  channels(options?: {
    publishers?: boolean
    last?: boolean
    cursor?: string
  }): Promise<{ channels: ChannelView[]; cursor: string | null }>
  /** Messages of channels and of all below them, at most once each, until the signal aborts. */
  subscribe(
    channels: string | readonly string[],
    signal: AbortSignal,
  ): AsyncIterable<{ channel: string; message: Encoded }>
  log(entry: Encoded, call?: Call): Promise<void>
  readLog(filter: {
    job?: Ref
    /** Of jobs of this class. */
    class?: string
    level?: string
    text?: string
    since?: number
    until?: number
    cursor?: string
    limit?: number
  }): Promise<{
    entries: { id: string; at: number; job: number | null; class: string | null; level: string; entry: Encoded }[]
    cursor: string | null
  }>

  workers(): Promise<{ workers: WorkerView[] }>
  /** `preview`: nothing changes, and it is said what of the jobs that wait would not fit. */
  register(queue: string, className: string, definition: WorkerDefinition, options?: Preview): Promise<StoredWorker>
  /** Merges what is given into a registered definition, which nobody else may have changed meanwhile; null: as by default. */
  patchWorker(queue: string, className: string, patch: WorkerPatch, options?: Preview): Promise<StoredWorker>
  unregister(queue: string, className: string): Promise<void>
  queues(): Promise<{ queues: QueueView[] }>
  /** A queue from near: so many (20) of its runs, of the claims that wait, and of who is next. */
  queue(queue: string, options?: { limit?: number }): Promise<QueueDetail>
  /** Sets what the patch says and leaves the rest, in one step; with details it answers how that was before, as a patch. */
  setQueue(queue: string, patch: QueuePatch, options?: { details?: boolean }): Promise<PatchedQueue>
  /** Who is at work, and on which jobs. `others`: runs of nobody with a name; `more`: there are more runs than are shown. */
  processes(): Promise<{ processes: ProcessView[]; others: RunUnderWay[]; more: boolean }>
  /** Tells a process to take no new jobs, to stop, or (null) to go on; it hears with its next claim or heartbeat. */
  signal(process: string, signal: Signal | null): Promise<void>
  limits(options?: { details?: boolean }): Promise<{ limits: LimitRow[] }>
  /** All limits and groups, or about so many of them, in one look. */
  bounds(most?: number, options?: { details?: boolean }): Promise<{ limits: LimitRow[]; groups: GroupView[] }>
  limit(key: string): Promise<LimitView>
  /** A limit from near, with so many of those who hold its slots, soonest end first, and of those who wait, in order. */
  room(
    key: string,
    most: { holders?: number; waiting?: number },
  ): Promise<{ limit: RoomView; holders: Holder[]; waiting: LimitWaiter[] }>
  setLimit(key: string, settings: LimitSettings, how?: { preview?: boolean }): Promise<Previewed<LimitView>>
  removeLimit(key: string): Promise<void>
  constraints(): Promise<{ constraints: ConstraintView[] }>
  constraint(name: string): Promise<ConstraintView>
  setConstraint(name: string, constraint: Constraint): Promise<ConstraintView>
  removeConstraint(name: string): Promise<void>
  schedules(page: {
    limit?: number
    cursor?: string
    failing?: boolean
    /** With `failing`: those, too, whose kind of errors is muted. */
    muted?: boolean
    /** With `failing`: those that failed so often in a row, or stopped as they did; each says how often. */
    inARow?: number
    /** With the runs that are known of each: a command more for each that keeps its history. */
    runs?: boolean
    /** Slots up to this moment, at most 50 of each. */
    until?: number
  }): Promise<{ schedules: ScheduleRow[]; cursor: string | null }>
  /** Makes the schedule of a name, or makes the one that there is what is asked for. */
  setSchedule(alias: string, input: JobInput, call?: Call): Promise<ScheduleView>
  /** Jobs for the slots of a stretch of time, as if nobody had missed them; `next` is where to go on. */
  backfill(
    job: Ref,
    stretch: { from: number; to: number },
    call?: Call,
  ): Promise<{ jobs: { id: number; scheduledFor: number }[]; next: number | null }>
  /** `until`: its slots up to that moment, instead of the next five. */
  schedule(job: Ref, options?: { until?: number }): Promise<ScheduleView>
  patchSchedule(job: Ref, patch: JobPatch, call?: Call): Promise<ScheduleView>
  /** The job stays, and runs no more by itself. */
  endSchedule(job: Ref, call?: Call): Promise<void>
  pauseSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  /** Goes on with the first slot after now. */
  resumeSchedule(job: Ref, call?: Call): Promise<ScheduleView>
  /** The graph of a flow, and the hash that stands for it. */
  graph(job: Ref): Promise<{ graph: Graph; hash: string }>
  /** Gives a flow another graph, in one step; with `preview` only says what that would do. */
  setGraph(job: Ref, graph: Graph, options: GraphOptions, call?: Call): Promise<GraphChange>
  /** The graph before the last one. */
  undoGraph(job: Ref, options: GraphOptions, call?: Call): Promise<GraphChange>
  /** The graphs of a flow with their moments, that in force first. */
  graphHistory(job: Ref): Promise<{ versions: GraphVersion[] }>
  /** Writes down from now on what a flow does, and tells it for so long; null stops that and forgets it. */
  recordFlow(job: Ref, keep: number | null, call?: Call): Promise<void>
  /** What a flow did: the newest, or those before or after an event. */
  flowRecord(job: Ref, page: { after?: string; before?: string; limit: number }): Promise<FlowRecord>
  /** Flows, newest first. */
  flows(filter: {
    status?: Status[]
    cursor?: string
    limit?: number
  }): Promise<{ flows: FlowRow[]; cursor: string | null }>
  /** A flow with its graph, its nodes and its wires, all of one moment. */
  flow(job: Ref): Promise<FlowView>
  wires(job: Ref): Promise<{ wires: WireView[] }>
  /** Puts values into the far end of a wire. */
  inject(job: Ref, wire: string, values: Encoded[], call?: Call): Promise<{ size: number }>
  /** Takes what waits at the far end of a wire. */
  drain(job: Ref, wire: string, options: { max?: number; wait?: number }, call?: Call): Promise<{ values: Item[] }>
  /** Moves what waits at the far end of a wire to that of another. */
  moveWire(job: Ref, wire: string, to: string, call?: Call): Promise<{ moved: number }>
  storedGraph(name: string): Promise<Graph>
  /** The names of stored graphs, in their order, behind one of them. */
  storedGraphs(page: {
    after?: string
    limit?: number
    details?: boolean
  }): Promise<{ graphs: { name: string; nodes?: number; edges?: number }[]; cursor: string | null }>
  storeGraph(name: string, graph: Graph, call?: Call): Promise<void>
  dropGraph(name: string, call?: Call): Promise<void>
  groups(): Promise<{ groups: GroupView[] }>
  group(id: string): Promise<GroupView>
  setGroup(
    id: string,
    settings: Omit<LimitSettings, 'rate'>,
    how?: { preview?: boolean },
  ): Promise<Previewed<GroupView>>
  /** `days`: so many days, from today back, of what is kept for five years. */
  stats(options?: { days?: number }): Promise<Stats>
  /**
   * What happened in each of the last 240 minutes or 336 hours, oldest first, of those the ones in `from` to `to`; `more`: of 50
   * queues, and there are others.
   */
  series(of: { queue?: string; step?: 'minute' | 'hour'; from?: number; to?: number; details?: boolean }): Promise<{
    step: 'minute' | 'hour'
    points: Point[]
    more: boolean
    /** Of each queue: told with `details`. */
    queues?: Record<string, Point[]>
  }>
  /**
   * How everything stands, as `stats`, `series`, `processes` and `health` answer it, for the price of one of them; `limits` are
   * those at which jobs wait. Without `step` no series and no runs are looked at.
   */
  glance(options?: { step?: 'minute' | 'hour' }): Promise<Glance>
  /** What was counted by class on a day, with `hours` by the hour, too; `more`: of 50 queues, and there are others. */
  classes(of: { queue?: string; day?: 'today' | 'yesterday'; hours?: boolean }): Promise<{
    day: string
    classes: ({ queue: string; hours?: ClassHour[] } & ClassCount)[]
    more: boolean
  }>
  /** What is not as it must be, in one slice of the jobs; where the next one begins. */
  examine(cursor?: string): Promise<{ faults: FoundFault[]; jobs: number; cursor: string | null }>
  /** Puts right what is found in a slice, and answers what that was; what is still found then is in `left`. */
  repair(cursor?: string): Promise<{ repaired: FoundFault[]; left: FoundFault[]; jobs: number; cursor: string | null }>
  /** Switches that people set: whether one is on, and setting it. */
  flag(name: string): Promise<boolean>
  setFlag(name: string, on: boolean): Promise<void>
  /** Makes the job that does it: its progress and its result say to how many jobs it was done, and how many it passed over. */
  bulk(input: BulkInput, call?: Call): Promise<Enqueued>
  /** To how many jobs it would be done; `more`: of the first 10,000 that were looked at, and there are others. */
  bulkPreview(input: BulkInput, page?: { cursor?: string; pages?: number }): Promise<BulkPreview>
  /** Failed jobs by kinds of errors, the most frequent first: of the newest 1,000 that fit, or those before `cursor`. */
  errors(of: ErrorFilter): Promise<ErrorPage>
  /** Has a kind of errors not told of, for good or until a moment, or told of again. */
  muteError(kind: string, mute: { muted: boolean; until?: number; by: string }): Promise<MutedKind>
  /** What begins with a text, or is called so: for whoever looks for something by its name. */
  search(text: string): Promise<Found>
  /** Makes a job like another: with the same settings, its args or others, and first values for its ports. */
  /** `inputs`: 'last' for those that its last run took; so it is too where nothing is said, as far as they are kept. */
  copy(job: Ref, changes: CopyChanges, call?: Call): Promise<Enqueued>

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
  /** Runs everything due; calls `tell` with whether there are tenants before it does. */
  tick(by?: Heart, tell?: (hasTenants: boolean) => void): Promise<{ rung: string[]; more: boolean; faults?: string[] }>

  /** Views of the list of jobs that all share, by name. */
  views(): Promise<{ views: { name: string; query: string; by: string; at: number }[] }>
  setView(name: string, view: { query: string; by: string }): Promise<void>
  removeView(name: string): Promise<void>

  /** Which deployments serve classes, how many, and when those of each changed last. */
  deployments(): Promise<{ deployments: { id: string; at: number; classes: number }[] }>

  /** Hosts that are not called at the moment; `until`: when one call may try. */
  breakers(): Promise<{ breakers: OpenBreaker[] }>
  /** Forgets what is known against a host, so that it is called again; other isolates hear of it within ten seconds. */
  resetBreaker(host: string, of: OpenBreaker['of']): Promise<void>
}
