// Damage done by hand, of every kind that the doctor knows: found, named with its remedy, and mended, while all else goes on.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { JobRecord } from '../../src/redis/record.ts'
import { startState } from '../kit/index.ts'
import { createWorld, type World } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

type Redis = Parameters<Parameters<World['client']['ask']>[0]>[0]
/** Makes what is to be damaged, and answers how: with what redis-cli would do. */
type Damage = (world: World) => Promise<(redis: Redis, key: (name: string) => string) => Promise<unknown>>

const big = JSON.stringify('x'.repeat(1_000))
const family = async (world: World) => {
  const parent = await world.make()
  const child = await world.make({ parent: String(parent), name: 'child' })
  return { parent, child }
}
/** A parent that waits for one child, which is ready. */
const waiting = async (world: World) => {
  const parent = await world.make()
  const run = await world.claimOne()
  await run.commit({
    end: 'suspended',
    waitFor: 'children',
    ops: [{ op: 'spawn', name: 'child', queue: 'q', class: 'child' }],
  })
  return parent
}
const limited = { limits: [{ key: 'slots', how: 'set' as const, concurrency: 1 }] }
const changed = (world: World, id: number, fields: Partial<JobRecord>) =>
  world.document(id).then((doc) => async () => world.restore(id, { ...doc, ...fields } as never))

/** The leases that stand in the queue's document. */
const leasedAs = (world: World, ls: Record<string, number> | undefined) => async () => {
  const text = ` ${JSON.stringify({ ...(await world.queueDocument()), ls })}`
  await world.client.ask((redis) => redis.set(world.store.keys.queue('q'), text))
}

