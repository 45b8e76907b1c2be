// So many at once: who comes later waits for who leaves.

export type Slots = {
  /** Waits for a place; what it answers gives it up. */
  take: () => Promise<() => void>
  /** How many have a place or wait for one. */
  readonly wanted: number
  readonly most: number
}

/**
 * An invocation may wait for the headers of six requests at once, whoever sends them. Four are for calls of workers, so
 * that Redis and QStash always find one.
 */
export const CALLS = 4

/**
 * Places for a few at once.
 *
 * @example const leave = await slots.take(); try { await call() } finally { leave() }
 */
export function createSlots(most: number = CALLS): Slots {
  const waiting: (() => void)[] = []
  let taken = 0

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }

  return {
    async take() {
      if (taken < most) taken++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      return leave
    },
    get wanted() {
      return taken + waiting.length
    },
    most,
  }
}
