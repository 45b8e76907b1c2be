// MessagePack bytes in and out: read with user values left closed where a pattern says so, and written with them put back.

import { SidejobError } from '../errors.ts'
import {
  atField,
  atItem,
  CLOSED,
  type Closed,
  DEPTH,
  type Fault,
  OPEN,
  objects,
  type ParseOptions,
  type Pattern,
  Raw,
  toBase64,
  writeJson,
} from './json.ts'
import type { Encoded } from './opaque.ts'

/** A MessagePack extension, its bytes not interpreted; a timestamp is one of type -1. */
export class Ext {
  readonly type: number
  readonly data: Uint8Array

  constructor(type: number, data: Uint8Array) {
    this.type = type
    this.data = data
  }

  toJSON(): { $ext: [number, string] } {
    return { $ext: [this.type, toBase64(this.data)] }
  }
}

/** Bytes that cannot be read as MessagePack, with the place (from 0) and what was expected there. */
export class MsgpackError extends SidejobError {
  readonly fault: Fault
  readonly offset: number

  constructor(fault: Fault, offset: number, why: string) {
    super('BAD_REQUEST', `MessagePack at byte ${offset}: ${why}`)
    this.name = 'MsgpackError'
    this.fault = fault
    this.offset = offset
  }
}

/**
 * Reads MessagePack into plain values, but where the pattern says CLOSED into a Wire: `~` and the base64 of the untouched
 * slice. Integers beyond 2^53 are bigints, a key that is no string is its JSON text, a str that is no UTF-8 is bytes.
 *
 * @example parseMsgpack(body, oneOrMany({ args: CLOSED })) // { class: 'A', args: '~kQE=' }
 */
export const parseMsgpack = (bytes: Uint8Array, closed: Closed = OPEN, options?: ParseOptions): unknown =>
  new Reader(bytes, options).document(closed)

/**
 * Writes a tree as MessagePack, each number as small as it can be, with `raw(wire)` values as they came.
 * An integer beyond 64 bits is written as the map `{ "$int": "…" }`.
 *
 * @example writeMsgpack({ id: 7, args: raw('~kQE=') })
 */
export const writeMsgpack = (tree: unknown): Uint8Array => {
  const writer = new Writer()
  writer.write(tree)
  return writer.bytes()
}

/** Answers whether MessagePack has an integer type that holds it. */
export const fits64 = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 64n

type Kind = 'nil' | 'bool' | 'uint' | 'int' | 'float' | 'str' | 'bin' | 'array' | 'map' | 'ext'

/** What a first byte says: the kind, and a number that is inline (a value or a length) or in the next `width` bytes. */
type Format = { kind: Kind; width: number; inline: number }

const wide = (kind: Kind, ...widths: number[]): Format[] => widths.map((width) => ({ kind, width, inline: 0 }))
const inline = (kind: Kind, ...values: number[]): Format[] => values.map((inline) => ({ kind, width: 0, inline }))

// The first bytes 0xc0 to 0xdf, in order; 0xc1 is not used.
const named: (Format | undefined)[] = [
  ...inline('nil', 0),
  undefined,
  ...inline('bool', 0, 1),
  ...wide('bin', 1, 2, 4),
  ...wide('ext', 1, 2, 4),
  ...wide('float', 4, 8),
  ...wide('uint', 1, 2, 4, 8),
  ...wide('int', 1, 2, 4, 8),
  ...inline('ext', 1, 2, 4, 8, 16),
  ...wide('str', 1, 2, 4),
  ...wide('array', 2, 4),
  ...wide('map', 2, 4),
]

const formatOf = (byte: number): Format | undefined => {
  if (byte < 0x80) return { kind: 'int', width: 0, inline: byte }
  if (byte < 0x90) return { kind: 'map', width: 0, inline: byte - 0x80 }
  if (byte < 0xa0) return { kind: 'array', width: 0, inline: byte - 0x90 }
  if (byte < 0xc0) return { kind: 'str', width: 0, inline: byte - 0xa0 }
  if (byte < 0xe0) return named[byte - 0xc0]
  return { kind: 'int', width: 0, inline: byte - 0x100 }
}

