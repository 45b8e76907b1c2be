import { fitsSteps, type Step } from '../../core/glob.ts'
import { limits } from '../../core/limits.ts'
import { Refusal } from './refusal.ts'

export const columns = [
  'created',
  'jobID',
  'state',
  'name',
  'nextRun',
  'lastRun',
  'repeat',
  'data',
  'priority',
  'parentJobID',
  'retryAfter',
] as const
export type Row = Record<string, unknown>

export type Condition = { column: string; operator: string; values: (string | number)[]; holds: (row: Row) => boolean }
export type Select = { columns: string[]; conditions: Condition[]; limit: number }

const MOST_CONDITIONS = 20
const MOST_VALUES = 100
/** In characters. A match compares each character of the pattern with each character of a name. */
const MOST_PATTERN = 50

type Token = { kind: 'word' | 'text' | 'number' | 'sign' | 'end'; text: string }

const TOKEN = /\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([a-z_]\w*)|(-?\d+(?:\.\d+)?)|(<=|>=|<>|!=|==|[<>=(),;*]))/iy

const bad = (wanted: string, got: string) =>
  new Refusal(402, `Bad query: expected ${wanted}, got ${got || 'the end of the query'}`)

function tokensOf(query: string): Token[] {
  const tokens: Token[] = []
  const text = query.trimEnd()
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    if (!found) throw bad('SQL', text.slice(from).trim().slice(0, 20))
    const [, single, double, word, number, sign] = found
    if (single !== undefined) tokens.push({ kind: 'text', text: single.replaceAll("''", "'") })
    else if (double !== undefined) tokens.push({ kind: 'text', text: double.replaceAll('""', '"') })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else tokens.push({ kind: 'sign', text: sign! })
  }
  return tokens
}

const any = () => true
const wildcards: Record<string, { many: string; one: string; same: (a: string, b: string) => boolean }> = {
  GLOB: { many: '*', one: '?', same: (a, b) => a === b },
  LIKE: { many: '%', one: '_', same: (a, b) => a.toLowerCase() === b.toLowerCase() },
}

function patternOf(operator: string, text: string): (value: unknown) => boolean {
  if (text.length > MOST_PATTERN) throw bad(`a pattern of at most ${MOST_PATTERN} characters`, String(text.length))
  if (operator === 'GLOB' && text.includes('[')) throw bad('a GLOB of * and ?', `'${text}'`)
  const { many, one, same } = wildcards[operator]!
  const steps = [...text].map((char): Step => {
    if (char === many) return { fits: any, many: true }
    return { fits: char === one ? any : (given) => same(given, char) }
  })
  return (value) => fitsSteps(steps, String(value))
}

type Value = string | number
const comparisons: Record<string, (a: Value, b: Value) => boolean> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}
const synonyms: Record<string, string> = { '==': '=', '<>': '!=' }
const numeric = new Set(['jobID', 'priority', 'parentJobID'])

class Reader {
  readonly #tokens: Token[]
  #at = 0

  constructor(query: string) {
    this.#tokens = tokensOf(query)
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' }
  }

  #is(text: string): boolean {
    const { kind, text: next } = this.#next
    return kind !== 'text' && next.toUpperCase() === text
  }

  #skip(...texts: string[]): boolean {
    if (!this.#is(texts[0]!)) return false
    this.#at++
    for (const text of texts.slice(1)) this.#need(text)
    return true
  }

  #need(text: string): void {
    if (!this.#is(text)) throw bad(text, this.#next.text)
    this.#at++
  }

  #column(): string {
    const found = columns.find((name) => this.#is(name.toUpperCase()))
    if (!found) throw bad(`* or a column (${columns.join(', ')})`, this.#next.text)
    this.#at++
    return found
  }

  #list<Item>(read: () => Item, most: number): Item[] {
    const items = [read()]
    while (this.#skip(',')) items.push(read())
    if (items.length > most) throw bad(`at most ${most} in a list`, String(items.length))
    return items
  }

  #value(column: string): Value {
    const { kind, text } = this.#next
    if (kind !== 'text' && kind !== 'number') throw bad(`a value for ${column}`, text)
    this.#at++
    if (!numeric.has(column)) return text
    if (!/^-?\d+$/.test(text)) throw bad(`a whole number for ${column}`, text)
    return Number(text)
  }

  #condition(): Condition {
    const column = this.#column()
    if (column === 'data') throw bad('a condition on another column than data', 'data')
    const word = this.#next.text.toUpperCase()
    const operator = synonyms[word] ?? word
    this.#at++
    if (operator === 'IN') {
      this.#need('(')
      const values = this.#list(() => this.#value(column), MOST_VALUES)
      this.#need(')')
      return { column, operator, values, holds: (row) => values.includes(row[column] as Value) }
    }
    if (operator in wildcards) {
      if (column !== 'name') throw bad(`${operator} for name only`, column)
      const values = [this.#value(column)]
      const fits = patternOf(operator, String(values[0]))
      return { column, operator, values, holds: (row) => fits(row[column]) }
    }
    const compare = comparisons[operator]
    if (!compare) throw bad('=, !=, <, <=, >, >=, IN, GLOB or LIKE', word)
    const value = this.#value(column)
    return { column, operator, values: [value], holds: (row) => compare(row[column] as Value, value) }
  }

  #conditions(): Condition[] {
    const all = [this.#condition()]
    while (this.#skip('AND')) all.push(this.#condition())
    if (all.length > MOST_CONDITIONS) throw bad(`at most ${MOST_CONDITIONS} conditions`, String(all.length))
    return all
  }

  #limit(): number {
    const { kind, text } = this.#next
    if (kind !== 'number' || !/^[1-9]\d*$/.test(text)) throw bad('a number of rows, from 1', text)
    this.#at++
    return Math.min(Number(text), limits.queriedRows.most)
  }

  read(): Select {
    this.#need('SELECT')
    const shown = this.#skip('*') ? [...columns] : this.#list(() => this.#column(), columns.length)
    this.#need('FROM')
    this.#need('JOBS')
    const conditions = this.#skip('WHERE') ? this.#conditions() : []
    if (this.#skip('ORDER', 'BY')) for (const word of ['JOBID', 'DESC']) this.#need(word)
    const limit = this.#skip('LIMIT') ? this.#limit() : limits.queriedRows.most
    this.#need(';')
    if (this.#next.kind !== 'end') throw bad('one SELECT', this.#next.text)
    return { columns: shown, conditions, limit }
  }
}

export const selectOf = (query: string): Select => new Reader(query).read()
