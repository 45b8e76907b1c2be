import { describe, expect, test } from 'vitest'
import {
  type MissedSlots,
  missedSlotsOf,
  missedSlotsText,
  parseMissedSlots,
  slotsFrom,
} from '../../src/core/repeat/passed.ts'
import { nextSlot, parseRepeat } from '../../src/core/repeat.ts'

const HOUR = 3_600_000
const hour = (h: number) => Date.UTC(2026, 4, 4) + h * HOUR
const hourly = (missed: string) => parseRepeat({ cron: '0 * * * *', missed } as never)

type Run = { scheduled: number; started: number; now: number; isSkipped?: boolean; catchingUp?: MissedSlots }

function passed(missed: string, { scheduled, started, now, isSkipped = false, catchingUp }: Run) {
  const repeat = hourly(missed)
  const slot = nextSlot(repeat, { scheduled: hour(scheduled), started: hour(started), finished: hour(now) }, hour(now))
  const moments = { scheduled: hour(scheduled), started: hour(started), now: hour(now) }
  const found = missedSlotsOf(repeat, { ...moments, slot, isSkipped, ...(catchingUp && { catchingUp }) })
  return found && [(found.from - hour(0)) / HOUR, (found.to - hour(0)) / HOUR, found.made]
}

describe.each(['run', 'last', 'skip'])('missed: %s', (missed) => {
  test('a run in time misses no slot', () => {
    expect(passed(missed, { scheduled: 9, started: 9, now: 9.2 })).toBeUndefined()
    expect(passed(missed, { scheduled: 9, started: 9.01, now: 9.99 })).toBeUndefined()
  })
})

test.each<[string, string, Run, unknown]>([
  ['last', 'a run four hours late replaces all of them', { scheduled: 9, started: 12.2, now: 12.5 }, [9, 12, 'one']],
  [
    'last',
    'a run of three hours: the next one replaces the missed slots',
    { scheduled: 9, started: 9, now: 12.5 },
    [10, 12, 'one'],
  ],
  [
    'last',
    'a run over one slot: that is the next, and nothing went by',
    { scheduled: 9, started: 9, now: 10.5 },
    undefined,
  ],
  ['last', 'late and long', { scheduled: 9, started: 11.1, now: 14.5 }, [9, 14, 'one']],
  [
    'skip',
    'left out by a run given back',
    { scheduled: 9, started: 12.2, now: 12.2, isSkipped: true },
    [9, 12, 'none'],
  ],
  ['skip', 'left out while a run was under way', { scheduled: 9, started: 9, now: 12.5 }, [10, 12, 'none']],
  ['skip', 'left out before the slot that ran', { scheduled: 9, started: 12.02, now: 12.03 }, [9, 11, 'none']],
  ['run', 'a run late: each has its own', { scheduled: 9, started: 12.2, now: 12.3 }, [9, 12, 'each']],
  ['run', 'a run long: those behind it have their own', { scheduled: 9, started: 9, now: 12.3 }, [10, 12, 'each']],
])('missed: %s, %s', (missed, _, run, found) => expect(passed(missed, run)).toEqual(found))

test('the report of missed slots begins with the first, and grows while they are run', () => {
  const catchingUp = { from: hour(9), to: hour(12), made: 'each' as const }
  expect(passed('run', { scheduled: 10, started: 12.3, now: 12.4, catchingUp })).toBeUndefined()
  expect(passed('run', { scheduled: 10, started: 12.3, now: 13.4, catchingUp })).toEqual([9, 13, 'each'])
})

test('stored data are read back unchanged', () => {
  const one = { from: hour(1), to: hour(2), made: 'each' as const }
  expect(parseMissedSlots(missedSlotsText(one))).toEqual(one)
})

test('slots end at a moment, at a number, and when a repeat stops', () => {
  const { next } = hourly('run')
  expect(slotsFrom({ next }, hour(1), hour(3), 100)).toEqual([hour(1), hour(2), hour(3)])
  expect(slotsFrom({ next }, hour(1), hour(9), 2)).toEqual([hour(1), hour(2)])
  expect(slotsFrom({ next: (at) => at }, hour(1), hour(9), 9)).toEqual([hour(1)])
  expect(slotsFrom({ next }, hour(4), hour(3), 9)).toEqual([])
})

test.each([
  ['30 2 * * *', 'Europe/Berlin', '2026-10-01', '2027-03-28T01:00:00.000Z', '2027-03-28T02:30:00.000Z'],
  ['0 2 * * SUN', 'America/New_York', '2026-10-01', '2027-03-14T07:00:00.000Z', '2027-03-14T02:00:00.000Z'],
])('%s in %s is moved by a clock change', (cron, tz, from, at, wall) => {
  const moved = parseRepeat({ cron, tz }).moved!(Date.parse(from))!
  expect([moved.at, moved.wall].map((moment) => new Date(moment).toISOString())).toEqual([at, wall])
})

test.each([
  ['30 4 * * *', 'Europe/Berlin'],
  ['30 2 1 6 *', 'Europe/Berlin'],
  ['30 * * * *', 'Europe/Berlin'],
  ['30 2 * * *', 'Asia/Tokyo'],
  ['30 2 * * *', 'UTC'],
])('%s in %s is not moved by a clock change', (cron, tz) => {
  expect(parseRepeat({ cron, tz }).moved?.(Date.parse('2026-10-01'))).toBeUndefined()
})

test('a slot that passed is noted although the first slot had milliseconds', () => {
  const repeat = parseRepeat('SCHEDULED, +20 SECONDS')
  const scheduled = hour(9) + 209
  const [started, now] = [hour(9) + 18_000, hour(9) + 20_100]
  const slot = nextSlot(repeat, { scheduled, started, finished: now }, now)
  const noted = missedSlotsOf(repeat, { scheduled, started, slot, now, isSkipped: false })
  expect(noted).toEqual({ from: hour(9) + 20_000, to: hour(9) + 20_000, made: 'each' })
})
