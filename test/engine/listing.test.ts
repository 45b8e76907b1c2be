import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { Changes } from '../../src/core/run.ts'
import type { JobFilter } from '../../src/engine/engine.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { commandStats } from '../redis/commandstats.ts'

const MINUTE = 60_000

let kit: Kit
const ids = async (filter: JobFilter) =>
  (await kit.engine.jobs.list({ queue: 'p', ...filter })).jobs.map(({ id }) => id)
const make = async (input: object = {}) =>
  (await kit.engine.jobs.enqueue([{ queue: 'p', class: 'job', ...input }])).jobs[0]!.id
const claim = async () => (await kit.engine.runs.claim('p', { max: 1 }))[0]!.run.token
const end = async (changes: Changes) => kit.engine.runs.commit(await claim(), changes)

const made: Record<string, number> = {}
let middle = 0

beforeAll(async () => {
  kit = await startKit({ hold: true })
  await kit.engine.workers.register('r', 'job', { pull: true })
  await kit.engine.workers.register('p', 'job', { pull: true, retry: { max: 0 } })
  made.completed = await make()
  await end({ end: 'completed' })
  made.failed = await make({ callback: { url: 'http://127.0.0.1:9/' } })
  await end({ end: 'failed', error: { message: `card 4242 declined ${'x'.repeat(300)}`, reason: 'other' } })
  await kit.advance(MINUTE)
  middle = kit.now()
  await kit.advance(MINUTE)
  made.long = await make()
  const token = await claim()
  await kit.advance(5_000)
  await kit.engine.runs.commit(token, { end: 'suspended' })
  made.running = await make({ group: { id: 'g', concurrency: 1 } })
  await claim()
  made.limited = await make({ group: { id: 'g' } })
  made.tagged = await make({ tag: 'gpu' })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

test('jobs of several statuses are listed newest first', async () => {
  expect(await ids({ status: ['failed', 'completed'] })).toEqual([made.failed, made.completed])
  expect(await ids({ status: ['suspended', 'running'] })).toEqual([made.running, made.long])
  expect(await ids({ status: ['queued', 'failed'] })).toEqual([made.tagged, made.limited, made.failed])
})

test('jobs waiting at a limit and jobs to be retried are listed', async () => {
  expect(await ids({ waits: 'limit' })).toEqual([made.limited])
  expect(await ids({ waits: 'limit', status: 'suspended' })).toEqual([])
  const again = await make({ queue: 'r', retry: { max: 2, backoff: { delays: [60_000] } } })
  const [claimed] = await kit.engine.runs.claim('r', { max: 1 })
  await kit.engine.runs.commit(claimed!.run.token, { end: 'failed', error: { message: 'broken', reason: 'other' } })
  expect(await ids({ queue: 'r', waits: 'retry' })).toEqual([again])
  expect(await ids({ waits: 'retry' })).toEqual([])
  await kit.engine.jobs.terminate(String(again), {})
  expect(await ids({ queue: 'r', waits: 'retry' })).toEqual([])
})

test('a bulk action accepts the same filter as a list', async () => {
  const preview = (filter: object) => kit.engine.bulk.preview({ action: 'terminate', filter } as never)
  expect(await preview({ queue: 'p', waits: 'limit' })).toMatchObject({ fits: 1 })
  expect(await preview({ queue: 'p', status: ['failed', 'completed'] })).toMatchObject({ fits: 2 })
  expect(await preview({ queue: 'p', until: middle, status: 'failed' })).toMatchObject({ fits: 1 })
  expect(await preview({ queue: 'p', tag: 'gpu' })).toMatchObject({ fits: 1 })
})

test('jobs of several statuses are found in all queues', async () => {
  const { jobs } = await kit.engine.jobs.list({ status: ['failed', 'running'] })
  expect(jobs.filter(({ queue }) => queue === 'p').map(({ id }) => id)).toEqual([made.running, made.failed])
})

test('a list can be limited to jobs created since or before a given time', async () => {
  expect(await ids({ since: middle })).toEqual([made.tagged, made.limited, made.running, made.long])
  expect(await ids({ until: middle })).toEqual([made.failed, made.completed])
  expect(await ids({ since: middle, until: middle + 1 })).toEqual([])
})

test('a list of jobs since a given time ends at that time', async () => {
  expect((await kit.engine.jobs.list({ since: middle, limit: 100 })).cursor).toBeNull()
})

test('jobs are listed by the duration of their run', async () => {
  expect(await ids({ longer: 4_000 })).toEqual([made.long])
  await kit.advance(6_000)
  expect(await ids({ longer: 4_000 })).toEqual([made.running, made.long])
})

test('jobs are listed by tag, and by the status of their callback', async () => {
  expect(await ids({ tag: 'gpu' })).toEqual([made.tagged])
  expect(await ids({ callback: 'PENDING' })).toEqual([made.failed])
  expect(await ids({ callback: 'DELIVERED' })).toEqual([])
})

test('a list shows its total only if an index has the total', async () => {
  const total = async (filter: JobFilter) => (await kit.engine.jobs.list({ queue: 'p', limit: 1, ...filter })).total
  expect(await total({ status: ['failed', 'completed'] })).toBe(2)
  expect(await total({ status: 'suspended' })).toBe(1)
  expect(await total({ status: 'failed', class: 'job' })).toBe(1)
  expect(await total({ status: 'suspended', queue: undefined })).toBe(1)
  for (const filter of [{}, { status: 'running' }, { status: 'failed', tag: 'gpu' }, { status: 'failed', since: 1 }])
    expect(await total(filter as JobFilter)).toBeUndefined()
})

test('a row is short, and has the reason, the run, or the error', async () => {
  const { jobs } = await kit.engine.jobs.rows({ queue: 'p' })
  const row = (id?: number) => jobs.find((job) => job.id === id)!
  expect(row(made.limited).reason).toMatchObject({ code: 'LIMITED', key: 'group:g', since: expect.any(Number) })
  expect(row(made.tagged)).toMatchObject({ tag: 'gpu', reason: { code: 'PULL', data: { tag: 'gpu' } } })
  expect(row(made.running)).toMatchObject({ reason: null, run: { leaseUntil: expect.any(Number) } })
  expect(row(made.long).reason).toMatchObject({ code: 'ASKED_FOR_NOTHING' })
  expect(row(made.failed)).toMatchObject({ reason: { code: 'FAILED' }, callback: 'PENDING' })
  expect(row(made.failed).message).toHaveLength(200)
  expect(row(made.failed).message).toContain('card 4242 declined')
  expect(Object.keys(row(made.failed))).not.toContain('args')
})

test('a page costs one round trip, for any filter', async () => {
  const filter: JobFilter = { queue: 'p', status: ['failed', 'completed'], since: 1, longer: 0, tag: 'none' }
  const before = kit.gateway.counters.requests
  await kit.engine.jobs.rows(filter)
  await kit.engine.jobs.list(filter)
  expect(kit.gateway.counters.requests - before).toBe(2)
})

counted('data stored next to the documents of a page is read by one command, for any number of jobs', async () => {
  const args = encodeValue('x'.repeat(2_000))
  const costOfPage = async () => {
    const billed = async () => [...(await commandStats(kit)).values()].reduce((a, b) => a + b, 0)
    await kit.engine.jobs.list({ queue: 'large' })
    const before = await billed()
    await kit.engine.jobs.list({ queue: 'large' })
    return (await billed()) - before
  }
  const add = (n: number) =>
    kit.engine.jobs.enqueue(Array(n).fill({ queue: 'large', class: 'job', args, in: { n: {} } }))
  await kit.engine.workers.register('large', 'job', { pull: true })
  await add(1)
  const one = await costOfPage()
  for (let i = 0; i < 20; i++) await add(1)
  expect(await costOfPage()).toBe(one)
  const { jobs } = await kit.engine.jobs.list({ queue: 'large' })
  expect(jobs.map((job) => job.args)).toEqual(Array(21).fill(args))
})

test('a list finds the failed jobs of all queues behind 1,500 newer jobs', async () => {
  const failed = await kit.engine.jobs.list({ status: 'failed' })
  const jobs = Array.from({ length: 1_500 }, () => ({ queue: 'many', class: 'job' }))
  await kit.engine.workers.register('many', 'job', { pull: true })
  for (const part of [jobs.slice(0, 750), jobs.slice(750)]) await kit.engine.jobs.enqueue(part)
  const found = await kit.engine.jobs.list({ status: 'failed' })
  expect(found.jobs.map(({ id }) => id)).toEqual(failed.jobs.map(({ id }) => id))
  expect([found.cursor, found.total]).toEqual([null, failed.jobs.length])
  expect(found.jobs.map(({ id }) => id)).toContain(made.failed)
  await kit.engine.workers.register('few', 'job', { pull: true })
  const few = await make({ queue: 'few' })
  for (const part of [jobs.slice(0, 750), jobs.slice(750)]) await kit.engine.jobs.enqueue(part)
  expect((await kit.engine.jobs.list({ queue: 'few' })).jobs.map(({ id }) => id)).toEqual([few])
})

describe('behind 1,500 newer jobs', () => {
  let limited = 0
  let again = 0
  beforeAll(async () => {
    for (const queue of ['rare', 'retried', 'newer']) await kit.engine.workers.register(queue, 'job', { pull: true })
    await make({ queue: 'rare', group: { id: 'one', concurrency: 1 } })
    await kit.engine.runs.claim('rare', { max: 1 })
    // Queues do not list their paused limits, so only a scan of all limits finds this limit.
    await kit.engine.groups.set('one', { paused: true })
    limited = await make({ queue: 'rare', group: { id: 'one' } })
    again = await make({ queue: 'retried', retry: { max: 2, backoff: { delays: ['1h'] } } })
    const [claimed] = await kit.engine.runs.claim('retried', { max: 1 })
    await kit.engine.runs.commit(claimed!.run.token, { end: 'failed', error: { message: 'broken', reason: 'other' } })
    const newer = Array.from({ length: 750 }, () => ({ queue: 'newer', class: 'job' }))
    for (let i = 0; i < 2; i++) await kit.engine.jobs.enqueue(newer)
  })

  const found = async (filter: JobFilter) => {
    const { jobs, cursor } = await kit.engine.jobs.list(filter)
    return { jobs: jobs.map(({ id }) => id), cursor }
  }

  test('the list of jobs at limits had no match', async () => {
    expect(await found({ waits: 'limit' })).toEqual({ jobs: [limited, made.limited], cursor: null })
    expect(await found({ waits: 'limit', queue: 'rare' })).toEqual({ jobs: [limited], cursor: null })
    expect(await found({ waits: 'limit', group: 'one' })).toEqual({ jobs: [limited], cursor: null })
    expect(await found({ waits: 'limit', class: 'job', status: 'queued', limit: 1 })).toMatchObject({ jobs: [limited] })
    expect(await found({ waits: 'limit', cursor: String(limited) })).toEqual({ jobs: [made.limited], cursor: null })
  })

  test('the list of queued jobs lacked a class at a limit', async () => {
    expect(await found({ status: 'queued', queue: 'rare' })).toEqual({ jobs: [limited], cursor: null })
  })

  test('the list of jobs to be retried had no match', async () => {
    expect(await found({ waits: 'retry' })).toEqual({ jobs: [again], cursor: null })
  })
})

test('an incomplete search returns the newest id, so that the cursor shows its progress', async () => {
  const { jobs, cursor, newest } = await kit.engine.jobs.list({ class: 'none' })
  expect(jobs).toEqual([])
  expect(newest! - Number(cursor) + 1).toBe(1_000)
  expect((await kit.engine.jobs.list({ status: 'failed' })).newest).toBeUndefined()
})
