import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const runs = new Map<number, number>()

const fibonacci = defineWorker({
  class: 'fibonacci',
  async perform(job: Job): Promise<unknown> {
    runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
    const { n } = job.args as { n: number }
    if (n <= 2) return job.write('answer', 1)
    if (Object.keys(job.children).length === 0) {
      for (const m of [n - 1, n - 2]) job.spawn(`of${m}`, fibonacci, { args: { n: m } })
      return job.suspend({ waitFor: 'children' })
    }
    const answers = await job.readChildren<number>('answer')
    const sum = Object.values(answers)
      .flat()
      .reduce((a, b) => a + b, 0)
    job.write('answer', sum)
  },
  out: { answer: {} },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [fibonacci] })
})
afterAll(() => kit.close())

test('287 jobs compute fib(12) = 144, and each runs once, and again when its children have ended', async () => {
  const id = await kit.make('fibonacci', { args: '{"n":12}' })
  await kit.rest(id, 'completed', 60_000)
  const { values } = await kit.engine.ports.get(String(id), 'out', 'answer')
  expect(values.map(({ data }) => data)).toEqual(['144'])
  const all = await kit.store.overview()
  expect(all.queues[0]!.completed).toBe(287)
  expect(runs.size).toBe(287)
  expect(Math.max(...runs.values())).toBe(2)
  expect([...runs.values()].reduce((a, b) => a + b)).toBe(287 + 143)
  expect(await kit.engine.doctor.verify()).toEqual([])
}, 90_000)
