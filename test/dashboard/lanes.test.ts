import { afterAll, beforeAll, expect, test } from 'vitest'
import { newLaneName, openSince } from '../../src/engine/lane/lane-name.ts'
import { defineWorker } from '../../src/index.ts'
import { startPages } from './kit.ts'

let goOn: () => void
const held = new Promise<void>((resolve) => {
  goOn = resolve
})
const waits = defineWorker({ class: 'waits', perform: () => held })

let pages: Awaited<ReturnType<typeof startPages>>
beforeAll(async () => {
  pages = await startPages({ workers: [waits] })
})
afterAll(() => pages.close())

test('the page of a queue shows when its lane opened', async () => {
  const before = Date.now()
  const id = await pages.make('waits')
  await pages.until(async () => (await pages.engine.jobs.get(String(id))).status === 'running')
  const { open, runs } = await pages.engine.queues.get('default')
  const lane = open.find(({ kind }) => kind === 'lane')!
  expect(Math.abs(lane.since! - before)).toBeLessThan(5_000)
  expect(lane.since).toBeLessThanOrEqual(lane.until)
  expect(lane.id.startsWith(runs[0]!.lane!)).toBe(true)
  const reader = await pages.enter(['read'])
  expect(await reader.html('/ui/queues/default')).toMatch(new RegExp(`open <time[^>]*data-since="${lane.since}"`))
  goOn()
  await pages.until(async () => (await pages.engine.jobs.get(String(id))).status === 'completed')
})

test.each([
  [newLaneName(1_800_000_000_123.7), 1_800_000_000_123],
  ['bell0123456789ab1', null],
  ['0123456789abcdef0123456789abcdef', null],
  ['', null],
])('a lane named %j opened at %j', (name, since) => expect(openSince(name)).toBe(since))

test('names of lanes differ in their first six letters', () => {
  const names = Array.from({ length: 1_000 }, () => newLaneName(0))
  expect(new Set(names.map((name) => name.slice(0, 6))).size).toBeGreaterThan(990)
})
