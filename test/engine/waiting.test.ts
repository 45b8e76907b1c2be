// Claims that wait: called at once, cheap while nothing happens, over when their time is.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Kit, kind, startKit } from '../kit.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
  await kit.engine.setQueue('pull', { mode: 'pull' })
})
afterAll(() => kit.close())

const enqueue = (more: object = {}) => kit.engine.enqueue([{ queue: 'pull', class: 'x', ...more }])
const claim = (wait: number) => kit.engine.claim('pull', { wait })

test.each([
  ['enqueue', () => enqueue()],
  ['a due time', () => enqueue({ wait: 300 })],
])('a claim that waits is called by %s', async (_, make) => {
  const waiting = claim(10_000)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const began = Date.now()
  await make()
  const [snapshot] = await waiting
  expect(snapshot!.job.class).toBe('x')
  expect(Date.now() - began).toBeLessThan(3_000)
  await kit.engine.commit(snapshot!.run.token, { end: 'completed' })
})

test('a claim that waits is called by a retry and by a release', async () => {
  await enqueue({ retry: { max: 1, backoff: { base: 200, jitter: 0 } } })
  const [first] = await claim(0)
  const waiting = claim(10_000)
  await kit.engine.commit(first!.run.token, { end: 'failed', error: { message: 'once' } })
  const [second] = await waiting
  expect(second!.run.attempt).toBe(2)
  const third = claim(10_000)
  await kit.engine.release(second!.run.token)
  const [again] = await third
  await kit.engine.commit(again!.run.token, { end: 'completed' })
})

test('a claim that waits is called when the queue goes on', async () => {
  await kit.engine.setQueue('pull', { paused: true })
  await enqueue()
  const waiting = claim(10_000)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await kit.engine.setQueue('pull', { paused: false })
  const began = Date.now()
  const [snapshot] = await waiting
  expect(Date.now() - began).toBeLessThan(2_000)
  await kit.engine.commit(snapshot!.run.token, { end: 'completed' })
})

// The embedded Redis is slow: fewer wait there.
const [waiting, made] = kind === 'embedded' ? [8, 20] : [50, 100]

test('many waiters get many jobs, each once', async () => {
  const got: number[] = []
  let stop = false
  const waiters = Array.from({ length: waiting }, async () => {
    while (!stop) {
      for (const { run, job } of await claim(2_000)) {
        got.push(job.id)
        await kit.engine.commit(run.token, { end: 'completed' })
      }
    }
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (let n = 0; n < made; n++) {
    await enqueue()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await kit
    .until(() => got.length >= made)
    .finally(() => {
      stop = true
    })
  await Promise.all(waiters)
  expect(new Set(got).size).toBe(made)
  expect(got).toHaveLength(made)
})

test('a waiter that gets nothing costs no request while it waits, and answers an empty list', async () => {
  const before = kit.gateway.counters.requests
  expect(await claim(2_500)).toEqual([])
  expect(kit.gateway.counters.requests - before).toBeLessThanOrEqual(5)
})
