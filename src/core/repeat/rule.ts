// The rule of a repeat's slots, however it is written.

/** Base of the next slot: the previous slot, or the start or end of the previous run. */
export type Base = 'scheduled' | 'started' | 'finished'

/** Sequence of slots; NaN if there is none. */
export type Rule = {
  base: Base
  /** The slot that follows a moment. */
  next: (from: number) => number
  /** The first slot of the series begun at `from` that is later than `now`, which comes as a whole second. */
  skip: (from: number, now: number) => number
  /** The last slot of the series begun at `from`, a slot itself, that is not later than `now`. */
  last: (from: number, now: number) => number
  /**
   * The next slot within a year that moves because the clock skips its time; `wall` is that time, as if in UTC.
   */
  moved?: (from: number) => { at: number; wall: number } | undefined
}
