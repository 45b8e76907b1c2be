import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sleep } from '../../src/core/sleep.ts'
import { createSlots } from '../../src/core/slots.ts'
import { cellsOf } from '../../src/dashboard/words/why.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createRinger, type Guest } from '../../src/engine/lane/ringer.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, type KitOptions, rawCommand, startKit } from '../kit/index.ts'

let runs: Record<number, number> = {}
let hold: PromiseWithResolvers<void>
let held: PromiseWithResolvers<void>

const noop = defineWorker({
  class: 'noop',
  perform(job) {
    runs[job.id] = (runs[job.id] ?? 0) + 1
  },
})
const lasting = defineWorker({
  class: 'lasting',
  async perform() {
    const begun = performance.now()
    while (performance.now() - begun < 10) await new Promise((resolve) => setImmediate(resolve))
  },
})
const holding = defineWorker({
  class: 'holding',
  async perform(job) {
    job.progress(1)
    held.resolve()
    await hold.promise
  },
})
/** A run may continue for 27 s after the response. */
const short = defineWorker({ class: 'short', timeout: 20_000, perform: (job) => void noop.perform(job) })
const long = defineWorker({ class: 'long', timeout: 28_000, perform: (job) => void noop.perform(job) })
const breaks = defineWorker({
  class: 'breaks',
  retry: { max: 3, backoff: { base: 60_000, jitter: 0 } },
  perform() {
    throw new Error('out of paper')
  },
})
const workers = [noop, lasting, holding, short, long]

let kit: Kit
async function start(options: KitOptions = {}) {
  kit = await startKit({ hold: true, workers, ...options })
  await kit.make('noop')
  await dispatch()
  runs = {}
}

beforeEach(() => {
  hold = Promise.withResolvers()
  held = Promise.withResolvers()
})
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

const make = async (n: number, className = 'noop', input: object = {}) => {
  const { jobs } = await kit.engine.jobs.enqueue(Array(n).fill({ queue: 'default', class: className, ...input }))
  return jobs.map(({ id }) => id)
}

async function bells(): Promise<string[]> {
  const document = await rawCommand(kit.redis.port, 'GET', kit.store.keys.queue('default'))
  return [...document.matchAll(/"(b\w+)":\d{13}/g)].map(([, bell]) => bell!)
}

const dispatch = async (bell?: string) => kit.engine.dispatch('default', bell ?? (await bells())[0] ?? 'unknown')

async function trips(work: () => Promise<unknown>): Promise<number> {
  const before = kit.gateway.requests
  await work()
  return kit.gateway.requests - before
}

const lanes = async () => (await kit.store.overview('default')).queues[0]!.lanes
const queue = async () => (await kit.engine.queues.list()).queues[0]!

