// Notices when nothing goes on in a function any more but waiting: then its run can end.

import { Ending } from '../../core/worker.ts'
import type { Pause } from './pause.ts'

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/**
 * Gathers what a run waits for.
 *
 * @example
 * const pauses = createPauses()
 * await Promise.race([perform(job), pauses.ended])
 */
export function createSuspension() {
  const { promise: ended, resolve, reject } = Promise.withResolvers<Ending>()
  // Nobody may be there to hear of it.
  ended.catch(() => undefined)
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
    if (busy === 0 && seen === beats) resolve(ending())
  }

  return {
    /** How the run ends when all that is left of it waits; never, when it ends by itself. */
    ended,
    refuse: reject,
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
