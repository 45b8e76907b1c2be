import { CALLBACKS, isCallbackGroup } from '../../core/callback.ts'
import { MINUTE } from '../../core/units.ts'
import type { GroupView, QueueView } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { QUEUE } from './given.ts'

const responses = ['200', 'tls', 'mime', 'body', 'image-size']

export const aggregations = async (engine: Engine): Promise<GroupView[]> =>
  (await engine.groups.list()).groups.filter(({ id }) => !isCallbackGroup(id))

/** Milliseconds. A queue counts as dead if a job is ready for longer: the tick finds stuck jobs within two minutes. */
const STUCK = 3 * MINUTE

const isAlive = (queue: QueueView | undefined): boolean => !queue?.oldestReady || Date.now() - queue.oldestReady < STUCK

export const components: Record<string, (engine: Engine) => Promise<Record<string, number> | undefined>> = {
  async processor(engine) {
    const [{ today, queues }, groups] = await Promise.all([engine.stats.totals(), aggregations(engine)])
    const { downloader = {}, files = {} } = today
    const own = queues.find(({ name }) => name === QUEUE)
    if (!isAlive(own)) return undefined
    const workers = own?.counts.running ?? 0
    const pools = groups.filter(({ running }) => running > 0).length
    const codes = Object.entries(downloader).filter(([name]) => name.startsWith('download.response.'))
    return {
      alive: 1,
      workers,
      maxWorkers: groups.reduce((sum, { concurrency }) => sum + (concurrency ?? 0), 0),
      workerPools: pools,
      maxWorkerPools: groups.length,
      spawnedWorkers: downloader.runs ?? 0,
      spawnedWorkerPools: pools,
      failures: downloader.lost ?? 0,
      invalidProxies: 0,
      reaperFailures: files.failed ?? 0,
      reaperSuccessfulDeletions: files.reaperSuccessfulDeletions ?? 0,
      ...Object.fromEntries(responses.map((name) => [`download.response.${name}`, 0])),
      ...Object.fromEntries(codes),
    }
  },
  async notifier(engine) {
    const { today, queues } = await engine.stats.totals()
    if (!isAlive(queues.find(({ name }) => name === CALLBACKS.queue))) return undefined
    return {
      alive: 1,
      successfulCallbacks: today[CALLBACKS.queue]?.completed ?? 0,
      failedCallbacks: today[CALLBACKS.queue]?.failed ?? 0,
      undefinedBackendWithCallback: 0,
      unknownTopicOrPartition: 0,
    }
  },
}