describe('a lane', () => {
  test('commits a batch together with the claim of the next', async () => {
    await start({ lane: { short: 0 } })
    await kit.engine.queues.update('default', { lanes: 1 })
    const ids = await make(250)
    let served: unknown
    expect(await trips(async () => (served = await dispatch()))).toBe(4)
    expect(served).toEqual({ runs: 250, ended: 'empty' })
    expect(runs).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
    expect(await lanes()).toBe(0)
  })

  test('triples the number of packed jobs per claim after short runs, but not of other jobs', async () => {
    await start({ lane: { short: 60_000 } })
    await kit.engine.queues.update('default', { lanes: 1 })
    await make(1_500)
    expect(await trips(dispatch)).toBe(5)
    const ids = await make(500, 'noop', { inputs: {}, group: { id: 'g' } })
    expect(await trips(dispatch)).toBe(6)
    expect(ids.map((id) => runs[id])).toEqual(ids.map(() => 1))
  })

  test('takes at most its maximum number of jobs, even if their runs are short', async () => {
    await start({ lane: { batch: 100, short: 60_000 } })
    await kit.engine.queues.update('default', { lanes: 1 })
    await make(300)
    expect(await trips(dispatch)).toBe(4)
  })

  test('needs two round trips for a single job', async () => {
    await start()
    await make(1)
    expect(await trips(dispatch)).toBe(2)
  })

  test('takes batches of the size set on the queue', async () => {
    await start()
    await kit.engine.queues.update('default', { batch: 10 })
    await make(25)
    expect(await trips(dispatch)).toBe(4)
  })

  test('takes the most urgent jobs first, then the oldest', async () => {
    await start()
    await kit.engine.queues.update('default', { batch: 1 })
    const [late] = await make(1, 'noop', { priority: 5 })
    const [first, second] = await make(2)
    const [urgent] = await make(1, 'noop', { priority: -5 })
    await dispatch()
    // Keys of `runs` are in numeric order, not in the order of the runs.
    const ranAt = async (id: number) => (await kit.engine.jobs.get(String(id))).ranAt!
    const times = await Promise.all([urgent!, first!, second!, late!].map(ranAt))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('hands over at the end of its time: a new bell rings for the remaining jobs', async () => {
    await start({ lane: { batch: 1, budget: 5 } })
    await make(3, 'lasting')
    const before = kit.qstash.counts.published
    expect(await dispatch()).toEqual({ runs: 1, ended: 'handed on' })
    expect(kit.qstash.counts.published).toBe(before + 1)
    expect((await queue()).counts).toMatchObject({ queued: 2, running: 0 })
    expect(await dispatch()).toEqual({ runs: 1, ended: 'handed on' })
    expect(await dispatch()).toEqual({ runs: 1, ended: 'handed on' })
    expect((await queue()).counts).toMatchObject({ queued: 0, running: 0 })
  })

  test('hands over after its maximum number of requests: a new bell rings for the remaining jobs', async () => {
    await start({ lane: { batch: 1, requests: 3 } })
    await make(5)
    const before = kit.qstash.counts.published
    expect(await dispatch()).toEqual({ runs: 3, ended: 'handed on' })
    expect(kit.qstash.counts.published).toBe(before + 1)
    expect((await queue()).counts).toMatchObject({ queued: 2, running: 0 })
    expect(await dispatch()).toMatchObject({ runs: 2 })
    expect((await queue()).counts).toMatchObject({ queued: 0, running: 0 })
  })

  test('waits for jobs that are due within two seconds', async () => {
    await start()
    const [id] = await make(1, 'noop', { wait: 300 })
    expect(await dispatch()).toEqual({ runs: 1, ended: 'empty' })
    const { ranAt, createdAt } = await kit.engine.jobs.get(String(id))
    expect(ranAt! - createdAt).toBeGreaterThanOrEqual(300)
  })

  test('does not wait for later jobs: a bell rings at their time', async () => {
    await start()
    const before = kit.qstash.counts.published
    const [id] = await make(1, 'noop', { wait: 10_000 })
    expect(await dispatch()).toEqual({ runs: 0, ended: 'empty' })
    expect(kit.qstash.counts.published).toBe(before + 1)
    await kit.advance(11_000)
    expect(await dispatch()).toEqual({ runs: 1, ended: 'empty' })
    expect(await kit.statusOf(id!)).toBe('completed')
  })

  test('leaves a paused queue at once, also when a job is due', async () => {
    await start()
    await make(1, 'noop', { wait: 10_000 })
    await make(1)
    await kit.engine.queues.update('default', { paused: true })
    await kit.advance(11_000)
    expect(await trips(dispatch)).toBe(1)
    await kit.engine.queues.update('default', { paused: false })
    expect(await dispatch()).toEqual({ runs: 2, ended: 'empty' })
  })

  test('does nothing if all lanes are open', async () => {
    await start()
    await kit.engine.queues.update('default', { lanes: 1 })
    await make(1, 'holding')
    const first = dispatch()
    await held.promise
    const [id] = await make(1)
    expect(await dispatch('another')).toEqual({ runs: 0, ended: 'full' })
    hold.resolve()
    expect(await first).toEqual({ runs: 2, ended: 'empty' })
    expect(await kit.statusOf(id!)).toBe('completed')
  })

  test('lost its claimed jobs if Redis failed while the limits of other jobs changed: now it performs them', async () => {
    await start()
    const [old] = await make(1)
    await kit.engine.constraints.set('all', { match: { class: 'noop' }, concurrency: 100 })
    const [fresh] = await make(1)
    kit.gateway.faults.refuse(429, { when: ([command]) => command?.includes('tag') ?? false })
    await expect(dispatch()).rejects.toMatchObject({ code: 'FULL' })
    expect(await kit.engine.jobs.get(String(fresh))).toMatchObject({ status: 'completed', lost: 0 })
    await dispatch('later')
    expect(await kit.engine.jobs.get(String(old))).toMatchObject({ status: 'completed', lost: 0 })
    expect(runs).toEqual({ [old!]: 1, [fresh!]: 1 })
  })

  test.each([1, 2, 3])('runs each job once if answer number %i of Redis is lost', async (nth) => {
    await start({ lane: { batch: 5 } })
    const ids = await make(10)
    kit.gateway.faults.drop({ nth })
    expect(await dispatch()).toEqual({ runs: 10, ended: 'empty' })
    expect(runs).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
    for (const id of ids) expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'completed', lost: 0 })
  })

  test('gives back a job of an unknown class, with a delay and without a failure', async () => {
    await start()
    const [id] = await make(1)
    const other = createEngine({ ...kit.engineOptions, workers: [] })
    expect(await other.dispatch('default', (await bells())[0]!)).toMatchObject({ ended: 'empty' })
    const [reason] = (await kit.engine.jobs.why(String(id))).reasons
    expect(reason).toMatchObject({
      code: 'BACKOFF',
      message: expect.stringContaining(
        'released without using an attempt: the deployment that claimed the job does not serve class noop; waits until',
      ),
    })
    const { status, attempt, lost, runAt, error } = await kit.engine.jobs.get(String(id))
    expect({ status, attempt, lost, error }).toEqual({ status: 'queued', attempt: 0, lost: 0, error: null })
    const { endedAt, outcome } = (await kit.engine.jobs.runs(String(id))).runs[0]!
    expect({ wait: runAt! - endedAt, outcome }).toEqual({ wait: 10_000, outcome: 'released' })
    await kit.advance(11_000)
    expect(await dispatch()).toEqual({ runs: 1, ended: 'empty' })
    expect(await kit.statusOf(id!)).toBe('completed')
  })

  test('reports that the class is missing, not the error of the previous attempt', async () => {
    await start({ workers: [noop, breaks] })
    const [id] = await make(1, 'breaks')
    await dispatch()
    const [failed] = (await kit.engine.jobs.why(String(id))).reasons
    expect(failed!.message).toMatch(/^1 failure and 0 losses in a row/)
    await kit.advance(61_000)
    const other = createEngine({ ...kit.engineOptions, workers: [noop] })
    expect(await other.dispatch('default', (await bells())[0] ?? 'unknown')).toMatchObject({ ended: 'empty' })
    const why = await kit.engine.jobs.why(String(id))
    expect(why.reasons[0]!.message).toMatch(
      /^its last run was released without using an attempt: the deployment that claimed the job does not serve class breaks; waits until /,
    )
    const [cell] = cellsOf(why, [], { now: kit.now(), zone: 'UTC' })
    expect(cell!.sub).toBe(
      'Its last run was released without using an attempt: the deployment that claimed the job does not serve class breaks.',
    )
    const { runs: past } = await kit.engine.jobs.runs(String(id))
    expect(past.map(({ outcome, error }) => [outcome, error && JSON.parse(error).message])).toEqual([
      ['released', undefined],
      ['failed', 'out of paper'],
    ])
  })
})

