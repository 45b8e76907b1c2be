// `npm run bench` compares sidejob over HTTP with BullMQ over TCP. The two take turns on one Redis.
// --strict            uses Upstash's Lua and limits, with Redis 2 ms and QStash 50 ms away
// --write             writes the results into README.md and docs/benchmarks.md
// --node              runs without workerd
// --profile <folder>  writes CPU profiles
// --jobs, --rounds    set the number of jobs in a round, and the number of rounds

import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { connect, text } from '../../../infra/stand-ins/resp.ts'
import { measureBullmq } from './bullmq.ts'
import { type Cpu, stopwatch } from './cpu.ts'
import { figureRows, writeFigures } from './figures.ts'
import { measureOurs } from './ours.ts'
import { startMeasured } from './stack.ts'
import { reportScripts } from './strict.ts'

const { values: options } = parseArgs({
  options: {
    node: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    profile: { type: 'string' },
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    lone: { type: 'string', default: '200' },
  },
})
const [jobs, rounds, alone] = [options.jobs, options.rounds, options.lone].map(Number) as [number, number, number]
const WAITING = 10_000
const CALLERS = 4

const printed: string[] = []
const say = (line: string): void => {
  console.log(line)
  printed.push(line)
}
const cells: Record<string, string> = {}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../node_modules', name, 'package.json'), 'utf8')).version

const load = (): string =>
  loadavg()
    .map((n) => n.toFixed(2))
    .join(' ')

const quantile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
const median = (values: number[]): number => quantile(values, 0.5)
const whole = (n: number): string => Math.round(n).toLocaleString('en')
const spread = (values: number[]): string => `${whole(Math.min(...values))}–${whole(Math.max(...values))}`

type Round = { rate: number; cpu: Cpu }

const processes = ['client', 'stack', 'workerd', 'redis'] as const

const columns = (cells: string[]): string => cells.map((cell) => cell.padStart(9)).join('')

function row(name: string, rounds: Round[]): string {
  const rates = rounds.map(({ rate }) => rate)
  const used = processes.map((process) => rounds.map(({ cpu }) => cpu[process] ?? Number.NaN)).map(median)
  const all = used.reduce((sum, one) => sum + (one || 0), 0)
  const cells = [...used, all].map((one) => (Number.isNaN(one) ? '–' : one.toFixed(1)))
  return `  ${name.padEnd(9)}${whole(median(rates)).padStart(8)}  ${spread(rates).padEnd(17)}${columns(cells)}`
}

function report(what: string, name: string, taken: Taken, goal: number): void {
  say(`\n${what}`)
  say(`${'median  (spread)   CPU µs a job:'.padEnd(38)}${columns([...processes, 'all'])}`)
  say(row('sidejob', taken.ours))
  const rate = whole(median(taken.ours.map((one) => one.rate)))
  cells[name] = rate
  if (taken.theirs.length === 0) return
  const ratio = median(taken.ours.map(({ rate }) => rate)) / median(taken.theirs.map(({ rate }) => rate))
  cells[name] = `${rate}, ${ratio.toFixed(1)} × BullMQ`
  say(row('BullMQ', taken.theirs))
  say(`  ratio    ${ratio.toFixed(2).padStart(8)}  (goal ${goal}${ratio < goal ? ', MISSED' : ''})`)
}

const redis = await startRedis({ force: options.strict ? 'strict' : 'server', persist: false })
const connection = await connect(redis)
const redisPid = Number(/process_id:(\d+)/.exec(text(await connection.call('INFO', 'server')))![1])
await connection.close()
const server = `${redis.describe.split(' on ')[0]}${options.strict ? " with the vendor's Lua and limits" : ''}`
say(`${server}; node ${process.version}, wrangler ${versionOf('wrangler')}, bullmq ${versionOf('bullmq')}`)
say(`${cpus().length} cores, ${cpus()[0]!.model}; load ${load()} before`)
const flags = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
const how = { under: options.node ? 'node' : 'workerd', far: options.strict } as const
const stack = await startMeasured(redis, how, flags)
const ours = await measureOurs(stack)
// Our stand-in for Upstash has no cmsgpack, which BullMQ's scripts need.
const theirs = options.strict ? undefined : await measureBullmq(redis)

