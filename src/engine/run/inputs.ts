import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { ownProperty } from '../../core/own.ts'
import type { Changes } from '../../core/run.ts'
import type { RunBuffer } from './buffer.ts'
import type { JobTools } from './tools.ts'

type Queue = {
  values: { data: Encoded; context?: Encoded }[]
  next: number
  cursor: number
  more: number
  default?: Encoded
  /** The next page, which concurrent reads share. */
  page?: Promise<void>
}

type During = <T>(work: () => Promise<T>) => Promise<T>

export class Inputs {
  readonly #buffer: RunBuffer
  readonly #tools: Pick<JobTools, 'page' | 'trace'>
  readonly #during: During
  #queues = new Map<string, Queue>()
  #defaultsOnly = false
  #isPartial = false

  constructor(buffer: RunBuffer, tools: Pick<JobTools, 'page' | 'trace'>, during: During) {
    this.#buffer = buffer
    this.#tools = tools
    this.#during = during
  }

  get isPartial(): boolean {
    return this.#isPartial
  }

  get defaultsOnly(): boolean {
    return this.#defaultsOnly
  }

  size(port: string): number {
    this.#buffer.look()
    const queue = this.#queue(port)
    return queue.values.length - queue.next + queue.more
  }

  default(port: string): Encoded | undefined {
    return this.#queue(port).default
  }

  hasData(port: string): boolean {
    return this.size(port) > 0 || this.default(port) !== undefined
  }

  async read(port: string): Promise<Encoded | undefined> {
    this.#buffer.open()
    const item = await this.take(port)
    if (!item) return this.#readDefault(port)
    this.#buffer.note(`read of input port "${port}"`)
    return item.data
  }

  async take(port: string): Promise<{ data: Encoded } | undefined> {
    await this.#buffer.settled()
    let queue = this.#queue(port)
    while (queue.next === queue.values.length && queue.more > 0) {
      await this.#page(port, queue)
      await this.#buffer.settled()
      // A checkpoint may have replaced the queue.
      queue = this.#queue(port)
    }
    if (queue.next === queue.values.length) return undefined
    this.#buffer.log.read(port)
    const item = queue.values[queue.next++]!
    if (item.context) this.#tools.trace?.link(item.context)
    return item
  }

  async *tuples<T>(ports: string[], tuple: () => Promise<T>): AsyncGenerator<T> {
    if (ports.length === 0) return
    const complete = () => ports.every((port) => this.hasData(port))
    const waiting = () => ports.some((port) => this.size(port) > 0)
    while (waiting() && complete()) {
      this.#buffer.log.over()
      yield await tuple()
    }
    this.#buffer.log.over()
    if (waiting()) this.#isPartial = true
    else if (complete()) yield* this.#defaults(ports, tuple)
  }

  reads(): NonNullable<Changes['reads']> {
    const reads: NonNullable<Changes['reads']> = {}
    for (const [port, { cursor, next }] of this.#queues) if (next > 0) reads[port] = { cursor, count: next }
    return reads
  }

  clear(): void {
    this.#queues.clear()
  }

  async *#defaults<T>(ports: string[], tuple: () => Promise<T>): AsyncGenerator<T> {
    const memo = `inputs:${ports.join(',')}`
    const seen = encodeValue(ports.map((port) => this.default(port)))
    if (this.#buffer.get(memo) === seen) return
    this.#defaultsOnly = true
    try {
      yield await tuple()
    } finally {
      this.#defaultsOnly = false
    }
    this.#buffer.remember(memo, seen)
  }

  #readDefault(port: string): Encoded | undefined {
    const value = this.default(port)
    if (value !== undefined && !this.#defaultsOnly) this.#buffer.log.readDefault(port)
    return value
  }

  #queue(port: string): Queue {
    const known = this.#queues.get(port)
    if (known) return known
    const { job, in: ports } = this.#buffer.snapshot
    const own = ownProperty(ports, port)
    if (!own) throw new SidejobError('REFUSED', `job ${job.id} (${job.class}) has no input port "${port}"`)
    const queue = { values: [...own.values], next: 0, cursor: own.cursor, more: own.more, default: own.default?.data }
    this.#queues.set(port, queue)
    return queue
  }

  #page(port: string, queue: Queue): Promise<void> {
    return (queue.page ??= this.#during(async () => {
      const { values, more } = await this.#tools.page(port, queue.cursor + queue.values.length)
      queue.values.push(...values)
      queue.more = values.length > 0 ? more : 0
    }).finally(() => {
      queue.page = undefined
    }))
  }
}
