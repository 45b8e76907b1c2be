/** Yields '' when the subscription is active, then each call: a message that wakes the lane. */
export type Listen = (lane: string, signal: AbortSignal) => AsyncIterable<string>

type Take = (call: string) => boolean

function createCalls(listen: Listen, lane: string, take: Take) {
  const over = new AbortController()
  let works = true
  let call = Promise.withResolvers<void>()

  async function receive(): Promise<void> {
    try {
      for await (const message of listen(lane, over.signal)) if (!take(message)) call.resolve()
    } finally {
      works = false
      call.resolve()
    }
  }
  receive().catch(() => undefined)

  return {
    /** A new subscription counts as a call, because jobs may have arrived before the subscription. */
    async next(ms: number, or: Promise<void>): Promise<void> {
      const late = Promise.withResolvers<boolean>()
      // `sleep` with a signal would be slower: creating the abort error takes 2.5% of the time of a single job in
      // workerd.
      const timer = setTimeout(late.resolve, ms, false)
      const isCalled = await Promise.race([call.promise.then(() => true), or.then(() => false), late.promise])
      clearTimeout(timer)
      if (isCalled && works) call = Promise.withResolvers()
    },
    works: () => works,
    close: () => over.abort(),
  }
}

type Warmth = {
  worked: () => void
  busy: () => boolean
  left: () => number
  wait: (ms: number, or: Promise<void>) => Promise<void>
  end: () => void
}

export const cold: Warmth = {
  worked: () => {},
  busy: () => false,
  left: () => 0,
  wait: async () => {},
  end: () => {},
}

export function createWarmth({ listen, warm, most }: { listen?: Listen; warm: number; most: number }) {
  let listening = 0
  return (lane: string, end: number, take: Take): Warmth => {
    if (!listen || warm <= 0) return cold
    let calls: ReturnType<typeof createCalls> | undefined
    let last = performance.now()
    const mayWait = () => (calls ? calls.works() : listening < most)
    const left = () => (mayWait() ? Math.max(0, Math.min(last + warm, end) - performance.now()) : 0)
    return {
      worked: () => {
        last = performance.now()
      },
      busy: () => mayWait() && performance.now() - last < warm,
      left,
      async wait(ms, or) {
        if (!calls) {
          calls = createCalls(listen, lane, take)
          listening++
        }
        await calls.next(Math.min(ms, left()), or)
      },
      end: () => {
        if (!calls) return
        calls.close()
        listening--
      },
    }
  }
}
