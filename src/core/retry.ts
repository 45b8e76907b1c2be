// Delays before retries, each with a name: of a failed run, or of a lost request to Redis. Delays that only Redis can compute, of lost or overtaken runs
// and of unreachable hosts, are in redis/lua/lib/run/backoff.lua; docs/retries.md has all of them in one table.

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
  if (!(failures <= max)) return undefined
  const { base, factor, cap, jitter, delays } = { ...retryDefaults, ...backoff }
  const delay = delays?.length
    ? delays[Math.min(failures, delays.length) - 1]! * (1 + jitter * (2 * random - 1))
    : Math.min(cap, base * factor ** (failures - 1)) * (1 + jitter * random)
  // NaN would make the script fail.
  return Number.isFinite(delay) ? Math.round(Math.max(floor, delay)) : retryDelay({ max }, failures, random, floor)
}

/**
 * Milliseconds before a request to Redis is sent again whose n-th try got no answer (n from 1): 50 ms, then four times that.
 *
 * @example requestDelay(2) // 200
 */
export const requestDelay = (n: number): number => 50 * 4 ** (n - 1)

/** Retry-After in milliseconds: seconds or a date. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : undefined
}