describe('a bell', () => {
  test('rings once per batch of new jobs, minus earlier bells, up to the number of lanes', async () => {
    await start()
    const count = async (n: number) => {
      const before = kit.qstash.counts.published
      await make(n)
      return kit.qstash.counts.published - before
    }
    expect(await count(100)).toBe(1)
    expect(await count(1)).toBe(0)
    expect(await count(150)).toBe(1)
    expect(await count(1_000)).toBe(2)
    expect(await lanes()).toBe(4)
    expect(await dispatch('unknown')).toEqual({ runs: 0, ended: 'full' })
    for (const bell of await bells()) await dispatch(bell)
    expect((await queue()).counts).toMatchObject({ queued: 0 })
  })

  test('that arrives twice runs each job once', async () => {
    await start()
    const ids = await make(50)
    const [bell] = await bells()
    const both = await Promise.all([dispatch(bell), dispatch(bell)])
    expect(both.reduce((sum, { runs: done }) => sum + done, 0)).toBe(50)
    expect(runs).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  })

  test('that is lost is sent again by the tick', async () => {
    await start()
    const [id] = await make(1)
    expect(await lanes()).toBe(1)
    expect(await kit.engine.tick()).toEqual({ rung: [], more: false })
    await kit.advance(20_001)
    const before = kit.qstash.counts.published
    expect(await kit.engine.tick()).toEqual({ rung: ['default'], more: false })
    expect(kit.qstash.counts.published).toBe(before + 1)
    await dispatch()
    expect(await kit.statusOf(id!)).toBe('completed')
  })

  test('is published again after an error of QStash', async () => {
    await start()
    kit.qstash.faults.refuse(500, { times: 2 })
    const before = kit.qstash.counts.published
    await make(1)
    expect(kit.qstash.counts.published).toBe(before + 1)
    expect(await lanes()).toBe(1)
  })

  test.each([
    ['500, again and again', 500, 3],
    ['429, once', 429, 1],
  ] as const)(
    'that could not be published (%s) is taken back: the job is still created, and the tick rings',
    async (_, status, times) => {
      await start()
      kit.qstash.faults.refuse(status, { times })
      const [id] = await make(1)
      expect(await kit.statusOf(id!)).toBe('queued')
      expect(await lanes()).toBe(0)
      await kit.advance(20_001)
      expect(await kit.engine.tick()).toEqual({ rung: ['default'], more: false })
      expect(await lanes()).toBe(1)
    },
  )

  test('rings to replace the lane of a lost run', async () => {
    await start()
    const [id] = await make(1, 'holding')
    const lane = dispatch()
    await held.promise
    await kit.advance(46_000)
    await kit.engine.tick()
    await kit.advance(2_000)
    await kit.engine.tick()
    hold.resolve()
    expect(await lane).toMatchObject({ runs: expect.any(Number) })
    await dispatch()
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'completed', lost: 1 })
  })
})

