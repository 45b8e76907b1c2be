import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Changes } from '../../src/core/run.ts'
import type { JobInput, Reason, WorkerDefinition } from '../../src/engine/engine.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'

const HOUR = 3_600_000

const waits = defineWorker({ class: 'waits', in: { answer: {} }, perform: (job: Job) => job.waitFor('answer') })
const waitsBriefly = defineWorker({
  class: 'waitsBriefly',
  in: { answer: {} },
  perform: (job: Job) => job.waitFor('answer', { timeout: '1h' }),
})
const hears = defineWorker({ class: 'hears', perform: (job: Job) => job.waitFor('/orders/7') })
const sleeps = defineWorker({ class: 'sleeps', perform: (job: Job) => job.sleep('1h') })
const calls = defineWorker({ class: 'calls', perform: (job: Job) => job.callWorker('sleeps', null, { name: 'child' }) })
const stops = defineWorker({ class: 'stops', queue: 'stopped', shutdown() {}, perform: () => undefined })

let kit: Kit
let functions: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true, random: () => 0 })
  functions = await startKit({ workers: [waits, waitsBriefly, hears, sleeps, calls, stops], hold: true })
})
afterAll(async () => {
  await kit.close()
  await functions.close()
})

let queues = 0
async function place(definition: WorkerDefinition = {}, pull = true) {
  const queue = `q${++queues}`
  await kit.engine.workers.register(
    queue,
    'job',
    pull ? { pull: true, ...definition } : { push: { url: 'http://127.0.0.1:9' } },
  )
  const make = async (input: Partial<JobInput> = {}) =>
    (await kit.engine.jobs.enqueue([{ queue, class: 'job', ...input }])).jobs[0]!.id
  const claim = async (process?: string) =>
    (await kit.engine.runs.claim(queue, { max: 1, ...(process ? { process } : {}) }))[0]!.run.token
  const end = async (changes: Changes) => kit.engine.runs.commit(await claim(), changes)
  return { queue, make, claim, end }
}

const failed: Changes = { end: 'failed', error: { message: 'no', reason: 'other' } }
const spawn = (name: string, queue: string, more = {}) => ({ op: 'spawn' as const, name, queue, class: 'job', ...more })
const ready = () => place({}, false)
async function served(className: string) {
  const id = await functions.make(className)
  await drain(functions.engine, { errors: 'keep' })
  return id
}

/** The immediate reason comes first. */
type Situation = () => Promise<[id: number, ...reasons: Partial<Reason>[]]>

const byFunctions = /function|message|shutdown/

