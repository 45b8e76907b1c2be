// Queues: counted and set.

import type { Parts } from '../context.ts'
import type { Engine, QueueView } from '../engine.ts'

export function createQueues({ store, ring }: Parts): Pick<Engine, 'queues' | 'setQueue' | 'stats'> {
  async function queueViews(name?: string): Promise<QueueView[]> {
    const { queues } = await store.overview(name)
    return queues.map((row) => ({
      name: row.name,
      paused: row.settings.paused === true,
      mode: row.settings.m === 'pull' ? 'pull' : 'push',
      lanes: row.lanes,
      maxLanes: row.settings.ml ?? 4,
      batch: row.settings.b ?? 100,
      ageing: row.settings.ag ?? null,
      counts: {
        queued: row.ready + row.pull + row.timers,
        scheduled: row.timers,
        running: row.leases,
        terminating: 0,
        suspended: row.suspended,
        completed: row.completed,
        failed: row.failed,
        terminated: row.terminated,
      },
      oldestReady: row.oldest,
    }))
  }

  return {
    async queues() {
      return { queues: await queueViews() }
    },

    async setQueue(queue, patch) {
      await ring(await store.settings(queue, patch))
      return (await queueViews(queue))[0]!
    },

    async stats() {
      const { queues } = await store.overview()
      const views = await queueViews()
      return { queues: views, today: Object.fromEntries(queues.map(({ name, settings }) => [name, settings.c ?? {}])) }
    },
  }
}
