// Schedules through outages: nothing runs for a while, then somebody looks again.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const ran: { job: number; at: number }[] = []
const beat = defineWorker({
  class: 'beat',
  perform: (job) => void ran.push({ job: job.id, at: job.startedAt.getTime() }),
})

/** Whoever is first in the queue. */
const anyone = { id: 0, queue: 'default', priority: 0, ahead: 0, since: '' }

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [beat], hold: true })
})
afterAll(() => kit.close())

/** One run after the other; where none is due the clock moves on, until a second has passed without any. */
async function settleDown(): Promise<void> {
  for (let quiet = 0; quiet < 10; ) {
    const performed = await kit.engine.performOne(anyone)
    if (!performed) await kit.advance(100)
    quiet = performed ? 0 : quiet + 1
  }
}

test('a minutely schedule goes on after an outage of more than ten hours, and no guard ends it', async () => {
  await kit.advance(MINUTE - (kit.now() % MINUTE))
  const id = await kit.make('beat', { repeat: 'SCHEDULED, +1 MINUTE' })
  await settleDown()
  ran.length = 0
  await kit.advance(11 * HOUR)
  await settleDown()
  expect(await kit.statusOf(id)).toBe('queued')
  expect(ran.length).toBeGreaterThanOrEqual(660)
  expect((await kit.engine.schedule(String(id))).next[0]).toBeGreaterThan(kit.now())
  await kit.engine.remove(String(id), { force: true })
}, 60_000)
