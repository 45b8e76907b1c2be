// Standing in line for work: called when there is some, and asking now and then besides.

import { sleep } from '../../core/sleep.ts'
import type { Client } from '../../redis/client.ts'
import type { Store } from '../../redis/store.ts'

/** Who stands in line, and for how many milliseconds more; with none it leaves. */
export type Waiter = { id: string; wait: number }

/** A waiting claim that nobody calls asks again after so long: it costs less than a command a second. */
const ASK_AGAIN = 15_000

/** Claims until there is something, or until `end`. */
export type LongPoll = <T>(claim: (waiter?: Waiter) => Promise<T[]>, end: number, signal?: AbortSignal) => Promise<T[]>

/**
 * Makes the line of those who wait for work.
 *
 * @example const waiting = createLine({ client, store, now }); await waiting(claim, now() + 30_000)
 */
export const createLongPoll =
  ({ client, store, now }: { client: Client; store: Store; now: () => number }): LongPoll =>
  async (claim, end, signal) => {
    const over = AbortSignal.any([AbortSignal.timeout(Math.max(0, end - now())), ...(signal ? [signal] : [])])
    const id = crypto.randomUUID().replaceAll('-', '')
    const calls = client.listen(store.keys.calls(id), over)[Symbol.asyncIterator]()
    const next = () =>
      calls.next().then(
        () => true,
        () => false,
      )
    const quiet = async (call: Promise<boolean>) => {
      for (let ms = 0; ms < ASK_AGAIN && now() < end && !over.aborted; ms += 500)
        if (await Promise.race([call, sleep(500, over).then(() => false)])) return
    }
    await quiet(next())
    try {
      for (;;) {
        const call = next()
        const left = over.aborted ? 0 : Math.max(0, end - now())
        // With no time left, too: it leaves the line then, and no job calls it in vain.
        const found = await claim({ id, wait: left })
        if (found.length || left === 0) return found
        await quiet(call)
      }
    } finally {
      calls.return?.(undefined).catch(() => undefined)
    }
  }
