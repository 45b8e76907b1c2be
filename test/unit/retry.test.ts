import { expect, test } from 'vitest'
import { requestDelay, retryDelay } from '../../src/core/retry.ts'
import { Later } from '../../src/core/worker.ts'

test('a request without an answer is sent again after 50 ms, and each further delay is four times as long', () =>
  expect([1, 2, 3].map(requestDelay)).toEqual([50, 200, 800]))

test('a failed run waits twice as long each time, up to the cap, and at least for the requested time', () => {
  const retry = { max: 20, backoff: { jitter: 0 } }
  expect([1, 2, 3, 20].map((n) => retryDelay(retry, n, 0))).toEqual([10_000, 20_000, 40_000, 3_600_000])
  expect(retryDelay(retry, 21, 0)).toBeUndefined()
  expect(retryDelay(retry, 1, 0, 15_000)).toBe(15_000)
})

test('a list of delays replaces doubling, and its last delay applies to all later retries', () => {
  const retry = { max: 9, backoff: { delays: [1_000, 5_000], jitter: 0 } }
  expect([1, 2, 3].map((n) => retryDelay(retry, n, 0.5))).toEqual([1_000, 5_000, 5_000])
})

test('a function says in milliseconds or in words how long a retry must wait', () =>
  expect([{ after: 90_000 }, { after: '90 s' }, {}].map((options) => new Later('busy', options).after)).toEqual([
    90_000, 90_000, 0,
  ]))
