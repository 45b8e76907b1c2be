import { decode, encode } from '@msgpack/msgpack'
import { expect, test } from 'vitest'
import { CLOSED, type Closed, each, lenient, list, maps, OPEN, type Pattern } from '../../src/core/codec/json.ts'
import { Ext, MsgpackError } from '../../src/core/codec/msgpack.ts'
import { parseMsgpack } from '../../src/core/codec/msgpack-reader.ts'
import { writeMsgpack } from '../../src/core/codec/msgpack-writer.ts'
import { raw } from '../../src/core/codec/value.ts'

const oneOrMany = (one: Pattern): Pattern => ({ ...one, ...list(one) })

const seed = Number(process.env.SEED ?? Date.now() % 1e6)
let state = seed
const random = (below: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!

const job = { args: CLOSED, inputs: each(list(CLOSED)), in: each({ default: CLOSED }) } as const

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const closed = (bytes: Uint8Array): string => `~${Buffer.from(bytes).toString('base64')}`

const failure = (bytes: Uint8Array, pattern: Closed = OPEN): MsgpackError => {
  try {
    parseMsgpack(bytes, pattern)
  } catch (error) {
    expect(error).toBeInstanceOf(MsgpackError)
    return error as MsgpackError
  }
  throw new Error(`${Buffer.from(bytes).toString('hex')} was read`)
}

const both: [hex: string, value: unknown][] = [
  ['c0', null],
  ['c2', false],
  ['c3', true],
  ['00', 0],
  ['7f', 127],
  ['cc80', 128],
  ['ccff', 255],
  ['cd0100', 256],
  ['cdffff', 65535],
  ['ce00010000', 65536],
  ['ceffffffff', 4294967295],
  ['cf0000000100000000', 4294967296],
  ['cf001fffffffffffff', Number.MAX_SAFE_INTEGER],
  ['cf0020000000000000', 2n ** 53n],
  ['cfffffffffffffffff', 2n ** 64n - 1n],
  ['ff', -1],
  ['e0', -32],
  ['d0df', -33],
  ['d080', -128],
  ['d1ff7f', -129],
  ['d18000', -32768],
  ['d2ffff7fff', -32769],
  ['d280000000', -2147483648],
  ['d3ffffffff7fffffff', -2147483649],
  ['d38000000000000000', -(2n ** 63n)],
  ['cb3ff8000000000000', 1.5],
  ['cb8000000000000000', -0],
  ['cb7ff8000000000000', Number.NaN],
  ['cb7ff0000000000000', Number.POSITIVE_INFINITY],
  ['a0', ''],
  ['a3616263', 'abc'],
  ['a2c3a9', 'é'],
  ['a3efbbbf', '\ufeff'],
  [`d920${'61'.repeat(32)}`, 'a'.repeat(32)],
  [`da0100${'61'.repeat(256)}`, 'a'.repeat(256)],
  [`db00010000${'61'.repeat(65536)}`, 'a'.repeat(65536)],
  ['c400', new Uint8Array()],
  ['c4020102', new Uint8Array([1, 2])],
  [`c50100${'07'.repeat(256)}`, new Uint8Array(256).fill(7)],
  [`c600010000${'07'.repeat(65536)}`, new Uint8Array(65536).fill(7)],
  ['90', []],
  ['9201c0', [1, null]],
  [`dc0010${'01'.repeat(16)}`, Array(16).fill(1)],
  [`dd00010000${'01'.repeat(65536)}`, Array(65536).fill(1)],
  ['80', {}],
  ['81a16101', { a: 1 }],
  [
    `de0010${Array.from({ length: 16 }, (_, n) => `a1${(97 + n).toString(16)}01`).join('')}`,
    Object.fromEntries([...'abcdefghijklmnop'].map((name) => [name, 1])),
  ],
  ['d4ff07', new Ext(-1, new Uint8Array([7]))],
  ['d5010707', new Ext(1, new Uint8Array(2).fill(7))],
  ['d60107070707', new Ext(1, new Uint8Array(4).fill(7))],
  [`d701${'07'.repeat(8)}`, new Ext(1, new Uint8Array(8).fill(7))],
  [`d87f${'07'.repeat(16)}`, new Ext(127, new Uint8Array(16).fill(7))],
  ['c70080', new Ext(-128, new Uint8Array())],
  ['c70301070707', new Ext(1, new Uint8Array(3).fill(7))],
  [`c8010001${'07'.repeat(256)}`, new Ext(1, new Uint8Array(256).fill(7))],
  [`c90001000001${'07'.repeat(65536)}`, new Ext(1, new Uint8Array(65536).fill(7))],
]

test.each(both.map(([bytes, value]) => [bytes.slice(0, 24), bytes, value]))(
  '%s is read and written',
  (_, bytes, value) => {
    expect(parseMsgpack(hex(bytes as string))).toEqual(value)
    expect(parseMsgpack(hex(bytes as string), CLOSED)).toBe(closed(hex(bytes as string)))
    expect(Buffer.from(writeMsgpack(value)).toString('hex')).toBe(bytes)
  },
)

test.each([
  ['ca3fc00000', 1.5],
  ['cf0000000000000001', 1],
  ['d3ffffffffffffffff', -1],
  ['d90161', 'a'],
  ['db0000000161', 'a'],
  ['dd0000000101', [1]],
  ['df00000001a16101', { a: 1 }],
  ['a2c328', new Uint8Array([0xc3, 0x28])],
  ['8101a161', { 1: 'a' }],
  ['81c4020102c0', { '{"$bin":"AQI="}': null }],
  ['81d4ff07c0', { '{"$ext":[-1,"Bw=="]}': null }],
  ['8192010203', { '[1,2]': 3 }],
])('%s is read too', (bytes, value) => {
  expect(parseMsgpack(hex(bytes))).toEqual(value)
})

test('closed positions keep their bytes, even if a shorter encoding exists', () => {
  const text = (name: string) => Buffer.from(encode(name)).toString('hex')
  const body = hex(`83 ${text('args')} dd00000001cd0001 ${text('inputs')} 81a178 92c0d90161 ${text('class')} a141`)
  expect(parseMsgpack(body, oneOrMany(job))).toEqual({
    args: closed(hex('dd00000001cd0001')),
    inputs: { x: [closed(hex('c0')), closed(hex('d90161'))] },
    class: 'A',
  })
})

test('a slice is cut from a view into a larger buffer', () => {
  const body = hex('ffff 81a4 61726773 9101 ffff').subarray(2, -2)
  expect(parseMsgpack(body, job)).toEqual({ args: closed(hex('9101')) })
})

test('a repeated name is refused in an open map, and kept in a closed value', () => {
  expect(failure(hex('82a16101a16102'))).toMatchObject({ fault: 'REPEATED', offset: 4, code: 'BAD_REQUEST' })
  expect(failure(hex('8201c0a131c0')).message).toContain('"1" twice')
  expect(parseMsgpack(hex('82a16101a16102'), CLOSED)).toBe(closed(hex('82a16101a16102')))
  expect(parseMsgpack(hex('82a16101a16102'), OPEN, { builder: lenient })).toEqual({ a: 2 })
  expect(parseMsgpack(hex('82a16101a13102'), OPEN, { builder: maps })).toEqual(
    new Map([
      ['a', 1],
      ['1', 2],
    ]),
  )
})

test('__proto__ is an ordinary name', () => {
  const read = parseMsgpack(writeMsgpack(JSON.parse('{"__proto__":{"admin":true}}'))) as Record<string, unknown>
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  expect(Object.keys(read)).toEqual(['__proto__'])
})

test.each([
  ['', 0, 'expected at least 1 more bytes, got 0'],
  ['c1', 0, 'expected a value, got the unused type 0xc1'],
  ['9201c1', 2, 'got the unused type 0xc1'],
  ['0102', 1, 'expected the end of the value, got 1 more bytes'],
  ['a56162', 1, 'expected at least 5 more bytes, got 2'],
  ['cd01', 1, 'expected at least 2 more bytes, got 1'],
  ['ddffffffff01', 5, 'expected at least 4294967295 more bytes, got 1'],
  ['dfffffffff01', 5, 'expected at least 8589934590 more bytes, got 1'],
  ['c6ffffffff01', 5, 'expected at least 4294967295 more bytes, got 1'],
  ['dbffffffff', 5, 'expected at least 4294967295 more bytes, got 0'],
])('the bytes %s are refused at byte %d, open and closed', (bytes, offset, why) => {
  expect(failure(hex(bytes))).toMatchObject({ offset, message: expect.stringContaining(why) })
  expect(failure(hex(bytes), CLOSED)).toMatchObject({ offset, message: expect.stringContaining(why) })
})

test('open and closed values may have 200 levels, and deeper values are refused', () => {
  const deep = (levels: number) => hex(`${'81a161'.repeat(levels)}c0`)
  expect(parseMsgpack(deep(200), CLOSED)).toBe(closed(deep(200)))
  expect(writeMsgpack(parseMsgpack(deep(200)))).toEqual(deep(200))
  expect(failure(deep(201), CLOSED)).toMatchObject({ fault: 'TOO_DEEP', offset: 601 })
  expect(failure(new Uint8Array(5_000_000).fill(0x91)).fault).toBe('TOO_DEEP')
  expect(() => parseMsgpack(hex('9190'), OPEN, { depth: 1 })).toThrow(/byte 2: expected at most 1 levels/)
})

test('a circular reference is refused', () => {
  const circle: unknown[] = []
  circle.push(circle)
  expect(() => writeMsgpack(circle)).toThrow(/no circular/)
})

test('closed values in a tree are written unchanged', () => {
  const tree = { a: raw(closed(hex('cd0001'))), b: raw('1'), c: undefined, d: [undefined], e: new Date(0) }
  expect(writeMsgpack(tree)).toEqual(
    Uint8Array.from([...hex('84 a161 cd0001 a162 01 a164 91c0 a165'), ...encode('1970-01-01T00:00:00.000Z')]),
  )
})

test('an integer beyond 64 bits is written as a map with its digits', () => {
  expect(decode(writeMsgpack([2n ** 64n]))).toEqual([{ $int: '18446744073709551616' }])
})

const bytes = (length: number) => Array.from({ length }, () => random(256))
const big = (value: number, width: number) =>
  Array.from({ length: width }, (_, n) => Math.floor(value / 256 ** (width - 1 - n)) % 256)
const sized = (first: number[], length: number) => {
  const at = random(first.length)
  return [first[at]!, ...big(length, 4 / 2 ** (first.length - 1 - at))]
}
const nothing = () => [pick([0xc0, 0xc2, 0xc3])]
const fixed = () => pick([[random(128)], [0xe0 + random(32)]])
const numeric = () =>
  pick([
    [0xcc, 1],
    [0xcd, 2],
    [0xce, 4],
    [0xcf, 8],
    [0xd0, 1],
    [0xd1, 2],
    [0xd2, 4],
    [0xd3, 8],
    [0xca, 4],
    [0xcb, 8],
  ] as const)
const number = () => {
  const [first, width] = numeric()
  return [first, ...bytes(width)]
}
const text = (length = random(40)) => [
  ...(length < 32 && random(2) ? [0xa0 + length] : sized([0xd9, 0xda, 0xdb], length)),
  ...Array(length).fill(97),
]
const bin = (length = random(40)) => [...sized([0xc4, 0xc5, 0xc6], length), ...bytes(length)]
const ext = (length = random(40)) => [...sized([0xc7, 0xc8, 0xc9], length), ...bytes(length + 1)]
const fixedExt = (n = random(5)) => [0xd4 + n, ...bytes(1 + 2 ** n)]
const array = (depth: number, length = random(5)): number[] => [
  ...(random(2) ? [0x90 + length] : sized([0xdc, 0xdd], length)),
  ...Array.from({ length }, () => value(depth)).flat(),
]
const map = (depth: number, length = random(5)): number[] => [
  ...(random(2) ? [0x80 + length] : sized([0xde, 0xdf], length)),
  ...Array.from({ length }, () => [...value(random(2) && depth), ...value(depth)]).flat(),
]
const value = (depth: number): number[] => {
  if (depth > 0 && random(2)) return pick([array, map])(depth - 1)
  return pick([nothing, fixed, number, text, bin, ext, fixedExt])()
}

test(`random values of all widths come out byte for byte (seed ${seed})`, () => {
  for (let n = 0; n < 500; n++) {
    const [args, first, second] = [value(4), value(3), value(3)]
    const body = Uint8Array.from([
      0x82,
      ...encode('args'),
      ...args,
      ...encode('inputs'),
      0x81,
      0xa1,
      0x78,
      0x92,
      ...first,
      ...second,
    ])
    const wires = {
      args: closed(Uint8Array.from(args)),
      inputs: { x: [first, second].map((slice) => closed(Uint8Array.from(slice))) },
    }
    expect(parseMsgpack(body, job)).toEqual(wires)
    expect(writeMsgpack(raw(wires.args))).toEqual(Uint8Array.from(args))
    parseMsgpack(body, OPEN, { builder: lenient })
  }
})

test(`bytes that end early are refused wherever they end (seed ${seed})`, () => {
  for (let n = 0; n < 50; n++) {
    const whole = Uint8Array.from(value(4))
    for (let end = 0; end < whole.length; end++) {
      expect(failure(whole.subarray(0, end), CLOSED).fault).toBe('MALFORMED')
      expect(() => parseMsgpack(whole.subarray(0, end), OPEN, { builder: lenient })).toThrow(MsgpackError)
    }
  }
})

test(`random bytes are read or refused, and nothing else happens (seed ${seed})`, () => {
  for (let n = 0; n < 5_000; n++) {
    const noise = Uint8Array.from(bytes(1 + random(40)))
    for (const pattern of [OPEN, CLOSED] as const) {
      try {
        parseMsgpack(noise, pattern)
      } catch (error) {
        expect(error).toBeInstanceOf(MsgpackError)
      }
    }
  }
})

test(`another implementation reads our output, and we read theirs (seed ${seed})`, () => {
  const leaf = () =>
    pick([
      null,
      true,
      random(2 ** 32),
      -random(2 ** 32),
      random(2 ** 32) / 7,
      'é'.repeat(random(40)),
      Uint8Array.from(bytes(random(300))),
    ])
  const tree = (depth: number): unknown => {
    if (!depth) return leaf()
    const items = Array.from({ length: random(20) }, () => tree(depth - 1))
    return random(2) ? items : Object.fromEntries(items.map((item, n) => [`name ${n}`, item]))
  }
  for (let n = 0; n < 30; n++) {
    const given = tree(3)
    expect(decode(writeMsgpack(given))).toEqual(given)
    expect(parseMsgpack(encode(given))).toEqual(given)
    expect(writeMsgpack(given)).toEqual(encode(given))
  }
})

test('a bulk body of 1,000 jobs is read quickly', () => {
  const args = { to: 'someone@example.com', tags: ['a', 'b'] }
  const body = encode(
    Array.from({ length: 1000 }, (_, n) => ({ queue: 'default', class: 'Mailer', args: { ...args, n }, priority: 0 })),
  )
  const start = performance.now()
  for (let n = 0; n < 20; n++) parseMsgpack(body, oneOrMany(job))
  const took = performance.now() - start
  console.info(`parseMsgpack: ${((20 * body.length) / 1000 / took).toFixed(0)} MB/s`)
  expect(took).toBeLessThan(5_000)
})
