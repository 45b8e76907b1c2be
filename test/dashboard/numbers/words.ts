// Writes numbers and times like the dashboard. It does not use the functions of the dashboard, because the test checks
// them.

export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000] as const

export const row = (...cells: unknown[]): string => cells.join(' | ').replace(/ +/g, ' ').trim()
export const n = (one: number): string => one.toLocaleString('en-US')
export const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const tenth = (one: number): string => (one < 100 ? one.toFixed(1) : n(Math.round(one)))
export const short = (one: number): string =>
  one < 10_000 ? n(one) : one < 1e6 ? `${tenth(one / 1e3)} k` : `${tenth(one / 1e6)} M`

export function percent(share: number): string {
  if (share > 0 && share < 0.001) return 'under 0.1%'
  return `${share > 0 && share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)}%`
}

/** Matches this duration, and the same duration rounded down. */
export const took = (ms: number): string => `<${ms}>`
/** Matches the time from this moment until the test read the page. */
export const since = (at: number): string => `<@${at}>`
/** Matches a duration that is not longer than the loading of the page. */
export const whileLoading = '<!>'
/** Matches the count of this minute, plus a share of the previous minute. This share falls during a minute. */
export const perMinute = (minutes: readonly number[]): string => `<~${minutes.at(-1) ?? 0},${minutes.at(-2) ?? 0}>`
/** Matches a `time` element. */
export const time = (at: number): string => `@${at}`

const month = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'short' })
export const dayOf = (at: number): string => `${new Date(at).getUTCDate()} ${month.format(at)}`
export const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19)
export const hourOf = (at: number): string => clockOf(at).slice(0, 5)
export const momentOf = (at: number): string =>
  `${dayOf(at)} ${new Date(at).getUTCFullYear()}, ${new Date(at).toISOString().slice(11, 23)} UTC`

export function clockFrom(from: number, shown = ''): string {
  for (let at = from; at < Date.now() + 1_000; at += 1_000) if (clockOf(at) === shown) return shown
  return clockOf(from)
}

export function shortened(text: string, most: number): string {
  const head = Math.ceil((most - 1) / 2)
  return text.length <= most ? text : `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`
}

/** A shortened text, whose attribute `title` contains the whole text. */
export const cut = (text: string, most: number): string =>
  `${text.length > most && /\d/.test(text) ? `{${text}}` : ''}${shortened(text, most)}`

export const arranged = (expected: Record<string, string>) => (found: readonly string[]) => {
  const left = new Map(Object.entries(expected))
  const texts = found.map((text) => {
    const name = [...left.keys()].find((one) => text.includes(one)) ?? ''
    const own = left.get(name)
    left.delete(name)
    return own ?? 'expected 0 texts like this'
  })
  return [...texts, ...left.values()]
}

export type Clock = { from: number; to: number }

const units: Record<string, number> = { ms: 1, s: 1_000, min: MINUTE, m: MINUTE, h: HOUR, d: DAY }
const DURATION = /^(\d+(?:\.\d)?) (ms|s|min|m|h|d)(?: (\d+) (s|m|h))?$/
const ATOM =
  /<[@~]?[\d.,]+>|<!>|@\d+|\d+(?:\.\d)? (?:ms|min|[smhd])(?![a-z])(?: \d\d? [smh](?![a-z]))?|\d[\d,.]*(?: (?:bytes|[kM%])(?![a-z]))?/g

function durationsOf(text: string): Clock | undefined {
  const [, size, unit, rest, smaller] = DURATION.exec(text) ?? []
  if (unit === undefined) return undefined
  const least = Number(size) * units[unit]! + Number(rest ?? 0) * (units[smaller!] ?? 0)
  if (unit === 'ms') return { from: least - 0.5, to: least + 0.5 }
  return { from: least, to: least + (size!.includes('.') ? 100 : units[smaller ?? unit]!) }
}

function between(at: number, { from, to }: Clock): Clock {
  const [a, b] = [Math.abs(from - at), Math.abs(to - at)]
  return { from: from <= at && at <= to ? 0 : Math.min(a, b), to: Math.max(a, b) }
}

function agrees(shown: string | undefined, expected: string | undefined, clock: Clock): boolean {
  const [, kind, text] = /^<([@~!]?)(.*)>$/.exec(expected ?? '') ?? []
  if (text === undefined || shown === undefined) return shown === expected
  if (kind === '~') {
    const [here, before] = text.split(',').map(Number) as [number, number]
    const rateAt = (at: number) => Math.round(here + before * (1 - (at % MINUTE) / MINUTE))
    const rate = Number(shown.replaceAll(',', ''))
    return rateAt(clock.to) <= rate && rate <= rateAt(clock.from)
  }
  const number = Number(text)
  const durations = durationsOf(shown)
  if (kind === '!') return durations !== undefined && durations.from <= clock.to - clock.from
  const exact = kind === '@' ? between(number, clock) : { from: number, to: number }
  return durations !== undefined && durations.from <= exact.to && exact.from < durations.to
}

function atomsOf(text: string, names: ReadonlySet<string>): string[] {
  return text.split(/ ?\| ?/).flatMap((cell, _, all) => {
    const first = all.length > 1 ? cell.split(' ')[0]! : ''
    const numbers = (cell.match(ATOM) ?? []).map((one) => one.replace(/[,.]+$/, ''))
    return [...(names.has(first) ? [first] : []), ...numbers, '|']
  })
}

/** Compares only the numbers, and the names at the start of cells, because the other words may change. */
export function isSame(
  shown: string | undefined,
  expected: string | undefined,
  clock: Clock,
  names = new Set<string>(),
) {
  if (shown === undefined || expected === undefined) return shown === expected
  const [found, wanted] = [atomsOf(shown, names), atomsOf(expected, names)]
  return found.length === wanted.length && found.every((one, i) => agrees(one, wanted[i], clock))
}

export type Time = { text: string; title: string | null; at: number }

/** The text is, for example, `3 s ago`, `in 2 h`, `12 s`, `26 Nov, 14:05` or `14:05:09.120`. */
export function saysTime({ text, title, at }: Time, clock: Clock): boolean {
  const moment = momentOf(at)
  if (title !== null && title !== moment) return false
  if (text === 'now') return between(at, clock).from < 1_000
  const duration = text.replace(/^in | ago$/g, '')
  if (durationsOf(duration) === undefined) return text.split(/, | (?=\d\d:)/).every((part) => moment.includes(part))
  const isRight = text.startsWith('in ') ? at > clock.from : at < clock.to
  return isRight && agrees(duration, since(at), clock)
}
