import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { Op } from '../../core/run.ts'

export type WriteOptions = { setDefault?: boolean; notify?: boolean; log?: boolean }

type EntryOp = Extract<Op, { op: 'entry' }>

const membersOf = (entry: object | string): object => {
  if (typeof entry === 'string') return { message: entry }
  return entry instanceof Error ? { error: entry.message, backtrace: entry.stack } : entry
}

/** Blocks of concurrent branches may overlap, so each removes only its own values at its end. */
const merged = <T extends object>(blocks: ReadonlySet<T>): T => Object.assign({}, ...blocks)

export class RunLog {
  readonly #job: number
  readonly #ops: () => Op[]
  #from = 0
  #reads: Record<string, number> = {}
  #defaults: Record<string, number> = {}
  #isOver = false
  readonly #contexts = new Set<Record<string, unknown>>()
  readonly #groups = new Set<WriteOptions>()

  constructor(job: number, ops: () => Op[]) {
    this.#job = job
    this.#ops = ops
  }

  get options(): WriteOptions {
    return merged(this.#groups)
  }

  get context(): { context?: Encoded } {
    return this.#hasContext ? { context: encodeValue({ job: this.#job, ...this.#context }) } : {}
  }

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

  begin(): void {
    if (this.#isOver) this.end()
  }

  over(): void {
    this.#isOver = true
  }

  end(): void {
    const ops = this.#ops()
    if (this.#groups.size > 0) return
    const reads = this.#taken(ops.length)
    if (!reads) return
    ops.push({ op: 'entry', ...reads, ...(this.#hasContext ? { context: encodeValue(this.#context) } : {}) })
    this.#from = ops.length
  }

  collect(): void {
    if (this.#hasDefaults) this.end()
  }

  clear(): void {
    this.#from = 0
    this.#reads = {}
    this.#defaults = {}
  }

  async withContext<T>(members: Record<string, unknown>, block: () => T | Promise<T>): Promise<T> {
    const own = { ...members }
    this.end()
    this.#contexts.add(own)
    try {
      return await block()
    } finally {
      this.end()
      this.#contexts.delete(own)
    }
  }

  async withOptions<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    const own = { ...options }
    this.end()
    this.#groups.add(own)
    try {
      return await block()
    } finally {
      this.#groups.delete(own)
      this.end()
    }
  }

  get #context(): Record<string, unknown> {
    return merged(this.#contexts)
  }

  get #hasContext(): boolean {
    return Object.keys(this.#context).length > 0
  }

  get #hasDefaults(): boolean {
    return Object.keys(this.#defaults).length > 0
  }

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
