// Uses BullMQ as its documentation recommends: over TCP, with bulk calls and one long-lived worker.

import { Queue, Worker } from 'bullmq'
import type { RunningRedis } from '../../../infra/stand-ins/redis.ts'
import { inTurns } from './load.ts'

const QUEUE = 'bench'
const CHUNK = 1_000

export async function measureBullmq({ host, port }: RunningRedis) {
  const connection = { host, port, maxRetriesPerRequest: null }
  const queue = new Queue(QUEUE, { connection })
  await queue.waitUntilReady()

  let done = 0
  let wanted = 0
  let arrived: () => void = () => {}
  const worker = new Worker(QUEUE, async () => {}, { connection, concurrency: 100, autorun: false })
  worker.on('completed', () => {
    if (++done === wanted) arrived()
  })
  await worker.waitUntilReady()
  await worker.pause(true)
  void worker.run()

  return {
    async fill(n: number, callers = 1): Promise<number> {
      const chunks = Array.from({ length: n / CHUNK }, (_, i) =>
        Array.from({ length: CHUNK }, (_, j) => ({
          name: 'noop',
          data: { n: i * CHUNK + j },
          opts: { removeOnComplete: true },
        })),
      )
      const began = performance.now()
      await inTurns(chunks, callers, (jobs) => queue.addBulk(jobs))
      return performance.now() - began
    },

    async drain(n: number): Promise<number> {
      done = 0
      wanted = n
      const all = new Promise<void>((resolve) => (arrived = resolve))
      const began = performance.now()
      worker.resume()
      await all
      const took = performance.now() - began
      await worker.pause()
      const left = await queue.getJobCounts()
      if (Object.values(left).some((count) => count > 0)) throw new Error(`jobs are left: ${JSON.stringify(left)}`)
      return took
    },

    async close() {
      await worker.close()
      await queue.close()
    },
  }
}
