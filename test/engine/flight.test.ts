// Slow runs hold up nobody: what has ended beside them is committed, and new jobs are served.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit.ts'

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

test('jobs in one batch with a slow run complete, and so do those that come after it', async () => {
  const { jobs } = await kit.engine.enqueue(
    ['slow', 'fast', 'fast'].map((name) => ({ queue: 'default', class: name })) as never,
  )
  const [held, ...beside] = jobs.map(({ id }) => id) as [number, number, number]
  for (const id of beside) await kit.rest(id, 'completed')
  const later = await kit.make('fast')
  await kit.rest(later, 'completed')
  expect(await kit.statusOf(held)).toBe('running')
  release()
  await kit.rest(held, 'completed')
  expect(await kit.engine.verify()).toEqual([])
})
