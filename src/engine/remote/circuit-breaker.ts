// Spares hosts that keep failing: none is called while it is known to be down, then once, to see.

import type { Store } from '../../redis/store.ts'
import type { BreakerSettings, BreakerState } from '../../redis/types.ts'

// Open after 5 failures in a row, for 10 s doubling to 5 min: a host that was down for 30 min got 10 probes meanwhile,
// and everything that waited for it within 5 min after. A probe has its 30 s and a little more to answer.
export const breakerDefaults: BreakerSettings = { threshold: 5, base: 10_000, cap: 300_000, probing: 35_000 }

/** Push workers have breakers of their own, an endpoint each: callbacks to the same host go on. */
export const PUSHED = 'push/'

const FRESH = 1_000
/** So long an open one is taken to be so unasked: somebody may have closed it by hand. */
const OPEN_FRESH = 10_000

/** What a call showed: `down` is about the host, not about what was asked of it; absent where it was not even asked. */
export type HostReport = { down?: boolean; after?: number }

export type BreakerOptions = {
  store: Store
  /** Lets nobody through to a host before a moment; null: no longer. */
  shut: (host: string, until: number | null) => Promise<void>
}

/**
 * Breakers of all hosts, shared through Redis, with what was just seen kept here.
 *
 * @example
 * const permit = await breakers.enter('example.com')
 * if (permit.state !== 'open') await breakers.leave('example.com', permit, { down: false })
 */
export function createCircuitBreakers({ store, shut }: BreakerOptions, settings = breakerDefaults) {
  const seen = new Map<string, BreakerState & { at: number }>()

  const keep = (host: string, state: BreakerState): void => {
    if (seen.size > 1_000) seen.clear()
    seen.set(host, { ...state, at: store.now() })
  }

  /** What is known without asking: a closed breaker for a moment, an open one for a little longer. */
  function known(host: string): BreakerState | undefined {
    const last = seen.get(host)
    if (last?.state === 'closed' && last.failures === 0 && store.now() - last.at < FRESH) return last
    const isKnown = last?.state === 'open' && last.until! > store.now() && store.now() - last.at < OPEN_FRESH
    return isKnown ? last : undefined
  }

  /** What Redis says; whoever waits for a host is held up once for each time that it is found open. */
  async function learn(host: string, state: BreakerState): Promise<BreakerState> {
    const isNew = seen.get(host)?.until !== state.until
    keep(host, state)
    if (state.until && isNew) await shut(host, state.until)
    return state
  }

  /** Whether a call may be made now; one that may must be ended by `leave`. */
  async function enter(host: string): Promise<BreakerState> {
    return known(host) ?? learn(host, await store.breaker(host, 'ask', settings))
  }

  /** As `enter`, but a host that nothing is known against is let through without asking. */
  async function pass(host: string, isSuspect: boolean): Promise<BreakerState> {
    return isSuspect || seen.get(host)?.failures ? enter(host) : { state: 'closed', failures: 0 }
  }

  /** What is known of the host after the call. */
  async function leave(host: string, permit: BreakerState, { down, after = 0 }: HostReport): Promise<BreakerState> {
    if (down === undefined) return permit
    if (down) {
      const word = permit.state === 'probe' ? 'probe failed' : 'failed'
      return learn(host, await store.breaker(host, word, { ...settings, floor: Math.min(after, settings.cap) }))
    }
    const last = seen.get(host)
    if (permit.failures === 0 && !(last?.state === 'closed' && last.failures > 0)) return permit
    // Kept first: those who end beside this one need not say the same.
    const closed: BreakerState = { state: 'closed', failures: 0 }
    keep(host, closed)
    await store.breaker(host, 'succeeded', settings)
    await shut(host, null)
    return closed
  }

  return { enter, pass, leave }
}

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>
