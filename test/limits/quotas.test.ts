import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { counted } from '../kit/counted.ts'
import { costOf } from '../redis/commandstats.ts'
import { type Doors, startDoors } from './kit.ts'

const quick = defineWorker({
  class: 'quick',
  in: { in: {} },
  out: { out: {} },
  retain: 60_000,
  perform: () => undefined,
})
const sleeper = defineWorker({
  class: 'sleeper',
  in: { in: {} },
  perform: (job: Job) => job.suspend(),
})
const failing = defineWorker({
  class: 'failing',
  retry: { max: 0 },
  perform() {
    // No stack trace, because its size depends on the path of this file.
    throw Object.assign(new Error('no'), { stack: undefined })
  },
})

const recorded = defineWorker({
  class: 'recorded',
  history: { values: true },
  retain: 'forever',
  perform: (job: Job) => job.set({ text: 'x' }),
})

const plain = defineWorker({ class: 'plain', retain: 60_000, perform: () => undefined })
const echo = defineWorker({ class: 'echo', perform: (job: Job) => job.args })

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: [quick, sleeper, failing, echo, plain, recorded] })
})
afterAll(() => doors.close())
afterEach(async () => {
  expect(doors.reported.splice(0)).toEqual([])
  expect(await doors.engine.doctor.verify()).toEqual([])
})

async function keyed(limits: object) {
  const { id, key } = await doors.engine.keys.add({ name: 'client', scopes: ['write', 'read'], limits })
  const headers = { authorization: `Bearer ${key}` }
  return {
    id,
    headers,
    ask: (method: string, path: string, body?: unknown) => doors.ask(method, path, body, headers),
    async make(job: object) {
      const { status, text } = await doors.ask('POST', '/v1/jobs', job, headers)
      expect({ status, text }).toMatchObject({ status: 201 })
      return JSON.parse(text).id as number
    },
  }
}

const waiting = async (id: string) => {
  const text = await doors.raw('GET', `sidejob:quota:${id}`)
  return text.split('\r\n')[1]!.split(',').slice(0, 2).map(Number)
}

async function sum(id: string) {
  const text = await doors.raw('GET', `sidejob:quota:${id}:kept`)
  const [kept = 0, , ...quarters] = (text.split('\r\n')[1] ?? '0').split(',').map(Number)
  return { kept, expiring: quarters.reduce((all, bytes) => all + bytes, 0) }
}

const job = { class: 'quick', wait: '10h' }

test('a key has a quota of waiting jobs, learns when to retry, and does not affect another key', async () => {
  const [one, other] = [await keyed({ jobs: 10 }), await keyed({ jobs: 10 })]
  expect(await one.ask('POST', '/v1/jobs', Array(10).fill(job))).toMatchObject({ status: 201 })
  const more = await one.ask('POST', '/v1/jobs', job)
  expect(more.status).toBe(429)
  expect(more.headers.get('retry-after')).toBe('5')
  expect(JSON.parse(more.text)).toMatchObject({
    error: {
      code: 'LIMITED',
      message: `API key ${one.id}: expected at most 10 jobs that have not ended, got 11`,
      retryAfter: 5,
    },
  })
  expect(await other.ask('POST', '/v1/jobs', Array(10).fill(job))).toMatchObject({ status: 201 })
  expect(await other.ask('POST', '/v1/jobs', Array(11).fill(job))).toMatchObject({ status: 429 })
  expect(await doors.ask('POST', '/v1/jobs', Array(20).fill(job))).toMatchObject({ status: 201 })
  expect([await waiting(one.id), await waiting(other.id)]).toEqual([
    [10, 0],
    [10, 0],
  ])
})

