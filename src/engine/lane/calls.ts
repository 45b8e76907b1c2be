// Waits to be called: a lane without work listens to a channel of its own name, on which scripts say that there is some.

/** Subscribes; first '', when the subscription stands. */
export type Listen = (lane: string, signal: AbortSignal) => AsyncIterable<string>

/** Takes what comes with a call; false: it has to be asked for. */
export type Take = (call: string) => boolean

type Calls = {
  /**
   * Until it is called to ask, or so many milliseconds, or until something else. That the subscription stands is a call:
   * something may have come before.
   */
  next: (ms: number, or: Promise<void>) => Promise<void>
  /** Whether Redis tells of calls: it may refuse to, and a connection may end. */
  works: () => boolean
  close: () => void
}

function createCalls(listen: Listen, lane: string, take: Take): Calls {
  const over = new AbortController()
  let works = true
  let call = Promise.withResolvers<void>()

  async function hear(): Promise<void> {
    try {
      for await (const message of listen(lane, over.signal)) if (!take(message)) call.resolve()
    } finally {
      works = false
      call.resolve()
    }
  }
  hear().catch(() => undefined)

  return {
    async next(ms, or) {
      const late = Promise.withResolvers<boolean>()
      // Not a sleep that a signal ends: an abort makes an error, a fortieth of all that a lone job costs workerd.
      const timer = setTimeout(late.resolve, ms, false)
      const isCalled = await Promise.race([call.promise.then(() => true), or.then(() => false), late.promise])
      clearTimeout(timer)
      if (isCalled && works) call = Promise.withResolvers()
    },
    works: () => works,
    close: () => over.abort(),
  }
}

export type WarmthOptions = {
  listen?: Listen
  /** Milliseconds after its last run for which a lane stays. */
  warm: number
  /** How many lanes may wait at once. */
  most: number
  elapsed: () => number
}

/** How a lane waits for work. */
export type Warmth = {
  /** It has had work. */
  worked: () => void
  /** Whether it has had work lately. */
  busy: () => boolean
  /** For how many milliseconds it would wait now. */
  left: () => number
  /** Until it is called to ask, until something else, or so many milliseconds at most. */
  wait: (ms: number, or: Promise<void>) => Promise<void>
  end: () => void
}

/** A lane that does not wait: it is there for something else, or nobody could call it. */
export const cold: Warmth = {
  worked: () => {},
  busy: () => false,
  left: () => 0,
  wait: async () => {},
  end: () => {},
}

/**
 * Makes what lanes wait with. A lane listens from its first wait on, until it ends.
 *
 * @example const newWarmth = createWarmth({ listen, warm: 10_000, most: 5, elapsed }); const warmth = newWarmth(lane, end, take)
 */
export function createWarmth({ listen, warm, most, elapsed }: WarmthOptions) {
  let listening = 0
  return (lane: string, end: number, take: Take): Warmth => {
    if (!listen || warm <= 0) return cold
    let calls: Calls | undefined
    let last = elapsed()
    const mayWait = () => (calls ? calls.works() : listening < most)
    const left = () => (mayWait() ? Math.max(0, Math.min(last + warm, end) - elapsed()) : 0)
    return {
      worked: () => {
        last = elapsed()
      },
      busy: () => mayWait() && elapsed() - last < warm,
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
