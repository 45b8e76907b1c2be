import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { mapValues } from '../../core/map-values.ts'
import type { Adoptable } from '../../core/plan.ts'
import type { Op, PortRef, Snapshot } from '../../core/run.ts'
import { type Duration, milliseconds } from '../../core/time.ts'
import {
  type AnyDefined,
  type ArgsOf,
  Ending,
  type InputsOf,
  type Ports,
  type ResultOf,
  type Unknown,
} from '../../core/worker.ts'
import type { RunBuffer } from './buffer.ts'
import { JobFacts } from './facts.ts'
import { type SpawnOptions, spawnOp } from './options.ts'
import type { RunParts } from './parts.ts'
import type { WriteOptions } from './run-log.ts'
import type { CallOptions, WaitOptions } from './steps.ts'
import type { JobTools } from './tools.ts'
import type { Name, Value } from './values.ts'

const PROGRESS = 1_000

const timesOf = ({ at, wait }: { at?: Date | number; wait?: Duration }) => ({
  ...(at === undefined ? {} : { at: Number(at) }),
  ...(wait === undefined ? {} : { wait: milliseconds(wait) }),
})

/**
 * A job during one run. Reads and writes use the snapshot and a buffer, and the commit applies all changes or none.
 *
 * @example
 * for await (const { left, right } of job.inputs('left', 'right')) job.write('pair', [left, right])
 */
// biome-ignore lint/suspicious/noExplicitAny: without its worker's ports a job has any
export class Job<In extends Ports = any, Out extends Ports = any, Args = unknown> extends JobFacts<In, Out, Args> {
  readonly #tools: JobTools
  readonly #buffer: RunBuffer
  readonly #parts: RunParts
  #shown = 0

  constructor(parts: RunParts, stop: { readonly signal: AbortSignal }) {
    super(parts, stop)
    this.#tools = parts.tools
    this.#buffer = parts.buffer
    this.#parts = parts
  }

  /** Returns the number of values at an input port, without its default. */
  size(port: Name<In>): number {
    return this.#parts.inputs.size(port)
  }

  /** Returns the default of an input port, or undefined. */
  default<P extends Name<In>>(port: P): Value<In, P> | undefined {
    const data = this.#parts.inputs.default(port)
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** Returns true if an input port has a value or a default. */
  hasData(port: Name<In>): boolean {
    return this.#parts.inputs.hasData(port)
  }

  /** Takes the oldest value of an input port. Without a value, returns the port's default or undefined. */
  async read<P extends Name<In>>(port: P): Promise<Value<In, P> | undefined> {
    const data = await this.readClosed(port)
    return data === undefined ? undefined : this.#valueOf(port, data)
  }

  /** Like `read`, but returns the encoded value. */
  readClosed(port: Name<In>): Promise<Encoded | undefined> {
    return this.#parts.inputs.read(port)
  }

  /**
   * Yields one value of each port until no port has a value. A port without a value yields its default. If it has no
   * default, the loop ends and the job is suspended. If every port has only a default, yields the defaults once, and
   * `write` sets the default of the output port.
   */
  inputs<P extends Name<In>>(...ports: P[]): AsyncGenerator<{ [K in P]: Value<In, K> }> {
    return this.#parts.inputs.tuples(ports, () => this.#tuple(ports))
  }

  async #tuple<P extends Name<In>>(ports: P[]): Promise<{ [K in P]: Value<In, K> }> {
    const tuple = {} as { [K in P]: Value<In, K> }
    for (const port of ports) tuple[port] = (await this.read(port)) as Value<In, P>
    return tuple
  }

  write<P extends Name<Out>>(port: P, value: Value<Out, P>, options: WriteOptions = {}): void {
    const { log } = this.#buffer
    this.#buffer.open()
    this.#parts.checked('out', port, value)
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
   * Adds members to the context of everything that the job writes, publishes and logs during the block. Inner blocks
   * take precedence.
   *
   * @example await job.context({ user: 'ann' }, () => job.write('out', 1))
   */
  context<T>(members: Record<string, unknown>, block: () => T | Promise<T>): Promise<T> {
    return this.#buffer.log.withContext(members, block)
  }

  /**
   * Combines all reads and writes of the block into one log entry. `options` are defaults for writes during the block.
   *
   * @example await job.group({ notify: false }, async () => job.write('out', await job.read('in')))
   */
  group<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    return this.#buffer.log.withOptions(options, block)
  }

  /** Sets the default of an output port, without waking any job. */
  setDefault<P extends Name<Out>>(port: P, value: Value<Out, P>): void {
    this.#parts.checked('out', port, value)
    this.op({ op: 'default', of: { out: port }, value: encodeValue(value) })
  }

  get<T = unknown>(field: string): T | undefined {
    const value = this.#buffer.get(field)
    return value === undefined ? undefined : (decodeValue(value) as T)
  }
  /** Like `get`, but returns the encoded value, with all digits. */
  getClosed(field: string): Encoded | undefined {
    return this.#buffer.get(field)
  }
  setClosed(values: Record<string, Encoded>): void {
    this.#buffer.set(values)
  }
  set(values: Record<string, unknown>): void {
    this.#buffer.open()
    this.setClosed(mapValues(values, (value) => encodeValue(value)))
  }
  unset(...names: string[]): void {
    this.#buffer.unset(names)
  }