const situations: Record<string, Situation> = {
  async 'as the next job of its queue'() {
    const { make, queue } = await ready()
    return [await make(), { code: 'QUEUED', data: { queue, priority: 0, ahead: 0, lanes: 1, maxLanes: 8 } }]
  },
  async 'behind other jobs'() {
    const { make, queue } = await ready()
    for (let n = 0; n < 3; n++) await make()
    return [await make(), { code: 'QUEUED', data: { queue, ahead: 3, priority: 0, lanes: 1, maxLanes: 8 } }]
  },
  async 'only behind jobs with a smaller priority'() {
    const { make } = await ready()
    await make({ priority: -1 })
    const id = await make({ priority: 5 })
    await make({ priority: 6 })
    return [id, { code: 'QUEUED', data: expect.objectContaining({ ahead: 1, priority: 5 }) }]
  },
  async 'in a queue with its own number of lanes'() {
    const { make, queue } = await ready()
    await kit.engine.queues.update(queue, { lanes: 3 })
    return [await make(), { code: 'QUEUED', data: expect.objectContaining({ maxLanes: 3 }) }]
  },
  async 'in a queue that is paused'() {
    const { make, queue } = await ready()
    await kit.engine.queues.update(queue, { paused: true })
    return [await make(), { code: 'PAUSED', data: { queue } }, { code: 'QUEUED' }]
  },
  async 'for a pull worker'() {
    const { make, queue } = await place()
    return [await make(), { code: 'PULL', data: { queue, ahead: 0, priority: 0 } }]
  },
  async 'for a pull worker, after other jobs'() {
    const { make, queue } = await place()
    await make()
    await make()
    return [await make(), { code: 'PULL', data: { queue, ahead: 2, priority: 0 } }]
  },
  async 'for a pull worker that asks for its tag'() {
    const { make, queue } = await place()
    return [await make({ tag: 'gpu' }), { code: 'PULL', data: { queue, ahead: 0, priority: 0, tag: 'gpu' } }]
  },
  async 'for a pull worker, in a queue that is paused'() {
    const { make, queue } = await place()
    await kit.engine.queues.update(queue, { paused: true })
    return [await make(), { code: 'PAUSED', data: { queue } }, { code: 'PULL' }]
  },
  async 'until a given time'() {
    const { make } = await place()
    const at = kit.now() + HOUR
    return [await make({ at }), { code: 'DUE', until: at, data: { ms: expect.any(Number) } }]
  },
  async 'for a time'() {
    const { make } = await place()
    return [await make({ wait: HOUR }), { code: 'DUE', until: expect.any(Number) }]
  },
  async 'for its next slot'() {
    const { make } = await place()
    return [await make({ repeat: { cron: '0 4 * * *', tz: 'UTC' } }), { code: 'REPEAT', until: expect.any(Number) }]
  },
  async 'for its backoff, after failures'() {
    const { make, end } = await place({ retry: { max: 3, backoff: { base: HOUR } } })
    const id = await make()
    await end(failed)
    return [
      id,
      { code: 'BACKOFF', until: expect.any(Number), data: expect.objectContaining({ failures: 1, losses: 0 }) },
    ]
  },
  async 'for its backoff, after a loss'() {
    const { make, claim, queue } = await place()
    const id = await make()
    await claim()
    await kit.advance(HOUR)
    await kit.engine.tick()
    await kit.engine.runs.claim(queue, { max: 1 })
    const [reason] = (await kit.engine.jobs.why(String(id))).reasons
    if (reason?.code !== 'BACKOFF') await kit.engine.tick()
    return [id, { code: 'BACKOFF', data: expect.objectContaining({ failures: 0, losses: 1, released: 0 }) }]
  },
  async 'for a lock to end'() {
    const { make } = await place()
    const id = await make()
    await kit.engine.jobs.lock(String(id), { ttl: HOUR })
    return [id, { code: 'LOCKED', until: expect.any(Number), data: { ms: expect.any(Number) } }, { code: 'PULL' }]
  },
  async 'for a lock to end, and until its time'() {
    const { make } = await place()
    const id = await make({ wait: HOUR })
    await kit.engine.jobs.lock(String(id), { ttl: HOUR })
    return [id, { code: 'LOCKED' }, { code: 'DUE' }]
  },
  async 'at a group that is full'() {
    const { make, claim } = await place()
    const group = { id: `g${queues}`, concurrency: 1 }
    await make({ group })
    await claim()
    const key = `group:${group.id}`
    const data = { limit: key, ahead: 0, concurrency: 1, paused: 0 }
    return [await make({ group }), { code: 'LIMITED', key, until: expect.any(Number), data }]
  },
  async 'at a limit, after other jobs'() {
    const { make, claim } = await place({ limits: [{ key: 'behind', concurrency: 1 }] })
    await make()
    await claim()
    await make()
    return [await make(), { code: 'LIMITED', key: 'behind', data: expect.objectContaining({ ahead: 1 }) }]
  },
  async 'at a rate'() {
    const { make, claim } = await place({ limits: [{ key: 'rated', rate: { limit: 1, period: HOUR } }] })
    await make()
    await claim()
    const data = { limit: 'rated', ahead: 0, rate: 1, periodMs: HOUR, paused: 0 }
    return [await make(), { code: 'LIMITED', key: 'rated', until: expect.any(Number), data }]
  },
  async 'at a limit that is paused'() {
    const { make } = await place({ limits: [{ key: 'paused', concurrency: 5 }] })
    await kit.engine.limits.set('paused', { concurrency: 5, paused: true })
    return [
      await make(),
      {
        code: 'LIMITED',
        message: 'limit paused is paused',
        data: { limit: 'paused', ahead: 0, concurrency: 5, paused: 1 },
      },
    ]
  },
  async "at its worker's concurrency"() {
    const { make, claim, queue } = await place({ concurrency: 1 })
    await make()
    await claim()
    const id = await make()
    await kit.engine.runs.claim(queue, { max: 1 })
    return [id, { code: 'LIMITED', key: `worker:${queue}/job`, data: expect.objectContaining({ concurrency: 1 }) }]
  },
  async 'at a constraint'() {
    const { make, claim, queue } = await place()
    await kit.engine.constraints.set('one', { match: { queue }, concurrency: 1 })
    await make()
    await claim()
    const id = await make()
    return [
      id,
      { code: 'LIMITED', key: expect.stringContaining('one'), data: expect.objectContaining({ concurrency: 1 }) },
    ]
  },
  async 'for input on one port'() {
    const { make, end } = await place({ in: { a: {} } })
    const id = await make()
    await end({ end: 'suspended' })
    return [id, { code: 'INPUT', key: 'a', data: { port: 'a', taken: 0, ports: ['a'] } }]
  },
  async 'for input on the ports that have neither values nor a default'() {
    const { make, end } = await place({ in: { a: {}, b: { default: '1' as never }, c: {} } })
    const id = await make()
    await end({ end: 'suspended' })
    const data = { ports: ['a', 'c'] }
    return [id, { code: 'INPUT', key: 'a', data }, { code: 'INPUT', key: 'c', data }]
  },
  async 'for input on any of many ports: each reason names three of them'() {
    const { make, end } = await place({ in: { a: {}, b: {}, c: {}, d: {} } })
    const id = await make()
    await end({ end: 'suspended' })
    const name = expect.stringMatching(/^[abcd]$/)
    const reason = { code: 'INPUT', key: name, data: { ports: [name, name, name] } }
    return [id, reason, reason, reason, reason]
  },
  async 'for all its children'() {
    const { make, end, queue } = await place()
    const id = await make()
    await end({ end: 'suspended', waitFor: 'children', ops: [spawn('x', queue), spawn('y', queue)] })
    const { x, y } = (await kit.engine.jobs.get(String(id))).children
    return [id, { code: 'CHILDREN', data: { waiting: 2, jobs: [x!.id, y!.id], names: ['x', 'y'] } }]
  },
  async 'for its one unfinished child'() {
    const { make, end, queue } = await place()
    const id = await make()
    await end({ end: 'suspended', waitFor: 'children', ops: [spawn('x', queue), spawn('y', queue)] })
    await end({ end: 'completed' })
    const { y } = (await kit.engine.jobs.get(String(id))).children
    return [id, { code: 'CHILDREN', job: y!.id, data: { waiting: 1, jobs: [y!.id], names: ['y'] } }]
  },
  async 'for children by name'() {
    const { make, end, queue } = await place()
    const id = await make()
    await end({ end: 'suspended', waitFor: ['y'], ops: [spawn('x', queue), spawn('y', queue)] })
    const { y } = (await kit.engine.jobs.get(String(id))).children
    return [id, { code: 'CHILDREN', job: y!.id, data: { waiting: 1, jobs: [y!.id], names: ['y'] } }]
  },
  async 'for the run of its parent to end'() {
    const { make, claim } = await place()
    const parent = await make()
    await claim()
    const id = await make({ parent: String(parent), name: 'x', joins: true })
    return [id, { code: 'PARENT', job: parent, data: { parent, name: 'x' } }]
  },
  async 'without a condition'() {
    const { make, end } = await place()
    const id = await make()
    await end({ end: 'suspended' })
    return [id, { code: 'ASKED_FOR_NOTHING', data: {} }]
  },
  async 'without a condition, although values wait'() {
    const { make, end } = await place({ in: { a: {} } })
    const id = await make({ inputs: { a: ['1' as never, '2' as never] } })
    await end({ end: 'suspended' })
    return [id, { code: 'ASKED_FOR_NOTHING', data: { port: 'a', values: 2 } }]
  },
  async 'for a manual retry after a failure'() {
    const { make, end } = await place({ retry: { max: 0 } })
    const id = await make()
    await end(failed)
    return [id, { code: 'FAILED', data: { attempts: 1, lost: 0 } }]
  },
  async 'failed, with values that wait'() {
    const { make, end } = await place({ retry: { max: 0 }, in: { a: {} } })
    const id = await make({ inputs: { a: ['1' as never, '2' as never] } })
    await end(failed)
    return [id, { code: 'FAILED' }, { code: 'INPUT_KEPT', key: 'a', data: { port: 'a', values: 2 } }]
  },
  async completed() {
    const { make, end } = await place()
    const id = await make()
    await end({ end: 'completed' })
    return [id, { code: 'COMPLETED', data: {} }]
  },
  async terminated() {
    const { make } = await place()
    const id = await make()
    await kit.engine.jobs.terminate(String(id), {})
    return [id, { code: 'TERMINATED', data: {} }]
  },
  async cancelled() {
    const { make } = await place()
    const id = await make()
    await kit.engine.jobs.cancel(String(id))
    return [id, { code: 'CANCELLED', data: {} }]
  },
  'for input that its function waits for': async () => [
    await served('waits'),
    { code: 'INPUT', key: 'answer', data: { port: 'answer' } },
  ],
  'for input that its function waits for, for a time': async () => [
    await served('waitsBriefly'),
    { code: 'INPUT', key: 'answer', until: expect.any(Number) },
  ],
  'for a message': async () => [
    await served('hears'),
    { code: 'MESSAGE', key: '/orders/7', data: { channel: '/orders/7' } },
  ],
  'for a sleep of its function': async () => [
    await served('sleeps'),
    { code: 'PAUSED_UNTIL', until: expect.any(Number), data: { ms: expect.any(Number) } },
  ],
  async 'for a worker that its function called'() {
    const id = await served('calls')
    const [child] = Object.values((await functions.engine.jobs.get(String(id))).children)
    return [id, { code: 'CHILDREN', job: child!.id, data: expect.objectContaining({ waiting: 1, jobs: [child!.id] }) }]
  },
  async 'for its shutdown run'() {
    const id = await functions.make('stops', { queue: 'stopped' })
    await drain(functions.engine, { errors: 'keep' })
    await functions.engine.queues.update('stopped', { paused: true })
    await functions.engine.jobs.terminate(String(id), {})
    return [id, { code: 'PAUSED', data: { queue: 'stopped' } }, { code: 'QUEUED' }]
  },
  async 'no longer, because a program runs it'() {
    const { make, claim } = await place()
    const id = await make()
    await claim('host:1')
    return [id]
  },
}

