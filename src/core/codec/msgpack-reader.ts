import { toBase64 } from './base64.ts'
import { atField, atItem, CLOSED, type Closed, DEPTH, OPEN, objects, type ParseOptions, type Pattern } from './json.ts'
import { writeJson } from './json-writer.ts'
import { Ext, MsgpackError, SHORT } from './msgpack.ts'
import type { Encoded } from './opaque.ts'

/** A CLOSED value becomes `~` and the base64 of its bytes. Integers beyond 2^53 become bigints. */
export const parseMsgpack = (bytes: Uint8Array, closed: Closed = OPEN, options?: ParseOptions): unknown =>
  new Reader(bytes, options).document(closed)

type Kind = 'nil' | 'bool' | 'uint' | 'int' | 'float' | 'str' | 'bin' | 'array' | 'map' | 'ext'

/** If `width` is 0, `inline` is the value or its length. Otherwise the next `width` bytes contain it. */
type Format = { kind: Kind; width: number; inline: number }

const wide = (kind: Kind, ...widths: number[]): Format[] => widths.map((width) => ({ kind, width, inline: 0 }))
const inline = (kind: Kind, ...values: number[]): Format[] => values.map((inline) => ({ kind, width: 0, inline }))

// For the bytes 0xc0 to 0xdf. MessagePack does not use 0xc1.
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

const shortText = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  if (to - from > SHORT) return undefined
  let text = ''
  for (let at = from; at < to; at++) {
    if (bytes[at]! > 0x7f) return undefined
    text += String.fromCharCode(bytes[at]!)
  }
  return text
}

// A byte order mark stays in the string.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns bytes if the string is not UTF-8, because old MessagePack writers used strings for bytes. */
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
    if (left) this.fail(this.at, `expected the end of the value, got ${left} more bytes`)
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

  private skip(): void {
    const format = this.format()
    const { kind, width } = format
    if (kind === 'array') this.elements(format, 1, this.skipItem)
    else if (kind === 'map') this.elements(format, 2, this.skipMember)
    else if (kind === 'ext') this.need(1 + this.length(format))
    else this.need(kind === 'str' || kind === 'bin' ? this.length(format) : width)
  }

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
    return format ?? this.fail(this.at - 1, 'expected a value, got the unused type 0xc1')
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

  /** Every value takes at least one byte, so a count above the number of remaining bytes is an error. */
  private fits(length: number): void {
    const left = this.bytes.length - this.at
    if (length > left) this.fail(this.at, `expected at least ${length} more bytes, got ${left}`)
  }

  private fail(at: number, why: string): never {
    throw new MsgpackError('MALFORMED', at, why)
  }

  private tooDeep(at: number): never {
    throw new MsgpackError('TOO_DEEP', at, `expected at most ${this.options.depth} levels of nesting`)
  }

  private repeated(name: string, at: number): never {
    throw new MsgpackError('REPEATED', at, `expected each name once, got ${JSON.stringify(name)} twice`)
  }
}