const damages: Record<string, [Damage, RegExp]> = {
  'a circle of parents': [
    async (world) => {
      const { parent, child } = await family(world)
      const doc = await world.document(parent)
      return (redis, key) =>
        world
          .restore(parent, { ...doc, pa: String(child), pn: 'up' } as never)
          .then(() => redis.hset(key(`job:${child}:children`), { up: `${parent},queued,plain` }))
    },
    /is above itself/,
  ],
  'a ready job that is in no index': [
    async (world) => {
      await world.make()
      return (redis, key) => redis.del(key('queue:q:ready'))
    },
    /is in 0 places \(queued\)/,
  ],
  'a job that is in two places': [
    async (world) => {
      const id = await world.make()
      return (redis, key) => redis.zadd(key('queue:q:failed'), { score: 1, member: String(id) })
    },
    /is in failed, its document says ready/,
  ],
  'a place in the queue that is not the one of its priority': [
    async (world) => {
      const id = await world.make({ priority: 5 })
      const { sequence } = await world.document(id)
      return (redis, key) => redis.zadd(key('queue:q:ready'), { score: 9, member: `${sequence}:${id}` })
    },
    /has score 9 in ready/,
  ],
  'an index that names a job that is gone': [
    async () => (redis, key) =>
      redis.zadd(key('queue:q:completed'), { score: 1, member: '99999' }).then(() => redis.sadd(key('queues'), 'q')),
    /completed names job 99999, which does not exist/,
  ],
  'a document that is gone, with its entries left': [
    async (world) => {
      const id = await world.make()
      return (redis, key) => redis.del(key(`job:${id}`))
    },
    /ready names job \d+, which does not exist/,
  ],
  'a run without a token': [
    async (world) => {
      const id = await world.make()
      await world.claimOne()
      return changed(world, id, { token: undefined })
    },
    /token and place disagree/,
  ],
  'a lease that its queue looks at another time': [
    async (world) => {
      const id = await world.make()
      await world.claimOne()
      return leasedAs(world, { [id]: 1 })
    },
    /its lease ends at \d+, its queue looks at 1/,
  ],
  'a lease that stands in two places': [
    async (world) => {
      const id = await world.make()
      await world.claimOne()
      return (redis, key) => redis.zadd(key('queue:q:leases'), { score: 1, member: String(id) })
    },
    /is in 2 places \(running\)/,
  ],
  'a lease of a job that is not lent': [
    async (world) => {
      const id = await world.make()
      return leasedAs(world, { [id]: 1 })
    },
    /is in leases, its document says ready/,
  ],
  'a lease of a job that is gone': [
    async (world) => {
      await world.make()
      return leasedAs(world, { 77: 1 })
    },
    /leases names job 77, which does not exist/,
  ],
  'a lease that no queue knows': [
    async (world) => {
      await world.make()
      await world.claimOne()
      return leasedAs(world, undefined)
    },
    /is in 0 places \(running\)/,
  ],
  'a count of a port that is too high': [
    async (world) => {
      const id = await world.make({ in: { in: {} } })
      await world.push(id, 'in', '1')
      return changed(world, id, { 'i:in': '5,0' })
    },
    /in port in holds 1, counted 5/,
  ],
  'a list of values that is gone': [
    async (world) => {
      const id = await world.make({ in: { in: {} } })
      await world.push(id, 'in', big)
      return (redis, key) => redis.del(key(`job:${id}:in:in`))
    },
    /in port in holds 0, counted 1/,
  ],
  'a value beside the document that is gone': [
    async (world) => {
      const id = await world.make({ args: encodeValue(JSON.parse(big)) })
      return (redis, key) => redis.del(key(`job:${id}:f:a`))
    },
    /value a is missing/,
  ],
  'a child that its parent does not know': [
    async (world) => {
      const { parent } = await family(world)
      return (redis, key) => redis.del(key(`job:${parent}:children`))
    },
    /its parent knows it as , it is queued/,
  ],
  'a child that is known twice': [
    async (world) => {
      const { parent, child } = await family(world)
      return (redis, key) => redis.hset(key(`job:${parent}:children`), { again: `${child},queued,plain` })
    },
    /knows job \d+ as its child again, which it is not/,
  ],
  'a child whose status is old news': [
    async (world) => {
      const { parent, child } = await family(world)
      return (redis, key) => redis.hset(key(`job:${parent}:children`), { child: `${child},failed,plain` })
    },
    /its parent knows it as \d+,failed,plain, it is queued/,
  ],
  'a parent that is gone': [
    async (world) => {
      const { parent } = await family(world)
      return (redis, key) =>
        redis.del(key(`job:${parent}`), key(`job:${parent}:children`)).then(() => redis.del(key('queue:q:ready')))
    },
    /its parent \d+ does not exist/,
  ],
  'a parent that waits for nobody': [
    async (world) => {
      const parent = await waiting(world)
      return (redis, key) => redis.del(key(`job:${parent}:waiting`))
    },
    /waits for 1 children, the set holds 0/,
  ],
  'an alias that names no job': [
    async (world) => {
      await world.make()
      return (redis, key) => redis.hset(key('jobs:aliases'), { lost: '88888' })
    },
    /names job 88888, which does not exist/,
  ],
  'an alias that its job has and nobody else knows': [
    async (world) => {
      await world.make({ aliases: ['desk'] })
      return (redis, key) => redis.hdel(key('jobs:aliases'), 'desk')
    },
    /has alias desk, which names no job/,
  ],
  'a slot of a limit that no run holds': [
    async (world) => {
      await world.make(limited)
      return (redis, key) => redis.zadd(key('limit-held:slots'), { score: world.now() + 3_600_000, member: '77777' })
    },
    /a slot is held by job 77777, which has no run that holds it/,
  ],
  'a run that holds no slot of its limit': [
    async (world) => {
      await world.make(limited)
      await world.claimOne()
      return (redis, key) => redis.del(key('limit-held:slots'))
    },
    /its run holds no slot of limit slots/,
  ],
  'a limit that counts others than those who wait': [
    async (world) => {
      for (let i = 0; i < 3; i++) await world.make(limited)
      await world.claim()
      return async (redis, key) => {
        const record = JSON.parse((await redis.get<string>(key('limit:slots')))!)
        return redis.set(key('limit:slots'), JSON.stringify({ ...record, w: 7 }))
      }
    },
    /2 jobs wait at it, counted 7/,
  ],
  'those who wait at a limit, and nobody looks': [
    async (world) => {
      await world.make(limited)
      await world.make(limited)
      await world.claim()
      return (redis, key) => redis.zrem(key('wake'), 'k:slots')
    },
    /1 jobs wait at a limit, and no moment is set/,
  ],
  'a queue without settings': [
    async (world) => {
      await world.make({ wait: 600_000 })
      return (redis, key) => redis.del(key('queue:q'))
    },
    /its queue q has no settings/,
  ],
  'a queue that nobody looks at': [
    async (world) => {
      await world.make({ wait: 600_000 })
      return (redis, key) => redis.del(key('wake'))
    },
    /has a moment to look at it, and is not in the index/,
  ],
  'a schedule that is not listed': [
    async (world) => {
      await world.make({ repeat: encodeValue('DAILY'), slot: world.now() + 600_000 })
      return (redis, key) => redis.del(key('repeats'))
    },
    /repeats, and is not among the schedules/,
  ],
  'a schedule of a job that is gone': [
    async () => (redis, key) => redis.zadd(key('repeats'), { score: 1, member: '66666' }),
    /is among the schedules, and does not exist/,
  ],
  'a channel that counts too many listeners': [
    async (world) => {
      await world.make({ in: { in: { channels: ['news'] } } })
      return (redis, key) => redis.set(key('audience:news'), '4').then(() => redis.hset(key('channels'), { news: '4' }))
    },
    /has 1 listeners, counted 4/,
  ],
  'a listener that its channel does not know': [
    async (world) => {
      await world.make({ in: { in: { channels: ['news'] } } })
      return (redis, key) => redis.del(key('channel:news'))
    },
    /in port in listens to news, which does not know it/,
  ],
  'a result that would never go': [
    async (world) => {
      const id = await answered(world)
      return (redis, key) => redis.persist(key(`result:${id}`))
    },
    /its result is kept for ever/,
  ],
  'a result that is kept for ever, and whose time is over': [
    async (world) => {
      const id = await answered(world)
      return (redis, key) => redis.set(key(`result:${id}`), 'success\n1000 2000\n42')
    },
    /its result is kept for ever/,
  ],
  'more runs kept than counted': [
    async (world) => {
      const id = await world.make({ history: 3 })
      await (await world.claimOne()).commit({ end: 'suspended' })
      return changed(world, id, { historyKept: 9 })
    },
    /keeps 1 runs, counted 9/,
  ],
}

