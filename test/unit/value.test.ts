import { decode } from '@msgpack/msgpack'
import { expect, test } from 'vitest'
import { toBase64 } from '../../src/core/codec/base64.ts'
import { JsonError } from '../../src/core/codec/json.ts'
import { writeJson } from '../../src/core/codec/json-writer.ts'
import { Ext } from '../../src/core/codec/msgpack.ts'
import { writeMsgpack } from '../../src/core/codec/msgpack-writer.ts'
import {
  decodeValue,
  type Encoded,
  encodedSize,
  encodedToJson,
  encodedToMsgpack,
  encodeValue,
  raw,
} from '../../src/core/codec/value.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1e6)
let state = seed
const random = (below: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const slice = (text: string): Encoded => `~${Buffer.from(text, 'hex').toString('base64')}`

test.each([
  [null, 'null'],
  [{ n: 1, nothing: undefined }, '{"n":1}'],
  [[undefined, () => 1], '[null,null]'],
  ['~wA==', '"~wA=="'],
  [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  [JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
])('%o closes as the JSON text %s', (value, text) => {
  expect(encodeValue(value)).toBe(text)
})

test.each([
  [{ b: new Uint8Array([1, 2]) }],
  [Buffer.from('hi')],
  [[2n ** 63n, -(2n ** 63n)]],
  [[Number.NaN, Number.NEGATIVE_INFINITY]],
  [{ e: [new Ext(5, new Uint8Array([1]))] }],
])('%o closes as MessagePack, and opens unchanged', (value) => {
  expect(encodeValue(value)).toMatch(/^~/)
  expect(decodeValue(encodeValue(value))).toEqual(value instanceof Buffer ? new Uint8Array(value) : value)
})

test('a map closes as MessagePack, and opens as an object', () => {
  expect(
    decodeValue(
      encodeValue(
        new Map<unknown, unknown>([
          [1, 'a'],
          ['b', 2n],
        ]),
      ),
    ),
  ).toEqual({ 1: 'a', b: 2 })
})

test.each([
  [undefined, 'undefined'],
  [() => 1, 'function'],
  [Symbol('x'), 'symbol'],
])('%o is no value, and the error shows the received value', (value, came) => {
  expect(() => encodeValue(value)).toThrow(new TypeError(`expected a JSON value, such as null, got ${came}`))
})

test('a value nested too deep to be read again is not closed', () => {
  const deep = (levels: number, leaf: unknown): unknown => (levels ? [deep(levels - 1, leaf)] : leaf)
  expect(decodeValue(encodeValue(deep(200, 1n)))).toEqual(deep(200, 1))
  expect(() => encodeValue(deep(201, 1))).toThrow(JsonError)
  expect(() => encodeValue(deep(201, 1n))).toThrow(/at most 200 levels/)
})

test.each([
  ['{"a":1, "a":2.0}', { a: 2 }],
  ['12345678901234567890', 12345678901234567000],
  [slice('cf00200000000000' + '01'), 2n ** 53n + 1n],
  [slice('81a16101'), { a: 1 }],
  [slice('82a16101a16102'), { a: 2 }],
  [slice('d6ff00000001'), new Ext(-1, new Uint8Array([0, 0, 0, 1]))],
])('%s opens as %o', (closed, value) => {
  expect(decodeValue(closed)).toEqual(value)
})

test('names that differ only in an escape open as different names', () => {
  expect(decodeValue('{"k":{"0\\n":1},"1\\\\":[1]}')).toEqual({ k: { '0\n': 1 }, '1\\': [1] })
  expect(Object.keys(decodeValue('{"k":{"0\\n":1},"1\\"":[1]}') as object)).toEqual(['k', '1"'])
})

test.each([
  ['c0', 'null'],
  ['c40201ff', '{"$bin":"Af8="}'],
  ['cf001fffffffffffff', '9007199254740991'],
  ['cf0020000000000000', '{"$int":"9007199254740992"}'],
  ['cfffffffffffffffff', '{"$int":"18446744073709551615"}'],
  ['d38000000000000000', '{"$int":"-9223372036854775808"}'],
  ['cb7ff8000000000000', '{"$float":"NaN"}'],
  ['cafF800000', '{"$float":"-Infinity"}'],
  ['cb8000000000000000', '-0'],
  ['d6ff00000001', '{"$ext":[-1,"AAAAAQ=="]}'],
  ['c70105ff', '{"$ext":[5,"/w=="]}'],
  ['a2c328', '{"$bin":"wyg="}'],
  ['84a162010102c0039100a163', '{"b":1,"1":2,"null":3,"[0]":"c"}'],
  ['82a16101a16102', '{"a":2}'],
  ['81a95f5f70726f746f5f5f01', '{"__proto__":1}'],
])('the slice %s reads as the JSON text %s', (bytes, text) => {
  expect(encodedToJson(slice(bytes))).toBe(text)
})

test.each([
  ['null', 'c0'],
  ['1.0', '01'],
  ['1e3', 'cd03e8'],
  ['-0', 'cb8000000000000000'],
  ['1.5', 'cb3ff8000000000000'],
  ['9007199254740993', 'cf0020000000000001'],
  ['12345678901234567890', 'cfab54a98ceb1f0ad2'],
  ['18446744073709551615', 'cfffffffffffffffff'],
  ['-9223372036854775808', 'd38000000000000000'],
  ['100000000000000000000', hex(writeMsgpack(1e20))],
  ['18446744073709551616', hex(writeMsgpack({ $int: '18446744073709551616' }))],
  [`-${'9'.repeat(30)}`, hex(writeMsgpack({ $int: `-${'9'.repeat(30)}` }))],
  ['1e400', 'cb7ff0000000000000'],
  ['{"b":1,"1":2,"b":3}', '82a16203a13102'],
  ['{"__proto__":1}', '81a95f5f70726f746f5f5f01'],
  ['{"$bin":"Af8="}', 'c40201ff'],
  ['{"$int":"9007199254740993"}', 'cf0020000000000001'],
  ['{"$int":"5"}', '05'],
  ['{"$float":"NaN"}', 'cb7ff8000000000000'],
  ['{"$ext":[-1,"AAAAAQ=="]}', 'd6ff00000001'],
  ['[{"\\u0024bin":""}]', '91c400'],
])('the JSON text %s becomes the bytes %s', (text, bytes) => {
  expect(hex(encodedToMsgpack(text))).toBe(bytes)
})

test.each<object>([
  { $bin: 'abc' },
  { $bin: 'a===' },
  { $bin: 7 },
  { $bin: 'aGk=', more: 1 },
  { $int: '01' },
  { $int: '1.0' },
  { $int: '99999999999999999999' },
  { $int: 5 },
  { $float: '1' },
  { $ext: [200, ''] },
  { $ext: [1, '', ''] },
  { $ext: [1.5, ''] },
  { $toString: 1 },
  { constructor: 1 },
])('%j only looks like an encoded value, and stays a map', (value) => {
  expect(decode(encodedToMsgpack(encodeValue(value)))).toEqual(value)
})

test('an integer beyond 64 bits converts at the deepest place too', () => {
  const deepest = (inner: string) => '['.repeat(200) + inner + ']'.repeat(200)
  expect(hex(encodedToMsgpack(deepest('9'.repeat(30))))).toContain(hex(writeMsgpack('9'.repeat(30))))
  expect(encodedToMsgpack(deepest('9'.repeat(1_000_000))).length).toBeGreaterThan(1_000_000)
})

test('a value that needs no conversion is returned unchanged', () => {
  const text = '[1.0, "\\u0041",{"a":1,"a":2}]'
  const bytes = 'dd00000001cd0001'
  expect(encodedToJson(text)).toBe(text)
  expect(hex(encodedToMsgpack(slice(bytes)))).toBe(bytes)
  expect(writeJson({ a: raw(text), b: raw(slice(bytes)) })).toBe(`{"a":${text},"b":[1]}`)
  expect(hex(writeMsgpack([raw('1.0'), raw(slice(bytes))]))).toBe(`9201${bytes}`)
})

test.each([
  ['"é"', 4],
  ['"😀"', 6],
  ['null', 4],
  [slice('c0'), 1],
  [slice('9101'), 2],
  [slice('cd0001'), 3],
])('the size of %s is %d', (closed, size) => {
  expect(encodedSize(closed)).toBe(size)
})

const leaf = (): unknown =>
  pick([
    null,
    true,
    random(2 ** 32) - 2 ** 31,
    random(2 ** 32) / 7,
    BigInt(random(2 ** 32)) * 2n ** 31n,
    -(2n ** 63n) + BigInt(random(1000)),
    Number.NaN,
    'é😀"\\\n'.slice(random(3)),
    Uint8Array.from({ length: random(300) }, () => random(256)),
    new Ext(
      random(256) - 128,
      Uint8Array.from({ length: random(20) }, () => random(256)),
    ),
  ])

const tree = (depth: number): unknown => {
  if (!depth) return leaf()
  const items = Array.from({ length: random(6) }, () => tree(depth - 1))
  return random(2) ? items : Object.fromEntries(items.map((item, n) => [`name ${n}`, item]))
}

test(`random values stay equal when they are converted to JSON and back (seed ${seed})`, () => {
  for (let n = 0; n < 500; n++) {
    const slice = `~${toBase64(writeMsgpack(tree(3)))}`
    const text = encodedToJson(slice)
    expect(JSON.parse(text)).toBeDefined()
    expect(`~${toBase64(encodedToMsgpack(text))}`).toBe(slice)
  }
})
