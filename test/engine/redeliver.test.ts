import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { check } from '../../src/core/issues.ts'
import { jobInput, worker } from '../../src/core/schemas.ts'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
let url: string
let calls = 0
const server = createServer((_, response) => {
  calls++
  response.writeHead(202).end()
})
beforeAll(async () => {
  kit = await startKit()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await kit.engine.workers.register('q', 'job', { pull: true })
})
afterAll(async () => {
  await kit.close()
  server.close()
})
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const make = async (job: object): Promise<number> => {
  const { jobs } = await kit.engine.jobs.enqueue([check(jobInput, { queue: 'q', class: 'job', ...job }) as never])
  return jobs[0]!.id
}
const register = (name: string, definition: object) =>
  kit.engine.workers.register('q', name, check(worker, definition) as never)
const job = (id: number) => kit.engine.jobs.get(String(id))
const documentOf = async (id: number) => (await kit.store.inspect(String(id))).document
const claim = () => kit.engine.runs.claim('q', { max: 10 })
const message = async (id: number) => JSON.parse((await job(id)).error!).message

test('an unanswered run goes to the next worker at once, and its last delivery fails the job', async () => {
  const id = await make({ redeliver: { after: '5 seconds', max: 2 }, history: 5 })
  const [first] = await claim()
  expect(first!.run.leaseUntil - first!.run.startedAt).toBe(5_000)
  await kit.advance(5_100)
  const other = await make({})
  const runs = await claim()
  expect(runs.map((run) => run.job.id)).toEqual([id, other])
  await expect(kit.engine.runs.commit(first!.run.token, { end: 'completed' })).rejects.toMatchObject({ code: 'LOST' })
  await kit.engine.runs.commit(runs[1]!.run.token, { end: 'completed' })
  await kit.advance(5_100)
  expect(await claim()).toEqual([])
  expect([(await job(id)).status, await message(id)]).toEqual(['failed', 'delivered 2 times without an answer'])
  const lost = { outcome: 'lost', by: 'pull' }
  expect((await kit.engine.jobs.runs(String(id))).runs).toMatchObject([
    { ...lost, retried: false },
    { ...lost, retried: true },
  ])
})

test('a heartbeat renews the run for the same lease', async () => {
  await make({ redeliver: { after: '20 minutes' } })
  const [run] = await claim()
  await kit.advance(19 * 60_000)
  const { leaseUntil } = await kit.engine.runs.heartbeat(run!.run.token, {})
  expect(leaseUntil - run!.run.startedAt).toBeGreaterThanOrEqual(39 * 60_000)
  await kit.advance(19 * 60_000)
  expect(await kit.engine.runs.commit(run!.run.token, { end: 'completed' })).toEqual({ status: 'completed' })
})

test('a class sets redelivery for its jobs, and each job may override it', async () => {
  await register('slow', { pull: true, redeliver: { after: '10m', max: 3 } })
  const ids = [await make({ class: 'slow' }), await make({ class: 'slow', redeliver: { after: 60 } })]
  expect(await Promise.all(ids.map(documentOf))).toMatchObject([
    { redeliverAfterMs: 600_000, maxDeliveries: 3 },
    { redeliverAfterMs: 60_000, maxDeliveries: 10 },
  ])
  for (const { run } of await claim()) await kit.engine.runs.commit(run.token, { end: 'completed' })
})

test('a run given back, or overtaken, counts as answered', async () => {
  const id = await make({ redeliver: { after: '5 seconds', max: 1 }, in: { in: {} }, inputs: { in: ['1'] } })
  const [given] = await claim()
  await kit.engine.runs.release(given!.run.token)
  const [overtaken] = await claim()
  await kit.engine.ports.take(String(id), 'in', 'in', { max: 1 })
  const reads = { in: { cursor: 0, count: 1 } }
  const late = kit.engine.runs.commit(overtaken!.run.token, { end: 'completed', reads })
  await expect(late).rejects.toMatchObject({ code: 'CONFLICT' })
  const [last] = await claim()
  await kit.engine.runs.commit(last!.run.token, { end: 'completed' })
  expect((await job(id)).status).toBe('completed')
})

test('a push worker that answers later has the time of redeliver, and is then called again', async () => {
  await register('pushed', { push: { url }, redeliver: { after: '3 minutes', max: 2 } })
  const id = await make({ class: 'pushed' })
  const claimed = async (times: number) => {
    await kit.until(async () => calls === times && (await documentOf(id)).leaseLength !== undefined)
    const { ranAt, leaseUntil } = await documentOf(id)
    expect(leaseUntil! - ranAt!).toBeGreaterThanOrEqual(180_000)
    expect(leaseUntil! - ranAt!).toBeLessThan(190_000)
  }
  await claimed(1)
  await kit.engine.runs.heartbeat((await documentOf(id)).token!, {})
  await kit.advance(181_000)
  await kit.engine.tick()
  await claimed(2)
  await kit.advance(181_000)
  await kit.engine.tick()
  await kit.until(async () => (await job(id)).status === 'failed')
  expect(await message(id)).toBe('delivered 2 times without an answer')
})

test.each([
  [{ after: 0.5 }, ['redeliver', 'after'], 'expected 1 second to 365 days'],
  [{ after: '366 days' }, ['redeliver', 'after'], 'expected 1 second to 365 days'],
  [{ after: 60, max: 0 }, ['redeliver', 'max'], 'expected at least 1'],
  [{ after: 60, max: 1_001 }, ['redeliver', 'max'], 'expected at most 1000'],
  [{ max: 3 }, ['redeliver', 'after'], 'is missing'],
  [{ after: 60, wait: 1 }, ['redeliver', 'wait'], 'unknown member'],
  ['5m', ['redeliver'], 'expected'],
])('%j is refused with the name of the field', (redeliver, path, message) => {
  const fault = expect.objectContaining({ path, message: expect.stringContaining(message) })
  expect(() => check(jobInput, { class: 'a', redeliver })).toThrow(fault)
  expect(() => check(worker, { redeliver })).toThrow(fault)
})