/** Makes a job that answers, and is kept longer than its answer is. */
async function answered(world: World): Promise<number> {
  const id = await world.make({ keepResult: 60_000, retain: 600_000 } as never)
  await (await world.claimOne()).commit({ result: encodeValue(42) })
  return id
}

/** All slices of a repair; what could not be mended. */
async function repairAll(world: World): Promise<{ repaired: string[]; left: string[] }> {
  const engine = world.engine()
  const [repaired, left]: [string[], string[]] = [[], []]
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const slice: Awaited<ReturnType<typeof engine.repair>> = await engine.repair(cursor)
    repaired.push(...slice.repaired.map(({ who, what }) => `${who} ${what}`))
    left.push(...slice.left.map(({ who, what }) => `${who} ${what}`))
    cursor = slice.cursor
  }
  return { repaired, left }
}

test.each(Object.entries(damages))('%s is found, named with its remedy, and mended', async (_, [damage, named]) => {
  const world = await createWorld(state.options)
  const neighbour = await world.make({ queue: 'neighbours' })
  const strike = await damage(world)
  await world.client.ask((redis) => strike(redis, (name) => `${world.namespace}${name}`))

  const { faults } = await world.store.verify()
  expect(faults.map(({ what }) => what)).toContainEqual(expect.stringMatching(named))
  expect(faults.every(({ remedy }) => remedy.length > 10)).toBe(true)

  const { repaired, left } = await repairAll(world)
  expect(repaired.join('\n')).toMatch(named)
  expect(left).toEqual([])
  await repairAll(world)
  expect(await world.faults()).toEqual([])

  // All else goes on as if nothing had been.
  const [run] = await world.claim({ queue: 'neighbours' })
  expect(run!.id).toBe(neighbour)
  expect(await run!.commit()).toBe('completed')
})

test('a result goes when it said, after a repair, and until then can be had', async () => {
  const world = await createWorld(state.options)
  const id = await answered(world)
  const key = `${world.namespace}result:${id}`
  const result = async () => (await world.store.change('', [['result', String(id), '1', '0']])).answer
  const [before] = await result()
  await world.client.ask((redis) => redis.persist(key))
  expect(await repairAll(world)).toEqual({ repaired: [`${id} its result is kept for ever`], left: [] })
  const left = await world.client.ask((redis) => redis.pttl(key))
  expect(left).toBeGreaterThan(30_000)
  expect(left).toBeLessThanOrEqual(60_000)
  expect(await result()).toEqual([before, '', String(id)])
})

test('a result that is gone is found, and who asks is told at once that there is none', async () => {
  const world = await createWorld(state.options)
  const id = await answered(world)
  await world.client.ask((redis) => redis.del(`${world.namespace}result:${id}`))
  expect(await world.engine().result(String(id), { wait: 20_000 })).toEqual({ ended: true, result: null })
  const found = `${id} its result is gone before its time`
  expect(await repairAll(world)).toEqual({ repaired: [found], left: [] })
  expect(await world.faults()).toEqual([])
})

test('a result that was taken, or whose time is over, is not missed', async () => {
  const world = await createWorld(state.options)
  const [taken, ended] = [await answered(world), await answered(world)]
  expect(await world.engine().result(String(taken), { take: true })).toMatchObject({
    ended: true,
    result: { type: 'success' },
  })
  await world.advance(120_000)
  expect(await world.client.ask((redis) => redis.del(`${world.namespace}result:${ended}`))).toBe(1)
  expect(await world.faults()).toEqual([])
})

test('a repair of what is sound changes nothing', async () => {
  const world = await createWorld(state.options)
  await waiting(world)
  await world.make({
    ...limited,
    aliases: ['a'],
    in: { in: { channels: ['c'] } },
    repeat: encodeValue('DAILY'),
    slot: world.now() + 9_000,
  })
  const contents = async () => {
    const keys = await world.client.ask((redis) => redis.keys(`${world.namespace}*`))
    return keys.sort()
  }
  const before = await contents()
  for (const id of [1, 2, 3]) await world.store.repair([{ kind: 'job', who: String(id) }])
  await world.store.repair([
    { kind: 'queue', who: 'q' },
    { kind: 'channel', who: 'c' },
  ])
  expect(await contents()).toEqual(before)
  expect(await world.faults()).toEqual([])
})
