import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findServer } from '../../infra/stand-ins/redis.ts'
import { canBuild } from '../../infra/stand-ins/strict/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Doors, startDoors } from './kit.ts'

const MiB = 1_048_576
/** The largest allowed value, with the quotes of JSON. */
const large = (i: number) => String(i % 10).repeat(MiB - 2)
const many = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i))

const workers = [
  defineWorker({ class: 'large', queue: 'sizes', perform: ((job: Job) => job.write('out', large(job.id))) as never }),
  defineWorker({ class: 'small', queue: 'sizes', perform: () => undefined }),
]

const kinds = [
  ['server', findServer() !== undefined],
  ['strict', findServer() !== undefined && canBuild()],
] as const

describe.each(kinds)('on %s', (on, isThere) => {
  let doors: Doors
  beforeAll(async () => {
    if (isThere) doors = await startDoors({ on, hold: false, workers })
  }, 120_000)
  afterAll(() => doors?.close(), 60_000)

  const counts = async () =>
    (await doors.engine.queues.list()).queues.find(({ name }) => name === 'sizes')!.counts as Record<string, number>

  async function goesOn() {
    const { jobs } = await doors.engine.jobs.enqueue([{ queue: 'sizes', class: 'small', retain: 600_000 }])
    await doors.rest(jobs[0]!.id, 'completed', 60_000)
  }

  test.skipIf(!isThere)(
    'a hundred runs that each write 1 MiB complete, each with its value',
    async () => {
      const made = await doors.engine.jobs.enqueue(
        many(100, () => ({ queue: 'sizes', class: 'large', out: { out: {} }, retain: 600_000 })),
      )
      await vi.waitFor(async () => expect(await counts()).toMatchObject({ queued: 0, running: 0 }), {
        timeout: 240_000,
        interval: 1_000,
      })
      expect(await counts()).toMatchObject({ completed: 100, failed: 0 })
      for (const { id } of [made.jobs[0]!, made.jobs[50]!, made.jobs[99]!]) {
        const { size } = await doors.engine.ports.get(String(id), 'out', 'out')
        expect(size).toBe(1)
        const [item] = await doors.store.values(id, 'out', 'out', 0, 1)
        expect(item!.length).toBeGreaterThanOrEqual(MiB)
      }
      await goesOn()
    },
    300_000,
  )

  test.skipIf(!isThere)(
    'a bulk enqueue of 10 MB is accepted or refused with 413 as a whole',
    async () => {
      await goesOn()
      const bulk = async (bytes: number) => {
        const args = 'x'.repeat(Math.floor(bytes / 20) - 100)
        const { completed } = (await counts()) as { completed: number }
        const body = many(20, () => ({ queue: 'sizes', class: 'small', args, retain: 600_000 }))
        const { status, text } = await doors.ask('POST', '/v1/jobs', body)
        expect([201, 413], text.slice(0, 200)).toContain(status)
        if (status === 413) expect(text).toContain('TOO_LARGE')
        else await vi.waitFor(async () => expect((await counts()).completed).toBe(completed + 20), { timeout: 60_000 })
        await goesOn()
        return status
      }
      expect(await bulk(2 * MiB)).toBe(201)
      expect([201, 413]).toContain(await bulk(9.9 * 1e6))
      expect([201, 413]).toContain(await bulk(10 * 1e6))
      expect(await bulk(11 * MiB)).toBe(413)
    },
    300_000,
  )

  test.skipIf(!isThere)(
    'a claim of many large jobs returns as many as fit, and the next claim returns the rest',
    async () => {
      await doors.engine.queues.update('pulled', { mode: 'pull' })
      for (let i = 0; i < 4; i++)
        await doors.engine.jobs.enqueue(
          many(5, (n) => ({ queue: 'pulled', class: 'x', args: JSON.stringify(large(n)) as never })),
        )
      let left = 20
      while (left > 0) {
        const runs = await doors.engine.runs.claim('pulled', { max: 20 })
        expect(runs.length).toBeGreaterThan(0)
        expect(runs.length).toBeLessThanOrEqual(4)
        for (const { run } of runs) await doors.engine.runs.commit(run.token, { end: 'completed' })
        left -= runs.length
      }
      expect(left).toBe(0)
    },
    120_000,
  )
})
