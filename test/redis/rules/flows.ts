// Rules 35 and 36: jobs that follow their children, and wires between ports.

import { expect } from 'vitest'
import { type Encoded, encodeValue } from '../../../src/core/codec/value.ts'
import type { Changes, Op } from '../../../src/core/run.ts'
import type { FlowEvent } from '../../../src/engine/engine.ts'
import { itemOf } from '../../../src/redis/item.ts'
import { ops } from '../../../src/redis/ops.ts'
import type { Facts, Making, Run, World } from '../direct.ts'

const anything = { in: { '*': {} }, out: { '*': {} } }
const spawn = (name: string): Op => ({
  op: 'spawn',
  name,
  queue: 'q',
  class: 'child',
  inports: anything.in,
  outports: anything.out,
})
const wire = (
  from: Extract<Op, { op: 'wire' }>['from'],
  ...to: Extract<Op, { op: 'wire'; to: unknown }>['to']
): Op => ({
  op: 'wire',
  from,
  to,
})
const call = (child: string, out: string): Op => ({ op: 'wire', from: { child, out }, call: true })
const write = (out: string, ...values: string[]): Op => ({ op: 'write', to: { out }, values })

async function follower(world: World, names: string[], ops: Op[] = []) {
  const id = await world.make({ queue: 'other', ...anything })
  const run = await world.claimOne({ queue: 'other' })
  const answer = await run.commit({ end: 'follow', ops: [...names.map(spawn), ...ops] })
  const { children } = await world.engine().jobs.get(String(id))
  const ids = Object.fromEntries(Object.entries(children).map(([name, child]) => [name, child.id]))
  return { id, answer, ids }
}

const status = (world: World, id: number) => world.status(id)
const ownRun = (world: World) => world.claimOne({ queue: 'other' })
const isIdle = async (world: World, queue = 'other') => expect(await world.claim({ queue })).toEqual([])

const entries = (world: World, id: number) =>
  world.client.ask((redis) => redis.xlen(world.store.keys.job(id).concat(':record')))
const recorded = (world: World, id: number) => world.engine().flows.recorded(String(id), { limit: 100 })

async function end(world: World, how: Record<number, Partial<Changes>> = {}) {
  for (const run of await world.claim()) await run.commit(how[run.id] ?? {})
}

