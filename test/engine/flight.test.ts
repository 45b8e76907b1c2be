import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInFlight } from '../../src/engine/lane/in-flight.ts'
import { defineWorker } from '../../src/index.ts'
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

test('a run that ends unobserved is still committed', async () => {
  const flight = createInFlight(1, async () => ({ token: '1.1.x', n: 0, end: 'completed', words: [] }))
  expect(flight.idle).toBe(true)
  flight.add(
    [
      {
        id: 1,
        document: { queue: 'q', class: 'c', sequence: '', token: '1.1.x' },
        inputs: {},
        children: [],
        steps: [],
        childCount: 0,
        family: [],
        wires: [],
      },
    ],
    0,
  )
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect([flight.size, flight.idle]).toEqual([0, false])
  expect(flight.take()).toHaveLength(1)
  expect(flight.idle).toBe(true)
})
