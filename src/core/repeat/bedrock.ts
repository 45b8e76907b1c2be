// Modifiers apply from left to right, as in SQLite's date functions.

import { SidejobError } from '../errors.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../units.ts'
import type { Base, Rule } from './rule.ts'

type Step = (at: number) => number
type Modifier = { step: Step /** Milliseconds, or NaN if the length depends on the date. */; length: number }
type Shape = { form: RegExp; read: (...found: string[]) => Modifier }

const lengths: Record<string, number> = { SECOND, MINUTE, HOUR, DAY }
const months: Record<string, number> = { MONTH: 1, YEAR: 12 }

const starts: Record<string, Step> = {
  HOUR: (at) => new Date(at).setUTCMinutes(0, 0, 0),
  DAY: (at) => new Date(at).setUTCHours(0, 0, 0, 0),
  MONTH: (at) => starts.DAY!(new Date(at).setUTCDate(1)),
  YEAR: (at) => starts.DAY!(new Date(at).setUTCMonth(0, 1)),
}

const adding = (n: string, unit: string): Modifier => {
  const length = Number(n) * lengths[unit]!
  return { step: (at) => at + length, length }
}

// As in SQLite, 31 January + 1 MONTH is 3 March.
const addingMonths = (n: string, unit: string): Modifier =>
  varying((at) => {
    const date = new Date(at)
    return date.setUTCMonth(date.getUTCMonth() + Number(n) * months[unit]!)
  })

const toWeekday = (day: string): Modifier =>
  varying((at) => at + ((Number(day) + 7 - new Date(at).getUTCDay()) % 7) * DAY)

const varying = (step: Step): Modifier => ({ step, length: Number.NaN })
const toStart = (unit: string): Modifier => varying(starts[unit]!)

const delayShapes: Shape[] = [
  { form: /^([+-]\d{1,8}) (SECOND)S?$/, read: adding },
  { form: /^([+-]\d{1,3}) (MINUTE|HOUR|DAY)S?$/, read: adding },
  { form: /^([+-]\d{1,3}) (MONTH|YEAR)S?$/, read: addingMonths },
  { form: /^START OF (DAY|MONTH|YEAR)$/, read: toStart },
  { form: /^WEEKDAY ([0-6])$/, read: toWeekday },
]

const repeatShapes: Shape[] = [...delayShapes, { form: /^START OF (HOUR)$/, read: toStart }]

const bases: Record<string, Base> = { SCHEDULED: 'scheduled', STARTED: 'started', FINISHED: 'finished' }

// Follows Bedrock's documentation. Bedrock's code also rounds to the hour, the day and the Sunday.
const canned: Record<string, string> = {
  HOURLY: 'FINISHED, +1 HOUR',
  DAILY: 'FINISHED, +1 DAY',
  WEEKLY: 'FINISHED, +7 DAYS',
}

export const bedrockRule = (given: string): Rule & { text: string } => {
  const text = capitals(given)
  const place = `repeat ${quoted(given)}`
  const [base = '', ...rest] = items(canned[text] ?? text)
  if (!Object.hasOwn(bases, base)) {
    throw bad(
      place,
      '{ cron: "0 9 * * *", tz } or a string: HOURLY, DAILY or WEEKLY, or SCHEDULED, STARTED or FINISHED followed by modifiers',
      base,
    )
  }
  if (rest.length === 0) throw bad(place, `a modifier like "+1 DAY" after ${base}`, '')
  const modifiers = rest.map((item) => modifier(place, item, repeatShapes))
  const next = following(modifiers)
  const length = modifiers.reduce((sum, { length }) => sum + length, 0)
  const isEven = length > 0
  return {
    text,
    base: bases[base]!,
    next,
    skip: isEven ? skipEven(length) : skipSteps(next),
    last: isEven ? lastEven(length) : lastOfSteps(next),
  }
}

const delayIn = (modifiers: string): Modifier[] => {
  const given = items(capitals(modifiers))
  if (given.length === 0) throw bad(quoted(modifiers), 'a modifier like "+5 MINUTES"', '')
  return given.map((item) => modifier(quoted(modifiers), item, delayShapes))
}

/** For Bedrock's `retryAfter`. */
export const shift = (modifiers: string, from: number): number => {
  const to = following(delayIn(modifiers))(Math.floor(from / SECOND) * SECOND)
  if (Number.isNaN(to)) throw bad(quoted(modifiers), 'a time before the year 10000', modifiers)
  return to
}

/** NaN if the length depends on the date. */
export const shiftLength = (modifiers: string): number =>
  delayIn(modifiers).reduce((sum, { length }) => sum + length, 0)

// Does not use toUpperCase, because it would also change the long ſ to S.
const capitals = (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())

const items = (text: string) =>
  text
    .split(',')
    .map((item) => item.replace(/^ +/, ''))
    .filter((item) => item !== '')

const modifier = (place: string, item: string, shapes: Shape[]): Modifier => {
  for (const { form, read } of shapes) {
    const found = form.exec(item)
    if (found) return read(...found.slice(1))
  }
  throw bad(
    place,
    'modifiers like "+1 DAY" (a sign, 1–3 digits, YEAR, MONTH, DAY, HOUR or MINUTE), "+90 SECONDS" (1–8 digits), ' +
      '"START OF DAY" (MONTH, YEAR; in a repeat also HOUR) or "WEEKDAY 1" (0–6, Sunday is 0)',
    item,
  )
}

const following =
  (modifiers: Modifier[]): Step =>
  (from) =>
    modifiers.reduce((at, { step }) => known(step(at)), from)

const FIRST = new Date(0).setUTCFullYear(0, 0, 1)
const LAST = Date.UTC(10_000, 0, 1) - SECOND

// SQLite's years are 0 to 9999.
const known = (at: number): number => (at >= FIRST && at <= LAST ? at : Number.NaN)

const skipEven = (length: number) => (from: number, now: number) =>
  known(from + (Math.floor((now - from) / length) + 1) * length)

const lastEven = (length: number) => (from: number, now: number) =>
  known(from + Math.max(0, Math.floor((now - from) / length)) * length)

// This is enough for 800 years in months, or a year in hours. If the slot is still in the past after these steps, one
// run starts immediately.
const MOST_STEPS = 10_000

// If a step does not increase the time, no later slot exists.
const skipSteps = (next: Step) => (from: number, now: number) => {
  let [slot, before] = [next(from), from]
  for (let n = 1; n < MOST_STEPS && slot > before && slot <= now; n++) [slot, before] = [next(slot), slot]
  return slot
}

const lastOfSteps = (next: Step) => (from: number, now: number) => {
  let slot = from
  for (let n = 1, then = next(slot); n < MOST_STEPS && then > slot && then <= now; n++)
    [slot, then] = [then, next(then)]
  return slot
}

const bad = (place: string, wanted: string, got: string) =>
  new SidejobError('BAD_REQUEST', `${place}: expected ${wanted}, got ${got === '' ? 'nothing' : quoted(got)}`)

const quoted = (text: string) => JSON.stringify(text.slice(0, 60))
