import { DEPTH } from './json.ts'
import { Raw } from './json-writer.ts'
import { Ext, fitsIn64Bits, MsgpackError, SHORT } from './msgpack.ts'

export const writeMsgpack = (tree: unknown): Uint8Array => {
  const writer = new Writer()
  writer.write(tree)
  return writer.bytes()
}

type Sized = 'str' | 'bin' | 'array' | 'map' | 'ext'

// A length up to `most` is part of the first byte. A larger length follows in 1, 2 or 4 bytes.
const heads: Record<Sized, { most: number; short: number; wide: [one: number, two: number, four: number] }> = {
  str: { most: 31, short: 0xa0, wide: [0xd9, 0xda, 0xdb] },
  bin: { most: -1, short: 0, wide: [0xc4, 0xc5, 0xc6] },
  array: { most: 15, short: 0x90, wide: [0, 0xdc, 0xdd] },
  map: { most: 15, short: 0x80, wide: [0, 0xde, 0xdf] },
  ext: { most: -1, short: 0, wide: [0xc7, 0xc8, 0xc9] },
}

const fixedExt: Record<number, number> = { 1: 0xd4, 2: 0xd5, 4: 0xd6, 8: 0xd7, 16: 0xd8 }

// This is one more than in the reader, because an integer at the deepest level may become the map `{ "$int": … }`.
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
    throw new MsgpackError(
      'TOO_DEEP',
      this.at,
      `expected at most ${DEPTH} levels of nesting, and no circular references`,
    )
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
    // One bit is the sign, so -128 needs one byte (like 255), and -129 needs two bytes (like 257).
    else this.widths(value, -2 * value - 1, [0xd0, 0xd1, 0xd2])
  }

  private bigint(value: bigint): void {
    if (Number.isSafeInteger(Number(value))) this.number(Number(value))
    else if (fitsIn64Bits(value)) this.wide(value)
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