const sides = {
  ours: { ...ours, pids: { client: process.pid, ...stack.pids, redis: redisPid } },
  ...(theirs && { theirs: { ...theirs, pids: { client: process.pid, redis: redisPid } } }),
}
type Taken = { ours: Round[]; theirs: Round[] }

// V8 optimizes the code of the Worker during the first rounds, so they do not count.
const WARM_UP = 3
for (let round = 0; round < WARM_UP; round++) {
  for (const one of Object.values(sides)) {
    await one.fill(jobs)
    await one.drain(jobs)
  }
}

const rounded = (ms: number, cpu: Cpu): Round => ({
  rate: (jobs / ms) * 1_000,
  cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [name, used / jobs])),
})

const taken = () => ({ ours: [], theirs: [] }) as Taken
const [one, several, ran] = [taken(), taken(), taken()]
const phases = [
  { into: one, work: (side) => side.fill(jobs) },
  { into: ran, work: (side) => side.drain(jobs) },
  { into: several, work: (side) => side.fill(jobs, CALLERS) },
  { into: ran, work: (side) => side.drain(jobs) },
] satisfies { into: Taken; work: (side: Pick<typeof ours, 'fill' | 'drain'>) => Promise<number> }[]
for (let round = 0; round < rounds; round++) {
  for (const [name, side] of Object.entries(sides) as [keyof Taken, typeof sides.ours][]) {
    for (const { into, work } of phases) {
      const spent = stopwatch(side.pids)
      const ms = await work(side)
      into[name].push(rounded(ms, spent()))
    }
  }
}
await ours.settled()
say(`${rounds} rounds of ${whole(jobs)} jobs, created and then run, twice per round; load ${load()} after`)
report('jobs created per second, in consecutive calls of 1,000', figureRows.oneCall, one, 5)
report(`jobs created per second, in ${CALLERS} concurrent calls of 1,000`, figureRows.fourCalls, several, 5)
report('no-op runs per second', figureRows.runs, ran, 5)

// With --strict, the counts of redis-server do not include the commands of scripts.
if (!options.strict) {
  const single = await ours.costAlone()
  const bulk = await ours.costOfBulk(10_000)
  say('\ncosts of a no-op job     round trips   billed commands   QStash messages')
  for (const [name, cost, n] of [
    ['alone, through a bell', single, 1],
    ['one of 10,000 in bulk', bulk, 10_000],
  ] as const) {
    const each = [cost.calls, cost.billed, cost.messages].map((total) => String(Number((total / n).toPrecision(3))))
    say(`  ${name}${each[0]!.padStart(13)}${each[1]!.padStart(18)}${each[2]!.padStart(18)}`)
  }
  const bytes = await ours.bytesPerJob(WAITING)
  say(`\nbytes per waiting job: ${whole(bytes)} (budget 100${bytes > 100 ? ', MISSED' : ''}), over ${whole(WAITING)}`)
}

say(`\ntime from the creation of a single job to its end, ${alone} times in sequence`)
function reportLone(how: string, name: string, took: number[]): void {
  cells[name] = `${median(took).toFixed(0)} ms, 99 of 100 within ${quantile(took, 0.99).toFixed(0)} ms`
  say(`  ${how.padEnd(40)}p50 ${median(took).toFixed(1)} ms, p99 ${quantile(took, 0.99).toFixed(1)} ms`)
}
reportLone('on an idle queue, through a bell', figureRows.idleQueue, await ours.lone(alone))
await theirs?.close()
await ours.close()
await stack.close()

const lately = await startMeasured(redis, { ...how, warm: '10s' })
const there = await measureOurs(lately)
await there.lone(20)
reportLone('on a queue with a waiting lane', figureRows.recentQueue, await there.lone(alone))
await there.close()
await lately.close()
await redis.close()

if (options.strict) for (const line of await reportScripts()) say(line)
if (options.write) writeFigures({ column: options.strict ? 'strict' : 'here', printed: printed.join('\n'), cells })
