import { bytesOf } from '../bytes.ts'
import { isObject } from '../is-object.ts'
import { type Pattern, patternOf } from './pattern.ts'

export type Path = (string | number)[]
export type Keywords = Record<string, unknown>
export type Schema = boolean | Keywords

export const most = { bytes: 65_536, depth: 32, schemas: 2_000 } as const

const one = ['additionalProperties', 'propertyNames', 'items', 'contains', 'not', 'if', 'then', 'else']
const list = ['prefixItems', 'allOf', 'anyOf', 'oneOf']
const named = ['properties', 'patternProperties', '$defs', 'definitions']
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
export const parts = ['properties', 'allOf', 'anyOf', 'oneOf', '$ref', 'if']
const sizes = ['length', 'items', 'properties', 'contains'].flatMap((of) => {
  const name = of[0]!.toUpperCase() + of.slice(1)
  return [`min${name}`, `max${name}`]
})
const others = ['type', 'enum', 'const', 'pattern', 'required', 'dependentRequired', 'uniqueItems', '$ref']
/** Unchecked keywords. JSON Schema libraries disagree about `format`. */
const remarks = [
  'title',
  'description',
  'default',
  'examples',
  'format',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$schema',
  '$id',
  '$comment',
  'contentEncoding',
  'contentMediaType',
]
const keywords = new Set([...one, ...list, ...named, ...numbers, ...sizes, ...others, ...remarks])

export const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

class SchemaFault extends Error {
  readonly path: Path
  constructor(path: Path, message: string) {
    super(message)
    this.path = path
  }
}

export const isMap = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && !(value instanceof Uint8Array)

const textsOf = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

type Rule = [isRight: (value: unknown) => boolean, expected: string]

const each = (names: string[], ...rule: Rule) => Object.fromEntries(names.map((name) => [name, rule]))

const written: Record<string, Rule> = {
  ...each(numbers, Number.isFinite, 'a number'),
  ...each(sizes, (n) => Number.isInteger(n) && Number(n) >= 0, 'a whole number from 0'),
  ...each(list, Array.isArray, 'a list of schemas'),
  ...each(named, isMap, 'an object of schemas'),
  type: [
    (is) => [is].flat().every((name) => Object.hasOwn(kinds, String(name))),
    `one or more of ${Object.keys(kinds).join(', ')}`,
  ],
  enum: [Array.isArray, 'a list of values'],
  required: [textsOf, 'a list of strings'],
  uniqueItems: [(is) => typeof is === 'boolean', 'true or false'],
  dependentRequired: [(is) => isMap(is) && Object.values(is).every(textsOf), 'an object of lists of strings'],
  $ref: [(to) => typeof to === 'string' && /^#(\/|$)/.test(to), 'a reference within this schema, like "#/$defs/item"'],
}

const step = (text: string): string => decodeURIComponent(text).replaceAll('~1', '/').replaceAll('~0', '~')

export function found(root: unknown, ref: string): Schema | undefined {
  let at: unknown = root
  for (const name of ref.split('/').slice(1).map(step))
    at = (isMap(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined
  return isMap(at) || typeof at === 'boolean' ? (at as Schema) : undefined
}

const sizeOf = (text: string, bytes = bytesOf(text)): string =>
  `${text.length} characters${bytes === text.length ? '' : ` (${bytes} bytes)`}`

export const shown = (value: unknown): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'string') return value.length > 60 ? sizeOf(value) : JSON.stringify(value)
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export class CheckedSchema {
  readonly patterns = new Map<string, Pattern | undefined>()
  readonly #root: unknown
  readonly #lenient: boolean
  #schemas = 0

  constructor(root: unknown, lenient: boolean) {
    this.#root = root
    this.#lenient = lenient
    this.#read(root, [])
  }

  #read(schema: unknown, path: Path): void {
    if (typeof schema === 'boolean') return
    if (!isMap(schema)) throw new SchemaFault(path, `expected a schema: an object, true or false, got ${shown(schema)}`)
    if (path.length > 2 * most.depth)
      throw new SchemaFault(path, `expected at most ${most.depth} levels of nested schemas`)
    if (++this.#schemas > most.schemas) throw new SchemaFault(path, `expected at most ${most.schemas} schemas in total`)
    for (const [word, value] of Object.entries(schema)) this.#word(word, value, [...path, word])
  }

  #word(word: string, value: unknown, path: Path): void {
    if (!keywords.has(word) && !word.startsWith('x-') && !this.#lenient)
      throw new SchemaFault(path, 'this JSON Schema keyword is not supported')
    const [isRight, expected] = written[word] ?? []
    if (isRight && !isRight(value)) throw new SchemaFault(path, `expected ${expected}, got ${shown(value)}`)
    if (word === '$ref' && !found(this.#root, value as string))
      throw new SchemaFault(path, 'this reference points to nothing')
    if (word === 'pattern') this.#pattern(value, path)
    if (one.includes(word)) this.#read(value, path)
    if (list.includes(word) || named.includes(word))
      for (const [name, schema] of Object.entries(value as object)) this.#read(schema, [...path, name])
    if (word === 'patternProperties')
      for (const name of Object.keys(value as object)) this.#pattern(name, [...path, name])
  }

  #pattern(text: unknown, path: Path): void {
    try {
      this.patterns.set(text as string, patternOf(String(text)))
    } catch (error) {
      if (!this.#lenient) throw new SchemaFault(path, (error as Error).message)
      this.patterns.set(text as string, undefined)
    }
  }
}
