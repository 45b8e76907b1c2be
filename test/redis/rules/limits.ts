// Rules 26–28: slots, reservations, constraints; 127: counts of jobs that wait for a limit.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import { type Constraint, limitKeyOf } from '../../../src/core/constraint.ts'
import { decodeLimit, type LimitRecord } from '../../../src/redis/record.ts'
import { type Facts, type Making, queuesOf, type Run, type World } from '../direct.ts'
import { warmed } from './warm.ts'

const KEY = 'k'
const retry = { max: 3, backoff: { base: 1_000, jitter: 0 } }
const limits = (concurrency: number, key = KEY): Making => ({ limits: [{ key, how: 'set', concurrency }] })
const paced = (limit: number, period: number): Making => ({
  limits: [{ key: KEY, how: 'set', rate: { limit, period } }],
})
const of = async (world: World, key = KEY) => (await world.store.limits(key))[0]!
const held = async (world: World, key = KEY) => (await of(world, key)).running

async function makeAll(world: World, n: number, making: Making): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < n; i++) ids.push(await world.make(making))
  return ids
}

const tag = (world: World, id: number, ...keys: string[]) =>
  world.change(id, 'tag', '', '', keys.length, ...keys.flatMap((key) => [key, 'set', '1', '', '']), '', '0', '')

const bound = (world: World, concurrency?: number, name = 'plain') =>
  world.store.register('q', [{ name, definition: JSON.stringify({ concurrency }), serves: 'push', concurrency }])
const WORKER = 'worker:q/plain'

const ends: Record<string, (world: World, run: Run) => Promise<unknown>> = {
  completing: (_, run) => run.commit(),
  suspending: (_, run) => run.suspend(),
  failing: (_, run) => run.fail(retry),
  releasing: (_, run) => run.release('wait', '1000'),
  conflict: (_, run) => run.commit({ reads: { in: { cursor: 5, count: 1 } } }),
  'taking it away': (world, run) => world.change(run.id, 'requeue', '', ''),
  'losing it': async (world) => {
    world.advance(46_000)
    await world.tick()
  },
  deleting: async (world, run) => {
    await world.change(run.id, 'delete', '', '1')
    await run.commit()
  },
}

