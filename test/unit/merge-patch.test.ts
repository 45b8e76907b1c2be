// Source: RFC 7396.

import { expect, test } from 'vitest'
import { mergePatch } from '../../src/facades/bedrock/data.ts'

const nested = (depth: number, inner: string): string => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`

test('members below members are merged', () => {
  expect(mergePatch('{"a":{"b":1},"c":2}', '{"a":{"d":3},"c":null}')).toBe('{"a":{"b":1,"d":3}}')
  expect(mergePatch(nested(30, '{"old":1}'), nested(30, '{"new":2}'))).toBe(nested(30, '{"old":1,"new":2}'))
})

test('below 32 levels a patch replaces the old value, because each level would read its text again', () => {
  expect(mergePatch(nested(150, '{"old":1}'), nested(150, '{"new":2}'))).toBe(nested(150, '{"new":2}'))
})

test('a large text that is merged is read once per level, not once per letter', () => {
  const large = JSON.stringify({ text: 'x'.repeat(900_000) })
  const merged = mergePatch(nested(150, large), nested(150, '{"new":2}'))
  expect(merged).toBe(nested(150, '{"new":2}'))
  expect(mergePatch(nested(20, large), nested(20, '{"new":2}')).length).toBeGreaterThan(900_000)
})
