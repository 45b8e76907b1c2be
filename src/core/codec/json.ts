import { SidejobError } from '../errors.ts'
import type { Encoded } from './opaque.ts'

/** Maximum nesting. JSON and MessagePack have the same maximum, so that each can be converted to the other. */
export const DEPTH = 200

export const CLOSED: unique symbol = Symbol('closed')
const ITEM: unique symbol = Symbol('item')
const MEMBER: unique symbol = Symbol('member')

export type Closed = typeof CLOSED | Pattern
export type Pattern = {
  readonly [field: string]: Closed
  readonly [ITEM]?: Closed
  readonly [MEMBER]?: Closed
}

export const OPEN: Pattern = {}

export const list = (item: Closed): Pattern => ({ [ITEM]: item })

export const each = (member: Closed): Pattern => ({ [MEMBER]: member })

export const atItem = (pattern: Pattern): Closed => pattern[ITEM] ?? OPEN

export const atField = (pattern: Pattern, name: string): Closed =>
  Object.hasOwn(pattern, name) ? pattern[name]! : (pattern[MEMBER] ?? OPEN)

export type Fault = 'MALFORMED' | 'TOO_DEEP' | 'REPEATED'

export class JsonError extends SidejobError {
  readonly fault: Fault
  readonly line: number
  readonly column: number

  constructor(fault: Fault, text: string, at: number, why: string) {
    const before = text.slice(0, at).split('\n')
    const column = before.at(-1)!.length + 1
    super('BAD_REQUEST', `JSON at ${before.length}:${column}: ${why}`)
    this.name = 'JsonError'
    this.fault = fault
    this.line = before.length
    this.column = column
  }
}

type Builder<T> = {
  make(): T
  has(made: T, name: string): boolean
  set(made: T, name: string, value: unknown): void
  copy(made: T): T
  done(made: T): unknown
}

/** JSON parsers treat repeated names differently, so repeated names are refused. */
export const objects: Builder<Record<string, unknown>> = {
  make: () => ({}),
  has: Object.hasOwn,
  set: (made, name, value) => {
    if (name !== '__proto__') made[name] = value
    else Object.defineProperty(made, name, { value, writable: true, enumerable: true, configurable: true })
  },
  copy: (made) => ({ ...made }),
  done: (made) => made,
}

/** If a name is repeated, the last member counts, as in JSON.parse. */
export const lenient: Builder<Record<string, unknown>> = { ...objects, has: () => false }

/** Builds maps, because an object would move the member "1" before "a". */
export const maps: Builder<Map<string, unknown>> = {
  make: () => new Map(),
  has: () => false,
  set: (made, name, value) => made.set(name, value),
  copy: (made) => new Map(made),
  done: (made) => made,
}

// biome-ignore lint/suspicious/noExplicitAny: a builder only receives its own values.
export type ParseOptions = { depth?: number; builder?: Builder<any> }
export type JsonOptions = ParseOptions & { number?: (text: string) => unknown }

export const parseJson = (text: string, closed: Closed = OPEN, options?: JsonOptions): unknown =>
  new Reader(text, options).document(closed)

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const LETTERS = 0x61
const BRACE = 0x7b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const LARGE_E = 0x45
const SMALL_E = 0x65
const CLOSING = 2
const BYTE_ORDER_MARK = 0xfeff

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

const literals: Record<string, unknown> = { true: true, false: false, null: null }

type Hole = { name: string; closed: Closed; from: number; to: number }

type Mould = { made: unknown; holes: Hole[]; texts: string[]; fitted: number }

/** A mould that fits fewer objects than this is the last one, because an object that does not fit is read twice. */
const FEW = 4

const holdsClosed = (item: Closed): item is Pattern =>
  item !== CLOSED && Object.values(item).some((member) => member !== OPEN)

class Reader {
  private at = 0
  private depth = 0
  private readonly text: string
  private readonly options: Required<JsonOptions>

  constructor(text: string, { depth = DEPTH, builder = objects, number = Number }: JsonOptions = {}) {
    this.text = text
    this.options = { depth, builder, number }
  }

  document(closed: Closed): unknown {
    if (this.next() === BYTE_ORDER_MARK) this.at++
    this.space()
    const value = this.read(closed)
    this.space()
    if (this.at < this.text.length) this.fail('expected the end of the text')
    return value
  }

  private read(closed: Closed): unknown {
    if (closed === CLOSED) return this.slice()
    const first = this.next()
    if (first === QUOTE) return this.string()
    if (first === BRACE) return this.object(closed)
    if (first === BRACKET) return this.array(atItem(closed))
    return first >= LETTERS ? this.literal() : this.number()
  }

  private slice(): Encoded {
    const from = this.at
    this.skip()
    return this.text.slice(from, this.at)
  }

  private skip(): void {
    const first = this.next()
    if (first === QUOTE) this.quoted()
    else if (first === BRACE) for (let more = this.enter(BRACE); more; more = this.goOn(BRACE)) this.skipMember()
    else if (first === BRACKET) for (let more = this.enter(BRACKET); more; more = this.goOn(BRACKET)) this.skip()
    else if (first >= LETTERS) this.literal()
    else if (!this.skipDigits(first)) this.match(NUMBER, 'expected a value')
  }

  private skipDigits(first: number): boolean {
    if (!(first > ZERO && first <= NINE)) return false
    const { text } = this
    let at = this.at + 1
    let next = text.charCodeAt(at)
    while (next >= ZERO && next <= NINE) next = text.charCodeAt(++at)
    if (next === DOT || next === SMALL_E || next === LARGE_E) return false
    this.at = at
    return true
  }

