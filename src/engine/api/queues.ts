// Queues: counted and set.

import type { QueueRow } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Engine, QueueView } from '../engine.ts'

/** As lib/queue/lanes.lua has it: more lanes where runs call others. */
const LANES = 4
const CALLING_LANES = 8

/** A queue as callers see it. */
export function viewOf(row: QueueRow): QueueView {
  return {
    name: row.name,
    paused: row.settings.paused === true,
    mode: row.settings.m === 'pull' ? 'pull' : 'push',
    lanes: row.lanes,
    maxLanes: row.settings.ml ?? (row.settings.cl ? CALLING_LANES : LANES),
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
  }
}

export function createQueues({ store, ring }: Context): Pick<Engine, 'queues' | 'setQueue'> {
  const queueViews = async (name?: string): Promise<QueueView[]> => (await store.overview(name)).queues.map(viewOf)

  return {
    async queues() {
      return { queues: await queueViews() }
    },

    async setQueue(queue, patch) {
      await ring(await store.settings(queue, patch))
      return (await queueViews(queue))[0]!
    },
  }
}
