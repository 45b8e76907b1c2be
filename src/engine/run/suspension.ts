import { Ending } from '../../core/worker.ts'

/** After one turn of the event loop, all code that was ready has run. */
export const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

export type Pause = { until?: number; child?: string }

export type Paused = { ended: (ending: Ending) => void; refused: (why: Error) => void }

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

  async function look(): Promise<void> {
    if (pauses.length === 0) return
    const seen = ++beats
    await nextTurn()
    if (busy === 0 && seen === beats) ended(ending())
  }

  return {
    refuse: refused,
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
