import { afterEach, expect, test, vi } from 'vitest'
import { createLongPoll } from '../../src/engine/lane/long-poll.ts'
import type { Client } from '../../src/redis/client.ts'

afterEach(() => vi.useRealTimers())

test('a result after 20 s was answered after 30 s', async () => {
  vi.useFakeTimers()
  const called = Promise.withResolvers<void>()
  async function* listen() {
    yield ''
    await called.promise
    yield 'called'
    await new Promise(() => {})
  }
  let found: string[] = []
  const began = Date.now()
  const longPoll = createLongPoll({ client: { listen } as unknown as Client, now: () => Date.now() })
  const answer = longPoll(async () => found, { channel: (id) => id, end: began + 60_000 }).then((jobs) => ({
    jobs,
    ms: Date.now() - began,
  }))
  await vi.advanceTimersByTimeAsync(20_000)
  found = ['job']
  called.resolve()
  await vi.advanceTimersByTimeAsync(40_000)
  const { jobs, ms } = await answer
  expect(jobs).toEqual(['job'])
  expect(ms).toBeLessThan(21_000)
})
