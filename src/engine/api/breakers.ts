import { callbackGroup } from '../../core/callback.ts'
import { groupKey } from '../../core/constraint.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import type { OpenBreaker } from '../engine.ts'
import { breakerDefaults, PUSHED } from '../remote/circuit-breaker.ts'

const MOST = 200

export function createBreakers({ store, ring }: Context) {
  return {
    async list() {
      const open = await store.openBreakers(MOST)
      return {
        breakers: open.map(({ host, ...state }) =>
          host.startsWith(PUSHED)
            ? { host: host.slice(PUSHED.length), of: 'workers' as const, ...state }
            : { host, of: 'callbacks' as const, ...state },
        ),
      }
    },

    async reset(host: string, of: OpenBreaker['of']) {
      const name = of === 'workers' ? `${PUSHED}${host}` : host
      const { failures } = await store.breaker(name, 'succeeded', breakerDefaults)
      if (failures === 0) throw new SidejobError('NOT_FOUND', `no circuit breaker is open for ${host} (${of})`)
      if (of === 'callbacks') await ring(await store.limit(groupKey(callbackGroup(host)), 'shut', {}))
    },
  }
}
