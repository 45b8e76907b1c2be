// The registry of workers as its callers see it.

import { SidejobError } from '../../core/errors.ts'
import { callable } from '../../core/url.ts'
import type { Worker } from '../../core/worker.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'
import { type Deployment, keyOf } from '../jobs/announcement.ts'
import { checkSchemas } from '../jobs/checks.ts'

function checkAddress(url: string, allowHosts: readonly string[]): void {
  try {
    callable(url, allowHosts, 'workers')
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    throw new SidejobError(error.code, `push.url: ${error.message}`, { path: ['push', 'url'], cause: error })
  }
}

/** Which deployments have announced a class, the newest first. */
function byClass(deployed: Record<string, string>): Map<string, { id: string; at: number }[]> {
  const found = new Map<string, { id: string; at: number }[]>()
  const all = Object.entries(deployed).map(([id, text]) => ({ id, ...(JSON.parse(text) as Deployment) }))
  for (const { id, at, classes } of all.sort((a, b) => b.at - a.at))
    for (const key of classes) found.set(key, [...(found.get(key) ?? []), { id, at }])
  return found
}

export function createWorkers(
  { store, registry, ring, announce, allowHosts }: Context,
  workers: readonly Worker[],
): Pick<Engine, 'workers' | 'register' | 'unregister'> {
  return {
    async workers() {
      await announce()
      const [names, heard, deployed] = await Promise.all([store.queueNames(), store.lastHeard(), store.deployments()])
      const queues = new Set([...names, ...workers.map(({ queue = 'default' }) => queue)])
      const serving = byClass(deployed)
      const lists = await Promise.all(
        [...queues].sort().map(async (queue) => [queue, await registry.list(queue)] as const),
      )
      return {
        workers: lists.flatMap(([queue, classes]) =>
          [...classes].map(([name, { definition }]) => {
            // A class that was registered over a function is served as it was registered.
            const isFunction = !definition.push && !definition.pull
            return {
              ...{ queue, class: name, ...definition },
              seen: (definition.pull && heard.get(queue)) || null,
              servedBy: (isFunction && serving.get(keyOf({ queue, name }))) || [],
            }
          }),
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
