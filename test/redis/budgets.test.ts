// Limits the number of Redis commands for each kind of work. If a script calls one more command, a test fails.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobInput } from '../../src/engine/engine.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, kind, rawCommand, startKit } from '../kit/index.ts'
import { type Cost, commandStats, costOf } from './commandstats.ts'

const noop = defineWorker({ class: 'noop', retain: 0, perform() {} })

const pass = defineWorker({
  class: 'pass',
  in: { left: {} },
  out: { right: {} },
  async perform(job: Job) {
    job.write('right', await job.read('left'))
    return job.suspend()
  },
})

const listener = defineWorker({
  class: 'listener',
  in: { news: { channels: ['/news'] } },
  perform: (job: Job) => job.suspend(),
})

const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform(job: Job) {
    throw Object.assign(new Error('abc'[(job.args as { cause: number }).cause]), { stack: '' })
  },
})

const busy = defineWorker({
  class: 'busy',
  in: { left: {} },
  out: { right: {} },
  async perform(job: Job) {
    for (let i = 0; i < 10; i++) job.write('right', await job.read('left'))
    for (const channel of ['/one', '/two']) job.publish(channel, 'hello')
    for (const name of ['a', 'b', 'c']) job.spawn(name, { queue: 'held', class: 'noop' })
    job.set({ seen: 10, name: 'busy' })
    return job.suspend()
  },
})

const pausedQueues = ['held', 'above']
const tested = [
  'fresh',
  'known',
  'alone',
  'batch',
  'ports',
  'family',
  'limits',
  'news',
  'busy',
  'one',
  'two',
  'three',
  'bulk',
  'shown',
  'failing',
]
const workers = [...pausedQueues, ...tested].flatMap((queue) =>
  [noop, pass, listener, busy, fails].map((one) => ({ ...one, queue })),
)

const BATCH = 100

const jobs = (n: number, queue: string, name = 'noop', more: Partial<JobInput> = {}): JobInput[] =>
  Array.from({ length: n }, () => ({ queue, class: name, args: '{"n":1}', ...more }))

