import { expect, test } from 'vitest'
import * as z from 'zod'
import { check } from '../../src/core/issues.ts'
import { resultMap } from '../../src/core/jq.ts'
import { changes } from '../../src/core/run.ts'
import { bulkInput, historyQuery, jobInput, jobQuery } from '../../src/core/schemas.ts'
import { pushed } from '../../src/facades/jq/shapes.ts'

const DURATION = 'expected a duration in seconds or like "5m", "1h30m", "3 days"'

test.each<[object, string]>([
  [{ retry: { backoff: { base: 'soon' } } }, `retry.backoff.base: ${DURATION}, got "soon"`],
  [{ retry: { backoff: { base: 1, cap: '1x' } } }, `retry.backoff.cap: ${DURATION}, got "1x"`],
  [{ retry: { backoff: { delays: ['x'] } } }, `retry.backoff.delays[0]: ${DURATION}, got "x"`],
  [{ retry: { backoff: 'soon' } }, `retry.backoff: ${DURATION}, got "soon"`],
  [{ retry: { backoff: true } }, 'retry.backoff: expected an object, a number or a string, got true'],
  [{ unique: 7 }, 'unique: expected a string or an object, got 7'],
  [{ unique: { key: 'a', until: 'x' } }, 'unique.until: expected "started" or "ended" or "deleted", got "x"'],
  [{ unique: { key: 7 } }, 'unique.key: expected a string, got 7'],
  [{ repeat: {} }, 'repeat: expected a string, an object with cron or an object with bedrock, got an object'],
])('an option with several forms names the matching ones: %j', (options, message) => {
  expect(() => check(jobInput, { class: 'resize', ...options })).toThrow(message)
})

test.each<[z.ZodType, object, string | RegExp]>([
  [changes, { end: 'completed', ops: [{ op: 'wirte' }] }, /^ops\[0\]\.op: expected "\w+", .* or "\w+", got "wirte"$/],
  [changes, { end: 'completed', ops: [{}] }, 'ops[0].op: is missing'],
  [resultMap, { type: 'done' }, 'type: expected "success" or "failure", got "done"'],
  [pushed, { name: 'a', argument: '1', timeout: 0 }, 'timeout: expected at least 0.001, got 0'],
  [z.strictObject({ n: z.number().positive() }), { n: 0 }, 'n: expected more than 0, got 0'],
  [z.strictObject({ n: z.number().lt(5) }), { n: 5 }, 'n: expected less than 5, got 5'],
  [z.strictObject({ n: z.tuple([z.number()]) }), { n: 5 }, 'n: expected a list, got 5'],
  [historyQuery, { parent: 'abc' }, 'parent: expected a whole number, got "abc"'],
  [
    z.strictObject({ odd: z.int().refine((n) => n % 2) }),
    { odd: 4 },
    'odd: expected a value that passes the custom check of its schema, got 4',
  ],
])('a message names the expected and the received value: %#', (schema, input, message) => {
  expect(() => check(schema, input)).toThrow(message)
})

test.each<[z.ZodType, object, string]>([
  [bulkInput, { action: 'retry' }, 'filter: is missing'],
  [bulkInput, { action: 'move', ids: [1] }, 'to: is required if "action" is "move", and not allowed otherwise'],
  [changes, { end: 'completed', pause: { until: 1 } }, 'pause: is allowed only if "end" is "suspended"'],
  [changes, { end: 'failed', saidAt: 'now' }, 'saidAt: expected a time such as "2027-01-01T09:00:00Z", got "now"'],
  [jobQuery, { sort: 'ended', status: 'queued' }, 'status: expected only statuses of ended jobs, got "queued"'],
  [jobQuery, { sort: 'ended', text: 'a' }, 'text: is not allowed with sort=ended'],
  [
    jobInput,
    { class: 'resize', unique: { key: 'a', debounce: { wait: 5, max: 2 } } },
    'unique.debounce.max: must be at least "wait"',
  ],
  [
    jobInput,
    { class: 'resize', callback: { url: 'https://example.com', headers: { Host: 'b' } } },
    'callback.headers: expected no header that sidejob sets itself, got Host',
  ],
])('a rule over several fields is not reported with a value that was not sent: %#', (schema, input, message) => {
  expect(() => check(schema, input)).toThrow(expect.objectContaining({ message }))
})
