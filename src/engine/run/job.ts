// What a worker's function holds: its job as it was when the run began, and everything it can read and do.

import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { Adoptable } from '../../core/plan.ts'
import type { Changes, Op, PortRef, Snapshot } from '../../core/run.ts'
import { type Length, milliseconds } from '../../core/time.ts'
import {
  type AnyDefined,
  type ArgsOf,
  Ending,
  type InputsOf,
  type Ports,
  type ResultOf,
  Terminal,
  type Unknown,
} from '../../core/worker.ts'
import { accessOf } from './access.ts'
import { RunBuffer } from './buffer.ts'
import { JobFacts } from './facts.ts'
import { type SpawnOptions, spawnOp } from './options.ts'
import { RunParts } from './parts.ts'
import type { WriteOptions } from './run-log.ts'
import { type Branch, type CallOptions, type Results, Steps } from './steps.ts'
import type { Paused } from './suspension.ts'
import type { JobTools } from './tools.ts'
import { checkedBy, checkedValue, type Name, type Shapes, type Value } from './values.ts'

const PROGRESS = 1_000

const askedBy = { suspended: 'job.suspend(…)', follow: 'job.follow()', again: 'job.again(…)' } as const

type WaitOptions = { timeout?: Length; as?: string }

const timesOf = ({ at, wait }: { at?: Date | number; wait?: Length }) => ({
  ...(at === undefined ? {} : { at: Number(at) }),
  ...(wait === undefined ? {} : { wait: milliseconds(wait) }),
})

/**
 * A job during one run. Reads and writes touch the snapshot and a buffer only; all of it happens when the run commits,
 * or none of it.
 *
 * @example
 * for await (const { left, right } of job.inputs('left', 'right')) job.write('pair', [left, right])
 */
// biome-ignore lint/suspicious/noExplicitAny: without its worker's ports a job has any
export class Job<In extends Ports = any, Out extends Ports = any, Args = unknown> extends JobFacts<In, Out, Args> {
  readonly #shapes: Shapes
  readonly #tools: JobTools
  readonly #buffer: RunBuffer
  readonly #parts: RunParts
  /** When it began, by the clock of what it waits for. */
  readonly #began: number
  #helpers: Steps | undefined
  #shown = 0
  /** The end that the function has asked for, and is to return. */
  #asked: Ending['end'] | undefined

