// Jobs of one bulk call are packed: one key of Redis contains up to 100 jobs.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/index.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const plain = defineWorker({ class: 'plain', perform: () => undefined })
const JOBS = 100

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [plain, { ...plain, queue: 'narrow' }], hold: true })
})
afterAll(() => kit.close())

async function keysOfBulk(queue = 'default'): Promise<number> {
  const keys = async () => (await createClient(kit.options).ask((redis) => redis.keys('sidejob:job*:*'))).length
  const before = await keys()
  await kit.engine.jobs.enqueue(
    Array.from({ length: JOBS }, (_, n) => ({ queue, class: 'plain', args: `${n}` })) as never,
  )
  return (await keys()) - before
}

const statuses = async () => {
  const { queues } = await kit.engine.queues.list()
  return Object.fromEntries(queues.map(({ name, counts }) => [name, counts]))
}

test('jobs stay packed despite a constraint for another queue, and after its removal', async () => {
  expect(await keysOfBulk()).toBeLessThan(10)
  await kit.engine.constraints.set('narrow', { match: { queue: 'narrow' }, concurrency: 2 } as never)
  expect(await keysOfBulk()).toBeLessThan(10)
  expect(await keysOfBulk('narrow')).toBeGreaterThanOrEqual(JOBS)
  await kit.engine.constraints.remove('narrow')
  expect(await keysOfBulk()).toBeLessThan(10)
  expect(await keysOfBulk('narrow')).toBeLessThan(10)
  await drain(kit.engine)
  expect(await statuses()).toMatchObject({
    default: { completed: 3 * JOBS },
    narrow: { completed: 2 * JOBS },
  })
})

counted('a lane leases a piece as a whole although there is a constraint', async () => {
  await kit.engine.constraints.set('narrow', { match: { queue: 'narrow' }, concurrency: 2 } as never)
  await keysOfBulk()
  const { billed } = await costOf(kit, () => kit.engine.dispatch('default', ''))
  expect(billed).toBeLessThan(60)
})

test('jobs wait packed after Redis was emptied under a living isolate', async () => {
  await createClient(kit.options).ask((redis) => redis.flushall())
  expect(await keysOfBulk()).toBeLessThan(10)
  expect(await keysOfBulk()).toBeLessThan(10)
})
