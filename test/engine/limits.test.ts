import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

let open = 0
let most = 0
const starts: number[] = []

const slow = defineWorker({
  class: 'slow',
  async perform(job: Job) {
    starts.push(Date.now())
    open++
    most = Math.max(most, open)
    await new Promise((resolve) => setTimeout(resolve, (job.args as { ms?: number } | null)?.ms ?? 5))
    open--
  },
})
const rated = defineWorker({
  class: 'rated',
  limits: [{ rate: { limit: 20, period: 500 } }],
  perform: () => void starts.push(Date.now()),
})

let kit: Kit
beforeEach(async () => {
  open = most = 0
  starts.length = 0
  kit = await startKit({ workers: [slow, rated, once] })
})
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

const many = (n: number, input: object = {}) =>
  kit.engine.jobs.enqueue(Array.from({ length: n }, () => ({ queue: 'default', class: 'slow', ...input })))
const completed = async () => (await kit.store.overview()).queues[0]!.completed
const group = (concurrency: number, id = 'g') => ({ group: { id, concurrency } })

const once = defineWorker({
  class: 'once',
  limits: [{ rate: { limit: 1, period: 1_000 } }],
  perform: () => void starts.push(Date.now()),
})

describe('a rate', () => {
  test('releases jobs in time even if its queue was not being served when they came', async () => {
    const make = () => kit.engine.jobs.enqueue([{ queue: 'default', class: 'once' }])
    await make()
    await kit.until(async () => (await completed()) === 1)
    await kit.until(async () => (await kit.store.overview()).queues[0]!.lanes === 0)
    const due = Math.max(starts[0]! + 1_000, Date.now())
    await make()
    await kit.until(() => starts.length === 2, 5_000)
    expect(starts[1]! - starts[0]!).toBeGreaterThan(990)
    // QStash delivers at whole seconds. Without a message of QStash, the run would wait for the next tick.
    expect(starts[1]! - Math.ceil(due / 1_000) * 1_000).toBeLessThan(1_000)
  })
})

