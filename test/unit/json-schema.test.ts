import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { encodeValue } from '../../src/core/codec/value.ts'
import { checkOf } from '../../src/core/json-schema/index.ts'
import { patternOf } from '../../src/core/json-schema/pattern.ts'
import { jsonSchemaOf } from '../../src/core/json-schema/zod.ts'
import { schemaHash, schemasOf } from '../../src/core/schema-hash.ts'
import { port } from '../../src/index.ts'

const said = (schema: unknown, value: unknown): string => {
  const fault = checkOf(schema)(value, JSON.stringify(value).length)
  return fault ? `${fault.path.join('.')}: ${fault.message}` : 'right'
}

const order = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1 },
    lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1, maxItems: 2 },
    state: { enum: ['new', 'paid'] },
  },
  required: ['id', 'lines'],
  additionalProperties: false,
  $defs: { line: { type: 'object', properties: { sku: { type: 'string', pattern: '^[A-Z]{2}-\\d+$' } } } },
}

const byKind = JSON.parse('{"if":{"type":"string"},"then":{"maxLength":1},"else":{"type":"number"}}')

test.each<[unknown, unknown, string]>([
  [order, { id: 1, lines: [{ sku: 'AB-12' }] }, 'right'],
  [order, { id: 1.5, lines: [{}] }, 'id: expected a whole number, got 1.5'],
  [order, { lines: [{}] }, 'id: is missing'],
  [order, { id: 1, lines: [{}], more: 1 }, 'more: unknown member'],
  [
    order,
    { id: 1, lines: [{ sku: 'ab-12' }] },
    'lines.0.sku: expected a string that matches ^[A-Z]{2}-\\d+$, got "ab-12"',
  ],
  [order, { id: 0, lines: [{}] }, 'id: expected at least 1, got 0'],
  [order, { id: 1, lines: [] }, 'lines: expected at least 1 item, got 0'],
  [order, { id: 1, lines: [{}], state: 'old' }, 'state: expected "new" or "paid", got "old"'],
  [{ type: ['string', 'null'] }, 1, ': expected a string or null, got 1'],
  [{ const: { a: 1, b: [2] } }, { b: [2], a: 1 }, 'right'],
  [{ type: 'array', uniqueItems: true }, [{ a: 1 }, { a: 1 }], ': expected unique items, got duplicates'],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], '1: expected no value here, got 1'],
  [{ contains: { type: 'number' } }, ['a'], ': expected at least 1 item matching "contains", got 0'],
  [{ patternProperties: { '^x': { type: 'number' } } }, { xa: 'b' }, 'xa: expected a number, got "b"'],
  [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, 'abc: this member name is not allowed'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'b: is missing'],
  [
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
    true,
    ': expected a value that matches one of 2 schemas, got true',
  ],
  [
    { anyOf: [{ type: 'string' }, { properties: { a: { type: 'number' } } }] },
    { a: 'x' },
    'a: expected a number, got "x"',
  ],
  [
    { oneOf: [{ type: 'number' }, { type: 'integer' }] },
    1,
    ': expected a value that matches exactly one of 2 schemas, got 1, which matches 2',
  ],
  [{ not: { type: 'null' } }, null, ': expected a value that does not match the schema of "not", got null'],
  [byKind, 'ab', ': expected at most 1 character, got "ab"'],
  [byKind, [], ': expected a number, got a list of 0'],
  [{ multipleOf: 0.01 }, 0.07, 'right'],
  [{ exclusiveMaximum: 5 }, 5, ': expected less than 5, got 5'],
  [true, 1, 'right'],
])('%j of %j: %s', (schema, value, answer) => expect(said(schema, value)).toBe(answer))