const rule35: Facts = {
  async 'a follower is suspended until all its children are completed, and then completes without a run'(world) {
    const { id, answer, ids } = await follower(world, ['a', 'b'])
    expect(answer).toBe('suspended')
    const runs = await world.claim()
    await runs.find((run) => run.id === ids.a)!.commit()
    expect(await status(world, id)).toBe('suspended')
    await runs.find((run) => run.id === ids.b)!.commit()
    expect(await status(world, id)).toBe('completed')
    await isIdle(world)
  },
  async 'a suspended child keeps a follower suspended'(world) {
    const { id, ids } = await follower(world, ['a', 'b'])
    await end(world, { [ids.a!]: { end: 'suspended' } })
    expect(await status(world, id)).toBe('suspended')
    await world.push(ids.a!, 'n', '1')
    await end(world)
    expect(await status(world, id)).toBe('completed')
    await isIdle(world)
  },
  async 'a completed follower is suspended again as soon as a child is woken'(world) {
    const { id, ids } = await follower(world, ['a'])
    await end(world)
    expect(await status(world, id)).toBe('completed')
    await world.push(ids.a!, 'n', '1')
    expect(await status(world, id)).toBe('suspended')
    expect((await world.document(id)).endedAt).toBeUndefined()
    await end(world)
    expect(await status(world, id)).toBe('completed')
    await isIdle(world)
  },
  async 'events of a child during a run of its parent wake the parent again only if it no longer follows'(world) {
    for (const ending of ['follow', 'completed'] as const) {
      const { id, ids } = await follower(world, ['a'])
      await world.push(id, 'n', '1')
      const run = await ownRun(world)
      const child = await world.claimOne()
      expect(child.id).toBe(ids.a)
      await child.suspend()
      await run.commit({ end: ending, reads: { n: { cursor: 0, count: 1 } } })
      expect(await status(world, id)).toBe(ending === 'follow' ? 'suspended' : 'queued')
      for (const again of await world.claim({ queue: 'other' })) await again.commit()
    }
  },
  async 'a follower without children completes at once'(world) {
    expect((await follower(world, [])).answer).toBe('completed')
  },
  async 'a follower waits for its children first, then for its next time or slot'(world) {
    const waits: (() => Making)[] = [
      () => ({ at: world.now() + 60_000, in: { in: {} } }),
      () => ({ repeat: '"STARTED, +1 MINUTE"' as Encoded, slot: world.now() }),
    ]
    for (const waiting of waits) {
      const making = waiting()
      const id = await world.make({ queue: 'other', ...making })
      if (making.at) await world.push(id, 'in', '1')
      const first = await ownRun(world)
      expect(await first.commit({ end: 'follow', ops: [spawn('a')] })).toBe('suspended')
      await end(world)
      expect(await status(world, id)).toBe('queued')
      await isIdle(world)
      world.advance(61_000)
      expect((await ownRun(world)).id).toBe(id)
    }
  },
  async 'a schedule that ends between two slots still follows its children'(world) {
    const endings: [(run: Run) => Promise<string>, string][] = [
      [(run) => run.commit(), 'completed'],
      [(run) => run.suspend(), 'suspended'],
      [(run) => run.fail(), 'queued'],
    ]
    for (const [end, expected] of endings) {
      const slot = world.now()
      const id = await world.make({ queue: 'other', repeat: encodeValue('STARTED, +1 HOUR'), slot })
      await (await ownRun(world)).commit({ end: 'follow', ops: [spawn('a')] })
      const { a } = (await world.engine().jobs.get(String(id))).children
      await (await world.claimOne()).commit()
      expect((await world.document(id)).place).toBe('t')
      await world.change(a!.id, ...ops.run({}))
      await end(await world.claimOne())
      await world.change(id, ...ops.patch({ fields: { repeats: '', nextSlot: '' } }))
      expect([expected, await status(world, id)]).toEqual([expected, expected])
      if (expected === 'queued') await (await ownRun(world)).commit()
      await world.change(id, ...ops.delete({ force: true }))
    }
  },
  async 'a follower runs when a child fails, whatever its siblings do'(world) {
    const { id, ids } = await follower(world, ['a', 'b'])
    const runs = await world.claim()
    await runs.find((run) => run.id === ids.a)!.fail()
    const { snapshot, fail } = await ownRun(world)
    expect(snapshot.children.a!.status).toBe('failed')
    await fail()
    expect(await status(world, id)).toBe('failed')
  },
  async 'a follower runs when a child is terminated'(world) {
    const { id, ids } = await follower(world, ['a'])
    await world.change(ids.a!, 'terminate', '', '')
    expect((await ownRun(world)).id).toBe(id)
  },
  async 'a failure of a child with a retry does not run a follower'(world) {
    const { id } = await follower(world, ['a'])
    await (await world.claimOne()).fail({ max: 3, backoff: { base: 1_000, jitter: 0 } })
    expect(await status(world, id)).toBe('suspended')
    await isIdle(world)
  },
  async 'a failed follower runs again when the failed child runs again'(world) {
    const { id, ids } = await follower(world, ['a'])
    await (await world.claimOne()).fail()
    await (await ownRun(world)).fail()
    await world.change(ids.a!, 'retry', '')
    expect(await status(world, id)).toBe('queued')
    expect(await (await ownRun(world)).commit({ end: 'follow' })).toBe('suspended')
    await end(world)
    expect(await status(world, id)).toBe('completed')
  },
  async 'a failed follower runs again when the failed child is detached or deleted'(world) {
    for (const words of [
      ['disown', 'a'],
      ['delete', '>a', '1'],
    ]) {
      const { id } = await follower(world, ['a'])
      await (await world.claimOne()).fail()
      await (await ownRun(world)).fail()
      await world.change(id, ...words)
      await (await ownRun(world)).commit({ end: 'follow' })
      expect(await status(world, id)).toBe('completed')
    }
  },
  async 'a follower runs again if the failed child is retried during its failing run'(world) {
    const { id, ids } = await follower(world, ['a'])
    await (await world.claimOne()).fail()
    const run = await ownRun(world)
    await world.change(ids.a!, 'retry', '')
    await run.fail()
    expect(await status(world, id)).toBe('queued')
  },
  async 'a follower runs again if a child fails during its run'(world) {
    const { ids, id } = await follower(world, ['a'])
    await world.change(id, 'run', '', '', '', '', '')
    const run = await ownRun(world)
    await (await world.claim()).find((child) => child.id === ids.a)!.fail()
    expect(await run.commit({ end: 'follow' })).toBe('queued')
  },
  async 'other events of children during its run do not run a follower again'(world) {
    const { id } = await follower(world, ['a', 'b'])
    await world.change(id, 'run', '', '', '', '', '')
    const run = await ownRun(world)
    await end(world)
    expect(await run.commit({ end: 'follow' })).toBe('completed')
  },
  async 'adopted, detached and deleted children are counted'(world) {
    const { id, ids } = await follower(world, ['a', 'b'])
    const orphan = await world.make()
    await world.change(id, 'adopt', orphan, 'c')
    await end(world, { [ids.a!]: { end: 'suspended' }, [ids.b!]: { end: 'suspended' }, [orphan]: { end: 'suspended' } })
    expect(await status(world, id)).toBe('suspended')
    await world.change(id, 'disown', 'a')
    await world.change(id, 'disown', 'c')
    expect(await status(world, id)).toBe('suspended')
    await world.change(id, 'disown', 'b')
    expect(await status(world, id)).toBe('completed')
  },
  async 'a follower of a follower changes status with it'(world) {
    const outer = await follower(world, ['inner'])
    const inner = await world.claimOne()
    await inner.commit({ end: 'follow', ops: [spawn('leaf')] })
    expect(await status(world, outer.id)).toBe('suspended')
    await end(world)
    expect(await status(world, inner.id)).toBe('completed')
    expect(await status(world, outer.id)).toBe('completed')
  },
  async 'a run that ends in another way stops following'(world) {
    const { id } = await follower(world, ['a'])
    await world.change(id, 'run', '', '', '', '', '')
    await (await ownRun(world)).suspend()
    await end(world)
    expect(await status(world, id)).toBe('queued')
  },
  async 'the children of a follower are kept as long as the follower'(world) {
    const { id, ids } = await follower(world, [])
    await world.change(id, 'run', '', '', '', '', '')
    await (await ownRun(world)).commit({
      end: 'follow',
      ops: [{ op: 'spawn', name: 'a', queue: 'q', class: 'child' }, spawn('b')],
    })
    const { children } = await world.engine().jobs.get(String(id))
    await end(world, { [children.b!.id]: { end: 'suspended' } })
    await world.change(id, 'run', '', '', '', '', '')
    await (await ownRun(world)).commit({ end: 'follow' })
    world.advance(40 * 86_400_000)
    for (let i = 0; i < 3; i++) await world.tick()
    expect(ids).toEqual({})
    expect(Object.keys((await world.engine().jobs.get(String(id))).children)).toContain('a')
  },
  async 'a recorded flow stores the moves of its children, and the values waiting at their ports'(world) {
    const { id, ids } = await follower(
      world,
      ['a', 'b'],
      [wire({ in: 'n' }, { child: 'a', in: 'in' }), wire({ child: 'a', out: 'out' }, { child: 'b', in: 'in' })],
    )
    await end(world)
    await world.change(id, 'record', 3_600_000)
    expect((await recorded(world, id)).events).toEqual([])
    await world.push(id, 'n', '1', '2')
    const run = await runOf(world, ids.a!)
    await run.suspend({ reads: { in: { cursor: 0, count: 2 } }, ops: [write('out', '3')] })
    const { events, keep } = await recorded(world, id)
    expect(keep).toBe(3_600_000)
    expect(
      events.map(({ counts }) => counts.map(({ node, dir, port, was, is }) => [node, dir, port, was, is]).sort()),
    ).toEqual([
      [['a', 'in', 'in', 0, 2]],
      [
        ['a', 'in', 'in', 2, 0],
        ['b', 'in', 'in', 0, 1],
      ],
    ])
    const moves = events.map((event) => event.moves.map(({ node, was, is }) => [node, was, is]))
    expect(moves[0]).toContainEqual(['a', 'completed', 'queued'])
    expect(moves[1]).toContainEqual(['a', 'running', 'suspended'])
    expect(moves[1]).toContainEqual(['b', 'completed', 'queued'])
    expect(events[1]!.moves.find(({ node }) => node === 'a')!.run).toMatchObject({ outcome: 'suspended', attempt: 1 })
    const page = (where: { after?: string; before?: string }) =>
      world.engine().flows.recorded(String(id), { limit: 1, ...where })
    expect((await page({ after: events[0]!.id })).events).toEqual([events[1]])
    expect((await page({ after: events[1]!.id })).events).toEqual([])
    expect(await page({})).toMatchObject({ events: [events[1]], cursor: events[1]!.id })
    expect((await page({ before: events[1]!.id })).events).toEqual([events[0]])
    world.advance(3_600_001)
    expect((await recorded(world, id)).events).toEqual([])
  },
  async 'an unrecorded flow stores nothing, and old records are deleted when recording ends'(world) {
    const { id, ids } = await follower(world, ['a'])
    await end(world)
    await world.push(ids.a!, 'n', '1')
    expect(await entries(world, id)).toBe(0)
    await world.change(id, 'record', 3_600_000)
    await end(world)
    expect(await entries(world, id)).toBe(1)
    await world.change(id, 'record', '')
    expect(await entries(world, id)).toBe(0)
    await world.push(ids.a!, 'n', '2')
    expect(await entries(world, id)).toBe(0)
  },
  async 'the record of a flow is deleted with the flow'(world) {
    const { id } = await follower(world, ['a'])
    await world.change(id, 'record', 3_600_000)
    await end(world)
    expect(await entries(world, id)).toBe(1)
    await world.change(id, 'delete', '', '1')
    expect(await entries(world, id)).toBe(0)
  },
  async 'an entry of a record has a maximum size, and counts omitted values'(world) {
    const names = Array.from({ length: 150 }, (_, i) => `node-${i}-${'x'.repeat(200)}`)
    const { id } = await follower(world, names)
    await world.change(id, 'record', 3_600_000)
    const runs = await world.claim({ max: 1000 })
    await world.store.commit({ queue: '', runs: await Promise.all(runs.map((run) => run.settled({}))) })
    const { events } = await recorded(world, id)
    const [event] = events as [FlowEvent]
    expect(events).toHaveLength(1)
    expect(event.moves.length).toBeGreaterThan(30)
    expect(event.moves.length + event.more).toBeGreaterThanOrEqual(150)
    expect(JSON.stringify(event.moves).length).toBeLessThan(40_000)
  },
}

