// The place of a request: the deployment or a tenant. A tenant has its own engine with its own namespace in Redis, so
// a request can name nothing of another tenant.

import { SidejobError } from '../core/errors.ts'
import type { Downloads } from '../core/files.ts'
import { Lru } from '../core/lru.ts'
import type { KnownKey } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

export type Place<E extends Engine = Engine> = {
  engine: E
  /** Public address without a trailing slash. */
  publicUrl: string
  /** Storage of files; without it there are no downloads. */
  downloads?: Downloads
}

/** The caller: its key, the key's text if it was sent, the engine that knows the key, and the tenant of the request. */
export type Caller = KnownKey & { key?: string; home: Engine; tenant?: string }

/** The text of the caller's key, which a session does not know. */
export function keyOf({ key }: Caller): string {
  if (key === undefined)
    throw new SidejobError('FORBIDDEN', 'expected an API key, got a session: it cannot be passed on')
  return key
}

export type Tenants<E extends Engine = Engine> = {
  /** Returns the place of a tenant, or undefined. */
  open: (name: string) => Promise<Place<E> | undefined>
  /** One tick of the deployment and of each tenant. A failure does not stop the next one. */
  tick: (by?: Parameters<Engine['tick']>[0]) => ReturnType<Engine['tick']>
}

/** Number of tenants whose engines an isolate keeps. */
const OPEN = 200
/** Number of concurrent ticks of tenants. */
const AT_ONCE = 8

/**
 * Creates the places of tenants on first use.
 *
 * @example const tenants = createPlaces(engine, (tenant) => ({ engine: createEngine(…), publicUrl:
 * addressOf(publicUrl, tenant) }))
 */
export function createPlaces<E extends Engine>(
  engine: { tenants: Pick<Engine['tenants'], 'has' | 'list'>; tick: Engine['tick'] },
  make: (tenant: string) => Place<E>,
): Tenants<E> {
  const places = new Lru<string, Place<E>>(OPEN)

  function placeOf(name: string): Place<E> {
    const place = places.get(name) ?? make(name)
    places.set(name, place)
    return place
  }

  /** True at first, in case the mark for tenants was lost. */
  let wereThere = true

  async function tickEach(): Promise<void> {
    const { tenants } = await engine.tenants.list()
    wereThere = tenants.length > 0
    const left = tenants.map(({ name }) => name)
    const failed: unknown[] = []
    const goOn = async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop())
        await placeOf(name)
          .engine.tick()
          .catch((error) => failed.push(error))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, goOn))
    if (failed.length > 0) throw failed[0]
  }

  return {
    open: async (name) => ((await engine.tenants.has(name)) ? placeOf(name) : undefined),

    async tick(by) {
      const told = Promise.withResolvers<boolean>()
      const own = engine.tick(by, told.resolve)
      own.catch(() => told.resolve(true))
      const each = told.promise.then((areThere) => (areThere || wereThere ? tickEach() : undefined))
      const [ticked] = await Promise.all([own, each])
      return ticked
    },
  }
}
