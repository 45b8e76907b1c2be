import { SidejobError } from '../../core/errors.ts'
import type { QueueRow } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { PatchedQueue, QueueDetail, QueuePatch, QueueView } from '../engine.ts'
import { openSince } from '../lane/lane-name.ts'
import { laneMarkOf } from '../run/job-facts.ts'

/** Must match lib/queue/lanes.lua. Runs that call other services mostly wait, so their queues get more lanes. */
const LANES = 4
const CALLING_LANES = 8

const NEXT = 20

export function viewOf(row: QueueRow): QueueView {
  const { atLimits: limited = 0, ending = 0 } = row.settings
  const moving = row.ready + row.pull + row.timers + row.leases
  return {
    name: row.name,
    paused: row.settings.paused === true,
    mode: row.settings.mode === 'pull' ? 'pull' : 'push',
    lanes: row.lanes,
    maxLanes: row.settings.mostLanes ?? (row.settings.calledClasses ? CALLING_LANES : LANES),
    batch: row.settings.batch ?? 100,
    ageing: row.settings.ageing ?? null,
    counts: {
      queued: row.ready + row.pull + row.timers + limited,
      scheduled: row.timers,
      running: row.leases,
      limited,
      pull: row.pull,
      terminating: Math.min(ending, moving),
      suspended: row.suspended,
      completed: row.completed,
      failed: row.failed,
      terminated: row.terminated,
    },
    oldestReady: row.oldest,
  }
}

export function createQueues({ store, ring }: Context) {
  const queueViews = async (name?: string) => (await store.overview(name)).queues.map(viewOf)

  return {
    async list() {
      return { queues: await queueViews() }
    },

    async get(queue: string, { limit = NEXT }: { limit?: number } = {}): Promise<QueueDetail> {
      const [[seen], near] = await Promise.all([queueViews(queue), store.near(queue, limit)])
      if (!near) throw new SidejobError('NOT_FOUND', `there is no queue ${queue}: create a job in it first`)
      const runs = near.runs.map(({ token, process, queue: _, ...run }) => ({
        ...run,
        process,
        lane: process === null ? laneMarkOf(token) : null,
      }))
      const open = near.lanes.map(({ lane, until }) => ({
        id: lane,
        kind: lane.startsWith('bell') ? ('bell' as const) : ('lane' as const),
        since: openSince(lane),
        until,
      }))
      return { ...seen!, open, runs, claims: near.claims, next: near.next }
    },

    async update(
      queue: string,
      patch: QueuePatch,
      { details = false }: { details?: boolean } = {},
    ): Promise<PatchedQueue> {
      const { rings, was } = await store.settings(queue, patch)
      await ring(rings)
      const view = (await queueViews(queue))[0]!
      if (!details) return view
      const names = Object.keys(patch) as (keyof typeof was)[]
      return { ...view, was: Object.fromEntries(names.map((name) => [name, was[name]])) }
    },
  }
}
