import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Kit, startKit } from '../kit/index.ts'

const HOUR = 3_600_000

let kit: Kit
const make = async (input: object) =>
  (await kit.engine.jobs.enqueue([{ queue: 'p', class: 'job', ...input }])).jobs[0]!.id
const claim = async (process: string) => (await kit.engine.runs.claim('p', { max: 1, process }))[0]!.run.token

beforeAll(async () => {
  kit = await startKit({ hold: true })
  await kit.engine.workers.register('p', 'job', { pull: true, limits: [{ key: 'stripe', concurrency: 2 }] })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

test('shows the holders, soonest end first, the waiting jobs in turn, their start, and the next free slot', async () => {
  const [one, two] = [await make({ group: { id: 'a' } }), await make({ group: { id: 'b' } })]
  await claim('host:1')
  await kit.advance(1_000)
  await claim('host:2')
  await kit.advance(1_000)
  const [third, urgent] = [await make({ group: { id: 'a' } }), await make({ priority: -5, group: { id: 'b' } })]
  const { limit, holders, waiting } = await kit.engine.limits.usage('stripe', { holders: 10, waiting: 10 })
  expect(holders).toMatchObject([
    { job: one, queue: 'p', class: 'job', group: 'a', process: 'host:1', startedAt: expect.any(Number) },
    { job: two, group: 'b', process: 'host:2' },
  ])
  expect(holders[1]!.leaseUntil).toBeGreaterThan(holders[0]!.leaseUntil)
  expect(waiting).toMatchObject([
    { job: urgent, group: 'b', priority: -5, since: expect.any(Number) },
    { job: third, group: 'a', priority: 0 },
  ])
  expect(limit).toMatchObject({ key: 'stripe', concurrency: 2, running: 2, waiting: 2, started: 0, shutUntil: null })
  expect(limit).toMatchObject({ fullSince: waiting[0]!.since, nextRoom: holders[0]!.leaseUntil })
})

test('returns the requested number of holders and waiting jobs', async () => {
  expect(await kit.engine.limits.usage('stripe', { holders: 1 })).toMatchObject({ holders: [{}], waiting: [] })
  expect((await kit.engine.limits.usage('stripe', { waiting: 1 })).waiting).toHaveLength(1)
})

test('a rate shows the number of starts, and the time of the next', async () => {
  await kit.engine.workers.register('p', 'rated', {
    pull: true,
    limits: [{ key: 'rated', rate: { limit: 1, period: HOUR } }],
  })
  await make({ class: 'rated' })
  await kit.engine.runs.claim('p', { max: 1, names: ['rated'] })
  expect((await kit.engine.limits.usage('rated', {})).limit).toMatchObject({
    started: 1,
    nextRoom: null,
    fullSince: null,
  })
  await make({ class: 'rated' })
  const { limit } = await kit.engine.limits.usage('rated', {})
  expect(limit.nextRoom! - kit.now()).toBeGreaterThan(HOUR / 2)
  expect(limit.nextRoom! - kit.now()).toBeLessThan(HOUR * 1.1)
})

test('an unset limit is not found', async () => {
  await expect(kit.engine.limits.usage('nobody', {})).rejects.toThrow('there is no limit nobody')
})

test('costs one round trip, however many are shown', async () => {
  const before = kit.gateway.counters.requests
  await kit.engine.limits.usage('stripe', { holders: 200, waiting: 200 })
  expect(kit.gateway.counters.requests - before).toBe(1)
})