const formats = Array.from({ length: 0x100 }, (_, byte) => formatOf(byte))

type Getter = Extract<keyof DataView, `get${string}`>

const getters: Record<'uint' | 'int' | 'float', Record<number, Getter>> = {
  uint: { 1: 'getUint8', 2: 'getUint16', 4: 'getUint32', 8: 'getBigUint64' },
  int: { 1: 'getInt8', 2: 'getInt16', 4: 'getInt32', 8: 'getBigInt64' },
  float: { 4: 'getFloat32', 8: 'getFloat64' },
}

// Up to this length a string of ASCII, which most names are, is quicker copied here than sent through the platform's coders.
const SHORT = 24

const shortText = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  if (to - from > SHORT) return undefined
  let text = ''
  for (let at = from; at < to; at++) {
    if (bytes[at]! > 0x7f) return undefined
    text += String.fromCharCode(bytes[at]!)
  }
  return text
}

// A byte order mark at the front of a string is part of the string.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What is marked as text but is not UTF-8, as old writers of MessagePack mark bytes, is bytes. */
const longText = (bytes: Uint8Array): string | Uint8Array => {
  try {
    return decoder.decode(bytes)
  } catch {
    return bytes.slice()
  }
}

class Reader {
  private at = 0
  private depth = 0
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly options: Required<ParseOptions>

  constructor(bytes: Uint8Array, { depth = DEPTH, builder = objects }: ParseOptions = {}) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.options = { depth, builder }
  }

  document(closed: Closed): unknown {
    const value = this.read(closed)
    const left = this.bytes.length - this.at
    if (left) this.fail(this.at, `expected the end, came ${left} more bytes`)
    return value
  }

  private read(closed: Closed): unknown {
    if (closed === CLOSED) return this.slice()
    const format = this.format()
    switch (format.kind) {
      case 'nil':
        return null
      case 'bool':
        return format.inline === 1
      case 'str':
        return this.text(format)
      case 'bin':
        return this.block(this.length(format)).slice()
      case 'array':
        return this.array(format, atItem(closed))
      case 'map':
        return this.map(format, closed)
      case 'ext':
        return this.ext(format)
      default:
        return format.width ? this.number(format.kind, format.width) : format.inline
    }
  }

  private slice(): Encoded {
    const from = this.at
    this.skip()
    return `~${toBase64(this.bytes.subarray(from, this.at))}`
  }

  /** Goes past a value, checked and not decoded. */
  private skip(): void {
    const format = this.format()
    const { kind, width } = format
    if (kind === 'array') this.elements(format, 1, this.skipItem)
    else if (kind === 'map') this.elements(format, 2, this.skipMember)
    else if (kind === 'ext') this.need(1 + this.length(format))
    else this.need(kind === 'str' || kind === 'bin' ? this.length(format) : width)
  }

  // Made once, not once a map: a body is mostly what is skipped.
  private readonly skipItem = (): void => this.skip()
  private readonly skipMember = (): void => {
    this.skip()
    this.skip()
  }

  private text(format: Format): string | Uint8Array {
    const length = this.length(format)
    this.need(length)
    const from = this.at - length
    return shortText(this.bytes, from, this.at) ?? longText(this.bytes.subarray(from, this.at))
  }

  private array(format: Format, item: Closed): unknown[] {
    const items: unknown[] = []
    this.elements(format, 1, () => items.push(this.read(item)))
    return items
  }

  private map(format: Format, pattern: Pattern): unknown {
    const { builder } = this.options
    const made = builder.make()
    this.elements(format, 2, () => {
      const from = this.at
      const name = this.name()
      if (builder.has(made, name)) this.repeated(name, from)
      builder.set(made, name, this.read(atField(pattern, name)))
    })
    return builder.done(made)
  }

  private name(): string {
    const key = this.read(OPEN)
    return typeof key === 'string' ? key : writeJson(key)
  }

  private ext(format: Format): Ext {
    const length = this.length(format)
    return new Ext(this.number('int', 1) as number, this.block(length).slice())
  }

  /** Goes through the elements of an array or map, of so many values each, with a call for each element. */
  private elements(format: Format, values: number, element: () => void): void {
    const from = this.at
    const count = this.length(format)
    if (++this.depth > this.options.depth) this.tooDeep(from)
    this.fits(count * values)
    for (let n = 0; n < count; n++) element()
    this.depth--
  }

  private format(): Format {
    this.need(1)
    const format = formats[this.bytes[this.at - 1]!]
    return format ?? this.fail(this.at - 1, 'expected a value, came the unused type 0xc1')
  }

  private length({ width, inline }: Format): number {
    return width ? (this.number('uint', width) as number) : inline
  }

  private number(kind: keyof typeof getters, width: number): number | bigint {
    this.need(width)
    const getter = getters[kind][width]!
    const value = this.view[getter](this.at - width)
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  }

  private block(length: number): Uint8Array {
    this.need(length)
    return this.bytes.subarray(this.at - length, this.at)
  }

  private need(length: number): void {
    this.fits(length)
    this.at += length
  }

  /** Every value takes a byte at least, so a count that is more than what is left lies, and costs nothing here. */
  private fits(length: number): void {
    const left = this.bytes.length - this.at
    if (length > left) this.fail(this.at, `expected at least ${length} more bytes, came ${left}`)
  }

  private fail(at: number, why: string): never {
    throw new MsgpackError('MALFORMED', at, why)
  }

  private tooDeep(at: number): never {
    throw new MsgpackError('TOO_DEEP', at, `expected at most ${this.options.depth} levels of nesting`)
  }

  private repeated(name: string, at: number): never {
    throw new MsgpackError('REPEATED', at, `expected each name once, ${JSON.stringify(name)} came again`)
  }
}

