import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkerd, type Workerd } from './kit.ts'

let workerd: Workerd
beforeAll(async () => {
  workerd = await startWorkerd()
}, 120_000)
afterAll(() => workerd?.close())

test('80 concurrent requests share scripts, each returns its own job, and a refusal reaches its caller', async () => {
  const { client, stack } = workerd
  const make = (i: number) =>
    client.jobs.enqueue({
      queue: 'core',
      class: 'zip',
      wait: '1h',
      args: i,
      parent: i === 7 ? 9_999 : undefined,
    })
  await make(0)
  const before = stack.gateway.counters.requests
  const made = await Promise.allSettled(Array.from({ length: 80 }, (_, i) => make(i)))
  expect(stack.gateway.counters.requests - before).toBeLessThan(60)
  expect(made.flatMap((one, i) => (one.status === 'rejected' ? [i] : []))).toEqual([7])
  const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
  expect(new Set(ids).size).toBe(79)
  const args = await Promise.all(ids.map(async (id) => (await client.jobs.get(id)).args))
  expect(args).toEqual(Array.from({ length: 80 }, (_, i) => i).filter((i) => i !== 7))
})