  constructor(worker: Shapes, snapshot: Snapshot, tools: JobTools, stop: { readonly signal: AbortSignal }) {
    const buffer = new RunBuffer(snapshot)
    super(buffer, { args: worker.args, env: tools.env, namespace: tools.namespace, stop })
    this.#shapes = worker
    this.#tools = tools
    this.#buffer = buffer
    this.#parts = new RunParts(buffer, tools, {
      checkpoint: () => this.checkpoint(),
      onCodeChange: worker.onCodeChange,
    })
    this.#began = tools.now()
  }

  get #waits(): Steps {
    return (this.#helpers ??= new Steps(
      accessOf(this, {
        ...{ buffer: this.#buffer, parts: this.#parts, began: this.#began, now: () => this.#tools.now() },
        checked: (port, value) => this.#checked('in', port, value),
      }),
    ))
  }

  /** Who is told how the run ends when all that is left of its function waits. Said before the function begins. */
  set paused(told: Paused) {
    this.#parts.paused = told
  }

  /** How many values wait on an input port, defaults not counted. */
  size(port: Name<In>): number {
    return this.#parts.inputs.size(port)
  }

  /** The default of an input port; undefined when it has none. */
  default<P extends Name<In>>(port: P): Value<In, P> | undefined {
    const data = this.#parts.inputs.default(port)
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** Whether a read of an input port gives something: a value that waits, or the default. */
  hasData(port: Name<In>): boolean {
    return this.#parts.inputs.hasData(port)
  }

  /** The oldest value of an input port; its default when there is none; undefined when there is neither. */
  async read<P extends Name<In>>(port: P): Promise<Value<In, P> | undefined> {
    const data = await this.readClosed(port)
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** The same, as it came, of whatever type it is. */
  readClosed(port: Name<In>): Promise<Encoded | undefined> {
    return this.#parts.inputs.read(port)
  }

  /**
   * Tuples of values, one of each port, as long as every port has a value or a default and at least one has a value.
   * Partial input suspends the job; when all ports have only defaults, those are given once per change, and what is
   * written then sets the output's default (sidejob.md 220–229).
   */
  inputs<P extends Name<In>>(...ports: P[]): AsyncGenerator<{ [K in P]: Value<In, K> }> {
    return this.#parts.inputs.tuples(ports, () => this.#tuple(ports))
  }

  async #tuple<P extends Name<In>>(ports: P[]): Promise<{ [K in P]: Value<In, K> }> {
    const tuple: [P, unknown][] = []
    for (const port of ports) tuple.push([port, await this.read(port)])
    return Object.fromEntries(tuple) as { [K in P]: Value<In, K> }
  }

  /** Writes a value to an output port. */
  write<P extends Name<Out>>(port: P, value: Value<Out, P>, options: WriteOptions = {}): void {
    const { log } = this.#buffer
    this.#buffer.open()
    this.#checked('out', port, value)
    const setDefault = options.setDefault ?? log.options.setDefault ?? this.#parts.defaultsOnly
    this.op({
      op: 'write',
      to: { out: port },
      values: [encodeValue(value)],
      ...log.options,
      ...options,
      ...(setDefault ? { setDefault } : {}),
      ...log.context,
    })
  }

  /**
   * What is written, published and logged in the block carries these members; those of an inner block win.
   *
   * @example await job.context({ user: 'ann' }, () => job.write('out', 1))
   */
  context<T>(members: Record<string, unknown>, block: () => T | Promise<T>): Promise<T> {
    return this.#buffer.log.withContext(members, block)
  }

  /**
   * Everything read and written in the block is one entry of the log, and its options hold for every write that says
   * nothing else.
   *
   * @example await job.group({ notify: false }, async () => job.write('out', await job.read('in')))
   */
  group<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    return this.#buffer.log.withOptions(options, block)
  }

  /** Gives an output port a default, in place of the one it has. Wakes nobody. */
  setDefault<P extends Name<Out>>(port: P, value: Value<Out, P>): void {
    this.#checked('out', port, value)
    this.op({ op: 'default', of: { out: port }, value: encodeValue(value) })
  }

  /** A field of the job's state; undefined when it is not set. */
  get<T = unknown>(field: string): T | undefined {
    const value = this.#buffer.get(field)
    return value === undefined ? undefined : (decodeValue(value) as T)
  }
  /** The same, as it came: no digit of it is lost. */
  getClosed(field: string): Encoded | undefined {
    return this.#buffer.get(field)
  }
  /** Sets fields of the state to values that are closed already. */
  setClosed(values: Record<string, Encoded>): void {
    this.#buffer.set(values)
  }
  /** Sets fields of the state. */
  set(values: Record<string, unknown>): void {
    this.#buffer.open()
    this.setClosed(Object.fromEntries(Object.entries(values).map(([field, value]) => [field, encodeValue(value)])))
  }
  unset(...names: string[]): void {
    this.#buffer.unset(names)
  }

  /** Makes a child, by its worker or by queue and class. */
  spawn<W extends AnyDefined>(
    name: string,
    worker: W,
    options?: Omit<SpawnOptions, 'args' | 'inputs'> & { args?: ArgsOf<W>; inputs?: InputsOf<W> },
  ): void
  spawn(name: string, worker: Unknown, options?: SpawnOptions): void
  spawn(name: string, worker: { queue?: string; class: string }, options: SpawnOptions = {}): void {
    this.op(spawnOp(name, worker, options))
  }

  /**
   * The children, however many: those beyond a thousand are read page by page when this is first asked for.
   *
   * @example const open = Object.values(await job.allChildren()).filter(({ status }) => status !== 'completed')
   */
  allChildren(): Promise<Snapshot['children']> {
    return this.#parts.children.all()
  }

  /** What children have written to an output port since it was last read, in one round trip for all of them. */
  readChildren<T = unknown>(port: string, which?: string[]): Promise<Record<string, T[]>> {
    return this.#parts.children.read<T>(port, which)
  }

  /** Writes to an input port of a child, also of one that this run has just made. */
  writeChild(child: string, port: string, ...values: unknown[]): void {
    this.op({
      op: 'write',
      to: { child, in: port },
      values: values.map(encodeValue),
      ...this.#buffer.log.options,
      ...this.#buffer.log.context,
    })
  }

  /** Moves all values of a port to others, and copies its default. */
  connect(from: PortRef, ...to: PortRef[]): void {
    this.op({ op: 'connect', from, to })
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
    if (this.#buffer.isClosed || now - this.#shown < PROGRESS) return
    this.#shown = now
    this.#tools.progress(encodeValue(value)).catch(() => undefined)
  }

  /** Adds to the day's counts of the queue, whether the run succeeds or fails. */
  count(name: string, n = 1): void {
    this.#buffer.count(name, n)
  }

  get counts(): Record<string, number> {
    return this.#buffer.counts
  }

  publish(channel: string, message: unknown): void {
    this.op({ op: 'publish', channel, message: encodeValue(message), ...this.#buffer.log.context })
  }

  /** An entry of the log: an object, a text, or an error. */
  log(entry: object | string): void {
    this.op({ op: 'log', entry: this.#buffer.log.message(entry) })
  }

  /** Any other change of the run protocol (run, terminate, adopt, ports …). */
  op(op: Op): void {
    this.#buffer.op(op)
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
    this.#buffer.open()
    await this.#parts.suspension.during(() =>
      this.#buffer.commit({
        reads: () => this.#parts.reads(),
        checkpoint: (changes) => this.#tools.checkpoint(changes),
        committed: () => this.#parts.clear(),
      }),
    )
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
  each<T = number>(
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
    await this.#buffer.settled()
    this.#buffer.sound()
    const isPaused = ending instanceof Ending && ending.options.pause !== undefined
    this.#parts.allAwaited(isPaused)
    if (!isPaused) await this.#parts.allAsked()
    if (this.#asked && !(ending instanceof Ending))
      throw new Terminal(
        `${askedBy[this.#asked]} was called and not returned: expected "return ${askedBy[this.#asked]}"`,
      )
    const collect = (end: Changes['end']) => this.#buffer.collect(end, this.#parts.reads())
    if (ending instanceof Ending) return { ...collect(ending.end), ...ending.options }
    const changes = collect(this.#parts.isPartial && ending === undefined ? 'suspended' : 'completed')
    if (changes.end === 'completed') ending = checkedBy(this.#shapes.result, ending, `the result of job ${this.id}`)
    return ending === undefined ? changes : { ...changes, result: encodeValue(ending) }
  }

  /** Ends the run for its function. Answers the log entries since the last commit: a failed run keeps them. */
  close(): Op[] {
    this.#buffer.close()
    return this.#buffer.logs
  }

  #valueOf<P extends Name<In>>(port: P, data: Encoded): Value<In, P> {
    return this.#checked('in', port, decodeValue(data)) as Value<In, P>
  }

  /** A value as the port's schema has it; what the schema does not take fails the run, for good. */
  #checked(dir: 'in' | 'out', port: string, value: unknown): unknown {
    return checkedValue(this.#shapes, dir, port, value, `job ${this.id}`)
  }
}
