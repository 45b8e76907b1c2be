import { expect, test } from 'vitest'
import {
  isMissed,
  type Missed,
  type Moments,
  nextSlot,
  nextTimes,
  parseRepeat,
  type Repeat,
  shift,
  slotOfRun,
} from '../../src/core/repeat.ts'

const at = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
const shown = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
const allAt = (moment: number): Moments => ({ scheduled: moment, started: moment, finished: moment })

// Row | scheduled | started | finished = now | repeat | next run | next run if missed slots are skipped
// (empty if it is the same).
const rows = `
1  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, +1 HOUR | 2026-03-11 14:00:00
2  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | STARTED, +1 HOUR | 2026-03-11 14:15:00
3  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, +1 HOUR | 2026-03-11 14:45:00
4  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | HOURLY | 2026-03-11 14:45:00
5  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | DAILY | 2026-03-12 13:45:00
6  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | WEEKLY | 2026-03-18 13:45:00
7  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | scheduled,+1 hour | 2026-03-11 14:00:00
8  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, +1 HOUR, +15 MINUTES | 2026-03-11 14:15:00
9  | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, +1 DAY, START OF DAY, +4 HOURS | 2026-03-12 04:00:00
10 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS | 2026-03-16 06:00:00
11 | 2026-03-16 06:00:00 | 06:00:01 | 06:05:00 | FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS | 2026-03-23 06:00:00
12 | 2026-03-15 23:59:00 | 23:59:00 | 23:59:30 | FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS | 2026-03-16 06:00:00
13 | 2026-03-16 06:00:00 | 06:00:01 | 06:05:00 | FINISHED, WEEKDAY 1 | 2026-03-16 06:05:00
14 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, WEEKDAY 2 | 2026-03-17 13:45:00
15 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, WEEKDAY 5 | 2026-03-13 13:00:00
16 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, +7 DAYS, WEEKDAY 4 | 2026-03-19 13:45:00
17 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | STARTED, +1 MONTH, -1 DAY, START OF DAY, +4 HOURS | 2026-04-10 04:00:00
18 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, START OF MONTH, +1 MONTH, WEEKDAY 1 | 2026-04-06 00:00:00
19 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, START OF YEAR, +1 YEAR | 2027-01-01 00:00:00
20 | 2026-01-31 09:00:00 | 09:00:00 | 09:01:00 | SCHEDULED, +1 MONTH | 2026-03-03 09:00:00
21 | 2026-01-31 09:00:00 | 09:00:00 | 09:01:00 | SCHEDULED, START OF MONTH, +2 MONTHS, -1 DAY | 2026-02-28 00:00:00
22 | 2024-02-29 00:00:00 | 00:00:00 | 00:00:10 | SCHEDULED, +1 YEAR | 2025-03-01 00:00:00
23 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, START OF DAY, +5 MINUTES, START OF HOUR | 2026-03-11 00:00:00
24 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, START OF DAY, +30 MINUTES, START OF HOUR, +5 MINUTES | 2026-03-11 00:05:00
25 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | FINISHED, START OF HOUR, +1 HOUR | 2026-03-11 14:00:00
26 | 2026-03-11 12:00:07 | 12:59:00 | 13:00:00 | SCHEDULED, +30 SECONDS | 2026-03-11 12:00:37 | 2026-03-11 13:00:07
27 | 2026-03-11 13:00:00 | 13:00:10 | 13:09:59 | SCHEDULED, +10 MINUTES | 2026-03-11 13:10:00
28 | 2026-03-11 13:00:00 | 13:00:10 | 13:10:00 | SCHEDULED, +10 MINUTES | 2026-03-11 13:10:00 | 2026-03-11 13:20:00
29 | 2026-03-11 13:00:00 | 13:00:10 | 13:30:00 | SCHEDULED, +10 MINUTES | 2026-03-11 13:10:00 | 2026-03-11 13:40:00
30 | 2026-03-11 03:00:00 | 12:59:00 | 13:00:05 | SCHEDULED, +239 MINUTES | 2026-03-11 06:59:00 | 2026-03-11 14:57:00
31 | 2026-03-11 03:00:00 | 12:59:00 | 13:00:05 | SCHEDULED, +4 HOURS | 2026-03-11 07:00:00 | 2026-03-11 15:00:00
32 | 2026-03-11 03:00:00 | 12:59:00 | 13:00:05 | SCHEDULED, +5 HOURS | 2026-03-11 08:00:00 | 2026-03-11 18:00:00
33 | 2026-03-11 10:00:00 | 12:59:00 | 13:00:05 | SCHEDULED, +5 HOURS, -4 HOURS | 2026-03-11 11:00:00 | 2026-03-11 14:00:00
34 | 2026-03-11 11:30:00 | 12:59:00 | 13:00:05 | SCHEDULED, +1 HOUR, START OF HOUR | 2026-03-11 12:00:00 | 2026-03-11 14:00:00
35 | 2026-03-11 09:00:00 | 2026-03-13 09:00:00 | 2026-03-13 09:00:05 | SCHEDULED, +1 DAY | 2026-03-12 09:00:00 | 2026-03-14 09:00:00
36 | 2026-03-11 13:00:00 | 13:15:00 | 18:00:00 | STARTED, +1 HOUR | 2026-03-11 14:15:00
37 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | SCHEDULED, -1 HOUR | 2026-03-11 12:00:00
38 | 2026-03-11 13:00:00 | 13:15:00 | 13:45:00 | STARTED, +0 SECONDS | 2026-03-11 13:15:00
39 | 2026-03-11 13:00:00.750 | 13:00:01 | 13:00:02 | SCHEDULED, +1 HOUR | 2026-03-11 14:00:00
40 | 2026-03-14 12:00:00 | 12:00:00 | 12:10:00 | WEEKLY | 2026-03-21 12:10:00
41 | 2026-03-15 12:00:00 | 12:00:00 | 12:10:00 | WEEKLY | 2026-03-22 12:10:00
42 | 2026-03-11 22:30:00 | 22:30:00 | 23:10:00 | HOURLY | 2026-03-12 00:10:00
43 | 2026-03-11 00:00:00 | 02:00:00 | 02:05:00 | SCHEDULED, +1 DAY | 2026-03-12 00:00:00
44 | 2026-03-11 02:00:00 | 02:00:00 | 02:05:00 | SCHEDULED, +1 DAY | 2026-03-12 02:00:00
`
  .trim()
  .split('\n')
  .map((row) => ({ row, cells: row.split(' | ').map((cell) => cell.trim()) }))