test('ended jobs do not count, however they ended; restarted jobs count', async () => {
  const key = await keyed({ jobs: 6 })
  const [plain, tagged, failed, ended, gone] = [
    await key.make({ class: 'quick' }),
    await key.make({ class: 'quick', inputs: { in: [1] } }),
    await key.make({ class: 'failing' }),
    await key.make(job),
    await key.make({ class: 'sleeper', wait: '10h', args: 'x'.repeat(5_000) }),
  ]
  expect(await waiting(key.id)).toEqual([5, 5_002])
  await doors.engine.dispatch('default', 'bell')
  expect([await doors.statusOf(plain), await doors.statusOf(tagged), await doors.statusOf(failed)]).toEqual([
    'completed',
    'completed',
    'failed',
  ])
  expect(await waiting(key.id)).toEqual([2, 5_002])
  await doors.ask('POST', `/v1/jobs/${failed}/retry`, {})
  expect(await waiting(key.id)).toEqual([3, 5_002])
  await doors.ask('POST', `/v1/jobs/${ended}/terminate`, {})
  await doors.ask('DELETE', `/v1/jobs/${gone}?force=true`)
  await doors.ask('DELETE', `/v1/jobs/${failed}?force=true`)
  expect(await waiting(key.id)).toEqual([0, 0])
})

test('a key has a quota of waiting bytes, including later writes to its jobs', async () => {
  const [key, other] = [await keyed({ bytes: 100_000 }), await keyed({})]
  const id = await key.make({ ...job, args: 'x'.repeat(50_000) })
  expect(await key.ask('POST', '/v1/jobs', { ...job, args: 'x'.repeat(50_000) })).toMatchObject({ status: 429 })
  const write = (n: number) => key.ask('POST', `/v1/jobs/${id}/in/in`, { value: 'v'.repeat(n) })
  expect(await write(30_000)).toMatchObject({ status: 200 })
  const over = await write(30_000)
  expect(over.status).toBe(429)
  expect(over.headers.get('retry-after')).toBe('5')
  expect(over.text).toContain('expected at most 100000 bytes of jobs and stored graphs')
  expect(await key.ask('PATCH', `/v1/jobs/${id}/state`, { set: { f: 'x'.repeat(30_000) } })).toMatchObject({
    status: 429,
  })
  expect(await key.ask('POST', '/v1/jobs', { ...job, args: 'x'.repeat(100) })).toMatchObject({ status: 201 })
  await other.make({ ...job, args: 'x'.repeat(200_000) })
  expect(await doors.ask('DELETE', `/v1/jobs/${id}?force=true`)).toMatchObject({ status: 200 })
  await key.make({ ...job, args: 'x'.repeat(90_000) })
})

test('kept data of ended jobs count until deletion', async () => {
  const key = await keyed({ bytes: 100_000 })
  const kept = { class: 'quick', retain: 'forever', args: 'x'.repeat(40_000) }
  const made = [await key.make(kept), await key.make(kept)]
  await doors.engine.dispatch('default', 'bell')
  for (const id of made) expect(await doors.statusOf(id)).toBe('completed')
  expect(await waiting(key.id)).toEqual([0, expect.any(Number)])
  const full = await key.ask('POST', '/v1/jobs', kept)
  expect(full.status).toBe(429)
  expect(full.text).toMatch(/expected at most 100000 bytes of jobs and stored graphs, got \d+\. Delete some of them/)
  expect(await doors.ask('DELETE', `/v1/jobs/${made[0]}?force=true`)).toMatchObject({ status: 200 })
  await key.make(kept)
})

test('recorded values of a run count for its key until the job is deleted', async () => {
  const key = await keyed({ jobs: 10, bytes: 100_000 })
  const id = await key.make({ class: 'recorded', args: 'x'.repeat(20_000) })
  await drain(doors.engine)
  const { kept } = await sum(key.id)
  // The args count twice: in the job and in the record of its run.
  expect(kept).toBeGreaterThan(40_000)
  expect(kept).toBeLessThan(50_000)
  await doors.engine.jobs.terminate(String(id), {})
  await doors.engine.jobs.remove(String(id), {})
  expect(await sum(key.id)).toEqual({ kept: 0, expiring: 0 })
})

