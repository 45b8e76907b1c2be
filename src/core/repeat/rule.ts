// The rule of a repeat's slots, however it is written.

/** What slots count from: the slot before, or the start or end of the run before. */
export type Base = 'scheduled' | 'started' | 'finished'

/** How slots follow each other; NaN where there is none. */
export type Rule = {
  base: Base
  /** The slot that follows a moment. */
  next: (from: number) => number
  /** The first slot of the series begun at `from` that is later than `now`, which comes as a whole second. */
  skip: (from: number, now: number) => number
  /** The last slot of the series begun at `from`, a slot itself, that is not later than `now`. */
  last: (from: number, now: number) => number
  /** The next slot within a year that is moved since its time is one that the clock skips; `wall`: that time, as if in UTC. */
  moved?: (from: number) => { at: number; wall: number } | undefined
}
