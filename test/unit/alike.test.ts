import { expect, test } from 'vitest'
import * as z from 'zod'
import { alike, isAlikeBut } from '../../src/core/alike.ts'

let asked = 0
const counted = z.string().refine(() => ++asked > 0)
const item = z.strictObject({
  class: counted,
  at: z.number().default(7),
  args: z.string().max(3).optional(),
  tags: z.array(z.string()).optional(),
})
const full = z.array(item).min(1).max(5)
const quick = alike(item, { by: 'class', members: ['args', 'tags'], most: 5 })

test.each([
  [[{ class: 'a', args: '1' }]],
  [
    [
      { class: 'a', args: '1' },
      { class: 'a', args: '2' },
      { class: 'b', args: '2' },
      { class: 'b' },
      { class: 'b', args: '3' },
    ],
  ],
  [[{ class: 'a' }, { class: 'a' }]],
  [
    [
      { class: 'a', at: 1, args: '1' },
      { class: 'a', args: '1' },
      { class: 'a', at: 1, args: '1' },
    ],
  ],
  [
    [
      { class: 'a', tags: ['x'], args: '1' },
      { class: 'a', tags: ['y'], args: '1' },
    ],
  ],
  [
    [
      { class: 'a', args: '1' },
      { class: 'a', args: 'too long' },
    ],
  ],
  [
    [
      { class: 'a', args: '1' },
      { class: 'a', args: 1 },
    ],
  ],
  [
    [
      { class: 'a', args: '1' },
      { class: 'a', args: '1', other: 1 },
    ],
  ],
  [[{ class: 'a', args: '1' }, null]],
  [[{ class: 'a', args: '1' }, [], 'text']],
  [[]],
  [Array.from({ length: 6 }, () => ({ class: 'a', args: '1' }))],
  [{ class: 'a' }],
  ['text'],
  [null],
  [
    [
      { class: 'a', at: 1 },
      { class: 'b', at: 2, args: '1' },
      { class: 'a', at: 1, args: '2', tags: ['x'] },
      { class: 'b', at: 2 },
    ],
  ],
])('the quick parser returns for %j what the schema returns', (given) => {
  expect(quick(given)).toEqual(full.safeParse(given).data)
})

test('equal members of two rows are checked once', () => {
  asked = 0
  quick(['1', '2', '3'].map((args) => ({ class: 'a', args })))
  expect(asked).toBe(1)
})

test('each parsed row is its own object', () => {
  const [one, other] = quick([{ class: 'a' }, { class: 'a' }]) as object[]
  expect(one).not.toBe(other)
})

test.each([
  [{ a: 1, x: 1 }, { a: 1, x: 2 }, true],
  [{ a: 1 }, { a: 1, x: 2 }, true],
  [{ a: 1, x: 1 }, { a: 2, x: 1 }, false],
  [{ a: 1, b: 1 }, { a: 1 }, false],
  [{ a: 1 }, { a: 1, b: 1 }, false],
  [{ a: undefined }, { b: 1 }, false],
])('%j and %j differ in x only: %j', (one: object, other: object, is) => {
  expect(isAlikeBut(['x' as never], one, other)).toBe(is)
})
