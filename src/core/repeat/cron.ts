// When clocks change, a pattern with all 24 hours runs in each hour that exists. Any other pattern runs once: at the
// first of two equal times, or right after the change if its time is skipped. croner decides differently for
// `*/15 2 * * *`, so croner only matches wall-clock times.

import { CronDate, CronPattern } from 'croner'
import { SidejobError } from '../errors.ts'
import { DAY, SECOND } from '../units.ts'
import type { Rule } from './rule.ts'

const FIELDS = /^\s*\S+(\s+\S+){4,5}\s*$/

type Step = (at: number) => number

export const cronRule = (pattern: string, tz = 'UTC'): Rule => {
  const { walls, isHourly } = understood(pattern)
  const offset = zoneOffset(tz)
  const next = isHourly ? hourly(walls, offset) : once(walls, offset)
  const moved = isHourly || tz === 'UTC' ? {} : { moved: movedBy(walls, offset) }
  return { base: 'scheduled', next, skip: (_, now) => next(now), last: lastOf(next), ...moved }
}

const lastOf = (next: Step) => (from: number, now: number) => {
  let [slot, end] = [from, next(from) <= now ? now : from]
  while (end - slot >= SECOND) {
    const middle = slot + Math.ceil((end - slot) / 2 / SECOND) * SECOND
    const found = next(middle - SECOND)
    if (found <= now) slot = found
    else end = middle - SECOND
  }
  return slot
}

const understood = (pattern: string) => {
  // croner would also accept dates, nicknames like @daily and a seventh field.
  if (!FIELDS.test(pattern)) throw bad('5 or 6 fields, like "30 2 * * *"', pattern)
  const fields = read('cron', pattern, 'valid cron fields', () => new CronPattern(pattern))
  const walls = wallTimes(fields)
  if (Number.isNaN(walls(0))) throw bad('a date that exists', pattern)
  return { walls, isHourly: fields.hour.every((named) => named === 1) }
}

// A wall-clock time is stored as the milliseconds of a clock that shows the same time in UTC. croner supports no years
// after 3000.
const wallTimes =
  (fields: CronPattern): Step =>
  (wall) =>
    new CronDate(new Date(wall), 0).increment(fields, {}, true)?.getTime() ?? Number.NaN

const hourly = (walls: Step, offset: Step): Step => {
  const after = (at: number, shown: number): number => {
    const slot = walls(at + shown) - shown
    if (Number.isNaN(slot)) return slot
    // Clocks change by at most a day, so looking one day ahead is enough.
    const look = Math.min(slot, at + DAY)
    if (offset(look) !== shown) return afterChange(change(offset, at, look))
    return look === slot ? slot : afterNow(Math.max(look, slot - 2 * DAY))
  }
  const afterNow = (at: number) => after(at, offset(at))
  const afterChange = (at: number) => after(at - SECOND, offset(at))
  return afterNow
}

const once =
  (walls: Step, offset: Step): Step =>
  (at) =>
    firstShown(offset, walls(furthest(offset, at)))

const [WEEK, WEEKS] = [7 * DAY, 53]

const movedBy = (walls: Step, offset: Step) => (from: number) => {
  for (let [week, at] = [0, from]; week < WEEKS; week++, at += WEEK) {
    if (offset(at + WEEK) <= offset(at)) continue
    const end = change(offset, at, at + WEEK)
    const wall = walls(end + offset(at) - SECOND)
    if (wall < end + offset(end)) return { at: end, wall }
  }
  return undefined
}

// Returns the latest wall-clock time that the clock has shown until `at`. If clocks go back, the same hour is shown
// twice: during the second time, the result is the end of this hour.
const furthest = (offset: Step, at: number): number => {
  const wall = at + offset(at)
  const first = firstShown(offset, wall)
  if (first === at) return wall
  const end = change(offset, first, at) - SECOND
  return end + offset(end)
}

const firstShown = (offset: Step, wall: number): number => {
  if (Number.isNaN(wall)) return wall
  const [before, after] = [offset(wall - DAY), offset(wall + DAY)]
  const [early, late] = [wall - Math.max(before, after), wall - Math.min(before, after)]
  if (offset(early) === wall - early) return early
  return offset(late) === wall - late ? late : change(offset, early, late)
}

const change = (offset: Step, from: number, to: number): number => {
  const shown = offset(to)
  let [low, high] = [from, to]
  while (high - low > SECOND) {
    const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND
    if (offset(middle) === shown) high = middle
    else low = middle
  }
  return high
}

const zoneOffset = (tz: string): Step => {
  const clock = read(
    'tz',
    tz,
    'a time zone like "Europe/Berlin"',
    () => new Intl.DateTimeFormat('en', { ...format, timeZone: tz }),
  )
  return (at) => {
    const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)])) as Parts
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) - at
  }
}

type Parts = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>

const format = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

const read = <T>(field: 'cron' | 'tz', given: string, wanted: string, make: () => T): T => {
  try {
    return make()
  } catch (cause) {
    throw bad(`${wanted} (${(cause as Error).message})`, given, cause, field)
  }
}

const bad = (wanted: string, given: string, cause?: unknown, field: 'cron' | 'tz' = 'cron') =>
  new SidejobError('BAD_REQUEST', `repeat: expected ${wanted}, got ${JSON.stringify(given.slice(0, 60))}`, {
    path: ['repeat', field],
    cause,
  })
