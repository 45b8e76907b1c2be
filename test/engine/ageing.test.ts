import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const RUNS = 60
const order: string[] = []
const ran = new Map<unknown, number>()

/** Two jobs of this class keep a lane busy: while one job runs, the other is ready. */
const busy = defineWorker({
  class: 'busy',
  async perform(job: Job) {
    order.push('busy')
    await new Promise((resolve) => setTimeout(resolve, 5))
    const runs = (ran.get(job.id) ?? 0) + 1
    ran.set(job.id, runs)
    return runs < RUNS ? job.again() : undefined
  },
})
const patient = defineWorker({ class: 'patient', perform: () => void order.push('patient') })

let kit: Kit
beforeEach(async () => {
  order.length = 0
  ran.clear()
  kit = await startKit({ workers: [busy, patient] })
})
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

async function runsBefore(ageing?: number): Promise<number> {
  await kit.engine.queues.update('default', { lanes: 1, batch: 1, paused: true, ageing })
  await kit.engine.jobs.enqueue([
    { queue: 'default', class: 'patient', priority: 5 },
    ...Array.from({ length: 2 }, () => ({ queue: 'default', class: 'busy' })),
  ])
  await kit.engine.queues.update('default', { paused: false })
  await kit.until(() => order.length === 2 * RUNS + 1, 30_000)
  return order.indexOf('patient')
}

test('without ageing, jobs with a better priority always start first', async () => {
  expect(await runsBefore()).toBe(2 * RUNS)
})

test('with ageing, a job starts after a wait of one step per level of priority', async () => {
  const before = await runsBefore(40)
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(2 * RUNS)
})

test('ageing can be set, shown and removed, and applies to waiting jobs', async () => {
  await kit.engine.queues.update('default', { paused: true })
  const { jobs } = await kit.engine.jobs.enqueue([
    { queue: 'default', class: 'patient', priority: 1 },
    { queue: 'default', class: 'patient' },
  ])
  expect(await kit.engine.queues.update('default', { ageing: 60_000 })).toMatchObject({ ageing: 60_000 })
  await kit.advance(61_000)
  const { jobs: late } = await kit.engine.jobs.enqueue([{ queue: 'default', class: 'patient' }])
  const ahead = async (id: number) => (await kit.engine.jobs.why(String(id))).reasons.at(-1)!.message
  expect(await ahead(jobs[0]!.id)).toContain('jobs ahead of it: 1')
  expect(await ahead(late[0]!.id)).toContain('jobs ahead of it: 2')
  expect(await kit.engine.queues.update('default', { ageing: null })).toMatchObject({ ageing: null })
  expect(await ahead(jobs[0]!.id)).toContain('jobs ahead of it: 2')
})
