import { SidejobError } from '../../core/errors.ts'
import { objectsIn } from '../../redis/table.ts'
import type { Context } from '../context.ts'

const MOST = 50

export function createViews({ store, now }: Context) {
  return {
    async list() {
      const found = objectsIn<{ query: string; by: string; at: number }>(await store.views.all())
      const views = found.map(([name, view]) => ({ name, ...view }))
      return { views: views.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    async set(name: string, { query, by }: { query: string; by: string }) {
      const known = Object.keys(await store.views.all())
      if (!known.includes(name) && known.length >= MOST)
        throw new SidejobError('LIMITED', `expected at most ${MOST} shared views: delete one first`)
      await store.views.set(name, JSON.stringify({ query, by, at: now() }))
    },

    async remove(name: string) {
      if ((await store.views.remove(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no view ${name}`)
    },
  }
}
