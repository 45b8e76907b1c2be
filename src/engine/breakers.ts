// Spares hosts that keep failing: few calls at once to one host, none while it is known to be down, then one to see.

import type { BreakerSettings, BreakerState, Store } from '../redis/store.ts'
import { pause } from './pause.ts'

// Open after 5 failures in a row, for 10 s doubling to 5 min: a host that was down for 30 min got 10 probes meanwhile,
// and everything that waited for it within 5 min after. A probe has its 30 s and a little more to answer.
export const breakerDefaults: BreakerSettings = { threshold: 5, base: 10_000, cap: 300_000, probing: 35_000 }

/** Calls to one host at once, per process; and how long one waits for its turn before it goes back into the queue. */
const AT_ONCE = 4
const PATIENCE = 5_000
const FRESH = 1_000

export type Permit = BreakerState | { state: 'busy' }

/** What a call showed: `down` is about the host, not about what was asked of it. */
export type Outcome = { down: boolean; after?: number }

/**
 * Breakers of all hosts, shared through Redis, with what was just seen kept here.
 *
 * @example
 * const permit = await breakers.enter('example.com')
 * if (permit.state === 'closed' || permit.state === 'probe') await breakers.leave('example.com', permit, { down: false })
 */
export function createBreakers({ store, now }: { store: Store; now: () => number }, settings = breakerDefaults) {
  const under = new Map<string, number>()
  const seen = new Map<string, BreakerState & { at: number }>()

  const keep = (host: string, state: BreakerState): BreakerState => {
    if (seen.size > 1_000) seen.clear()
    seen.set(host, { ...state, at: now() })
    return state
  }

  /** What is known without asking: a closed breaker for a moment, an open one until its time. */
  function known(host: string): BreakerState | undefined {
    const last = seen.get(host)
    if (last?.state === 'closed' && last.failures === 0 && now() - last.at < FRESH) return last
    return last?.state === 'open' && last.until! > now() ? last : undefined
  }

  async function turn(host: string): Promise<boolean> {
    // A clock that only measures: a test's moved time must not end a wait.
    const until = Date.now() + PATIENCE
    while ((under.get(host) ?? 0) >= AT_ONCE) {
      if (Date.now() >= until) return false
      await pause(20)
    }
    under.set(host, (under.get(host) ?? 0) + 1)
    return true
  }

  function end(host: string): void {
    const left = (under.get(host) ?? 1) - 1
    if (left > 0) under.set(host, left)
    else under.delete(host)
  }

  /** Whether a call may be made now; one that may must be ended by `leave`. */
  async function enter(host: string): Promise<Permit> {
    if (!(await turn(host))) return { state: 'busy' }
    try {
      const state = known(host) ?? (await store.breaker(host, 'ask', settings))
      if (state.state !== 'probe') keep(host, state)
      if (state.state === 'open') end(host)
      return state
    } catch (error) {
      end(host)
      throw error
    }
  }

  async function leave(host: string, permit: BreakerState, { down, after = 0 }: Outcome): Promise<void> {
    try {
      const floor = Math.min(after, settings.cap)
      if (down)
        keep(
          host,
          await store.breaker(host, permit.state === 'probe' ? 'probe failed' : 'failed', { ...settings, floor }),
        )
      else if (permit.failures > 0) keep(host, await store.breaker(host, 'succeeded', settings))
    } finally {
      end(host)
    }
  }

  return { enter, leave }
}

export type Breakers = ReturnType<typeof createBreakers>
