// Computes the slots of schedules. It does not use the engine's code for slots, because the test checks this code.

import { DatabaseSync } from 'node:sqlite'

const HALF_HOUR = 1_800_000
const DAY = 86_400_000

const textOf = (at: number): string => new Date(at).toISOString().slice(0, 19)
const momentOf = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)

export function createModifiers() {
  const modify = new DatabaseSync(':memory:').prepare('SELECT datetime(?, ?) AS at')
  return (from: number, modifiers: readonly string[]): number =>
    momentOf(modifiers.reduce((at, modifier) => (modify.get(at, modifier) as { at: string }).at, textOf(from)))
}

/** The time on the clock of a zone, stored as if it were UTC. */
export type Wall = Date

function clockOf(zone: string, from: number, to: number): { at: number; wall: number }[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const moments = Array.from({ length: Math.ceil((to - from) / HALF_HOUR) }, (_, n) => from + n * HALF_HOUR)
  return moments.map((at) => ({ at, wall: momentOf(format.format(at)) }))
}

/**
 * If a zone repeats an hour, an hourly pattern is due twice in this hour. If a zone skips an hour, an hourly pattern is
 * not due in this hour. Any other pattern is due once: at its first time, or at the end of the skipped hour.
 */
export function createZone(zone: string, from: number, to: number) {
  // Extends the range, so that clock changes near both ends are complete.
  const clock = clockOf(zone, from - 2 * DAY, to + 2 * DAY)
  const shownFirst = new Map<number, number>()
  let last = clock[0]!.wall - HALF_HOUR
  for (const { at, wall } of clock) {
    for (let passed = last + HALF_HOUR; passed <= wall; passed += HALF_HOUR) shownFirst.set(passed, at)
    last = Math.max(last, wall)
  }
  const within = (at: number) => at > from && at <= to
  return (matches: (wall: Wall) => boolean, { hourly = false } = {}): number[] => {
    const moments = hourly
      ? clock.filter(({ wall }) => matches(new Date(wall))).map(({ at }) => at)
      : [...shownFirst].filter(([wall]) => matches(new Date(wall))).map(([, at]) => at)
    return [...new Set(moments.filter(within))].sort((a, b) => a - b)
  }
}
