// Slots are whole seconds. A late run delays later slots only if the repeat counts from the run (STARTED or FINISHED).

import { SidejobError } from './errors.ts'
import { bedrockRule } from './repeat/bedrock.ts'
import { cronRule } from './repeat/cron.ts'
import type { Rule } from './repeat/rule.ts'
import { iso } from './time.ts'
import { SECOND } from './units.ts'

export { shift, shiftLength } from './repeat/bedrock.ts'
export type { Base, Rule } from './repeat/rule.ts'

export const missedPolicies = ['run', 'last', 'skip'] as const

export type Missed = (typeof missedPolicies)[number]
type Options = { missed?: Missed; stopOnFail?: boolean }
export type Repeat = string | ({ cron: string; tz?: string } & Options) | ({ bedrock: string } & Options)

export type Moments = { scheduled: number; started?: number | null; finished?: number | null }

export type ParsedRepeat = Rule & {
  source: Repeat
  missed: Missed
  stopOnFail: boolean
}

const LONGEST = 1000

type Field = [is: (value: unknown) => boolean, wanted: string]

const isText = (value: unknown) => typeof value === 'string' && value.length <= LONGEST
const text: Field = [isText, `a string of at most ${LONGEST} characters`]

const fields: Record<string, Field> = {
  bedrock: text,
  cron: text,
  tz: text,
  missed: [(value) => missedPolicies.includes(value as Missed), '"run", "last" or "skip"'],
  stopOnFail: [(value) => typeof value === 'boolean', 'true or false'],
}

export const parseRepeat = (repeat: Repeat): ParsedRepeat => {
  const given = typeof repeat === 'string' ? { bedrock: repeat } : checked(repeat)
  checkFields(given)
  const { missed = 'cron' in given ? 'last' : 'run', stopOnFail = false } = given
  if ('cron' in given) return { ...cronRule(given.cron, given.tz), source: given, missed, stopOnFail }
  const { text, ...rule } = bedrockRule(given.bedrock)
  return { ...rule, source: typeof repeat === 'string' ? text : { ...given, bedrock: text }, missed, stopOnFail }
}

/**
 * Returns the next slot. If slots were missed, returns the first slot after `now` ('skip'), the first missed slot
 * ('run') or the last missed slot ('last').
 */
export const nextSlot = (repeat: Repeat | ParsedRepeat, moments: Moments, now: number): number => {
  const parsed = understood(repeat)
  const from = moments[parsed.base]
  if (!Number.isFinite(from)) throw unanswered(parsed, `the job has no ${parsed.base} time to count from`)
  const ran = parsed.base === 'scheduled' ? slotOfRun(parsed, from!, moments.started ?? from!) : from!
  const slot = slotAfter(parsed, ran, now)
  if (Number.isNaN(slot)) throw unanswered(parsed, `no slot follows ${iso(from!)} before the year 10000`)
  return slot
}

/** Returns the last missed slot, or `scheduled` if each missed slot has its own run. */
export const slotOfRun = (repeat: Repeat | ParsedRepeat, scheduled: number, started: number): number => {
  const parsed = understood(repeat)
  if (parsed.base !== 'scheduled' || parsed.missed === 'run' || !(scheduled < started)) return scheduled
  const slot = parsed.last(wholeSecond(scheduled), started)
  return slot > scheduled ? slot : scheduled
}

/** With `missed: 'skip'`, a run that starts more than this many milliseconds after its slot is skipped. */
export const SLOT_GRACE = 300_000

export const isMissed = (repeat: Repeat | ParsedRepeat, scheduled: number, started: number): boolean => {
  const parsed = understood(repeat)
  return (
    parsed.base === 'scheduled' &&
    parsed.missed === 'skip' &&
    started - slotOfRun(parsed, scheduled, started) > SLOT_GRACE
  )
}

/** Assumes that runs take no time. */
export const nextTimes = (
  repeat: Repeat | Pick<ParsedRepeat, 'next'>,
  from: number,
  n: number,
  until = Infinity,
): number[] => {
  const { next } = understood(repeat)
  const times: number[] = []
  let at = from
  while (times.length < n) {
    const slot = next(wholeSecond(at))
    if (!(slot > at) || slot > until) break
    times.push((at = slot))
  }
  return times
}

const understood = <Parsed extends Pick<ParsedRepeat, 'next'>>(repeat: Repeat | Parsed): Parsed | ParsedRepeat =>
  typeof repeat === 'object' && 'next' in repeat ? repeat : parseRepeat(repeat)

const slotAfter = ({ base, next, skip, last, missed }: ParsedRepeat, moment: number, now: number): number => {
  const from = wholeSecond(moment)
  const slot = next(from)
  if (base !== 'scheduled' || missed === 'run' || !(slot <= now)) return slot
  return missed === 'skip' ? skip(from, wholeSecond(now)) : last(slot, now)
}

const wholeSecond = (at: number): number => Math.floor(at / SECOND) * SECOND

const checked = (given: Exclude<Repeat, string>) => {
  const isOne = typeof given === 'object' && given !== null && 'cron' in given !== 'bedrock' in given
  if (isOne) return given
  throw bad('a string like "SCHEDULED, +1 DAY", or an object with either "cron" or "bedrock"', given)
}

const checkFields = (given: Exclude<Repeat, string>): void => {
  for (const [name, value] of Object.entries(given)) {
    if (name === 'tz' && 'bedrock' in given) throw bad('no time zone, because Bedrock’s modifiers count in UTC', value)
    if (!Object.hasOwn(fields, name)) throw bad(`only the fields ${Object.keys(fields).join(', ')}`, name)
    if (value === undefined && name !== 'bedrock' && name !== 'cron') continue
    const [is, wanted] = fields[name]!
    if (!is(value)) throw bad(`${name} to be ${wanted}`, value)
  }
}

const bad = (wanted: string, given: unknown) =>
  new SidejobError('BAD_REQUEST', `repeat: expected ${wanted}, got ${JSON.stringify(given)?.slice(0, 60)}`)

const unanswered = ({ source }: ParsedRepeat, why: string) =>
  new SidejobError('BAD_REQUEST', `repeat ${JSON.stringify(source)}: ${why}`)
