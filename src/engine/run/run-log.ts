// The entries of the log that a run makes: which of its reads and ops belong together, and what stands beside them.

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { Op } from '../../core/run.ts'

export type WriteOptions = { setDefault?: boolean; notify?: boolean; log?: boolean }

type EntryOp = Extract<Op, { op: 'entry' }>

const membersOf = (entry: object | string): object => {
  if (typeof entry === 'string') return { message: entry }
  return entry instanceof Error ? { error: entry.message, backtrace: entry.stack } : entry
}

/** What of a run is to be one entry of the log: the ops from one on, and so many values of each port. */
export class RunLog {
  readonly #job: number
  /** What the run has done and not committed yet; an entry goes behind it. */
  readonly #ops: () => Op[]
  #from = 0
  #reads: Record<string, number> = {}
  #defaults: Record<string, number> = {}
  /** Groups around what is done now: nothing ends an entry but the end of the outermost. */
  #depth = 0
  /** The next read or op begins another entry. */
  #isOver = false
  #context: Record<string, unknown> = {}
  #options: WriteOptions = {}

  constructor(job: number, ops: () => Op[]) {
    this.#job = job
    this.#ops = ops
  }

  /** What holds for every write that says nothing else. */
  get options(): WriteOptions {
    return this.#options
  }

  /** What is written or published now carries this. */
  get context(): { context?: Encoded } {
    return this.#hasContext ? { context: encodeValue({ job: this.#job, ...this.#context }) } : {}
  }

  /** Something that was logged, with what stands around it. */
  message(entry: object | string): Encoded {
    return encodeValue({ ...this.#context, ...membersOf(entry) })
  }

  read(port: string): void {
    this.begin()
    this.#reads[port] = (this.#reads[port] ?? 0) + 1
  }

  readDefault(port: string): void {
    this.begin()
    this.#defaults[port] = (this.#defaults[port] ?? 0) + 1
  }

  /** What follows belongs to another entry, if that was said; who reads the log sees then what went together. */
  begin(): void {
    if (this.#isOver) this.end()
  }

  /** The next read or op begins another entry. */
  over(): void {
    this.#isOver = true
  }

  end(): void {
    const ops = this.#ops()
    if (this.#depth > 0) return
    const reads = this.#taken(ops.length)
    if (!reads) return
    ops.push({ op: 'entry', ...reads, ...(this.#hasContext ? { context: encodeValue(this.#context) } : {}) })
    this.#from = ops.length
  }

  /** At a commit: of defaults that were read nothing else tells. */
  collect(): void {
    if (this.#hasDefaults) this.end()
  }

  /** After a commit. */
  clear(): void {
    this.#from = 0
    this.#reads = {}
    this.#defaults = {}
  }

  async withContext<T>(members: Record<string, unknown>, block: () => T | Promise<T>): Promise<T> {
    const outer = this.#context
    this.end()
    this.#context = { ...outer, ...members }
    try {
      return await block()
    } finally {
      this.end()
      this.#context = outer
    }
  }

  async withOptions<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    const outer = this.#options
    this.end()
    this.#depth++
    this.#options = { ...outer, ...options }
    try {
      return await block()
    } finally {
      this.#options = outer
      this.#depth--
      this.end()
    }
  }

  get #hasContext(): boolean {
    return Object.keys(this.#context).length > 0
  }

  get #hasDefaults(): boolean {
    return Object.keys(this.#defaults).length > 0
  }

  /** The reads of the entry that ends; undefined when there is nothing to end. */
  #taken(ops: number): Pick<EntryOp, 'reads' | 'defaults'> | undefined {
    const reads = this.#reads
    const defaults = this.#hasDefaults ? { defaults: this.#defaults } : {}
    this.#isOver = false
    if (ops === this.#from && Object.keys(reads).length === 0 && !this.#hasDefaults) return undefined
    this.#reads = {}
    this.#defaults = {}
    return { reads, ...defaults }
  }
}