test('zod schemas exported as JSON Schema are accepted, and mean the same', () => {
  const schema = z.object({
    name: z.string().min(1).max(5),
    tags: z.array(z.enum(['a', 'b'])).optional(),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('x'), n: z.int() }),
      z.object({ type: z.literal('y'), at: z.iso.datetime() }),
    ]),
    extra: z.record(z.string(), z.number().nullable()).default({}),
    id: z.uuid().optional(),
  })
  const check = checkOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  const values = [
    { name: 'a', kind: { type: 'x', n: 1 } },
    { name: 'a', kind: { type: 'x', n: 1.5 } },
    { name: 'a', kind: { type: 'y', at: '2027-01-01T00:00:00Z' } },
    { name: 'a', kind: { type: 'y', at: 'tomorrow' } },
    { name: '', kind: { type: 'x', n: 1 } },
    { name: 'a', kind: { type: 'x', n: 1 }, tags: ['a', 'c'] },
    { name: 'a', kind: { type: 'x', n: 1 }, extra: { b: null, c: 1 } },
    { name: 'a', kind: { type: 'x', n: 1 }, extra: { b: 'x' } },
    { name: 'a', kind: { type: 'x', n: 1 }, id: 'c56a4180-65aa-42ec-a945-5fd21dec0538' },
    { name: 'a', kind: { type: 'x', n: 1 }, id: 'c56a4180' },
    {},
    null,
  ]
  for (const value of values)
    expect({ value, right: !check(value, 1_000) }).toEqual({ value, right: schema.safeParse(value).success })
})

const nested = (depth: number): unknown => (depth === 0 ? {} : { items: nested(depth - 1) })

test.each<[string, unknown, string]>([
  ['a word that is not known', { requird: ['a'] }, 'requird: this JSON Schema keyword is not supported'],
  [
    'an unknown type',
    { properties: { a: { type: 'text' } } },
    'properties.a.type: expected one or more of string, number, integer, boolean, object, array, null, got "text"',
  ],
  [
    'a place elsewhere',
    { $ref: 'https://example.com/schema.json' },
    'like "#/$defs/item", got "https://example.com/schema.json"',
  ],
  ['an unknown place', { $ref: '#/$defs/a' }, '$ref: this reference points to nothing'],
  ['a pattern that looks ahead', { pattern: '^(?=a)' }, 'pattern: expected a pattern without lookahead'],
  ['a pattern that looks back at a group', { pattern: '(a)\\1' }, 'pattern: expected a pattern without backreferences'],
  ['a pattern that is none', { pattern: '(' }, 'pattern: Invalid regular expression'],
  ['a pattern that is huge written out', { pattern: '((a{99}){99}){99}' }, 'pattern: expected a pattern of at most'],
  ['a pattern of nothing, many times', { pattern: '(((){999}){999}){999}' }, 'pattern: expected a pattern of at most'],
  ['a schema that is too deep', nested(80), 'expected at most 32 levels of nested schemas'],
  ['a schema that is too large', { anyOf: Array.from({ length: 2_001 }, () => ({})) }, 'expected at most 2000 schemas'],
  ['no schema', 7, 'expected a schema: an object, true or false, got 7'],
  ['a list of one schema', { anyOf: {} }, 'anyOf: expected a list of schemas, got an object'],
  ['a map of schemas', { properties: ['a'] }, 'properties: expected an object of schemas, got a list of 1'],
  ['a long pattern', { pattern: 'a'.repeat(501) }, 'pattern: expected a pattern of at most 500 characters, got 501'],
])('a schema with %s is refused, with its place', (_, schema, message) => {
  let caught: { path?: unknown[]; message: string } = { message: 'nothing' }
  try {
    checkOf(schema)
  } catch (error) {
    caught = error as never
  }
  expect(`${caught.path?.join('.')}: ${caught.message}`).toContain(message)
})

describe('every pattern is matched in a bounded number of steps', () => {
  test.each(['(a+)+$', '^(a|a)*$', '^(.*)*x$', '(a|ab)(c|bcd)*$', '\\w*\\w*\\w*\\w*\\w*!', '(.?){300}x'])(
    '%s',
    (pattern) => {
      const text = `${'a'.repeat(100_000)}-`
      let steps = 0
      try {
        patternOf(pattern)(text, (n) => {
          steps += n
          if (steps > 500_000) throw new Error('enough')
        })
      } catch (error) {
        expect(String(error)).toContain('enough')
      }
      expect(said({ pattern }, text)).not.toBe('right')
    },
  )

  test('a recursive schema, and a schema with repeated references', () => {
    const round = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }
    expect(said(round, 1)).toBe(': takes too long to check: expected a simpler value')
    const again = {
      $ref: '#/$defs/a0',
      $defs: Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [
          `a${i}`,
          i === 29 ? { type: 'string' } : { allOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
        ]),
      ),
    }
    expect(said(again, 'x')).toBe(': takes too long to check: expected a simpler value')
  })
})

