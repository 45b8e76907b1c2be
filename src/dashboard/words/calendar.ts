// A calendar of slots: those that were and those to come, over a stretch of time.

import { decodeValue } from '../../core/codec/value.ts'
import { slotsFrom } from '../../core/repeat/passed.ts'
import { parseRepeat, type Repeat } from '../../core/repeat.ts'
import type { ScheduleView } from '../../engine/engine.ts'
import { many } from './number.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const DAY = 24 * HOUR

export type Span = { name: string; text: string; before: number; after: number }

export const spans: readonly Span[] = [
  { name: 'day', text: '24 h', before: 12 * HOUR, after: 12 * HOUR },
  { name: 'week', text: 'Week', before: 2 * DAY, after: 5 * DAY },
  { name: 'month', text: 'Month', before: 7 * DAY, after: 23 * DAY },
]

export const spanOf = (name: string | null): Span => spans.find((one) => one.name === name) ?? spans[0]!

/** `caught`: a slot that went by and was made up for; `passed`: one that was not; `moved`: one that a clock change moves. */
export type Mark = { at: number; kind: 'next' | 'moved' | 'completed' | 'failed' | 'caught' | 'passed' }
export type Lane = { marks: Mark[]; band?: { from: number; to: number } }

/** Slots nearer than this to each other are a band. */
const DENSE = 48
/** So many slots that went by are drawn. */
const PASSED = 48

/** The place of a moment, from 0 to 100. */
export const placeOf = (at: number, now: number, { before, after }: Span): number =>
  ((at - (now - before)) / (before + after)) * 100

type Drawn = Pick<ScheduleView, 'next' | 'lastRun' | 'paused' | 'missed' | 'moved' | 'repeat'>

/** Slots that went by within the stretch. */
function passedIn({ missed, repeat }: Drawn, from: number): Mark[] {
  if (!missed || missed.to < from) return []
  const rule = parseRepeat(decodeValue(repeat) as Repeat)
  const first = missed.from < from ? rule.last(missed.from, from) : missed.from
  const kind = missed.made === 'none' ? 'passed' : 'caught'
  return slotsFrom(rule, first, missed.to, PASSED)
    .filter((at) => at >= from)
    .map((at) => ({ at, kind }))
}

/**
 * What is drawn of a schedule: its last run, slots that went by, and its next slots; a band where they are too many for dots.
 *
 * @example laneOf(schedule, now, spanOf('day'))
 */
export function laneOf(schedule: Drawn, now: number, span: Span): Lane {
  const { next, lastRun, paused, moved } = schedule
  const ran: Mark[] =
    lastRun && lastRun.startedAt > now - span.before
      ? [
          {
            at: lastRun.startedAt,
            kind: lastRun.outcome === 'failed' || lastRun.outcome === 'lost' ? 'failed' : 'completed',
          },
        ]
      : []
  const past = [...passedIn(schedule, now - span.before), ...ran]
  if (paused) return { marks: past }
  const step = next.length > 1 ? next[1]! - next[0]! : undefined
  const isDense = step !== undefined && (span.before + span.after) / Math.max(MINUTE / 60, step) > DENSE
  if (isDense) return { marks: past, band: { from: next[0]!, to: now + span.after } }
  const kindOf = (at: number): Mark['kind'] => (at === moved?.at ? 'moved' : 'next')
  const coming = next.filter((at) => at < now + span.after).map((at): Mark => ({ at, kind: kindOf(at) }))
  return { marks: [...past, ...coming] }
}

/** Round moments for the head of a calendar. */
export function ticksOf(now: number, { before, after }: Span): number[] {
  const unit = before + after <= DAY ? 3 * HOUR : before + after <= 7 * DAY ? DAY : 5 * DAY
  const first = Math.ceil((now - before) / unit) * unit
  return Array.from({ length: 12 }, (_, i) => first + i * unit).filter((at) => at < now + after)
}

const made = { each: 'made up for one by one', one: 'one run for all', none: 'left out' } as const

/**
 * How many slots went by, and what became of them.
 *
 * @example passedWords(schedule.missed) // '12 slots went by; one run for all'
 */
export const passedWords = ({ count, more, made: how }: NonNullable<ScheduleView['missed']>): string =>
  `${more ? `more than ${count} slots` : many(count, 'slot')} went by; ${made[how]}`

/** @example movedWords(schedule.moved) // '2027-03-28 02:30 is skipped by the clock' */
export const movedWords = ({ wall }: NonNullable<ScheduleView['moved']>): string => `${wall} is skipped by the clock`
