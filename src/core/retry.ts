// lib/run/backoff.lua has more delays. docs/retries.md lists the delays of both files.

export type Backoff = {
  base?: number
  factor?: number
  cap?: number
  jitter?: number
  /** Replaces base, factor and cap. The last delay repeats. */
  delays?: number[]
}
export type Retry = { max?: number; backoff?: Backoff }

/** Times are in milliseconds. If the worker cannot be reached, `unreached` replaces `max`. */
export const retryDefaults = { max: 3, unreached: 10, base: 10_000, factor: 2, cap: 3_600_000, jitter: 0.2 } as const

/**
 * `failures` counts from 1, `random` is in [0, 1), and `floor` is the minimum delay. Returns undefined if no attempts
 * are left.
 */
export function retryDelay(
  { max = retryDefaults.max, backoff = {} }: Retry,
  failures: number,
  random: number,
  floor = 0,
): number | undefined {
  if (!(failures <= max)) return undefined
  const { base, factor, cap, jitter, delays } = { ...retryDefaults, ...backoff }
  const delay = delays?.length
    ? delays[Math.min(failures, delays.length) - 1]! * (1 + jitter * (2 * random - 1))
    : Math.min(cap, base * factor ** (failures - 1)) * (1 + jitter * random)
  return Number.isFinite(delay) ? Math.round(Math.max(floor, delay)) : retryDelay({ max }, failures, random, floor)
}

export const requestDelay = (n: number): number => 50 * 4 ** (n - 1)

/** The header contains seconds or a date. The result is in milliseconds. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : undefined
}
