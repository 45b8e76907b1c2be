// What holds whatever happens: the check of all that is kept, its repair, and the breakers of hosts that fail.

import { type Parts, type RawRing, ringsOf } from '../parts.ts'
import * as scripts from '../scripts.generated.ts'
import type { BreakerSettings, BreakerState, Fault, FaultKind, Ring } from '../types.ts'

/** Jobs of one look at a time: so that none holds Redis for more than some milliseconds. */
const VERIFIED_AT_ONCE = 50
const PHASES = 10
const FIRST_POSITION = PHASES

export function createUpkeep({ client: { evaluate, ask }, keys, base }: Parts) {
  /** Looks at a slice of everything; a position is where a phase goes on, with the number of the phase as its last digit. */
  async function verify(position = FIRST_POSITION, size = VERIFIED_AT_ONCE) {
    const args = { ...base(), phase: position % PHASES, from: Math.floor(position / PHASES), size }
    const [, faults, phase, from, seen] = (await evaluate(scripts.verify, [], args, [])) as [
      string,
      [FaultKind, string, string, string][],
      string,
      string,
      string,
    ]
    return {
      faults: faults.map(([kind, who, what, remedy]): Fault => ({ kind, who, what, remedy })),
      next: phase === '' ? null : Number(from) * PHASES + Number(phase),
      seen: Number(seen),
    }
  }

  /** Puts right what was found at jobs, queues, limits, channels and names. */
  async function repair(targets: readonly Pick<Fault, 'kind' | 'who'>[]): Promise<Ring[]> {
    const rest = [String(targets.length), ...targets.flatMap(({ kind, who }) => [kind, who])]
    const [, rings] = (await evaluate(scripts.repair, [], base(), rest)) as [string, RawRing[]]
    return ringsOf(rings)
  }

  /** What is known of a host, and what a call to it has shown. */
  async function breaker(
    host: string,
    word: 'ask' | 'failed' | 'probe failed' | 'succeeded',
    settings: BreakerSettings & { floor?: number },
  ): Promise<BreakerState> {
    const [state, until, failures] = (await evaluate(
      scripts.breaker,
      [keys.breaker(host)],
      { floor: 0, ...settings, ...base(), host, word },
      [],
    )) as [BreakerState['state'], string, string]
    return { state, failures: Number(failures), ...(until ? { until: Number(until) } : {}) }
  }

  /** The hosts whose breakers are open, the one that was opened last first: how often each has failed, and until when. */
  async function openBreakers(most: number): Promise<{ host: string; failures: number; until: number }[]> {
    const hosts = await ask<string[]>((redis) => redis.zrange(keys.breakers, 0, most - 1, { rev: true }))
    if (hosts.length === 0) return []
    const records = await ask<(string | null)[]>((redis) => redis.mget(...hosts.map(keys.breaker)))
    return hosts.flatMap((host, i) => {
      const [failures, until] = (records[i] ?? '').split(',').map(Number.parseFloat)
      return failures && until !== undefined ? [{ host, failures, until }] : []
    })
  }

  return { verify, repair, breaker, openBreakers }
}
