// Whether to wait a moment for more of what comes, so that one request is for several: where it comes close together, and as long
// as such moments bring some. Who does one thing after the other comes often too, and would wait for nobody.

/** Milliseconds: what comes closer together than this, on average, comes often. */
const OFTEN = 10
/** How much the last interval counts. */
const WEIGHT = 0.2
/** An interval counts as so much at most: after a pause few of them tell that it is over. */
const LONGEST = 1_000
/** After so many moments in a row that brought nothing one is left out, after the next in vain two, then four, and so many at most. */
const IN_VAIN = 2
const LEFT_OUT = 64

/**
 * @param ms how long a moment is
 * @param last when something came before, where that is known
 * @example const gathering = createGathering(6); gathering.note(elapsed()); await sleep(gathering.wait()); gathering.brought(others.length)
 */
export function createGathering(ms: number, last = Number.NEGATIVE_INFINITY) {
  let interval = LONGEST
  let inVain = 0
  let leaveOut = 0
  return {
    /** Something has come; several that come at once come closer together. */
    note(at: number, several = 1): void {
      interval = Math.min((at - last) / Math.max(1, several), LONGEST) * WEIGHT + interval * (1 - WEIGHT)
      last = at
    },
    /** For how long to wait this time, in milliseconds. */
    wait(): number {
      if (interval >= OFTEN) return 0
      if (leaveOut === 0) return ms
      leaveOut--
      return 0
    },
    /** How many came in a moment, or without one. */
    brought(more: number): void {
      inVain = more > 0 ? 0 : inVain + 1
      leaveOut = inVain < IN_VAIN ? 0 : Math.min(LEFT_OUT, 2 ** (inVain - IN_VAIN))
    },
  }
}
