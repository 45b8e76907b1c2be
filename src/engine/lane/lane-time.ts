// The time of a lane. An invocation has a limited CPU time, and a waiting lane uses none of it.

/** A lane stays for at most this many budgets by the clock, so that a new deployment replaces it soon. */
const MAX_BUDGETS = 4

export type LaneTimeOptions = {
  /** Milliseconds of work, measured by the clock because a Worker cannot read its CPU time. */
  budget: number
  /** The latest time at which it leaves, even if it only waited. */
  until?: number
  elapsed: () => number
}

export function createLaneTime({ budget, until = Number.POSITIVE_INFINITY, elapsed }: LaneTimeOptions) {
  const began = elapsed()
  const latest = Math.min(began + budget * MAX_BUDGETS, until)
  let rested = 0
  let restsSince: number | undefined
  return {
    latest,
    rests(): void {
      restsSince ??= elapsed()
    },
    works(): void {
      if (restsSince !== undefined) rested += elapsed() - restsSince
      restsSince = undefined
    },
    /** True if a working lane must leave. */
    isOver: (): boolean => elapsed() >= Math.min(began + budget + rested, latest),
  }
}
