import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { defineWorker, port, Terminal } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/index.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const MINUTE = 60_000
const plain = defineWorker({ class: 'plain', perform: () => undefined })
const fails = defineWorker({
  class: 'fails',
  perform() {
    throw new Terminal('broken')
  },
})
const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: () => undefined })
const long = defineWorker({ class: 'long', retain: '1h', perform: () => undefined })
const parent = defineWorker({
  class: 'parent',
  perform(job) {
    if (job.children.early) return
    job.spawn('early', { class: 'plain' })
    job.spawn('late', { class: 'plain' }, { wait: '1m' })
    return job.suspend({ waitFor: 'children' })
  },
})

const db = sqliteDatabase(':memory:')
const base = createHistoryStore(db)
let isDown = false
const store = {
  ...base,
  async write(...rows: Parameters<typeof base.write>) {
    if (isDown) throw new Error('database is down')
    await base.write(...rows)
  },
}
let kit: Kit

beforeAll(async () => {
  kit = await startKit({ workers: [plain, fails, waits, long, parent], hold: true, historyStore: { store, retain: 0 } })
  await kit.engine.history.begin()
})
afterAll(async () => {
  await kit.close()
  db.close()
})
afterEach(async () => expect(await kit.engine.doctor.verify()).toEqual([]))

const settle = async (engine = kit.engine) => {
  for (let n = 0; n < 3; n++) await drain(engine).catch(() => undefined)
}
const isAlive = async (id: number) =>
  kit.engine.jobs.get(String(id)).then(
    () => true,
    () => false,
  )
const statusesOf = async (id: number) => (await kit.engine.history.get(String(id))).ends.map(({ status }) => status)

test('ended jobs leave Redis in the commit that ends them, and the history has each', async () => {
  const [completed, failed] = [await kit.make('plain'), await kit.make('fails')]
  const terminated = await kit.make('plain', { wait: MINUTE })
  await kit.engine.jobs.terminate(String(terminated), {})
  await settle()
  for (const id of [completed, failed, terminated]) expect(await isAlive(id)).toBe(false)
  await kit.engine.history.drain()
  expect(await statusesOf(completed)).toEqual(['completed'])
  expect(await statusesOf(failed)).toEqual(['failed'])
  expect(await statusesOf(terminated)).toEqual(['terminated'])
})

test('jobs in pieces leave Redis too', async () => {
  const inputs = Array.from({ length: 250 }, (_, n) => ({ queue: 'default', class: 'plain', args: String(n) }))
  const { jobs } = await kit.engine.jobs.enqueue(inputs as never)
  await kit.engine.dispatch('default', '')
  await kit.engine.tick()
  const redis = createClient(kit.options)
  expect(await redis.ask((one) => one.keys('sidejob:p:*'))).toEqual([])
  for (const { id } of jobs.slice(0, 3)) expect(await isAlive(id)).toBe(false)
  expect(await statusesOf(jobs[117]!.id)).toEqual(['completed'])
})

test('jobs stay in Redis if data can wake them, if they have relatives, or if they set their own time', async () => {
  const [woken, kept, top] = [
    await kit.make('waits', { inputs: { n: ['1'] } }),
    await kit.make('long'),
    await kit.make('parent'),
  ]
  await settle()
  await kit.engine.tick()
  for (const id of [woken, kept, top]) expect(await isAlive(id)).toBe(true)
  const { early, late } = (await kit.engine.jobs.get(String(top))).children
  expect([early, late]).toMatchObject([{ status: 'completed' }, { status: 'queued' }])
  expect(await isAlive(early!.id)).toBe(true)
  await kit.advance(2 * MINUTE)
  await settle()
  await kit.advance(20 * MINUTE)
  await kit.engine.tick()
  for (const id of [top, early!.id, late!.id]) expect(await isAlive(id)).toBe(false)
  for (const id of [woken, kept]) expect(await isAlive(id)).toBe(true)
})

test('no ended job is lost while the database is down', async () => {
  isDown = true
  const id = await kit.make('plain')
  await settle()
  await kit.engine.tick()
  expect(await isAlive(id)).toBe(false)
  isDown = false
  await kit.engine.history.drain()
  expect(await statusesOf(id)).toEqual(['completed'])
})

test('ended jobs are stored again after an invocation was cut off while it stored some', async () => {
  let isCutOff = true
  const write: typeof store.write = (...given) => (isCutOff ? new Promise(() => {}) : store.write(...given))
  const engine = createEngine({ ...kit.engineOptions, historyStore: { store: { ...store, write } } })
  await engine.history.begin()
  const id = await kit.make('plain')
  void engine.dispatch('default', '')
  await kit.until(async () => (await kit.statusOf(id)) === 'completed')
  isCutOff = false
  await kit.advance(MINUTE)
  await kit.make('plain')
  await engine.dispatch('default', '')
  expect(await statusesOf(id)).toEqual(['completed'])
})

test('a longer time is shown and applied, and a deployment without a time keeps the defaults', async () => {
  const slow = createEngine({ ...kit.engineOptions, historyStore: { store, retain: 10 * MINUTE } })
  await slow.history.begin()
  const [completed, failed] = [await kit.make('plain'), await kit.make('fails')]
  await settle(slow)
  for (const id of [completed, failed]) {
    const { endedAt, keptUntil } = await slow.jobs.get(String(id))
    expect(keptUntil! - endedAt!).toBe(10 * MINUTE)
  }
  await kit.advance(12 * MINUTE)
  await slow.tick()
  for (const id of [completed, failed]) expect(await isAlive(id)).toBe(false)
  const usual = createEngine({ ...kit.engineOptions, historyStore: { store } })
  await usual.history.begin()
  const stays = await kit.make('plain')
  await settle(usual)
  await kit.advance(12 * MINUTE)
  await usual.tick()
  expect(await isAlive(stays)).toBe(true)
  await createEngine(kit.engineOptions).history.begin()
})

counted('a run costs the same number of commands as with the usual times', async () => {
  const cost = async (retain?: number) => {
    const engine = createEngine({
      ...kit.engineOptions,
      historyStore: { store, ...(retain === undefined ? {} : { retain }) },
    })
    await engine.history.begin()
    for (let n = 0; n < 2; n++) await kit.make('plain')
    await engine.dispatch('default', '')
    for (let n = 0; n < 20; n++) await kit.make('plain')
    return (await costOf(kit, () => engine.dispatch('default', ''))).billed
  }
  const [usual, none] = [await cost(), await cost(0)]
  expect(none).toBeLessThanOrEqual(usual)
})
