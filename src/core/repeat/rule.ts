export type Base = 'scheduled' | 'started' | 'finished'

/** Each function returns NaN if no slot exists. */
export type Rule = {
  base: Base
  next: (from: number) => number
  /** Returns the first slot after `now` in the series that starts at `from`. `now` is a whole second. */
  skip: (from: number, now: number) => number
  /** Returns the last slot up to `now` in the series that starts at `from`. `from` is a slot. */
  last: (from: number, now: number) => number
  /**
   * Returns the next slot within a year that falls into a gap of the clock. `wall` is the wall-clock time of the slot,
   * as if the clock showed UTC.
   */
  moved?: (from: number) => { at: number; wall: number } | undefined
}