const chain = (world: World) =>
  follower(
    world,
    ['a', 'b'],
    [
      wire({ in: 'n' }, { child: 'a', in: 'in' }),
      wire({ child: 'a', out: 'out' }, { child: 'b', in: 'in' }),
      wire({ child: 'b', out: 'out' }, { out: 'result' }),
    ],
  )

const runOf = async (world: World, id: number) => (await world.claim()).find((run) => run.id === id)!

const rule36: Facts = {
  async 'a write to a wired port reaches the target in the same step'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    await world.push(id, 'n', '1', '2')
    expect(await world.values(ids.a!, 'in', 'in')).toEqual(['1', '2'])
    expect(await world.values(id, 'in', 'n')).toEqual([])
    expect(await status(world, id)).toBe('suspended')
    await isIdle(world)
    await (await runOf(world, ids.a!)).suspend({
      reads: { in: { cursor: 0, count: 2 } },
      ops: [write('out', '3', '4')],
    })
    expect(await world.values(ids.b!, 'in', 'in')).toEqual(['3', '4'])
    await (await runOf(world, ids.b!)).commit({ ops: [write('out', '5')] })
    expect(await world.values(id, 'out', 'result')).toEqual(['5'])
    await isIdle(world)
  },
  async 'a write passes down through 80 nested flows in one step'(world) {
    const down = [spawn('next'), wire({ in: 'in' }, { child: 'next', in: 'in' })]
    const id = await world.make(anything)
    for (let level = 0; level < 80; level++) await (await world.claimOne()).commit({ end: 'follow', ops: down })
    const last = await world.claimOne()
    await last.commit({ end: 'suspended' })
    await world.push(id, 'in', '1', '2')
    expect(await world.values(last.id, 'in', 'in')).toEqual(['1', '2'])
  },
  async 'each of several wires gets all values'(world) {
    const { ids } = await follower(
      world,
      ['a', 'b', 'c'],
      [wire({ child: 'a', out: 'out' }, { child: 'b', in: 'x' }, { child: 'c', in: 'y' }, { out: 'z' })],
    )
    await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1', '2')] })
    expect(await world.values(ids.b!, 'in', 'x')).toEqual(['1', '2'])
    expect(await world.values(ids.c!, 'in', 'y')).toEqual(['1', '2'])
  },
  async 'values that wait when a wire is connected pass first'(world) {
    const { id, ids } = await follower(world, ['a', 'b'])
    await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1')] })
    await world.change(id, 'wire', '>a', 'o', 'out', '', 1, '>b', 'i', 'in')
    await world.change(ids.a!, 'write', '', 'o', 'out', '', 1, '=2')
    expect(await world.values(ids.b!, 'in', 'in')).toEqual(['1', '2'])
  },
  async 'a default passes over the wire, and a change wakes the target once'(world) {
    const { ids } = await chain(world)
    await end(world)
    await world.change(ids.a!, 'default', '', 'o', 'out', '1', '=7')
    expect(await status(world, ids.b!)).toBe('queued')
    expect((await world.document(ids.b!))['di:in']).toBe('=7')
    await end(world)
    await world.change(ids.a!, 'default', '', 'o', 'out', '1', '=7')
    expect(await status(world, ids.b!)).toBe('completed')
  },
  async 'a wire of a deleted child keeps its values and wakes the parent, until it is connected again'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    await world.change(id, 'delete', '>b', '1')
    await (await ownRun(world)).commit({ end: 'follow' })
    await world.change(ids.a!, 'write', '', 'o', 'out', '', 1, '=1')
    expect(await world.values(ids.a!, 'out', 'out')).toEqual(['1'])
    const run = await ownRun(world)
    expect(run.snapshot.wires).toContainEqual(
      expect.objectContaining({
        child: 'a',
        dir: 'out',
        port: 'out',
        size: 1,
        to: [{ job: ids.b, dir: 'in', port: 'in' }],
      }),
    )
    await run.commit({ end: 'follow', ops: [spawn('b'), wire({ child: 'a', out: 'out' }, { child: 'b', in: 'in' })] })
    const b = (await world.engine().jobs.get(String(id))).children.b!.id
    expect(await world.values(b, 'in', 'in')).toEqual(['1'])
  },
  async 'a wire to a detached child passes no values'(world) {
    const { id, ids } = await chain(world)
    await world.change(id, 'disown', 'b')
    await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1')] })
    expect(await world.values(ids.a!, 'out', 'out')).toEqual(['1'])
    expect(await world.values(ids.b!, 'in', 'in')).toEqual([])
  },
  async 'wires cannot form a circle'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    await world.change(id, 'disown', 'a')
    await world.change(ids.a!, 'adopt', id, 'flow')
    await world.change(ids.a!, 'wire', '', 'i', 'in', '', 1, '>flow', 'i', 'n')
    await world.push(id, 'n', '1')
    expect(await world.values(id, 'in', 'n')).toEqual(['1'])
  },
  async 'a port that wakes its parent does so for values and defaults, and keeps them'(world) {
    const { id, ids } = await follower(world, ['a'], [call('a', 'out'), call('a', 'other')])
    await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1')] })
    const run = await ownRun(world)
    expect(run.snapshot.wires).toContainEqual({
      child: 'a',
      dir: 'out',
      port: 'out',
      size: 1,
      default: false,
      to: 'call',
    })
    await run.commit({ end: 'follow' })
    await world.change(ids.a!, 'default', '', 'o', 'other', '1', '=7')
    expect((await ownRun(world)).id).toBe(id)
    expect(await world.values(ids.a!, 'out', 'out')).toEqual(['1'])
  },
  async 'a port with values wakes its parent at once when it is set to wake the parent'(world) {
    const { id, ids } = await follower(world, ['a'])
    await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1')] })
    await world.change(id, 'wire', '>a', 'o', 'out', '1', 0)
    expect((await ownRun(world)).id).toBe(id)
  },
  async 'wires can start only at own inputs and at outputs of children'(world) {
    const { id, ids } = await follower(world, ['a', 'b'])
    for (const words of [
      ['', 'o', 'x', '', '1', '>a', 'i', 'in'],
      ['>a', 'i', 'x', '', '1', '>b', 'i', 'in'],
      ['>a', 'o', 'x', '', '1', '>b', 'o', 'out'],
      ['', 'i', 'x', '', '1', '', 'o', 'out'],
    ])
      await expect(world.change(id, 'wire', ...words)).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(world.change(ids.a!, 'wire', '', 'o', 'x', '', '1', ids.b!, 'i', 'in')).rejects.toMatchObject({
      code: 'REFUSED',
    })
    expect((await world.document(ids.a!))['wo:x']).toBeUndefined()
  },
  async 'a wire to a missing port is refused with the name of the node'(world) {
    const { id } = await follower(world, ['a'])
    const b = await world.make({ in: { in: {} } })
    await world.change(id, 'adopt', b, 'b')
    await expect(world.change(id, 'wire', '>a', 'o', 'x', '', '1', '>b', 'i', 'other')).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringMatching(/^wire from a\.x to b\.other: job \d+ \(plain\) has no input port "other"/),
    })
  },
  async 'a removed port at the end of a wire does not affect the writer'(world) {
    const { id, ids } = await follower(world, ['a'])
    const b = await world.make({ in: { in: {} } })
    await world.change(id, 'adopt', b, 'b')
    await world.change(id, 'wire', '>a', 'o', 'out', '', 1, '>b', 'i', 'in')
    await world.change(b, 'ports', '', 'i', 0)
    expect(await (await runOf(world, ids.a!)).commit({ ops: [write('out', '1')] })).toBe('completed')
    expect(await world.values(ids.a!, 'out', 'out')).toEqual(['1'])
  },
  async 'a change of ports does not affect the wires of remaining ports'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    await world.change(ids.a!, 'default', '', 'i', 'learned', '1', '=1')
    await world.push(ids.a!, 'kept', '1')
    await world.push(ids.a!, 'gone', '2')
    const specs = ['1', 'new', '1', '=9', '0']
    await world.change(id, 'amend', '>a', 'i', ...specs, 1, 'gone')
    const doc = await world.document(ids.a!)
    expect([doc['di:learned'], doc['di:new']]).toEqual(['=1', '=9'])
    expect(await world.values(ids.a!, 'in', 'kept')).toEqual(['1'])
    expect(await world.values(ids.a!, 'in', 'gone')).toEqual([])
  },
  async 'a run that expects another state is repeated'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await world.change(id, 'set', 'graph', '2')
    expect(await run.commit({ ops: [{ op: 'expect', state: 'graph', value: '1' }] })).toBe('conflict')
    expect(await (await world.claimOne()).commit({ ops: [{ op: 'expect', state: 'graph', value: '2' }] })).toBe(
      'completed',
    )
  },
  async 'values passing over the wires of a port are counted by the minute'(world) {
    const { id } = await chain(world)
    await end(world)
    await world.push(id, 'n', '1', '2')
    await world.push(id, 'n', '3')
    const [minute, n] = (await world.document(id))['mi:n']!.split(':').map(Number)
    expect([minute, n]).toEqual([Math.floor(world.now() / 60_000), 3])
    world.advance(60_000)
    await world.push(id, 'n', '4')
    expect((await world.document(id))['mi:n']).toBe(`${minute! + 1}:1:3`)
    world.advance(180_000)
    await world.push(id, 'n', '5')
    expect((await world.document(id))['mi:n']).toBe(`${minute! + 4}:1:0:0:1:3`)
    world.advance(9 * 60_000)
    await world.push(id, 'n', '6')
    expect((await world.document(id))['mi:n']).toBe(`${minute! + 13}:1:0:0:0:0:0:0:0:0:1`)
    world.advance(60 * 60_000)
    await world.push(id, 'n', '7')
    expect((await world.document(id))['mi:n']).toBe(`${minute! + 73}:1`)
  },
  async 'values taken at the end of a wire are counted too, and no values of other ports'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    await world.push(id, 'n', '1', '2', '3')
    await world.push(ids.a!, 'other', '4')
    const minute = Math.floor(world.now() / 60_000)
    expect((await world.document(ids.a!))['mi:in']).toBe(`${minute}:0`)
    await (await runOf(world, ids.a!)).suspend({
      reads: { in: { cursor: 0, count: 2 }, other: { cursor: 0, count: 1 } },
    })
    await world.change(ids.a!, 'take', '', 'i', 'in', 1)
    const doc = await world.document(ids.a!)
    expect([doc['mi:in'], doc['mi:other']]).toEqual([`${minute}:3`, undefined])
  },
  async 'a value that passed a wire has its time, and keeps its stored content'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    // Begins at the start of a second, so that the second does not end during the call.
    world.advance(1_000 - (world.now() % 1_000))
    await world.change(id, 'write', '', 'i', 'n', '', 2, '=1', '@{"trace":7}\n/news\nl\n2')
    const moment = `t${Math.floor(world.now() / 1_000)}`
    const items = [`@\n\n${moment}\n1`, `@{"trace":7}\n/news\nl${moment}\n2`]
    expect(JSON.parse((await world.document(ids.a!))['vi:in']!)).toEqual(items)
    world.advance(5_000)
    await world.change(ids.a!, 'shift', '', 'i', 'in', '', 'o', 'out', 10)
    const later = `t${Math.floor(world.now() / 1_000)}`
    expect(JSON.parse((await world.document(ids.b!))['vi:in']!)[1]).toBe(`@{"trace":7}\n/news\nl${later}\n2`)
  },
  async 'the source of a wire keeps the last 20 values that passed, newest first, and 2,048 bytes'(world) {
    const { id, ids } = await chain(world)
    await end(world)
    const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i))
    await world.push(id, 'n', ...numbers(0, 19))
    await world.push(id, 'n', ...numbers(19, 45))
    await world.push(id, 'n', ...numbers(45, 48))
    const kept = async () =>
      (JSON.parse((await world.document(id))['li:n'] ?? '[]') as string[]).map((item) => itemOf(item).data)
    expect(await kept()).toEqual(numbers(28, 48).reverse())
    expect((await world.document(ids.a!))['li:in']).toBeUndefined()
    await world.push(id, 'n', `"${'x'.repeat(2_000)}"`)
    expect(await kept()).toHaveLength(2)
    await world.push(id, 'n', `"${'x'.repeat(2_048)}"`)
    expect(await kept()).toEqual([])
  },
  async 'a large document keeps no values that passed a wire'(world) {
    const { id } = await chain(world)
    await end(world)
    const runs = Array.from({ length: 140 }, (_, i) => i)
    for (const i of runs) await world.change(id, 'set', `s${i}`, `"${'x'.repeat(490)}"`)
    await world.push(id, 'n', '1')
    expect((await world.document(id))['li:n']).toBeUndefined()
  },
}

export const flows: Record<number, Facts> = { 35: rule35, 36: rule36 }
