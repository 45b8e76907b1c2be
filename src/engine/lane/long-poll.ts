import { sleep } from '../../core/sleep.ts'
import type { Client } from '../../redis/client.ts'

export type Waiter = { id: string; wait: number }

const ASK_AGAIN = 15_000
/** Milliseconds between claims if a proxy blocks subscriptions, or if the plan has no free connection for them. */
const ASK_AGAIN_UNCALLED = 1_000

type Wait = {
  channel: (waiter: string) => string
  end: number
  signal?: AbortSignal
}

/** The first call of `ask` has no waiter, because only a client that waits needs a subscription. */
export type LongPoll = <T>(ask: (waiter?: Waiter) => Promise<T[]>, options: Wait) => Promise<T[]>

export const createLongPoll =
  ({ client, now }: { client: Client; now: () => number }): LongPoll =>
  async (ask, { channel, end, signal }) => {
    const first = await ask()
    if (first.length || now() >= end || signal?.aborted) return first
    const over = AbortSignal.any([AbortSignal.timeout(Math.max(0, end - now())), ...(signal ? [signal] : [])])
    const id = crypto.randomUUID().replaceAll('-', '')
    const calls = client.listen(channel(id), over)[Symbol.asyncIterator]()
    let pause = ASK_AGAIN
    const neverCalled = () => {
      pause = ASK_AGAIN_UNCALLED
      return new Promise<never>(() => {})
    }
    const next = (): Promise<boolean> => calls.next().then(({ done }) => (done ? neverCalled() : true), neverCalled)
    // A call resolves the oldest pending `next`, so each `next` is kept until it is called.
    let call = next()
    const quiet = async () => {
      for (let ms = 0; ms < pause && now() < end && !over.aborted; ms += 500)
        if (await Promise.race([call, sleep(500, over).then(() => false)])) {
          call = next()
          return
        }
    }
    await quiet()
    try {
      for (;;) {
        const left = over.aborted ? 0 : Math.max(0, end - now())
        // `wait: 0` makes Redis forget this claim, so that no new job calls it.
        const found = await ask({ id, wait: left })
        if (found.length || left === 0) return found
        await quiet()
      }
    } finally {
      calls.return?.(undefined).catch(() => undefined)
    }
  }
