// A call may wait a moment so that it is sent together with later calls. A caller that awaits each call before the next
// gains nothing, so its calls soon stop waiting.

const OFTEN = 10
const WEIGHT = 0.2
/** In milliseconds. Longer intervals count as this number, so that calls are soon gathered again after a pause. */
const MAX_INTERVAL = 1_000
/** After this many waits without a second call, one wait is skipped, then 2, 4, … waits. */
const VAIN_WAITS = 2
const MAX_SKIPPED = 64

export function createGathering(ms: number, last = Number.NEGATIVE_INFINITY) {
  let interval = MAX_INTERVAL
  let inVain = 0
  let leaveOut = 0
  return {
    note(at: number, several = 1): void {
      interval = Math.min((at - last) / Math.max(1, several), MAX_INTERVAL) * WEIGHT + interval * (1 - WEIGHT)
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
      leaveOut = inVain < VAIN_WAITS ? 0 : Math.min(MAX_SKIPPED, 2 ** (inVain - VAIN_WAITS))
    },
  }
}
