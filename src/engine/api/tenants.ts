import { add, BUDGET, type Sum, unitsOf } from '../../core/budget.ts'
import { SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'
import type { KeyLimits, Tenant } from '../engine.ts'
import { createRecent } from './recent.ts'

const MAX_TENANTS = 1_000

type Kept = Omit<Tenant, 'name'>

const tenantOf = (name: string, text: string): Tenant => ({ name, createdAt: 0, ...readObject<Kept>(text) })

export function createTenants({ store, now }: Context) {
  const recent = createRecent(async (name) => {
    const text = await store.tenants.get(name)
    return text === null ? null : tenantOf(name, text)
  })

  return {
    async list() {
      const rows = Object.entries(await store.tenants.all()).map(([name, text]) => tenantOf(name, text))
      return { tenants: rows.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    async set(name: string, { limits }: { limits?: KeyLimits }) {
      const all = await store.tenants.all()
      const known = Object.hasOwn(all, name) ? tenantOf(name, all[name]!) : undefined
      if (!known && Object.keys(all).length >= MAX_TENANTS)
        throw new SidejobError('LIMITED', `expected at most ${MAX_TENANTS} tenants: suspend one first`)
      const { createdAt } = known ?? { createdAt: now() }
      const kept: Kept = { createdAt, limits: limits ?? known?.limits }
      await store.tenants.set(name, JSON.stringify(kept))
      recent.forget(name)
    },

    async remove(name: string) {
      if ((await store.tenants.remove(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no tenant ${name}`)
      recent.forget(name)
    },

    async get(name: string) {
      return (await recent.get(name)) ?? undefined
    },

    async erase(name: string, { cursor, preview = false }: { cursor: string; preview?: boolean }) {
      const sum: Sum = new Map()
      let keys = 0
      let next: string | null = cursor
      do {
        const found: Awaited<ReturnType<typeof store.keysOfTenant>> = await store.keysOfTenant(name, next)
        add(sum, 'names', found.looked)
        if (!preview) {
          add(sum, 'writes', found.keys.length)
          await store.erase(found.keys)
        }
        keys += found.keys.length
        next = found.cursor
      } while (next !== null && unitsOf(sum) < BUDGET)
      return { keys, cursor: next }
    },
  }
}
