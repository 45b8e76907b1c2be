// What a worker's function holds: its job as it was when the run began, and everything the run does, kept until commit.

import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { lastingName } from '../../core/lasting.ts'
import { limits } from '../../core/limits.ts'
import type { Adoptable } from '../../core/plan.ts'
import type { Changes, Op, PortOptions, PortRef, Snapshot, Wiring } from '../../core/run.ts'
import { isText } from '../../core/schemas.ts'
import {
  type AnyDefined,
  type ArgsOf,
  Ending,
  type InputsOf,
  type Port,
  type Ports,
  type ResultOf,
  Terminal,
  type Unknown,
  type ValueOf,
  type Worker,
} from '../../core/worker.ts'
import type { SpawnOptions } from './options.ts'
import type { Pause } from './pause.ts'
import {
  type Branch,
  type CallOptions,
  type ChildEnd,
  type Length,
  lengthOf,
  type Results,
  type RunAccess,
  Steps,
} from './steps.ts'
import { createSuspension } from './suspension.ts'

declare global {
  namespace Cloudflare {
    /** What a Worker is given; `wrangler types` writes its members. */
    interface Env {}
  }
}

/** What a job can ask of the engine while it runs. */
export type JobTools = {
  /** Commits what was done so far under the same lease. */
  checkpoint: (changes: Changes) => Promise<Snapshot>
  /** The values of our own port behind those in the snapshot. */
  page: (port: string, after: number) => Promise<{ values: { data: Encoded; context?: Encoded }[]; more: number }>
  /** The waiting values of other jobs' ports. */
  peek: (
    of: { id: number; dir: 'in' | 'out'; port: string }[],
  ) => Promise<({ taken: number; values: { data: Encoded }[] } | null)[]>
  /** A job as one that might be adopted; null where there is none. */
  look: (id: number) => Promise<Adoptable | null>
  /** A graph that is stored under a name; null where there is none. */
  storedGraph: (name: string) => Promise<Encoded | null>
  /** Shows how far the run is. */
  progress: (value: Encoded) => Promise<unknown>
  /** What all steps have kept. */
  steps: () => Promise<Record<string, Encoded>>
  /** All children, as they are now. */
  children: () => Promise<Snapshot['children']>
  /** The time that passes in a run. */
  now: () => number
  /** What the deployment is given: variables, secrets, bindings. */
  env?: unknown
}

/** The names that the ports of one side can have: any, where there is a `*`. */
type Name<P extends Ports> = '*' extends keyof P ? string : keyof P & string
/** The values of one of them; `any` where the job's ports are not known (a plain `Job`). */
// biome-ignore lint/suspicious/noExplicitAny: a port of an unknown worker holds anything
type Value<P extends Ports, K> = 0 extends 1 & P ? any : ValueOf<K extends keyof P ? P[K] : P['*']>

const PROGRESS = 1_000

const askedBy = { suspended: 'job.suspend(…)', follow: 'job.follow()', again: 'job.again(…)' } as const

/** What may happen again in each run of a function that pauses; everything else belongs into a step. */
const repeatable: ReadonlySet<Op['op']> = new Set(['log', 'default', 'step', 'inherit'])

type WaitOptions = { timeout?: Length; as?: string }

type WriteOptions = { setDefault?: boolean; notify?: boolean; log?: boolean }

type Queue = {
  values: { data: Encoded; context?: Encoded }[]
  next: number
  cursor: number
  more: number
  default?: Encoded
}

const portOptions = (specs: SpawnOptions['in'] = {}): PortOptions =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { default: value, channels }]) => [
      name,
      { ...(value === undefined ? {} : { default: encodeValue(value) }), ...(channels ? { channels } : {}) },
    ]),
  )

// A port may be called like what every object has: `constructor`.
const ownOf = <T>(ports: Record<string, T>, port: string): T | undefined =>
  Object.hasOwn(ports, port) ? ports[port] : undefined

const timesOf = ({ at, wait }: { at?: Date | number; wait?: Length }) => ({
  ...(at === undefined ? {} : { at: Number(at) }),
  ...(wait === undefined ? {} : { wait: lengthOf(wait) }),
})

const wires = (lists: Record<string, unknown[]> = {}): Record<string, Encoded[]> =>
  Object.fromEntries(Object.entries(lists).map(([port, values]) => [port, values.map(encodeValue)]))

const membersOf = (entry: object | string): object => {
  if (typeof entry === 'string') return { message: entry }
  return entry instanceof Error ? { error: entry.message, backtrace: entry.stack } : entry
}

