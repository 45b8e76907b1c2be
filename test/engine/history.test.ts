import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { encodeValue } from '../../src/core/codec/value.ts'
import { check } from '../../src/core/issues.ts'
import { jobInput, worker } from '../../src/core/schemas.ts'
import { createEngine } from '../../src/engine/index.ts'
import type { RunHook, RunReport } from '../../src/engine/run/report.ts'
import { defineWorker, port } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

let broken = 0
const flaky = defineWorker({
  queue: 'q',
  class: 'flaky',
  history: 3,
  retry: { max: 9, backoff: { base: 10, jitter: 0 } },
  perform() {
    if (broken-- > 0) throw new Error(`broken ${broken}`)
    return 'well'
  },
})

const adder = defineWorker({
  queue: 'q',
  class: 'adder',
  history: 5,
  in: { n: port(z.number()) },
  out: { sum: port(z.number()) },
  async perform(job) {
    job.log('before')
    await job.checkpoint()
    let sum = 0
    while (job.size('n') > 0) sum += (await job.read('n')) ?? 0
    job.write('sum', sum)
    if (!job.children.child) job.spawn('child', { queue: 'q', class: 'flaky' })
    job.log('after')
  },
})

let kit: Kit
const server = createServer((_, response) => response.writeHead(500).end('busy'))
beforeAll(async () => {
  kit = await startKit({ workers: [flaky, adder] })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await kit.close()
  server.close()
})
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const make = async (job: object): Promise<number> => {
  const { jobs } = await kit.engine.jobs.enqueue([check(jobInput, { queue: 'q', ...job }) as never])
  return jobs[0]!.id
}
const runsOf = async (id: number) => (await kit.engine.jobs.runs(String(id), { details: true })).runs
const ended = (id: number) =>
  kit.until(async () => ['completed', 'failed'].includes((await kit.engine.jobs.get(String(id))).status))

test('a class keeps the runs of its jobs, newest first, with the errors of failed ones', async () => {
  broken = 3
  const id = await make({ class: 'flaky' })
  await ended(id)
  const runs = await runsOf(id)
  expect(runs).toMatchObject([
    { outcome: 'completed', attempt: 4, retried: false, by: 'function' },
    { outcome: 'failed', attempt: 3, retried: true, by: 'function' },
    { outcome: 'failed', attempt: 2, retried: true, by: 'function' },
  ])
  expect(runs[0]).not.toHaveProperty('error')
  expect(runs.slice(1).map(({ error }) => JSON.parse(error!).message)).toEqual(['broken 0', 'broken 1'])
  expect(new Set(runs.map(({ token }) => token)).size).toBe(3)
})

test('a job can set how many runs it keeps; with 0, only the last run is known', async () => {
  for (const [history, kept] of [
    [1, { token: expect.any(String) }],
    [0, { outcome: 'completed', attempt: 3, startedAt: expect.any(Number), endedAt: expect.any(Number) }],
  ] as const) {
    broken = 2
    const id = await make({ class: 'flaky', history })
    await ended(id)
    expect(await runsOf(id)).toEqual([history ? expect.objectContaining(kept) : kept])
  }
})

test('a deployment sets the number of kept runs for classes without one', async () => {
  const silent = defineWorker({ queue: 'q', class: 'silent', perform() {} })
  const other = await startKit({ workers: [flaky, silent], history: 20 })
  try {
    broken = 4
    const { jobs } = await other.engine.jobs.enqueue([
      { queue: 'q', class: 'silent' },
      { queue: 'q', class: 'flaky' },
      { queue: 'q', class: 'silent', history: 0 },
    ])
    const all = <T>(ask: (job: string) => Promise<T>) => Promise.all(jobs.map(({ id }) => ask(String(id))))
    await other.until(async () => (await all(other.engine.jobs.get)).every(({ status }) => status === 'completed'))
    const kept = await all(async (job) => (await other.engine.jobs.runs(job, { details: true })).runs)
    const [silently, flakily, none] = kept
    expect(silently).toMatchObject([{ outcome: 'completed', n: 1 }])
    expect(flakily).toHaveLength(3)
    expect(none![0]).not.toHaveProperty('n')
  } finally {
    await other.close()
  }
})

