import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { JobRecord } from '../../src/redis/record.ts'
import type { Fault } from '../../src/redis/types.ts'
import { startState } from '../kit/index.ts'
import { createWorld, type World } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())
afterEach(() => state.clear())

type Redis = Parameters<Parameters<World['client']['ask']>[0]>[0]
type Damage = (world: World) => Promise<(redis: Redis, key: (name: string) => string) => Promise<unknown>>

const big = JSON.stringify('x'.repeat(1_000))
const family = async (world: World) => {
  const parent = await world.make()
  const child = await world.make({ parent: String(parent), name: 'child' })
  return { parent, child }
}
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

const leasedAs = (world: World, ls: Record<string, number> | undefined) => async () => {
  const text = JSON.stringify({ ...(await world.queueDocument()), ls })
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
    /is its own ancestor/,
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
    /is in failed, but its record names ready/,
  ],
  'a place in the queue that does not match its priority': [
    async (world) => {
      const id = await world.make({ priority: 5 })
      const { sequence } = await world.document(id)
      return (redis, key) => redis.zadd(key('queue:q:ready'), { score: 9, member: `${sequence}:${id}` })
    },
    /has score 9 in ready/,
  ],
  'an index that names a missing job': [
    async () => (redis, key) =>
      redis.zadd(key('queue:q:completed'), { score: 1, member: '99999' }).then(() => redis.sadd(key('queues'), 'q')),
    /completed names job 99999, which does not exist/,
  ],
  'a missing document with entries that remain': [
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
    /has a token but no lease, or a lease but no token/,
  ],
  'a lease that its queue checks at another time': [
    async (world) => {
      const id = await world.make()
      await world.claimOne()
      return leasedAs(world, { [id]: 1 })
    },
    /its lease ends at \d+, but its queue is checked at 1/,
  ],
  'a lease stored in two places': [
    async (world) => {
      const id = await world.make()
      await world.claimOne()
      return (redis, key) => redis.zadd(key('queue:q:leases'), { score: 1, member: String(id) })
    },
    /is in 2 places \(running\)/,
  ],
  'a lease of an unleased job': [
    async (world) => {
      const id = await world.make()
      return leasedAs(world, { [id]: 1 })
    },
    /is in leases, but its record names ready/,
  ],
  'a lease of a missing job': [
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
    /input port "in" has 1 value, but its count is 5/,
  ],
  'a missing list of values': [
    async (world) => {
      const id = await world.make({ in: { in: {} } })
      await world.push(id, 'in', big)
      return (redis, key) => redis.del(key(`job:${id}:in:in`))
    },
    /input port "in" has 0 values, but its count is 1/,
  ],
  'a missing value next to the document': [
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
    /its parent lists it as , but it is queued/,
  ],
  'a child that is known twice': [
    async (world) => {
      const { parent, child } = await family(world)
      return (redis, key) => redis.hset(key(`job:${parent}:children`), { again: `${child},queued,plain` })
    },
    /lists job \d+ as its child again, which it is not/,
  ],
  'a child with an outdated status': [
    async (world) => {
      const { parent, child } = await family(world)
      return (redis, key) => redis.hset(key(`job:${parent}:children`), { child: `${child},failed,plain` })
    },
    /its parent lists it as \d+,failed,plain, but it is queued/,
  ],
  'a missing parent': [
    async (world) => {
      const { parent } = await family(world)
      return (redis, key) =>
        redis.del(key(`job:${parent}`), key(`job:${parent}:children`)).then(() => redis.del(key('queue:q:ready')))
    },
    /its parent \d+ does not exist/,
  ],
  'a parent that waits for no child': [
    async (world) => {
      const parent = await waiting(world)
      return (redis, key) => redis.del(key(`job:${parent}:waiting`))
    },
    /waits for 1 child, but its set has 0/,
  ],
  'an alias that names no job': [
    async (world) => {
      await world.make()
      return (redis, key) => redis.hset(key('jobs:aliases'), { lost: '88888' })
    },
    /names job 88888, which does not exist/,
  ],
  'an alias that only its job knows': [
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
  'a limit that counts the wrong jobs': [
    async (world) => {
      for (let i = 0; i < 3; i++) await world.make(limited)
      await world.claim()
      return async (redis, key) => {
        const record = JSON.parse((await redis.get<string>(key('limit:slots')))!)
        return redis.set(key('limit:slots'), JSON.stringify({ ...record, w: 7 }))
      }
    },
    /2 jobs wait for it, but its count is 7/,
  ],
  'jobs waiting at a limit that is not checked': [
    async (world) => {
      await world.make(limited)
      await world.make(limited)
      await world.claim()
      return (redis, key) => redis.zrem(key('wake'), 'k:slots')
    },
    /1 job waits for it, but no check is set/,
  ],
  'a queue without settings': [
    async (world) => {
      await world.make({ wait: 600_000 })
      return (redis, key) => redis.del(key('queue:q'))
    },
    /its queue q has no settings/,
  ],
  'a queue that is not checked': [
    async (world) => {
      await world.make({ wait: 600_000 })
      return (redis, key) => redis.zrem(key('wake'), 'q:q')
    },
    /has a time for a check, but is not in the index/,
  ],
  'a schedule that is not listed': [
    async (world) => {
      await world.make({ repeat: encodeValue('DAILY'), slot: world.now() + 600_000 })
      return (redis, key) => redis.del(key('repeats'))
    },
    /repeats, but is not among the schedules/,
  ],
  'a schedule of a missing job': [
    async () => (redis, key) => redis.zadd(key('repeats'), { score: 1, member: '66666' }),
    /is among the schedules, but does not exist/,
  ],
  'a channel that counts too many listeners': [
    async (world) => {
      await world.make({ in: { in: { channels: ['news'] } } })
      return (redis, key) => redis.set(key('audience:news'), '4').then(() => redis.hset(key('channels'), { news: '4' }))
    },
    /has 1 listener, but its count is 4/,
  ],
  'a listener that its channel does not know': [
    async (world) => {
      await world.make({ in: { in: { channels: ['news'] } } })
      return (redis, key) => redis.del(key('channel:news'))
    },
    /input port "in" listens to news, which does not list it/,
  ],
  'a result without an expiry': [
    async (world) => {
      const id = await answered(world)
      return (redis, key) => redis.persist(key(`result:${id}`))
    },
    /its result never expires/,
  ],
  'a result kept forever, and past its expiry': [
    async (world) => {
      const id = await answered(world)
      return (redis, key) => redis.set(key(`result:${id}`), 'success\n1000 2000\n42')
    },
    /its result never expires/,
  ],
  'more runs kept than counted': [
    async (world) => {
      const id = await world.make({ history: 3 })
      await (await world.claimOne()).commit({ end: 'suspended' })
      return changed(world, id, { historyKept: 9 })
    },
    /keeps 1 run, but its count is 9/,
  ],
}

