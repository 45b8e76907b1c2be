// A calendar of slots: those that were and those to come, over a stretch of time.

import type { ScheduleView } from '../../engine/engine.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const DAY = 24 * HOUR

export type Span = { name: string; text: string; before: number; after: number }

export const spans: readonly Span[] = [
  { name: 'day', text: '24 h', before: 12 * HOUR, after: 12 * HOUR },
  { name: 'week', text: 'Week', before: 2 * DAY, after: 5 * DAY },
  { name: 'month', text: 'Month', before: 7 * DAY, after: 23 * DAY },
]

export const spanOf = (name: string | null): Span => spans.find((one) => one.name === name) ?? spans[0]!

export type Mark = { at: number; kind: 'next' | 'completed' | 'failed' }
export type Lane = { marks: Mark[]; band?: { from: number; to: number } }

/** Slots nearer than this to each other are a band. */
const DENSE = 48

/** The place of a moment, from 0 to 100. */
export const placeOf = (at: number, now: number, { before, after }: Span): number =>
  ((at - (now - before)) / (before + after)) * 100

/**
 * What is drawn of a schedule: its last run, and its next slots; a band where they are too many for dots.
 *
 * @example laneOf(schedule, now, spanOf('day'))
 */
export function laneOf(
  { next, lastRun, paused }: Pick<ScheduleView, 'next' | 'lastRun' | 'paused'>,
  now: number,
  span: Span,
): Lane {
  const past: Mark[] =
    lastRun && lastRun.startedAt > now - span.before
      ? [
          {
            at: lastRun.startedAt,
            kind: lastRun.outcome === 'failed' || lastRun.outcome === 'lost' ? 'failed' : 'completed',
          },
        ]
      : []
  if (paused) return { marks: past }
  const step = next.length > 1 ? next[1]! - next[0]! : undefined
  const isDense = step !== undefined && (span.before + span.after) / Math.max(MINUTE / 60, step) > DENSE
  if (isDense) return { marks: past, band: { from: next[0]!, to: now + span.after } }
  return { marks: [...past, ...next.filter((at) => at < now + span.after).map((at): Mark => ({ at, kind: 'next' }))] }
}

/** Round moments for the head of a calendar. */
export function ticksOf(now: number, { before, after }: Span): number[] {
  const unit = before + after <= DAY ? 3 * HOUR : before + after <= 7 * DAY ? DAY : 5 * DAY
  const first = Math.ceil((now - before) / unit) * unit
  return Array.from({ length: 12 }, (_, i) => first + i * unit).filter((at) => at < now + after)
}
