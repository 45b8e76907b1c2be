// Converts replies of Redis to JSON byte by byte, because intermediate values would make the gateway slow.

import { COLON, MINUS, PLUS, STAR } from './resp.ts'

export type Encoding = 'text' | 'base64'

export function oneResult(reply: Buffer, encoding: Encoding): Buffer {
  const out = createWriter(reply.length, encoding)
  out.result(reply)
  return out.bytes()
}

export function manyResults(replies: Buffer[], encoding: Encoding): Buffer {
  const out = createWriter(
    replies.reduce((size, reply) => size + reply.length, 0),
    encoding,
  )
  out.list(replies)
  return out.bytes()
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const CR = 0x0d
/** From this number of bytes on, the native function is faster than a loop. */
const LONG = 512

function createWriter(size: number, encoding: Encoding) {
  let out = Buffer.allocUnsafe(64 + size + (size >> 2))
  let end = 0
  let raw: Buffer = out
  let at = 0

  function reserve(room: number) {
    if (end + room <= out.length) return
    const grown = Buffer.allocUnsafe(2 * (end + room))
    out.copy(grown, 0, 0, end)
    out = grown
  }

  function literal(words: string) {
    reserve(words.length)
    end += out.write(words, end, 'latin1')
  }

  function result(reply: Buffer) {
    raw = reply
    at = 0
    if (reply[0] === MINUS) {
      literal('{"error":')
      at = 1
      quoted(line())
    } else if (reply.length === 5 && reply.toString('latin1', 0, 3) === '+OK') {
      literal('{"result":"OK"')
    } else {
      literal('{"result":')
      element()
    }
    literal('}')
  }

  function list(replies: Buffer[]) {
    literal('[')
    for (let i = 0; i < replies.length; i++) {
      if (i > 0) literal(',')
      result(replies[i]!)
    }
    literal(']')
  }

  function element() {
    const type = raw[at++]
    if (type === COLON) return number()
    if (type === PLUS || type === MINUS) return string(at, line())
    const size = count()
    if (size < 0) return literal('null')
    if (type === STAR) return array(size)
    const from = at
    at += size + 2
    string(from, from + size)
  }

  function array(size: number) {
    literal('[')
    for (let i = 0; i < size; i++) {
      if (i > 0) {
        reserve(1)
        out[end++] = COMMA
      }
      element()
    }
    literal(']')
  }

  function number() {
    const from = at
    const to = line()
    reserve(to - from)
    raw.copy(out, end, from, to)
    end += to - from
  }

  function string(from: number, to: number) {
    if (encoding === 'text') return quoted(to, from)
    literal(`"${raw.toString('base64', from, to)}"`)
  }

  function quoted(to: number, from = 1) {
    if (to - from > LONG) return stringified(from, to)
    reserve(2 * (to - from) + 2)
    let write = end
    out[write++] = QUOTE
    for (let i = from; i < to; i++) {
      const byte = raw[i]!
      if (byte < 0x20 || byte > 0x7e) return stringified(from, to)
      if (byte === QUOTE || byte === BACKSLASH) out[write++] = BACKSLASH
      out[write++] = byte
    }
    out[write++] = QUOTE
    end = write
  }

  function stringified(from: number, to: number) {
    const json = JSON.stringify(raw.toString('utf8', from, to))
    reserve(Buffer.byteLength(json))
    end += out.write(json, end)
  }

  function line() {
    let stop = at
    while (raw[stop] !== CR) stop++
    at = stop + 2
    return stop
  }

  function count() {
    if (raw[at] === MINUS) {
      line()
      return -1
    }
    let size = 0
    for (; raw[at] !== CR; at++) size = size * 10 + raw[at]! - 0x30
    at += 2
    return size
  }

  return { result, list, bytes: () => out.subarray(0, end) }
}
