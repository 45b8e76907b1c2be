const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const

const two = (n: number): string => String(n).padStart(2, '0')

/** Two units at most. */
export const span = (given: number): string => {
  const ms = Math.max(0, given)
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${two(Math.floor(ms / SECOND) % 60)} s`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two(Math.floor(ms / MINUTE) % 60)} m`
  return `${Math.floor(ms / DAY)} d ${Math.floor(ms / HOUR) % 24} h`
}

export const about = (ms: number): string => {
  if (ms < SECOND) return `${Math.round(Math.max(0, ms))} ms`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

/** Omits no unit, in the form that the API accepts. */
export function exactly(ms: number): string {
  const [unit, length] = Object.entries(lengths).findLast(([, length]) => ms > 0 && ms % length === 0) ?? ['s', SECOND]
  return `${ms / length}${unit}`
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

export const hourOf = (at: number, zone: string): string => clock(at, zone).slice(0, 5)

export const dayOf = (at: number, zone: string): string => {
  const { day, month } = parts(at, zone)
  return `${day} ${month}`
}

export const longDay = (at: number, zone: string): string => {
  const { weekday, day, month, year } = parts(at, zone)
  return `${weekday} ${day} ${month} ${year}`
}

export const moment = (at: number, zone: string): string => {
  const { day, month, year } = parts(at, zone)
  return `${day} ${month} ${year}, ${clock(at, zone)}.${String(at % 1000).padStart(3, '0')} ${zone}`
}

/** Relative for up to a day, then a date and time. */
export const ago = (at: number, now: number, zone: string): string => {
  const ms = now - at
  if (Math.abs(ms) >= DAY) return `${dayOf(at, zone)}, ${hourOf(at, zone)}`
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

const lengths: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

export const lengthOf = (text: string): number | undefined => {
  const found = /^(\d{1,6})([smhd])$/.exec(text)
  return found ? Number(found[1]) * lengths[found[2]!]! : undefined
}