test.each<[string, string, boolean]>([
  ['^a{2,3}$', 'aaa', true],
  ['^a{2,3}$', 'aaaa', false],
  ['^a{2,}$', 'aaaa', true],
  ['b|c', 'abd', true],
  ['^(?:ab|c)+$', 'abcab', true],
  ['^(?:ab|c)+$', 'abca', false],
  ['\\bcat\\b', 'a cat!', true],
  ['\\bcat\\b', 'concat', false],
  ['^[^\\]a-c-]+$', 'xyz', true],
  ['^[^\\]a-c-]+$', 'x-z', false],
  ['^\\p{Lu}\\u0061.$', 'ÄaÜ', true],
  ['^.$', '😀', true],
  ['^$', '', true],
  ['a.c', 'a\nc', false],
  ['^(?<year>\\d{4})-\\d\\d?$', '2027-1', true],
])('the pattern %s is in %j: %s', (pattern, text, is) => {
  expect(patternOf(pattern)(text, () => {})).toBe(is)
  expect(new RegExp(pattern, 'u').test(text)).toBe(is)
})

describe('a strict check', () => {
  const faultOf = (schema: object, value: unknown) => checkOf(schema, { strict: true })(value, 10)
  const properties = { a: { type: 'number' }, in: { properties: { b: {} } } }

  test.each([
    ['a member that the schema does not name', { properties }, { a: 1, c: 2 }, ['c']],
    ['one inside of another', { properties }, { in: { c: 2 } }, ['in', 'c']],
    ['one in an item', { items: { properties } }, [{ a: 1 }, { c: 1 }], [1, 'c']],
    ['an object that no form describes', { anyOf: [{ properties }, { properties: { c: {} } }] }, { d: 1 }, []],
    ['one behind a $ref', { $ref: '#/$defs/x', $defs: { x: { properties } } }, { c: 1 }, ['c']],
  ])('refuses %s', (_, schema, value, path) => {
    const message = path.length > 0 ? 'unknown member' : 'expected a value that matches one of 2 schemas, got an object'
    expect(faultOf(schema, value)).toEqual({ path, message })
    expect(checkOf(schema)(value, 10)).toBeUndefined()
  })

  test.each([
    ['members of any name', { properties, additionalProperties: true }, { c: 1 }],
    ['an object without described members', { type: 'object' }, { c: 1 }],
    ['members that parts name together', { allOf: [{ properties }, { properties: { c: {} } }] }, { a: 1, c: 2 }],
    [
      'members that a part adds',
      { properties, anyOf: [{ properties: { c: {} } }, { properties: { d: {} } }] },
      { c: 2 },
    ],
    ['values that a negation describes', { not: { properties: { a: { const: 1 } } } }, { a: 2, c: 2 }],
  ])('accepts %s', (_, schema, value) => {
    expect(faultOf(schema, value)).toBeUndefined()
  })
})

describe('the hash of the schemas of a class', () => {
  const encoded = (value: unknown) => encodeValue(value)

  test('is the same for another order of members, and differs for another schema or port', () => {
    const hash = schemaHash({ args: encoded({ type: 'object', required: ['a'] }), in: {} })
    expect(hash).toMatch(/^[0-9a-f]{16}$/)
    expect(schemaHash({ args: encoded({ required: ['a'], type: 'object' }) })).toBe(hash)
    expect(schemaHash({ args: encoded({ required: ['b'], type: 'object' }) })).not.toBe(hash)
    expect(schemaHash({ result: encoded({ type: 'object', required: ['a'] }) })).not.toBe(hash)
    expect(schemaHash({ in: { n: { schema: encoded(true) } } })).not.toBe(
      schemaHash({ out: { n: { schema: encoded(true) } } }),
    )
  })

  test('is absent without schemas, and the same for a function and for its published form', () => {
    expect(schemaHash({ in: { n: {} }, out: {} })).toBeUndefined()
    const worker = {
      class: 'x',
      args: z.object({ a: z.number() }),
      in: { n: port(z.string()) },
      perform: () => undefined,
    }
    const published = { args: jsonSchemaOf(worker.args)!, in: { n: { schema: jsonSchemaOf(z.string())! } }, out: {} }
    expect(schemasOf([worker])).toEqual({ 'default/x': schemaHash(published) })
    expect(schemasOf([{ ...worker, checked: 'run' }])).toEqual({})
  })
})
