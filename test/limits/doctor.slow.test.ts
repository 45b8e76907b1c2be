import { afterAll, beforeAll, expect, test } from 'vitest'
import { findServer } from '../../infra/stand-ins/redis.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Doors, startDoors } from './kit.ts'

const JOBS = 100_000
const quick = defineWorker({ class: 'quick', perform: () => undefined })
const listens = defineWorker({
  class: 'listens',
  in: { in: { channels: ['/doctor'] } },
  out: { out: {} },
  perform: (job: Job) => job.suspend(),
})

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: [quick, listens] })
}, 60_000)
afterAll(() => doors.close(), 60_000)

const make = (n: number, job: (i: number) => object) =>
  doors.engine.jobs.enqueue(Array.from({ length: n }, (_, i) => ({ queue: 'default', class: 'quick', ...job(i) })))

async function fill(): Promise<void> {
  const wait = 36_000_000
  for (let n = 0; n < JOBS - 6_000; n += 1_000) await make(1_000, () => ({ wait: n % 2_000 ? wait : undefined }))
  const { jobs } = await make(1, () => ({ wait }))
  for (let n = 0; n < 1_000; n += 250) {
    await make(250, (i) => ({ wait, parent: String(jobs[0]!.id), name: `child ${n + i}` }))
    await make(250, () => ({ class: 'listens', wait }))
    await make(250, (i) => ({ wait, group: { id: `group ${n + i}`, concurrency: 1 } }))
    await make(250, (i) => ({ wait, alias: [`alias ${n + i}`], unique: `unique ${n + i}` }))
    await make(250, () => ({ wait, args: JSON.stringify('x'.repeat(2_000)) as never }))
  }
}

test.skipIf(!findServer())('no slice of the check holds Redis for more than 50 ms', { timeout: 600_000 }, async () => {
  await fill()
  let [slices, jobs] = [0, 0]
  const faults: unknown[] = []
  for (let cursor: string | null | undefined; cursor !== null; slices++) {
    const from: string | undefined = cursor
    const slice = await doors.watched(`slice ${from}`, () => doors.engine.doctor.examine(from))
    faults.push(...slice.faults)
    jobs += slice.jobs
    cursor = slice.cursor
  }
  expect(faults).toEqual([])
  expect(jobs).toBeGreaterThanOrEqual(JOBS - 1_000)
  expect(slices).toBeGreaterThan(JOBS / 100)
  expect(doors.slow()).toEqual([])
})

test.skipIf(!findServer())('no slice of a repair holds Redis for more than 50 ms', { timeout: 600_000 }, async () => {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const from: string | undefined = cursor
    cursor = (await doors.watched(`slice ${from}`, () => doors.engine.doctor.repair(from))).cursor
  }
  expect(doors.slow()).toEqual([])
})
