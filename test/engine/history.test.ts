// The runs that a job keeps, wherever its class is served.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { check } from '../../src/core/issues.ts'
import { jobInput, worker } from '../../src/core/schemas.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
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

let kit: Kit
const server = createServer((_, response) => response.writeHead(500).end('busy'))
beforeAll(async () => {
  kit = await startKit({ workers: [flaky] })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await kit.close()
  server.close()
})
afterEach(async () => {
  expect(await kit.engine.verify()).toEqual([])
})

const make = async (job: object): Promise<number> => {
  const { jobs } = await kit.engine.enqueue([check(jobInput, { queue: 'q', ...job }) as never])
  return jobs[0]!.id
}
const runsOf = async (id: number) => (await kit.engine.runs(String(id))).runs
const ended = (id: number) =>
  kit.until(async () => ['completed', 'failed'].includes((await kit.engine.get(String(id))).status))

test('a class keeps the runs of its jobs, newest first, with the errors of those that failed', async () => {
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

test('a job says for itself how many it keeps; with none only the last is known', async () => {
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

test('a push worker is named by its host', async () => {
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  await kit.engine.register('q', 'pushed', { push: { url: `http://${host}/work` }, history: 5 })
  const id = await make({ class: 'pushed' })
  await ended(id)
  expect(await runsOf(id)).toMatchObject([
    { outcome: 'failed', retried: false, by: host, error: expect.stringContaining('the worker answered 500') },
  ])
})

test('of a pull worker lost runs are kept too', async () => {
  await kit.engine.register('q', 'pulled', { pull: true, history: 5 })
  const id = await make({ class: 'pulled' })
  await kit.engine.claim('q', { lease: 5_000 })
  await kit.advance(6_000)
  await kit.engine.tick()
  await kit.advance(60_000)
  await kit.engine.tick()
  const [run] = await kit.engine.claim('q', {})
  await kit.engine.commit(run!.run.token, { end: 'completed' })
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
])('%j is refused by its name', (given, expected) => {
  const fault = expect.objectContaining({ path: ['history'], message: expect.stringContaining(expected) })
  expect(() => check(jobInput, { class: 'a', ...given })).toThrow(fault)
  expect(() => check(worker, given)).toThrow(fault)
})

test('what a job has cost is told of the runs that are known, and whether there were others', async () => {
  const priced = createEngine({ ...kit.engineOptions, prices: { run: 1, second: 0.5 } })
  const costOf = async (id: number) => (await priced.get(String(id), { details: true })).cost!
  broken = 1
  const all = await make({ class: 'flaky' })
  await ended(all)
  const { runs } = await kit.engine.runs(String(all))
  const took = runs.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0)
  expect(await costOf(all)).toEqual({ runs: 2, took, whole: true, price: 2 + took / 2_000 })
  broken = 3
  const more = await make({ class: 'flaky' })
  await ended(more)
  expect(await costOf(more)).toMatchObject({ runs: 3, whole: false })
  await kit.engine.run(String(more), {})
  await ended(more)
  const once = await make({ class: 'flaky', history: 0 })
  expect(await costOf(once)).toMatchObject({ took: expect.any(Number) })
  expect((await kit.engine.get(String(all), { details: true })).cost).toMatchObject({ price: null })
  expect(await kit.engine.get(String(all))).not.toHaveProperty('cost')
})
