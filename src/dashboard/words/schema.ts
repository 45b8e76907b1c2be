// JSON Schemas in words and as fields: what a port, or args, expect.

/** As much of JSON Schema as forms know; anything else is a JSON box. */
type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  minimum?: number
  maximum?: number
  maxItems?: number
  anyOf?: Schema[]
}

export type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'json'

const read = (schema: string | undefined): Schema | undefined => {
  if (schema === undefined) return undefined
  try {
    const parsed = JSON.parse(schema) as unknown
    return typeof parsed === 'object' && parsed !== null ? (parsed as Schema) : undefined
  } catch {
    return undefined
  }
}

function inWords(schema: Schema, depth: number): string {
  const { type, enum: choices, format, properties, items, anyOf } = schema
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
  if (type === 'array') return items && depth < 2 ? `list of ${inWords(items, depth + 1)}` : 'list'
  if (type === 'object') {
    const names = Object.keys(properties ?? {})
    return names.length > 0 ? `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }` : 'object'
  }
  return 'any'
}

/** @example wordsOf('{"type":"array","items":{"type":"integer"}}') // 'list of whole number' */
export const wordsOf = (schema: string | undefined): string => {
  const known = read(schema)
  return known ? inWords(known, 0) : 'any'
}

/** What kind of field a value is asked for by. */
export function kindOf(schema: string | undefined): Kind {
  const known = read(schema)
  if (known?.enum?.every((choice) => typeof choice === 'string')) return 'choice'
  if (known?.type === 'string') return 'text'
  if (known?.type === 'number' || known?.type === 'integer') return 'number'
  if (known?.type === 'boolean') return 'boolean'
  return 'json'
}

export const choicesOf = (schema: string | undefined): string[] => (read(schema)?.enum ?? []).map(String)

const samples: Record<Kind, string> = { text: '"text"', number: '0', boolean: 'false', choice: '""', json: 'null' }

/** A value to begin with, as JSON. @example sampleOf('{"type":"integer"}') // '0' */
export function sampleOf(schema: string | undefined): string {
  const known = read(schema)
  if (known?.enum) return JSON.stringify(known.enum[0])
  if (known?.type === 'array') return '[]'
  if (known?.type === 'object')
    return `{${Object.entries(known.properties ?? {})
      .map(([name, of]) => `${JSON.stringify(name)}:${sampleOf(JSON.stringify(of))}`)
      .join(',')}}`
  return samples[kindOf(schema)]
}

/** What was typed into a field of a kind, as JSON. */
export const asJson = (kind: Kind, text: string): string =>
  kind === 'text' || kind === 'choice'
    ? JSON.stringify(text)
    : kind === 'boolean'
      ? String(text === 'true' || text === 'on')
      : text