test('each run names the version of the code that performed it, also in reports', async () => {
  const reports: RunReport[] = []
  const hook: RunHook = async (_, perform) => {
    const report = await perform()
    if (report) reports.push(report)
  }
  const silent = defineWorker({ queue: 'q', class: 'silent', perform() {} })
  const other = await startKit({ workers: [flaky, silent], version: '88f62d2b', hook })
  try {
    broken = 1
    const { jobs } = await other.engine.jobs.enqueue([
      { queue: 'q', class: 'flaky' },
      { queue: 'q', class: 'silent' },
    ])
    const [one, two] = jobs.map(({ id }) => String(id))
    const isDone = async (job: string) => (await other.engine.jobs.get(job)).status === 'completed'
    await other.until(async () => (await isDone(one!)) && (await isDone(two!)))
    expect((await other.engine.jobs.runs(one!)).runs).toMatchObject([
      { outcome: 'completed', attempt: 2, version: '88f62d2b' },
      { outcome: 'failed', attempt: 1, version: '88f62d2b', by: 'function' },
    ])
    expect(await other.engine.jobs.get(two!)).toMatchObject({ version: '88f62d2b' })
    expect(reports.map(({ version }) => version)).toEqual(['88f62d2b', '88f62d2b', '88f62d2b'])

    await other.engine.workers.register('q', 'pulled', { pull: true })
    const { jobs: pulled } = await other.engine.jobs.enqueue([{ queue: 'q', class: 'pulled' }])
    const waiting = String(pulled[0]!.id)
    expect(await other.engine.jobs.get(waiting)).toMatchObject({ version: null })
    const [run] = await other.engine.runs.claim('q', {})
    await other.engine.runs.commit(run!.run.token, { end: 'suspended', version: 'worker-7' })
    expect(await other.engine.jobs.get(waiting)).toMatchObject({ version: 'worker-7' })
  } finally {
    await other.close()
  }
})

test('a failed run is reported as a retry with its delay, and as failed if no retries are left', async () => {
  const reports: RunReport[] = []
  const hook: RunHook = async (_, perform) => {
    const report = await perform()
    if (report) reports.push(report)
  }
  const other = await startKit({ workers: [flaky], hook })
  try {
    broken = 2
    const retry = { max: 1, backoff: { base: 20 } }
    const { jobs } = await other.engine.jobs.enqueue([{ queue: 'q', class: 'flaky', retry }])
    await other.until(async () => (await other.statusOf(jobs[0]!.id)) === 'failed')
    expect(reports).toMatchObject([
      { outcome: 'retry', retryIn: expect.any(Number), attempt: 1 },
      { outcome: 'failed', attempt: 2 },
    ])
    expect(reports[1]).not.toHaveProperty('retryIn')
  } finally {
    await other.close()
  }
})

test('a push worker is named by its host', async () => {
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  await kit.engine.workers.register('q', 'pushed', { push: { url: `http://${host}/work` }, history: 5 })
  const id = await make({ class: 'pushed' })
  await ended(id)
  expect(await runsOf(id)).toMatchObject([
    { outcome: 'failed', retried: false, by: host, error: expect.stringContaining('the worker answered 500') },
  ])
})

test('lost runs of a pull worker are kept too', async () => {
  await kit.engine.workers.register('q', 'pulled', { pull: true, history: 5 })
  const id = await make({ class: 'pulled' })
  await kit.engine.runs.claim('q', { lease: 5_000 })
  await kit.advance(6_000)
  await kit.engine.tick()
  await kit.advance(60_000)
  await kit.engine.tick()
  const [run] = await kit.engine.runs.claim('q', {})
  await kit.engine.runs.commit(run!.run.token, { end: 'completed' })
  expect(await runsOf(id)).toMatchObject([
    { outcome: 'completed', by: 'pull', token: run!.run.token, retried: false },
    { outcome: 'lost', by: 'pull', retried: true },
  ])
})

test.each([
  [{ history: 101 }, 'expected at most 100'],
  [{ history: -1 }, 'expected at least 0'],
  [{ history: 1.5 }, 'expected a whole number'],
  [{ history: true }, 'expected a number'],
])('%j is refused with the name of the field', (given, expected) => {
  const fault = expect.objectContaining({ path: ['history'], message: expect.stringContaining(expected) })
  expect(() => check(jobInput, { class: 'a', ...given })).toThrow(fault)
  expect(() => check(worker, given)).toThrow(fault)
})

