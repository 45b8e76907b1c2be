import type { Retry } from '../../core/retry.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/units.ts'

export const plain = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removes exactly these characters.
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const cut = (text: string, most = 40): string => {
  const letters = [...plain(text)]
  if (letters.length <= most) return letters.join('')
  const head = Math.ceil((most - 1) / 2)
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`
}

export const truncated = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

export const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export const count = (n: number): string => grouped.format(n)

export const atLeast = (n: number, isCut = false): string => `${count(n)}${isCut ? '+' : ''}`

export const round = (n: number): number => Math.round(n * 100) / 100

export const pct = (n: number): string => `${round(n)}%`

export const short = (n: number): string => {
  if (n < 10_000) return count(n)
  const [size, unit] = n < 1_000_000 ? [n / 1_000, 'k'] : [n / 1_000_000, 'M']
  return `${size < 100 ? size.toFixed(1) : count(size)} ${unit}`
}

/** Never 0 for a positive share. */
export const percent = (share: number): string => {
  const n = share * 100
  if (n > 0 && n < 0.1) return 'under 0.1%'
  return `${n < 10 && n > 0 ? n.toFixed(1) : Math.round(n)}%`
}

/** Uses enough digits that a positive amount is not shown as 0. */
export const money = (n: number): string => n.toFixed(n > 0 ? Math.max(2, 1 - Math.floor(Math.log10(n))) : 2)

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

export const bytes = (n: number): string => {
  const step = n < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(n) / 10))
  const size = n / 1024 ** step
  return `${step === 0 || size >= 100 ? count(size) : size.toFixed(1)} ${units[step]}`
}

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`

export const jobsWait = (n: number): string => many(n, 'job waits', 'jobs wait')

const two = (n: number): string => String(n).padStart(2, '0')

export const span = (given: number): string => {
  const ms = Math.max(0, given)
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${two(Math.floor(ms / SECOND) % 60)} s`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two(Math.floor(ms / MINUTE) % 60)} m`
  const hours = Math.floor(ms / HOUR) % 24
  return `${Math.floor(ms / DAY)} d${hours > 0 ? ` ${hours} h` : ''}`
}

const SHOWN_DELAYS = 5

export function backoffOf({ backoff: { base, factor = 2, delays = [] } = {} }: Retry = {}): string {
  const shown = delays.slice(0, SHOWN_DELAYS).map(span).join(', ')
  if (shown) return `; backoff ${shown}${delays.length > SHOWN_DELAYS ? ', …' : ''}`
  return base === undefined ? '' : `; backoff ${span(base)} × ${factor}`
}

export const about = (ms: number): string => {
  if (ms < SECOND) return `${Math.round(Math.max(0, ms))} ms`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

export function dateIn(text: string | null): number | undefined {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? undefined : at
}

const formats = new Map<string, Intl.DateTimeFormat>()

function parts(at: number, zone: string): Record<string, string> {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
}

export const clock = (at: number, zone: string): string => {
  const { hour, minute, second } = parts(at, zone)
  return `${hour}:${minute}:${second}`
}

export const exactClock = (at: number, zone: string): string =>
  `${clock(at, zone)}.${String(at % SECOND).padStart(3, '0')}`

export const hourOf = (at: number, zone: string): string => clock(at, zone).slice(0, 5)

export const dayOf = (at: number, zone: string): string => {
  const { day, month } = parts(at, zone)
  return `${day} ${month}`
}

export const dayAndHour = (at: number, zone: string): string => `${dayOf(at, zone)}, ${hourOf(at, zone)}`

export const timeOn = (at: number, now: number, zone: string): string =>
  `${dayOf(at, zone) === dayOf(now, zone) ? '' : `${dayOf(at, zone)}, `}${clock(at, zone)}`

export const longDay = (at: number, zone: string): string => {
  const { weekday, day, month, year } = parts(at, zone)
  return `${weekday} ${day} ${month} ${year}`
}

export const moment = (at: number, zone: string): string => {
  const { day, month, year } = parts(at, zone)
  return `${day} ${month} ${year}, ${exactClock(at, zone)} ${zone}`
}

export const ago = (at: number, now: number, zone: string): string => {
  const ms = now - at
  if (Math.abs(ms) >= DAY) return dayAndHour(at, zone)
  if (Math.abs(ms) < SECOND) return 'now'
  return ms > 0 ? `${about(ms)} ago` : `in ${about(-ms)}`
}

export const isZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Hosts of callbacks are stored as `host/key`, with the id of an API key. */
export const hostName = (host: string): string => host.split('/')[0]!
