// How long a lane stays: an invocation has so much CPU time, and a lane that waits uses none of it.

/** By the clock a lane stays for so many times its budget at most, lest a deployment wait long for the last of its lanes. */
const AT_MOST = 4

export type LaneTimeOptions = {
  /** Milliseconds of work, which the clock tells in place of CPU. */
  budget: number
  /** When it must have left, whatever it did. */
  until?: number
  elapsed: () => number
}

/** @example const time = createLaneTime({ budget: 25_000, elapsed }); time.rests(); time.works(); const leaves = time.isOver() */
export function createLaneTime({ budget, until = Number.POSITIVE_INFINITY, elapsed }: LaneTimeOptions) {
  const began = elapsed()
  const latest = Math.min(began + budget * AT_MOST, until)
  let rested = 0
  let restsSince: number | undefined
  return {
    /** When it leaves, where it only waits from now on. */
    latest,
    rests(): void {
      restsSince ??= elapsed()
    },
    works(): void {
      if (restsSince !== undefined) rested += elapsed() - restsSince
      restsSince = undefined
    },
    /** Whether a lane that works is to leave. */
    isOver: (): boolean => elapsed() >= Math.min(began + budget + rested, latest),
  }
}
