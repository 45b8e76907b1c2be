import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { createEngine, type Engine } from '../../src/engine/index.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain, rehearse } from '../../src/testing/index.ts'
import { clientOf } from '../kit/client.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

type Perform = (job: Job) => Promise<unknown>

type Edit = {
  first: Perform
  edited: Perform
  patched: Perform
  /** Outcomes for each hour after the creation of the job, with the old code and with the changed code. */
  before: string[]
  after: string[]
  kept: string
  asked: string
}

let kit: Kit
let began = 0
let effects: string[] = []
const note = (what: string) => () => void effects.push(`${what} at ${Math.round((kit.now() - began) / HOUR)}h`)

const edits: Record<string, Edit> = {
  'a step gets another name and more waits': {
    async first(job) {
      const price = await job.step('price', () => 10)
      await job.sleep('3 days')
      await job.step('charge', note(`charge ${price}`))
    },
    async edited(job) {
      const price = await job.step('price in cents', () => {
        note('price again')()
        return 1_000
      })
      await job.step('audit', note('audit'))
      await job.sleep('1 hour')
      await job.sleep('3 days')
      await job.step('charge', note(`charge ${price}`))
    },
    async patched(job) {
      const inCents = await job.patched('cents')
      const price = inCents ? await job.step('price in cents', () => 1_000) : await job.step('price', () => 10)
      if (inCents) {
        await job.step('audit', note('audit'))
        await job.sleep('1 hour', { name: 'audit' })
      }
      await job.sleep('3 days')
      await job.step('charge', note(`charge ${price}`))
    },
    before: ['charge 10 at 72h'],
    after: ['audit at 0h', 'charge 1000 at 73h'],
    kept: 'step "price"',
    asked: 'step "price in cents"',
  },
  'two waits change places': {
    async first(job) {
      await job.sleep('14 days')
      await job.step('remind', note('remind'))
      await job.sleep('1 hour')
      await job.step('end', note('end'))
    },
    async edited(job) {
      await job.sleep('1 hour')
      await job.step('remind', note('remind'))
      await job.sleep('14 days')
      await job.step('end', note('end'))
    },
    async patched(job) {
      const isSoon = await job.patched('remind soon')
      await job.sleep(isSoon ? '1 hour' : '14 days')
      await job.step('remind', note('remind'))
      await job.sleep(isSoon ? '14 days' : '1 hour')
      await job.step('end', note('end'))
    },
    before: ['remind at 336h', 'end at 337h'],
    after: ['remind at 1h', 'end at 337h'],
    kept: 'sleep#1 (sleep of 14d)',
    asked: 'sleep#1 (sleep of 1h)',
  },
}

const classOf = (perform: Perform): Worker => defineWorker({ class: 'edited', perform: perform as never })

const deploy = (perform: Perform): Engine => createEngine({ ...kit.engineOptions, workers: [classOf(perform)] })

async function create(engine: Engine): Promise<number> {
  began = kit.now()
  const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: 'edited' }])
  await drain(engine)
  return jobs[0]!.id
}

async function serve(engine: Engine, id: number) {
  for (;;) {
    const job = await engine.jobs.get(String(id))
    if (job.status !== 'queued') return job
    await kit.advance(Math.max(0, job.runAt! - kit.now()))
    await drain(engine, { errors: 'keep' })
  }
}