type Sized = 'str' | 'bin' | 'array' | 'map' | 'ext'

// How a length is written: up to `most` within the byte `short`, else after the first byte in 1, 2 or 4 bytes.
const heads: Record<Sized, { most: number; short: number; wide: [one: number, two: number, four: number] }> = {
  str: { most: 31, short: 0xa0, wide: [0xd9, 0xda, 0xdb] },
  bin: { most: -1, short: 0, wide: [0xc4, 0xc5, 0xc6] },
  array: { most: 15, short: 0x90, wide: [0, 0xdc, 0xdd] },
  map: { most: 15, short: 0x80, wide: [0, 0xde, 0xdf] },
  ext: { most: -1, short: 0, wide: [0xc7, 0xc8, 0xc9] },
}

const fixedExt: Record<number, number> = { 1: 0xd4, 2: 0xd5, 4: 0xd6, 8: 0xd7, 16: 0xd8 }

// One more than is read: an integer at the deepest place may become the map `{ "$int": … }`.
const DEEPEST = DEPTH + 1

const encoder = new TextEncoder()

const isShort = (text: string): boolean => {
  if (text.length > SHORT) return false
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

class Writer {
  private at = 0
  private depth = 0
  private buffer = new Uint8Array(256)
  private view = new DataView(this.buffer.buffer)

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.at)
  }

  write(value: unknown): void {
    if (typeof value === 'string') this.text(value)
    else if (typeof value === 'number') this.number(value)
    else if (typeof value === 'bigint') this.bigint(value)
    else if (typeof value === 'boolean') this.byte(value ? 0xc3 : 0xc2)
    else if (typeof value === 'object' && value) this.object(value)
    else this.byte(0xc0)
  }

  private object(value: object): void {
    if (value instanceof Raw) this.block(value.msgpack())
    else if (value instanceof Ext) this.ext(value)
    else if (value instanceof Uint8Array) this.sized('bin', value)
    else if (Array.isArray(value)) this.array(value)
    else if (value instanceof Map) this.map([...value])
    else if ('toJSON' in value && typeof value.toJSON === 'function') this.write(value.toJSON())
    else this.map(Object.entries(value))
  }

  private array(items: unknown[]): void {
    this.head('array', items.length)
    this.enter()
    for (const item of items) this.write(item)
    this.depth--
  }

  private map(entries: [unknown, unknown][]): void {
    const present = entries.filter((entry) => entry[1] !== undefined)
    this.head('map', present.length)
    this.enter()
    for (const entry of present) {
      this.write(entry[0])
      this.write(entry[1])
    }
    this.depth--
  }

  private enter(): void {
    if (++this.depth <= DEEPEST) return
    throw new MsgpackError('TOO_DEEP', this.at, `expected at most ${DEPTH} levels of nesting, and no circles`)
  }

  private text(value: string): void {
    if (isShort(value)) this.shortText(value)
    else this.sized('str', encoder.encode(value))
  }

  private shortText(value: string): void {
    this.head('str', value.length)
    this.room(value.length)
    for (let n = 0; n < value.length; n++) this.buffer[this.at++] = value.charCodeAt(n)
  }

  private ext({ type, data }: Ext): void {
    const fixed = fixedExt[data.length]
    if (fixed) this.byte(fixed)
    else this.head('ext', data.length)
    this.byte(type & 0xff)
    this.block(data)
  }

  private number(value: number): void {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) this.float(value)
    else if (value > 0xffffffff || value < -0x80000000) this.wide(BigInt(value))
    else if (value >= 0x80) this.widths(value, value, [0xcc, 0xcd, 0xce])
    else if (value >= -0x20) this.byte(value & 0xff)
    // -128 is as wide as 255, and -129 as 257: one bit is the sign.
    else this.widths(value, -2 * value - 1, [0xd0, 0xd1, 0xd2])
  }

  private bigint(value: bigint): void {
    if (Number.isSafeInteger(Number(value))) this.number(Number(value))
    else if (fits64(value)) this.wide(value)
    else this.write({ $int: String(value) })
  }

  private wide(value: bigint): void {
    this.byte(value < 0n ? 0xd3 : 0xcf)
    this.room(8)
    this.view.setBigUint64(this.at, BigInt.asUintN(64, value))
    this.at += 8
  }

  private float(value: number): void {
    this.byte(0xcb)
    this.room(8)
    this.view.setFloat64(this.at, value)
    this.at += 8
  }

  private sized(kind: Sized, bytes: Uint8Array): void {
    this.head(kind, bytes.length)
    this.block(bytes)
  }

  private head(kind: Sized, length: number): void {
    const { most, short, wide } = heads[kind]
    if (length <= most) this.byte(short + length)
    else this.widths(length, length, wide)
  }

  /** Writes a number in 1, 2 or 4 bytes, as its span asks, after the first byte of that width. */
  private widths(value: number, span: number, [one, two, four]: [number, number, number]): void {
    if (one && span <= 0xff) this.bigEndian(one, value, 1)
    else if (span <= 0xffff) this.bigEndian(two, value, 2)
    else this.bigEndian(four, value, 4)
  }

  private bigEndian(first: number, value: number, width: number): void {
    this.byte(first)
    for (let shift = 8 * (width - 1); shift >= 0; shift -= 8) this.byte((value >>> shift) & 0xff)
  }

  private byte(value: number): void {
    this.room(1)
    this.buffer[this.at++] = value
  }

  private block(bytes: Uint8Array): void {
    this.room(bytes.length)
    this.buffer.set(bytes, this.at)
    this.at += bytes.length
  }

  private room(length: number): void {
    if (this.at + length <= this.buffer.length) return
    const grown = new Uint8Array(Math.max(2 * this.buffer.length, this.at + length))
    grown.set(this.buffer)
    this.buffer = grown
    this.view = new DataView(grown.buffer)
  }
}
