// Series as charts need them: every moment has a point, and many are put together to few.

import { counted, type Point } from '../../core/series.ts'

const nothing = (at: number): Point => ({
  ...(Object.fromEntries(counted.map((name) => [name, 0])) as Omit<Point, 'at' | 'longestWait'>),
  at,
  longestWait: 0,
})

const added = (a: Point, b: Point): Point => ({
  ...(Object.fromEntries(counted.map((name) => [name, a[name] + b[name]])) as Omit<Point, 'at' | 'longestWait'>),
  at: a.at,
  longestWait: Math.max(a.longestWait, b.longestWait),
})

export type Range = { name: string; text: string; span: number; step: 'minute' | 'hour'; columns: number }

const [MINUTE, HOUR] = [60_000, 3_600_000]

export const ranges: readonly Range[] = [
  { name: '1h', text: '1 h', span: HOUR, step: 'minute', columns: 60 },
  { name: '4h', text: '4 h', span: 4 * HOUR, step: 'minute', columns: 60 },
  { name: '24h', text: '24 h', span: 24 * HOUR, step: 'hour', columns: 24 },
  { name: '7d', text: '7 d', span: 168 * HOUR, step: 'hour', columns: 56 },
]

export const rangeOf = (name: string | null): Range => ranges.find((range) => range.name === name) ?? ranges[1]!

/** How many minutes, or hours of a long range, one column stands for. @example perOf(rangeOf('4h')) // 4 */
export const perOf = ({ span, columns, step }: Range): number => span / columns / (step === 'minute' ? MINUTE : HOUR)

/** One point for each column of a range, also where nothing happened. */
export function columnsOf(points: readonly Point[], { span, step, columns }: Range, now: number): Point[] {
  const unit = step === 'minute' ? MINUTE : HOUR
  const width = span / columns
  const to = Math.floor(now / unit) * unit + unit
  const out = Array.from({ length: columns }, (_, i) => nothing(to - span + i * width))
  for (const point of points) {
    const i = Math.floor((point.at - (to - span)) / width)
    if (i >= 0 && i < columns) out[i] = added(out[i]!, point)
  }
  return out
}

/** The upper end of an axis: the next of 1, 2, 5 times a power of ten. @example niceTop(1_130) // 1_200 */
export function niceTop(most: number): number {
  if (most <= 4) return 4
  const unit = 10 ** Math.floor(Math.log10(most))
  return [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * unit).find((top) => top >= most)!
}
