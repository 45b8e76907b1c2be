import { emptyPoint, keptSteps, type Point, sumSeries } from '../../core/series.ts'
import { HOUR, MINUTE } from '../../core/units.ts'
import type { Deploy } from './deploy.ts'
import { many } from './text.ts'

/** `to` is absent if the range ends now. */
export type Range = {
  name: string
  text: string
  span: number
  step: 'minute' | 'hour'
  columns: number
  to?: number
}

export const ranges: readonly Range[] = [
  { name: '1h', text: '1 h', span: HOUR, step: 'minute', columns: 60 },
  { name: '4h', text: '4 h', span: 4 * HOUR, step: 'minute', columns: 60 },
  { name: '24h', text: '24 h', span: 24 * HOUR, step: 'hour', columns: 24 },
  { name: '7d', text: '7 d', span: 168 * HOUR, step: 'hour', columns: 56 },
]

const unitOf = (step: Range['step']): number => (step === 'minute' ? MINUTE : HOUR)

export const rangeOf = (name: string | null): Range => ranges.find((range) => range.name === name) ?? ranges[1]!

const [MOST_MINUTES, MOST_HOURS] = [keptSteps.minute * MINUTE, keptSteps.hour * HOUR]
const FEWEST = 6

function stretchOf(query: URLSearchParams, now: number): Range | undefined {
  const [from, to] = ['from', 'to'].map((name) => Number(query.get(name) || Number.NaN)) as [number, number]
  if (!(from < to) || from < now - MOST_HOURS) return undefined
  const step = from >= now - MOST_MINUTES && to - from <= HOUR ? 'minute' : 'hour'
  const unit = unitOf(step)
  const columns = Math.max(FEWEST, Math.ceil((to - from) / unit))
  const end = Math.min(Math.ceil(to / unit), Math.floor(now / unit) + 1) * unit
  return { name: '', text: many(columns, step), span: columns * unit, step, columns, to: end }
}

export const rangeIn = (query: URLSearchParams, now: number): Range =>
  stretchOf(query, now) ?? rangeOf(query.get('range'))

export const endOf = ({ step, to }: Range, now: number): number =>
  to ?? (Math.floor(now / unitOf(step)) + 1) * unitOf(step)

export const deploysIn = (deploys: readonly Deploy[], range: Range, now: number): Deploy[] =>
  deploys.filter(({ at }) => at > endOf(range, now) - range.span && at <= endOf(range, now))

export const perOf = ({ span, columns, step }: Range): number => span / columns / unitOf(step)

export function columnsOf(points: readonly Point[], range: Range, now: number): Point[] {
  const { span, columns } = range
  const from = endOf(range, now) - span
  const startOf = (i: number): number => from + i * (span / columns)
  const within = points
    .filter(({ at }) => at >= from && at < from + span)
    .map((point) => ({ ...point, at: startOf(Math.floor(((point.at - from) / span) * columns)) }))
  return sumSeries([Array.from({ length: columns }, (_, i) => emptyPoint(startOf(i))), within])
}

export function niceTop(most: number): number {
  if (most <= 4) return 4
  const unit = 10 ** Math.floor(Math.log10(most))
  return [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * unit).find((top) => top >= most)!
}
