import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/engine/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MINUTE = 60_000
const TICK = 10 * MINUTE
const JOBS_PER_TICK = 8
const LANES = 2
const BATCH = 2

type Version = 'old' | 'new'
type Effect = { what: string; at: number; by: Version }

let kit: Kit
const effects: Record<number, Effect[]> = {}
const note = (job: Job, what: string, by: Version) => () =>
  void (effects[job.id] ??= []).push({ what, at: kit.now(), by })

const version = (perform: (job: Job) => Promise<unknown>): Engine =>
  createEngine({
    ...kit.engineOptions,
    // With larger batches, one lane could claim all jobs.
    lane: { batch: BATCH },
    workers: [defineWorker({ class: 'order', history: 100, perform: perform as never })],
  })

const versions = (): Record<Version, Engine> => ({
  old: version(async (job) => {
    await job.step('reserve', note(job, 'reserve', 'old'))
    await job.sleep('2 hours')
    await job.step('remind', note(job, 'remind', 'old'))
    await job.sleep('3 hours')
    await job.step('charge', note(job, 'charge', 'old'))
  }),
  new: version(async (job) => {
    const isSoon = await job.patched('remind soon')
    await job.step('reserve', note(job, 'reserve', 'new'))
    if (isSoon) await job.sleep('1 hour', { name: 'soon' })
    else await job.sleep('2 hours')
    await job.step('remind', note(job, 'remind', 'new'))
    if (await job.patched('audit')) {
      await job.step('audit', note(job, 'audit', 'new'))
      await job.sleep('40 minutes', { name: 'audit' })
    }
    await job.sleep('3 hours')
    await job.step('charge', note(job, 'charge', 'new'))
  }),
})

const served: { until: number; by: Version[] }[] = [
  { until: 2, by: ['old'] },
  { until: 4, by: ['old', 'new'] },
  { until: 4.5, by: ['old'] },
  { until: 6, by: ['new', 'old'] },
  { until: 24, by: ['new'] },
]

beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())

function pathOf(all: Effect[]): [string, number][] {
  const by = Object.fromEntries(all.map(({ what, by }) => [what, by]))
  const audited: [string, number][] = by.remind === 'new' ? [['audit', 0]] : []
  return [
    ['reserve', 0],
    ['remind', (by.reserve === 'new' ? 60 : 120) * MINUTE],
    ...audited,
    ['charge', (audited.length ? 220 : 180) * MINUTE],
  ]
}

test('no job fails, repeats an effect or waits for another time while two versions serve the queue', async () => {
  const engines = versions()
  const began = kit.now()
  const ids: number[] = []
  const hour = () => (kit.now() - began) / (60 * MINUTE)
  for (let open = 1; open > 0; ) {
    const serving = served.find(({ until }) => hour() < until)!.by
    if (hour() < 5) {
      const some = Array.from({ length: JOBS_PER_TICK }, () => ({ queue: 'default', class: 'order' }))
      const { jobs } = await engines[serving[0]!].jobs.enqueue(some)
      ids.push(...jobs.map(({ id }) => id))
    }
    const lanes = Array.from({ length: LANES * serving.length }, (_, i) => serving[i % serving.length]!)
    await Promise.all(lanes.map((by) => engines[by].dispatch('default', '')))
    await kit.advance(TICK)
    await engines[serving[0]!].tick()
    const { jobs } = await kit.engine.jobs.list({ status: 'queued', limit: 1 } as never)
    open = jobs.length
  }

  let returned = 0
  for (const id of ids) {
    const { status, error } = await kit.engine.jobs.get(String(id))
    expect({ id, status, error }).toEqual({ id, status: 'completed', error: null })
    const { runs } = await kit.engine.jobs.runs(String(id))
    const given = runs.filter(({ outcome }) => outcome === 'released').length
    returned += given
    const all = effects[id]!
    const path = pathOf(all)
    expect(all.map(({ what }) => what)).toEqual(path.map(([what]) => what))
    for (const [i, [what, least]] of path.entries()) {
      if (i === 0) continue
      const took = all[i]!.at - all[i - 1]!.at
      expect(took, `job ${id}: ${what}`).toBeGreaterThanOrEqual(least)
      expect(took, `job ${id}: ${what}`).toBeLessThan(least + (given + 1) * 2 * TICK)
    }
  }
  const paths = new Set(Object.values(effects).map((all) => all.map(({ what, by }) => `${what} ${by}`).join(', ')))
  expect(ids.length).toBeGreaterThan(230)
  expect(returned).toBeGreaterThan(10)
  expect([...paths]).toEqual(
    expect.arrayContaining([
      'reserve old, remind old, charge new',
      'reserve old, remind new, audit new, charge new',
      'reserve new, remind new, audit new, charge new',
    ]),
  )
}, 120_000)
