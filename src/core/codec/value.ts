import { bytesOf } from '../bytes.ts'
import { fromBase64 } from './base64.ts'
import { CLOSED, type JsonOptions, lenient, maps, OPEN, type ParseOptions, parseJson } from './json.ts'
import { Raw, writeJson } from './json-writer.ts'
import { Ext, fitsIn64Bits } from './msgpack.ts'
import { parseMsgpack } from './msgpack-reader.ts'
import { writeMsgpack } from './msgpack-writer.ts'
import type { Encoded } from './opaque.ts'

export type { Encoded } from './opaque.ts'

export const encodeValue = (value: unknown): Encoded => {
  let beyond = false
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, shown) {
    beyond ||= isBeyondJson(this[name])
    return beyond ? undefined : shown
  })
  if (beyond) return parseMsgpack(writeMsgpack(value), CLOSED) as Encoded
  if (text === undefined) throw new TypeError(`expected a JSON value, such as null, got ${typeof value}`)
  return parseJson(text, CLOSED) as Encoded
}

export const decodeValue = (encoded: Encoded): unknown =>
  isSlice(encoded) ? parseMsgpack(sliceOf(encoded), OPEN, forgiving) : parseJson(encoded, OPEN, forgiving)

/** Values that JSON does not have become `{ "$bin" }`, `{ "$int" }`, `{ "$ext" }` or `{ "$float" }`. */
export const encodedToJson = (encoded: Encoded): string =>
  isSlice(encoded) ? writeJson(parseMsgpack(sliceOf(encoded), OPEN, { builder: maps })) : encoded

/** An integer beyond 64 bits becomes a double with the same digits, or else `{ "$int": digits }`. */
export const encodedToMsgpack = (encoded: Encoded): Uint8Array =>
  isSlice(encoded) ? sliceOf(encoded) : writeMsgpack(parseJson(encoded, OPEN, exact))

export const encodedSize = (encoded: Encoded): number =>
  isSlice(encoded) ? base64Size(encoded.slice(1)) : bytesOf(encoded)

export const raw = (encoded: Encoded): Raw => new RawWire(encoded)

class RawWire extends Raw {
  readonly encoded: Encoded

  constructor(encoded: Encoded) {
    super()
    this.encoded = encoded
  }

  json(): string {
    return encodedToJson(this.encoded)
  }

  msgpack(): Uint8Array {
    return encodedToMsgpack(this.encoded)
  }
}

// JSON.parse would be twice as fast, but Node 24 (V8 13.6) can confuse a name that contains \" with an earlier name
// that contains \\.
const forgiving: ParseOptions = { builder: lenient }

const isSlice = (encoded: Encoded): boolean => encoded.startsWith('~')

const sliceOf = (encoded: Encoded): Uint8Array => fromBase64(encoded.slice(1))

const base64Size = (text: string): number => (text.length / 4) * 3 - padding(text)

const padding = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

const isBeyondJson = (value: unknown): boolean => {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value === 'bigint') return true
  return value instanceof Uint8Array || value instanceof Ext || value instanceof Map
}

const exactNumber = (text: string): unknown => {
  const double = Number(text)
  if (Number.isSafeInteger(double) || !isInteger(text)) return double
  return int64(text) ?? (String(double) === text ? double : new Map([['$int', text]]))
}

const isInteger = (text: string): boolean => /^(?:-?[1-9]\d*|0)$/.test(text)

// A 64-bit integer has at most 20 characters. BigInt takes quadratic time for longer text.
const int64 = (text: string): bigint | undefined => {
  const value = text.length <= 20 ? BigInt(text) : undefined
  return value !== undefined && fitsIn64Bits(value) ? value : undefined
}

const forms: Record<string, (content: unknown) => unknown> = {
  $bin: (content) => (isBase64(content) ? fromBase64(content) : undefined),
  $int: (content) => (typeof content === 'string' && isInteger(content) ? int64(content) : undefined),
  $float: (content) => floats.get(content),
  $ext: (content) => (isExt(content) ? new Ext(content[0], fromBase64(content[1])) : undefined),
}

const floats = new Map<unknown, number>(
  [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((float) => [String(float), float]),
)

const revive = (members: Map<string, unknown>): unknown => {
  if (members.size !== 1) return members
  const [name, content] = [...members][0]!
  return (Object.hasOwn(forms, name) ? forms[name]!(content) : undefined) ?? members
}

const isBase64 = (text: unknown): text is string =>
  typeof text === 'string' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const isExt = (content: unknown): content is [number, string] =>
  Array.isArray(content) && content.length === 2 && isInt8(content[0]) && isBase64(content[1])

const isInt8 = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= -128 && value <= 127

const exact: JsonOptions = { builder: { ...maps, done: revive }, number: exactNumber }