test('a suspended job counts, and values that are written to it count too', async () => {
  const key = await keyed({ bytes: 100_000 })
  const id = await key.make({ class: 'sleeper', args: 'x'.repeat(40_000) })
  await doors.engine.dispatch('default', 'bell')
  expect(await doors.statusOf(id)).toBe('suspended')
  const set = (n: number) => key.ask('PATCH', `/v1/jobs/${id}/state`, { set: { f: 'x'.repeat(n) } })
  expect(await set(40_000)).toMatchObject({ status: 200 })
  expect(await key.ask('POST', '/v1/jobs', { ...job, args: 'x'.repeat(40_000) })).toMatchObject({ status: 429 })
  expect(await doors.ask('DELETE', `/v1/jobs/${id}?force=true`)).toMatchObject({ status: 200 })
  await key.make({ ...job, args: 'x'.repeat(90_000) })
})

test('each small job counts until it is deleted, also if it ran in a batch', async () => {
  const key = await keyed({ bytes: 200_000 })
  const kept = { class: 'quick', retain: 'forever', args: 'x'.repeat(200) }
  const bytes = async () => (await sum(key.id)).kept
  for (const jobs of [Array(100).fill(kept), [kept]]) {
    const before = await bytes()
    const made = await key.ask('POST', '/v1/jobs', jobs)
    expect(made.status).toBe(201)
    await doors.engine.dispatch('default', 'bell')
    const each = ((await bytes()) - before) / jobs.length
    expect(each).toBeGreaterThan(200)
    expect(each).toBeLessThan(800)
  }
  const { text } = await doors.ask('GET', '/v1/jobs?class=quick&limit=500')
  for (const { id } of JSON.parse(text).jobs) await doors.ask('DELETE', `/v1/jobs/${id}?force=true`)
  expect(await sum(key.id)).toEqual({ kept: 0, expiring: 0 })
})

test('a batch of small jobs is counted until retention removes it', async () => {
  const key = await keyed({ bytes: 200_000 })
  await key.ask('POST', '/v1/jobs', Array(100).fill({ class: 'plain', args: 'x'.repeat(200) }))
  await doors.engine.dispatch('default', 'bell')
  expect((await sum(key.id)).kept).toBeGreaterThan(20_000)
  await doors.advance(61_000)
  await doors.engine.tick()
  expect(await sum(key.id)).toEqual({ kept: 0, expiring: 0 })
})

test('answers to idempotency keys count for a day', async () => {
  const key = await keyed({ bytes: 20_000 })
  const made = await key.make({ ...job, class: 'sleeper' })
  const write = (i: number) =>
    doors.ask(
      'POST',
      `/v1/jobs/${made}/in/in`,
      { value: i },
      { ...key.headers, 'idempotency-key': `${i}`.padEnd(250, 'k') },
    )
  let calls = 0
  for (let status = 200; status === 200 && calls < 100; calls++) status = (await write(calls)).status
  expect(calls).toBeGreaterThan(20)
  expect(calls).toBeLessThan(60)
  const refused = await write(calls)
  expect(JSON.parse(refused.text)).toMatchObject({
    error: { code: 'LIMITED', message: expect.stringContaining('bytes') },
  })
  expect((await write(0)).status).toBe(200)
  expect(await key.ask('POST', `/v1/jobs/${made}/terminate`, {})).toMatchObject({ status: 200 })
  await doors.advance(30 * 3_600_000)
  await key.make(job)
})

test('results that outlive their job count for a day', async () => {
  const key = await keyed({ bytes: 100_000 })
  const echo = { class: 'echo', retain: 0, keepResult: 86_400, args: 'x'.repeat(30_000) }
  for (let i = 0; i < 3; i++) {
    await key.make(echo)
    await doors.engine.dispatch('default', 'bell')
  }
  expect((await sum(key.id)).expiring).toBeGreaterThan(90_000)
  expect(await key.ask('POST', '/v1/jobs', echo)).toMatchObject({ status: 429 })
  await doors.advance(30 * 3_600_000)
  await key.make(echo)
})

