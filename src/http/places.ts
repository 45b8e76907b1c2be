// Each tenant has its own engine and namespace, so a request cannot name data of another tenant.

import { messageOf, missing, SidejobError } from '../core/errors.ts'
import type { Downloads } from '../core/files.ts'
import { Lru } from '../core/lru.ts'
import { forEach } from '../core/slots.ts'
import type { KeyLimits, KnownKey } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'

export type Place<E extends Engine = Engine> = {
  engine: E
  publicUrl: string
  downloads?: Downloads
  tenantLimits?: KeyLimits
}

/** `key`: the API key, as the caller sent it. `home`: the engine that stores the key. */
export type Caller = KnownKey & { key?: string; home: Engine; tenant?: string; tenantLimits?: KeyLimits }

export function keyOf({ key }: Caller): string {
  if (key === undefined)
    throw new SidejobError('FORBIDDEN', 'expected an API key, got a session: create links and tokens with a key')
  return key
}

export type Tenants<E extends Engine = Engine> = {
  open: (name: string) => Promise<Place<E> | undefined>
  /** Each call erases one slice: first of the keys in Redis, then of the history, then of the files. */
  erase: (
    name: string,
    slice: { cursor?: string; preview?: boolean },
  ) => Promise<{ keys: number; files: number; cursor: string | null }>
  /** Also runs the tick of each tenant, even if the tick of another tenant fails. */
  tick: (by?: Parameters<Engine['tick']>[0]) => ReturnType<Engine['tick']>
}

const OPEN = 200
const ERASED_FILES = 100
const FILES = 'files:'
const HISTORY = 'history:'
const AT_ONCE = 8

export function createPlaces<E extends Engine>(
  engine: { tenants: Pick<Engine['tenants'], 'get' | 'list' | 'remove' | 'erase'>; tick: Engine['tick'] },
  make: (tenant: string) => Place<E>,
): Tenants<E> {
  const places = new Lru<string, Place<E>>(OPEN)

  function placeOf(name: string): Place<E> {
    const place = places.get(name) ?? make(name)
    places.set(name, place)
    return place
  }

  async function eraseFiles(name: string, cursor: string, preview = false) {
    const { bucket } = placeOf(name).downloads!.files
    const { objects, cursor: next } = await bucket.list({ limit: ERASED_FILES, ...(cursor && { cursor }) })
    if (!preview) await Promise.all(objects.map(({ key }) => bucket.delete(key)))
    return { files: objects.length, cursor: next === undefined ? null : FILES + next }
  }

  /** Starts as true, so that the first tick looks for tenants even if Redis lost the entry `d:tenants`. */
  let wereThere = true

  async function tickEach(): Promise<void> {
    const { tenants } = await engine.tenants.list()
    wereThere = tenants.length > 0
    const failed: Error[] = []
    await forEach(tenants, AT_ONCE, ({ name }) =>
      placeOf(name)
        .engine.tick()
        .catch((error) => failed.push(new Error(`tenant ${name}: ${messageOf(error)}`, { cause: error }))),
    )
    if (failed.length > 0) throw new AggregateError(failed, failed[0]!.message)
  }

  return {
    async open(name) {
      const tenant = await engine.tenants.get(name)
      return tenant && Object.assign(placeOf(name), { tenantLimits: tenant.limits })
    },

    async erase(name, { cursor = '0', preview }) {
      if (!preview) await engine.tenants.remove(name).catch(missing)
      if (cursor.startsWith(FILES)) return { keys: 0, ...(await eraseFiles(name, cursor.slice(FILES.length), preview)) }
      const { history } = placeOf(name).engine
      if (cursor === HISTORY) {
        const more = await history.erase()
        return { keys: 0, files: 0, cursor: more ? HISTORY : placeOf(name).downloads ? FILES : null }
      }
      const erased = await engine.tenants.erase(name, { cursor, preview })
      const files = placeOf(name).downloads ? FILES : null
      const after = history.isOn && !preview ? HISTORY : files
      if (!preview && erased.cursor === null) places.delete(name)
      return { keys: erased.keys, files: 0, cursor: erased.cursor ?? after }
    },

    async tick(by) {
      const tenantsKnown = Promise.withResolvers<boolean>()
      const own = engine.tick(by, tenantsKnown.resolve)
      own.catch(() => tenantsKnown.resolve(true))
      const each = tenantsKnown.promise.then((areThere) => (areThere || wereThere ? tickEach() : undefined))
      // The invocation must wait for both ticks, even if one of them fails.
      await Promise.allSettled([own, each])
      const [ticked] = await Promise.all([own, each])
      return ticked
    },
  }
}