const beyond: Record<string, Partial<Reason>> = {
  'for input that its function waits for, for a time': { code: 'PAUSED_UNTIL', key: undefined },
}

describe('a job waits', () => {
  test.each(Object.entries(situations))('%s', async (name, arrange) => {
    const where = byFunctions.test(name) ? functions : kit
    const before = where.now()
    const [id, ...expected] = await arrange()
    const { job, reasons, running, run } = await where.engine.jobs.why(String(id))
    expect(job).toBe(id)
    expect(reasons).toMatchObject(expected)
    for (const { message, since, data } of reasons) {
      expect(message.length).toBeGreaterThan(8)
      expect(since).toBeGreaterThan(before - 60_000)
      expect(since).toBeLessThanOrEqual(where.now() + 1_000)
      // Programs need each number of the message as a field.
      const numbers = [...message.replace(/\d{4}-\d\d-\S+/g, '').matchAll(/(?<![\w/:.])\d+(?![\w/:.])/g)].map(Number)
      const known = JSON.stringify(data)
      for (const n of numbers)
        expect([message, known]).toEqual([message, expect.stringMatching(new RegExp(`\\b${n}\\b`))])
    }
    const row = (await where.engine.jobs.rows({ limit: 1_000 })).jobs.find((one) => one.id === id)!
    const [first] = reasons.filter(({ code }) => code !== 'PAUSED')
    const told = first ? { code: first.code, since: first.since, key: first.key } : null
    expect(row.reason && { code: row.reason.code, since: row.reason.since, key: row.reason.key }).toEqual(
      told && { ...told, ...beyond[name] },
    )
    expect(running).toBe(expected.length === 0)
    if (running) expect(run).toMatchObject({ process: 'host:1', leaseUntil: expect.any(Number) })
  })

  test('for at least thirty different reasons', () => {
    expect(Object.keys(situations).length).toBeGreaterThanOrEqual(30)
  })
})

