import { afterEach, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Kit, type KitOptions, rawCommand, startKit } from '../kit/index.ts'

const noop = defineWorker({ class: 'noop', perform() {} })
let hold: PromiseWithResolvers<void>
const slow = defineWorker({ class: 'slow', perform: () => hold.promise })
const ran = new Map<number, number>()
const counted = defineWorker({
  class: 'counted',
  perform: (job: Job) => void ran.set(job.id, (ran.get(job.id) ?? 0) + 1),
})
const later = defineWorker({ class: 'later', perform() {} })

let kit: Kit
afterEach(async () => {
  await kit.close()
})

async function start(lane: KitOptions['lane']) {
  kit = await startKit({ workers: [noop, slow, later, counted], lane })
}

const queue = async () => (await kit.store.overview('default')).queues[0]!
const isWarm = async () => (await rawCommand(kit.redis.port, 'GET', kit.store.keys.queue('default'))).includes('"wm"')
const messages = () => kit.counts().published

async function warmUp(): Promise<void> {
  for (let i = 0; i < 2; i++) await kit.rest(await kit.make('noop'))
  await kit.until(isWarm)
}

test('a slow series of jobs rings for the first two jobs, and calls the waiting lane for the rest', async () => {
  await start({ warm: 10_000 })
  await warmUp()
  const before = messages()
  for (let i = 0; i < 20; i++) {
    await kit.rest(await kit.make('noop'))
    await kit.until(isWarm)
  }
  expect(messages() - before).toBe(0)
})

test('a lane leaves at the end of its waiting time, and the next job rings', async () => {
  await start({ warm: 300 })
  await warmUp()
  await kit.until(async () => (await queue()).lanes === 0)
  const before = messages()
  await kit.rest(await kit.make('noop'))
  expect(messages() - before).toBe(1)
})

test('a queue whose lane has left costs nothing more: no request, no message', async () => {
  await start({ warm: 300 })
  await warmUp()
  await kit.until(async () => (await queue()).lanes === 0)
  const sent = () => [kit.counts().requests, kit.counts().published]
  const before = sent()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(sent()).toEqual(before)
})

test('a lane without budget left rings for the next lane, and no job waits for the tick', async () => {
  await start({ warm: 10_000, budget: 600 })
  await warmUp()
  const before = messages()
  let made = 0
  for (; messages() === before; made++) await kit.rest(await kit.make('noop'))
  expect(messages() - before).toBe(1)
  expect(made).toBeGreaterThan(2)
})

test('a lane that mostly waits stays longer than it may work, and leaves with the end of a run', async () => {
  await start({ warm: 10_000, budget: 600 })
  await warmUp()
  const before = messages()
  const end = Date.now() + 1_500
  while (Date.now() < end) {
    await kit.rest(await kit.make('noop'))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(messages() - before).toBe(0)
})

test('a job that arrives during a run is served by the lane of that run', async () => {
  await start({ warm: 10_000 })
  await warmUp()
  hold = Promise.withResolvers()
  const before = messages()
  const long = await kit.make('slow')
  await kit.until(async () => (await kit.statusOf(long)) === 'running' && (await isWarm()))
  await kit.rest(await kit.make('noop'))
  expect(await kit.statusOf(long)).toBe('running')
  hold.resolve()
  await kit.rest(long)
  expect(messages() - before).toBe(0)
})

test('jobs that arrive faster than a lane commits are each run once', async () => {
  await start({ warm: 10_000 })
  await warmUp()
  ran.clear()
  const ids: number[] = []
  await Promise.all(Array.from({ length: 60 }, async () => ids.push(await kit.make('counted'))))
  for (const id of ids) await kit.rest(id)
  expect([...ran.values()]).toEqual(ids.map(() => 1))
})

test('a lost, late or repeated call neither repeats nor loses a job', async () => {
  kit = await startKit({ workers: [counted], hold: true })
  const client = createClient(kit.options)
  async function* disturbed(channel: string, signal: AbortSignal) {
    const late: string[] = []
    let n = 0
    for await (const call of client.listen(channel, signal)) {
      const way = call === '' ? 0 : n++ % 4
      if (way === 0) yield call
      if (way === 1) late.push(call)
      if (way === 2) yield* [call, call]
      if (way === 3) yield* ['ready', call, ...late.splice(0)]
    }
  }
  const lanes = await startKit({ workers: [counted], lane: { warm: 2_000 }, redis: { ...client, listen: disturbed } })
  try {
    ran.clear()
    const ids: number[] = []
    for (let i = 0; i < 24; i++) {
      const { jobs } = await lanes.engine.jobs.enqueue([{ queue: 'default', class: 'counted' }])
      ids.push(jobs[0]!.id)
      await new Promise((resolve) => setTimeout(resolve, i % 3 ? 15 : 60))
    }
    await lanes.until(async () => (await kit.engine.queues.list()).queues[0]?.counts.completed === ids.length)
    expect([...ran.keys()].sort((a, b) => a - b)).toEqual(ids)
    expect(new Set(ran.values())).toEqual(new Set([1]))
  } finally {
    await lanes.close()
  }
})

test('a job that becomes due while a lane waits is run at its time, without a call', async () => {
  await start({ warm: 10_000 })
  await warmUp()
  const due = await kit.make('later', { wait: 1_000 })
  await kit.rest(due)
  const { ranAt, createdAt } = await kit.engine.jobs.get(String(due))
  expect(ranAt! - createdAt).toBeGreaterThanOrEqual(1_000)
})

test('without subscriptions in Redis, lanes leave without waiting', async () => {
  kit = await startKit({ workers: [noop], hold: true })
  const client = createClient(kit.options)
  const refused = () => Promise.reject(new Error('no subscriptions here'))
  const listen = () => ({ [Symbol.asyncIterator]: () => ({ next: refused }) })
  const deaf = await startKit({ workers: [noop], lane: { warm: 10_000 }, redis: { ...client, listen } })
  try {
    for (let i = 0; i < 3; i++) await deaf.engine.jobs.enqueue([{ queue: 'default', class: 'noop' }])
    await deaf.until(async () => (await kit.engine.queues.list()).queues[0]?.counts.completed === 3)
    await deaf.until(async () => (await queue()).lanes === 0)
  } finally {
    await deaf.close()
  }
})

test('at most five lanes of an isolate wait, because each keeps a delivery of QStash open', async () => {
  const queues = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  kit = await startKit({ workers: queues.map((queue) => ({ ...noop, queue })), lane: { warm: 10_000 } })
  const waiting = async () => {
    const records = await Promise.all(
      queues.map((queue) => rawCommand(kit.redis.port, 'GET', kit.store.keys.queue(queue))),
    )
    return records.filter((record) => record.includes('"wm"')).length
  }
  for (let i = 0; i < 2; i++) for (const queue of queues) await kit.rest(await kit.make('noop', { queue }))
  await kit.until(async () => (await waiting()) === 5)
  for (const queue of ['f', 'g']) expect((await kit.store.overview(queue)).queues[0]!.lanes).toBe(0)
})
