import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Doors, listLargeJobs, startDoors } from './kit.ts'

const large = ['quarter', 'largest', 'elsewhere'].map((queue) =>
  defineWorker({ class: 'quick', queue, perform: () => undefined }),
)

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: large })
})
afterAll(() => doors.close())

const make = async (ports: object): Promise<number> => {
  const job = { class: 'quick', queue: 'elsewhere', wait: '10h', in: ports }
  const { status, text } = await doors.ask('POST', '/v1/jobs', job)
  expect({ status, text }).toMatchObject({ status: 201 })
  return JSON.parse(text).id
}

test.each([
  ['quarter', 1_000, 100],
  ['largest', 800, 500],
])('64 jobs with large documents (%s) are listed without delaying other calls', { timeout: 120_000 }, async (...of) => {
  const [queue, ports, bytes] = of
  await listLargeJobs(doors, { queue, jobs: 64, ports, bytes })
  expect(doors.slow()).toEqual([])
  expect(doors.reported.splice(0)).toEqual([])
})

test('lists and searches of jobs with documents of 200 KB are cheap pages', {
  timeout: 60_000,
}, async () => {
  const ports = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`port${i}`, { default: 'x'.repeat(200) }]))
  const ids: number[] = []
  for (let n = 0; n < 40; n++) ids.push(await make(ports))
  for (const query of ['class=nothing', 'queue=elsewhere&status=queued', 'text=nothing', 'sort=ended']) {
    const isOfEnded = query === 'sort=ended'
    if (isOfEnded) for (const id of ids) await doors.ask('POST', `/v1/jobs/${id}/terminate`, {})
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, text } = await doors.ask('GET', `/v1/jobs?${query}${cursor && `&cursor=${cursor}`}`)
      expect(status).toBe(200)
      const page = JSON.parse(text)
      seen.push(...page.jobs.map(({ id }: { id: number }) => id))
      cursor = page.cursor
    }
    expect(new Set(seen).size).toBe(seen.length)
    if (query.startsWith('queue') || isOfEnded) expect(seen.length).toBeGreaterThanOrEqual(40)
  }
  expect(doors.slow()).toEqual([])
  expect(doors.reported.splice(0)).toEqual([])
})
