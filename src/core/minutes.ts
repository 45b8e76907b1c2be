// lib/runtime/minutes.lua writes these counts.

import { MINUTE } from './units.ts'

const MINUTES = 10

export function parseMinutes(counted: string | undefined, now: number): number[] {
  const [minute, ...counts] = (counted ?? '').split(':').map(Number) as [number, ...number[]]
  const behind = counted ? Math.max(0, Math.floor(now / MINUTE) - minute) : MINUTES
  return Array.from({ length: MINUTES }, (_, i) => counts[MINUTES - 1 - i - behind] ?? 0)
}

/** Estimates the last 60 seconds: this minute and a share of the previous minute. */
export const rateOf = (minutes: readonly number[], now: number): number =>
  Math.round(minutes.at(-1)! + minutes.at(-2)! * (1 - (now % MINUTE) / MINUTE))
