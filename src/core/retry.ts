// When a failed run is tried again: exponential backoff with a cap and jitter, or a list of delays.

export type Backoff = {
  base?: number
  factor?: number
  cap?: number
  jitter?: number
  /** Before the second try, the third, …; in place of base, factor and cap. The last holds for all after it. */
  delays?: number[]
}
export type Retry = { max?: number; backoff?: Backoff }

/** 10 s doubling to 1 h, up to 20 % later; ten times where the worker could not be reached at all. Milliseconds. */
export const retryDefaults = { max: 3, unreached: 10, base: 10_000, factor: 2, cap: 3_600_000, jitter: 0.2 } as const

/**
 * Milliseconds until the next attempt after the n-th failure (n from 1), or undefined when none is left.
 * `random` is in [0, 1); `floor` is what the other side asked us to wait at least (Retry-After). Backoff comes up to
 * `jitter` later; a list of delays up to `jitter` earlier or later.
 *
 * @example retryDelay({ max: 3 }, 2, 0) // 20000
 */
export function retryDelay(
  { max = retryDefaults.max, backoff = {} }: Retry,
  failures: number,
  random: number,
  floor = 0,
): number | undefined {
  if (failures > max) return undefined
  const { base, factor, cap, jitter, delays } = { ...retryDefaults, ...backoff }
  const delay = delays?.length
    ? delays[Math.min(failures, delays.length) - 1]! * (1 + jitter * (2 * random - 1))
    : Math.min(cap, base * factor ** (failures - 1)) * (1 + jitter * random)
  return Math.round(Math.max(floor, delay))
}

/** Retry-After in milliseconds: seconds or a date. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : undefined
}
