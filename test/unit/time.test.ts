import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { sleep } from '../../src/core/sleep.ts'
import { duration, iso, time } from '../../src/core/time.ts'

test.each([
  [5, 5_000],
  [0, 0],
  [0.25, 250],
  ['5', 5_000],
  ['1.5', 1_500],
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['5 min', 300_000],
  ['1h30m', 5_400_000],
  ['1h 30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['3 days', 259_200_000],
  ['1 Day', 86_400_000],
  ['2 weeks 1 hour', 1_213_200_000],
  ['10 seconds', 10_000],
  [' 2 hrs ', 7_200_000],
])('the duration %j is %d ms', (given, ms) => {
  expect(duration(given)).toBe(ms)
})

test.each(['', 'soon', '5 parsecs', '-5m', '5m-', 'm', '5m constructor', '1e9999', Number.NaN, -1])(
  'the duration %j is refused',
  (given) => {
    expect(() => duration(given)).toThrow(/expected a duration in seconds or like "5m"/)
  },
)

test('a duration beyond 100 years is refused', () => {
  expect(() => duration('5300 weeks')).toThrow(/at most 100 years/)
  expect(() => duration(Number.POSITIVE_INFINITY)).toThrow(/at most 100 years/)
})

test.each([
  [0, 0],
  [1_795_208_412_000, 1_795_208_412_000],
  ['1795208412000', 1_795_208_412_000],
  ['1970-01-01', 0],
  ['2027-01-01T09:00:00Z', 1_798_794_000_000],
  ['2027-01-01T09:00:00+01:00', 1_798_790_400_000],
  ['2027-01-01T09:00:00-0530', 1_798_813_800_000],
  ['2027-01-01T09:00Z', 1_798_794_000_000],
  ['2027-01-01 09:00:00.123456Z', 1_798_794_000_123],
  ['2028-02-29T00:00:00Z', 1_835_395_200_000],
])('the time %j is %d', (given, ms) => {
  expect(time(given)).toBe(ms)
})

test.each([
  '',
  'tomorrow',
  '2027-01-01T09:00:00',
  '2027-02-29T00:00:00Z',
  '2027-02-30T00:00:00Z',
  '2027-13-01',
  '2027-00-10',
  '2027-01-00',
  '2027-01-01T24:00:00Z',
  '2027-01-01T09:60:00Z',
  '2027-01-01T09:00:00+25:00',
  '27-1-1',
  1.5,
  Number.NaN,
])('the time %j is refused', (given) => {
  expect(() => time(given)).toThrow(/expected a time like "2027-01-01T09:00:00Z"/)
})

test('a time before 1970 or after 9999 is refused', () => {
  expect(() => time(-1)).toThrow(/from 1970 to 9999/)
  expect(() => time(1e15)).toThrow(/from 1970 to 9999/)
})

test('a sleep that ended left its listener on the signal', async () => {
  const { signal } = new AbortController()
  await sleep(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a time is written in UTC', () => {
  expect(iso(1_798_794_000_000)).toBe('2027-01-01T09:00:00.000Z')
})
