import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
  await kit.engine.queues.update('pull', { mode: 'pull' })
})
afterAll(() => kit.close())

const enqueue = (more: object = {}) => kit.engine.jobs.enqueue([{ queue: 'pull', class: 'x', ...more }])
const claim = (wait: number, signal?: AbortSignal) => kit.engine.runs.claim('pull', { wait }, { signal })

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
  await kit.engine.runs.commit(snapshot!.run.token, { end: 'completed' })
})

test('a claim that waits is called by a retry and by a release', async () => {
  await enqueue({ retry: { max: 1, backoff: { base: 200, jitter: 0 } } })
  const [first] = await claim(0)
  const waiting = claim(10_000)
  await kit.engine.runs.commit(first!.run.token, { end: 'failed', error: { message: 'once' } })
  const [second] = await waiting
  expect(second!.run.attempt).toBe(2)
  const third = claim(10_000)
  await kit.engine.runs.release(second!.run.token)
  const [again] = await third
  await kit.engine.runs.commit(again!.run.token, { end: 'completed' })
})

test('a waiting claim is called when the queue is resumed', async () => {
  await kit.engine.queues.update('pull', { paused: true })
  await enqueue()
  const waiting = claim(10_000)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await kit.engine.queues.update('pull', { paused: false })
  const began = Date.now()
  const [snapshot] = await waiting
  expect(Date.now() - began).toBeLessThan(2_000)
  await kit.engine.runs.commit(snapshot!.run.token, { end: 'completed' })
})

const [waiting, made] = kind === 'embedded' ? [8, 20] : [50, 100]

test('many waiting claims get many jobs, each once', async () => {
  const got: number[] = []
  const stopped = new AbortController()
  const waiters = Array.from({ length: waiting }, async () => {
    while (!stopped.signal.aborted) {
      for (const { run, job } of await claim(2_000, stopped.signal)) {
        got.push(job.id)
        await kit.engine.runs.commit(run.token, { end: 'completed' })
      }
    }
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (let n = 0; n < made; n++) {
    await enqueue()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await kit.until(() => got.length >= made).finally(() => stopped.abort())
  await Promise.all(waiters)
  expect(new Set(got).size).toBe(made)
  expect(got).toHaveLength(made)
})

test('a waiting claim that gets no job sends no request while it waits, and returns an empty list', async () => {
  const before = kit.gateway.counters.requests
  expect(await claim(2_500)).toEqual([])
  expect(kit.gateway.counters.requests - before).toBeLessThanOrEqual(5)
})

async function claimed() {
  const queue = crypto.randomUUID()
  await kit.engine.queues.update(queue, { mode: 'pull' })
  const { id } = (await enqueue({ queue, keepResult: 60_000 })).jobs[0]!
  const [snapshot] = await kit.engine.runs.claim(queue, {})
  return { id, snapshot }
}

async function awaited(more: { take?: boolean; signal?: AbortSignal } = {}, engine = kit.engine) {
  const { id, snapshot } = await claimed()
  const { signal, ...options } = more
  const result = engine.jobs.result(String(id), { wait: 60_000, ...options }, { signal })
  await kit.until(async () => (await kit.store.inspect(String(id))).document.waitedUntil !== undefined)
  return {
    id,
    result,
    end: () => kit.engine.runs.commit(snapshot!.run.token, { end: 'completed', result: '42' as never }),
  }
}

test.each([false, true])('a waiting caller gets a result as soon as it exists (taken: %s)', async (take) => {
  const { result, end } = await awaited({ take })
  await end()
  expect(await result).toMatchObject({ ended: true, result: { type: 'success', result: '42' } })
})

test('many callers can wait for one result, also for the result of a failed job', async () => {
  const { id, snapshot } = await claimed()
  const results = Array.from({ length: 5 }, () => kit.engine.jobs.result(String(id), { wait: 60_000 }))
  await kit.until(async () => (await kit.store.inspect(String(id))).document.waitedUntil !== undefined)
  await kit.engine.runs.commit(snapshot!.run.token, { end: 'failed', error: { message: 'no' } })
  for (const result of await Promise.all(results)) expect(result).toMatchObject({ result: { message: 'no' } })
})

test('a disconnected reader of results takes nothing, and is not awaited', async () => {
  const hangUp = new AbortController()
  const { id, result, end } = await awaited({ take: true, signal: hangUp.signal })
  hangUp.abort()
  expect(await result).toEqual({ ended: false, status: 'running' })
  await end()
  expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ ended: true, result: { result: '42' } })
})

test('a result and a job can be awaited without subscriptions in Redis', async () => {
  const client = createClient(kit.options)
  const refused = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no more connections')) }) }
  const deaf = createEngine({ ...kit.engineOptions, redis: { ...client, listen: () => refused } })
  const { result, end } = await awaited({}, deaf)
  const before = kit.gateway.counters.requests
  await end()
  expect(await result).toMatchObject({ ended: true, result: { result: '42' } })
  expect(kit.gateway.counters.requests - before).toBeLessThanOrEqual(5)

  const claimed = deaf.runs.claim('pull', { wait: 60_000 })
  await enqueue()
  await kit.engine.runs.commit((await claimed)[0]!.run.token, { end: 'completed' })
})
