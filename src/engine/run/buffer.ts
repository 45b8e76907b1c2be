import type { Encoded } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { shown } from '../../core/json-schema/schema.ts'
import { limits } from '../../core/limits.ts'
import { ownProperty } from '../../core/own.ts'
import type { Changes, Op, Snapshot } from '../../core/run.ts'
import { isText, MAX_VALUES } from '../../core/schemas.ts'
import { largestPart, sizeFault, tooLarge } from '../../redis/largest.ts'
import { RunLog } from './run-log.ts'

/** After a wait, a function runs its earlier code again, so all ops except these must be inside a step. */
const repeatable: ReadonlySet<Op['op']> = new Set(['log', 'default', 'step', 'inherit'])

const tooMuch = (what: string): SidejobError => new SidejobError('TOO_LARGE', tooLarge(what))

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
    `expected a name: 1 to 255 bytes of text without control characters, got ${shown(name)}`,
  )
}

type Write = Extract<Op, { op: 'write' }>

const isSameWrite = (one: Write, { values: _, to, ...other }: Write): boolean =>
  Object.entries(other).every(([name, value]) => one[name as keyof Write] === value) &&
  Object.keys(one).length === Object.keys(other).length + 2 &&
  JSON.stringify(one.to) === JSON.stringify(to)

/** One op with many values costs less than many ops. */
function joinWrite(last: Op | undefined, op: Write): boolean {
  if (last?.op !== 'write' || last.values.length + op.values.length > MAX_VALUES || !isSameWrite(last, op)) return false
  for (const value of op.values) last.values.push(value)
  return true
}

type Reads = NonNullable<Changes['reads']>

type Commit = {
  reads: () => Reads
  checkpoint: (changes: Changes) => Promise<Snapshot>
  committed: () => void
}

export class RunBuffer {
  snapshot: Snapshot
  #log: RunLog | undefined
  #state: Map<string, Encoded | undefined> | undefined
  #ops: Op[] = []
  #weight = 0
  #commits = 0
  #counts: Record<string, number> = {}
  #closed = false
  #broken: unknown
  #turn: Promise<unknown> | undefined
  #acting = 0
  #loose: string | undefined
  #hasLooked = false
  #gotten: Set<string> | undefined

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
  }

  get log(): RunLog {
    return (this.#log ??= new RunLog(this.snapshot.job.id, () => this.#ops))
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get loose(): string | undefined {
    return this.#loose
  }

  get isFree(): boolean {
    if (this.#hasLooked || this.#loose?.startsWith('read')) return true
    for (const field of this.#gotten ?? []) if (this.#state?.has(field)) return true
    return false
  }

  look(): void {
    if (this.#acting === 0) this.#hasLooked = true
  }

  get counts(): Record<string, number> {
    return this.#counts
  }

  get logs(): Op[] {
    return this.#ops.filter(({ op }) => op === 'log')
  }

  open(): void {
    if (this.#closed)
      throw new Error(`the run of job ${this.snapshot.job.id} has ended: nothing more can be read or written`)
  }

  close(): void {
    this.#closed = true
  }

  settled(): Promise<unknown> | undefined {
    return this.#turn
  }

  throwIfBroken(): void {
    if (this.#broken) throw this.#broken
  }

  op(op: Op): void {
    this.open()
    this.#log?.begin()
    if (!repeatable.has(op.op)) this.note(op.op)
    if (!(op.op === 'write' && joinWrite(this.#ops.at(-1), op))) this.#ops.push(op)
    this.#weigh(weightOf(op))
  }

  act<T>(action: () => T): T {
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

  note(what: string): void {
    if (this.#acting === 0) this.#loose ??= what
  }

  count(name: string, n: number): void {
    this.#counts[nameOf(name)] = (ownProperty(this.#counts, name) ?? 0) + n
    if (Object.keys(this.#counts).length > limits.countNames.most)
      throw (this.#broken = tooMuch(`expected at most ${limits.countNames.most} different counts`))
  }

  get(field: string): Encoded | undefined {
    if (this.#acting === 0) (this.#gotten ??= new Set()).add(field)
    return this.#state?.has(field) ? this.#state.get(field) : ownProperty(this.snapshot.state, field)
  }

  set(values: Record<string, Encoded>): void {
    this.open()
    for (const [field, value] of Object.entries(values)) {
      this.unset([nameOf(field)])
      this.#changed.set(field, value)
      this.#weigh(value.length)
    }
  }

  unset(names: string[]): void {
    this.open()
    for (const field of names) {
      this.#weight -= this.#changed.get(field)?.length ?? 0
      this.#changed.set(field, undefined)
    }
  }

  remember(field: string, value: Encoded): void {
    this.#changed.set(field, value)
  }

  collect(end: Changes['end'], reads: Reads): Changes {
    this.#log?.collect()
    const set: [string, Encoded][] = []
    const unset: string[] = []
    for (const [field, value] of this.#state ?? []) {
      if (value === undefined) unset.push(field)
      else set.push([field, value])
    }
    const counts = Object.keys(this.#counts).length ? { counts: this.#counts } : {}
    this.#counts = {}
    return { end, n: this.#commits, reads, state: { set: Object.fromEntries(set), unset }, ops: this.#ops, ...counts }
  }

  commit(how: Commit): Promise<void> {
    const turn = (this.#turn ?? Promise.resolve()).then(() => this.#commit(how))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #commit({ reads, checkpoint, committed }: Commit): Promise<void> {
    const changes = this.collect('checkpoint', reads())
    this.#ops = []
    this.#weight = 0
    this.#log?.clear()
    this.snapshot = { ...this.snapshot, state: this.#stateNow() }
    this.#state?.clear()
    try {
      this.snapshot = await checkpoint(changes)
    } catch (error) {
      // Redis may have applied the commit, so continuing could repeat its work.
      this.#broken = error
      this.close()
      throw error
    }
    this.#commits++
    committed()
  }

  #weigh(bytes: number): void {
    this.#weight += bytes
    if (this.#ops.length > limits.ops.most) this.#broken ??= tooMuch(`expected at most ${limits.ops.most} ops`)
    if (this.#weight > limits.runBytes.most) this.#broken ??= tooMuch(this.#excess())
    this.throwIfBroken()
  }

  #excess(): string {
    const set = Object.fromEntries(
      [...(this.#state ?? [])].flatMap(([field, value]) => (value ? [[field, value]] : [])),
    )
    return sizeFault(this.#weight, largestPart({ end: 'completed', state: { set }, ops: this.#ops }))
  }

  get #changed(): Map<string, Encoded | undefined> {
    return (this.#state ??= new Map())
  }

  #stateNow(): Record<string, Encoded> {
    const state = new Map(Object.entries(this.snapshot.state))
    for (const [field, value] of this.#state ?? []) value === undefined ? state.delete(field) : state.set(field, value)
    return Object.fromEntries(state)
  }
}