test.each(rows)('$row', ({ cells }) => {
  const [, first, second, third, repeat, run, skip = run] = cells as [string, string, string, string, string, string]
  const dated = (text: string) => at(text.length > 8 ? text : `${first.slice(0, 10)} ${text}`)
  const moments = { scheduled: at(first), started: dated(second), finished: dated(third) }
  expect(shown(nextSlot(repeat, moments, moments.finished))).toBe(run)
  expect(shown(nextSlot({ bedrock: repeat, missed: 'skip' }, moments, moments.finished))).toBe(skip)
})

test('45: an unreadable scheduled time gives no slot', () => {
  const moments = { ...allAt(at('2026-03-11 02:05:00')), scheduled: Number.NaN }
  expect(() => nextSlot('SCHEDULED, +1 MINUTES', moments, 0)).toThrow(/the job has no scheduled time to count from/)
})

test('46: a job that never ran has no slot after its start', () => {
  const moments = { ...allAt(at('2026-03-11 02:05:00')), started: null }
  expect(() => nextSlot('STARTED, +1 DAY', moments, 0)).toThrow(/"STARTED, \+1 DAY": the job has no started time/)
})

test('47: while a run may be lost, the next run is the earlier of retryAfter and repeat', () => {
  const taken = at('2026-03-11 02:00:03')
  const repeated = nextSlot('STARTED, +1 HOUR', { scheduled: at('2026-03-11 02:00:00'), started: taken }, taken)
  expect(shown(Math.min(shift('+12 HOURS', taken), repeated))).toBe('2026-03-11 03:00:03')
})

test('48: retryAfter does not move what SCHEDULED counts from', () => {
  const [scheduled, started, finished] = ['02:00:00', '02:00:03', '02:10:03'].map((time) => at(`2026-03-11 ${time}`))
  expect(shown(shift('+12 HOURS', started!))).toBe('2026-03-11 14:00:03')
  const slot = nextSlot('SCHEDULED, +1 DAY', { scheduled: scheduled!, started, finished }, finished!)
  expect(shown(slot)).toBe('2026-03-12 02:00:00')
})

