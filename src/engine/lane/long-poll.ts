// Waiting for something: called when it is there, and asking now and then besides.

import { sleep } from '../../core/sleep.ts'
import type { Client } from '../../redis/client.ts'

/** Who stands in line, and for how many milliseconds more; with none it leaves. */
export type Waiter = { id: string; wait: number }

/** Whoever waits and is not called asks again after so long: it costs less than a command a second. */
const ASK_AGAIN = 15_000
/** The same where Redis lets nobody subscribe: a proxy may not, or a plan's connections may be used up. */
const ASK_AGAIN_UNCALLED = 1_000

export type Wait = {
  /** On which channel of Redis it is called. */
  channel: (waiter: string) => string
  end: number
  signal?: AbortSignal
}

/** Asks until there is something, or until `end`. */
export type LongPoll = <T>(ask: (waiter: Waiter) => Promise<T[]>, options: Wait) => Promise<T[]>

/**
 * Makes what claims and readers of results wait with.
 *
 * @example const longPoll = createLongPoll({ client, now }); await longPoll(claim, { channel: keys.calls, end: now() + 30_000 })
 */
export const createLongPoll =
  ({ client, now }: { client: Client; now: () => number }): LongPoll =>
  async (ask, { channel, end, signal }) => {
    const over = AbortSignal.any([AbortSignal.timeout(Math.max(0, end - now())), ...(signal ? [signal] : [])])
    const id = crypto.randomUUID().replaceAll('-', '')
    const calls = client.listen(channel(id), over)[Symbol.asyncIterator]()
    let pause = ASK_AGAIN
    const neverCalled = () => {
      pause = ASK_AGAIN_UNCALLED
      return new Promise<never>(() => {})
    }
    const next = (): Promise<boolean> => calls.next().then(({ done }) => (done ? neverCalled() : true), neverCalled)
    const quiet = async (call: Promise<boolean>) => {
      for (let ms = 0; ms < pause && now() < end && !over.aborted; ms += 500)
        if (await Promise.race([call, sleep(500, over).then(() => false)])) return
    }
    await quiet(next())
    try {
      for (;;) {
        const call = next()
        const left = over.aborted ? 0 : Math.max(0, end - now())
        // With no time left, too: it leaves the line then, and no job calls it in vain.
        const found = await ask({ id, wait: left })
        if (found.length || left === 0) return found
        await quiet(call)
      }
    } finally {
      calls.return?.(undefined).catch(() => undefined)
    }
  }