test('stored graphs count for the key that stored them', async () => {
  const [key, other] = [await keyed({ bytes: 20_000 }), await keyed({ bytes: 20_000 })]
  const graph = (n: number) => ({ description: 'x'.repeat(n), nodes: {}, edges: [] })
  expect(await key.ask('PUT', '/v1/graphs/one', graph(9_000))).toMatchObject({ status: 200 })
  expect(await key.ask('PUT', '/v1/graphs/one', graph(9_500))).toMatchObject({ status: 200 })
  expect(await key.ask('PUT', '/v1/graphs/two', graph(9_000))).toMatchObject({ status: 200 })
  expect(await key.ask('PUT', '/v1/graphs/three', graph(9_000))).toMatchObject({ status: 429 })
  expect(await other.ask('PUT', '/v1/graphs/two', graph(9_000))).toMatchObject({ status: 200 })
  expect(await key.ask('PUT', '/v1/graphs/three', graph(9_000))).toMatchObject({ status: 200 })
  for (const name of ['one', 'two', 'three'])
    expect(await key.ask('DELETE', `/v1/graphs/${name}`)).toMatchObject({ status: 200 })
  expect(await key.ask('DELETE', '/v1/graphs/one')).toMatchObject({ status: 404 })
  expect(await key.ask('PUT', '/v1/graphs/one', graph(9_000))).toMatchObject({ status: 200 })
})

test('only admins let a port listen to the root of all channels', async () => {
  const key = await keyed({})
  const root = { in: { channels: ['/'] } }
  expect(await key.ask('POST', '/v1/jobs', { ...job, in: root })).toMatchObject({ status: 403 })
  const id = await key.make(job)
  expect(await key.ask('PUT', `/v1/jobs/${id}/in/in/channels`, { channels: ['/'] })).toMatchObject({ status: 403 })
  expect(await key.ask('PUT', `/v1/jobs/${id}/ports`, { in: root })).toMatchObject({ status: 403 })
  const nightly = { class: 'quick', repeat: { cron: '0 3 * * *' }, in: root }
  expect(await key.ask('PUT', '/v1/schedules/nightly', nightly)).toMatchObject({ status: 403 })
  const made = await doors.ask('POST', '/v1/jobs', { ...job, in: root })
  expect(made.status).toBe(201)
  expect(await doors.ask('DELETE', `/v1/jobs/${JSON.parse(made.text).id}?force=true`)).toMatchObject({ status: 200 })
})

test('a run of a pull worker may not listen to the root of all channels', async () => {
  await doors.ask('PATCH', '/v1/queues/pulled', { mode: 'pull' })
  await doors.ask('POST', '/v1/jobs', { queue: 'pulled', class: 'reader', in: { in: {} } })
  const { key } = await doors.engine.keys.add({ name: 'puller', scopes: ['work'] })
  const headers = { authorization: `Bearer ${key}` }
  const { text } = await doors.ask('POST', '/v1/queues/pulled/claim', { max: 1 }, headers)
  const { token } = JSON.parse(text).runs[0].run
  const changes = { end: 'completed', ops: [{ op: 'channels', of: { in: 'in' }, set: ['/'] }] }
  await doors.ask('POST', `/v1/runs/${token}/commit`, changes, headers)
  const shown = await doors.ask('GET', `/v1/jobs/${token.split('.')[0]}`)
  expect(JSON.parse(shown.text)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('"/"') } })
})

counted('jobs and their ends cost the same commands with and without limits', async () => {
  const key = await keyed({ jobs: 1_000 })
  const of = async (ask: (method: string, path: string, body?: unknown) => Promise<unknown>) => {
    const cost = await costOf(doors, async () => {
      await ask('POST', '/v1/jobs', Array(20).fill({ class: 'quick' }))
      await doors.engine.dispatch('default', 'bell')
    })
    return cost
  }
  await of(key.ask)
  await of(doors.ask)
  const [limited, unlimited] = [await of(key.ask), await of(doors.ask)]
  expect(limited).toEqual(unlimited)
  await drain(doors.engine)
})