test.each([
  'blabla',
  'FINISHED',
  'FINISHED,',
  '+1 HOUR',
  'EVERY, +1 DAY',
  'CREATED, +1 DAY',
  'MONTHLY',
  'HOURLY ',
  ' HOURLY',
  'HOURLY, +1 DAY',
  'FINISHED; +1 DAY',
  'FINISHED , +1 HOUR',
  'FINISHED, +1 HOUR , START OF DAY',
  'FINISHED, 1 HOUR',
  'FINISHED, + 1 HOUR',
  'FINISHED, +1  HOUR',
  'FINISHED, +1.5 HOURS',
  'FINISHED, +1 WEEK',
  'FINISHED, +1 FORTNIGHT',
  'FINISHED, +1 HOURSS',
  'FINISHED, +1000 HOURS',
  'FINISHED, +999999999 SECONDS',
  'FINISHED, WEEKDAY 7',
  'FINISHED, WEEKDAY  1',
  'FINISHED, START OF WEEK',
  'FINISHED, START  OF DAY',
  'FINISHED, +01:00',
  'FINISHED, localtime',
  'FINISHED, unixepoch',
  'FINIſHED, +1 DAY',
  'constructor, +1 DAY',
  '',
])('the repeat %j is refused', (repeat) => {
  expect(() => parseRepeat(repeat)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
})

const wrong = (repeat: unknown) => repeat as Repeat

test.each<[Repeat, RegExp]>([
  [
    'EVERY, +1 DAY',
    /^repeat "EVERY, \+1 DAY": expected .* or a string: HOURLY, DAILY or WEEKLY, or SCHEDULED, STARTED or FINISHED followed by modifiers, got "EVERY"/,
  ],
  ['HOURLY ', /HOURLY, DAILY or WEEKLY, or .* modifiers, got "HOURLY "/],
  ['FINISHED,', /expected a modifier like "\+1 DAY" after FINISHED, got nothing/],
  ['FINISHED, +1 DAY, +1 WEEK', /expected modifiers like "\+1 DAY" .*, got "\+1 WEEK"/],
  [`FINISHED${', +1 DAY'.repeat(200)}`, /bedrock to be a string of at most 1000 characters/],
  [wrong(undefined), /expected a string like "SCHEDULED, \+1 DAY", or an object .*, got undefined/],
  [wrong(5), /got 5/],
  [wrong({}), /either "cron" or "bedrock", got {}/],
  [wrong({ cron: '0 0 * * *', bedrock: 'DAILY' }), /either "cron" or "bedrock"/],
  [wrong({ cron: undefined }), /cron to be a string/],
  [wrong({ bedrock: 'DAILY', tz: 'UTC' }), /no time zone, because Bedrock’s modifiers count in UTC/],
  [wrong({ bedrock: 'DAILY', misses: 'skip' }), /only the fields bedrock, cron, tz, missed, stopOnFail, got "misses"/],
  [wrong({ bedrock: 'DAILY', missed: 'drop' }), /missed to be "run", "last" or "skip", got "drop"/],
  [wrong({ bedrock: 'DAILY', stopOnFail: 1 }), /stopOnFail to be true or false, got 1/],
  [{ cron: '' }, /5 or 6 fields/],
  [{ cron: '* * * *' }, /5 or 6 fields, like "30 2 \* \* \*", got "\* \* \* \*"/],
  [{ cron: '0 0 0 1 1 * 2027' }, /5 or 6 fields/],
  [{ cron: '@daily' }, /5 or 6 fields/],
  [{ cron: '2026-03-11T00:00:00' }, /5 or 6 fields/],
  [{ cron: 'Mon, 11 Mar 2026 10:00:00' }, /valid cron fields/],
  [{ cron: '61 * * * *' }, /valid cron fields \(.*minute: 61\)/],
  [{ cron: '0 0 31 2 *' }, /a date that exists, got "0 0 31 2 \*"/],
  [{ cron: '0 0 * * *', tz: 'Mars/Base' }, /a time zone like "Europe\/Berlin" \(.*\), got "Mars\/Base"/],
])('the refusal of %j names the fault', (repeat, words) => {
  expect(() => parseRepeat(repeat)).toThrow(words)
})

test.each([
  ['hourly', 'HOURLY', '2026-03-11 14:00:00'],
  ['Weekly', 'WEEKLY', '2026-03-18 13:00:00'],
  ['FINISHED,,+1 DAY', 'FINISHED,,+1 DAY', '2026-03-12 13:00:00'],
  [',FINISHED, +1 DAY', ',FINISHED, +1 DAY', '2026-03-12 13:00:00'],
  ['finished, +1 Minutes, ', 'FINISHED, +1 MINUTES, ', '2026-03-11 13:01:00'],
  ['FINISHED, START OF HOUR', 'FINISHED, START OF HOUR', '2026-03-11 13:00:00'],
  ['FINISHED, +0 DAYS', 'FINISHED, +0 DAYS', '2026-03-11 13:00:00'],
  ['FINISHED, +99999999 SECONDS', 'FINISHED, +99999999 SECONDS', '2029-05-11 22:46:39'],
])('the repeat %j is kept as %j', (repeat, source, slot) => {
  const now = at('2026-03-11 13:00:00')
  expect(parseRepeat(repeat).source).toBe(source)
  expect(shown(nextSlot(repeat, allAt(now), now))).toBe(slot)
})

test('options work with either kind; by default missed slots run and the repeat continues', () => {
  expect(parseRepeat('DAILY')).toMatchObject({ base: 'finished', missed: 'run', stopOnFail: false })
  expect(parseRepeat({ bedrock: 'scheduled, +1 day', stopOnFail: true })).toMatchObject({
    source: { bedrock: 'SCHEDULED, +1 DAY', stopOnFail: true },
    base: 'scheduled',
    stopOnFail: true,
  })
  expect(parseRepeat({ cron: '0 0 * * *', missed: 'skip' })).toMatchObject({ base: 'scheduled', missed: 'skip' })
})

test('a slot beyond the year 9999 is refused', () => {
  const late = at('9999-12-31 12:00:00')
  expect(() => nextSlot('SCHEDULED, +1 DAY', allAt(late), late)).toThrow(/no slot follows 9999-12-31T12:00:00.000Z/)
  expect(() => shift('+1 DAY', late)).toThrow(/before the year 10000/)
  expect(() => nextSlot({ cron: '0 0 * * *' }, allAt(late), late)).toThrow(/no slot follows/)
  expect(() => nextSlot({ cron: '0 * * * *' }, allAt(late), late)).toThrow(/no slot follows/)
})

test('years of missed slots are skipped in one step, or for unusual rules in a bounded number of steps', () => {
  const [from, now] = [at('2016-01-01 00:00:03'), at('2026-03-11 13:00:00')]
  const skipped = (bedrock: string) => shown(nextSlot({ bedrock, missed: 'skip' }, { scheduled: from }, now))
  expect(skipped('SCHEDULED, +7 SECONDS')).toBe('2026-03-11 13:00:03')
  expect(skipped('SCHEDULED, +1 MONTH')).toBe('2026-04-01 00:00:03')
  expect(skipped('SCHEDULED, +1 SECOND, WEEKDAY 5')).toBe('2016-01-01 02:46:43')
})

test.each(['10', 'PT5M', 'START OF HOUR', 'FINISHED, +1 DAY', '', '+5 MINUTES '])(
  'the delay %j is refused',
  (delay) => {
    expect(() => shift(delay, 0)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
  },
)

test.each([
  ['+5 minutes', '2026-03-11 13:05:00'],
  ['-5 MINUTES', '2026-03-11 12:55:00'],
  ['+0 SECOND', '2026-03-11 13:00:00'],
  ['+1 HOUR, +5 MINUTES', '2026-03-11 14:05:00'],
  ['START OF MONTH, +1 MONTH', '2026-04-01 00:00:00'],
])('the delay %j leads to %s', (delay, to) => {
  expect(shown(shift(delay, at('2026-03-11 13:00:00.900')))).toBe(to)
})

test('a preview continues until the repeat stops or ends', () => {
  const from = at('2026-03-11 13:00:00.250')
  const preview = (repeat: Repeat, n = 3) => nextTimes(repeat, from, n).map(shown)
  expect(preview('HOURLY')).toEqual(['2026-03-11 14:00:00', '2026-03-11 15:00:00', '2026-03-11 16:00:00'])
  expect(preview('STARTED, WEEKDAY 1')).toEqual(['2026-03-16 13:00:00'])
  expect(preview('SCHEDULED, -1 HOUR')).toEqual([])
  expect(preview('SCHEDULED, +999 YEARS', 99)).toHaveLength(7)
  expect(preview({ cron: '*/20 * * * * *' })).toEqual([
    '2026-03-11 13:00:20',
    '2026-03-11 13:00:40',
    '2026-03-11 13:01:00',
  ])
})

test('cron catches up slot by slot, with one run for all slots, or skips to the next slot', () => {
  const moments = allAt(at('2026-03-11 13:00:00'))
  const now = at('2026-03-11 16:00:00.500')
  const slot = (missed: Missed) => shown(nextSlot({ cron: '0 * * * *', missed }, moments, now))
  expect(slot('run')).toBe('2026-03-11 14:00:00')
  expect(slot('last')).toBe('2026-03-11 16:00:00')
  expect(slot('skip')).toBe('2026-03-11 17:00:00')
})

test('a late run replaces the last missed slot, or runs its own slot if all are run', () => {
  const [scheduled, started] = [at('2026-03-11 13:00:00'), at('2026-03-11 16:20:00.500')]
  const stands = (repeat: Repeat) => shown(slotOfRun(repeat, scheduled, started))
  expect(stands({ cron: '0 * * * *' })).toBe('2026-03-11 16:00:00')
  expect(stands({ cron: '0 * * * *', missed: 'skip' })).toBe('2026-03-11 16:00:00')
  expect(stands({ cron: '0 * * * *', missed: 'run' })).toBe('2026-03-11 13:00:00')
  expect(stands({ bedrock: 'SCHEDULED, +45 MINUTES', missed: 'last' })).toBe('2026-03-11 16:00:00')
  expect(stands({ bedrock: 'SCHEDULED, +1 HOUR, START OF HOUR', missed: 'last' })).toBe('2026-03-11 16:00:00')
  expect(stands('SCHEDULED, +45 MINUTES')).toBe('2026-03-11 13:00:00')
  expect(stands('DAILY')).toBe('2026-03-11 13:00:00')
})

test('the last slot of a pattern ends its preview', () => {
  const from = at('2026-01-01 00:00:00')
  const patterns = ['*/9 * 2 * * *', '*/37 * * * *', '30 2 * * *', '0 0 29 2 *', '15 4 * * SUN', '0 */5 * * *']
  for (const cron of patterns) {
    for (const tz of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe']) {
      const now = at('2026-04-06 01:45:30')
      const wanted = nextTimes({ cron, tz }, now - 172_800_000, 1_000).findLast((slot) => slot <= now) ?? from
      expect([cron, tz, shown(slotOfRun({ cron, tz }, from, now))]).toEqual([cron, tz, shown(wanted)])
    }
  }
})

test('a slot is missed if it is more than five minutes late, and no later slot is on time', () => {
  const scheduled = at('2026-03-11 13:00:00')
  const late = (repeat: Repeat, ms: number) => isMissed(repeat, scheduled, scheduled + ms)
  const hourly = { cron: '0 * * * *', missed: 'skip' } as const
  expect([late(hourly, 300_000), late(hourly, 300_001), late(hourly, 3_700_000)]).toEqual([false, true, false])
  expect(late({ cron: '* * * * *', missed: 'skip' }, 86_400_000 * 365)).toBe(false)
  expect(late({ cron: '0 * * * *' }, 1_800_000)).toBe(false)
})

const gap = '2026-03-28 12:00:00'
const overlap = '2026-10-24 12:00:00'

test.each([
  ['Europe/Berlin', '30 2 * * *', gap, ['03-29 01:00:00', '03-30 00:30:00']],
  ['Europe/Berlin', '*/15 2 * * *', gap, ['03-29 01:00:00', '03-30 00:00:00', '03-30 00:15:00']],
  ['Europe/Berlin', '0 2,3 * * *', gap, ['03-29 01:00:00', '03-30 00:00:00']],
  ['Europe/Berlin', '0 */2 * * *', '2026-03-28 22:30:00', ['03-28 23:00:00', '03-29 01:00:00', '03-29 02:00:00']],
  ['Europe/Berlin', '30 * * * *', '2026-03-28 23:45:00', ['03-29 00:30:00', '03-29 01:30:00', '03-29 02:30:00']],
  ['Europe/Berlin', '30 2 * * *', overlap, ['10-25 00:30:00', '10-26 01:30:00']],
  ['Europe/Berlin', '*/30 2 * * *', overlap, ['10-25 00:00:00', '10-25 00:30:00', '10-26 01:00:00']],
  ['Europe/Berlin', '30 0-23 * * *', '2026-10-25 00:00:00', ['10-25 00:30:00', '10-25 01:30:00', '10-25 02:30:00']],
  ['Europe/Berlin', '0 */3 * * *', '2026-10-24 20:00:00', ['10-24 22:00:00', '10-25 02:00:00', '10-25 05:00:00']],
  ['America/New_York', '30 2 * * *', '2026-03-07 12:00:00', ['03-08 07:00:00', '03-09 06:30:00']],
  ['America/New_York', '30 1 * * *', '2026-10-31 12:00:00', ['11-01 05:30:00', '11-02 06:30:00']],
  ['America/New_York', '30 * * * *', '2026-11-01 05:00:00', ['11-01 05:30:00', '11-01 06:30:00', '11-01 07:30:00']],
  ['America/New_York', '15 30 1 * * *', '2026-11-01 06:00:00', ['11-02 06:30:15']],
])('in %s the pattern %j after %s UTC runs at %j', (tz, cron, from, slots) => {
  expect(nextTimes({ cron, tz }, at(from), slots.length).map((slot) => shown(slot).slice(5))).toEqual(slots)
})

const changes: [zone: string, from: string][] = [
  ['Europe/Berlin', '2026-03-28 00:00:00'],
  ['Europe/Berlin', '2026-10-24 00:00:00'],
  ['America/New_York', '2026-03-07 00:00:00'],
  ['America/New_York', '2026-10-31 00:00:00'],
  // The clocks of these zones change by half an hour, at midnight (forward and back), and by a whole day.
  ['Australia/Lord_Howe', '2026-04-04 00:00:00'],
  ['America/Sao_Paulo', '2018-02-17 00:00:00'],
  ['America/Sao_Paulo', '2018-11-03 00:00:00'],
  ['Pacific/Apia', '2011-12-29 00:00:00'],
]

const patterns: [cron: string, isHourly: boolean, matches: (wall: Date) => boolean][] = [
  ['30 * * * *', true, (wall) => wall.getUTCMinutes() === 30],
  ['*/7 * * * *', true, (wall) => wall.getUTCMinutes() % 7 === 0],
  ['30 * * * SAT', true, (wall) => wall.getUTCMinutes() === 30 && wall.getUTCDay() === 6],
  ['30 2 * * *', false, (wall) => wall.getUTCHours() === 2 && wall.getUTCMinutes() === 30],
  ['0 0 * * *', false, (wall) => wall.getUTCHours() === 0 && wall.getUTCMinutes() === 0],
  [
    '*/10 23,0-3 * * *',
    false,
    (wall) => [23, 0, 1, 2, 3].includes(wall.getUTCHours()) && wall.getUTCMinutes() % 10 === 0,
  ],
  ['45 */2 * * *', false, (wall) => wall.getUTCHours() % 2 === 0 && wall.getUTCMinutes() === 45],
]

const MINUTE = 60_000

const clock = (zone: string, from: number) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  return Array.from({ length: 3 * 24 * 60 }, (_, minute) => {
    const now = from + minute * MINUTE
    return { now, wall: at(format.format(now)) }
  })
}

test.each(changes)('when the clock changes in %s after %s, every pattern follows the rules', (zone, from) => {
  const minutes = clock(zone, at(from))
  const [first, last] = [minutes[0]!, minutes.at(-1)!]
  for (const [cron, isHourly, matches] of patterns) {
    const shownAt = minutes.filter(({ wall }) => matches(new Date(wall))).map(({ now }) => now)
    const once = new Set<number>()
    for (let wall = first.wall; wall <= last.wall; wall += MINUTE) {
      if (matches(new Date(wall)))
        once.add((minutes.find((m) => m.wall === wall) ?? minutes.find((m) => m.wall > wall)!).now)
    }
    const expected = isHourly ? shownAt : [...once].sort((a, b) => a - b)
    const found = nextTimes({ cron, tz: zone }, first.now - 1, expected.length)
    expect([cron, ...found.map(shown)]).toEqual([cron, ...expected.map(shown)])
    for (const { now } of minutes.filter((_, n) => n % 41 === 0 || n % 60 === 30)) {
      const slot = expected.find((slot) => slot > now)
      if (slot) expect([cron, shown(nextTimes({ cron, tz: zone }, now, 1)[0]!)]).toEqual([cron, shown(slot)])
    }
  }
})
