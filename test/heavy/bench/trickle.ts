// `npm run bench:trickle` creates single jobs at a fixed rate (`--rate 12 --seconds 60`).
// --lanes leave   a lane ends when it is idle
// --lanes wait    an idle lane waits 10 s for a job
// --lanes eager   a lane starts within the request that creates a job
// --near          adds no latency (default: Redis is 2 ms away, and QStash 50 ms)

import { parseArgs } from 'node:util'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { type Connection, connect, text } from '../../../infra/stand-ins/resp.ts'
import { lone, trickle } from './load.ts'
import { hearRemovals } from './removals.ts'
import type { Lanes } from './served.ts'
import { startMeasured } from './stack.ts'

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '60' },
    near: { type: 'boolean', default: false },
    lanes: { type: 'string', default: '' },
  },
})
const [rate, seconds] = [options.rate, options.seconds].map(Number) as [number, number]

const UNCOUNTED_COMMANDS = ['info', 'config', 'config|set', 'psubscribe']

async function billed(redis: Connection): Promise<Map<string, number>> {
  const info = text(await redis.call('INFO', 'commandstats'))
  const rows = [...info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)].filter(
    ([, name]) => !UNCOUNTED_COMMANDS.includes(name!),
  )
  return new Map(rows.map(([, name, calls]) => [name!, Number(calls)]))
}

const sum = (calls: Map<string, number>): number => [...calls.values()].reduce((sum, n) => sum + n, 0)

const eachOf = (then: Map<string, number>, now: Map<string, number>, jobs: number): string =>
  [...now]
    .map(([name, calls]) => [name, (calls - (then.get(name) ?? 0)) / jobs] as const)
    .filter(([, each]) => each >= 0.005)
    .sort(([, a], [, b]) => b - a)
    .map(([name, each]) => `${name} ${each.toFixed(2)}`)
    .join(', ')

const quantile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!

async function measure(lanes: Lanes): Promise<string> {
  const redis = await startRedis({ force: 'server', persist: false })
  const stack = await startMeasured(redis, { under: 'workerd', far: !options.near, ...lanes })
  const connection = await connect(redis)
  const removal = await hearRemovals(redis)

  async function one(): Promise<number> {
    const began = performance.now()
    const { id } = await stack.client.jobs.enqueue({ class: 'noop', ...(lanes.eager ? { timeout: '20s' } : {}) })
    await removal.of(`sidejob:job:${id}`)
    return performance.now() - began
  }

  async function nothing(): Promise<number> {
    const began = performance.now()
    await (await fetch(`${stack.url}/nothing`)).text()
    return performance.now() - began
  }

  await lone(20, one)
  const way = (await trickle(rate, 5, nothing)).sort((a, b) => a - b)
  const [commands, { published }] = [await billed(connection), await stack.counts()]
  const took = (await trickle(rate, seconds, one)).sort((a, b) => a - b)
  const since = await billed(connection)
  const cost = (sum(since) - sum(commands)) / took.length
  const messages = ((await stack.counts()).published - published) / took.length
  for (const one of [connection, removal]) await one.close()
  await stack.close()
  await redis.close()
  const cells = [`p50 ${quantile(took, 0.5).toFixed(1)} ms`, `p99 ${quantile(took, 0.99).toFixed(1)} ms`]
  const costs = [`${cost.toFixed(2)} billed commands`, `${messages.toFixed(4)} QStash messages a job`]
  const there = `a request without Redis takes ${quantile(way, 0.5).toFixed(1)} ms`
  return `${[...cells, ...costs].join('   ')}\n    ${there}\n    ${eachOf(commands, since, took.length)}`
}

const ways = {
  leave: { name: 'lanes leave at once', warm: '0s', eager: false },
  wait: { name: 'lanes wait for 10 s', warm: '10s', eager: false },
  eager: { name: 'lanes start in the request', warm: '0s', eager: true },
}

if (options.lanes && !(options.lanes in ways))
  throw new Error(`--lanes: expected leave, wait or eager, got "${options.lanes}"`)
console.log(`${rate} jobs a second for ${seconds} s, ${options.near ? 'near' : 'Redis 2 ms and QStash 50 ms away'}`)
for (const [way, { name, ...lanes }] of Object.entries(ways))
  if (!options.lanes || options.lanes === way) console.log(`  ${name}: ${await measure(lanes)}`)