const packed = async (world: World, n = 12): Promise<number[]> => {
  const jobs = Array.from({ length: n }, (_, i) => ({
    queue: 'q',
    class: 'plain',
    known: true,
    args: encodeValue(i),
  }))
  return (await world.store.enqueue(jobs as never)).made.map(({ id }) => id)
}
const PIECE = 'jobs:1'
const lines =
  (change: (lines: string[]) => string[], prepare?: (world: World) => Promise<unknown>): Damage =>
  async (world) => {
    await packed(world)
    await prepare?.(world)
    return async (redis, key) => {
      const text = (await redis.get<string>(key(PIECE)))!
      return redis.set(key(PIECE), change(text.split('\n')).join('\n'))
    }
  }
const claimed = (world: World) => world.lane().ask({ max: 100, wide: 100 })

const text =
  (name: (id: number) => string, value: string, prepare: (world: World) => Promise<number>): Damage =>
  async (world) => {
    const id = await prepare(world)
    return (redis, key) => redis.set(key(name(id)), value)
  }
const document = (id: number) => `job:${id}`
const timer = (world: World) => world.make({ wait: 60_000 })
const leased = async (world: World) => {
  const id = await world.make()
  await world.claimOne()
  return id
}
/** Damages fields of a job. `more` has the short names of fields, as Redis stores them. */
const fields =
  (more: Record<string, unknown>, prepare = (world: World): Promise<number> => world.make()): Damage =>
  async (world) => {
    const id = await prepare(world)
    return async (redis, key) => {
      const doc = JSON.parse((await redis.get<string>(key(document(id))))!)
      return redis.set(key(document(id)), JSON.stringify({ ...doc, ...more }))
    }
  }
