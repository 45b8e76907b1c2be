import { expect, test } from 'vitest'
import { readList, readObject, tryRead } from '../../src/core/readable.ts'

test.each(['', null, undefined, '{broken', '7', '"text"', 'null'])('%j is no object', (text) =>
  expect(readObject(text)).toBeUndefined(),
)

test('an object and a list are read', () => {
  expect(readObject('{"a":1}')).toEqual({ a: 1 })
  expect(readList('["a",1,"b"]')).toEqual(['a', 'b'])
  expect(readList('{"a":1}')).toEqual([])
  expect(tryRead(() => 7)).toBe(7)
})
