export type Base = 'scheduled' | 'started' | 'finished'

/** Each function returns NaN if no slot exists. */
export type Rule = {
  base: Base
  next: (from: number) => number
  /** Returns the first slot after `now`. `now` is a whole second. */
  skip: (from: number, now: number) => number
  /** Returns the last slot up to `now`. `from` is a slot. */
  last: (from: number, now: number) => number
  /**
   * Finds the next slot that the clock skips when it goes forward, at most a year ahead. `wall` is the wall-clock time
   * of the slot, read as UTC.
   */
  moved?: (from: number) => { at: number; wall: number } | undefined
}
