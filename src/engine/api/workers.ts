// The registry of workers as its callers see it.

import { SidejobError } from '../../core/errors.ts'
import { callable } from '../../core/url.ts'
import type { Worker } from '../../core/worker.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'
import { checkSchemas } from '../jobs/checks.ts'

function checkAddress(url: string, allowHosts: readonly string[]): void {
  try {
    callable(url, allowHosts, 'workers')
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    throw new SidejobError(error.code, `push.url: ${error.message}`, { path: ['push', 'url'], cause: error })
  }
}

export function createWorkers(
  { store, registry, ring, announce, allowHosts }: Context,
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
      checkSchemas(definition)
      // What would be refused with each run is refused at once.
      if (definition.push) checkAddress(definition.push.url, allowHosts)
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
