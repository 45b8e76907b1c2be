// The registry of workers as its callers see it.

import type { Worker } from '../../core/worker.ts'
import type { Parts } from '../context.ts'
import type { Engine } from '../engine.ts'

export function createWorkers(
  { store, registry, ring, announce }: Parts,
  workers: readonly Worker[],
): Pick<Engine, 'workers' | 'register' | 'unregister'> {
  return {
    async workers() {
      await announce()
      const queues = new Set([...(await store.queueNames()), ...workers.map(({ queue = 'default' }) => queue)])
      const lists = await Promise.all(
        [...queues].sort().map(async (queue) => [queue, await registry.list(queue)] as const),
      )
      return {
        workers: lists.flatMap(([queue, classes]) =>
          [...classes].map(([name, { definition }]) => ({ queue, class: name, ...definition })),
        ),
      }
    },

    async register(queue, name, definition) {
      const { rings } = await registry.put(queue, name, definition)
      await ring(rings)
      return definition
    },

    async unregister(queue, name) {
      const { rings } = await registry.remove(queue, name)
      await ring(rings)
    },
  }
}