describe.skipIf(kind === 'embedded')('budgets on redis-server (the embedded Redis does not count)', () => {
  let kit: Kit
  const make = (inputs: JobInput[]) => kit.engine.jobs.enqueue(inputs)
  const pause = (queue: string, paused = true) => kit.engine.queues.update(queue, { paused })
  const cost = (work: () => Promise<unknown>) => costOf(kit, work)

  async function servedQueue(queue: string, lanes = 1): Promise<string> {
    await kit.engine.queues.update(queue, { lanes })
    await cost(() => make(jobs(1, queue)))
    return queue
  }

  async function costOfRuns(queue: string, inputs: () => Promise<JobInput[]>): Promise<Cost> {
    await pause(queue)
    const waiting = await inputs()
    const making = await cost(() => make(waiting))
    await cost(() => pause(queue, false))
    const live = await inputs()
    const all = await cost(() => make(live))
    return { ...all, calls: all.calls - making.calls, billed: all.billed - making.billed }
  }

  beforeAll(async () => {
    kit = await startKit({ workers })
    await kit.engine.tick()
    for (const queue of pausedQueues) await pause(queue)
    // Call the scripts once: the first call sends the source of a script, and costs more.
    await cost(() => make(jobs(1, 'one')))
    await kit.engine.channels.publish('/nobody', '1')
  })
  afterAll(() => kit.close())

  test('jobs are enqueued in 1 call, 1 or 1,000 of them (budget 6, measured 5)', async () => {
    const queue = await servedQueue('known')
    await pause(queue)
    for (const n of [1, 1000]) {
      const { calls, billed, messages, commands } = await cost(() => make(jobs(n, queue)))
      expect({ calls, messages }).toEqual({ calls: 1, messages: 0 })
      expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(5)
    }
  })

  test('9 jobs created at once, each in a call of its own, take 2 calls (measured 10 billed)', async () => {
    const queue = await servedQueue('known')
    await pause(queue)
    const { calls, billed, commands } = await cost(() =>
      Promise.all(Array.from({ length: 9 }, () => make(jobs(1, queue)))),
    )
    expect(calls).toBe(2)
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(10)
  })

  test('a no-op job, enqueue to gone, in batches of 100 (budget 0.03 calls and 0.5 billed, measured 0.012 and 0.11)', async () => {
    const queue = await servedQueue('batch')
    const { calls, billed, commands } = await cost(() => make(jobs(1000, queue)))
    expect(calls / 1000).toBeLessThanOrEqual(0.012)
    expect(billed / 1000, JSON.stringify(commands)).toBeLessThanOrEqual(0.11)
    expect((await kit.engine.jobs.list({ queue })).jobs).toEqual([])
  })

  // Each of the three scripts costs EVALSHA, TIME, MGET and MSET. The other commands are ZADD to create the job, ZRANGE
  // and ZREM to claim it, and DEL and SET to end it.
  test('a no-op job alone, through a bell (budget 4 calls and 22 billed, measured 3 and 17)', async () => {
    const queue = await servedQueue('alone')
    const { calls, billed, messages, commands } = await cost(() => make(jobs(1, queue)))
    expect({ calls, messages }).toEqual({ calls: 3, messages: 1 })
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(17)
  })

  test('the very first job of a queue costs 2 more (measured 19)', async () => {
    const { calls, billed, commands } = await cost(() => make(jobs(1, 'fresh')))
    expect(calls).toBe(3)
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(19)
  })

  test('a no-op job that a lane waits for (budget 11 billed, measured 2 calls and 10, and no message)', async () => {
    const warm = await startKit({ workers, lane: { warm: 3_000 } })
    const record = async () => rawCommand(warm.redis.port, 'GET', warm.store.keys.queue('alone'))
    const isWarm = async () => (await record()).includes('"wm"')
    const run = async () => {
      const [made] = (await warm.engine.jobs.enqueue(jobs(1, 'alone'))).jobs
      await warm.until(
        async () => (await rawCommand(warm.redis.port, 'EXISTS', warm.store.keys.job(made!.id))) === ':0\r\n',
      )
    }
    for (let i = 0; i < 3; i++) await run()
    await warm.until(isWarm)
    const before = { ...warm.counts(), commands: await commandStats(warm) }
    await run()
    await warm.until(isWarm)
    const commands = [...(await commandStats(warm))].filter(([name]) => name !== 'exists' && name !== 'get')
    const billed = commands.reduce((sum, [name, calls]) => sum + calls - (before.commands.get(name) ?? 0), 0)
    const { requests, published } = warm.counts()
    await warm.close()
    expect({ calls: requests - before.requests, messages: published - before.published }).toEqual({
      calls: 2,
      messages: 0,
    })
    expect(billed).toBeLessThanOrEqual(10)
  })

  test('a no-op job alone, eager (budget 16, measured 2 calls and 10 billed)', async () => {
    const deferred: Promise<unknown>[] = []
    // With the default timeout of 30 s, the job could outlive the invocation, so the lane would not start it.
    const brief = workers.map((one) => ({ ...one, timeout: 10_000 }))
    const eager = await startKit({ workers: brief, dispatch: 'eager', defer: (work) => deferred.push(work) })
    const run = () => eager.engine.jobs.enqueue(jobs(1, 'alone')).then(() => Promise.all(deferred))
    await run()
    const { calls, billed, messages, commands } = await costOf(eager, run)
    await eager.close()
    expect({ calls, messages }).toEqual({ calls: 2, messages: 0 })
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(10)
  })

  test('a run with one read and one write in a batch (budget 0.03 calls and 5 billed, measured 0.011 and 0.133)', async () => {
    const queue = await servedQueue('ports')
    const { calls, billed, commands } = await costOfRuns(queue, async () =>
      jobs(1000, queue, 'pass', { inputs: { left: ['1'] } }),
    )
    expect(calls / 1000).toBeLessThanOrEqual(0.011)
    expect(billed / 1000, JSON.stringify(commands)).toBeLessThanOrEqual(0.133)
  })

  test('a run with one read, one write and its own parent (budget 7, measured 1.123)', async () => {
    const queue = await servedQueue('family')
    const { calls, billed, commands } = await costOfRuns(queue, async () => {
      const { jobs: parents } = await make(jobs(1000, 'above'))
      const child = jobs(1, queue, 'pass', { inputs: { left: ['1'] } })[0]!
      return parents.map(({ id }) => ({ ...child, parent: String(id), name: 'child' }))
    })
    expect(calls / 1000).toBeLessThanOrEqual(0.011)
    expect(billed / 1000, JSON.stringify(commands)).toBeLessThanOrEqual(1.123)
  })

  test('a run with one read, one write and its own limit (budget 9, measured 3.153)', async () => {
    const queue = await servedQueue('limits')
    let group = 0
    const grouped = () => ({
      ...jobs(1, queue, 'pass', { inputs: { left: ['1'] } })[0]!,
      group: { id: `g${group++}`, concurrency: 1 },
    })
    const { calls, billed, commands } = await costOfRuns(queue, async () => Array.from({ length: 1000 }, grouped))
    expect(calls / 1000).toBeLessThanOrEqual(0.011)
    expect(billed / 1000, JSON.stringify(commands)).toBeLessThanOrEqual(3.153)
  })

  // The first message of a Worker process and a message to many listeners need more reads.
  test.each([0, 1, 2, 3, 8, 10, 100, 500])(
    'a message to %i subscribers (budget 4 + 3k, measured 7 or 9)',
    async (k) => {
      const channel = `/news/of/${k}`
      const queue = await servedQueue('news')
      const listening = jobs(k, queue, 'listener', { in: { news: { channels: [channel] } } })
      if (k > 0) await cost(() => make(listening))
      await cost(() => kit.engine.channels.publish(channel, '1'))
      await pause(queue)
      const { calls, billed, commands } = await cost(() => kit.engine.channels.publish(channel, '2'))
      await cost(() => pause(queue, false))
      expect(calls).toBe(1)
      expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(k === 0 ? 4 : k > 8 ? 9 : 7)
      expect(billed).toBeLessThanOrEqual(4 + 3 * k)
    },
  )

  // The MSET also writes the kept message, and a ZADD updates the index of kept messages once a minute. For the first
  // message of a channel, a ZRANGE finds kept messages that must make room.
  test('a kept message costs 1 or 2 commands more than an unkept one (measured 5 or 6, the first 7)', async () => {
    const kept = (keep?: 1) => cost(() => kit.engine.channels.publish('/kept/by/one', '1', { keep }))
    const [without, first, second, third] = [await kept(), await kept(1), await kept(1), await kept(1)]
    for (const { calls } of [without, first, second, third]) expect(calls).toBe(1)
    expect(without.billed, JSON.stringify(without.commands)).toBe(4)
    expect(first.billed, JSON.stringify(first.commands)).toBe(7)
    expect(Math.min(second.billed, third.billed), JSON.stringify(second.commands)).toBe(5)
    expect(Math.max(second.billed, third.billed)).toBeLessThanOrEqual(6)
  })

  const tenValues = { inputs: { left: Array.from({ length: 10 }, () => '1') } }

  test('a run with 10 reads, 10 writes, 2 publishes, 3 children and state: 2 calls alone', async () => {
    const queue = await servedQueue('busy')
    const { calls, billed, commands } = await costOfRuns(queue, async () => jobs(1, queue, 'busy', tenValues))
    expect(calls).toBe(2)
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(18)
  })

  test('1,000 runs with 10 reads and 10 writes in three queues: 1 call a batch and 1 a lane (measured 1.27 billed a run)', async () => {
    const queues = await Promise.all(['one', 'two', 'three'].map((queue) => servedQueue(queue, 4)))
    const inputs = queues.flatMap((queue, i) => jobs(i === 0 ? 334 : 333, queue, 'busy', tenValues))
    const { calls, messages, billed } = await cost(() => make(inputs))
    const batches = queues.length * Math.ceil(334 / BATCH)
    expect(calls - 1).toBeLessThanOrEqual(batches + messages)
    expect(messages).toBeLessThanOrEqual(3 * 4)
    expect(billed / 1000).toBeLessThanOrEqual(1.27)
  })

  test('a minute in which nothing happens: 1 call, however many queues there are (budget 4, measured 1.5)', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => kit.engine.queues.update(`idle${i}`, { lanes: 2 })))
    await kit.advance(120_000)
    await cost(() => kit.engine.tick())
    let sum = 0
    for (let minute = 0; minute < 6; minute++) {
      await kit.advance(60_000)
      const { calls, billed, commands } = await cost(() => kit.engine.tick())
      expect(calls).toBe(1)
      expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(2)
      sum += billed
    }
    expect(sum).toBe(9)
  })

  test('100 runs that fail without retries left: 1 command for the index of their errors', async () => {
    const queue = await servedQueue('failing')
    await pause(queue)
    const failing = Array.from({ length: BATCH }, (_, i) => jobs(1, queue, 'fails', { args: `{"cause":${i % 3}}` })[0]!)
    const { commands } = await cost(async () => {
      await make(failing)
      await pause(queue, false)
    })
    const { errors, looked } = await kit.engine.errors.list({ queue })
    expect([errors.map(({ count }) => count), looked]).toEqual([[34, 33, 33], 100])
    const { rpush, xadd, zadd, ...rest } = commands
    expect({ rpush, xadd }).toEqual({ rpush: BATCH, xadd: BATCH })
    expect(zadd, JSON.stringify(commands)).toBe(4)
    expect(
      Object.values(rest).reduce((sum, n) => sum + n, 0),
      JSON.stringify(rest),
    ).toBeLessThanOrEqual(30)
  })

  test('kinds of errors of all queues (measured 5, and 2 for each kind)', async () => {
    await cost(() => kit.engine.errors.list({}))
    const { calls, billed, commands } = await cost(() => kit.engine.errors.list({}))
    expect(calls).toBe(2)
    expect(billed, JSON.stringify(commands)).toBe(11)
  })

  test('the data of a page about jobs (budget 2 calls and 20 billed, measured 1 and 6)', async () => {
    const queue = await servedQueue('shown')
    const { jobs: made } = await kit.engine.jobs.enqueue(jobs(50, queue, 'listener'))
    const pages: Record<string, () => Promise<unknown>> = {
      'jobs of a queue': () => kit.engine.jobs.list({ queue, status: 'suspended', limit: 50 }),
      jobs: () => kit.engine.jobs.list({ limit: 50 }),
      job: () => kit.engine.jobs.get(String(made[0]!.id)),
      limits: () => kit.engine.limits.list(),
    }
    for (const [page, ask] of Object.entries(pages)) {
      await cost(ask)
      const { calls, billed, commands } = await cost(ask)
      expect({ page, calls }).toEqual({ page, calls: 1 })
      expect(billed, `${page}: ${JSON.stringify(commands)}`).toBeLessThanOrEqual(6)
    }
  })

  test('a result that is waited for, up to 15 s (budget 4 calls and 20 billed, measured 4 and 18)', async () => {
    await kit.engine.queues.update('pull', { mode: 'pull' })
    const claimed = async () => {
      await kit.engine.jobs.enqueue([{ queue: 'pull', class: 'x', keepResult: 60_000 }])
      const [snapshot] = await kit.engine.runs.claim('pull', {})
      const { job, run } = snapshot!
      return { id: String(job.id), end: () => kit.engine.runs.commit(run.token, { end: 'completed' }) }
    }
    const alone = await cost((await claimed()).end)
    const { id, end } = await claimed()
    const { calls, billed, commands } = await cost(async () => {
      const { requests } = kit.gateway.counters
      const result = kit.engine.jobs.result(id, { wait: 60_000 })
      await kit.until(() => kit.gateway.counters.requests - requests === 3)
      await end()
      await result
    })
    expect(calls - alone.calls).toBe(4)
    expect(billed - alone.billed, JSON.stringify(commands)).toBeLessThanOrEqual(18)
  })

  test('counts by class of all queues (budget 4, measured 4)', async () => {
    await cost(() => kit.engine.stats.classes({}))
    const { calls, billed, commands } = await cost(() => kit.engine.stats.classes({}))
    expect(calls).toBe(1)
    expect(billed, JSON.stringify(commands)).toBe(4)
  })

  test('the sums over 50 queues (budget 10, measured 6 to 9)', async () => {
    const queues = Array.from({ length: 50 }, (_, i) => `summed${i}`)
    for (const queue of queues) await kit.engine.queues.update(queue, { mode: 'pull' })
    await make(queues.flatMap((queue) => jobs(2, queue, 'listener', { wait: 3_600_000 })))
    await make(queues.flatMap((queue) => jobs(1, queue, 'listener')))
    const sums: Record<string, [() => Promise<unknown>, calls: number]> = {
      queues: [() => kit.engine.queues.list(), 1],
      stats: [() => kit.engine.stats.totals(), 2],
    }
    for (const [name, [ask, most]] of Object.entries(sums)) {
      await cost(ask)
      for (let look = 0; look < 10; look++) {
        const { calls, billed, commands } = await cost(ask)
        expect({ name, calls }).toEqual({ name, calls: most })
        expect(billed, `${name}: ${JSON.stringify(commands)}`).toBeLessThanOrEqual(10)
      }
    }
    // Metrics need two more commands for each limit.
    const { limits } = await kit.engine.limits.withGroups()
    const { calls, billed } = await cost(() => Promise.all([kit.engine.stats.totals(), kit.engine.limits.withGroups()]))
    expect(calls).toBe(3)
    expect(billed).toBeLessThanOrEqual(14 + 2 * limits.length)
    const row = (await kit.engine.queues.list()).queues.find(({ name }) => name === 'summed7')
    expect(row).toMatchObject({ counts: { queued: 3, scheduled: 2 }, oldestReady: expect.any(Number) })
  })

  // A channel with more than eight listeners costs one more command, a ZRANGE.
  test('all channels, their listeners and publishing classes (measured 3 calls, and 1 for each queue)', async () => {
    const channels = Array.from({ length: 50 }, (_, n) => `/shown/${n}`)
    await cost(() =>
      make(channels.map((name) => jobs(1, 'above', 'listener', { in: { news: { channels: [name] } } })[0]!)),
    )
    const many = (await kit.engine.channels.list()).channels.filter(({ subscribers }) => subscribers.length > 8).length
    const queues = (await kit.store.queueNames()).length
    const { calls, billed, commands } = await cost(() => kit.engine.channels.list({ publishers: true }))
    expect(calls).toBeLessThanOrEqual(3 + queues + many)
    expect(billed, JSON.stringify(commands)).toBeLessThanOrEqual(3 + queues + many)
    const without = await cost(() => kit.engine.channels.list())
    const last = await cost(() => kit.engine.channels.list({ last: true }))
    expect(last.billed, JSON.stringify(last.commands)).toBeLessThanOrEqual(without.billed + 2)
  })

  test('10,000 jobs enqueued in bulk into one queue: 20 messages of QStash at most', async () => {
    const queue = await servedQueue('bulk', 4)
    const { messages } = await cost(async () => {
      for (let i = 0; i < 10; i++) await make(jobs(1000, queue))
    })
    expect(messages).toBeLessThanOrEqual(20)
    expect((await kit.engine.jobs.list({ queue })).jobs).toEqual([])
  })

  test('a claim under a name costs no further call, and one further command (the first claim three)', async () => {
    await kit.engine.workers.register('pulled', 'work', { pull: true })
    const claim = (process?: string) => cost(() => kit.engine.runs.claim('pulled', { process }))
    await claim()
    const nameless = await claim()
    const first = await claim('host:1')
    const named = await claim('host:1')
    expect([first.calls, named.calls]).toEqual([nameless.calls, nameless.calls])
    expect([first.billed - nameless.billed, named.billed - nameless.billed]).toEqual([3, 1])
  })
})
