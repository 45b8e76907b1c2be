import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { defineWorker, type Job, port } from '../../src/index.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'

const DAY = 86_400_000
const bounded = defineWorker({ class: 'bounded', queue: 'b', concurrency: 1, history: 3, perform: () => 1 })
const adder = defineWorker({
  class: 'adder',
  in: { n: port(z.number().max(7)) },
  out: { sum: port(z.number()) },
  perform: (job: Job) => job.suspend(),
})
const reads = defineWorker({
  class: 'reads',
  in: { n: port(z.number()) },
  retry: { max: 0 },
  perform() {
    throw new Error('no')
  },
})
const listens = defineWorker({
  class: 'listens',
  in: { n: port(undefined, { channels: ['/heard'] }) },
  perform: (job: Job) => job.suspend(),
})
const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform() {
    throw new Error('no')
  },
})

let kit: Kit
const make = async (input: object) =>
  (await kit.engine.jobs.enqueue([{ queue: 'default', class: 'fails', ...input }])).jobs[0]!.id
const shown = (id: number, options = {}) => kit.engine.jobs.get(String(id), options)

beforeAll(async () => {
  kit = await startKit({ workers: [bounded, adder, fails, listens, reads] })
  await kit.engine.tick()
  await kit.engine.workers.register('p', 'pulled', {
    pull: true,
    in: { n: { schema: '{"type":"number"}' as never }, '*': { schema: '{"type":"string"}' as never } },
  })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

counted('a look has the same cost as before: one round trip, and no extra command', async () => {
  const id = await make({ class: 'adder' })
  await kit.until(async () => (await shown(id)).status === 'suspended')
  const { calls, billed, commands } = await costOf(kit, () => shown(id))
  expect([calls, commands]).toEqual([1, { evalsha: 1, time: 1, mget: 2 }])
  expect(billed).toBe(4)
})

test('the limit of its worker is included for a single job', async () => {
  await kit.engine.queues.update('b', { paused: true })
  const id = await make({ queue: 'b', class: 'bounded', group: { id: 'g', concurrency: 2 } })
  expect(await shown(id)).toMatchObject({ limits: ['group:g', 'worker:b/bounded'], history: 3 })
})

test('an ended job shows its expiry, which depends on its status; a job that data can wake does not', async () => {
  const [failed, completed] = [await make({}), await make({ queue: 'b', class: 'bounded', retain: 60_000 })]
  await kit.engine.queues.update('b', { paused: false })
  await kit.until(
    async () => (await shown(failed)).status === 'failed' && (await shown(completed)).status === 'completed',
  )
  const [one, other] = [await shown(failed), await shown(completed)]
  expect(one.keptUntil! - one.endedAt!).toBe(30 * DAY)
  expect(other.keptUntil! - other.endedAt!).toBe(60_000)
  const waiting = await make({ class: 'adder' })
  await kit.until(async () => (await shown(waiting)).status === 'suspended')
  expect((await shown(waiting)).keptUntil).toBeNull()
})

test('a failed or terminated job with an input port shows its expiry, because input does not wake it', async () => {
  const [failed, terminated] = [await make({ class: 'reads' }), await make({ class: 'adder', wait: 60_000 })]
  await kit.engine.jobs.terminate(String(terminated), {})
  await kit.until(async () => (await shown(failed)).status === 'failed')
  const [one, other] = [await shown(failed), await shown(terminated)]
  expect(one.keptUntil! - one.endedAt!).toBe(30 * DAY)
  expect(other.keptUntil! - other.endedAt!).toBe(DAY)
})

test('a failed or terminated job that is never removed, because it listens or has the port *, showed an expiry', async () => {
  const heard = await make({ class: 'reads', in: { n: { channels: ['/heard'] } } })
  const ended = [heard, await make({ class: 'listens', wait: 60_000 }), await make({ queue: 'p', class: 'pulled' })]
  for (const id of ended.slice(1)) await kit.engine.jobs.terminate(String(id), {})
  await kit.until(async () => (await shown(heard)).status === 'failed')
  expect((await Promise.all(ended.map((id) => shown(id)))).map(({ keptUntil }) => keptUntil)).toEqual([
    null,
    null,
    null,
  ])
  await kit.advance(61 * DAY)
  await kit.engine.tick()
  for (const id of ended) expect((await shown(id)).endedAt).not.toBeNull()
})

test('a lock is shown while it lasts, but its token is not', async () => {
  const id = await make({ wait: 3_600_000 })
  const { token } = await kit.engine.jobs.lock(String(id), { ttl: 60_000 })
  const locked = await shown(id)
  expect(locked.lockedUntil).toBeGreaterThan(kit.now())
  expect(JSON.stringify(locked)).not.toContain(token)
  kit.advance(61_000)
  expect((await shown(id)).lockedUntil).toBeNull()
})

test('a unique key shows until when it is held', async () => {
  const untils = [
    ['ended', 'ended'],
    ['deleted', 'deleted'],
    ['started', 'started'],
  ] as const
  for (const [until, told] of untils)
    expect((await shown(await make({ wait: 60_000, unique: { key: `k ${until}`, until } }))).unique).toEqual({
      key: `k ${until}`,
      until: told,
    })
  const throttled = await make({ wait: 60_000, unique: { key: 'slow', for: 60_000 } })
  expect((await shown(throttled)).unique).toEqual({ key: 'slow', until: 'time' })
})

test('a run names its worker: the program, or else the lane', async () => {
  const [named, unnamed] = [await make({ queue: 'p', class: 'pulled' }), await make({ queue: 'p', class: 'pulled' })]
  await kit.engine.runs.claim('p', { max: 1, process: 'host:7' })
  await kit.engine.runs.claim('p', { max: 1 })
  expect((await shown(named)).run).toMatchObject({ process: 'host:7', lane: null, startedAt: expect.any(Number) })
  expect((await shown(unnamed)).run).toMatchObject({ process: null, lane: expect.stringMatching(/^\w{1,6}$/) })
})

test('schemas of its ports are included on request, for functions and registered classes', async () => {
  const [own, pulled] = [await make({ class: 'adder' }), await make({ queue: 'p', class: 'pulled' })]
  expect((await shown(own)).in.n).not.toHaveProperty('schema')
  const { in: ins, out } = await shown(own, { schemas: true })
  expect(JSON.parse(ins.n!.schema!)).toMatchObject({ type: 'number', maximum: 7 })
  expect(JSON.parse(out.sum!.schema!)).toMatchObject({ type: 'number' })
  expect((await shown(pulled, { schemas: true })).in.n!.schema).toBe('{"type":"number"}')
})
