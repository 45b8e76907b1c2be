import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInFlight } from '../../src/engine/lane/in-flight.ts'
import { defineWorker } from '../../src/index.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'
import { type Kit, startKit } from '../kit/index.ts'

let release = () => {}
const held = new Promise<void>((resolve) => {
  release = resolve
})
const slow = defineWorker({ class: 'slow', perform: () => held })
const fast = defineWorker({ class: 'fast', perform() {} })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [slow, fast] })
})
afterAll(() => kit.close())

test('jobs in a batch with a slow run complete, and so do later jobs', async () => {
  const { jobs } = await kit.engine.jobs.enqueue(
    ['slow', 'fast', 'fast'].map((name) => ({ queue: 'default', class: name })) as never,
  )
  const [held, ...beside] = jobs.map(({ id }) => id) as [number, number, number]
  for (const id of beside) await kit.rest(id, 'completed')
  const later = await kit.make('fast')
  await kit.rest(later, 'completed')
  expect(await kit.statusOf(held)).toBe('running')
  release()
  await kit.rest(held, 'completed')
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const claimed = (id: number): ClaimedJob => ({
  id,
  document: { queue: 'q', class: 'c', sequence: '', token: `${id}.1.x` },
  inputs: {},
  children: [],
  steps: [],
  childCount: 0,
  family: [],
  wires: [],
})

test('a run that ends unobserved is still committed', async () => {
  const flight = createInFlight(1, async () => ({ token: '1.1.x', n: 0, end: 'completed', words: [] }))
  expect(flight.idle).toBe(true)
  flight.add([claimed(1)], 0)
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect([flight.size, flight.idle]).toEqual([0, false])
  expect(flight.take()).toHaveLength(1)
  expect(flight.idle).toBe(true)
})

test('finished runs ran again if another run of the lane failed to reach Redis', async () => {
  const last = Promise.withResolvers<void>()
  const flight = createInFlight(3, async ({ id, document }) => {
    if (id === 2) throw new Error('Redis is restarting')
    if (id === 3) await last.promise
    return { token: document.token!, n: 0, end: 'completed', words: [] }
  })
  flight.add([claimed(1), claimed(2), claimed(3)], 0)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const tokens = () => flight.take().map(({ token }) => token)
  expect([flight.failed, tokens(), tokens()]).toEqual([true, ['1.1.x'], []])
  last.resolve()
  await flight.next()
  expect(tokens()).toEqual(['3.1.x'])
  expect(flight.idle).toBe(false)
  expect(tokens).toThrow('Redis is restarting')
})
