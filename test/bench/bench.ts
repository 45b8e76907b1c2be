// `npm run bench`: sidejob through its full path (HTTP, workerd, gateway, Redis, bells) beside BullMQ over TCP, on one
// Redis, in turns. `--node` leaves workerd out, to see what it costs; `--jobs`, `--rounds` change the size.

import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '../../infra/redis.ts'
import { measureBullmq } from './bullmq.ts'
import { measureOurs } from './ours.ts'
import { startMeasured } from './stack.ts'

const { values: options } = parseArgs({
  options: {
    node: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    lone: { type: 'string', default: '200' },
  },
})
const [jobs, rounds, alone] = [options.jobs, options.rounds, options.lone].map(Number) as [number, number, number]
const WAITING = 10_000

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../node_modules', name, 'package.json'), 'utf8')).version

const load = (): string =>
  loadavg()
    .map((n) => n.toFixed(2))
    .join(' ')

/** The value below which a share of the sorted values lies. */
const quantile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
const median = (values: number[]): number => quantile(values, 0.5)
const whole = (n: number): string => Math.round(n).toLocaleString('en')
const spread = (values: number[]): string => `${whole(Math.min(...values))}–${whole(Math.max(...values))}`

function report(what: string, ours: number[], theirs: number[], goal: number): void {
  const ratio = median(ours) / median(theirs)
  console.log(`\n${what}, median (spread) of ${rounds}`)
  console.log(`  sidejob  ${whole(median(ours)).padStart(9)}  (${spread(ours)})`)
  console.log(`  BullMQ   ${whole(median(theirs)).padStart(9)}  (${spread(theirs)})`)
  console.log(`  ratio    ${ratio.toFixed(2).padStart(9)}  (goal ${goal}${ratio < goal ? ', MISSED' : ''})`)
}

const redis = await startRedis({ force: 'server', persist: false })
console.log(
  `${redis.describe}; node ${process.version}, wrangler ${versionOf('wrangler')}, bullmq ${versionOf('bullmq')}`,
)
console.log(`${cpus().length} cores, ${cpus()[0]!.model}; load ${load()} before`)
const stack = await startMeasured(redis, options.node ? 'node' : 'workerd')
const ours = await measureOurs(stack)
const theirs = await measureBullmq(redis)

// One round each, uncounted: modules, scripts and compilers warm up.
for (const one of [ours, theirs]) {
  await one.fill(jobs)
  await one.drain(jobs)
}

const rate = (ms: number): number => (jobs / ms) * 1_000
const made: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
const ran: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
for (let round = 0; round < rounds; round++) {
  for (const [name, one] of Object.entries({ ours, theirs }) as ['ours' | 'theirs', typeof ours][]) {
    made[name].push(rate(await one.fill(jobs)))
    ran[name].push(rate(await one.drain(jobs)))
  }
}
await ours.settled()
console.log(`${whole(jobs)} jobs a round, all of them run; load ${load()} after`)
report('bulk enqueue, jobs/s in calls of 1,000', made.ours, made.theirs, 3)
report('no-op runs/s', ran.ours, ran.theirs, 1.5)

const took: number[] = []
for (let i = 0; i < alone; i++) took.push(await ours.lone())
await ours.settled()
console.log(`\na lone job, enqueue to completed, ${alone} times one after the other`)
console.log(`  p50 ${median(took).toFixed(1)} ms, p99 ${quantile(took, 0.99).toFixed(1)} ms`)

const single = await ours.costAlone()
const bulk = await ours.costOfBulk(10_000)
console.log('\ncosts of a no-op job     round trips   billed commands   QStash messages')
for (const [name, cost, n] of [
  ['alone, through a bell', single, 1],
  ['one of 10,000 in bulk', bulk, 10_000],
] as const) {
  const columns = [cost.calls, cost.billed, cost.messages].map((total) => String(Number((total / n).toPrecision(3))))
  console.log(`  ${name}${columns[0]!.padStart(13)}${columns[1]!.padStart(18)}${columns[2]!.padStart(18)}`)
}
const bytes = await ours.bytesPerJob(WAITING)
console.log(
  `\nbytes per waiting job: ${whole(bytes)} (budget 320${bytes > 320 ? ', MISSED' : ''}), over ${whole(WAITING)}`,
)

await theirs.close()
await ours.close()
await stack.close()
await redis.close()
