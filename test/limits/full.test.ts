// Fills Redis up to `maxmemory`, a setting that the embedded Redis and the strict Redis do not have.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JobInput } from '../../src/engine/engine.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { kind } from '../kit/index.ts'
import { type Doors, startDoors } from './kit.ts'

const kept = defineWorker({ class: 'kept', retain: 60_000, perform: () => undefined })
const held = defineWorker({ class: 'held', queue: 'held', perform: () => undefined })
const holding = defineWorker({
  class: 'holding',
  perform: async (job: Job) => {
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    return job.suspend()
  },
})

const FULL = { status: 507 }
const BIG = 'x'.repeat(200_000)

describe.skipIf(kind !== 'server')('a full Redis', () => {
  let doors: Doors
  beforeAll(async () => {
    doors = await startDoors({ workers: [kept, held, holding], hold: false })
    await doors.ask('PATCH', '/v1/queues/held', { paused: true })
  })
  afterAll(() => doors.close())

  const fill = () => doors.raw('CONFIG', 'SET', 'maxmemory', '1')
  const enlarge = () => doors.raw('CONFIG', 'SET', 'maxmemory', '0')
  beforeEach(enlarge)
  afterEach(async () => {
    await enlarge()
    expect(doors.reported.splice(0)).toEqual([])
  })

  const json = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await doors.ask(method, path, body)
    expect({ status, text: status < 300 ? '' : text }).toEqual({ status: expect.closeTo(200, -1), text: '' })
    return JSON.parse(text)
  }
  const make = async (n: number, job: object): Promise<number[]> => {
    const inputs = Array.from({ length: n }, () => ({ queue: 'default', ...job }) as JobInput)
    const { jobs } = await doors.engine.jobs.enqueue(inputs)
    return jobs.map(({ id }) => id)
  }
  const there = async (ids: number[]): Promise<number> => {
    const found = await Promise.all(ids.map((id) => doors.ask('GET', `/v1/jobs/${id}`)))
    return found.filter(({ status }) => status === 200).length
  }
  // Redis updates `used_memory_dataset` late, because it contains estimates of the buffers of clients.
  const bytes = async () => Number(/used_memory:(\d+)/.exec(await doors.raw('INFO', 'memory'))![1])

  test('refuses new jobs; the error names the remedy', async () => {
    await fill()
    const refused = await doors.ask('POST', '/v1/jobs', { class: 'kept' })
    expect(refused).toMatchObject(FULL)
    expect(refused.text).toContain('delete jobs')
  })

  test('can be diagnosed: queues, doctor, health and the overview answer', async () => {
    await make(20, { queue: 'held', class: 'held' })
    await fill()
    for (let look = 0; look < 6; look++) await json('GET', '/v1/queues')
    const { faults } = await json('GET', '/v1/doctor')
    expect(faults).toEqual([])
    await doors.ask('POST', '/v1/jobs', { class: 'kept' })
    const health = await json('GET', '/health')
    expect(health.problems).toMatchObject([{ of: 'redis', code: 'FULL' }])
    await json('GET', '/v1/jobs?queue=held')
  })

  test('deletes job after job by force, and frees their memory', async () => {
    const ids = await make(20, { queue: 'held', class: 'held', args: JSON.stringify(BIG) })
    await fill()
    const before = await bytes()
    for (const id of ids) await json('DELETE', `/v1/jobs/${id}?force=true`)
    expect(await there(ids)).toBe(0)
    expect(before - (await bytes())).toBeGreaterThan(20 * 200_000 * 0.9)
    await enlarge()
    expect(await doors.engine.doctor.verify()).toEqual([])
  })

  test('terminates a queued job, then deletes it without force', async () => {
    const [id] = await make(1, { queue: 'held', class: 'held' })
    await fill()
    expect(await json('POST', `/v1/jobs/${id}/terminate`)).toMatchObject({ status: 'terminated' })
    await json('DELETE', `/v1/jobs/${id}`)
    expect(await there([id!])).toBe(0)
  })

  test('accepts the termination of a running job', async () => {
    const [id] = await make(1, { class: 'holding' })
    await doors.until(async () => (await doors.statusOf(id!)) === 'running')
    await fill()
    expect(await json('POST', `/v1/jobs/${id}/terminate`)).toMatchObject({ status: 'terminating' })
    await json('DELETE', `/v1/jobs/${id}?force=true`)
    await doors.advance(60_000)
    await doors.engine.tick()
    expect(await there([id!])).toBe(0)
  })

  test('deletes a family of more jobs than one script changes', async () => {
    const [parent] = await make(1, { queue: 'held', class: 'held' })
    const ids = await make(600, { queue: 'held', class: 'held', parent: String(parent) })
    await fill()
    await json('DELETE', `/v1/jobs/${parent}?force=true`)
    await doors.until(async () => (await there([parent!, ids[0]!, ids[599]!])) === 0)
  })

  test('runs a bulk job that deletes many jobs, also from a fresh isolate', async () => {
    const ids = await make(450, { queue: 'held', class: 'held' })
    const fresh = createEngine(doors.engineOptions)
    await fill()
    const { id } = await fresh.bulk.start({ filter: { queue: 'held' }, action: 'delete' })
    await doors.until(async () => (await doors.statusOf(id)) === 'completed')
    expect(await there(ids)).toBe(0)
    await enlarge()
    expect(await doors.engine.doctor.verify()).toEqual([])
  })

  test('removes expired jobs of every queue', async () => {
    const ids = await make(40, { class: 'kept', args: JSON.stringify(BIG) })
    await doors.until(async () => (await doors.statusOf(ids[39]!)) === 'completed')
    await doors.advance(120_000)
    await fill()
    await doors.engine.tick()
    expect(await there(ids)).toBe(0)
    await enlarge()
    expect(await doors.engine.doctor.verify()).toEqual([])
  })

  test('repairs damage', async () => {
    const [id] = await make(1, { queue: 'held', class: 'held' })
    await doors.raw('DEL', 'sidejob:queue:held:ready')
    await fill()
    const repaired: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const slice = await json('POST', `/v1/doctor/repair${cursor && `?cursor=${cursor}`}`)
      repaired.push(...slice.repaired.map(({ who }: { who: string }) => who))
      expect(slice.left).toEqual([])
      cursor = slice.cursor
    }
    expect(repaired).toContain(String(id))
    await enlarge()
    expect(await doors.engine.doctor.verify()).toEqual([])
    await doors.ask('DELETE', `/v1/jobs/${id}?force=true`)
  })

  test('records a forced delete in the audit log', async () => {
    const [id] = await make(1, { queue: 'held', class: 'held' })
    await fill()
    await json('DELETE', `/v1/jobs/${id}?force=true`)
    const { entries } = await json('GET', '/v1/audit')
    expect(entries[0]).toMatchObject({ method: 'DELETE', path: `/v1/jobs/${id}?force=true` })
  })
})
