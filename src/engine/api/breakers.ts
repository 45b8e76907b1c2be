// Breakers of hosts, as they stand in Redis: those that are open, and closing one by hand.

import { callbackGroup } from '../../core/callback.ts'
import { groupKey } from '../../core/constraint.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'
import { breakerDefaults, PUSHED } from '../remote/circuit-breaker.ts'

const MOST = 200

export function createBreakers({ store, ring }: Context): Pick<Engine, 'breakers' | 'resetBreaker'> {
  return {
    async breakers() {
      const open = await store.openBreakers(MOST)
      return {
        breakers: open.map(({ host, ...state }) =>
          host.startsWith(PUSHED)
            ? { host: host.slice(PUSHED.length), of: 'workers' as const, ...state }
            : { host, of: 'callbacks' as const, ...state },
        ),
      }
    },

    async resetBreaker(host, of) {
      const name = of === 'workers' ? `${PUSHED}${host}` : host
      const { failures } = await store.breaker(name, 'succeeded', breakerDefaults)
      if (failures === 0) throw new SidejobError('NOT_FOUND', `nothing is known against ${host}, which ${of} call`)
      if (of === 'callbacks') await ring(await store.limit(groupKey(callbackGroup(host)), 'shut', {}))
    },
  }
}