/** What of a run is to be one entry of the log: the ops from one on, and so many values of each port. */
class Entry {
  from = 0
  #reads: Record<string, number> = {}
  #defaults: Record<string, number> = {}
  /** Groups around what is done now: nothing ends an entry but the end of the outermost. */
  depth = 0
  /** The next read or op begins another one. */
  isOver = false

  read(port: string): void {
    this.#reads[port] = (this.#reads[port] ?? 0) + 1
  }

  readDefault(port: string): void {
    this.#defaults[port] = (this.#defaults[port] ?? 0) + 1
  }

  /** Defaults were read, of which nothing else tells. */
  get hasDefaults(): boolean {
    return Object.keys(this.#defaults).length > 0
  }

  /** Its reads; undefined when there is nothing to end. */
  end(ops: number): Pick<Extract<Op, { op: 'entry' }>, 'reads' | 'defaults'> | undefined {
    const reads = this.#reads
    const defaults = this.hasDefaults ? { defaults: this.#defaults } : {}
    this.isOver = false
    if (ops === this.from && Object.keys(reads).length === 0 && !this.hasDefaults) return undefined
    this.#reads = {}
    this.#defaults = {}
    return { reads, ...defaults }
  }

  start(): void {
    this.from = 0
    this.#reads = {}
    this.#defaults = {}
  }
}

const tooMuch = new SidejobError(
  'TOO_LARGE',
  `this run brought too much: expected at most ${limits.ops.most} ops, ${limits.countNames.most} names of counts and ${limits.runBytes.most} bytes in all`,
)

/** About how many bytes an op is: its values, and something for its names. */
const weightOf = (op: Op): number => {
  if (op.op === 'write') return op.values.reduce((sum, value) => sum + value.length, 100)
  if (op.op === 'publish') return op.message.length + 100
  if (op.op === 'log') return Math.min(op.entry.length, limits.logBytes.most) + 100
  return op.op === 'spawn' ? (op.args?.length ?? 0) + 200 : 100
}

const nameOf = (name: string): string => {
  if (isText(name)) return name
  throw new SidejobError(
    'BAD_REQUEST',
    `expected a name: text of at most 255 bytes without control characters, got ${JSON.stringify(name.slice(0, 50))}`,
  )
}

/**
 * A job during one run. Reads and writes touch the snapshot and a buffer only; all of it happens when the run commits,
 * or none of it.
 *
 * @example
 * for await (const { left, right } of job.inputs('left', 'right')) job.write('pair', [left, right])
 */
// biome-ignore lint/suspicious/noExplicitAny: without its worker's ports a job has any
export class Job<In extends Ports = any, Out extends Ports = any, Args = unknown> {
  readonly id: number
  #snapshot: Snapshot
  #ports: Pick<Worker, 'in' | 'out' | 'args' | 'result'>
  #tools: JobTools
  #stop: { readonly signal: AbortSignal }
  #queues = new Map<string, Queue>()
  #state = new Map<string, Encoded | undefined>()
  #ops: Op[] = []
  #weight = 0
  #commits = 0
  #counts: Record<string, number> = {}
  #shown = 0
  #suspends = false
  #defaultsOnly = false
  #closed = false
  #broken: unknown
  /** The checkpoint under way: the next one, and every read, waits for it. */
  #turn: Promise<unknown> = Promise.resolve()
  /** How many values of a child's port this run has read and not committed yet. */
  #seen = new Map<string, number>()
  #context: Record<string, unknown> = {}
  #options: WriteOptions = {}
  #entry = new Entry()
  /** What steps and waits have kept, as far as it is known here. */
  #steps: Map<string, Encoded>
  #moreSteps: boolean
  #pauses = createSuspension()
  readonly #waits: Steps
  /** How many steps are under way. */
  #acting = 0
  /** The steps that were begun and are not kept yet. */
  #underWay = new Set<string>()
  /** The end that the function has asked for, and is to return. */
  #asked: Ending['end'] | undefined
  /** What was done outside of steps, and would be done again by a run that comes back to a wait. */
  #loose: string | undefined
  readonly #began: number

  constructor(
    worker: Pick<Worker, 'in' | 'out' | 'args' | 'result'>,
    snapshot: Snapshot,
    tools: JobTools,
    stop: { readonly signal: AbortSignal },
  ) {
    this.id = snapshot.job.id
    this.#snapshot = snapshot
    this.#ports = worker
    this.#tools = tools
    this.#began = tools.now()
    this.#stop = stop
    this.#steps = new Map(Object.entries(snapshot.steps ?? {}))
    this.#moreSteps = snapshot.moreSteps ?? false
    this.#waits = new Steps(this.#desk())
  }

  /** How the run ends when all that is left of its function waits. */
  get paused(): Promise<Ending> {
    return this.#pauses.ended
  }

  /** Aborts when the run has taken too long, its job is to end, or it is somebody else's run by now: stop what you do. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /**
   * Variables, secrets and bindings of the Worker that serves this job; typed by what `wrangler types` writes.
   *
   * @example await fetch(url, { headers: { authorization: job.env.STRIPE_KEY } })
   */
  get env(): Cloudflare.Env {
    return (this.#tools.env ?? {}) as Cloudflare.Env
  }

  /** What the job was made with, as the worker's `args` has it. */
  get args(): Args {
    const { args } = this.#snapshot.job
    const value = args === null ? null : decodeValue(args)
    return this.#taken(this.#ports.args, value, `args of job ${this.id}`) as Args
  }
  get name(): string | null {
    return this.#snapshot.job.name
  }
  get class(): string {
    return this.#snapshot.job.class
  }
  get queue(): string {
    return this.#snapshot.job.queue
  }
  get parent(): { id: number; name: string } | null {
    return this.#snapshot.job.parent
  }
  get attempt(): number {
    return this.#snapshot.run.attempt
  }
  get lost(): number {
    return this.#snapshot.run.lost
  }
  /** Who asked for it. */
  get createdBy(): string {
    return this.#snapshot.job.createdBy
  }
  get createdAt(): Date {
    return new Date(this.#snapshot.job.createdAt)
  }
  /** When this run began, by the clock that also decides whether the time of an `at` has come. */
  get startedAt(): Date {
    return new Date(this.#snapshot.run.startedAt)
  }
  /**
   * The slot of the schedule that this run is for, however late it began; null where it is for none: a run by hand, or
   * for input.
   *
   * @example const day = job.scheduledFor?.toISOString().slice(0, 10)
   */
  get scheduledFor(): Date | null {
    const { scheduledFor } = this.#snapshot.run
    return scheduledFor === undefined ? null : new Date(scheduledFor)
  }
  /** The same on every attempt to do the same thing: an idempotency key for effects outside. */
  effectKey(what = ''): string {
    const { job, run } = this.#snapshot
    return `sidejob:${lastingName(job)}:${run.token.split('.')[1]}:${what}`
  }

  /** The names of the input ports that there are, in byte order: for workers that take any (`*`). */
  inPorts(): Name<In>[] {
    return Object.keys(this.#snapshot.in).sort() as Name<In>[]
  }
  outPorts(): Name<Out>[] {
    return Object.keys(this.#snapshot.out).sort() as Name<Out>[]
  }

  /** How many values wait on an input port, defaults not counted. */
  size(port: Name<In>): number {
    const queue = this.#queue(port)
    return queue.values.length - queue.next + queue.more
  }

  /** The default of an input port; undefined when it has none. */
  default<P extends Name<In>>(port: P): Value<In, P> | undefined {
    const data = this.#queue(port).default
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** Whether a read of an input port gives something: a value that waits, or the default. */
  hasData(port: Name<In>): boolean {
    return this.size(port) > 0 || this.#queue(port).default !== undefined
  }

  /** The oldest value of an input port; its default when there is none; undefined when there is neither. */
  async read<P extends Name<In>>(port: P): Promise<Value<In, P> | undefined> {
    const data = await this.readClosed(port)
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** The same, as it came, of whatever type it is. */
  async readClosed(port: Name<In>): Promise<Encoded | undefined> {
    this.#open()
    const item = await this.#next(port)
    if (!item) return this.#readDefault(port)
    this.#note(`read of in port ${port}`)
    return item.data
  }

  /** Those that are given because they have changed count as no read. */
  #readDefault(port: string): Encoded | undefined {
    const { default: value } = this.#queue(port)
    if (value === undefined || this.#defaultsOnly) return value
    this.#beginEntry()
    this.#entry.readDefault(port)
    return value
  }

  /**
   * Tuples of values, one of each port, as long as every port has a value or a default and at least one has a value.
   * Partial input suspends the job; when all ports have only defaults, those are given once per change, and what is
   * written then sets the output's default (sidejob.md 220–229).
   */
  async *inputs<P extends Name<In>>(...ports: P[]): AsyncGenerator<{ [K in P]: Value<In, K> }> {
    if (ports.length === 0) return
    const complete = () => ports.every((port) => this.hasData(port))
    const waiting = () => ports.some((port) => this.size(port) > 0)
    while (waiting() && complete()) {
      this.#entry.isOver = true
      yield await this.#tuple(ports)
    }
    this.#entry.isOver = true
    if (waiting()) this.#suspends = true
    else if (complete()) yield* this.#defaultTuple(ports)
  }

  async *#defaultTuple<P extends Name<In>>(ports: P[]): AsyncGenerator<{ [K in P]: Value<In, K> }> {
    const memo = `inputs:${ports.join(',')}`
    const seen = encodeValue(ports.map((port) => this.#queue(port).default))
    if (this.#stateWire(memo) === seen) return
    this.#defaultsOnly = true
    try {
      yield await this.#tuple(ports)
    } finally {
      this.#defaultsOnly = false
    }
    this.#state.set(memo, seen)
  }

  async #tuple<P extends Name<In>>(ports: P[]): Promise<{ [K in P]: Value<In, K> }> {
    const tuple: [P, unknown][] = []
    for (const port of ports) tuple.push([port, await this.read(port)])
    return Object.fromEntries(tuple) as { [K in P]: Value<In, K> }
  }

  /** Writes a value to an output port. */
  write<P extends Name<Out>>(port: P, value: Value<Out, P>, options: WriteOptions = {}): void {
    this.#open()
    this.#checked('out', port, value)
    const setDefault = options.setDefault ?? this.#options.setDefault ?? this.#defaultsOnly
    this.#op({
      op: 'write',
      to: { out: port },
      values: [encodeValue(value)],
      ...this.#options,
      ...options,
      ...(setDefault ? { setDefault } : {}),
      ...this.#contextOf(),
    })
  }

  /**
   * What is written, published and logged in the block carries these members; those of an inner block win.
   *
   * @example await job.context({ user: 'ann' }, () => job.write('out', 1))
   */
  async context<T>(members: Record<string, unknown>, block: () => T | Promise<T>): Promise<T> {
    const outer = this.#context
    this.#endEntry()
    this.#context = { ...outer, ...members }
    try {
      return await block()
    } finally {
      this.#endEntry()
      this.#context = outer
    }
  }

  /**
   * Everything read and written in the block is one entry of the log, and its options hold for every write that says
   * nothing else.
   *
   * @example await job.group({ notify: false }, async () => job.write('out', await job.read('in')))
   */
  async group<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    const outer = this.#options
    this.#endEntry()
    this.#entry.depth++
    this.#options = { ...outer, ...options }
    try {
      return await block()
    } finally {
      this.#options = outer
      this.#entry.depth--
      this.#endEntry()
    }
  }

  #contextOf(): { context?: Encoded } {
    return Object.keys(this.#context).length ? { context: encodeValue({ job: this.id, ...this.#context }) } : {}
  }

  /** What follows belongs to another entry of the log, if that is said; who reads the log sees then what went together. */
  #beginEntry(): void {
    if (this.#entry.isOver) this.#endEntry()
  }

  #endEntry(): void {
    if (this.#entry.depth > 0) return
    const reads = this.#entry.end(this.#ops.length)
    if (!reads) return
    const context = Object.keys(this.#context).length ? { context: encodeValue(this.#context) } : {}
    this.#ops.push({ op: 'entry', ...reads, ...context })
    this.#entry.from = this.#ops.length
  }

  /** Gives an output port a default, in place of the one it has. Wakes nobody. */
  setDefault<P extends Name<Out>>(port: P, value: Value<Out, P>): void {
    this.#checked('out', port, value)
    this.#op({ op: 'default', of: { out: port }, value: encodeValue(value) })
  }

  /** A field of the job's state; undefined when it is not set. */
  get<T = unknown>(field: string): T | undefined {
    const value = this.#stateWire(field)
    return value === undefined ? undefined : (decodeValue(value) as T)
  }
  /** The same, as it came: no digit of it is lost. */
  getClosed(field: string): Encoded | undefined {
    return this.#stateWire(field)
  }
  /** Sets fields of the state to values that are closed already. */
  setClosed(values: Record<string, Encoded>): void {
    this.#open()
    for (const [field, value] of Object.entries(values)) {
      this.#weigh(value.length)
      this.#state.set(nameOf(field), value)
    }
  }
  /** Sets fields of the state. */
  set(values: Record<string, unknown>): void {
    this.#open()
    this.setClosed(
      Object.fromEntries(Object.entries(values).map(([field, value]) => [field, encodeValue(value) as Encoded])),
    )
  }
  unset(...names: string[]): void {
    this.#open()
    for (const field of names) this.#state.set(field, undefined)
  }

  /** Makes a child, by its worker or by queue and class. */
  spawn<W extends AnyDefined>(
    name: string,
    worker: W,
    options?: Omit<SpawnOptions, 'args' | 'inputs'> & { args?: ArgsOf<W>; inputs?: InputsOf<W> },
  ): void
  spawn(name: string, worker: Unknown, options?: SpawnOptions): void
  spawn(name: string, worker: { queue?: string; class: string }, options: SpawnOptions = {}): void {
    this.#open()
    const { args, inputs, in: inports, out: outports, ...rest } = options
    this.#op({
      op: 'spawn',
      name,
      queue: worker.queue ?? 'default',
      class: worker.class,
      ...rest,
      ...(args === undefined ? {} : { args: encodeValue(args) }),
      ...(inputs ? { inputs: wires(inputs) } : {}),
      ...(inports ? { inports: portOptions(inports) } : {}),
      ...(outports ? { outports: portOptions(outports) } : {}),
    })
  }

  /** The children as they were when the run began: a thousand of them, or a few more; see `allChildren`. */
  get children(): Snapshot['children'] {
    return this.#snapshot.children
  }

  /**
   * The children, however many: those beyond a thousand are read page by page when this is first asked for.
   *
   * @example const open = Object.values(await job.allChildren()).filter(({ status }) => status !== 'completed')
   */
  async allChildren(): Promise<Snapshot['children']> {
    if (!this.#snapshot.moreChildren) return this.children
    const children = await this.#tools.children()
    this.#snapshot = { ...this.#snapshot, children, moreChildren: 0 }
    return children
  }

  /** Of a job that follows its children: its inputs with wires, and their ports with wires, values or a default. */
  get wires(): Wiring[] {
    return this.#snapshot.wires ?? []
  }

  /** What children have written to an output port since it was last read, in one round trip for all of them. */
  async readChildren<T = unknown>(port: string, which?: string[]): Promise<Record<string, T[]>> {
    this.#open()
    await this.#turn
    const names = which ?? Object.keys(await this.allChildren())
    if (names.some((name) => !ownOf(this.children, name))) await this.allChildren()
    const rows = await this.#tools.peek(names.map((name) => ({ id: this.#child(name).id, dir: 'out', port })))
    const answer: Record<string, T[]> = {}
    names.forEach((child, i) => {
      const values = rows[i] ? this.#unseen(child, port, rows[i]) : []
      if (values.length) answer[child] = values.map(({ data }) => decodeValue(data) as T)
    })
    return answer
  }

  /** Writes to an input port of a child, also of one that this run has just made. */
  writeChild(child: string, port: string, ...values: unknown[]): void {
    this.#op({
      op: 'write',
      to: { child, in: port },
      values: values.map(encodeValue),
      ...this.#options,
      ...this.#contextOf(),
    })
  }

  /** Moves all values of a port to others, and copies its default. */
  connect(from: PortRef, ...to: PortRef[]): void {
    this.#op({ op: 'connect', from, to })
  }

  /** A job as one that might be adopted; null where there is none. */
  look(id: number): Promise<Adoptable | null> {
    return this.#tools.look(id)
  }

  /** A graph that is stored under a name; null where there is none. */
  storedGraph(name: string): Promise<Encoded | null> {
    return this.#tools.storedGraph(name)
  }

  /** Shows how far the run is, now and then: at most once a second, and never waited for. */
  progress(value: unknown): void {
    const now = Date.now()
    if (this.#closed || now - this.#shown < PROGRESS) return
    this.#shown = now
    this.#tools.progress(encodeValue(value)).catch(() => undefined)
  }

  /** Adds to the day's counts of the queue, whether the run succeeds or fails. */
  count(name: string, n = 1): void {
    this.#counts[nameOf(name)] = (ownOf(this.#counts, name) ?? 0) + n
    if (Object.keys(this.#counts).length > limits.countNames.most) throw (this.#broken = tooMuch)
  }

  get counts(): Record<string, number> {
    return this.#counts
  }

  publish(channel: string, message: unknown): void {
    this.#op({ op: 'publish', channel, message: encodeValue(message), ...this.#contextOf() })
  }

  /** An entry of the log: an object, a text, or an error. */
  log(entry: object | string): void {
    this.#op({ op: 'log', entry: encodeValue({ ...this.#context, ...membersOf(entry) }) })
  }

  /** Any other change of the run protocol (run, terminate, adopt, ports …). */
  op(op: Op): void {
    this.#op(op)
  }

  /** To return from perform: run again when input comes, or when the children that are waited for have ended. */
  suspend({ waitFor, ...times }: { waitFor?: 'children' | string[]; at?: Date | number; wait?: Length } = {}): Ending {
    return this.#ending('suspended', { ...(waitFor === undefined ? {} : { waitFor }), ...timesOf(times) })
  }

  /**
   * To return from perform: be completed while all children are, suspended while not, and run again when one of them
   * fails or is terminated, or comes back from that. Nothing runs for what else they do.
   */
  follow(): Ending {
    return this.#ending('follow')
  }

  /** To return from perform: run once more, now, `at` a time or after `wait` (milliseconds, or a text like '5m'). */
  again(times: { at?: Date | number; wait?: Length } = {}): Ending {
    return this.#ending('again', timesOf(times))
  }

  #ending(...how: ConstructorParameters<typeof Ending>): Ending {
    this.#asked = how[0]
    return new Ending(...how)
  }

  /** Commits what was done so far, and goes on with a fresh view of ports and children. */
  async checkpoint(): Promise<void> {
    this.#open()
    await this.#pauses.during(() => {
      const turn = this.#turn.then(() => this.#commit())
      this.#turn = turn.catch(() => undefined)
      return turn
    })
  }

  /** Runs `action` once: its result is committed, with all that it did to the job, and given again ever after. */
  step<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    return this.#waits.step(name, action)
  }

  /** Goes on after so long (milliseconds, or a text like '3 days'), or at a moment, in another run. */
  sleep(length: Length | Date, options?: { as?: string }): Promise<void> {
    return this.#waits.sleep(length, options)
  }

  /**
   * The next value of an input port, or message of a channel (`/orders/7`); undefined when none comes in time. A value
   * that is not of the port's type fails the job.
   *
   * @example const decision = await job.waitFor('decision', { timeout: '3 days' })
   */
  waitFor<T = unknown>(channel: `/${string}`, options?: WaitOptions): Promise<T | undefined>
  waitFor<P extends Name<In>>(port: P, options?: WaitOptions): Promise<Value<In, P> | undefined>
  waitFor(name: string, options?: WaitOptions): Promise<unknown> {
    return this.#waits.waitFor(name, options)
  }

  /** Makes a child, and answers its result when it has completed; throws `CallFailed` when it ends otherwise. */
  callWorker<W extends AnyDefined>(worker: W, args?: ArgsOf<W>, options?: CallOptions): Promise<ResultOf<W>>
  callWorker<T = unknown>(worker: string | Unknown, args?: unknown, options?: CallOptions): Promise<T>
  callWorker(
    worker: string | { queue?: string; class: string },
    args?: unknown,
    options?: CallOptions,
  ): Promise<unknown> {
    return this.#waits.callWorker(worker, args, options)
  }

  /** Does `turn` for each of a list, or so many times, one after the other; where it is, is kept. */
  each<T>(
    name: string,
    list: number | readonly T[],
    turn: (item: T, at: Steps, index: number) => unknown,
  ): Promise<void> {
    return this.#waits.each(name, list, turn)
  }

  /** Goes several ways at once, at most `limit` at a time; answers what came of them, in order. */
  parallel<const B extends readonly Branch[]>(
    branches: B,
    options?: { limit?: number; as?: string },
  ): Promise<Results<B>> {
    return this.#waits.parallel(branches, options)
  }

  /** What the run did, once it has ended; nothing can be added afterwards. */
  async finish(ending: unknown): Promise<Changes> {
    await this.#turn
    if (this.#broken) throw this.#broken
    const [step] = this.#underWay
    if (step !== undefined)
      throw new Terminal(`step ${step} was not awaited: its work would be lost; expected "await job.step(…)"`)
    if (this.#asked && !(ending instanceof Ending))
      throw new Terminal(
        `${askedBy[this.#asked]} was called and not returned: expected "return ${askedBy[this.#asked]}"`,
      )
    if (ending instanceof Ending) return { ...this.#collect(ending.end), ...ending.options }
    const changes = this.#collect(this.#suspends && ending === undefined ? 'suspended' : 'completed')
    if (changes.end === 'completed') ending = this.#taken(this.#ports.result, ending, `the result of job ${this.id}`)
    return ending === undefined ? changes : { ...changes, result: encodeValue(ending) }
  }

  close(): void {
    this.#closed = true
  }

  /** What is done while a checkpoint is under way belongs to the next one. */
  async #commit(): Promise<void> {
    const changes = this.#collect('checkpoint')
    this.#ops = []
    this.#weight = 0
    this.#entry.start()
    this.#snapshot = { ...this.#snapshot, state: this.#stateNow() }
    this.#state.clear()
    try {
      this.#snapshot = await this.#tools.checkpoint(changes)
    } catch (error) {
      // Whether it was committed is not known: going on could do it twice.
      this.#broken = error
      this.close()
      throw error
    }
    this.#commits++
    this.#queues.clear()
    this.#seen.clear()
  }

  #collect(end: Changes['end']): Changes {
    if (this.#entry.hasDefaults) this.#endEntry()
    const reads: NonNullable<Changes['reads']> = {}
    for (const [port, { cursor, next }] of this.#queues) if (next > 0) reads[port] = { cursor, count: next }
    const set: Record<string, Encoded> = {}
    const unset: string[] = []
    for (const [field, value] of this.#state) {
      if (value === undefined) unset.push(field)
      else set[field] = value
    }
    const counts = Object.keys(this.#counts).length ? { counts: this.#counts } : {}
    this.#counts = {}
    return { end, n: this.#commits, reads, state: { set, unset }, ops: this.#ops, ...counts }
  }

  #op(op: Op): void {
    this.#open()
    this.#beginEntry()
    if (!repeatable.has(op.op)) this.#note(op.op)
    this.#ops.push(op)
    this.#weigh(weightOf(op))
  }

  /** What can never be committed ends the run at once, before it has filled the memory of others. */
  #weigh(bytes: number): void {
    this.#weight += bytes
    if (this.#ops.length > limits.ops.most || this.#weight > limits.runBytes.most) this.#broken = tooMuch
    if (this.#broken) throw this.#broken
  }

  #note(what: string): void {
    if (this.#acting === 0) this.#loose ??= what
  }

  /** What the helpers of steps and waits get to see of this run. */
  #desk(): RunAccess {
    const uses = new Map<string, number>()
    return {
      queue: this.queue,
      now: () => this.startedAt.getTime() + this.#tools.now() - this.#began,
      kept: (key) => this.#kept(key),
      keep: (key, value) => this.#keep(key, encodeValue(value)),
      forget: (prefix) => this.#forget(prefix),
      once: (key, action) => this.#once(key, action),
      op: (op) => this.#act(() => this.#op(op)),
      spawn: (...child) => this.#act(() => this.spawn(...child)),
      commit: () => this.checkpoint(),
      checked: (port, value) => (ownOf(this.#snapshot.in, port) ? this.#checked('in', port, value) : value),
      take: (port) => (ownOf(this.#snapshot.in, port) ? this.#next(port) : Promise.resolve(undefined)),
      heir: (child) => this.#heir(child),
      pause: (what) => this.#pause(what),
      use(key) {
        uses.set(key, (uses.get(key) ?? 0) + 1)
        return uses.get(key)!
      },
    }
  }

  async #kept(key: string): Promise<Encoded | undefined> {
    this.#open()
    if (!this.#steps.has(key) && this.#moreSteps) {
      const steps = await this.#pauses.during(() => this.#tools.steps())
      if (this.#moreSteps) this.#steps = new Map([...Object.entries(steps), ...this.#steps])
      this.#moreSteps = false
    }
    return this.#steps.get(key)
  }

  #keep(name: string, value: Encoded): void {
    this.#op({ op: 'step', name, value })
    this.#steps.set(name, value)
  }

  #forget(prefix: string): void {
    for (const name of this.#steps.keys())
      if (name.startsWith(prefix)) {
        this.#op({ op: 'step', name, forget: true })
        this.#steps.delete(name)
      }
  }

  #act<T>(action: () => T): T {
    this.#acting++
    const done = () => void this.#acting--
    try {
      const result = action()
      if (result instanceof Promise) return result.finally(done) as T
      done()
      return result
    } catch (error) {
      done()
      throw error
    }
  }

  async #once<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    this.#open()
    this.#underWay.add(name)
    return this.#doOnce(name, action).finally(() => this.#underWay.delete(name))
  }

  async #doOnce<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    const known = await this.#kept(name)
    if (known !== undefined) return decodeValue(known) as T
    return this.#pauses.during(async () => {
      const value = encodeValue((await this.#act(action)) ?? null)
      this.#keep(name, value)
      await this.checkpoint()
      // As every later run will see it.
      return decodeValue(value) as T
    })
  }

  #heir(child: string): ChildEnd | 'open' | undefined {
    const { finished = [], failed = [], cancelled = [] } = this.#snapshot.family ?? {}
    const ended = finished.find(({ name }) => name === child)
    if (ended) return { result: ended.result ?? (encodeValue(null) as Encoded) }
    const broken = [...failed, ...cancelled].find(({ name }) => name === child)
    if (broken) return { error: broken.error ?? (encodeValue({}) as Encoded) }
    return ownOf(this.children, child) || this.#snapshot.moreChildren ? 'open' : undefined
  }

  #pause(what: Pause): Promise<never> {
    if (this.#loose)
      this.#pauses.refuse(
        new Terminal(
          `a ${this.#loose} before a wait and outside of a step would be done again when the function comes back to it: ` +
            'put it into a step',
        ),
      )
    return this.#pauses.pause(what)
  }

  #open(): void {
    if (this.#closed) throw new Error(`the run of job ${this.id} has ended: nothing more can be read or written`)
  }

  #child(name: string): { id: number } {
    const child = ownOf(this.children, name)
    if (!child) throw new SidejobError('NOT_FOUND', `job ${this.id} had no child ${name} when this view of it was made`)
    return child
  }

  /** The values that a child's port has beyond those read already. */
  #unseen(child: string, port: string, { taken, values }: { taken: number; values: { data: Encoded }[] }) {
    const key = `${port} ${child}`
    const seen = this.#seen.get(key) ?? 0
    const rest = values.slice(seen)
    this.#seen.set(key, seen + rest.length)
    if (rest.length) this.#op({ op: 'read', from: { child, out: port }, cursor: taken + seen, count: rest.length })
    return rest
  }

  #stateNow(): Record<string, Encoded> {
    const state = new Map(Object.entries(this.#snapshot.state))
    for (const [field, value] of this.#state) value === undefined ? state.delete(field) : state.set(field, value)
    return Object.fromEntries(state)
  }

  #stateWire(field: string): Encoded | undefined {
    return this.#state.has(field) ? this.#state.get(field) : ownOf(this.#snapshot.state, field)
  }

  #queue(port: string): Queue {
    let queue = this.#queues.get(port)
    if (queue) return queue
    const own = ownOf(this.#snapshot.in, port)
    if (!own) throw new SidejobError('REFUSED', `job ${this.id} (${this.class}) does not have in port ${port}`)
    queue = { values: [...own.values], next: 0, cursor: own.cursor, more: own.more, default: own.default?.data }
    this.#queues.set(port, queue)
    return queue
  }

  async #next(port: string): Promise<{ data: Encoded } | undefined> {
    await this.#turn
    const queue = this.#queue(port)
    if (queue.next === queue.values.length && queue.more > 0)
      await this.#pauses.during(() => this.#fetchPage(port, queue))
    if (queue.next === queue.values.length) return undefined
    this.#beginEntry()
    this.#entry.read(port)
    return queue.values[queue.next++]
  }

  async #fetchPage(port: string, queue: Queue): Promise<void> {
    const { values, more } = await this.#tools.page(port, queue.cursor + queue.values.length)
    queue.values.push(...values)
    queue.more = more
  }

  #valueOf<P extends Name<In>>(port: P, data: Encoded): Value<In, P> {
    return this.#checked('in', port, decodeValue(data)) as Value<In, P>
  }

  /** A value as the port's schema has it; what the schema does not take fails the run, for good. */
  #checked(dir: 'in' | 'out', port: string, value: unknown): unknown {
    const ports = this.#ports[dir] ?? {}
    const { schema }: Port = ownOf(ports, port) ?? ports['*'] ?? {}
    return this.#taken(schema, value, `${dir} port ${port} of job ${this.id}`)
  }

  #taken(schema: Port['schema'], value: unknown, of: string): unknown {
    if (!schema) return value
    const checked = schema.safeParse(value)
    if (checked.success) return checked.data
    const [issue] = checked.error.issues
    const where = issue?.path.length ? ` at ${issue.path.join('.')}` : ''
    throw new Terminal(`${of}${where}: ${issue?.message}`)
  }
}
