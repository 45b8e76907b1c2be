import { readObject } from '../../core/readable.ts'

export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
  anyOf?: Schema[]
}

export type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'object' | 'json'

/** Objects that are larger or deeper are edited as JSON. */
const MOST_MEMBERS = 24
const DEEPEST = 2

export const readSchema = (schema: string | undefined): Schema | undefined => readObject<Schema>(schema)

export const membersOf = (schema: Schema | undefined): string[] => Object.keys(schema?.properties ?? {})

function inWords(schema: Schema, depth: number): string {
  const { type, enum: choices, format, items, anyOf } = schema
  if (choices) return choices.slice(0, 6).map(String).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (anyOf)
    return anyOf
      .slice(0, 4)
      .map((one) => inWords(one, depth + 1))
      .join(' or ')
  if (type === 'string') return format === 'uri' ? 'text, a URL' : format ? `text, ${format}` : 'text'
  if (type === 'integer') return 'whole number'
  if (type === 'number') return 'number'
  if (type === 'boolean') return 'yes or no'
  if (type === 'null') return 'null'
  if (type === 'array')
    return items && depth < 2 ? `list of ${inWords(items, depth + 1).replace(/number$/, 'numbers')}` : 'list'
  if (type === 'object') {
    const names = membersOf(schema)
    return names.length > 0 ? `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }` : 'object'
  }
  return 'any'
}

export const wordsOf = (schema: Schema | undefined): string => (schema ? inWords(schema, 0) : 'any')

/** A number in JSON must not lose digits. */
const isPlain = (choice: unknown): boolean =>
  typeof choice === 'number' ? Math.abs(choice) <= Number.MAX_SAFE_INTEGER : typeof choice !== 'object' || !choice

const isScalar = (kind: Kind): boolean =>
  kind === 'text' || kind === 'number' || kind === 'boolean' || kind === 'choice'

export function kindOf(schema: Schema | undefined, depth = 0): Kind {
  const { type, enum: choices, items } = schema ?? {}
  if (Array.isArray(choices)) return choices.length > 0 && choices.every(isPlain) ? 'choice' : 'json'
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  if (type === 'array') return items && isScalar(kindOf(items)) ? 'list' : 'json'
  const members = type === 'object' ? membersOf(schema).length : 0
  return members > 0 && members <= MOST_MEMBERS && depth < DEEPEST ? 'object' : 'json'
}

export const choicesOf = ({ enum: choices = [] }: Schema): string[] => choices.map(String)

const samples: Partial<Record<Kind, string>> = {
  text: '"text"',
  boolean: 'false',
}

const formats: Record<string, string> = {
  uri: '"https://example.com/"',
  email: '"ann@example.com"',
  date: '"2026-01-31"',
  'date-time': '"2026-01-31T12:00:00Z"',
}

export function sampleOf(schema: Schema | undefined): string {
  if (schema?.default !== undefined) return JSON.stringify(schema.default)
  if (schema?.enum) return JSON.stringify(schema.enum[0])
  if (schema?.type === 'array') return '[]'
  if (schema?.type === 'object')
    return `{${Object.entries(schema.properties ?? {})
      .map(([name, of]) => `${JSON.stringify(name)}:${sampleOf(of)}`)
      .join(',')}}`
  const kind = kindOf(schema)
  if (kind === 'number') return String(schema?.minimum ?? 0)
  return (kind === 'text' && formats[schema?.format ?? '']) || (samples[kind] ?? 'null')
}

export function asJson(schema: Schema | undefined, text: string): string {
  const kind = kindOf(schema)
  if (kind === 'text') return JSON.stringify(text)
  if (kind === 'choice') return JSON.stringify(schema!.enum!.find((choice) => String(choice) === text) ?? text)
  return text
}
