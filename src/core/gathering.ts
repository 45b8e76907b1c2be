// A call may wait a moment so that it is sent with later calls. A caller that awaits each call gains nothing from this.

const OFTEN = 10
const WEIGHT = 0.2
/** Longer intervals count as this one, so that a few calls after a pause are enough to wait again. */
const LONGEST = 1_000
/** After this many vain waits, the next wait is skipped, then 2, 4, … waits. */
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
