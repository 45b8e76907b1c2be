import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
})
afterAll(() => kit.close())

test('a claim finds a job after more than a thousand jobs at a limit that was lowered', async () => {
  const queue = 'pull'
  for (const name of ['limited', 'free']) await kit.engine.workers.register(queue, name, { pull: true })
  const group = { id: queue, concurrency: 2_000 }
  const before = Array.from({ length: 1_101 }, () => ({ queue, class: 'limited', priority: -1, group }))
  await kit.engine.jobs.enqueue(before)
  const id = await kit.make('free', { queue })
  expect(await kit.engine.runs.claim(queue, {})).toHaveLength(1)
  await kit.engine.limits.set(`group:${queue}`, { concurrency: 1 })
  const [run] = await kit.engine.runs.claim(queue, {})
  expect(run!.job.id).toBe(id)
})
