export type Base = 'scheduled' | 'started' | 'finished'

/** NaN if there is no slot. */
export type Rule = {
  base: Base
  next: (from: number) => number
  /** The first slot after `now` in the series that starts at `from`. `now` is a whole second. */
  skip: (from: number, now: number) => number
  /** The last slot up to `now` in the series that starts at `from`. `from` is a slot. */
  last: (from: number, now: number) => number
  /** The next slot within a year whose time the clock skips. `wall` is its wall-clock time as if in UTC. */
  moved?: (from: number) => { at: number; wall: number } | undefined
}