  private skipMember(): void {
    this.quoted()
    this.colon()
    this.skip()
  }

  private object(pattern: Pattern): unknown {
    return this.options.builder.done(this.members(pattern))
  }

  private members(pattern: Pattern, holes?: Hole[]): unknown {
    const { builder } = this.options
    const made = builder.make()
    for (let more = this.enter(BRACE); more; more = this.goOn(BRACE)) {
      const start = this.at
      const name = this.string()
      if (builder.has(made, name)) this.repeated(name, start)
      this.colon()
      const from = this.at
      const closed = atField(pattern, name)
      const value = this.read(closed)
      if (closed === CLOSED || typeof value === 'object') holes?.push({ name, closed, from, to: this.at })
      builder.set(made, name, value)
    }
    return made
  }

  private array(item: Closed): unknown[] {
    const items: unknown[] = []
    const moulds = holdsClosed(item) ? this.moulds(item) : undefined
    for (let more = this.enter(BRACKET); more; more = this.goOn(BRACKET))
      items.push(moulds ? moulds() : this.read(item))
    return items
  }

  /** Compares each object of a list with an earlier one, because most differ only in the users' values. */
  private moulds(pattern: Pattern): () => unknown {
    let mould: Mould | undefined
    let isOver = false
    return () => {
      if (mould) {
        const like = this.like(mould)
        if (like !== undefined) return like
        isOver = mould.fitted < FEW
        mould = undefined
      }
      if (isOver || this.next() !== BRACE) return this.read(pattern)
      const [start, holes] = [this.at, [] as Hole[]]
      const made = this.members(pattern, holes)
      mould = { made, holes, texts: this.between(holes, start), fitted: 0 }
      return this.options.builder.done(made)
    }
  }

  private between(holes: Hole[], start: number): string[] {
    const ends = [start, ...holes.map(({ to }) => to)]
    return ends.map((end, i) => this.text.slice(end, holes[i]?.from ?? this.at))
  }

  private like(mould: Mould): unknown {
    const { text, at: start } = this
    const { builder } = this.options
    const { holes, texts } = mould
    if (!text.startsWith(texts[0]!, start)) return undefined
    if (++this.depth > this.options.depth) this.tooDeep()
    const made = builder.copy(mould.made)
    this.at += texts[0]!.length
    for (let i = 0; i < holes.length; i++) {
      const { name, closed } = holes[i]!
      this.space()
      builder.set(made, name, this.read(closed))
      const next = texts[i + 1]!
      if (!text.startsWith(next, this.at)) {
        this.at = start
        this.depth--
        return undefined
      }
      this.at += next.length
    }
    this.depth--
    mould.fitted++
    return builder.done(made)
  }

  private enter(open: number): boolean {
    if (++this.depth > this.options.depth) this.tooDeep()
    this.at++
    this.space()
    return this.next() !== open + CLOSING || this.leave()
  }

  private goOn(open: number): boolean {
    this.space()
    const next = this.next()
    if (next === open + CLOSING) return this.leave()
    if (next !== COMMA) this.fail(`expected "," or "${String.fromCharCode(open + CLOSING)}"`)
    this.at++
    this.space()
    return true
  }

  private leave(): false {
    this.at++
    this.depth--
    return false
  }

  private colon(): void {
    this.space()
    if (this.next() !== COLON) this.fail('expected ":"')
    this.at++
    this.space()
  }

  private string(): string {
    const from = this.at
    const escaped = this.quoted()
    return escaped ? JSON.parse(this.text.slice(from, this.at)) : this.text.slice(from + 1, this.at - 1)
  }

  private quoted(): boolean {
    if (this.next() !== QUOTE) this.fail('expected a name in double quotes')
    const { text } = this
    let escaped = false
    let at = this.at + 1
    for (let next = text.charCodeAt(at); next !== QUOTE; next = text.charCodeAt(at)) {
      if (next >= SPACE && next !== BACKSLASH) {
        at++
        continue
      }
      this.at = at
      if (next !== BACKSLASH) this.fail('expected a closing quote or an escaped control character')
      escaped = this.match(ESCAPE, 'expected an escape like \\n or \\u00e9')
      at = this.at
    }
    this.at = at + 1
    return escaped
  }

  private literal(): unknown {
    const from = this.at
    this.match(LITERAL, 'expected a value')
    return literals[this.text.slice(from, this.at)]
  }

  private number(): unknown {
    const from = this.at
    this.match(NUMBER, 'expected a value')
    return this.options.number(this.text.slice(from, this.at))
  }

  private match(pattern: RegExp, expected: string): true {
    pattern.lastIndex = this.at
    if (!pattern.test(this.text)) this.fail(expected)
    this.at = pattern.lastIndex
    return true
  }

  private space(): void {
    for (let next = this.next(); isSpace(next); next = this.next()) this.at++
  }

  private next(): number {
    return this.text.charCodeAt(this.at)
  }

  private fail(expected: string): never {
    const came = this.at < this.text.length ? JSON.stringify(this.text[this.at]) : 'the end'
    throw new JsonError('MALFORMED', this.text, this.at, `${expected}, got ${came}`)
  }

  private tooDeep(): never {
    throw new JsonError('TOO_DEEP', this.text, this.at, `expected at most ${this.options.depth} levels of nesting`)
  }

  private repeated(name: string, at: number): never {
    throw new JsonError('REPEATED', this.text, at, `expected each name once, got ${JSON.stringify(name)} twice`)
  }
}

const isSpace = (code: number): boolean =>
  code <= SPACE && (code === SPACE || code === NEWLINE || code === RETURN || code === TAB)
