// Decides if a call waits briefly to be sent with later calls. A caller that awaits each call gains nothing from such
// waits.

const OFTEN = 10
const WEIGHT = 0.2
/** Longer intervals count as this one, so a few calls after a pause start the waits again. */
const LONGEST = 1_000
/**
 * After this many consecutive waits without another call, one wait is skipped. Each further wait without a call doubles
 * the number of skipped waits, up to `LEFT_OUT`.
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
    /** In milliseconds. */
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