describe('the chain', () => {
  async function three() {
    const { make, claim, queue } = await place({ limits: [{ key: `stripe${queues}`, concurrency: 1 }] })
    const holder = await make()
    await claim('host:2')
    const above = await place()
    const id = await above.make()
    await above.end({ end: 'suspended', waitFor: 'children', ops: [spawn('x', queue)] })
    return { id, holder, child: (await kit.engine.jobs.get(String(id))).children.x!.id }
  }

  test('leads from a job to its awaited child, the limit of the child, and the holders of the slots', async () => {
    const { id, holder, child } = await three()
    const { reasons, chain } = await kit.engine.jobs.why(String(id), { deep: 3 })
    expect(reasons).toMatchObject([{ code: 'CHILDREN', job: child }])
    expect(chain).toMatchObject([
      {
        job: child,
        status: 'queued',
        reasons: [{ code: 'LIMITED' }],
        limit: { concurrency: 1, running: 1, waiting: 1, holders: [{ job: holder, process: 'host:2' }] },
      },
    ])
    const limit = chain![0]!.limit!
    expect(limit.nextRoom!).toBeGreaterThan(kit.now())
    expect(limit.fullSince!).toBeLessThanOrEqual(kit.now())
  })

  test('follows the longest of several awaited jobs', async () => {
    const { make, end, queue } = await place()
    const id = await make()
    const ops = [spawn('soon', queue, { wait: 60_000 }), spawn('late', queue, { wait: HOUR })]
    await end({ end: 'suspended', waitFor: 'children', ops })
    const { late } = (await kit.engine.jobs.get(String(id))).children
    expect((await kit.engine.jobs.why(String(id), { deep: 3 })).chain).toMatchObject([{ job: late!.id }])
  })

  test('continues to the requested depth, and stops if no other job is the cause', async () => {
    const { make, end, queue } = await place()
    const id = await make()
    for (let n = 0; n < 4; n++) await end({ end: 'suspended', waitFor: 'children', ops: [spawn('x', queue)] })
    const deep = async (n: number) => (await kit.engine.jobs.why(String(id), { deep: n })).chain?.length
    expect([await deep(1), await deep(3), await deep(5)]).toEqual([1, 3, 4])
    expect(await kit.engine.jobs.why(String(id))).not.toHaveProperty('chain')
  })

  test.skipIf(kind === 'embedded')('costs one more round trip for a limit, and otherwise none', async () => {
    const { id } = await three()
    const before = kit.gateway.counters.requests
    await kit.engine.jobs.why(String(id))
    const alone = kit.gateway.counters.requests - before
    await kit.engine.jobs.why(String(id), { deep: 3 })
    expect([alone, kit.gateway.counters.requests - before - alone]).toEqual([1, 2])
  })

  test('names the children that delay a job that follows them, not its own ports', async () => {
    const { make, end, queue } = await place({ in: { text: {} } })
    const id = await make()
    const ops = [spawn('quick', queue), spawn('slow', queue, { wait: HOUR })]
    await end({ end: 'follow', ops })
    const { slow } = (await kit.engine.jobs.get(String(id))).children
    await end({ end: 'completed' })
    const { reasons, chain } = await kit.engine.jobs.why(String(id), { deep: 3 })
    expect(reasons).toMatchObject([
      {
        code: 'CHILDREN',
        message: `follows its children; 1 child has not completed: slow (job ${slow!.id}, queued)`,
        data: { waiting: 1, jobs: [slow!.id], names: ['slow'] },
        job: slow!.id,
      },
    ])
    expect(chain).toMatchObject([{ job: slow!.id, reasons: [{ code: 'DUE' }] }])
  })

  test('is the same for a flow in the list of jobs and on its own', async () => {
    const { make, end, queue } = await place({ in: { text: {} } })
    const id = await make()
    await end({ end: 'follow', ops: [spawn('one', queue), spawn('two', queue)] })
    const row = async () => (await kit.engine.jobs.rows({ queue })).jobs.find((job) => job.id === id)!.reason
    const own = async () => (await kit.engine.jobs.why(String(id))).reasons[0]!
    expect(await row()).toMatchObject({ code: 'CHILDREN', data: { waiting: 2 } })
    expect(await own()).toMatchObject({ code: 'CHILDREN', data: { waiting: 2 } })
    await end({ end: 'completed' })
    await end({ end: 'completed' })
    expect(await row()).toMatchObject({ code: 'COMPLETED' })
    expect(await own()).toMatchObject({ code: 'COMPLETED' })
  })
})