const ways: Record<string, (edit: Edit) => Promise<void>> = {
  async 'without patches the job fails before it does anything new, and a patched version continues it after a retry'({
    first,
    edited,
    patched,
    before,
    kept,
    asked,
  }) {
    const id = await create(deploy(first))
    const { status, error } = await serve(deploy(edited), id)
    expect(status).toBe('failed')
    expect(effects).toEqual([])
    expect(JSON.parse(error!).message).toContain(`job ${id} has stored ${kept}, but its function now requests ${asked}`)
    expect((await kit.engine.jobs.why(String(id))).reasons[0]).toMatchObject({
      code: 'CODE_CHANGED',
      data: { kept, asked },
    })
    const repaired = deploy(patched)
    await repaired.jobs.retry(String(id))
    await drain(repaired)
    expect((await serve(repaired, id)).status).toBe('completed')
    expect(effects).toEqual(before)
  },

  async 'with patches the job follows its first version to its end'({ first, patched, before }) {
    const id = await create(deploy(first))
    expect((await serve(deploy(patched), id)).status).toBe('completed')
    expect(effects).toEqual(before)
  },

  async 'a rehearsal finds the edit, accepts the patched version, and does nothing'({
    first,
    edited,
    patched,
    kept,
    asked,
  }) {
    const engine = deploy(first)
    const id = await create(engine)
    const { jobs } = await clientOf(engine).waiting.list()
    const waiting = jobs.find(({ snapshot }) => snapshot.job.id === id)!
    expect(await rehearse(classOf(edited), waiting)).toMatchObject({
      is: kept.startsWith('step') ? 'repeats' : 'waits',
      change: { kept, asked },
      fails: true,
    })
    expect(await rehearse(classOf(patched), waiting)).toMatchObject({ is: 'continues' })
    expect(effects).toEqual([])
    expect((await engine.jobs.get(String(id))).status).toBe('queued')
    await serve(engine, id)
  },

  async 'with a pinned class the job follows its first version to its end, while the edited one serves'({
    first,
    edited,
    before,
  }) {
    const versions = new Map<string, Engine>()
    const deployPinned = (version: string, perform: Perform): Engine => {
      const engine = createEngine({
        ...kit.engineOptions,
        workers: [{ ...classOf(perform), pin: true }],
        version,
        versionUrl: `https://${version}.example.com`,
        tokenSecret: 'shared by all versions',
        async fetch(url, init) {
          const request = new Request(String(url), init)
          const bytes = new Uint8Array(await request.arrayBuffer())
          return Response.json(await versions.get(new URL(request.url).host)!.performPinned(request.headers, bytes))
        },
      })
      versions.set(`${version}.example.com`, engine)
      return engine
    }
    const v1 = deployPinned('v1', first)
    await v1.tick()
    const id = await create(v1)
    const job = await serve(deployPinned('v2', edited), id)
    expect(job).toMatchObject({ status: 'completed', version: 'v1' })
    expect(effects).toEqual(before)
  },

  async 'with patches a new job follows the edited version'({ patched, after }) {
    const engine = deploy(patched)
    const id = await create(engine)
    expect((await serve(engine, id)).status).toBe('completed')
    expect(effects).toEqual(after)
  },
}

beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())
beforeEach(() => void (effects = []))

describe.each(Object.entries(edits))('%s', (_, edit) => {
  test.each(Object.entries(ways))('%s', (_, deployed) => deployed(edit))
})

test('without an edit, each version has the effects that the table lists', async () => {
  for (const { first, edited, before, after } of Object.values(edits))
    for (const [perform, expected] of [[first, before] as const, [edited, after] as const]) {
      effects = []
      const engine = deploy(perform)
      await serve(engine, await create(engine))
      expect(effects.filter((effect) => !effect.startsWith('price again'))).toEqual(expected)
    }
})

test.skipIf(kind === 'embedded')('a patch adds no command and no round trip to a run', async () => {
  const perform =
    (isPatched: (job: Job) => Promise<boolean>): Perform =>
    async (job) => {
      await job.step('one', () => 1)
      if (await isPatched(job)) await job.step('two', () => 2)
      await job.sleep('1 hour')
      await isPatched(job)
    }
  const costs = []
  for (const isPatched of [async () => true, (job: Job) => job.patched('two')]) {
    // The first run of a day costs more, so each pair of runs starts at noon.
    await kit.advance(DAY + DAY / 2 - (kit.now() % DAY))
    const engine = deploy(perform(isPatched))
    const run = () => engine.dispatch('default', '')
    await engine.jobs.enqueue([{ queue: 'default', class: 'edited' }])
    const first = await costOf(kit, run)
    await kit.advance(HOUR)
    const second = await costOf(kit, run)
    costs.push([first.calls, first.billed, second.calls, second.billed])
  }
  const [without, patched] = costs
  expect(patched).toEqual(without)
})
