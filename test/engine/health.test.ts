import { afterEach, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const noop = defineWorker({ class: 'noop', perform: () => undefined })

let kit: Kit
afterEach(() => kit.close())

const isolate = (more = {}) => createEngine({ ...kit.engineOptions, workers: [noop], ...more })

test('every isolate reports the tick, a warm one every other tick', async () => {
  kit = await startKit({ workers: [noop] })
  expect(await kit.engine.health()).toMatchObject({ ok: true, ms: expect.any(Number), tickAt: null, bellAt: null })
  await kit.engine.tick()
  const first = (await isolate().health()).tickAt!
  expect(Math.abs(first - kit.now())).toBeLessThan(5_000)
  await kit.advance(60_000)
  await kit.engine.tick()
  expect((await isolate().health()).tickAt).toBe(first)
  await kit.advance(60_000)
  await kit.engine.tick()
  expect((await isolate().health()).tickAt! - first).toBeGreaterThanOrEqual(120_000)
})

test('health shows the source of the last tick, also when it changes within a minute', async () => {
  kit = await startKit({ workers: [noop] })
  expect((await kit.engine.health()).tickBy).toBeNull()
  for (const heart of ['cron', 'qstash', 'cron'] as const) {
    await kit.engine.tick(heart)
    expect((await isolate().health()).tickBy).toBe(heart)
  }
})

test('every isolate reports the bell that last started a lane', async () => {
  kit = await startKit({ workers: [noop] })
  await kit.rest(await kit.make('noop'))
  const { bellAt } = await isolate().health()
  expect(Math.abs(bellAt! - kit.now())).toBeLessThan(15_000)
})

test('a tenant reports no tick of its own, and keeps the tick of its deployment', async () => {
  kit = await startKit({ workers: [noop] })
  const tenant = isolate({ namespace: 'sidejob:t:acme:', tenant: 'acme' })
  await tenant.tick()
  expect(await tenant.health()).not.toHaveProperty('tickAt')
  expect((await kit.engine.health()).tickAt).toBeNull()
})

test('each error of Redis is shown with its remedy', async () => {
  kit = await startKit({ workers: [noop] })
  const away = createEngine({ ...kit.engineOptions, redis: { url: 'http://127.0.0.1:9', token: 'none', attempts: 1 } })
  const found = await away.health()
  expect(found).toMatchObject({
    ok: false,
    problems: [{ of: 'redis', remedy: expect.stringContaining('Retry-After') }],
  })
  expect(found).not.toHaveProperty('tickAt')
})
