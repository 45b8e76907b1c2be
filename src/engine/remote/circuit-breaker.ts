import { Lru } from '../../core/lru.ts'
import { iso } from '../../core/time.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { Store } from '../../redis/store.ts'
import type { BreakerSettings, BreakerState, ClaimedJob } from '../../redis/types.ts'
import { returned } from '../jobs/outcome.ts'

// `threshold` is a number of failures. The other values are milliseconds. A failing host is not called for `base`.
// After each failed trial, this time doubles, up to `cap`.
export const breakerDefaults: BreakerSettings = { threshold: 5, base: 10_000, cap: 300_000, probing: 35_000 }

/** Push workers have their own breakers, so that an unhealthy push worker does not stop callbacks to the same host. */
export const PUSHED = 'push/'

export const endpointOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return PUSHED + host + pathname.replace(/\/+$/, '')
}

const FRESH = 1_000
/** An operator may have closed the breaker, so the breaker is read again after this many milliseconds. */
const OPEN_FRESH = 10_000

export function waitForHost(claimed: ClaimedJob, host: string, until: number, now: number, random: number): RunOutcome {
  // The random part keeps the jobs from starting in the same second.
  const delay = Math.max(0, until - now) + 1_000 + random * 9_000
  return returned(claimed, delay, `${host} keeps failing; next attempt after ${iso(until)}`)
}

export type HostReport = { down?: boolean; after?: number }

type BreakerOptions = {
  store: Store
  shut: (host: string, until: number | null) => Promise<void>
}

export function createCircuitBreakers({ store, shut }: BreakerOptions) {
  const seen = new Lru<string, BreakerState & { at: number }>(1_000)

  const keep = (host: string, state: BreakerState): void => seen.set(host, { ...state, at: store.now() })

  function known(host: string): BreakerState | undefined {
    const last = seen.get(host)
    if (last?.state === 'closed' && last.failures === 0 && store.now() - last.at < FRESH) return last
    const isKnown = last?.state === 'open' && last.until! > store.now() && store.now() - last.at < OPEN_FRESH
    return isKnown ? last : undefined
  }

  async function learn(host: string, state: BreakerState): Promise<BreakerState> {
    const isNew = seen.get(host)?.until !== state.until
    keep(host, state)
    if (state.until && isNew) await shut(host, state.until)
    return state
  }

  async function enter(host: string): Promise<BreakerState> {
    return known(host) ?? learn(host, await store.breaker(host, 'ask', breakerDefaults))
  }

  async function pass(host: string, isSuspect: boolean): Promise<BreakerState> {
    return isSuspect || seen.get(host)?.failures ? enter(host) : { state: 'closed', failures: 0 }
  }

  async function leave(host: string, permit: BreakerState, { down, after = 0 }: HostReport): Promise<BreakerState> {
    if (down === undefined) return permit
    if (down) {
      const word = permit.state === 'probe' ? 'probe failed' : 'failed'
      const floor = Math.min(after, breakerDefaults.cap)
      return learn(host, await store.breaker(host, word, { ...breakerDefaults, floor }))
    }
    const last = seen.get(host)
    if (permit.failures === 0 && !(last?.state === 'closed' && last.failures > 0)) return permit
    // The cache is updated first, so that only one of several concurrent calls reports the change.
    const closed: BreakerState = { state: 'closed', failures: 0 }
    keep(host, closed)
    await store.breaker(host, 'succeeded', breakerDefaults)
    await shut(host, null)
    return closed
  }

  return { enter, pass, leave }
}

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>
