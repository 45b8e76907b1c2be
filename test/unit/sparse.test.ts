// Checking only what is there finds what checking everything finds.

import { expect, test } from 'vitest'
import * as z from 'zod'
import { sparse } from '../../src/core/sparse.ts'

const shape = {
  queue: z.string().default('default'),
  class: z.string(),
  at: z.number().optional(),
  note: z.string().min(3).nullable().optional(),
  tags: z.array(z.string()).optional(),
}
const notBoth = (given: { at?: number; note?: string | null }) => given.at === undefined || given.note === undefined

const full = z.strictObject(shape).refine(notBoth, 'got both')
const lean = sparse(z.strictObject(shape).refine(notBoth, 'got both'))

test.each([
  [{ class: 'a' }],
  [{ class: 'a', queue: 'q', at: 1, tags: ['x'] }],
  [{ class: 'a', at: undefined }],
  [{ class: 'a', note: null }],
  [{}],
  [{ at: 'x' }],
  [{ class: 1, note: 'ab', tags: [1] }],
  [{ class: 'a', at: 1, note: 'abc' }],
  [{ class: 'a', other: 1, more: 2 }],
  [[]],
  [null],
  ['text'],
  [7],
])('%j is judged alike', (given) => {
  const [one, other] = [full.safeParse(given), lean.safeParse(given)]
  expect(other.data).toEqual(one.data)
  expect(other.error?.issues).toEqual(one.error?.issues)
})

test('it is still the schema that it was', () => {
  expect(Object.keys(lean.shape)).toEqual(Object.keys(full.shape))
  expect(z.toJSONSchema(lean, { io: 'input' })).toEqual(z.toJSONSchema(full, { io: 'input' }))
})

test('it stays lean behind what it could not judge', () => {
  let asked = 0
  const counted = z
    .string()
    .optional()
    .refine(() => ++asked > 0)
  const schema = sparse(z.strictObject({ class: z.string(), note: counted.optional() }).refine(() => true))
  schema.safeParse([])
  schema.parse({ class: 'a' })
  expect(asked).toBe(0)
})