describe('a group', () => {
  test('never has more running jobs than its limit, and all of its jobs finish', async () => {
    await many(60, group(3))
    await kit.until(async () => (await completed()) === 60)
    expect(most).toBe(3)
  })

  test('is created by the first job that names it, and deleted when its last job has ended', async () => {
    await kit.engine.queues.update('default', { paused: true })
    await many(2, group(3))
    await many(1, group(7))
    expect(await kit.engine.groups.get('g')).toMatchObject({ concurrency: 3, jobs: 3, running: 0 })
    await kit.engine.queues.update('default', { paused: false })
    await kit.until(async () => (await completed()) === 3)
    await expect(kit.engine.groups.get('g')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('that is full does not delay other jobs', async () => {
    await many(20, { ...group(1), args: '{"ms":100}' })
    const others = await many(20)
    await kit.until(async () => {
      const states = await Promise.all(others.jobs.map(({ id }) => kit.statusOf(id)))
      return states.every((status) => status === 'completed')
    })
    expect(await completed()).toBeLessThan(40)
  })

  test('can be changed, paused and resumed while its jobs wait', async () => {
    await many(30, { ...group(1), args: '{"ms":20}' })
    await kit.engine.groups.set('g', { paused: true })
    await kit.until(() => open === 0)
    const before = await completed()
    expect((await kit.engine.jobs.why('30')).reasons[0]).toMatchObject({ code: 'LIMITED', key: 'group:g' })
    await kit.engine.groups.set('g', { paused: false, concurrency: 5 })
    await kit.until(async () => (await completed()) === 30)
    expect(before).toBeLessThan(30)
    expect(most).toBe(5)
  })

  test('frees the slots of lost runs when their leases end', async () => {
    const held = await startKit({ workers: [slow], hold: true })
    await held.engine.jobs.enqueue(Array.from({ length: 4 }, () => ({ queue: 'default', class: 'slow', ...group(2) })))
    const claim = () =>
      held.store.commit({
        queue: 'default',
        lane: { id: crypto.randomUUID(), seq: 1 },
        claim: { max: 10, lease: 45_000, begun: 10 },
      })
    expect((await claim()).claimed).toHaveLength(2)
    expect((await claim()).claimed).toHaveLength(0)
    await held.advance(46_000)
    expect((await claim()).claimed).toHaveLength(2)
    expect(await held.engine.doctor.verify()).toEqual([])
    await held.close()
  })
})

describe('groups at a shared limit', () => {
  const ROOM = 4
  const began: string[] = []
  let open = 0
  let most = 0
  const narrow = defineWorker({
    class: 'narrow',
    limits: [{ concurrency: ROOM }],
    async perform(job: Job) {
      began.push((job.args as { of: string }).of)
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      open--
    },
  })
  const jobs = (id: string, n: number) =>
    Array.from({ length: n }, () => ({
      queue: 'default',
      class: 'narrow',
      args: JSON.stringify({ of: id }),
      group: { id },
    }))

  test('take turns, whatever their number and order of arrival, and leave no slot unused', async () => {
    const fair = await startKit({ workers: [narrow] })
    await fair.engine.jobs.enqueue(jobs('flood', 400))
    await fair.engine.jobs.enqueue([...jobs('b', 100), ...jobs('c', 100)])
    const used: number[] = []
    await fair.until(async () => {
      const [row] = await fair.store.limits('class:default/narrow')
      if (row?.waiting) used.push(row.running / ROOM)
      return (await fair.store.overview()).queues[0]!.completed === 600
    }, 60_000)
    const together = began.slice(
      Math.max(began.indexOf('b'), began.indexOf('c')),
      Math.min(began.lastIndexOf('b'), began.lastIndexOf('c')),
    )
    for (const id of ['flood', 'b', 'c']) {
      const share = together.filter((one) => one === id).length
      expect(Math.abs(share - together.length / 3), `${id} had ${share} of ${together.length}`).toBeLessThanOrEqual(8)
    }
    expect(together.length).toBeGreaterThan(270)
    expect(most).toBe(ROOM)
    expect(used.reduce((sum, one) => sum + one, 0) / used.length).toBeGreaterThanOrEqual(0.95)
    expect(await fair.engine.doctor.verify()).toEqual([])
    await fair.close()
  })
})

describe('a rate', () => {
  test('starts no more than its rate in any period, and nearly that number', async () => {
    await kit.engine.jobs.enqueue(Array.from({ length: 80 }, () => ({ queue: 'default', class: 'rated' })))
    await kit.until(async () => (await completed()) === 80, 15_000)
    const { jobs } = await kit.engine.jobs.list({ limit: 80 })
    const claimed = jobs.map(({ ranAt }) => ranAt!)
    const inWindow = (from: number) => claimed.filter((at) => at >= from && at < from + 500).length
    expect(Math.max(...claimed.map(inWindow))).toBe(20)
    expect(Math.max(...claimed) - Math.min(...claimed)).toBeLessThan(4 * 500 * 1.5)
  })
})

test('a delayed batch and the next batch together do not exceed the rate at the target', async () => {
  const period = 500
  const reached: number[] = []
  const stalling = defineWorker({
    class: 'stalling',
    limits: [{ rate: { limit: 5, period } }],
    async perform() {
      const batch = Math.floor(begun++ / 5)
      await new Promise((resolve) => setTimeout(resolve, batch === 2 ? 80 : 2))
      reached.push(performance.now())
    },
  })
  let begun = 0
  const stall = await startKit({ workers: [stalling] })
  await stall.engine.jobs.enqueue(Array.from({ length: 25 }, () => ({ queue: 'default', class: 'stalling' })))
  await stall.until(() => reached.length === 25, 15_000)
  await stall.until(async () => (await stall.engine.jobs.list({ status: 'completed', limit: 30 })).jobs.length === 25)
  await stall.close()
  for (let i = 5; i < 25; i++) expect(reached[i]! - reached[i - 5]!).toBeGreaterThanOrEqual(period - 10)
})

describe('a constraint', () => {
  test('sets the numbers of its limits: an operator cannot change them, but can pause the limits', async () => {
    const { engine } = kit
    await engine.constraints.set('per-shop', { match: { class: 'slow' }, groupBy: 'shop', concurrency: 2 })
    await many(1, { args: '{"shop":"acme"}' })
    const key = 'constraint:per-shop:"acme"'
    const remedy = 'Change them with PUT /v1/constraints/per-shop'
    await expect(engine.limits.set(key, { concurrency: 1 })).rejects.toThrow(remedy)
    await expect(engine.limits.set(key, { rate: { limit: 1, period: 20_000 } }, { preview: true })).rejects.toThrow(
      remedy,
    )
    expect(await engine.limits.set(key, { concurrency: 2, rate: null, paused: true })).toMatchObject({ paused: true })
    await engine.constraints.remove('per-shop')
    expect(await engine.limits.set(key, { concurrency: 1, paused: false })).toMatchObject({ concurrency: 1 })
  })

  const toHost = (host: string, ms = 30) => ({ args: JSON.stringify({ host, ms }) })
  const perHost = { match: { class: 'slow', args: { host: { glob: '*.com' } } }, groupBy: 'host', concurrency: 2 }

  test('limits matching jobs, separately for each value of its path', async () => {
    await kit.engine.constraints.set('hosts', perHost)
    await many(12, toHost('a.com'))
    await many(12, toHost('b.com'))
    await kit.until(async () => (await completed()) === 24)
    expect(most).toBe(4)
  })

  test('applies to waiting jobs, and releases them when it is removed', async () => {
    await kit.engine.queues.update('default', { paused: true })
    await many(20, toHost('a.com', 10))
    await kit.engine.constraints.set('hosts', { ...perHost, concurrency: 1 })
    await kit.engine.queues.update('default', { paused: false })
    await kit.until(async () => (await completed()) >= 3)
    expect(most).toBe(1)
    await kit.engine.constraints.remove('hosts')
    await kit.until(async () => (await completed()) === 20)
    expect(most).toBeGreaterThan(1)
  })
})
