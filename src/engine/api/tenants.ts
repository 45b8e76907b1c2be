// Tenants: which there are. Each has a namespace of its own in Redis, and everything of it lies there.

import { SidejobError } from '../../core/errors.ts'
import { Lru } from '../../core/lru.ts'
import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'

/** For how long an isolate relies on what it has read of a tenant. */
const FRESH = 10_000
const REMEMBERED = 1_000
/** The tick asks after each of them, every minute. */
const MOST = 1_000

export function createTenants({
  store,
  now,
}: Context): Pick<Engine, 'tenants' | 'addTenant' | 'removeTenant' | 'hasTenant'> {
  const seen = new Lru<string, { at: number; is: boolean }>(REMEMBERED)

  return {
    async tenants() {
      const rows = Object.entries(await store.tenants()).map(([name, text]) => ({
        name,
        createdAt: readObject<{ createdAt: number }>(text)?.createdAt ?? 0,
      }))
      return { tenants: rows.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    async addTenant(name) {
      const all = await store.tenants()
      if (!all[name] && Object.keys(all).length >= MOST)
        throw new SidejobError('LIMITED', `expected at most ${MOST} tenants`)
      await store.addTenant(name, JSON.stringify({ createdAt: now() }))
      seen.delete(name)
    },

    async removeTenant(name) {
      if ((await store.removeTenant(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no tenant ${name}`)
      seen.delete(name)
    },

    async hasTenant(name) {
      const last = seen.get(name)
      if (last && Date.now() - last.at < FRESH) return last.is
      const is = (await store.tenant(name)) !== null
      seen.set(name, { at: Date.now(), is })
      return is
    },
  }
}
