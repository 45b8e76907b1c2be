// Lanes that wait for work: what the steady trickle of jobs costs, and what becomes of it when nobody is heard.

import { afterEach, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Kit, type KitOptions, rawCommand, startKit } from '../kit/index.ts'

const noop = defineWorker({ class: 'noop', perform() {} })
let hold: PromiseWithResolvers<void>
const slow = defineWorker({ class: 'slow', perform: () => hold.promise })
const later = defineWorker({ class: 'later', perform() {} })

let kit: Kit
afterEach(async () => {
  await kit.close()
})

/** A sidejob whose lanes stay for so long after their last run. */
async function start(lane: KitOptions['lane']) {
  kit = await startKit({ workers: [noop, slow, later], lane })
}

const queue = async () => (await kit.store.overview('default')).queues[0]!
/** Whether a lane waits, as the queue's record says. */
const isWarm = async () => (await rawCommand(kit.redis.port, 'GET', kit.store.keys.queue('default'))).includes('"wm"')
const messages = () => kit.counts().published

/** Brings the queue to where a lane waits. */
async function warmUp(): Promise<void> {
  for (let i = 0; i < 2; i++) await kit.rest(await kit.make('noop'))
  await kit.until(isWarm)
}

test('a trickle of jobs rings for its first two, and calls for the others', async () => {
  await start({ warm: 3_000 })
  await warmUp()
  const before = messages()
  for (let i = 0; i < 20; i++) {
    await kit.rest(await kit.make('noop'))
    await kit.until(isWarm)
  }
  expect(messages() - before).toBe(0)
})

test('a lane leaves when its time to wait is over, and the next job rings', async () => {
  await start({ warm: 300 })
  await warmUp()
  await kit.until(async () => (await queue()).lanes === 0)
  const before = messages()
  await kit.rest(await kit.make('noop'))
  expect(messages() - before).toBe(1)
})

test('a lane whose budget is over rings for the next one, and no job waits for the tick', async () => {
  await start({ warm: 3_000, budget: 600 })
  await warmUp()
  const before = messages()
  const end = Date.now() + 2_500
  let made = 0
  for (; Date.now() < end; made++) await kit.rest(await kit.make('noop'))
  const rung = messages() - before
  expect(rung).toBeGreaterThanOrEqual(1)
  expect(rung).toBeLessThan(made / 2)
})

test('a job that comes while another one runs is served by the lane that waits for that one', async () => {
  await start({ warm: 3_000 })
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

test('what becomes due while a lane waits is run at its moment, with no call', async () => {
  await start({ warm: 3_000 })
  await warmUp()
  const due = await kit.make('later', { wait: 1_000 })
  await kit.rest(due)
  const { ranAt, createdAt } = await kit.engine.get(String(due))
  expect(ranAt! - createdAt).toBeGreaterThanOrEqual(1_000)
})

test('where Redis lets nobody listen, lanes leave as if they were not to wait', async () => {
  kit = await startKit({ workers: [noop], hold: true })
  const client = createClient(kit.options)
  const refused = () => Promise.reject(new Error('no subscriptions here'))
  const listen = () => ({ [Symbol.asyncIterator]: () => ({ next: refused }) })
  const deaf = await startKit({ workers: [noop], lane: { warm: 3_000 }, redis: { ...client, listen } })
  try {
    for (let i = 0; i < 3; i++) await deaf.engine.enqueue([{ queue: 'default', class: 'noop' }])
    await deaf.until(async () => (await kit.engine.queues()).queues[0]?.counts.completed === 3)
    await deaf.until(async () => (await queue()).lanes === 0)
  } finally {
    await deaf.close()
  }
})

test('five lanes of an isolate wait at most: each has a delivery of QStash open', async () => {
  const queues = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  kit = await startKit({ workers: queues.map((queue) => ({ ...noop, queue })), lane: { warm: 3_000 } })
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
