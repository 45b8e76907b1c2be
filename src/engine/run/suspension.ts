// Notices when nothing goes on in a function any more but waiting: then its run can end.

import { Ending } from '../../core/worker.ts'
import type { Pause } from './pause.ts'

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** Whom it tells: how the run ends when all that is left of it waits, or why it cannot wait. */
export type Paused = { ended: (ending: Ending) => void; refused: (why: Error) => void }

/**
 * Gathers what a run waits for.
 *
 * @example
 * const pauses = createSuspension({ ended: resolve, refused: reject })
 * await pauses.during(() => fetchPage())
 */
export function createSuspension({ ended, refused }: Paused) {
  const pauses: Pause[] = []
  let busy = 0
  let beats = 0

  function ending(): Ending {
    const moments = pauses.flatMap(({ until }) => (until === undefined ? [] : [until]))
    const children = pauses.flatMap(({ child }) => (child === undefined ? [] : [child]))
    return new Ending('suspended', {
      pause: {
        ...(moments.length ? { until: Math.min(...moments) } : {}),
        ...(children.length ? { children } : {}),
      },
    })
  }

  /** A function that was answered has until the next turn to begin something else. */
  async function look(): Promise<void> {
    if (pauses.length === 0) return
    const seen = ++beats
    await turn()
    if (busy === 0 && seen === beats) ended(ending())
  }

  return {
    refuse: refused,
    /** While this goes on the run does not end. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      busy++
      beats++
      try {
        return await work()
      } finally {
        busy--
        look()
      }
    },
    pause(what: Pause): Promise<never> {
      pauses.push(what)
      look()
      return new Promise(() => undefined)
    },
  }
}

export type Suspension = ReturnType<typeof createSuspension>
