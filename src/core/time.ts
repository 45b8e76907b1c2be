import { SidejobError } from './errors.ts'
import { DAY, HOUR, MINUTE, SECOND } from './units.ts'

/** Milliseconds, or a string like '3 days'. */
export type Duration = number | string

const lengths: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }
const units: Record<string, number> = { ms: 1, ...lengths, w: 7 * DAY }

const words: Record<string, string> = {
  millisecond: 'ms',
  sec: 's',
  second: 's',
  min: 'm',
  minute: 'm',
  hr: 'h',
  hour: 'h',
  day: 'd',
  week: 'w',
}

const LONGEST = 100 * 365 * DAY
const LATEST = Date.UTC(10_000, 0, 1) - 1

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d:?\d\d))?$/

const durationIn =
  (unit: number, units: string) =>
  (given: number | string): number => {
    const found = typeof given === 'number' ? given * unit : amounts(given.trim().toLowerCase())
    if (!(found >= 0)) throw unreadable(`a duration in ${units} or like "5m", "1h30m", "3 days"`, given)
    if (found > LONGEST) throw unreadable('a duration of at most 100 years', given)
    return Math.round(found)
  }

/** A number means seconds. */
export const duration = durationIn(SECOND, 'seconds')

/** A number means milliseconds. */
export const milliseconds = durationIn(1, 'milliseconds')

/** A date without a time means midnight UTC. A number means milliseconds since 1970. */
export const time = (given: number | string): number => {
  const found = typeof given === 'number' ? given : instant(given.trim())
  if (!Number.isInteger(found)) {
    throw unreadable('a time like "2027-01-01T09:00:00Z" or whole milliseconds since 1970', given)
  }
  if (found < 0 || found > LATEST) throw unreadable('a time from 1970 to 9999', given)
  return found
}

export const iso = (at: number): string => new Date(at).toISOString()

const amounts = (text: string): number => {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * SECOND
  PART.lastIndex = 0
  let sum = 0
  let end = 0
  for (let part = PART.exec(text); part; part = PART.exec(text)) {
    sum += Number(part[1]) * (unit(part[2]!) ?? Number.NaN)
    end = PART.lastIndex
  }
  return end === text.length && end > 0 ? sum : Number.NaN
}

const unit = (word: string): number | undefined => {
  if (Object.hasOwn(units, word)) return units[word]
  const one = word.replace(/s$/, '')
  return Object.hasOwn(words, one) ? units[words[one]!] : undefined
}

const instant = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const found = ISO.exec(text)
  if (!found) return Number.NaN
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as Six
  // Date.UTC would turn 30 February into a day in March.
  if (month < 1 || month > 12 || day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return Number.NaN
  if (hour > 23 || minute > 59 || second > 59) return Number.NaN
  const fraction = Number((found[7] ?? '').slice(0, 3).padEnd(3, '0'))
  return Date.UTC(year, month - 1, day, hour, minute, second) + fraction - offset(found[8] ?? 'Z')
}

type Six = [number, number, number, number, number, number]

const offset = (zone: string): number => {
  if (zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  if (hours > 23 || minutes > 59) return Number.NaN
  return (zone[0] === '-' ? -1 : 1) * (hours * HOUR + minutes * MINUTE)
}

const unreadable = (wanted: string, given: unknown) =>
  new SidejobError('BAD_REQUEST', `expected ${wanted}, got ${shown(given).slice(0, 60)}`)

const shown = (given: unknown): string => (typeof given === 'string' ? JSON.stringify(given) : String(given))

export function durationText(ms: number): string {
  let rest = ms
  let text = ''
  for (const [unit, length] of Object.entries(lengths).reverse()) {
    const n = Math.floor(rest / length)
    if (n > 0) text += `${n}${unit}`
    rest -= n * length
  }
  if (rest > 0) text += `${rest}ms`
  return text || '0s'
}

export function exactDuration(ms: number): string {
  const [unit, length] = Object.entries(lengths).findLast(([, length]) => ms > 0 && ms % length === 0) ?? ['s', SECOND]
  return `${ms / length}${unit}`
}

export const parseDuration = (text: string): number | undefined => {
  const found = /^(\d{1,6})([smhd])$/.exec(text)
  return found ? Number(found[1]) * lengths[found[2]!]! : undefined
}
