import { type Counted, countedBy, events } from './series.ts'
import { HOUR } from './units.ts'
import { sumOf, waitPercentile } from './waits.ts'

/** Upper bounds of the buckets in milliseconds, as in lib/queue/class_counts.lua. */
export const classEnds = [
  10,
  30,
  100,
  300,
  1_000,
  3_000,
  10_000,
  30_000,
  100_000,
  600_000,
  3_600_000,
  Number.POSITIVE_INFINITY,
] as const

/** In milliseconds. Each quantile is the upper bound of its bucket. */
type Spread = { mean: number; p50: number; p95: number; buckets: number[] }

export type ClassCount = { class: string | null; counts: Counted; waited: Spread | null; took: Spread | null }

const WAITED = events.length
const TOOK = WAITED + 1 + classEnds.length

function spreadOf(numbers: readonly number[], at: number): Spread | null {
  const buckets = classEnds.map((_, i) => numbers[at + 1 + i] ?? 0)
  const all = sumOf(buckets)
  if (all === 0) return null
  const below = (share: number) => waitPercentile(buckets, share, classEnds)!
  return { mean: Math.round((numbers[at] ?? 0) / all), p50: below(0.5), p95: below(0.95), buckets }
}

const linesOf = (text: string): [name: string, numbers: number[]][] =>
  text
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split('\t') as [string, string])
    .map(([name, numbers]) => [name, numbers.split(',').map(Number)])

type Sums = ReadonlyMap<string, readonly number[]>

function add(sums: Map<string, number[]>, name: string, numbers: readonly number[]): void {
  const sum = sums.get(name) ?? []
  for (const [at, n] of numbers.entries()) sum[at] = (sum[at] ?? 0) + n
  sums.set(name, sum)
}

function sumsOf(texts: readonly string[], day: number): Sums {
  const sums = new Map<string, number[]>()
  for (const text of texts.filter((text) => text.startsWith(`${day}\n`)))
    for (const [name, numbers] of linesOf(text)) add(sums, name, numbers)
  return sums
}

type ClassHour = { at: number } & Counted

function markOf(mark: string, day: number) {
  const end = mark.indexOf('\n')
  return { hour: Number(mark.slice(0, end)), sums: sumsOf([mark.slice(end + 1)], day) }
}

/** Returns the oldest hour first. Hours without events are missing. */
export function classHoursOf(
  { texts, marks }: { texts: readonly string[]; marks: readonly string[] },
  { day, since }: { day: number; since: number },
): Map<string | null, ClassHour[]> {
  const hours = new Map<string | null, ClassHour[]>()
  const known = marks
    .map((mark) => markOf(mark, day))
    .filter(({ hour }) => Math.floor(hour / 24) === day && hour * HOUR >= since)
    .sort((a, b) => a.hour - b.hour)
  const ends = [...known.slice(1).map(({ sums }) => sums), sumsOf(texts, day)]
  for (const [i, { hour, sums }] of known.entries())
    for (const [name, numbers] of ends[i]!) {
      const counts = countedBy((at) => (numbers[at] ?? 0) - (sums.get(name)?.[at] ?? 0))
      if (Object.values(counts).every((n) => n === 0)) continue
      const own = hours.get(name || null) ?? []
      hours.set(name || null, [...own, { at: hour * HOUR, ...counts }])
    }
  return hours
}

const classCountOf = (name: string, numbers: readonly number[]): ClassCount => ({
  class: name || null,
  counts: countedBy((at) => numbers[at] ?? 0),
  waited: spreadOf(numbers, WAITED),
  took: spreadOf(numbers, TOOK),
})

const byName = (sums: Sums): ClassCount[] =>
  [...sums]
    .sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1))
    .map(([name, numbers]) => classCountOf(name, numbers))

type CountedPart = { day: number; from: readonly string[]; to: readonly string[] }

export function countsIn(parts: readonly CountedPart[]): ClassCount[] {
  const sums = new Map<string, number[]>()
  for (const { day, from, to } of parts) {
    const before = sumsOf(from, day)
    for (const [name, numbers] of sumsOf(to, day)) {
      const was = before.get(name)
      const more = numbers.map((n, at) => n - (was?.[at] ?? 0))
      add(sums, name, more)
    }
  }
  return byName(new Map([...sums].filter(([, numbers]) => numbers.some((n) => n !== 0))))
}

export function classCountsOf(texts: readonly string[], day: number): ClassCount[] {
  return byName(sumsOf(texts, day))
}
