import { afterAll, beforeAll, expect, test } from 'vitest'
import { FOREVER_MS } from '../../src/core/schemas.ts'
import type { JobFilter } from '../../src/engine/engine.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { commandStats } from '../redis/commandstats.ts'

const noop = defineWorker({ queue: 'many', class: 'noop', perform: () => 1 })
const fussy = defineWorker({
  queue: 'piece',
  class: 'fussy',
  perform({ args }) {
    if (args === 3) throw new Error('three')
  },
})

let kit: Kit
const ended: number[] = []

const sorted = async (filter: JobFilter = {}) => kit.engine.jobs.list({ sort: 'ended', limit: 1_000, ...filter })
const ids = async (filter?: JobFilter) => (await sorted(filter)).jobs.map(({ id }) => id)

async function paged(filter: JobFilter): Promise<number[]> {
  const all: number[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await sorted({ ...filter, cursor })
    all.push(...page.jobs.map(({ id }) => id))
    if (page.cursor === null) return all
    cursor = page.cursor
  }
}

const make = async (input: object) =>
  (await kit.engine.jobs.enqueue([{ queue: 'p', class: 'job', ...input }])).jobs[0]!.id

async function end(id: number, how: 'completed' | 'failed' | 'terminated', queue = 'p'): Promise<void> {
  await kit.advance(1_000)
  if (how === 'terminated') await kit.engine.jobs.terminate(String(id), {})
  else {
    const [claimed] = await kit.engine.runs.claim(queue, { max: 1 })
    expect(claimed!.job.id).toBe(id)
    const error = { message: 'no', reason: 'other' as const }
    await kit.engine.runs.commit(claimed!.run.token, how === 'failed' ? { end: how, error } : { end: how })
  }
  ended.unshift(id)
}

beforeAll(async () => {
  kit = await startKit({ hold: true, workers: [noop, fussy] })
  for (const queue of ['p', 'q']) await kit.engine.workers.register(queue, 'job', { pull: true, retry: { max: 0 } })
  const [old, young, other] = [
    await make({ priority: 9 }),
    await make({}),
    await make({ queue: 'q', retain: 60_000_000 }),
  ]
  const kept = await make({ priority: 5, retain: FOREVER_MS })
  const waiting = await make({ priority: 10 })
  await end(young, 'failed')
  await end(other, 'completed', 'q')
  await end(kept, 'completed')
  await end(old, 'completed')
  await end(waiting, 'terminated')
  await make({})
})
afterAll(() => kit.close())

test('ended jobs of any queue, status, retention and age are listed by their end, newest first', async () => {
  expect(await ids()).toEqual(ended)
  expect(await ids({ status: 'completed' })).toEqual([ended[1], ended[2], ended[3]])
  expect(await ids({ status: ['failed', 'terminated'], queue: 'p' })).toEqual([ended[0], ended[4]])
  expect(await ids({ queue: 'q' })).toEqual([ended[3]])
  expect(await ids({ queue: 'none' })).toEqual([])
  const { jobs } = await kit.engine.jobs.rows({ sort: 'ended' })
  expect(jobs.map(({ id }) => id)).toEqual(ended)
})

test('other filters apply too, and the pages together are the whole list', async () => {
  for (const limit of [1, 2, 3]) expect(await paged({ limit })).toEqual(ended)
  expect(await ids({ class: 'none' })).toEqual([])
  expect(await paged({ queue: 'p', status: 'completed', limit: 1 })).toEqual([ended[1], ended[2]])
})

test('packed jobs are listed by their end, including jobs that left the pack', async () => {
  const { jobs } = await kit.engine.jobs.enqueue(
    Array.from({ length: 150 }, (_, args) => ({ queue: 'piece', class: 'fussy', args: String(args) as never })),
  )
  const done = jobs.map(({ id }) => id)
  await kit.engine.dispatch('piece', '')
  const filter = { queue: 'piece' }
  const endedAt = new Map((await sorted(filter)).jobs.map((job) => [job.id, job.endedAt!]))
  const byEnd = done.toSorted((a, b) => endedAt.get(b)! - endedAt.get(a)! || b - a)
  expect(await ids(filter)).toEqual(byEnd)
  expect(await paged({ ...filter, limit: 7 })).toEqual(byEnd)
  expect(await ids({ ...filter, status: 'failed' })).toEqual([done[3]])
  expect(await kit.engine.doctor.verify()).toEqual([])
})

test.skipIf(kind !== 'server')(
  'a page costs six commands, one more for each index and one for each 64 entries of at most 2,400',
  async () => {
    const input = { queue: 'many', class: 'noop', keepResult: 60_000 }
    for (let n = 0; n < 3; n++)
      await kit.engine.jobs.enqueue(Array.from({ length: 1_000 }, () => ({ ...input, priority: n })))
    await kit.advance(60_000)
    await kit.engine.dispatch('many', '')
    const before = await commandStats(kit)
    const from = performance.now()
    const { jobs } = await sorted({ queue: 'many', limit: 50 })
    expect(performance.now() - from).toBeLessThan(1_000)
    const after = await commandStats(kit)
    const used = [...after].map(([name, n]) => [name, n - (before.get(name) ?? 0)] as const)
    expect(used.reduce((sum, [, n]) => sum + n, 0)).toBeLessThanOrEqual(6 + 1 + Math.ceil(2_400 / 64))
    expect(jobs).toHaveLength(50)
    expect(jobs.map(({ endedAt }) => endedAt!)).toEqual(jobs.map(({ endedAt }) => endedAt!).toSorted((a, b) => b - a))
    expect(new Set(await paged({ queue: 'many' })).size).toBe(3_000)
  },
)
