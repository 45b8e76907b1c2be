// Limits callers before Redis is asked about them: unknown callers by address, known callers by API key. Counted per
// isolate.

import { buckets, type Pace } from '../core/bucket.ts'
import { SidejobError } from '../core/errors.ts'
import { doors } from '../core/limits.ts'
import { Lru } from '../core/lru.ts'
import { networkOf } from '../core/network.ts'
import type { Caller } from './places.ts'

export type Gate = {
  /**
   * Looks a caller up. Each lookup takes from the bucket of the caller's address, and is refused if that is empty. A
   * known caller gets it back and is not limited from then on. `name` identifies the credential; without one, every
   * lookup is limited.
   */
  lookUp: <T>(request: Request, name: string | undefined, find: () => Promise<T | undefined>) => Promise<T | undefined>
  /** Counts a request of a known caller. @throws LIMITED */
  count: (caller: Pick<Caller, 'id' | 'limits' | 'unlimited'>) => void
}

/** Returns whether an address may send another request: the rate limit of a platform. */
export type Limiter = (address: string) => Promise<boolean>

const STRANGERS = 'requests without a known API key, session or tenant from this address'

const paceOf = (rate: number | undefined): Pace => (rate === undefined ? doors.requests : { rate, burst: 2 * rate })

function limited(wait: number, what: string, { rate }: Pace): void {
  if (wait === 0) return
  const message = `${what}: expected at most ${rate} a second on average; the next is free in ${Math.ceil(wait)} s`
  throw new SidejobError('LIMITED', message, { retryAfter: wait })
}

/** @example const gate = createGate({}); await gate.lookUp(request, hash, () => engine.authenticate(key)) */
export function createGate({ limiter }: { limiter?: Limiter }): Gate {
  const take = buckets(doors.remembered, Date.now)
  const known = new Lru<string, true>(doors.remembered)

  async function charge(network: string): Promise<void> {
    limited(take(`network ${network}`, doors.strangers), STRANGERS, doors.strangers)
    if (limiter && !(await limiter(network))) limited(1 / doors.strangers.rate, STRANGERS, doors.strangers)
  }

  return {
    async lookUp(request, name, find) {
      const address = request.headers.get('cf-connecting-ip')
      // Cloudflare always sends it. Without it all callers would share one bucket.
      if (address === null) return find()
      const network = networkOf(address)
      const wasKnown = name !== undefined && known.get(name) === true
      if (!wasKnown) await charge(network)
      const found = await find()
      if (found === undefined) {
        if (name !== undefined) known.delete(name)
        return undefined
      }
      if (!wasKnown) take(`network ${network}`, doors.strangers, -1)
      if (name !== undefined) known.set(name, true)
      return found
    },

    count({ id, limits, unlimited }) {
      if (unlimited) return
      const pace = paceOf(limits?.requestsPerSecond)
      limited(take(`key ${id}`, pace), 'requests with this API key', pace)
    },
  }
}