const YEARS = 10 * 365 * 86_400_000
const inQueue =
  (change: (record: Record<string, never>, world: World) => object, prepare = timer): Damage =>
  async (world) => {
    await prepare(world)
    return async (redis, key) => {
      const record = { ...(await world.queueDocument()) }
      return redis.set(key('queue:q'), JSON.stringify({ ...record, ...change(record as never, world) }))
    }
  }

/** The job stays unreadable until a forced delete removes it. */
const setAside = 'set aside'

const more: Record<string, [Damage, RegExp, typeof setAside?]> = {
  'a job that waits for a time, whose record is not JSON': [
    text(document, '{broken', timer),
    /its record cannot be read/,
    setAside,
  ],
  'a ready job whose record is not JSON': [
    text(document, '{broken', (world) => world.make()),
    /its record cannot be read/,
    setAside,
  ],
  'a run whose record is not JSON': [text(document, '{broken', leased), /its record cannot be read/, setAside],
  'a record that is cut off': [
    async (world) => {
      const id = await world.make({ args: encodeValue('half') })
      return async (redis, key) => {
        const whole = (await redis.get<string>(key(document(id))))!
        return redis.set(key(document(id)), whole.slice(0, -9))
      }
    },
    /its record cannot be read/,
    setAside,
  ],
  'a record that is a list': [text(document, '[]', (world) => world.make()), /its record cannot be read/, setAside],
  'a record whose fields are not text': [fields({ n: 7, p: 5 }), /its record cannot be read/],
  'a job without a sequence that waits for a pull worker': [
    fields({ n: undefined }, (world) => world.make({ pull: true })),
    /its record cannot be read/,
  ],
  'a job without a queue': [fields({ q: undefined }), /its record cannot be read/],
  'a job without a class': [fields({ c: undefined }), /its record cannot be read/, setAside],
  'a child without a class': [
    fields({ c: undefined }, async (world) => (await family(world)).child),
    /its record cannot be read/,
  ],
  'a field that should be a number': [fields({ w: 'soon' }, timer), /field w is not a number/],
  'a retention that is not a number': [fields({ rd: 'long' }), /field rd is not a number/],
  'a place that does not exist': [fields({ z: 'nowhere' }), /field z is not a place/],
  'a repeat that is not JSON': [
    fields({ rp: '{daily' }, (world) => world.make({ repeat: encodeValue('DAILY'), slot: world.now() + 600_000 })),
    /field rp is not JSON/,
  ],
  'aliases that are not JSON': [
    fields({ al: '[desk' }, (world) => world.make({ aliases: ['desk'] })),
    /field al is not JSON/,
  ],
  'values of a port that are not JSON': [
    fields({ 'vi:in': '[broken' }, async (world) => {
      const id = await world.make({ in: { in: {} } })
      await world.push(id, 'in', '1')
      return id
    }),
    /field vi:in is not JSON/,
  ],
  'a count of a port that is not a number': [
    fields({ 'i:in': 'many' }, (world) => world.make({ in: { in: {} } })),
    /field i:in is not a count/,
  ],
  'channels of a port that are not JSON': [
    fields({ 'ci:in': 'news' }, (world) => world.make({ in: { in: { channels: ['news'] } } })),
    /field ci:in is not JSON/,
  ],
  'a queue whose record is not JSON': [text(() => 'queue:q', ' {broken', timer), /its record cannot be read/],
  'a queue whose record has no lanes': [text(() => 'queue:q', ' {}', timer), /its record cannot be read/],
  'a limit whose record is not JSON': [
    text(
      () => 'limit:slots',
      '{broken',
      async (world) => {
        await world.make(limited)
        return world.make(limited)
      },
    ),
    /its record cannot be read; it limits no job/,
  ],
  'a definition of a class that is not JSON': [
    async (world) => {
      await world.make()
      return (redis, key) => redis.hset(key('workers:q'), { plain: '{broken' })
    },
    /the definition of class plain cannot be read/,
  ],
  'hints that cannot be read': [text(() => 'hints', 'nonsense', timer), /hints cannot be read/],
  'constraints that are not JSON': [text(() => 'constraints', '{broken', timer), /constraints cannot be read/],
  'a list of listeners that cannot be read': [
    text(
      () => 'audience:news',
      'nobody',
      (world) => world.make({ in: { in: { channels: ['news'] } } }),
    ),
    /its list of listeners cannot be read/,
  ],

  'a piece whose common options cannot be read': [
    lines(([mask, first, state, , args]) => [mask!, first!, state!, '"q":', args!]),
    /the record of jobs 100 to 199 cannot be read/,
    setAside,
  ],
  'a piece whose args are not JSON': [
    lines(([mask, first, state, common]) => [mask!, first!, state!, common!, '[broken']),
    /the record of jobs 100 to 199 cannot be read/,
  ],
  'a piece that has more jobs than args': [
    lines(([mask, ...rest]) => [`${mask}11`, ...rest]),
    /the record of jobs 100 to 199 has fewer args than jobs/,
  ],
  'a leased piece whose args are not JSON': [
    lines(([mask, first, state, common]) => [mask!, first!, state!, common!, '[broken'], claimed),
    /the record of jobs 100 to 199 cannot be read/,
  ],
  'a piece that is a single line': [
    lines(([mask]) => [mask!]),
    /the record of jobs 100 to 199 cannot be read/,
    setAside,
  ],
  'a piece that is in no index': [
    async (world) => {
      await packed(world)
      return (redis, key) => redis.del(key('queue:q:ready'))
    },
    /its piece is not in ready/,
  ],
  'a piece that is in a second index': [
    async (world) => {
      await packed(world)
      return (redis, key) => redis.zadd(key('queue:q:completed'), { score: 1, member: 'p1' })
    },
    /jobs in pieces have no separate entry in completed, but its count is 0/,
  ],
  'a missing piece': [
    async (world) => {
      await packed(world)
      return (redis, key) => redis.del(key(PIECE))
    },
    /ready names job p1, which does not exist/,
  ],
  'a piece that has fewer jobs than are counted': [
    lines(([mask, ...rest]) => [`${mask!.slice(0, -2)}00`, ...rest]),
    /9 jobs in pieces have no separate entry in ready, but its count is 11/,
  ],
  'a job of a piece that also has a record': [
    async (world) => {
      const [id] = await packed(world)
      const other = await world.make()
      return async (redis, key) => redis.set(key(document(id!)), (await redis.get<string>(key(document(other))))!)
    },
    /has its own record, but is also in a piece/,
  ],

  'a counter of ids that is behind its copy': [
    text(() => 'jobs:last_id', '0', timer),
    /jobs:last_id is 0, but its copy is \d+/,
  ],
  'a missing counter of ids': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.del(key('jobs:last_id'))
    },
    /jobs:last_id is 0, but its copy is \d+/,
  ],
  'a counter of ids without both copies': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.del(key('jobs:last_id'), key('jobs:highest'))
    },
    /jobs:last_id is 0, and /,
  ],
  'a counter of ids that is not a number': [text(() => 'jobs:last_id', 'seven', timer), /jobs:last_id is not a number/],

  'a queue that is not listed': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.srem(key('queues'), 'q')
    },
    /its queue q is not listed/,
  ],
  'a queue whose timers are checked in ten years': [
    inQueue((_, world) => ({ nt: world.now() + YEARS })),
    /is checked too late for the first job in timers/,
  ],
  'a queue that the tick checks in ten years': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.zadd(key('wake'), { score: world.now() + YEARS, member: 'q:q' })
    },
    /is checked later than it is due/,
  ],
  'a queue whose lanes are open for ten years': [
    inQueue(
      (_, world) => ({
        l: { a: world.now() + YEARS, b: world.now() + YEARS, c: world.now() + YEARS, d: world.now() + YEARS },
      }),
      (world) => world.make(),
    ),
    /lane a is open for more than a day/,
  ],
  'an index of another type': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.set(key('queue:q:ready'), 'text')
    },
    /cannot be checked: .*WRONGTYPE/,
  ],
  'an index that names no job': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.zadd(key('queue:q:timers'), { score: 1, member: 'nonsense' })
    },
    /timers names job nonsense, which does not exist/,
  ],

  'a unique key that names no job': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.set(key('unique:q\nplain\nonce'), '4711')
    },
    /names job 4711, which does not exist/,
  ],
  'a part of a missing job': [
    async (world) => {
      await timer(world)
      return (redis, key) => redis.rpush(key('job:4711:in:in'), '1')
    },
    /belongs to job 4711, which does not exist/,
  ],
  'values of a port that are not a list': [
    async (world) => {
      const id = await world.make({ in: { in: {} } })
      await world.push(id, 'in', big)
      return (redis, key) => redis.set(key(`job:${id}:in:in`), 'text')
    },
    /cannot be checked: .*WRONGTYPE/,
  ],
  'a parent whose children are not a hash': [
    async (world) => {
      const { parent } = await family(world)
      return (redis, key) => redis.set(key(`job:${parent}:children`), 'text')
    },
    /cannot be checked: .*WRONGTYPE/,
  ],
}

