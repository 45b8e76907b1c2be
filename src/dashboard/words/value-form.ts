import { encodedToJson } from '../../core/codec/value.ts'
import { isObject } from '../../core/is-object.ts'
import type { PortView } from '../../engine/engine.ts'
import { jsonText, linesIn, numberIn, objectOf } from './form.ts'
import { compact } from './json.ts'
import { asJson, type Kind, kindOf, readSchema, type Schema } from './schema.ts'

export const LINES = '-'

/** @example memberOf('in.order', 'a/b') // 'in.order/a~1b' */
export const memberOf = (field: string, name: string): string =>
  `${field}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

function read(text: string, name: string, kind: Kind): string {
  if (kind === 'number') numberIn(text, name)
  return jsonText(text, name)
}

type Typed = {
  at: (field: string) => string | null | undefined
  depth?: number
}

const shortOf = (field: string): string => field.slice(field.lastIndexOf('/') + 1).replace(/^in\./, '')

function listIn(schema: Schema, field: string, { at }: Typed): string | undefined {
  const lines = linesIn(at(`${field}/${LINES}`) ?? '')
  return lines.length === 0
    ? undefined
    : `[${lines.map((line) => read(asJson(schema.items, line), shortOf(field), kindOf(schema.items))).join(',')}]`
}

function objectIn(schema: Schema, field: string, typed: Typed): string | undefined {
  const depth = (typed.depth ?? 0) + 1
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
    const json = valueIn(of, memberOf(field, name), { ...typed, depth })
    return json === undefined ? [] : [[name, json] as const]
  })
  return members.length === 0 ? undefined : objectOf(Object.fromEntries(members))
}

/** The field for the whole value overrides the fields of its members. */
export function valueIn(schema: Schema | undefined, field: string, typed: Typed): string | undefined {
  const { at, depth = 0 } = typed
  const whole = at(field) ?? ''
  const kind = kindOf(schema, depth)
  if (kind === 'list' || kind === 'object') {
    if (whole.trim() !== '') return read(whole, shortOf(field), 'json')
    return kind === 'list' ? listIn(schema!, field, typed) : objectIn(schema!, field, typed)
  }
  return whole === '' ? undefined : read(asJson(schema, whole), shortOf(field), kind)
}

const nothing: Partial<Record<Kind, string>> = { text: '""', list: '[]', object: '{}' }

/** An empty field is an empty text, list or object. */
export const neededIn = (schema: Schema | undefined, field: string, typed: Typed): string =>
  valueIn(schema, field, typed) ?? nothing[kindOf(schema)] ?? read('', shortOf(field), 'json')

export const typedFor = (port: Pick<PortView, 'schema'> | undefined, form: FormData): string =>
  neededIn(readSchema(port?.schema && encodedToJson(port.schema)), 'value', {
    at: (field) => form.get(field) as string | null,
  })

/** Returns strings without quotes, and other values as JSON. */
export function typedAs(schema: Schema | undefined, json: string): string {
  const kind = kindOf(schema)
  return (kind === 'text' || kind === 'choice') && json.startsWith('"') ? String(JSON.parse(json)) : json
}

type Fields = Record<string, string>
type Spread = { field: string; value: unknown; depth: number }

/** An input of a browser omits line breaks, and an empty field means no value. */
const isOneField = (schema: Schema | undefined, value: unknown): boolean =>
  value !== null && /^.+$/.test(String(value)) && asJson(schema, String(value)) === JSON.stringify(value)

function listFields({ items }: Schema, { field, value }: Spread): Fields | undefined {
  if (!Array.isArray(value) || !value.every((one) => isOneField(items, one))) return undefined
  const lines = value.join('\n')
  const isSame = value.length > 0 && linesIn(lines).join('\n') === lines
  return isSame ? { [`${field}/${LINES}`]: lines } : undefined
}

function objectFields({ properties = {} }: Schema, { field, value, depth }: Spread): Fields | undefined {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined
  const members = Object.entries(value).map(([name, one]) =>
    Object.hasOwn(properties, name)
      ? spread(properties[name], { field: memberOf(field, name), value: one, depth: depth + 1 })
      : undefined,
  )
  return members.includes(undefined) ? undefined : Object.assign({}, ...members)
}

/** Undefined if the fields cannot hold the value. */
function spread(schema: Schema | undefined, of: Spread): Fields | undefined {
  const kind = kindOf(schema, of.depth)
  if (kind === 'list') return listFields(schema!, of)
  if (kind === 'object') return objectFields(schema!, of)
  if (kind === 'json') return { [of.field]: JSON.stringify(of.value) }
  return isOneField(schema, of.value) ? { [of.field]: String(of.value) } : undefined
}

/** If the fields of members cannot hold the value, or if a number would lose digits, the field for JSON holds it. */
export function fieldsFor(schema: Schema | undefined, field: string, json: string): Fields {
  const value: unknown = JSON.parse(json)
  const fields = JSON.stringify(value) === compact(json) ? spread(schema, { field, value, depth: 0 }) : undefined
  return fields ?? { [field]: typedAs(schema, json) }
}
