// `npm run bench:pages` measures the time to the first and last byte of each page of the dashboard.
// --jobs 5000   sets the number of jobs (default: a million)
// --over 200    the exit code is 1 if a median is longer than 200 ms

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startLocalStack } from '../../../infra/stack.ts'
import { createClient } from '../../../src/client/index.ts'
import { callerOf, seed, worker } from '../../dashboard/seed.ts'
import { inTurns } from './load.ts'
import { until } from './stack.ts'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000000' },
    over: { type: 'string' },
    rounds: { type: 'string', default: '9' },
  },
})
const [JOBS, ROUNDS] = [Number(values.jobs), Number(values.rounds)]
const KEY = 'dev'
const [CHUNK, CALLERS] = [1_000, 4]

const dir = mkdtempSync(join(tmpdir(), 'sidejob-pages-'))
const stack = await startLocalStack({ dir, apiKey: KEY, persist: false })
const client = createClient({ url: stack.url, key: KEY })
const call = callerOf(stack.url, KEY)

const make = (n: number, about: (i: number) => object): Promise<void> =>
  inTurns(
    Array.from({ length: Math.ceil(n / CHUNK) }, (_, c) => c),
    CALLERS,
    (c) =>
      client.jobs.enqueue(
        Array.from({ length: Math.min(CHUNK, n - c * CHUNK) }, (_, i) => about(c * CHUNK + i)) as never,
      ),
  )

async function fill(): Promise<{ order: number; flow: number }> {
  const seeded = await seed(stack.url, KEY)
  for (let q = 0; q < 10; q++) await call('PUT', `/v1/workers/mass-${q}/sleeper`, { pull: true })
  await call('PUT', '/v1/workers/done/ender', { pull: true, retain: 'forever', retry: { max: 0 } })
  await make(JOBS * 0.6, (i) => ({ queue: `mass-${i % 10}`, class: 'sleeper', args: { n: i } }))
  await make(JOBS * 0.15, (i) => ({ queue: `mass-${i % 10}`, class: 'sleeper', wait: `${1 + (i % 90)}d` }))
  await make(JOBS * 0.05, () => ({ queue: 'core', class: 'split' }))
  await make(JOBS * 0.195, (i) => ({ queue: 'core', class: 'split', inputs: { in: [`${i},of,many`] } }))
  await make(JOBS * 0.005, (i) => ({ queue: 'done', class: 'ender', args: { n: i } }))
  const { claim, commit } = worker(call, 'done')
  for (let left = JOBS * 0.005; left > 0; left -= 100) {
    const runs = await claim('ender', 100)
    await inTurns(runs, 10, (run) =>
      commit(run, { end: 'failed', error: { message: `no answer from host ${run.job.id % 7}` } }),
    )
  }
  return seeded
}

async function cookie(): Promise<string> {
  const answer = await fetch((await stack.login())!, { redirect: 'manual', headers: { 'sec-fetch-site': 'none' } })
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
}

type Times = { first: number; last: number; bytes: number }

async function look(path: string, session: string): Promise<Times> {
  const began = performance.now()
  const answer = await fetch(`${stack.url}/ui${path}`, { headers: { cookie: session }, redirect: 'manual' })
  const first = performance.now() - began
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  const bytes = (await answer.arrayBuffer()).byteLength
  return { first, last: performance.now() - began, bytes }
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!

const pathsOf = ({ order, flow }: { order: number; flow: number }): string[] => [
  '/',
  '/?range=7d',
  '/jobs',
  '/jobs?status=failed',
  '/jobs?status=failed&queue=done',
  '/jobs?status=queued&queue=mass-0',
  '/jobs?class=nobody',
  '/jobs?group=shop-7',
  '/groups/shop-7',
  `/jobs/${order}`,
  `/jobs/${JOBS / 2}`,
  '/jobs/new',
  '/flows',
  `/flows/${flow}`,
  `/flows/${flow}/edit`,
  '/queues',
  '/queues/mass-0',
  '/queues/done',
  '/schedules',
  '/limits',
  '/limits?open=carrier-dhl',
  '/workers',
  '/workers/media/resize',
  '/channels',
  '/callbacks',
  '/files',
  '/log',
  '/settings/keys',
  '/doctor',
  '/find?q=resi',
]

try {
  const began = performance.now()
  const seeded = await fill()
  await until(async () => (await client.stats.show()).queues.every(({ counts }) => counts.running < 100))
  console.log(`${JOBS.toLocaleString('en')} jobs after ${Math.round((performance.now() - began) / 1_000)} s`)
  const session = await cookie()
  await look('/more', session)
  console.log(`${'ms, median of'.padEnd(36)}${String(ROUNDS).padEnd(6)}first byte   last     worst    bytes`)
  let slowest = 0
  for (const path of pathsOf(seeded)) {
    const times: Times[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await look(path, session))
    const [first, last] = [median(times.map(({ first }) => first)), median(times.map(({ last }) => last))]
    slowest = Math.max(slowest, last)
    const cells = [first, last, Math.max(...times.map(({ last }) => last))].map((ms) => ms.toFixed(1).padStart(9))
    console.log(`${path.padEnd(42)}${cells.join('')}${times[0]!.bytes.toLocaleString('en').padStart(10)}`)
  }
  if (values.over && slowest > Number(values.over)) process.exitCode = 1
} finally {
  await stack.close()
  rmSync(dir, { recursive: true, force: true })
}
