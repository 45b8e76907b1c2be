import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metrics } from '../../src/http/metrics.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const stops = defineWorker({ class: 'stops', queue: 'stopping', shutdown() {}, perform: () => undefined })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true, workers: [stops] })
  await kit.engine.workers.register('p', 'job', { pull: true })
})
afterAll(() => kit.close())

const make = async (input: object) =>
  (await kit.engine.jobs.enqueue([{ queue: 'p', class: 'job', ...input }])).jobs[0]!.id
const countsOf = async (queue: string) => (await kit.engine.queues.get(queue)).counts

describe('counts', () => {
  test('include jobs that wait at a limit as queued', async () => {
    const group = { id: 'g', concurrency: 1 }
    await kit.engine.workers.register('limits', 'job', { pull: true })
    await make({ queue: 'limits', group })
    await kit.engine.runs.claim('limits', { max: 1 })
    for (let n = 0; n < 2; n++) await make({ queue: 'limits', group })
    await make({ queue: 'limits', wait: 60_000 })
    expect(await countsOf('limits')).toMatchObject({ queued: 3, limited: 2, scheduled: 1, pull: 0, running: 1 })
    const { queues } = await kit.engine.queues.list()
    const text = metrics({ queues, total: {}, waits: {}, classes: [], limits: [], groups: [] })
    expect(text).toContain('sidejob_jobs{queue="limits",status="limited"} 2')
  })

  test('include terminating jobs from the request to the end', async () => {
    const [waits, runs] = [await make({ queue: 'stopping', class: 'stops' }), await make({})]
    await drain(kit.engine, { errors: 'keep' })
    await kit.engine.jobs.terminate(String(waits), {})
    expect(await countsOf('stopping')).toMatchObject({ terminating: 1, terminated: 0 })
    const [claimed] = await kit.engine.runs.claim('p', { max: 1 })
    await kit.engine.jobs.terminate(String(runs), {})
    await kit.engine.jobs.terminate(String(runs), {})
    expect(await countsOf('p')).toMatchObject({ terminating: 1, running: 1 })
    await kit.engine.runs.commit(claimed!.run.token, { end: 'completed' })
    await drain(kit.engine, { errors: 'keep' })
    expect(await countsOf('p')).toMatchObject({ terminating: 0, terminated: 1 })
    expect(await countsOf('stopping')).toMatchObject({ terminating: 0, terminated: 1 })
  })

  test('include all jobs of a queue that terminate at the same time', async () => {
    await kit.engine.workers.register('many', 'job', { pull: true })
    const jobs = [await make({ queue: 'many' }), await make({ queue: 'many' }), await make({ queue: 'many' })]
    const claimed = await kit.engine.runs.claim('many', { max: 3 })
    for (const id of jobs) await kit.engine.jobs.terminate(String(id), {})
    expect(await countsOf('many')).toMatchObject({ terminating: 3 })
    await kit.engine.runs.commit(claimed[0]!.run.token, { end: 'completed' })
    expect(await countsOf('many')).toMatchObject({ terminating: 2 })
  })

  test('no longer include a terminating job that is run with force or deleted', async () => {
    const [one, other] = [await make({ queue: 'stopping', class: 'stops' }), await make({})]
    await drain(kit.engine, { errors: 'keep' })
    await kit.engine.jobs.terminate(String(one), {})
    await kit.engine.jobs.run(String(one), { force: true })
    expect(await countsOf('stopping')).toMatchObject({ terminating: 0 })
    const [claimed] = await kit.engine.runs.claim('p', { max: 1 })
    await kit.engine.jobs.remove(String(other), { force: true })
    expect(await countsOf('p')).toMatchObject({ terminating: 1 })
    await kit.engine.runs.commit(claimed!.run.token, { end: 'completed' })
    expect(await countsOf('p')).toMatchObject({ terminating: 0 })
    await drain(kit.engine, { errors: 'keep' })
  })
})

describe('the details of a queue', () => {
  test('show runs, waiting claims, and the next job with the reason', async () => {
    await kit.engine.workers.register('near', 'job', { pull: true })
    const ids = [await make({ queue: 'near' }), await make({ queue: 'near', priority: -1, group: { id: 'h' } })]
    const third = await make({ queue: 'near', priority: 5 })
    await kit.engine.runs.claim('near', { max: 1, process: 'host:1' })
    const { runs, next, open, counts } = await kit.engine.queues.get('near')
    expect(runs).toMatchObject([{ job: ids[1], class: 'job', process: 'host:1', leaseUntil: expect.any(Number) }])
    expect(next).toMatchObject([
      { job: ids[0], priority: 0, pull: true, group: null, since: expect.any(Number) },
      { job: third, priority: 5 },
    ])
    expect([open, counts.queued, counts.running]).toEqual([[], 2, 1])
    expect((await kit.engine.queues.get('near', { limit: 1 })).next).toHaveLength(1)
  })

  test('show the waiting claims, with their classes', async () => {
    await kit.engine.workers.register('empty', 'job', { pull: true })
    const leave = new AbortController()
    const waiting = kit.engine.runs.claim('empty', { names: ['job', 'zip*'], wait: 20_000 }, { signal: leave.signal })
    await kit.until(async () => (await kit.engine.queues.get('empty').catch(() => ({ claims: [] }))).claims.length > 0)
    expect((await kit.engine.queues.get('empty')).claims).toMatchObject([
      { names: ['job', 'zip*'], until: expect.any(Number) },
    ])
    leave.abort()
    await waiting
  })

  test('show its lanes and the bells that have not arrived', async () => {
    await make({ queue: 'stopping', class: 'stops' })
    const { open, next } = await kit.engine.queues.get('stopping')
    expect(open).toMatchObject([{ kind: 'bell', since: null, until: expect.any(Number) }])
    expect(next).toMatchObject([{ class: 'stops', pull: false }])
  })

  test('are not found if the queue never had a job', async () => {
    await expect(kit.engine.queues.get('nobody')).rejects.toThrow('there is no queue nobody')
  })

  test('cost two concurrent calls, for any number of jobs', async () => {
    const before = kit.gateway.counters.requests
    await kit.engine.queues.get('near')
    expect(kit.gateway.counters.requests - before).toBe(2)
  })
})
