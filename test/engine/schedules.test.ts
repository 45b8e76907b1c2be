// Jobs that repeat: every slot once, without drift, paused and resumed.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit.ts'

const HOUR = 3_600_000
const runs: number[] = []
const beat = defineWorker({ class: 'beat', perform: () => void runs.push(1) })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [beat] })
})
afterAll(async () => {
  expect(await kit.engine.verify()).toEqual([])
  await kit.close()
})

const hourly = { repeat: { cron: '0 * * * *' } }

/** Moves the clock to a slot and waits until its run is over, so many times. */
async function pass(id: number, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const [slot] = (await kit.engine.schedule(String(id))).next
    const before = runs.length
    await kit.advance(slot! - kit.now() + 500)
    await kit.engine.tick()
    await kit.until(async () => runs.length > before && (await kit.statusOf(id)) === 'queued')
  }
}

test('every slot is run once, and the next five are known', async () => {
  const id = await kit.make('beat', hourly)
  const { next } = await kit.engine.schedule(String(id))
  expect(next).toHaveLength(5)
  expect(next.every((slot, n) => slot % HOUR === 0 && (n === 0 || slot - next[n - 1]! === HOUR))).toBe(true)
  await pass(id, 24)
  expect(runs).toHaveLength(24)
  expect((await kit.engine.schedule(String(id))).next[0]).toBe(next[0]! + 24 * HOUR)
  await kit.engine.terminate(String(id), {})
})

test('a run by hand uses up no slot', async () => {
  const id = await kit.make('beat', hourly)
  const { next } = await kit.engine.schedule(String(id))
  const before = runs.length
  await kit.engine.run(String(id), {})
  await kit.until(async () => runs.length > before && (await kit.statusOf(id)) === 'queued')
  expect((await kit.engine.schedule(String(id))).next).toEqual(next)
  await kit.engine.terminate(String(id), {})
})

test('a paused schedule has no slots, and goes on with the first after now', async () => {
  const id = await kit.make('beat', hourly)
  expect(await kit.engine.pauseSchedule(String(id))).toMatchObject({ paused: true, next: [] })
  const before = runs.length
  await kit.advance(5 * HOUR)
  await kit.engine.tick()
  const { next, paused } = await kit.engine.resumeSchedule(String(id))
  expect(paused).toBe(false)
  expect(next[0]).toBeGreaterThan(kit.now())
  expect(runs.length).toBe(before)
})

test('schedules are listed by their next slot, and no more when they have ended', async () => {
  const id = await kit.make('beat', { repeat: { cron: '0 0 1 1 *' } })
  const listed = async () => (await kit.engine.schedules({})).schedules.map(({ job }) => job)
  expect((await listed()).at(-1)).toBe(id)
  await kit.engine.patch(String(id), { repeat: null })
  expect(await listed()).not.toContain(id)
})