test('the cost of a job covers the known runs, and reports if any are missing', async () => {
  const priced = createEngine({ ...kit.engineOptions, prices: { run: 1, second: 0.5 } })
  const costOf = async (id: number) => (await priced.jobs.get(String(id), { details: true })).cost!
  broken = 1
  const all = await make({ class: 'flaky' })
  await ended(all)
  const { runs } = await kit.engine.jobs.runs(String(all))
  const took = runs.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0)
  expect(await costOf(all)).toEqual({ runs: 2, total: 2, took, commits: 2, whole: true, price: 2 + took / 2_000 })
  broken = 3
  const more = await make({ class: 'flaky' })
  await ended(more)
  expect(await costOf(more)).toMatchObject({ runs: 3, total: 4, whole: false })
  await kit.engine.jobs.run(String(more), {})
  await ended(more)
  const once = await make({ class: 'flaky', history: 0 })
  await ended(once)
  expect(await costOf(once)).toMatchObject({ took: expect.any(Number), commits: null })
  const often = await make({ class: 'adder' })
  await ended(often)
  const { runs: own, commits } = await costOf(often)
  expect(commits).toBe(2 * own)
  expect((await kit.engine.jobs.get(String(all), { details: true })).cost).toMatchObject({ price: null })
  expect(await kit.engine.jobs.get(String(all))).not.toHaveProperty('cost')
})

test('one run is shown in full: ready time, end, reads, writes, new jobs and log', async () => {
  const id = await make({ class: 'adder', inputs: { n: [1, 2, 3].map((n) => encodeValue(n)) } })
  await ended(id)
  const run = await kit.engine.jobs.pastRun(String(id), 1)
  expect(run).toMatchObject({
    n: 1,
    outcome: 'completed',
    attempt: 1,
    retried: false,
    by: 'function',
    commits: 2,
    more: 0,
    reads: [{ job: id, dir: 'in', port: 'n', values: 3 }],
    writes: [{ job: id, dir: 'out', port: 'sum', values: 1 }],
    made: [{ name: 'child' }],
  })
  expect(run.readyAt).toBeLessThanOrEqual(run.startedAt)
  const told = async (details: boolean) => (await kit.engine.jobs.runs(String(id), { details })).runs.at(-1)
  expect(await told(true)).toMatchObject({ n: 1, readyAt: run.readyAt, commits: 2 })
  for (const name of ['n', 'readyAt', 'commits']) expect(await told(false)).not.toHaveProperty(name)
  expect(Object.values((await kit.engine.jobs.get(String(id))).children).map((child) => child.id)).toEqual(
    run.made.map((one) => one.id),
  )
  const said = ({ log }: typeof run) => log.entries.map(({ entry }) => JSON.parse(entry).message)
  expect(said(run)).toEqual(['after', 'before'])
  await kit.engine.ports.write(String(id), 'in', 'n', [encodeValue(4)])
  await kit.until(async () => (await kit.engine.jobs.runs(String(id))).runs.length >= 2)
  expect(said(await kit.engine.jobs.pastRun(String(id), 2))).toEqual(['after', 'before'])
  expect((await kit.engine.log.read({ job: String(id) })).entries.length).toBeGreaterThanOrEqual(4)
  expect(said(await kit.engine.jobs.pastRun(String(id), 1))).toEqual(['after', 'before'])
})

test('an unkept or unknown run is reported as missing', async () => {
  broken = 4
  const id = await make({ class: 'flaky' })
  await ended(id)
  expect((await runsOf(id)).map(({ n }) => n)).toEqual([5, 4, 3])
  expect(await kit.engine.jobs.pastRun(String(id), 3)).toMatchObject({ n: 3, outcome: 'failed', retried: true })
  const said = {
    code: 'NOT_FOUND',
    message: expect.stringMatching(/has no record of run \d: 5 runs are recorded/),
  }
  for (const n of [2, 6]) await expect(kit.engine.jobs.pastRun(String(id), n)).rejects.toMatchObject(said)
  const without = await make({ class: 'flaky', history: 0 })
  await ended(without)
  await expect(kit.engine.jobs.pastRun(String(without), 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
