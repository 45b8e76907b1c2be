import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Doors, startDoors } from './kit.ts'

const quick = defineWorker({ class: 'quick', queue: 'za', perform: () => undefined })
const other = defineWorker({ class: 'other', queue: 'zb', perform: () => undefined })

let doors: Doors
beforeAll(async () => {
  doors = await startDoors({ workers: [quick, other] })
})
afterAll(() => doors.close())

type Redis = Parameters<Parameters<ReturnType<typeof createClient>['ask']>[0]>[0]
const redis = <T>(command: (redis: Redis) => Promise<T>) => createClient(doors.options).ask(command)
const key = (name: string) => `sidejob:${name}`
const make = async (n: number, job: object): Promise<number[]> =>
  (await doors.engine.jobs.enqueue(Array.from({ length: n }, () => job) as never)).jobs.map(({ id }) => id)
const json = async (method: string, path: string, body?: unknown) =>
  JSON.parse((await doors.ask(method, path, body)).text)
const code = async (method: string, path: string) => (await json(method, path)).error?.code
const serve = (queue: string) => doors.engine.dispatch(queue, '')
const statuses = (ids: number[]) => Promise.all(ids.map((id) => doors.statusOf(id)))
const nine = Array.from({ length: 9 }, () => 'completed')
const repair = async () => {
  for (let cursor: string | undefined | null; cursor !== null; )
    cursor = (await doors.engine.doctor.repair(cursor)).cursor
}

test('nine jobs behind a job with a broken record run, and the broken job is deleted by force', async () => {
  const [bad] = await make(1, { queue: 'za', class: 'quick' })
  const good = await make(9, { queue: 'za', class: 'quick' })
  await redis((redis) => redis.set(key(`job:${bad}`), '{broken'))
  await serve('za')
  expect(await statuses(good)).toEqual(nine)
  expect(await code('GET', `/v1/jobs/${bad}`)).toBe('UNREADABLE')
  expect((await json('GET', `/v1/jobs/${bad}/why`)).reasons).toMatchObject([{ code: 'UNREADABLE' }])
  expect((await json('GET', '/v1/jobs?queue=za')).jobs.map(({ id }: { id: number }) => id)).toEqual(good.toReversed())
  expect((await doors.engine.health()).problems).toMatchObject([{ of: 'data', code: 'UNREADABLE' }])
  expect((await doors.engine.doctor.examine()).faults).toMatchObject([{ kind: 'job', who: String(bad) }])
  expect(await code('DELETE', `/v1/jobs/${bad}`)).toBe('UNREADABLE')
  expect((await doors.ask('DELETE', `/v1/jobs/${bad}?force=true`)).status).toBe(200)
  expect(await code('GET', `/v1/jobs/${bad}`)).toBe('NOT_FOUND')
  expect((await doors.engine.health()).problems).toBeUndefined()
  expect(await doors.engine.doctor.verify()).toEqual([])
  doors.reported.length = 0
})

