// A lane performs only a few runs with HTTP calls at a time, so that no run times out while it waits for its turn.

import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, type KitOptions, startKit } from '../kit/index.ts'
import { type Receiver, startReceiver } from '../kit/receiver.ts'

const noop = defineWorker({ class: 'noop', queue: 'slow', perform: () => undefined })
const LANES = 8
const CALLS = 4

let kit: Kit
let receiver: Receiver
const start = async (options: KitOptions = {}) => {
  kit = await startKit({ workers: [noop], ...options })
  await kit.engine.workers.register('slow', 'call', { push: { url: `${receiver.url}/` }, timeout: 5_000 })
}
const completed = (n: number, within?: number) =>
  kit.until(async () => {
    const { queues } = await kit.engine.queues.list()
    return queues.find(({ name }) => name === 'slow')!.counts.completed === n
  }, within)

beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await kit.close()
  await receiver.close()
})

const make = async (n: number, more: object = {}) => {
  const { jobs } = await kit.engine.jobs.enqueue(
    Array(n).fill({ queue: 'slow', class: 'call', args: '1', retain: 3_600_000, ...more }),
  )
  return jobs.map(({ id }) => String(id))
}

describe('200 jobs of a push class whose worker takes 3 s', () => {
  test('all complete at their first attempt, 4 at once in each of 8 lanes, and no lease is lost', async () => {
    receiver.answer = (_, response) => void setTimeout(() => response.end(), 3_000)
    await start()
    const ids = await make(200)
    await completed(200, 60_000)
    expect(receiver.came).toHaveLength(200)
    expect(receiver.most()).toBeLessThanOrEqual(LANES * CALLS)
    expect(receiver.most()).toBeGreaterThan(2 * CALLS)
    for (const id of ids) expect(await kit.engine.jobs.get(id)).toMatchObject({ status: 'completed', lost: 0 })
  }, 90_000)
})

test('leases are renewed while every slot for calls is taken', async () => {
  const held: ServerResponse[] = []
  receiver.answer = (_, response) => held.push(response)
  await start({ lane: { lease: 1_500 } })
  const ids = await make(40)
  await kit.until(() => held.length === LANES * CALLS)
  const leases = async () =>
    Promise.all(ids.map(async (id) => Number((await kit.store.inspect(id)).document.leaseUntil ?? 0)))
  const first = Math.max(...(await leases()))
  await kit.until(async () => (await leases()).filter((until) => until > first + 1_500).length >= LANES * CALLS)
  receiver.answer = (_, response) => response.end()
  for (const response of held) response.end()
  await completed(40)
  expect(receiver.came).toHaveLength(40)
})

test('a lane takes further jobs during its calls', async () => {
  const held: ServerResponse[] = []
  receiver.answer = (_, response) => held.push(response)
  await start()
  await kit.engine.queues.update('slow', { lanes: 1 })
  await make(6)
  await kit.until(() => held.length === CALLS)
  const [id] = await make(1, { class: 'noop', priority: -1 })
  held.shift()!.end()
  await kit.rest(Number(id), 'completed')
  receiver.answer = (_, response) => response.end()
  for (const response of held) response.end()
  await kit.until(() => receiver.came.length === 6)
  expect(receiver.most()).toBeLessThanOrEqual(CALLS)
})
