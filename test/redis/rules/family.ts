// Rules 23–25: parents and children, and removal.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import type { Changes, Op, PortOptions } from '../../../src/core/run.ts'
import type { Facts, Making, Run, World } from '../direct.ts'

const DAY = 86_400_000
const spawn = (name: string, more: Partial<Extract<Op, { op: 'spawn' }>> = {}): Op => ({
  op: 'spawn',
  name,
  queue: 'q',
  class: 'child',
  ...more,
})

async function family(world: World, names: string[], changes: Partial<Changes> = {}, making: Making = {}) {
  const id = await world.make({ queue: 'other', ...making })
  const run = await world.claimOne({ queue: 'other' })
  const answer = await run.suspend({ ops: names.map((name) => spawn(name)), ...changes })
  const children = (await world.engine().jobs.get(String(id))).children
  const ids = Object.fromEntries(Object.entries(children).map(([name, child]) => [name, child.id]))
  return { id, run, answer, ids }
}

async function complete(world: World, ...ids: number[]) {
  const runs = await world.claim()
  for (const run of runs) if (ids.includes(run.id)) expect(await run.commit()).toBe('completed')
  return runs.filter(({ id }) => !ids.includes(id))
}
const status = (world: World, id: number) => world.status(id)
const waiting = (world: World, id: number) =>
  world.client.ask((redis) => redis.smembers(`${world.store.keys.job(id)}:waiting`))
const waitFor = 'children' as const
const parentRun = (world: World) => world.claimOne({ queue: 'other' })

