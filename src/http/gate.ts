// Requests are counted before Redis is asked.

import { SidejobError } from '../core/errors.ts'
import { requestLimits } from '../core/limits.ts'
import { Lru } from '../core/lru.ts'
import { buckets, type Pace } from './bucket.ts'
import { networkOf } from './network.ts'
import type { Caller } from './places.ts'

export type Gate = {
  /** Takes a token from the bucket of the caller's address. If the caller is found, puts the token back. */
  lookUp: <T>(request: Request, name: string | undefined, find: () => Promise<T | undefined>) => Promise<T | undefined>
  /** The stream counts until the returned function is called. @throws LIMITED */
  listen: (caller: Pick<Caller, 'id' | 'unlimited' | 'tenant'>, isAtRoot: boolean) => () => void
  /** @throws LIMITED */
  count: (caller: Pick<Caller, 'id' | 'limits' | 'unlimited' | 'tenant' | 'tenantLimits'>) => void
}

export type Limiter = (address: string) => Promise<boolean>

const STRANGERS = 'requests without a known API key, session or tenant from this address'

/** Seconds until the caller should try again. By then, another stream may have ended. */
const LISTEN_AGAIN = 5

const paceOf = (rate: number | undefined): Pace =>
  rate === undefined ? requestLimits.requests : { rate, burst: 2 * rate }

function limited(wait: number, what: string, { rate }: Pace): void {
  if (wait === 0) return
  const message = `${what}: expected at most ${rate} per second on average. Try again in ${Math.ceil(wait)} s`
  throw new SidejobError('LIMITED', message, { retryAfter: wait })
}

export function createGate({ limiter }: { limiter?: Limiter }): Gate {
  const take = buckets(requestLimits.remembered, Date.now)
  const known = new Lru<string, true>(requestLimits.remembered)
  const listening = new Map<string, number>()

  function enter(name: string, most: number, what: string): void {
    const open = listening.get(name) ?? 0
    if (open >= most) {
      const message = `${what}: expected at most ${most} open streams and long polls. Close one, or try again later`
      throw new SidejobError('LIMITED', message, { retryAfter: LISTEN_AGAIN })
    }
    listening.set(name, open + 1)
  }

  function leave(name: string): void {
    const open = listening.get(name)! - 1
    if (open > 0) listening.set(name, open)
    else listening.delete(name)
  }

  async function charge(network: string): Promise<void> {
    limited(take(`network ${network}`, requestLimits.strangers), STRANGERS, requestLimits.strangers)
    if (limiter && !(await limiter(network)))
      limited(1 / requestLimits.strangers.rate, STRANGERS, requestLimits.strangers)
  }

  return {
    async lookUp(request, name, find) {
      const address = request.headers.get('cf-connecting-ip')
      // Callers without an address (never on Cloudflare) are not counted, because they would share one bucket.
      if (address === null) return find()
      const network = networkOf(address)
      const wasKnown = name !== undefined && known.get(name) === true
      if (!wasKnown) await charge(network)
      const found = await find()
      if (found === undefined) {
        if (name !== undefined) known.delete(name)
        return undefined
      }
      if (!wasKnown) take(`network ${network}`, requestLimits.strangers, -1)
      if (name !== undefined) known.set(name, true)
      return found
    },

    listen({ id, unlimited, tenant }, isAtRoot) {
      if (unlimited) return () => undefined
      const [key, root] = [`key ${id}`, `root ${tenant ?? ''}`]
      enter(key, requestLimits.listeners.key, 'This API key')
      try {
        if (isAtRoot) enter(root, requestLimits.listeners.root, 'The channel /')
      } catch (error) {
        leave(key)
        throw error
      }
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        leave(key)
        if (isAtRoot) leave(root)
      }
    },

    count({ id, limits, unlimited, tenant, tenantLimits }) {
      if (unlimited) return
      // A refused request of one key must not take a token from the other keys of the tenant.
      const own = paceOf(limits?.requestsPerSecond)
      limited(take(`key ${id}`, own), 'requests with this API key', own)
      if (tenantLimits?.requestsPerSecond === undefined) return
      const pace = paceOf(tenantLimits.requestsPerSecond)
      limited(take(`tenant ${tenant}`, pace), `requests of tenant ${tenant}`, pace)
    },
  }
}
