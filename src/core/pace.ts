// How close together something comes, as an average in which the newest counts most: what waits for more of it asks here.

/** Milliseconds: what comes closer together than this, on average, comes often. */
const OFTEN = 10
/** How much the last interval counts. */
const WEIGHT = 0.2
/** An interval counts as so much at most: after a pause few of them tell that it is over. */
const LONGEST = 1_000

/** @param last when it came before, where that is known. @example const pace = createPace(); pace.note(elapsed()); pace.isOften() */
export function createPace(last = Number.NEGATIVE_INFINITY) {
  let interval = LONGEST
  return {
    /** Several that come at once come closer together. */
    note(at: number, several = 1): void {
      interval = Math.min((at - last) / Math.max(1, several), LONGEST) * WEIGHT + interval * (1 - WEIGHT)
      last = at
    },
    isOften: (): boolean => interval < OFTEN,
  }
}