const rule26: Facts = {
  async 'leases never exceed the slots, in one claim or in several'(world) {
    await makeAll(world, 5, limits(2))
    expect(await world.claim({ max: 1 })).toHaveLength(1)
    expect(await world.claim()).toHaveLength(1)
    expect(await world.claim()).toEqual([])
    expect(await of(world)).toMatchObject({ running: 2, waiting: 3 })
  },
  async 'a job takes a slot of each of its limits'(world) {
    await world.make({ limits: [...limits(1).limits!, ...limits(5, 'wide').limits!] })
    await world.claimOne()
    expect([await held(world), await held(world, 'wide')]).toEqual([1, 1])
    await world.make(limits(1))
    await world.make(limits(5, 'wide'))
    expect(await world.claim()).toHaveLength(1)
  },
  async 'every end of a run gives its slot back'(world) {
    for (const end of Object.values(ends)) {
      const id = await world.make({ ...limits(1), in: { in: {} } })
      await end(world, await world.claimOne())
      expect(await held(world)).toBe(0)
      if (await world.status(id).catch(() => undefined)) await world.change(id, 'delete', '', '1')
    }
  },
  async 'an expired lease holds no slot, even before it is taken back'(world) {
    await world.make(limits(1))
    await world.claimOne({ lease: 10_000 })
    await world.make({ ...limits(1), queue: 'other' })
    expect(await world.claim({ queue: 'other' })).toEqual([])
    world.advance(10_001)
    expect(await world.claim({ queue: 'other' })).toHaveLength(1)
  },
  async 'a continuing run keeps its slot'(world) {
    const lasting: ((run: Run) => Promise<unknown>)[] = [
      (run) => run.extend(),
      (run) => run.commit({ end: 'checkpoint' }),
      (run) => world.change(run.id, 'deadline', run.token, world.now() + 45_000),
    ]
    for (const goOn of lasting) {
      const id = await world.make(limits(1))
      const run = await world.claimOne({ lease: 10_000 })
      await goOn(run)
      world.advance(10_001)
      expect(await held(world)).toBe(1)
      await world.change(id, 'delete', '', '1')
      await run.commit({ n: 1 })
    }
  },
  async 'a run gives back its own slots, even if the limits of its job have changed'(world) {
    const id = await world.make(limits(1))
    const run = await world.claimOne()
    await tag(world, id, 'another')
    expect([await held(world), await held(world, 'another')]).toEqual([1, 0])
    await run.commit()
    expect(await held(world)).toBe(0)
  },
  async 'a job that has left a limit gives no slot back to the limit'(world) {
    const id = await world.make(limits(1))
    await (await world.claimOne()).commit({ end: 'again' })
    await tag(world, id)
    const [holder] = await makeAll(world, 2, { ...limits(1), priority: -1 })
    const run = (await world.claim()).find((one) => one.id === id)!
    expect(await of(world)).toMatchObject({ running: 1, waiting: 1 })
    await run.commit()
    expect(await of(world)).toMatchObject({ running: 1, waiting: 1 })
    expect((await world.document(holder!)).place).toBe('l')
  },
  async 'a running job with changed limits counts against them from its next run'(world) {
    const id = await world.make(limits(1))
    const run = await world.claimOne()
    await tag(world, id, 'another')
    await run.commit({ end: 'again' })
    await world.claimOne()
    expect([await held(world), await held(world, 'another')]).toEqual([0, 1])
  },
  async 'a ready job put under a full limit waits, and a job that leaves the limit is ready'(world) {
    await world.make(limits(1))
    await world.claimOne()
    const id = await world.make()
    await tag(world, id, KEY)
    expect(await of(world)).toMatchObject({ running: 1, waiting: 1 })
    expect(await world.claim()).toEqual([])
    await tag(world, id)
    expect((await of(world)).waiting).toBe(0)
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'a new priority counts for waiting jobs, too'(world) {
    await world.make(limits(1))
    const run = await world.claimOne()
    const [, last] = await makeAll(world, 2, limits(1))
    await world.claim()
    await world.change(last!, 'patch', 1, 'p', '-5')
    await run.commit()
    expect((await world.claimOne()).id).toBe(last)
  },
  async 'a worker never exceeds its concurrency, also with earlier jobs, and delays no other worker'(world) {
    const early = await makeAll(world, 3, {})
    await bound(world, 2)
    const late = await makeAll(world, 2, {})
    await makeAll(world, 2, { class: 'child' })
    const runs = await world.claim()
    expect(runs.map(({ document }) => document.class)).toEqual(['plain', 'plain', 'child', 'child'])
    expect(await of(world, WORKER)).toMatchObject({ concurrency: 2, running: 2, waiting: 3 })
    expect((await world.document(late[1]!)).runNumber ?? '1').toBe('1')
    await runs[0]!.commit()
    expect((await world.claimOne()).id).toBe(early[2])
  },
  async 'a worker’s other limits count in addition to its own'(world) {
    await bound(world, 2)
    await makeAll(world, 2, limits(1))
    expect(await world.claim()).toHaveLength(1)
    expect([await held(world), await held(world, WORKER)]).toEqual([1, 1])
  },
  async 'a lost run of a bounded worker holds no slot'(world) {
    await bound(world, 1)
    const [, second] = await makeAll(world, 2, {})
    await world.claimOne({ lease: 10_000 })
    world.advance(10_001)
    expect((await world.claimOne()).id).toBe(second)
  },
  async 'a worker registered with another concurrency has it at once, and without concurrency has no limit'(world) {
    await bound(world, 1)
    await makeAll(world, 6, {})
    expect(await world.claim()).toHaveLength(1)
    world.advance(21_000)
    expect(queuesOf((await bound(world, 3)).rings)).toEqual(['q'])
    const [first] = await world.claim()
    await bound(world, 2)
    await first!.commit()
    expect(await world.claim()).toEqual([])
    await bound(world)
    expect(await world.claim()).toHaveLength(3)
    expect(await world.store.limits()).toEqual([])
  },
  async 'a class that is no longer registered, or registered alone, has no limit'(world) {
    await bound(world, 1)
    await bound(world, 1, 'child')
    await world.store.register('q', [{ name: 'plain', definition: null, serves: 'push' }])
    expect((await world.store.limits()).map(({ key }) => key)).toEqual(['worker:q/child'])
    const local = { name: 'child', definition: '{"local":true}', serves: 'push' as const, concurrency: 1 }
    await world.store.register('q', [local])
    await world.store.register('q', [], { whole: true })
    expect(await world.store.limits()).toEqual([])
  },
  async 'settings of a worker’s limit stay until the worker changes them'(world) {
    await bound(world, 1)
    await world.store.limit(WORKER, 'set', { concurrency: 3 })
    await bound(world, 1)
    expect((await of(world, WORKER)).concurrency).toBe(3)
    await bound(world, 2)
    expect((await of(world, WORKER)).concurrency).toBe(2)
    await world.store.limit(WORKER, 'remove')
    await bound(world, 2)
    expect((await world.store.limits(WORKER)).map((limit) => limit.concurrency)).toEqual([2])
  },
  async 'a worker’s limit that is removed while its jobs wait, and set again, stays'(world) {
    await bound(world, 1)
    await makeAll(world, 3, {})
    const [first] = await world.claim()
    await world.store.limit(WORKER, 'shut', { until: world.now() + 20_000 })
    await bound(world)
    await bound(world, 2)
    await first!.commit()
    world.advance(20_001)
    for (const run of await world.claim()) await run.commit()
    expect((await world.store.limits(WORKER)).map((limit) => limit.concurrency)).toEqual([2])
  },
  async 'a limit that is removed while a run holds its slot, and created again, counts that run'(world) {
    await makeAll(world, 2, limits(2))
    const run = await world.claimOne({ max: 1 })
    await world.store.limit(KEY, 'remove')
    expect(await world.store.limits(KEY)).toEqual([])
    await world.store.limit(KEY, 'set', { concurrency: 1 })
    expect(await held(world)).toBe(1)
    expect(await world.claim()).toEqual([])
    await run.commit()
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a limit that a job creates again at once counts the runs that hold its slots'(world) {
    await world.make(limits(1))
    await world.claimOne()
    await world.store.limit(KEY, 'remove')
    await warmed(world)
    const id = await world.make(limits(1))
    expect((await world.document(id)).place).toBe('w')
  },
  async 'a group removed when its last lease ends, and created again, counts the slots of that run'(world) {
    const id = await world.make(of1('g'))
    const run = await world.claimOne({ lease: 10_000 })
    world.advance(10_001)
    await tag(world, id)
    expect(await world.store.limits('group:g')).toEqual([])
    await world.make({ ...of1('g'), queue: 'other' })
    expect(await world.faults()).toEqual([])
    await run.commit()
    expect(await held(world, 'group:g')).toBe(0)
  },
  async 'a run that began before the limit was created holds no slot of the limit'(world) {
    const later: Making = { limits: [{ key: KEY }] }
    await makeAll(world, 2, later)
    const run = await world.claimOne({ max: 1 })
    await world.store.limit(KEY, 'set', { concurrency: 1 })
    expect(await held(world)).toBe(0)
    expect(await world.faults()).toEqual([])
    await world.claimOne()
    await run.commit()
    expect(await held(world)).toBe(1)
  },
  async 'a slot is counted only until the lease of its run ends'(world) {
    await world.make(limits(2))
    await world.claimOne({ lease: 10_000 })
    await world.make(limits(2))
    world.advance(5_000)
    await world.claimOne({ lease: 60_000 })
    world.advance(6_000)
    expect(await held(world)).toBe(1)
  },
}

async function crowded(world: World, n: number, making: Making = {}) {
  await world.make({ ...limits(1), ...making })
  const run = await world.claimOne()
  const ids = await makeAll(world, n, { ...limits(1), ...making })
  expect(await world.claim()).toEqual([])
  return { run, ids }
}

const of1 = (group: string): Making => ({
  ...(group ? { group } : {}),
  limits: [...(group ? [{ key: `group:${group}`, how: 'first' as const, concurrency: 2 }] : []), ...limits(1).limits!],
})

async function occupied(world: World): Promise<Run> {
  await world.make(limits(1))
  return world.claimOne()
}

const lentTo = new WeakMap<World, Run>()
const running = (world: World): Run => lentTo.get(world)!

async function served(world: World, run: Run, n: number): Promise<string[]> {
  const groups: string[] = []
  for (let i = 0; i < n; i++) {
    await run.commit()
    run = await world.claimOne()
    lentTo.set(world, run)
    groups.push(run.document.group ?? '')
  }
  return groups
}

const departures: Record<string, (world: World, id: number) => Promise<unknown>> = {
  terminating: (world, id) => world.change(id, 'terminate', '', ''),
  deleting: (world, id) => world.change(id, 'delete', '', '1'),
  regrouping: (world, id) => tag(world, id),
  postponing: (world, id) => world.change(id, 'patch', 1, 'w', world.now() + 60_000),
  locking: async (world, id) => {
    await world.change(id, 'lock', 60_000, 'token')
    await world.claim({ max: 1 })
  },
}

const rule27: Facts = {
  async 'a job at a full limit waits, blocks no other job, and uses no attempt'(world) {
    const { ids } = await crowded(world, 1)
    const free = await world.make()
    expect((await world.claimOne()).id).toBe(free)
    const { failures, runNumber = 1, runsThisMinute } = await world.document(ids[0]!)
    expect({ failures, runNumber, runsThisMinute }).toEqual({
      failures: undefined,
      runNumber: 1,
      runsThisMinute: undefined,
    })
  },
  async 'waiting jobs come back by priority, then by age'(world) {
    const { run, ids } = await crowded(world, 2)
    const urgent = await world.make({ ...limits(1), priority: -1 })
    await world.claim()
    await run.commit()
    for (const id of [urgent, ...ids]) {
      const next = await world.claimOne()
      expect(next.id).toBe(id)
      await next.commit()
    }
  },
  async 'a returning job keeps its place in the order'(world) {
    const { run, ids } = await crowded(world, 1)
    const since = (await world.document(ids[0]!)).sequence
    const later = await world.make()
    await run.commit()
    expect((await world.document(ids[0]!)).sequence).toBe(since)
    expect((await world.claim()).map(({ id }) => id)).toEqual([ids[0], later])
  },
  async 'a later job does not take a slot that a waiting job was given'(world) {
    const { run, ids } = await crowded(world, 1)
    await run.commit()
    const pushy = await world.make({ ...limits(1), priority: -9 })
    expect((await world.claimOne()).id).toBe(ids[0])
    expect((await world.document(pushy)).place).toBe('w')
  },
  async 'a leaving job passes its reserved slot on'(world) {
    for (const leave of Object.values(departures)) {
      const { run, ids } = await crowded(world, 2)
      await run.commit()
      await leave(world, ids[0]!)
      const runs = await world.claim()
      expect(runs.map(({ id }) => id)).toContain(ids[1])
      for (const run of runs) await run.commit()
      for (const id of ids) await world.change(id, 'delete', '', '1').catch(() => undefined)
      expect(await of(world)).toMatchObject({ running: 0, waiting: 0, reserved: 0 })
    }
  },
  async 'a paused queue kept the slots of a limit from the other queues'(world) {
    const { run, ids } = await crowded(world, 3)
    const other = await world.make({ ...limits(1), queue: 'other' })
    expect(await world.claim({ queue: 'other' })).toEqual([])
    await world.store.settings('q', { paused: true })
    await run.commit()
    const next = await world.claimOne({ queue: 'other' })
    expect(next.id).toBe(other)
    await world.store.settings('q', { paused: false })
    expect(await world.claim()).toEqual([])
    await next.commit()
    expect((await world.claimOne()).id).toBe(ids[0])
    expect(await of(world)).toMatchObject({ running: 1, reserved: 0 })
  },
  async 'a job behind a thousand jobs of a paused queue gets its slot with a tick'(world) {
    const run = await occupied(world)
    const paused = Array.from({ length: 1_100 }, () => ({ queue: 'q', class: 'plain', known: true, ...limits(1) }))
    await world.store.enqueue(paused)
    const other = await world.make({ ...limits(1), queue: 'other' })
    expect(await world.claim({ queue: 'other' })).toEqual([])
    await world.store.settings('q', { paused: true })
    await run.commit()
    await world.tick()
    expect((await world.claimOne({ queue: 'other' })).id).toBe(other)
  },
  async 'a call passes about 1,000 jobs of a paused queue, whatever the number of limits'(world) {
    await world.make({ limits: [...limits(1).limits!, ...limits(1, 'second').limits!] })
    const run = await world.claimOne()
    for (const key of [KEY, 'second'])
      await world.store.enqueue(
        Array.from({ length: 900 }, () => ({ queue: 'q', class: 'plain', known: true, ...limits(1, key) })),
      )
    for (const key of [KEY, 'second']) await world.make({ ...limits(1, key), queue: 'other' })
    expect(await world.claim({ queue: 'other' })).toEqual([])
    await world.store.settings('q', { paused: true })
    await run.commit()
    const waiting = (await of(world)).waiting + (await of(world, 'second')).waiting
    expect(waiting).toBeGreaterThan(700)
    await world.tick()
    await world.tick()
    expect(await world.claim({ queue: 'other' })).toHaveLength(2)
  },
  async 'groups waiting at a shared limit take turns, and so do jobs without a group'(world) {
    const run = await occupied(world)
    for (const [n, group] of [
      [6, 'a'],
      [2, 'b'],
      [2, ''],
      [1, 'c'],
    ] as const)
      await makeAll(world, n, of1(group))
    const order = await served(world, run, 11)
    expect(order.slice(0, 4).sort()).toEqual(['', 'a', 'b', 'c'])
    expect(order.slice(4, 7).sort()).toEqual(['', 'a', 'b'])
    expect(order.slice(7)).toEqual(['a', 'a', 'a', 'a'])
  },
  async 'a later group has its turns from the present position, and does not catch up'(world) {
    const run = await occupied(world)
    await makeAll(world, 8, of1('a'))
    const before = await served(world, run, 4)
    expect(before).toEqual(['a', 'a', 'a', 'a'])
    await makeAll(world, 3, of1('b'))
    const order = await served(world, running(world), 4)
    expect([order.slice(0, 2).sort(), order.slice(2).sort()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  },
  async 'groups whose jobs come in one call have their turns from the present position too'(world) {
    const run = await occupied(world)
    await makeAll(world, 4, of1('a'))
    await makeAll(world, 2, of1('b'))
    const made = [of1('b'), of1('c')].map((job) => ({ queue: 'q', class: 'plain', known: true, ...job }))
    await world.store.enqueue(made)
    expect((await served(world, run, 3)).toSorted()).toEqual(['a', 'b', 'c'])
  },
  async 'jobs of a group that come one by one get the same turns as jobs of a waiting group'(world) {
    // Give the next jobs ids around 100. Redis sorts jobs with the same turn as text, so job 100 precedes job 97.
    for (const id of await makeAll(world, 95, { queue: 'other' })) await world.change(id, 'delete', '', '1')
    const run = await occupied(world)
    await makeAll(world, 3, of1('a'))
    const order = []
    for (const holder of [() => run, ...Array.from({ length: 5 }, () => () => running(world))]) {
      await world.make(of1('b'))
      order.push(...(await served(world, holder(), 1)))
    }
    expect(order.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
  },
  async 'turns are separate for each priority'(world) {
    const run = await occupied(world)
    await makeAll(world, 4, { ...of1('a'), priority: 5 })
    await makeAll(world, 3, { ...of1('b'), priority: 1 })
    await makeAll(world, 1, { ...of1('a'), priority: 1 })
    await makeAll(world, 2, { ...of1('b'), priority: 5 })
    const order = await served(world, run, 10)
    expect(order.slice(0, 2).sort()).toEqual(['a', 'b'])
    expect(order.slice(4, 6).sort()).toEqual(['a', 'b'])
    expect(order.slice(6, 8).sort()).toEqual(['a', 'b'])
  },
  async 'turns of deleted jobs delay no other job'(world) {
    const run = await occupied(world)
    const gone = await makeAll(world, 6, of1('a'))
    await makeAll(world, 3, of1('b'))
    for (const id of gone) await world.change(id, 'delete', '', '1')
    await makeAll(world, 2, of1('a'))
    expect((await served(world, run, 2)).sort()).toEqual(['a', 'b'])
  },
  async 'a job that changes priority or group while it waits has a turn in the new priority or group'(world) {
    const run = await occupied(world)
    const [, , urgent] = await makeAll(world, 3, of1('a'))
    await makeAll(world, 2, of1('b'))
    const [, moved] = await makeAll(world, 2, { ...of1('a'), priority: 7 })
    await world.change(urgent!, 'patch', 1, 'p', '-1')
    await world.change('', 'tag', moved!, '', 2, 'group:c', 'first', 2, '', '', KEY, 'set', 1, '', '', 'c', '0', '')
    expect(await world.faults()).toEqual([])
    expect(await served(world, run, 1)).toEqual(['a'])
    expect((await served(world, running(world), 6)).slice(0, 4).sort()).toEqual(['a', 'a', 'b', 'b'])
  },
  async 'a job that has run waits for a new turn'(world) {
    const run = await occupied(world)
    const again = await world.make(of1('a'))
    const [, second] = await makeAll(world, 3, of1('b'))
    await served(world, run, 1)
    await running(world).commit({ end: 'again' })
    await world.claimOne()
    const turns = [again, second!].map(async (id) => (await world.document(id)).turns!.slice(0, 13))
    expect(new Set(await Promise.all(turns)).size).toBe(1)
  },
  async 'a job that has had its turn at one limit keeps the turn if another limit is full'(world) {
    const run = await occupied(world)
    const both: Making = { ...of1('a'), limits: [...of1('a').limits!, ...limits(1, 'other').limits!] }
    const held = await world.make({ ...limits(1, 'other'), queue: 'other' })
    const first = await world.make(both)
    await makeAll(world, 3, of1('a'))
    await makeAll(world, 3, of1('b'))
    const holder = await world.claimOne({ queue: 'other' })
    expect(holder.id).toBe(held)
    await run.commit()
    expect(await world.claim()).toEqual([])
    const next = await world.claimOne()
    expect((await world.document(first)).waitingLimit).toBe('other')
    await holder.commit()
    await world.claim()
    expect((await world.document(first)).waitingLimit).toBe(KEY)
    await next.commit()
    expect((await world.claimOne()).id).toBe(first)
  },
  async 'a raised limit admits more jobs, and rings for them'(world) {
    await crowded(world, 3)
    world.advance(21_000)
    expect(queuesOf(await world.store.limit(KEY, 'set', { concurrency: 3 }))).toEqual(['q'])
    expect(await world.claim()).toHaveLength(2)
  },
  async 'a job waiting for a slot checks earlier if the run that holds it ends sooner'(world) {
    await world.make(limits(1))
    const run = await world.claimOne({ lease: 60_000 })
    await world.make({ ...limits(1), queue: 'other' })
    expect(await world.claim({ queue: 'other' })).toEqual([])
    await world.change(run.id, 'deadline', run.token, world.now() + 5_000)
    world.advance(5_001)
    expect(await world.faults()).toEqual([])
    expect(await world.claim({ queue: 'other' })).toHaveLength(1)
  },
  async 'numbers set through the API hold for later jobs, until the limit is removed'(world) {
    await world.make(limits(1))
    await world.store.limit(KEY, 'set', { concurrency: 3 })
    await makeAll(world, 3, limits(1))
    expect((await of(world)).concurrency).toBe(3)
    expect(await world.claim()).toHaveLength(3)
    await world.store.limit(KEY, 'remove')
    await world.make(limits(1))
    expect(await world.store.limits(KEY)).toMatchObject([{ concurrency: 1 }])
  },
  async 'a pause does not fix the numbers of a limit'(world) {
    await world.make(limits(1))
    await world.store.limit(KEY, 'set', { paused: true })
    await world.make(limits(2))
    expect((await of(world)).concurrency).toBe(2)
  },
  async 'a removed limit admits all jobs'(world) {
    await crowded(world, 3)
    await world.store.limit(KEY, 'remove')
    expect(await world.claim()).toHaveLength(3)
  },
  async 'a paused limit admits no job, and continues in place'(world) {
    const { run } = await crowded(world, 1)
    await world.store.limit(KEY, 'set', { paused: true })
    await run.commit()
    expect(await world.claim()).toEqual([])
    await world.store.limit(KEY, 'set', { paused: false })
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a rate reports the times of its starts on request, and the wait start of the first job'(world) {
    const since = world.now()
    await makeAll(world, 5, paced(2, 10_000))
    await world.claim({ max: 5 })
    const [row] = await world.store.limits(KEY, 1, 10)
    expect(row).toMatchObject({ started: 2, waiting: 3 })
    expect(row!.starts.length).toBe(2)
    for (const at of row!.starts) expect(at - since).toBeLessThan(1_000)
    expect(row!.fullSince! - since).toBeLessThan(1_000)
    expect((await world.store.limits(KEY, 1, 1))[0]).toMatchObject({ started: 2, starts: [expect.any(Number)] })
    world.advance(10_500)
    expect((await world.store.limits(KEY, 1, 10))[0]).toMatchObject({ started: 0, starts: [] })
    expect(await of(world)).toMatchObject({ starts: [], fullSince: null })
  },
  async 'the rate is the maximum number of runs that start in a period'(world) {
    await makeAll(world, 5, paced(2, 10_000))
    expect(await world.claim()).toHaveLength(2)
    world.advance(9_000)
    expect(await world.claim()).toEqual([])
    world.advance(1_101)
    expect(await world.claim()).toHaveLength(2)
  },
  async 'an ended run still counts for its period'(world) {
    await makeAll(world, 2, paced(1, 10_000))
    await (await world.claimOne()).commit()
    expect(await world.claim()).toEqual([])
  },
  async 'a run counts for its period from its start, and at most until its end'(world) {
    for (const [late, ended, free] of [
      [5_000, 30_000, 20_000],
      [5_000, 7_000, 7_000],
    ] as const) {
      const key = `late ${ended}`
      await makeAll(world, 2, { limits: [{ key, how: 'set', rate: { limit: 1, period: 100_000 } }] })
      const run = await world.claimOne()
      world.advance(ended)
      await world.store.commit({ queue: '', runs: [{ ...(await run.settled({})), late }] })
      world.advance(free + 100_000 - ended - 500)
      expect(await world.claim()).toEqual([])
      world.advance(1_000)
      await (await world.claimOne()).commit()
    }
  },
  async 'a claim reports the next start allowed by a rate, and starts it then'(world) {
    await makeAll(world, 2, paced(1, 10_000))
    await world.lane().ask({ max: 1 })
    const { nextDue, ids } = await world.lane().ask()
    expect(ids).toEqual([])
    expect(nextDue! - world.now()).toBeGreaterThan(9_000)
    expect(nextDue! - world.now()).toBeLessThanOrEqual(10_100)
    world.advance(10_101)
    expect((await world.lane().ask()).ids).toHaveLength(1)
  },
  async 'a claim reports the first lease that frees its slot'(world) {
    await makeAll(world, 2, limits(1))
    await world.claimOne({ max: 1, lease: 30_000 })
    const { nextDue } = await world.lane().ask()
    expect(nextDue! - world.now()).toBeGreaterThan(25_000)
  },
  async 'the tick rings when a rate admits the next job'(world) {
    await makeAll(world, 2, paced(1, 120_000))
    await (await world.claimOne()).commit()
    await world.claim()
    world.advance(60_000)
    await world.tick()
    world.advance(60_101)
    expect(queuesOf(await world.tick())).toEqual(['q'])
    expect(await world.claim()).toHaveLength(1)
  },
  async 'the tick rings when the lease that held the last slot ends'(world) {
    await world.make({ ...limits(1), queue: 'other' })
    await world.claimOne({ queue: 'other' })
    await world.make(limits(1))
    await world.claim()
    world.advance(46_000)
    expect(queuesOf(await world.tick())).toContain('q')
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a shutdown run needs no slot'(world) {
    const [id] = await makeAll(world, 1, { ...limits(1), class: 'closing' })
    await (await world.claimOne()).commit()
    await crowded(world, 0)
    await world.change(id!, 'terminate', '', '')
    expect((await world.claimOne()).document.terminating).toBe('2')
  },
}

const constraint: Constraint = { match: { class: 'plain' }, concurrency: 1 }
const constrain = (world: World, name = 'c') => world.store.constraint(name, encodeValue(constraint))
const claimWith = async (world: World) => {
  const { claimed, stale, version, word } = await world.lane().ask()
  return { ids: claimed.map(({ id }) => id), stale: stale.map(({ id }) => id), version, word }
}
const retag = (world: World, id: number, version: string, ...seen: string[]) =>
  world.change(
    '',
    'tag',
    id,
    version,
    1,
    limitKeyOf('c', constraint, { queue: 'q', class: 'plain', args: null }),
    'set',
    1,
    '',
    '',
    '',
    String(seen.length),
    seen[0] ?? '',
  )

const grouped = (world: World, name = 'c') =>
  world.store.constraint(name, encodeValue({ match: {}, concurrency: 1, groupBy: 'host' }))
const keyOf = (i: number) => `constraint:c:"${i}"`
const tagged = (version: string, key: string, concurrency: number) => ({
  queue: 'q',
  class: 'plain',
  known: true,
  constraints: version,
  ...limits(concurrency, key),
})
/** A job waits at each of the limits. A change of the constraint opens fewer limits at once. */
const MANY = 600
async function fillLimits(world: World): Promise<void> {
  await grouped(world)
  for (let from = 0; from < MANY; from += 100) {
    const jobs = Array.from({ length: 100 }, (_, i) => tagged('1', keyOf(from + i), 0))
    await world.store.enqueue(jobs, undefined, '1')
  }
}
const waitingAt = async (world: World) =>
  (await world.store.limits()).filter(({ waiting }) => waiting > 0).map(({ key }) => key)
async function tickAll(world: World): Promise<void> {
  for (let rounds = 1; (await world.store.tick()).more; rounds++) expect(rounds).toBeLessThan(20)
}
const rule28: Facts = {
  async 'a call with tags of older constraints has no effect, and returns the current constraints'(world) {
    await constrain(world)
    const { made, stale } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])
    expect(made).toEqual([])
    expect(JSON.parse(stale!)).toMatchObject({ version: '1', list: { c: encodeValue(constraint) } })
    expect(await world.store.lastId()).toBe(0)
  },
  async 'a call with tags of the current constraints is accepted'(world) {
    await constrain(world)
    const { made } = await world.store.enqueue(
      [{ queue: 'q', class: 'plain', known: true, constraints: '1' }],
      undefined,
      '1',
    )
    expect(made).toHaveLength(1)
    expect((await claimWith(world)).ids).toHaveLength(1)
  },
  async 'a deployment with older constraints tags its jobs again on its own'(world) {
    const engine = world.engine({ workers: [] })
    await world.store.settings('q', { mode: 'pull' })
    await engine.jobs.enqueue([{ queue: 'q', class: 'plain' }])
    await constrain(world)
    const { jobs } = await engine.jobs.enqueue([{ queue: 'q', class: 'plain' }])
    expect((await world.document(jobs[0]!.id)).limits).toBe('constraint:c')
  },
  async 'a waiting job is not leased before it is tagged again, and does not block its lane'(world) {
    const id = await world.make()
    await constrain(world)
    expect(await claimWith(world)).toMatchObject({ ids: [], stale: [id], version: '1', word: 'more' })
    await retag(world, id, '1')
    expect(await claimWith(world)).toMatchObject({ ids: [id], stale: [] })
    expect(await held(world, 'constraint:c')).toBe(1)
  },
  async 'each change is a new version'(world) {
    const id = await world.make()
    await constrain(world)
    await retag(world, id, '1')
    await constrain(world, 'd')
    expect(await claimWith(world)).toMatchObject({ ids: [], stale: [id], version: '2' })
  },
  async 'a job that gets another class or other args is tagged again before it runs'(world) {
    const id = await world.make()
    await constrain(world)
    await retag(world, id, '1')
    await world.change(id, 'rename', 'failing')
    expect(await claimWith(world)).toMatchObject({ ids: [], stale: [id] })
    await retag(world, id, '1')
    await world.change(id, 'patch', '1', 'a', '1')
    expect(await claimWith(world)).toMatchObject({ ids: [], stale: [id] })
  },
  async 'a tag that was computed before the job changed has no effect'(world) {
    const id = await world.make()
    await constrain(world)
    await world.change(id, 'rename', 'failing')
    await retag(world, id, '1', '')
    expect(await claimWith(world)).toMatchObject({ ids: [], stale: [id] })
    const { constraintsVersion } = await world.document(id)
    await retag(world, id, '1', constraintsVersion!)
    expect(await claimWith(world)).toMatchObject({ ids: [id], stale: [] })
  },
  async 'jobs waiting at a changed constraint are released, to be tagged again'(world) {
    const ids = await makeAll(world, 2, {})
    await constrain(world)
    for (const id of ids) await retag(world, id, '1')
    await claimWith(world)
    expect((await of(world, 'constraint:c')).waiting).toBe(1)
    await world.store.constraint('c', null)
    expect((await of(world, 'constraint:c')).waiting).toBe(0)
    expect((await claimWith(world)).stale).toEqual([ids[1]])
  },
  async 'a changed constraint releases the jobs at hundreds of limits in slices, by ticks'(world) {
    await fillLimits(world)
    await grouped(world)
    const { length } = await waitingAt(world)
    expect(length).toBeGreaterThan(100)
    expect(length).toBeLessThan(MANY)
    expect(await world.faults()).toEqual([])
    await tickAll(world)
    expect(await waitingAt(world)).toEqual([])
  },
  async 'a limit that a job has set again stays closed, and only jobs of the old constraint leave it'(world) {
    await fillLimits(world)
    await grouped(world)
    const key = (await waitingAt(world))[0]!
    const high = { ...tagged('2', key, 0), priority: 9 }
    await world.store.enqueue([high, high], undefined, '2')
    expect((await of(world, key)).waiting).toBe(3)
    await tickAll(world)
    expect(await waitingAt(world)).toEqual([key])
    expect((await of(world, key)).waiting).toBe(2)
    expect((await claimWith(world)).ids).toEqual([])
  },
  async 'a second change of a constraint releases also the jobs of the first change'(world) {
    await fillLimits(world)
    await grouped(world)
    const key = (await waitingAt(world))[0]!
    await world.store.enqueue([tagged('2', key, 0)], undefined, '2')
    await world.store.constraint('c', null)
    await tickAll(world)
    expect(await waitingAt(world)).toEqual([])
  },
  async 'a change of two constraints releases the jobs of both'(world) {
    await fillLimits(world)
    const jobs = Array.from({ length: 100 }, (_, i) => tagged('2', `constraint:d:${i}`, 0))
    await grouped(world, 'd')
    await world.store.enqueue(jobs, undefined, '2')
    await world.store.constraint('c', null)
    await world.store.constraint('d', null)
    await tickAll(world)
    expect(await waitingAt(world)).toEqual([])
  },
  async 'a limit with more than a thousand waiting jobs releases them also after a job has set it again'(world) {
    await grouped(world)
    for (let n = 0; n < 12; n++) await world.store.enqueue(Array(100).fill(tagged('1', keyOf(1), 0)), undefined, '1')
    await grouped(world)
    expect((await of(world, keyOf(1))).waiting).toBe(200)
    await world.store.enqueue([tagged('2', keyOf(1), 1)], undefined, '2')
    await tickAll(world)
    // The released jobs have reserved slots until they get new limits, so the new job waits.
    expect((await of(world, keyOf(1))).waiting).toBe(1)
  },
  async 'a shutdown run is leased despite the tags of its job'(world) {
    const id = await world.make({ class: 'closing' })
    await (await world.claimOne()).commit()
    await constrain(world)
    await world.change(id, 'terminate', '', '')
    expect((await claimWith(world)).ids).toEqual([id])
  },
  async 'patterns and paths are matched against the unchanged text of the args, with all digits'(world) {
    const args = encodeValue({ host: 'a.com', n: 1 })
    const engine = world.engine({ workers: [] })
    await world.store.settings('q', { mode: 'pull' })
    await world.store.constraint(
      'host',
      encodeValue({ match: { args: { host: { glob: '*.com' } } }, concurrency: 1, groupBy: 'host' }),
    )
    const { jobs } = await engine.jobs.enqueue([
      { queue: 'q', class: 'plain', args },
      { queue: 'q', class: 'plain', args: encodeValue({ host: 'a.org' }) },
    ])
    const tags = await Promise.all(jobs.map(async ({ id }) => (await world.document(id)).limits))
    expect(tags).toEqual(['constraint:host:"a.com"', undefined])
  },
}

const textOf = (world: World) => world.client.ask((redis) => redis.get<string>(world.store.keys.limit(KEY)))
async function said(world: World): Promise<Pick<LimitRecord, 'waiting' | 'running'>> {
  const { waiting, running } = decodeLimit((await textOf(world))!)
  return { waiting, running }
}
/** Older versions stored no counts. */
async function forgetCounts(world: World): Promise<void> {
  const { w: _, u: __, ...record } = JSON.parse((await textOf(world))!)
  await world.client.ask((redis) => redis.set(world.store.keys.limit(KEY), JSON.stringify(record)))
}

const rule127: Facts = {
  async 'a limit reports its waiting and running jobs, through all arrivals and departures'(world) {
    const ids = await makeAll(world, 5, limits(2))
    expect(await said(world)).toEqual({ waiting: 0, running: undefined })
    const runs = await world.claim()
    expect(await said(world)).toEqual({ waiting: 3, running: 2 })
    await runs[0]!.commit()
    expect(await said(world)).toEqual({ waiting: 2, running: 1 })
    await world.claim()
    expect(await said(world)).toEqual({ waiting: 2, running: 2 })
    await world.change(ids[4]!, 'terminate', '', '')
    expect(await said(world)).toEqual({ waiting: 1, running: 2 })
    await world.store.limit(KEY, 'set', { concurrency: 3 })
    expect(await said(world)).toEqual({ waiting: 0, running: undefined })
  },
  async 'a paused limit reports its waiting jobs'(world) {
    await makeAll(world, 3, limits(2))
    const [run] = await world.claim({ max: 1 })
    await world.store.limit(KEY, 'set', { concurrency: 2, paused: true })
    await world.claim()
    expect(await said(world)).toEqual({ waiting: 2, running: 1 })
    await run!.commit()
    expect(await said(world)).toEqual({ waiting: 2, running: 0 })
  },
  async 'a limit reports since when jobs have waited without a break'(world) {
    const since = async () => decodeLimit((await textOf(world))!).waitedSince
    const ids = await makeAll(world, 4, limits(1))
    expect(await since()).toBeUndefined()
    const began = world.now()
    const [run] = await world.claim()
    const first = (await since())!
    expect(first - began).toBeGreaterThanOrEqual(0)
    expect(first - began).toBeLessThan(5_000)
    world.advance(10_000)
    await run!.commit()
    const next = await world.claimOne()
    await world.make(limits(1))
    await world.claim()
    expect(await since()).toBe(first)
    const [row] = (await world.store.glance(undefined, { queues: 10, limits: 10, runs: 10 })).limits
    expect(row).toMatchObject({ key: KEY, fullSince: first })
    await next.commit()
    for (const id of ids.slice(2)) await world.change(id, 'terminate', '', '')
    await (await world.claimOne()).commit()
    expect(await since()).toBeUndefined()
  },
  async 'after a version without counts, the number of waiting jobs is reported once no job waits'(world) {
    await makeAll(world, 3, limits(1))
    await world.claim()
    await forgetCounts(world)
    world.advance(46_000)
    await world.tick()
    while ((await of(world)).waiting > 0) {
      expect((await said(world)).waiting).toBeUndefined()
      await (await world.claimOne()).commit()
    }
    expect(await said(world)).toEqual({ waiting: 0, running: undefined })
  },
}

export const limited: Record<number, Facts> = { 26: rule26, 27: rule27, 28: rule28, 127: rule127 }