  /**
   * Records `action` as a span if the job has a trace.
   *
   * @example const page = await job.span('render', () => render(order))
   */
  async span<T>(name: string, action: () => T | Promise<T>): Promise<T> {
    return this.#parts.traced(name, action)()
  }

  /** The `traceparent` header for requests of this run, if the job has a trace. */
  get traceparent(): string | undefined {
    return this.#tools.trace?.traceparent
  }

  /** Creates a child from its worker, or from its queue and class. */
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
   * Returns all children. `children` has only the first thousand.
   *
   * @example const open = Object.values(await job.allChildren()).filter(({ status }) => status !== 'completed')
   */
  allChildren(): Promise<Snapshot['children']> {
    return this.#parts.children.all()
  }

  /** Reads the values that children have written to an output port since the last read, in one round trip. */
  readChildren<T = unknown>(port: string, which?: string[]): Promise<Record<string, T[]>> {
    return this.#parts.children.read<T>(port, which)
  }

  /** Writes to an input port of a child, which may be new in this run. */
  writeChild(child: string, port: string, ...values: unknown[]): void {
    this.op({
      op: 'write',
      to: { child, in: port },
      values: values.map(encodeValue),
      ...this.#buffer.log.options,
      ...this.#buffer.log.context,
    })
  }

  /** Moves all values of a port to other ports and copies its default. */
  connect(from: PortRef, ...to: PortRef[]): void {
    this.op({ op: 'connect', from, to })
  }

  /** Returns a job that this job can adopt, or null. */
  look(id: number): Promise<Adoptable | null> {
    return this.#tools.look(id)
  }

  storedGraph(name: string): Promise<Encoded | null> {
    return this.#tools.storedGraph(name)
  }

  /** Reports progress without waiting, at most once per second. */
  progress(value: unknown): void {
    const now = Date.now()
    if (this.#buffer.isClosed || now - this.#shown < PROGRESS) return
    this.#shown = now
    this.#tools.progress(encodeValue(value)).catch(() => undefined)
  }

  /** Adds to today's counts of the queue. The counts remain even if the run fails. */
  count(name: string, n = 1): void {
    this.#buffer.count(name, n)
  }

  get counts(): Record<string, number> {
    return this.#buffer.counts
  }

  publish(channel: string, message: unknown): void {
    this.op({ op: 'publish', channel, message: encodeValue(message), ...this.#buffer.log.context })
  }

  /** Writes an object, a string or an error to the log. */
  log(entry: object | string): void {
    this.op({ op: 'log', entry: this.#buffer.log.message(entry) })
  }

  /** Any other op of the run protocol: run, terminate, adopt, ports … */
  op(op: Op): void {
    this.#buffer.op(op)
  }

  /** Return this from `perform` to run again when input arrives or the awaited children have ended. */
  suspend({
    waitFor,
    ...times
  }: {
    waitFor?: 'children' | string[]
    at?: Date | number
    wait?: Duration
  } = {}): Ending {
    return this.#ending('suspended', { waitFor, ...timesOf(times) })
  }

  /**
   * Return this from `perform` to complete the job while all its children are completed, and to suspend it otherwise.
   * The job runs again only if a child fails, is terminated, or recovers.
   */
  follow(): Ending {
    return this.#ending('follow')
  }

  /** Return this from `perform` to run again: now, at a time, or after `wait` (milliseconds, or a string like '5m'). */
  again(times: { at?: Date | number; wait?: Duration } = {}): Ending {
    return this.#ending('again', timesOf(times))
  }

  #ending(...how: ConstructorParameters<typeof Ending>): Ending {
    this.#parts.asked = how[0]
    return new Ending(...how)
  }

  /** Commits the work so far, and continues with a new snapshot. */
  checkpoint(): Promise<void> {
    return this.#parts.checkpoint()
  }

  /**
   * Returns the next value of an input port or the next message of a channel (`/orders/7`), or undefined after the
   * timeout. A value that does not match the type of the port fails the job.
   *
   * @example const decision = await job.waitFor('decision', { timeout: '3 days' })
   */
  override waitFor<T = unknown>(channel: `/${string}`, options?: WaitOptions): Promise<T | undefined>
  override waitFor<P extends Name<In>>(port: P, options?: WaitOptions): Promise<Value<In, P> | undefined>
  override waitFor(name: string, options?: WaitOptions): Promise<unknown> {
    return super.waitFor(name, options)
  }

  /** Creates a child and returns its result. Throws `CallFailed` if the child does not complete. */
  override callWorker<W extends AnyDefined>(worker: W, args?: ArgsOf<W>, options?: CallOptions): Promise<ResultOf<W>>
  override callWorker<T = unknown>(worker: string | Unknown, args?: unknown, options?: CallOptions): Promise<T>
  override callWorker(
    worker: string | { queue?: string; class: string },
    args?: unknown,
    options?: CallOptions,
  ): Promise<unknown> {
    return super.callWorker(worker, args, options)
  }

  #valueOf<P extends Name<In>>(port: P, data: Encoded): Value<In, P> {
    return this.#parts.checked('in', port, decodeValue(data)) as Value<In, P>
  }
}
