/// <reference path="./cronstrue.d.ts" />

import cronstrue from 'cronstrue/dist/cronstrue.min.js'
import { SidejobError } from '../../core/errors.ts'
import { type ParsedRepeat, parseRepeat } from '../../core/repeat.ts'

export function cronWords(pattern: string): string | undefined {
  try {
    return cronstrue.toString(pattern, { use24HourTimeFormat: true, verbose: false })
  } catch {
    return undefined
  }
}

const EVERY =
  /^\s*every\s+(?:(\d+)\s+)?(minute|hour|day|weekday|(?:sun|mon|tues|wednes|thurs|fri|satur)day)s?(?:\s+at\s+(\d+)(?::(\d+))?\s*([ap]m)?)?\s*$/i

/** Steps must divide these numbers, because cron starts again each hour, or each day. */
const most: Readonly<Record<string, number>> = { minute: 60, hour: 24 }

const hourOf = (hour: number, half?: string): number => (half ? (hour % 12) + (/p/i.test(half) ? 12 : 0) : hour)

/**
 * Converts phrases to patterns, and leaves other text unchanged.
 *
 * @example cronOf('every monday at 9:30 pm') // '30 21 * * MON'
 */
export function cronOf(text: string): string {
  const [all, n, named, hour, minute, half] = EVERY.exec(text) ?? []
  if (all === undefined) return text
  const unit = named!.toLowerCase()
  const step = Number(n ?? 1)
  const steps = most[unit]
  if (steps !== undefined) {
    if (hour !== undefined || !(step > 0) || steps % step !== 0) return text
    const each = step === 1 ? '*' : step === steps ? '0' : `*/${step}`
    return unit === 'minute' ? `${each} * * * *` : `0 ${each} * * *`
  }
  if (n !== undefined) return text
  const days = unit === 'day' ? '*' : unit === 'weekday' ? 'MON-FRI' : unit.slice(0, 3).toUpperCase()
  return `${Number(minute ?? 0)} ${hourOf(Number(hour ?? 0), half)} * * ${days}`
}

export function ruleIn(when: string, tz?: string): ParsedRepeat {
  try {
    return parseRepeat({ cron: cronOf(when), ...(tz ? { tz } : {}) })
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    const problem = error.message.replace(/^repeat: /, '')
    const isZone = error.path?.[1] === 'tz'
    throw new SidejobError(
      error.code,
      isZone ? `Time zone: ${problem}` : `When: ${problem}. Phrases such as "every day at 3" work too`,
      { path: error.path, cause: error },
    )
  }
}