test.each([
  ['args', ([mask, first, state, common]: string[]) => [mask, first, state, common, '[broken']],
  ['common fields', ([mask, first, state, , args]: string[]) => [mask, first, state, '"q":', args]],
])('jobs behind a piece whose %s are broken run', async (_, broken) => {
  const packed = await make(20, { queue: 'za', class: 'quick', args: encodeValue(1) })
  const good = await make(9, { queue: 'za', class: 'quick' })
  const piece = key(`jobs:${Math.floor(packed[0]! / 100)}`)
  await redis(async (redis) => redis.set(piece, broken((await redis.get<string>(piece))!.split('\n')).join('\n')))
  await serve('za')
  expect(await statuses(good)).toEqual(nine)
  await doors.advance(60_000)
  await doors.engine.tick()
  await repair()
  for (const id of packed) await doors.engine.jobs.remove(String(id), { force: true }).catch(() => undefined)
  await repair()
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('the tick checks all queues although a due job of one queue cannot be read', async () => {
  const [bad] = await make(1, { queue: 'za', class: 'quick', wait: 1_000 })
  const [due] = await make(1, { queue: 'zb', class: 'other', wait: 1_000 })
  await redis((redis) => redis.set(key(`job:${bad}`), '{broken'))
  await doors.advance(30_000)
  await doors.engine.tick()
  await serve('zb')
  expect(await doors.statusOf(due!)).toBe('completed')
  await doors.engine.jobs.remove(String(bad), { force: true })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('the tick names a job with a damaged field, and starts the next job', async () => {
  const [bad, good] = await make(2, { queue: 'za', class: 'quick', wait: 1_000 })
  await redis(async (redis) => {
    const doc = JSON.parse((await redis.get<string>(key(`job:${bad}`)))!)
    return redis.set(key(`job:${bad}`), JSON.stringify({ ...doc, ns: 'soon' }))
  })
  await doors.advance(30_000)
  expect(await doors.engine.tick()).toMatchObject({ faults: [String(bad)] })
  await serve('za')
  expect(await doors.statusOf(good!)).toBe('completed')
  await repair()
  await serve('za')
  await doors.engine.jobs.remove(String(bad), { force: true })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('the tick names a queue with a damaged index, and serves the next queue', async () => {
  const [bad] = await make(1, { queue: 'za', class: 'quick', wait: 1_000 })
  const [due] = await make(1, { queue: 'zb', class: 'other', wait: 1_000 })
  await redis((redis) => redis.set(key('queue:za:ready'), 'text'))
  await doors.advance(30_000)
  await redis((redis) => redis.zadd(key('wake'), { score: 1, member: 'q:za' }, { score: 2, member: 'q:zb' }))
  expect(await doors.engine.tick()).toMatchObject({ faults: ['q:za'] })
  await serve('zb')
  expect(await doors.statusOf(due!)).toBe('completed')
  await repair()
  await repair()
  await doors.engine.jobs.remove(String(bad), { force: true })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('a claim skips a job with invalid fields', async () => {
  const [bad] = await make(1, { queue: 'za', class: 'quick', priority: -1 })
  const good = await make(9, { queue: 'za', class: 'quick' })
  await redis(async (redis) => {
    const doc = JSON.parse((await redis.get<string>(key(`job:${bad}`)))!)
    return redis.set(key(`job:${bad}`), JSON.stringify({ ...doc, w: 'soon' }))
  })
  await serve('za')
  expect(await statuses(good)).toEqual(nine)
  await repair()
  await doors.engine.jobs.remove(String(bad), { force: true })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test.each([
  ['queue:za', ' {broken'],
  ['hints', 'nonsense'],
  ['constraints', '{broken'],
  ['deployed', ''],
])('jobs are created, claimed and listed although %s cannot be read', async (name, text) => {
  await redis(async (redis) => {
    if (name === 'deployed') await redis.hset(key(name), { broken: '{broken' })
    else await redis.set(key(name), text)
  })
  const good = await make(9, { queue: 'za', class: 'quick' })
  await serve('za')
  expect(await statuses(good)).toEqual(nine)
  expect((await doors.ask('GET', '/v1/queues')).status).toBe(200)
  expect((await doors.ask('GET', '/v1/workers')).status).toBe(200)
  await repair()
  await repair()
  expect(await doors.engine.doctor.verify()).toEqual([])
  await redis((redis) => redis.hdel(key('deployed'), 'broken'))
})

test.each([
  ['is set back', async (redis: Redis) => void (await redis.set(key('jobs:last_id'), '0'))],
  ['is lost', async (redis: Redis) => void (await redis.del(key('jobs:last_id')))],
  ['and its copy are lost', async (redis: Redis) => void (await redis.del(key('jobs:last_id'), key('jobs:highest')))],
])('a new isolate overwrites no job although the counter of ids %s', async (_, strike) => {
  const waiting = await make(8, { queue: 'za', class: 'quick', wait: 600_000 })
  const packed = await make(30, { queue: 'zb', class: 'other', args: encodeValue('kept') })
  await redis(strike)
  const fresh = createEngine(doors.engineOptions)
  const { jobs: made } = await fresh.jobs.enqueue(
    Array.from({ length: 2 }, () => ({ queue: 'za', class: 'quick', wait: 600_000 })),
  )
  const { jobs: more } = await fresh.jobs.enqueue(
    Array.from({ length: 30 }, () => ({ queue: 'zb', class: 'other', args: encodeValue('new') })),
  )
  const all = [...waiting, ...packed, ...made.map(({ id }) => id), ...more.map(({ id }) => id)]
  expect(new Set(all).size).toBe(all.length)
  for (const id of packed) expect((await doors.engine.jobs.get(String(id))).args).toBe('"kept"')
  for (const id of all) await doors.engine.jobs.remove(String(id), { force: true })
  expect(await doors.engine.doctor.verify()).toEqual([])
})

test('why reports that a job is overdue while its queue is not checked', async () => {
  const [id] = await make(1, { queue: 'za', class: 'quick', wait: 1_000 })
  await doors.advance(30_000)
  expect((await json('GET', `/v1/jobs/${id}/why`)).reasons).toMatchObject([
    { code: 'OVERDUE', message: expect.stringMatching(/queue za has not been checked since/) },
  ])
  await redis((redis) => redis.zrem(key('queue:za:timers'), String(id)))
  await doors.engine.jobs.remove(String(id), { force: true })
})

test('why reports that a ready job is in no index', async () => {
  const [id] = await make(1, { queue: 'za', class: 'quick' })
  await redis((redis) => redis.del(key('queue:za:ready')))
  expect((await json('GET', `/v1/jobs/${id}/why`)).reasons).toMatchObject([{ code: 'MISPLACED' }])
  await repair()
  await doors.engine.jobs.remove(String(id), { force: true })
})
