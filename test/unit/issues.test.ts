// Errors name the field, the expected forms and the received value.

import { expect, test } from 'vitest'
import { check } from '../../src/core/issues.ts'
import { jobInput } from '../../src/core/schemas.ts'

const DURATION = 'expected a duration in seconds or like "5m", "1h30m", "3 days"'

test.each<[object, string]>([
  [{ retry: { backoff: { base: 'soon' } } }, `retry.backoff.base: ${DURATION}, got "soon"`],
  [{ retry: { backoff: { base: 1, cap: '1x' } } }, `retry.backoff.cap: ${DURATION}, got "1x"`],
  [{ retry: { backoff: { delays: ['x'] } } }, `retry.backoff.delays[0]: ${DURATION}, got "x"`],
  [{ retry: { backoff: 'soon' } }, `retry.backoff: ${DURATION}, got "soon"`],
  [{ retry: { backoff: true } }, 'retry.backoff: expected an object, a number or a string, got true'],
  [{ unique: 7 }, 'unique: expected a string or an object, got 7'],
  [{ unique: { key: 'a', until: 'x' } }, 'unique.until: expected "started" or "ended" or "deleted", got "x"'],
  [{ repeat: {} }, 'repeat: expected a string, an object with cron or an object with bedrock, got an object'],
])('an option with several forms names the matching ones: %j', (options, message) => {
  expect(() => check(jobInput, { class: 'resize', ...options })).toThrow(message)
})
