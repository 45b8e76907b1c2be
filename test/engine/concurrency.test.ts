import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function meter() {
  let open = 0
  const seen = { most: 0, all: 0 }
  return {
    seen,
    async during(work: () => Promise<unknown>) {
      open++
      seen.all++
      seen.most = Math.max(seen.most, open)
      await work()
      open--
    },
  }
}

let local = meter()
const narrow = defineWorker({ class: 'narrow', concurrency: 3, perform: () => local.during(() => pause(10)) })
const free = defineWorker({ class: 'free', perform: () => undefined })

let kit: Kit
let target: Server
let calls = meter()
let url = ''
beforeEach(async () => {
  local = meter()
  calls = meter()
  target = createServer((request, answer) => {
    request.resume()
    calls.during(() => pause(30)).then(() => answer.end())
  })
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
  kit = await startKit({ workers: [narrow, free] })
  await kit.engine.queues.update('default', { batch: 5, lanes: 4 })
})
afterEach(async () => {
  await kit.close()
  target.closeAllConnections()
  await new Promise((resolve) => target.close(resolve))
})

const many = async (n: number, name: string) =>
  (await kit.engine.jobs.enqueue(Array.from({ length: n }, () => ({ queue: 'default', class: name })))).jobs
const serve = (concurrency?: number) => kit.engine.workers.register('default', 'called', { push: { url }, concurrency })
const completed = async () => (await kit.store.overview('default')).queues[0]!.completed
const LIMIT = 'worker:default/called'

describe('a push worker with a concurrency limit', () => {
  test('never has more open requests than its limit, across all lanes', async () => {
    await serve(2)
    await many(20, 'called')
    await kit.until(async () => (await completed()) === 20)
    expect(calls.seen).toEqual({ all: 20, most: 2 })
    expect(
      (await kit.engine.jobs.list({ class: 'called', limit: 20 })).jobs.every(
        ({ lost, attempt }) => lost + attempt === 0,
      ),
    ).toBe(true)
  })

  test('delays no other class while its jobs wait, and why names the limit', async () => {
    await serve(1)
    const waiting = await many(40, 'called')
    const others = await many(20, 'free')
    await kit.until(async () => {
      const states = await Promise.all(others.map(({ id }) => kit.statusOf(id)))
      return states.every((status) => status === 'completed')
    })
    expect(calls.seen.all).toBeLessThan(20)
    expect((await kit.engine.jobs.why(String(waiting.at(-1)!.id))).reasons[0]).toMatchObject({
      code: 'LIMITED',
      key: LIMIT,
    })
    await serve()
    await kit.until(async () => (await completed()) === 60)
  })

  test('has a new limit as soon as it is registered with one, and can be registered without', async () => {
    await serve(1)
    await many(60, 'called')
    await kit.until(() => calls.seen.all >= 3)
    expect(calls.seen.most).toBe(1)
    await serve(4)
    await kit.until(() => calls.seen.most === 4)
    const { all } = calls.seen
    await kit.until(() => calls.seen.all >= all + 5)
    expect(calls.seen.most).toBe(4)
    await serve()
    await kit.until(async () => (await completed()) === 60)
    expect(calls.seen.most).toBeGreaterThan(4)
    await expect(kit.engine.limits.get(LIMIT)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('also limits jobs that were created before its registration', async () => {
    await kit.engine.queues.update('default', { paused: true })
    await serve()
    await many(12, 'called')
    await serve(2)
    await kit.engine.queues.update('default', { paused: false })
    await kit.until(async () => (await completed()) === 12)
    expect(calls.seen.most).toBe(2)
  })
})

describe('a function with a concurrency limit', () => {
  test('never exceeds its limit, across all lanes', async () => {
    await many(40, 'narrow')
    await kit.until(async () => (await completed()) === 40)
    expect(local.seen).toEqual({ all: 40, most: 3 })
    expect(await kit.engine.limits.get('worker:default/narrow')).toMatchObject({
      concurrency: 3,
      running: 0,
      waiting: 0,
    })
  })

  test('is refused if its limit is not a number of runs', async () => {
    for (const [concurrency, expected] of [
      [0, 'at least 1, got 0'],
      [-1, 'at least 1, got -1'],
      [1.5, 'a whole number, got 1.5'],
    ] as const)
      await expect(startKit({ workers: [{ ...narrow, concurrency }] })).rejects.toThrow(
        `concurrency: expected ${expected}`,
      )
  })
})
