import { FlowProducer, type Job, Queue, Worker } from 'bullmq'
import type { RunningRedis } from '../../../infra/stand-ins/redis.ts'
import { chunksOf, inTurns, lone, trickle } from './load.ts'
import type { Side } from './workloads.ts'

const QUEUE = 'shapes'
const AT_ONCE = 100
const MEBIBYTE = 1_048_576

type Data = { left?: number; n?: number; text?: string }

export async function startBullmq({ host, port }: RunningRedis): Promise<Side & { close: () => Promise<void> }> {
  const connection = { host, port, maxRetriesPerRequest: null }
  const queue = new Queue<Data>(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true } })
  const flows = new FlowProducer({ connection })
  const done = new EventTarget()
  let count = 0

  const perform = async (job: Job<Data>): Promise<number | undefined> => {
    if (job.name === 'countdown' && job.data.left) await queue.add('countdown', { left: job.data.left - 1 })
    return job.name === 'pass_on' ? job.data.n : undefined
  }
  const worker = new Worker<Data>(QUEUE, perform, { connection, concurrency: AT_ONCE })
  await worker.waitUntilReady()
  const ends = new Map<string, (at: number) => void>()
  worker.on('completed', ({ id }) => {
    count++
    ends.get(id!)?.(performance.now())
    ends.delete(id!)
    done.dispatchEvent(new Event('one'))
  })

  async function ended(n: number, make: () => Promise<unknown>): Promise<number> {
    const before = count
    const began = performance.now()
    const all = new Promise<void>((resolve) => {
      const look = () => {
        if (count - before < n) return
        done.removeEventListener('one', look)
        resolve()
      }
      done.addEventListener('one', look)
    })
    await make()
    await all
    return performance.now() - began
  }

  let made = 0
  async function one(): Promise<number> {
    const began = performance.now()
    const jobId = `one-${++made}`
    const end = new Promise<number>((resolve) => ends.set(jobId, resolve))
    await queue.add('noop', {}, { jobId })
    return (await end) - began
  }

  type Given = Parameters<typeof queue.addBulk>[0]
  const add = (n: number, job: (i: number) => Given[number], size = 1_000): Promise<void> => {
    const jobs = Array.from({ length: n }, (_, i) => job(i))
    return inTurns(chunksOf(jobs, size), 1, (chunk) => queue.addBulk(chunk))
  }

  return {
    lone: (n) => lone(n, one),
    trickle: (rate, seconds) => trickle(rate, seconds, one),
    withArgs(n, bytes) {
      const data = { text: 'x'.repeat(bytes - 2) }
      return ended(n, () => add(n, () => ({ name: 'noop', data }), Math.min(1_000, (4 * MEBIBYTE) / bytes)))
    },
    readAndWrite: (n) => ended(n, () => add(n, (i) => ({ name: 'pass_on', data: { n: i } }))),
    fanOut: (n) =>
      ended(n + 1, () =>
        flows.add({
          name: 'fan_out',
          queueName: QUEUE,
          opts: { removeOnComplete: true },
          children: Array.from({ length: n }, () => ({
            name: 'noop',
            queueName: QUEUE,
            opts: { removeOnComplete: true },
          })),
        }),
      ),
    chain: (n) => ended(n, () => queue.add('countdown', { left: n - 1 })),
    async limited(n, concurrency) {
      await queue.setGlobalConcurrency(concurrency)
      try {
        return await ended(n, () => add(n, () => ({ name: 'noop', data: {} })))
      } finally {
        await queue.setGlobalConcurrency(AT_ONCE)
      }
    },
    async delayed(n, ms) {
      const at = Date.now() + ms
      await ended(n, () => add(n, () => ({ name: 'noop', data: {}, opts: { delay: Math.max(0, at - Date.now()) } })))
      return Date.now() - at
    },
    async close() {
      await worker.close()
      await flows.close()
      await queue.close()
    },
  }
}