async function answered(world: World): Promise<number> {
  const id = await world.make({ keepResult: 60_000, retain: 600_000 } as never)
  await (await world.claimOne()).commit({ result: encodeValue(42) })
  return id
}

async function repairAll(world: World): Promise<{ repaired: string[]; left: string[] }> {
  const engine = world.engine()
  const [repaired, left]: [string[], string[]] = [[], []]
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const slice: Awaited<ReturnType<typeof engine.doctor.repair>> = await engine.doctor.repair(cursor)
    repaired.push(...slice.repaired.map(({ who, what }) => `${who} ${what}`))
    left.push(...slice.left.map(({ who, what }) => `${who} ${what}`))
    cursor = slice.cursor
  }
  return { repaired, left }
}

const verified = async (world: World) => (await world.engine().doctor.verify()) as Fault[]

const all = { ...damages, ...more }

test('the tests cover at least 64 kinds of damage', () => expect(Object.keys(all).length).toBeGreaterThanOrEqual(64))

async function startNeighbours(world: World) {
  const queue = 'other'
  const ended = await world.make({ queue, retain: 1_000 })
  await (await world.claimOne({ queue })).commit()
  const lost = await world.make({ queue })
  await world.claimOne({ queue, lease: 1_000 })
  const timed = await world.make({ queue, wait: 1_000 })
  const ready = await world.make({ queue })
  return async () => {
    world.advance(5_000)
    await world.tick()
    expect(await world.status(lost)).toBe('queued')
    await expect(world.status(ended)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const runs = await world.claim({ queue })
    for (const run of runs) expect(await run.commit()).toBe('completed')
    expect(runs.map(({ id }) => id)).toEqual(expect.arrayContaining([timed, ready]))
  }
}

/** Hashes the contents of all keys. It does not use DUMP, because the embedded Redis does not have this command. */
async function contents(world: World): Promise<string[]> {
  const script = `local reads = {
  string = { 'GET' }, list = { 'LRANGE', 0, -1 }, set = { 'SMEMBERS' }, hash = { 'HGETALL' },
  zset = { 'ZRANGE', 0, -1, 'WITHSCORES' }, stream = { 'XRANGE', '-', '+' },
}
local all = {}
for i, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local read = reads[redis.call('TYPE', key).ok]
  all[i] = key .. ' ' .. redis.sha1hex(cjson.encode(redis.call(read[1], key, unpack(read, 2))))
end
table.sort(all)
return all`
  return world.client.ask((redis) => redis.eval<string[], string[]>(script, [], [`${world.namespace}*`]))
}

test.each(Object.entries(all))('%s is found, named with its remedy, and repaired or set aside', async (_, row) => {
  const [damage, named, outcome] = row as [Damage, RegExp, typeof setAside?]
  const world = await createWorld(state.direct)
  const goOn = await startNeighbours(world)
  const strike = await damage(world)
  await world.client.ask((redis) => strike(redis, (name) => `${world.namespace}${name}`))

  const before = await contents(world)
  const faults = await verified(world)
  expect(faults.map(({ who, what }) => `${who} ${what}`)).toContainEqual(expect.stringMatching(named))
  expect(faults.every(({ remedy }) => remedy.length > 10)).toBe(true)
  expect(await contents(world)).toEqual(before)

  await goOn()

  for (let round = 0; round < 3; round++) await repairAll(world)
  const stays = await verified(world)
  if (outcome) {
    expect(stays.map(({ who, what }) => `${who} ${what}`).join('\n')).toMatch(named)
    for (const { kind, who } of stays) {
      const jobs =
        kind === 'piece' ? Array.from({ length: 12 }, (_, i) => `${who}${String(i).padStart(2, '0')}`) : [who]
      for (const job of jobs)
        await world
          .engine()
          .jobs.remove(job, { force: true })
          .catch(() => undefined)
    }
    await repairAll(world)
  }
  expect(await world.engine().doctor.verify()).toEqual([])
})

test('after a repair, a result can be read until its original expiry', async () => {
  const world = await createWorld(state.direct)
  const id = await answered(world)
  const key = `${world.namespace}result:${id}`
  const result = async () => (await world.store.change('', [['result', String(id), '1', '0']])).answer
  const [before] = await result()
  await world.client.ask((redis) => redis.persist(key))
  expect(await repairAll(world)).toEqual({ repaired: [`${id} its result never expires`], left: [] })
  const left = await world.client.ask((redis) => redis.pttl(key))
  expect(left).toBeGreaterThan(30_000)
  expect(left).toBeLessThanOrEqual(60_000)
  expect(await result()).toEqual([before, '', String(id)])
})

test('a missing result is found, and callers learn at once that it is missing', async () => {
  const world = await createWorld(state.direct)
  const id = await answered(world)
  await world.client.ask((redis) => redis.del(`${world.namespace}result:${id}`))
  expect(await world.engine().jobs.result(String(id), { wait: 20_000 })).toEqual({ ended: true, result: null })
  const found = `${id} its result is missing before its expiry`
  expect(await repairAll(world)).toEqual({ repaired: [found], left: [] })
  expect(await world.faults()).toEqual([])
})

test('a taken or expired result is not reported as missing', async () => {
  const world = await createWorld(state.direct)
  const [taken, ended] = [await answered(world), await answered(world)]
  expect(await world.engine().jobs.result(String(taken), { take: true })).toMatchObject({
    ended: true,
    result: { type: 'success' },
  })
  await world.advance(120_000)
  expect(await world.client.ask((redis) => redis.del(`${world.namespace}result:${ended}`))).toBe(1)
  expect(await world.faults()).toEqual([])
})

test('a repair of healthy data changes nothing', async () => {
  const world = await createWorld(state.direct)
  await waiting(world)
  await world.make({
    ...limited,
    aliases: ['a'],
    in: { in: { channels: ['c'] } },
    repeat: encodeValue('DAILY'),
    slot: world.now() + 9_000,
  })
  const keysOf = async () => (await world.client.ask((redis) => redis.keys(`${world.namespace}*`))).sort()
  const before = await keysOf()
  for (const id of [1, 2, 3]) await world.store.repair([{ kind: 'job', who: String(id) }])
  await world.store.repair([
    { kind: 'queue', who: 'q' },
    { kind: 'channel', who: 'c' },
  ])
  expect(await keysOf()).toEqual(before)
  expect(await world.faults()).toEqual([])
})
