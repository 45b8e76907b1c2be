import { decodeValue } from '../../core/codec/value.ts'
import { slotsFrom } from '../../core/repeat/passed.ts'
import { parseRepeat, type Repeat } from '../../core/repeat.ts'
import type { PastRun } from '../../core/run.ts'
import { DAY, HOUR, MINUTE } from '../../core/units.ts'
import type { ScheduleView } from '../../engine/engine.ts'
import { isBad } from './job.ts'
import { dateIn, many } from './text.ts'

type Span = { name: string; text: string; before: number; after: number }

export const spans: readonly Span[] = [
  { name: 'day', text: '24 h', before: 12 * HOUR, after: 12 * HOUR },
  { name: 'week', text: 'Week', before: 2 * DAY, after: 5 * DAY },
  { name: 'month', text: 'Month', before: 7 * DAY, after: 23 * DAY },
]

const spanOf = (name: string | null): Span => spans.find((one) => one.name === name) ?? spans[0]!

/** `isNow`: the range moves with `now`. */
export type Shown = { span: Span; from: number; to: number; now: number; isNow: boolean }

const lengthOf = ({ before, after }: Span): number => before + after

export function shownIn(query: URLSearchParams, now: number): Shown {
  const span = spanOf(query.get('view'))
  const asked = dateIn(query.get('from'))
  const from = asked ?? now - span.before
  return { span, from, to: from + lengthOf(span), now, isNow: asked === undefined }
}

export function movedBy({ span, from }: Shown, lengths: number): string {
  const begin = Math.floor(from / HOUR) * HOUR + lengths * lengthOf(span)
  return `/schedules?view=${span.name}&from=${new Date(begin).toISOString().replace(':00.000Z', 'Z')}`
}

/**
 * `caught`: a missed slot that ran later; `passed`: a slot without a run; `moved`: a slot moved by a clock change;
 * `overdue`: a slot that should have run.
 */
type Mark = { at: number; kind: 'next' | 'overdue' | 'moved' | 'completed' | 'failed' | 'caught' | 'passed' }
type Lane = { marks: Mark[]; band?: { from: number; to: number } }

/** Maximum number of coming slots that are drawn one by one. More slots are drawn as a band. */
const DENSE = 48
const PASSED = 48

export const placeOf = (at: number, { from, to }: Pick<Shown, 'from' | 'to'>): number =>
  ((at - from) / (to - from)) * 100

type Drawn = Pick<ScheduleView, 'nextAt' | 'lastRun' | 'paused' | 'missed' | 'moved' | 'repeat' | 'status'>

/** A slot without a run for this long is a problem. */
const OVERDUE = MINUTE

const isLate = ({ status }: Pick<Drawn, 'status'>, at: number, now: number): boolean =>
  status === 'queued' && now - at > OVERDUE

export const isOverdue = (schedule: Pick<Drawn, 'status' | 'paused' | 'nextAt'>, now: number): boolean =>
  !schedule.paused && schedule.nextAt !== null && isLate(schedule, schedule.nextAt, now)
type Ran = Pick<PastRun, 'startedAt' | 'outcome'>

const ruleOf = ({ repeat }: Drawn) => parseRepeat(decodeValue(repeat) as Repeat)

function passedIn(schedule: Drawn, { from, to }: Shown): Mark[] {
  const { missed } = schedule
  if (!missed || missed.to < from || missed.from > to) return []
  const rule = ruleOf(schedule)
  const first = missed.from < from ? rule.last(missed.from, from) : missed.from
  const kind = missed.made === 'none' ? 'passed' : 'caught'
  return slotsFrom(rule, first, Math.min(missed.to, to), PASSED)
    .filter((at) => at >= from)
    .map((at) => ({ at, kind }))
}

function comingIn(schedule: Drawn, { from, to }: Shown): number[] {
  const { nextAt, paused } = schedule
  if (paused || nextAt === null || nextAt > to) return []
  const rule = ruleOf(schedule)
  const first = nextAt < from ? rule.last(nextAt, from) : nextAt
  return slotsFrom(rule, first, to, DENSE + 2).filter((at) => at >= from)
}

export function laneOf(schedule: Drawn, shown: Shown, runs: readonly Ran[] = []): Lane {
  const { lastRun, moved } = schedule
  const { from, to, now } = shown
  const known = new Map([...runs, ...(lastRun ? [lastRun] : [])].map((run) => [run.startedAt, run]))
  const ran = [...known.values()]
    .filter(({ startedAt }) => startedAt > from && startedAt < to)
    .map(({ startedAt, outcome }): Mark => ({ at: startedAt, kind: isBad(outcome) ? 'failed' : 'completed' }))
  const past = [...passedIn(schedule, shown), ...ran]
  const coming = comingIn(schedule, shown)
  const kindOf = (at: number): Mark['kind'] =>
    isLate(schedule, at, now) ? 'overdue' : at === moved?.at ? 'moved' : 'next'
  const marks = coming.map((at): Mark => ({ at, kind: kindOf(at) }))
  if (coming.length <= DENSE) return { marks: [...past, ...marks] }
  const late = marks.filter(({ kind }) => kind === 'overdue').slice(0, 1)
  return { marks: [...past, ...late], band: { from: late.length > 0 ? now : coming[0]!, to } }
}

export function ticksOf({ from, to }: Pick<Shown, 'from' | 'to'>): number[] {
  const unit = to - from <= DAY ? 4 * HOUR : to - from <= 7 * DAY ? DAY : 5 * DAY
  const first = Math.ceil(from / unit) * unit
  return Array.from({ length: 12 }, (_, i) => first + i * unit).filter((at) => at < to)
}

const made = { each: 'run later one by one', one: 'replaced by one run', none: 'skipped' } as const

export const passedWords = ({ count, more, made: how }: NonNullable<ScheduleView['missed']>): string =>
  `${more ? `more than ${count} slots` : many(count, 'slot')} missed; ${made[how]}`

export const movedWords = ({ wall }: NonNullable<ScheduleView['moved']>): string => `The clock skips ${wall}`
