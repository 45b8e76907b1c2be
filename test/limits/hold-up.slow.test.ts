// Lists of many jobs with large documents. hold-up.test.ts lists fewer of them.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Doors, listLargeJobs, startDoors } from './kit.ts'

const large = ['quarter', 'largest'].map((queue) => defineWorker({ class: 'quick', queue, perform: () => undefined }))

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: large })
})
afterAll(() => doors.close())

test.each([
  ['quarter', 1_000, 100],
  ['largest', 800, 500],
])('64 jobs with large documents (%s) are listed without delaying other calls', { timeout: 120_000 }, async (...of) => {
  const [queue, ports, bytes] = of
  await listLargeJobs(doors, { queue, jobs: 64, ports, bytes })
  expect(doors.slow()).toEqual([])
  expect(doors.reported.splice(0)).toEqual([])
})
