// `npm run bench:workloads` compares sidejob with BullMQ on the same Redis, in turns, and with QStash alone.
// --strict     uses Upstash's Lua and limits, without BullMQ
// --million    adds a million waiting jobs
// --write      writes docs/speed.md
// --json <file>, --only chain, --rounds 3

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type RunningRedis, startRedis } from '../../../infra/stand-ins/redis.ts'
import { startBullmq } from './shapes-bullmq.ts'
import { startOurs } from './shapes-ours.ts'
import { startDirect } from './shapes-qstash.ts'
import { type Measure, pageOf, type Row, rowText, writePage } from './speed.ts'
import { startMeasured } from './stack.ts'

const { values: options } = parseArgs({
  options: {
    strict: { type: 'boolean', default: false },
    million: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

/** Each function returns milliseconds of each job, or of all jobs together. */
export type Side = {
  lone: (n: number) => Promise<number[]>
  trickle: (rate: number, seconds: number) => Promise<number[]>
  withArgs: (n: number, bytes: number) => Promise<number>
  readAndWrite: (n: number) => Promise<number>
  fanOut: (n: number) => Promise<number>
  chain: (n: number) => Promise<number>
  limited: (n: number, concurrency: number) => Promise<number>
  delayed: (n: number, ms: number) => Promise<number>
}

/** `play` returns undefined if the side does not support the workload. */
type Workload = { name: string; jobs: number; play: (side: Partial<Side>) => Promise<number | number[]> | undefined }

const KIB = 1_024

const workloads: Workload[] = [
  { name: 'lone', jobs: 50, play: (side) => side.lone?.(50) },
  ...[1, 12, 50, 200].map((rate) => ({
    name: `trickle of ${rate} ${rate === 1 ? 'job' : 'jobs'} a second`,
    jobs: rate * 10,
    play: (side: Partial<Side>) => side.trickle?.(rate, 10),
  })),
  { name: 'args of 1 KiB', jobs: 5_000, play: (side) => side.withArgs?.(5_000, KIB) },
  { name: 'args of 64 KiB', jobs: 500, play: (side) => side.withArgs?.(500, 64 * KIB) },
  { name: 'jobs with one read and one write', jobs: 5_000, play: (side) => side.readAndWrite?.(5_000) },
  { name: 'fan-out to 1,000 children, and fan-in', jobs: 1_001, play: (side) => side.fanOut?.(1_000) },
  { name: 'chain of 20', jobs: 20, play: (side) => side.chain?.(20) },
  { name: '1,000 jobs, at most ten at a time', jobs: 1_000, play: (side) => side.limited?.(1_000, 10) },
  { name: '1,000 jobs due at the same time', jobs: 1_000, play: (side) => side.delayed?.(1_000, 2_000) },
]

async function played(
  { jobs, play }: Workload,
  side: Partial<Side>,
  cost?: () => Promise<{ billed: number; messages: number }>,
): Promise<Measure[]> {
  const before = await cost?.()
  const taken = await play(side)
  if (taken === undefined) return []
  const after = await cost?.()
  const measure: Measure = Array.isArray(taken) ? { took: taken } : { ms: taken }
  if (before && after) {
    measure.billed = (after.billed - before.billed) / jobs
    measure.messages = (after.messages - before.messages) / jobs
  }
  return [measure]
}

async function main(redis: RunningRedis): Promise<Row[]> {
  const stack = await startMeasured(redis, { under: 'workerd', far: options.strict, warm: '10s' })
  const ours = await startOurs(stack)
  const theirs = options.strict ? undefined : await startBullmq(redis)
  const direct = await startDirect(options.strict)
  const chosen = workloads.filter(({ name }) => name.includes(options.only))
  const rows: Row[] = chosen.map(({ name, jobs }) => ({ name, jobs, ours: [], theirs: [], direct: [] }))
  for (let round = -1; round < Number(options.rounds); round++) {
    for (const [i, workload] of chosen.entries()) {
      const own = await played(workload, ours, ours.cost)
      const other = theirs ? await played(workload, theirs) : []
      const alone = await played(workload, direct)
      if (round < 0) continue
      rows[i]!.ours.push(...own)
      rows[i]!.theirs.push(...other)
      rows[i]!.direct.push(...alone)
    }
  }
  for (const row of rows) console.log(rowText(row))
  if (options.million) console.log(await ours.million())
  await direct.close()
  await theirs?.close()
  await ours.close()
  await stack.close()
  return rows
}

const redis = await startRedis({ force: options.strict ? 'strict' : 'server', persist: false })
console.log(`${redis.describe}; node ${process.version}; ${options.rounds} rounds in turns`)
const rows = await main(redis)
await redis.close()
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`)
if (options.write) writePage(pageOf(rows), options.strict)
process.exit(0)