describe('eager dispatch', () => {
  test('serves new jobs in the same invocation, without a message', async () => {
    const later: Promise<unknown>[] = []
    await start({ dispatch: 'eager', defer: (work) => later.push(work) })
    await Promise.all(later)
    const before = kit.qstash.counts.published
    const [id] = await make(1, 'short')
    await Promise.all(later)
    expect(await kit.statusOf(id!)).toBe('completed')
    expect(kit.qstash.counts.published).toBe(before)
  })

  test('lost its jobs if the invocation could not be kept: now the call waits for them', async () => {
    await start({ dispatch: 'eager', defer: () => false })
    const [id] = await make(1, 'short')
    expect(await kit.statusOf(id!)).toBe('completed')
    let isServed = false
    const ringer = createRinger({
      bells: { ring: async () => [], trouble: () => undefined },
      store: kit.store,
      defer: () => false,
      serve: () => sleep(50).then(() => (isServed = true)),
      eager: true,
    })
    await ringer.ring([{ queue: 'default', bell: 'b' }])
    expect(isServed).toBe(true)
  })

  test('leaves later jobs to a bell', async () => {
    const later: Promise<unknown>[] = []
    await start({ dispatch: 'eager', defer: (work) => later.push(work) })
    await Promise.all(later)
    const before = kit.qstash.counts.published
    await make(1, 'short', { wait: 30_000 })
    await Promise.all(later)
    expect(kit.qstash.counts.published).toBe(before + 1)
  })

  test.each([
    ['its class says 28 s', 'long', {}],
    ['its class sets none, and 30 s is the default', 'noop', {}],
    ['it says 28 s itself', 'short', { timeout: 28_000 }],
  ])('leaves a run that may outlast the invocation to a bell: %s', async (_, name, input) => {
    const later: Promise<unknown>[] = []
    await start({ dispatch: 'eager', defer: (work) => later.push(work) })
    for (let done = 0; done < later.length; ) done = (await Promise.all([...later])).length
    const before = kit.qstash.counts.published
    const [id] = await make(1, name, input)
    for (let done = 0; done < later.length; ) done = (await Promise.all([...later])).length
    expect(runs[id!]).toBeUndefined()
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', attempt: 0, lost: 0 })
    expect((await kit.engine.jobs.runs(String(id))).runs).toEqual([])
    expect(kit.qstash.counts.published).toBe(before + 1)
    await dispatch()
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'completed', lost: 0 })
    expect(runs[id!]).toBe(1)
  })

  test('starts a run only if its timeout fits into the time that is left in the invocation', async () => {
    await start()
    const serve = kit.engine.dispatch as (queue: string, bell: string, guest: Guest) => Promise<unknown>
    const stays = async (ms: number) => {
      const until = Number.POSITIVE_INFINITY
      return serve('default', (await bells())[0]!, {
        until,
        ends: performance.now() + ms,
        calls: createSlots(),
        sent: { requests: 0 },
      })
    }
    const [id] = await make(1, 'short')
    expect(await stays(20_000)).toMatchObject({ ended: 'handed on' })
    expect(runs[id!]).toBeUndefined()
    expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', attempt: 0, lost: 0 })
    expect(await stays(80_000)).toMatchObject({ ended: 'empty' })
    expect(runs[id!]).toBe(1)
  })

  test('starts no further run 8 s after the response of its invocation', async () => {
    await start()
    const [published, served]: string[][] = [[], []]
    let now = 0
    const ringer = createRinger({
      bells: {
        async ring(rings) {
          published!.push(...rings.map(({ bell }) => bell))
          return []
        },
        trouble: () => undefined,
      },
      store: kit.store,
      defer: () => true,
      serve: async (_, bell) => served!.push(bell),
      eager: true,
      elapsed: () => now,
    })
    const guest = ringer.guest()
    expect(guest.ends).toBe(27_000)
    for (const [at, bell] of [
      [7_999, 'in time'],
      [8_000, 'too late'],
    ] as const) {
      now = at
      await ringer.ring([{ queue: 'default', bell }], guest)
    }
    expect({ published, served }).toEqual({ published: ['too late'], served: ['in time'] })
  })
})

test('after a failed write, the trouble of QStash was not stored again: /health did not change', async () => {
  await start()
  const stored: unknown[] = []
  let trouble: { refused: number; why: string } | undefined = { refused: 1, why: 'QStash answered 500' }
  let fails = true
  const ringer = createRinger({
    bells: { ring: async () => [], trouble: () => trouble },
    store: {
      ...kit.store,
      async setBellTrouble(given) {
        if (fails) throw new Error('Redis is restarting')
        stored.push(given)
      },
    },
    serve: async () => undefined,
    eager: false,
  })
  for (const next of [trouble, undefined]) {
    trouble = next
    for (fails of [true, false, false]) await ringer.publish([{ queue: 'default', bell: 'b' }])
  }
  expect(stored).toEqual([{ refused: 1, why: 'QStash answered 500' }, undefined])
})

test('a report of progress renews the lease for the lease time of the lane, and no longer', async () => {
  await start({ lane: { lease: 5_000 } })
  const [id] = await make(1, 'holding')
  const lane = dispatch()
  await held.promise
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).progress === '1')
  const { document } = await kit.store.inspect(String(id))
  expect(document.leaseUntil! - kit.now()).toBeLessThanOrEqual(5_000)
  hold.resolve()
  await lane
})
