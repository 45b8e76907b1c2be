import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const fine = defineWorker({ class: 'fine', perform() {} })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [fine] })
  await kit.engine.workers.register('media', 'pulled', { pull: true })
  await kit.engine.limits.set('unused', { concurrency: 3 })
  for (const name of ['full', 'shut']) {
    await kit.engine.workers.register('media', name, { pull: true, concurrency: 1 })
    for (let i = 0; i < 2; i++) await kit.engine.jobs.enqueue([{ queue: 'media', class: name }])
  }
  await kit.engine.jobs.enqueue([{ queue: 'default', class: 'fine' }])
  await kit.engine.limits.set('worker:media/shut', { concurrency: 1, paused: true })
  await kit.engine.runs.claim('media', { names: ['full', 'shut'], lease: 3_600_000, max: 10, process: 'a-program' })
})
afterAll(() => kit.close())

test('the overview agrees with the separate requests for queues, series, runs and health', async () => {
  // Each call counts some queues again. After these calls, the measured call has no queue left to count.
  for (let i = 0; i < 30; i++) await kit.engine.stats.totals()
  const glance = await kit.engine.stats.glance({ step: 'minute' })
  const [stats, series, { processes, others }, health] = await Promise.all([
    kit.engine.stats.totals(),
    kit.engine.stats.series({ step: 'minute', details: true }),
    kit.engine.processes.list(),
    kit.engine.health(),
  ])
  const byName = (queues: readonly { name: string }[]) => [...queues].sort((a, b) => (a.name < b.name ? -1 : 1))
  expect(byName(glance.stats.queues)).toEqual(byName(stats.queues))
  expect({ ...glance.stats, queues: [] }).toEqual({ ...stats, queues: [] })
  expect(glance.series).toEqual(series)
  expect(glance.series.points.length).toBeGreaterThan(0)
  expect({ processes: glance.processes, others: glance.others }).toEqual({ processes, others })
  expect(glance.processes.flatMap(({ runs }) => runs)).toHaveLength(1)
  expect({ ...glance.health, ms: 0 }).toEqual({ ...health, ms: 0 })
  expect(glance.hasSchedules).toBe(false)
})

test('a series failed if another request listed the queues at the same time', async () => {
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  let isHeld = false
  const client = createClient(kit.options)
  const engine = createEngine({
    ...kit.engineOptions,
    redis: {
      ...client,
      async ask(command) {
        const answer = await client.ask(command)
        // The first answer with rows of counts belongs to the first request.
        if (isHeld || !Array.isArray((answer as unknown[])[0])) return answer
        isHeld = true
        asked.resolve()
        await held.promise
        return answer
      },
    },
  })
  const first = engine.stats.series({ step: 'minute', details: true })
  await asked.promise
  await kit.engine.workers.register('another', 'pulled', { pull: true })
  await kit.engine.jobs.enqueue([{ queue: 'another', class: 'pulled' }])
  await engine.stats.series({ step: 'minute', details: true })
  held.resolve()
  await expect(first).resolves.toMatchObject({ points: expect.any(Array) })
})

test('the overview lists limits with waiting jobs, including limits without a free slot', async () => {
  const { limits } = await kit.engine.stats.glance()
  const { limits: all } = await kit.engine.limits.withGroups()
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)
  for (const { waitedSince } of limits) expect(Math.abs(waitedSince! - kit.now())).toBeLessThan(60_000)
  expect(limits.sort(byKey).map(({ waitedSince: _, ...limit }) => limit)).toEqual(
    all.filter(({ waiting }) => waiting > 0).sort(byKey),
  )
  expect(limits.map(({ key, running, waiting }) => [key, running, waiting])).toEqual([
    ['worker:media/full', 1, 1],
    ['worker:media/shut', 0, 2],
  ])
})

test('the overview shows whether any job repeats', async () => {
  await kit.engine.jobs.enqueue([{ queue: 'default', class: 'fine', repeat: { cron: '0 3 * * *' } }])
  expect((await kit.engine.stats.glance({ step: 'hour' })).hasSchedules).toBe(true)
})

test('the overview shows whether any kind of errors is muted', async () => {
  const has = async () => {
    const { hasMutes, hasSchedules } = await kit.engine.stats.glance({ step: 'minute' })
    return { hasMutes, hasSchedules }
  }
  expect(await has()).toEqual({ hasMutes: false, hasSchedules: true })
  await kit.engine.errors.mute('0123456789abcdef', { muted: true, by: 'ann' })
  expect(await has()).toEqual({ hasMutes: true, hasSchedules: true })
})

counted('without a step it costs as a look at the queues', async () => {
  await kit.engine.stats.glance()
  const { calls, billed, commands } = await costOf(kit, () => kit.engine.stats.glance())
  expect(calls).toBe(1)
  expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(10)
})

test('a part of a series begins with the minute of its start, and ends before the minute of its end', async () => {
  await kit.advance(120_000)
  await kit.engine.jobs.enqueue([{ queue: 'media', class: 'full' }])
  const moments = async (of: { from?: number; to?: number }) =>
    (await kit.engine.stats.series({ queue: 'media', details: true, ...of })).points.map(({ at }) => at)
  const all = await moments({})
  expect(all.length).toBeGreaterThan(1)
  const last = all.at(-1)!
  expect(await moments({ from: last + 59_999 })).toEqual([last])
  expect(await moments({ from: last + 60_000 })).toEqual([])
  expect(await moments({ to: last })).toEqual(all.slice(0, -1))
  expect(await moments({ from: all[0]!, to: last + 1 })).toEqual(all)
  const { queues } = await kit.engine.stats.series({ queue: 'media', details: true, from: last })
  expect(queues!.media!.map(({ at }) => at)).toEqual([last])
})