const rule23: Facts = {
  async 'a child that joins the run of its parent is held until that run has ended'(world) {
    const parent = await world.make({ queue: 'other' })
    const run = await parentRun(world)
    const child = await world.make({ class: 'child', parent: String(parent), joins: true })
    expect(await status(world, child)).toBe('suspended')
    expect(await world.claim()).toEqual([])
    expect(await run.suspend({ waitFor })).toBe('suspended')
    await complete(world, child)
    expect(await status(world, parent)).toBe('queued')
  },
  async 'a parent that waits for its children runs once, when the last has ended'(world) {
    const { id, answer, ids } = await family(world, ['a', 'b', 'c'], { waitFor })
    expect(answer).toBe('suspended')
    const left = await complete(world, ids.a!, ids.b!)
    expect(await status(world, id)).toBe('suspended')
    await left[0]!.commit()
    expect(await status(world, id)).toBe('queued')
    expect(await waiting(world, id)).toEqual([])
    expect(Object.values((await parentRun(world)).snapshot.children).map((child) => child.status)).toEqual([
      'completed',
      'completed',
      'completed',
    ])
  },
  async 'a final failure, a termination, a deletion and a release from the family count as ends'(world) {
    const { id, ids } = await family(world, ['a', 'b', 'c', 'd'], { waitFor })
    const runs = await world.claim()
    await runs.find((run) => run.id === ids.a)!.fail()
    expect(await waiting(world, id)).toHaveLength(3)
    for (const run of runs.filter((run) => run.id !== ids.a)) await run.release()
    await world.change(ids.b!, 'terminate', '', '')
    expect(await waiting(world, id)).toHaveLength(2)
    await world.change(ids.c!, 'delete', '', '1')
    expect(await waiting(world, id)).toEqual([String(ids.d)])
    await world.change(id, 'disown', 'd')
    expect(await status(world, id)).toBe('queued')
  },
  async 'a failure with a retry does not count as an end'(world) {
    const { id } = await family(world, ['a'], { waitFor })
    await (await world.claimOne()).fail({ max: 3, backoff: { base: 1_000, jitter: 0 } })
    expect(await status(world, id)).toBe('suspended')
    world.advance(1_001)
    await (await world.claimOne()).commit()
    expect(await status(world, id)).toBe('queued')
  },
  async 'a parent that waits for children runs at once if all of them have ended'(world) {
    const { id, ids } = await family(world, ['a'])
    await complete(world, ids.a!)
    expect(await (await parentRun(world)).suspend({ waitFor })).toBe('queued')
    expect(await waiting(world, id)).toEqual([])
  },
  async 'only the named children are waited for'(world) {
    const { id, ids } = await family(world, ['a', 'b'], { waitFor: ['a', 'nobody'] })
    const [left] = await complete(world, ids.a!)
    expect(await status(world, id)).toBe('queued')
    await parentRun(world)
    await left!.commit()
  },
  async 'a parent that waits for all children also waits for later children'(world) {
    const { id, ids } = await family(world, ['a'], { waitFor })
    const late = await world.make({ parent: String(id), name: 'late' })
    await complete(world, ids.a!)
    expect(await waiting(world, id)).toEqual([String(late)])
    world.advance(45_001)
    await world.tick()
    world.advance(2_000)
    await complete(world, late)
    expect(await status(world, id)).toBe('queued')
  },
  async 'a parent that waits for named children does not wait for later children'(world) {
    const { id, ids } = await family(world, ['a'], { waitFor: ['a'] })
    await world.make({ parent: String(id), name: 'late' })
    await complete(world, ids.a!)
    expect(await status(world, id)).toBe('queued')
  },
  async 'a child that ends twice counts once'(world) {
    const { id, ids } = await family(world, ['a', 'b', 'c'], { waitFor })
    const left = await complete(world, ids.a!)
    for (const run of left) await run.release('wait', '600000')
    await world.change(ids.a!, 'run', '', '1', '', '', '')
    await complete(world, ids.a!)
    expect(await status(world, id)).toBe('suspended')
    expect(await waiting(world, id)).toHaveLength(2)
    expect((await world.document(id)).waitsForCount).toBe(2)
  },
  async 'an ended child does not count again when it is deleted'(world) {
    const { id, ids } = await family(world, ['a', 'b'], { waitFor })
    await complete(world, ids.a!)
    await world.change(ids.a!, 'delete', '', '1')
    expect(await status(world, id)).toBe('suspended')
    expect(await waiting(world, id)).toEqual([String(ids.b)])
  },
  async 'a child that ends in the commit in which its parent begins to wait is not missed'(world) {
    for (const order of [0, 1]) {
      const { id, ids } = await family(world, ['a'])
      await world.change(id, 'run', '', '', '', '', '')
      const parent = await parentRun(world)
      const child = (await world.claim()).find((run) => run.id === ids.a)!
      const both = [await parent.settled({ end: 'suspended', waitFor }), await child.settled({})]
      const { answers } = await world.store.commit({ queue: 'q', runs: order ? both.reverse() : both })
      expect([...answers].sort()).toEqual(order ? ['completed', 'queued'] : ['completed', 'suspended'])
      expect(await status(world, id)).toBe('queued')
      await parentRun(world)
    }
  },
  async 'any other wake-up of the parent ends its wait'(world) {
    const { id, ids } = await family(world, ['a'], { waitFor }, { in: { in: {} } })
    await world.push(id, 'in', '1')
    expect(await waiting(world, id)).toEqual([])
    expect(await world.document(id)).not.toHaveProperty('waitsFor')
    const run = await parentRun(world)
    await complete(world, ids.a!)
    expect(await run.suspend()).toBe('queued')
  },
  async 'a termination ends the wait'(world) {
    for (const className of ['plain', 'closing']) {
      const { id } = await family(world, ['a'], { waitFor }, { class: className })
      await world.change(id, 'terminate', '', '')
      expect(await waiting(world, id)).toEqual([])
      expect(await world.document(id)).not.toHaveProperty('waitsFor')
    }
  },
  async 'a deleted parent leaves no data of its wait'(world) {
    const { id } = await family(world, ['a', 'b'], { waitFor })
    await world.change(id, 'delete', '', '1')
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:*`))).toEqual([])
  },
  async 'a repeating child counts with its first finished run'(world) {
    const slot = Math.floor(world.now() / 1000) * 1000
    const id = await world.make({ queue: 'other' })
    const run = await parentRun(world)
    await world.make({ parent: String(id), name: 'a', repeat: encodeValue('SCHEDULED, +1 HOUR'), slot })
    await run.suspend({ waitFor })
    expect(await waiting(world, id)).toHaveLength(1)
    expect(await (await world.claimOne()).commit()).toBe('queued')
    expect(await status(world, id)).toBe('queued')
  },
  async 'a parent also waits for an adopted child'(world) {
    const { id, ids } = await family(world, ['a'], { waitFor })
    const orphan = await world.make()
    await world.change(id, 'adopt', orphan, 'late')
    await complete(world, ids.a!, orphan)
    expect(await status(world, id)).toBe('queued')
  },
}

const quiet = { op: 'write' as const, to: { out: 'out' }, values: [encodeValue(1)] }

const rule24: Facts = {
  async 'a run of a child wakes its parent'(world) {
    const { id } = await family(world, ['a'])
    await (await world.claimOne()).suspend()
    expect(await status(world, id)).toBe('queued')
  },
  async 'a child that ran during the run makes the parent run again'(world) {
    const { id } = await family(world, ['a'])
    await world.change(id, 'run', '', '', '', '', '')
    const run = await parentRun(world)
    await (await world.claimOne()).suspend()
    expect(await run.suspend()).toBe('queued')
    expect(await (await parentRun(world)).suspend()).toBe('suspended')
  },
  async 'input during the run makes the job run again, however the run ends'(world) {
    for (const end of ['completed', 'suspended', 'again'] as const) {
      const id = await world.make({ queue: 'other', in: { in: {} } })
      const run = await parentRun(world)
      await world.push(id, 'in', '1')
      expect(await run.commit({ end })).toBe('queued')
      expect(await (await parentRun(world)).suspend()).toBe('suspended')
    }
  },
  async 'a request to run during the run makes the job run again'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await world.change(id, 'run', '', '', '', '', '')
    expect(await run.commit()).toBe('queued')
  },
  async 'a parent that waits is not woken by runs and outputs of its children'(world) {
    const { id, ids } = await family(world, [], {
      waitFor,
      ops: [spawn('a', { outports: { out: {} } }), spawn('b')],
    })
    const runs = await world.claim()
    const [a, b] = [ids.a, ids.b].map((child) => runs.find((run) => run.id === child)!) as [Run, Run]
    expect(await a.suspend({ ops: [quiet] })).toBe('suspended')
    await world.change(ids.a!, 'write', '', 'o', 'out', '', 1, '=1')
    expect(await b.commit()).toBe('completed')
    expect(await status(world, id)).toBe('suspended')
    expect(await waiting(world, id)).toEqual([String(ids.a)])
  },
  async 'an event of a child during the run does not prevent the wait of its parent'(world) {
    const { id } = await family(world, ['a', 'b'])
    await world.change(id, 'run', '', '', '', '', '')
    const run = await parentRun(world)
    const [a] = await world.claim()
    await a!.suspend()
    expect(await run.suspend({ waitFor })).toBe('suspended')
    expect(await waiting(world, id)).toHaveLength(2)
  },
  async 'input for the parent during its run prevents its wait'(world) {
    const { id } = await family(world, ['a'], {}, { in: { in: {} } })
    await world.change(id, 'run', '', '', '', '', '')
    const run = await parentRun(world)
    await world.push(id, 'in', '1')
    expect(await run.suspend({ waitFor })).toBe('queued')
    expect(await waiting(world, id)).toEqual([])
  },
  async 'input and a requested run wake a waiting parent'(world) {
    const first = await family(world, ['a'], { waitFor }, { in: { in: {} } })
    await world.push(first.id, 'in', '1')
    expect(await status(world, first.id)).toBe('queued')
    await parentRun(world)
    const second = await family(world, ['a'], { waitFor })
    await world.change(second.id, 'run', '', '', '', '', '')
    expect(await status(world, second.id)).toBe('queued')
  },
}

const gone = async (world: World, id: number) =>
  (await world.client.ask((redis) => redis.exists(world.store.keys.job(id)))) === 0
async function sweep(world: World, ms: number) {
  world.advance(ms)
  for (let round = 0; round < 5; round++) if (!(await world.store.tick()).more) break
}

const rule25: Facts = {
  async 'an ended job is removed after one day, and a failed job after thirty'(world) {
    const [a, b] = [await world.make(), await world.make()]
    const [first, second] = await world.claim()
    await first!.commit()
    await second!.fail()
    await sweep(world, DAY - 1_000)
    expect([await gone(world, a), await gone(world, b)]).toEqual([false, false])
    await sweep(world, 2_000)
    expect([await gone(world, a), await gone(world, b)]).toEqual([true, false])
    await sweep(world, 29 * DAY)
    expect(await gone(world, b)).toBe(true)
    expect(await world.queueOf()).toMatchObject({ completed: 0, failed: 0 })
  },
  async 'a family of more than 5,000 is removed branch by branch'(world) {
    const root = await world.make()
    const parts = Array.from({ length: 11 }, (_, part) => Array.from({ length: 500 }, (_, i) => part * 500 + i))
    for (const part of parts) {
      const of = { queue: 'q', class: 'plain', known: true, parent: String(root) }
      const { made } = await world.store.enqueue(part.map((i) => ({ ...of, name: `c${i}` })))
      const ends = made.map(({ id }) => ['terminate', String(id), ''])
      await world.store.change('', ends)
    }
    await world.change(root, 'terminate', '', '')
    await sweep(world, DAY + 1_000)
    for (let n = 0; n < 20; n++) await sweep(world, 11 * 60_000)
    expect(await world.queueOf()).toMatchObject({ terminated: 0 })
  },
  async 'a suspended job stays'(world) {
    const id = await world.make({ retain: 0 })
    await (await world.claimOne()).suspend()
    await sweep(world, 400 * DAY)
    expect(await gone(world, id)).toBe(false)
  },
  async 'a root stays until all its descendants have ended'(world) {
    const { id, ids } = await family(world, ['a'])
    const child = await world.claimOne()
    await child.suspend({ ops: [spawn('deep')] })
    const deep = await world.claimOne()
    await deep.commit()
    await (await parentRun(world)).commit()
    await sweep(world, DAY + 1_000)
    expect(await gone(world, id)).toBe(false)
    await world.change(ids.a!, 'terminate', '', '')
    await (await parentRun(world)).commit()
    await sweep(world, DAY + 1_000)
    expect([await gone(world, id), await gone(world, ids.a!), await gone(world, deep.id)]).toEqual([true, true, true])
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:*`))).toEqual([])
  },
  async 'many jobs are removed in slices, one tick after the other'(world) {
    await world.store.enqueue(Array(450).fill({ queue: 'q', class: 'plain', known: true, retain: 1_000 }))
    const runs = await world.claim({ max: 450 })
    const done = await Promise.all(runs.map((run) => run.settled({})))
    await world.store.commit({ queue: 'q', runs: done })
    world.advance(1_001)
    expect((await world.store.tick()).more).toBe(true)
    expect((await world.queueOf()).completed).toBe(250)
    await sweep(world, 0)
    expect((await world.queueOf()).completed).toBe(0)
  },
  async 'a completed job that input can wake is removed after thirty days, or its retain, and not before its parent'(
    world,
  ) {
    const makes = [{}, { retain: 0 }, { retain: 40 * DAY }]
    const ids: number[] = []
    for (const making of makes) {
      ids.push(await world.make({ in: { in: {} }, ...making }))
      await (await world.claimOne()).commit()
    }
    const left = async () => (await Promise.all(ids.map((id) => gone(world, id)))).map((is) => !is)
    await sweep(world, 29 * DAY)
    expect(await left()).toEqual([true, false, true])
    await sweep(world, 2 * DAY)
    expect(await left()).toEqual([false, false, true])
    await sweep(world, 10 * DAY)
    expect(await left()).toEqual([false, false, false])
    const { ids: below } = await family(world, [], { ops: [spawn('a', { inports: { in: {} } })] })
    world.advance(10)
    await (await world.claimOne()).commit()
    expect(await (await parentRun(world)).suspend()).toBe('suspended')
    await sweep(world, 400 * DAY)
    expect(await gone(world, below.a!)).toBe(false)
  },
  async 'a job with a dynamic or a subscribed input port stays'(world) {
    const ports: PortOptions[] = [{ '*': {} }, { in: { channels: ['/a'] } }]
    for (const port of ports) {
      const id = await world.make({ in: port, retain: 0 })
      await (await world.claimOne()).commit()
      await sweep(world, 400 * DAY)
      expect(await gone(world, id)).toBe(false)
    }
  },
  async 'a root stays while a descendant is subscribed'(world) {
    const listening = spawn('a', { inports: { in: { channels: ['/a'] } } })
    const { id, ids } = await family(world, [], { ops: [listening] })
    await (await world.claimOne()).commit()
    await (await parentRun(world)).commit()
    await sweep(world, 2 * DAY)
    expect([await gone(world, id), await gone(world, ids.a!)]).toEqual([false, false])
  },
  async 'a child is removed when its parent has seen its end'(world) {
    const { ids } = await family(world, ['a'])
    const child = await world.claimOne()
    world.advance(10)
    await child.commit()
    await sweep(world, DAY + 1_000)
    expect(await gone(world, ids.a!)).toBe(false)
    expect(await (await parentRun(world)).suspend()).toBe('suspended')
    await sweep(world, DAY)
    expect(await gone(world, ids.a!)).toBe(true)
  },
  async 'a child is removed when the run that its end started has been committed'(world) {
    const id = await world.make()
    await (await world.claimOne()).suspend({ ops: [spawn('a')] })
    const child = await world.claimOne()
    const { claimed } = await world.store.commit({
      queue: 'q',
      runs: [await child.settled({})],
      claim: { max: 1, lease: 45_000 },
    })
    expect(claimed[0]!.id).toBe(id)
    await world.runOf(claimed[0]!).suspend()
    await sweep(world, DAY + 1_000)
    expect(await gone(world, child.id)).toBe(true)
  },
  async 'a child stays when the run that saw its end has failed'(world) {
    const { ids } = await family(world, ['a'])
    await (await world.claimOne()).commit()
    world.advance(10)
    await (await parentRun(world)).fail({ max: 3, backoff: { base: 10 * DAY, cap: 10 * DAY, jitter: 0 } })
    await sweep(world, DAY + 1_000)
    expect(await gone(world, ids.a!)).toBe(false)
    world.advance(10 * DAY)
    expect(Object.keys((await parentRun(world)).snapshot.children)).toEqual(['a'])
  },
  async 'a child stays while a run of its parent continues'(world) {
    const { id, ids } = await family(world, ['a'])
    await (await world.claimOne()).commit()
    world.advance(10)
    await (await parentRun(world)).suspend()
    await world.change(id, 'run', '', '', '', '', '')
    await world.claim({ queue: 'other', lease: 3 * DAY })
    await sweep(world, DAY + 1_000)
    expect(await gone(world, ids.a!)).toBe(false)
  },
  async 'a job without retention is deleted in its last commit'(world) {
    const id = await world.make({ retain: 0 })
    await (await world.claimOne()).commit()
    expect(await gone(world, id)).toBe(true)
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:*`))).toEqual([])
  },
}

export const families: Record<number, Facts> = { 23: rule23, 24: rule24, 25: rule25 }
