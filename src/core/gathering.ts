// A sequential caller also calls often, but waiting for it would gather nothing.

const OFTEN = 10
/** Weight of the last interval. */
const WEIGHT = 0.2
/** Maximum interval that counts, so that a few calls after a pause end the gathering. */
const LONGEST = 1_000
/**
 * After this many empty waits, one wait is skipped. After the next empty wait two are skipped, then four, up to a
 * maximum.
 */
const IN_VAIN = 2
const LEFT_OUT = 64

export function createGathering(ms: number, last = Number.NEGATIVE_INFINITY) {
  let interval = LONGEST
  let inVain = 0
  let leaveOut = 0
  return {
    note(at: number, several = 1): void {
      interval = Math.min((at - last) / Math.max(1, several), LONGEST) * WEIGHT + interval * (1 - WEIGHT)
      last = at
    },
    /** Milliseconds. */
    wait(): number {
      if (interval >= OFTEN) return 0
      if (leaveOut === 0) return ms
      leaveOut--
      return 0
    },
    brought(more: number): void {
      inVain = more > 0 ? 0 : inVain + 1
      leaveOut = inVain < IN_VAIN ? 0 : Math.min(LEFT_OUT, 2 ** (inVain - IN_VAIN))
    },
  }
}
