import { expect, test } from 'vitest'
import { changedPaths, patched } from '../../src/core/merge-patch.ts'

test('members below members are merged, lists and texts are replaced, and null removes a member', () => {
  const of = { retry: { max: 3, backoff: { base: 1 } }, limits: [1, 2], timeout: 5, pull: true }
  expect(patched(of, { retry: { backoff: { cap: 9 } }, limits: [3], timeout: null, pull: undefined })).toEqual({
    retry: { max: 3, backoff: { base: 1, cap: 9 } },
    limits: [3],
    pull: true,
  })
  expect(of.timeout).toBe(5)
  expect(patched({ retry: 'none' }, { retry: { max: 1 }, gone: null })).toEqual({ retry: { max: 1 } })
})

test('a member with the name of an inherited property is an ordinary member', () => {
  const of = JSON.parse('{"in":{"__proto__":{"default":"1"},"n":{}}}') as Record<string, unknown>
  const merged = patched(of, JSON.parse('{"in":{"__proto__":{"schema":"2"},"constructor":{}}}') as typeof of)
  expect(JSON.stringify(merged)).toBe('{"in":{"__proto__":{"default":"1","schema":"2"},"n":{},"constructor":{}}}')
  expect(changedPaths({}, merged)).toEqual(['in'])
})

test('differences are named by their path', () => {
  const [one, other] = [
    { timeout: 1, in: { url: { default: '1' }, n: {} }, limits: [1] },
    { in: { url: { default: '2' }, n: {} }, limits: [1], pull: true },
  ]
  expect(changedPaths(one, other)).toEqual(['timeout', 'in.url.default', 'pull'])
  expect(changedPaths(one, one)).toEqual([])
})
