import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import type { Op } from '../../core/run.ts'

export type WriteOptions = { setDefault?: boolean; notify?: boolean; log?: boolean }

type EntryOp = Extract<Op, { op: 'entry' }>

const membersOf = (entry: object | string): object => {
  if (typeof entry === 'string') return { message: entry }
  return entry instanceof Error ? { error: entry.message, backtrace: entry.stack } : entry
}

/** Blocks in concurrent branches may overlap, so the end of a block removes only its own values. */
class OpenBlocks<T extends object> {
  readonly #blocks = new Set<T>()
  merged = {} as T

  get size(): number {
    return this.#blocks.size
  }

  open(values: T): () => void {
    const block = { ...values }
    this.#blocks.add(block)
    this.#merge()
    return () => {
      this.#blocks.delete(block)
      this.#merge()
    }
  }

  #merge(): void {
    this.merged = Object.assign({}, ...this.#blocks)
  }
}

export class RunLog {
  readonly #job: number
  readonly #ops: () => Op[]
  #from = 0
  #reads: Record<string, number> = {}
  #defaults: Record<string, number> = {}
  #isOver = false
  readonly #contexts = new OpenBlocks<Record<string, unknown>>()
  readonly #groups = new OpenBlocks<WriteOptions>()

  constructor(job: number, ops: () => Op[]) {
    this.#job = job
    this.#ops = ops
  }

  get options(): WriteOptions {
    return this.#groups.merged
  }

  get context(): { context?: Encoded } {
    return this.#hasContext ? { context: encodeValue({ job: this.#job, ...this.#contexts.merged }) } : {}
  }

  message(entry: object | string): Encoded {
    return encodeValue({ ...this.#contexts.merged, ...membersOf(entry) })
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
    ops.push({ op: 'entry', ...reads, ...(this.#hasContext ? { context: encodeValue(this.#contexts.merged) } : {}) })
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
    this.end()
    const close = this.#contexts.open(members)
    try {
      return await block()
    } finally {
      this.end()
      close()
    }
  }

  async withOptions<T>(options: WriteOptions, block: () => T | Promise<T>): Promise<T> {
    this.end()
    const close = this.#groups.open(options)
    try {
      return await block()
    } finally {
      close()
      this.end()
    }
  }

  get #hasContext(): boolean {
    return Object.keys(this.#contexts.merged).length > 0
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
