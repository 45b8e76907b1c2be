import { connect, text } from '../../../infra/stand-ins/resp.ts'
import { type Cost, costOf, isQuiet } from '../../redis/commandstats.ts'
import { inTurns, lone as oneByOne } from './load.ts'
import { hearRemovals } from './removals.ts'
import { type Measured, until } from './stack.ts'

const QUEUE = 'default'
const CHUNK = 1_000

type Counted = { runs?: number; completed?: number; made?: number }

export async function measureOurs(stack: Measured) {
  const { client } = stack
  const redis = await connect(stack.redis)
  const input = (n: number) => ({ class: 'noop', args: { n } })
  const chunk = (size: number, from = 0) => Array.from({ length: size }, (_, i) => input(from + i))
  const pauseQueue = (paused: boolean) => client.queues.patch(QUEUE, { paused })

  async function counted(): Promise<Counted> {
    const document = await redis.call('GET', `sidejob:queue:${QUEUE}`)
    return document === null ? {} : (JSON.parse(text(document)).c as Counted)
  }

  async function memory(): Promise<number> {
    return Number(/used_memory:(\d+)/.exec(text(await redis.call('INFO', 'memory')))![1])
  }

  async function fill(n: number, callers = 1): Promise<number> {
    await pauseQueue(true)
    const chunks = Array.from({ length: n / CHUNK }, (_, i) => chunk(CHUNK, i * CHUNK))
    const began = performance.now()
    await inTurns(chunks, callers, (jobs) => client.jobs.enqueue(jobs))
    return performance.now() - began
  }

  async function drain(n: number): Promise<number> {
    const { completed: before = 0 } = await counted()
    const began = performance.now()
    await pauseQueue(false)
    await until(async () => ((await counted()).completed ?? 0) - before >= n)
    const took = performance.now() - began
    const { completed = 0, runs } = await counted()
    if (completed - before !== n) throw new Error(`${n} jobs were made, ${completed - before} completed (${runs} runs)`)
    const left = await redis.call('ZCARD', `sidejob:queue:${QUEUE}:ready`)
    if (left !== 0) throw new Error(`${left} jobs are still there`)
    return took
  }

  async function lone(n: number): Promise<number[]> {
    const removal = await hearRemovals(stack.redis)
    const one = async () => {
      const began = performance.now()
      const { id } = await client.jobs.enqueue(input(0))
      await removal.of(`sidejob:job:${id}`)
      return performance.now() - began
    }
    const took = await oneByOne(n, one)
    await removal.close()
    return took
  }

  const settled = () => until(() => isQuiet(stack))

  return {
    fill,
    drain,
    lone,
    settled,
    costOfBulk: (n: number): Promise<Cost> =>
      costOf(stack, async () => {
        for (let from = 0; from < n; from += CHUNK) await client.jobs.enqueue(chunk(CHUNK, from))
      }),
    /** A tick may add commands to one measurement, so this returns the median. */
    async costAlone(): Promise<Cost> {
      const costs: Cost[] = []
      for (let i = 0; i < 5; i++) costs.push(await costOf(stack, () => client.jobs.enqueue(input(0))))
      return costs.sort((a, b) => a.billed - b.billed)[2]!
    },
    async bytesPerJob(n: number): Promise<number> {
      await pauseQueue(true)
      const before = await memory()
      await fill(n)
      const after = await memory()
      await drain(n)
      return (after - before) / n
    },
    close: () => redis.close(),
  }
}
