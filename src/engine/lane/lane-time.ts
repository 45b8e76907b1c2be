// Waiting uses no CPU time, so it does not use up the budget.

/** Even a lane that only waits ends after this multiple of its budget, so that old deployments end soon. */
const MAX_BUDGETS = 4

type LaneTimeOptions = {
  /** In milliseconds of elapsed time, because a Worker cannot read its CPU time. */
  budget: number
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
    isOver: (): boolean => elapsed() >= Math.min(began + budget + rested, latest),
  }
}
