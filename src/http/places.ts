// Where a request is served: by the deployment itself, or inside one tenant. A tenant has an engine of its own over a
// namespace of its own in Redis, so nothing that a request can name there is anybody else's.

import { SidejobError } from '../core/errors.ts'
import type { Downloads } from '../core/files.ts'
import { Lru } from '../core/lru.ts'
import type { KnownKey } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

export type Place<E extends Engine = Engine> = {
  engine: E
  /** Where it is reached from outside, without a slash at the end. */
  publicUrl: string
  /** Where its files are kept; without it there are no downloads. */
  downloads?: Downloads
}

/** Who asks: the key, its text where it came as such, the engine that knows it, and the tenant that is asked. */
export type Caller = KnownKey & { key?: string; home: Engine; tenant?: string }

/** The text of the key that somebody came with: a session of theirs does not tell it. */
export function keyOf({ key }: Caller): string {
  if (key === undefined)
    throw new SidejobError('FORBIDDEN', 'expected an API key, got a session: it cannot be passed on')
  return key
}

export type Tenants<E extends Engine = Engine> = {
  /** The place of a tenant; undefined where there is no such tenant. */
  open: (name: string) => Promise<Place<E> | undefined>
  /** One round of what is due, of the deployment and of each tenant; one that fails keeps nobody else from theirs. */
  tick: (by?: Parameters<Engine['tick']>[0]) => ReturnType<Engine['tick']>
}

/** How many tenants an isolate keeps an engine for. */
const OPEN = 200
/** How many are asked what is due at once. */
const AT_ONCE = 8

/**
 * The places of tenants, made when they are first asked for.
 *
 * @example const tenants = createPlaces(engine, (tenant) => ({ engine: createEngine(…), publicUrl: addressOf(publicUrl, tenant) }))
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

  /** Asked for once in any case, should what says that there are tenants have been lost. */
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
