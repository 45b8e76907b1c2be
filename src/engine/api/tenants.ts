// Tenants. Each has its own namespace in Redis, which holds everything of it.

import { SidejobError } from '../../core/errors.ts'
import { Lru } from '../../core/lru.ts'
import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'

const FRESH = 10_000
const REMEMBERED = 1_000
/** The tick visits each tenant every minute. */
const MOST = 1_000

export function createTenants({ store, now }: Context) {
  const seen = new Lru<string, { at: number; is: boolean }>(REMEMBERED)

  return {
    /** Lists tenants. */
    async list(): Promise<{ tenants: { name: string; createdAt: number }[] }> {
      const rows = Object.entries(await store.tenants()).map(([name, text]) => ({
        name,
        createdAt: readObject<{ createdAt: number }>(text)?.createdAt ?? 0,
      }))
      return { tenants: rows.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    /** Creates a tenant. */
    async add(name: string): Promise<void> {
      const all = await store.tenants()
      if (!all[name] && Object.keys(all).length >= MOST)
        throw new SidejobError('LIMITED', `expected at most ${MOST} tenants`)
      await store.addTenant(name, JSON.stringify({ createdAt: now() }))
      seen.delete(name)
    },

    /** Removes a tenant. Its keys and bells are refused from then on; its data stays in Redis. */
    async remove(name: string): Promise<void> {
      if ((await store.removeTenant(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no tenant ${name}`)
      seen.delete(name)
    },

    /** Returns whether a tenant exists. */
    async has(name: string): Promise<boolean> {
      const last = seen.get(name)
      if (last && Date.now() - last.at < FRESH) return last.is
      const is = (await store.tenant(name)) !== null
      seen.set(name, { at: Date.now(), is })
      return is
    },
  }
}
