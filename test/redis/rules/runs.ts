// Rules 5–13: runs, tokens, commits.

import { expect } from 'vitest'
import { type Encoded, encodeValue } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { Facts, Run, World } from '../direct.ts'

const one = '1' as Encoded
const retry = { max: 3, backoff: { base: 10_000, jitter: 0 } }
const outOf = (port: string, ...values: string[]): Op => ({
  op: 'write',
  to: { out: port },
  values: values as Encoded[],
})
const readFrom = (id: number, port: string, cursor: number, count: number): Op => ({
  op: 'read',
  from: { job: id, out: port },
  cursor,
  count,
})

const pulled = { name: 'remote', definition: '{"pull":true}', serves: 'pull' as const }

async function source(world: World, ...values: string[]): Promise<number> {
  const id = await world.make({ out: { out: {} } })
  const run = await world.claimOne()
  await run.suspend({ ops: [outOf('out', ...values)] })
  return id
}

/** Milliseconds. */
const LEASE = 45_000

async function lose(world: World, claiming = {}) {
  const runs = await world.claim(claiming)
  world.advance(45_001)
  await world.tick()
  return runs
}

async function ready(world: World) {
  world.advance(5_000)
  await world.tick()
}

const rule5: Facts = {
  async 'each claim gives a new token, and the old token is invalid'(world) {
    const id = await world.make({ out: { out: {} } })
    const [first] = await lose(world)
    world.advance(2_000)
    const second = await world.claimOne()
    expect(second.token).not.toBe(first!.token)
    expect(await first!.commit({ ops: [outOf('out', '1')] })).toBe('lost')
    expect(await second.commit({ ops: [outOf('out', '2')] })).toBe('completed')
    expect(await world.values(id, 'out', 'out')).toEqual(['2'])
  },
  async 'a token names its job and its run'(world) {
    const id = await world.make()
    expect((await world.claimOne()).token).toMatch(new RegExp(`^${id}\\.1\\.\\w{12,}$`))
  },
  async 'a run whose lease has ended is lost even before its job is taken back'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    world.advance(45_001)
    expect(await run.commit()).toBe('lost')
    expect(await world.status(id)).toBe('running')
  },
  async 'a lane ends only its leased runs, and only within their leases'(world) {
    const id = await world.make()
    const lane = world.lane()
    const [run] = (await lane.ask()).runs
    const settled = await run!.settled({})
    const forged = { ...settled, token: settled.token.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }
    expect((await lane.ask({ runs: [forged] })).answers).toEqual(['lost'])
    expect(await world.status(id)).toBe('running')
    world.advance(45_001)
    expect((await lane.ask({ runs: [settled] })).answers).toEqual(['lost'])
  },
  async 'a lane commits the end of a run, and its effects'(world) {
    const ids = [await world.make(), await world.make()]
    const lane = world.lane()
    const { runs } = await lane.ask()
    const changes = [{ end: 'suspended' as const }, { state: { set: { n: one } } }]
    const settled = await Promise.all(runs.map((run, i) => run.settled(changes[i]!)))
    expect((await lane.ask({ runs: settled })).answers).toEqual(['suspended', 'completed'])
    expect(await world.status(ids[0]!)).toBe('suspended')
    expect(await world.document(ids[1]!)).toMatchObject({ 's:n': '1' })
  },
  async 'a lease that has ended cannot be extended'(world) {
    await world.make()
    const run = await world.claimOne()
    world.advance(45_001)
    expect(await run.extend()).toBeNull()
  },
  async 'an extended lease is valid until its new end'(world) {
    await world.make()
    const run = await world.claimOne()
    world.advance(40_000)
    expect(await run.extend()).toBeGreaterThan(world.now() + 40_000)
    world.advance(40_000)
    await world.tick()
    expect(await run.commit()).toBe('completed')
  },
}

const rule6: Facts = {
  async 'a checkpoint keeps the effects, and the run continues'(world) {
    const id = await world.make({ in: { in: {} }, out: { out: {} }, inputs: { in: ['=1', '=2'] } })
    const run = await world.claimOne()
    const first = { reads: { in: { cursor: 0, count: 1 } }, ops: [outOf('out', '"a"')] }
    expect(await run.commit({ end: 'checkpoint', n: 0, ...first })).toBe('running')
    expect(await world.values(id, 'in', 'in')).toEqual(['2'])
    expect(await run.commit({ n: 1, reads: { in: { cursor: 1, count: 1 } }, ops: [outOf('out', '"b"')] })).toBe(
      'completed',
    )
    expect(await world.values(id, 'out', 'out')).toEqual(['"a"', '"b"'])
  },
  async 'a repeated checkpoint takes effect once, and returns a new snapshot both times'(world) {
    const id = await world.make({ in: { in: {} }, out: { out: {} }, inputs: { in: ['=1', '=2'] } })
    const run = await world.claimOne()
    const runs = [
      await run.settled({ end: 'checkpoint', reads: { in: { cursor: 0, count: 1 } }, ops: [outOf('out', '1')] }),
    ]
    for (let i = 0; i < 2; i++) {
      const { answers, claimed } = await world.store.commit({ queue: '', runs })
      expect(answers).toEqual(['running'])
      expect(claimed[0]!.inputs).toEqual({ in: ['=2'] })
    }
    expect(await world.values(id, 'out', 'out')).toEqual(['1'])
  },
  async 'a repeated checkpoint of a lost run returns no snapshot'(world) {
    await world.make()
    const runs = [await (await world.claimOne()).settled({ end: 'checkpoint' })]
    await world.store.commit({ queue: '', runs })
    world.advance(45_001)
    await world.tick()
    expect((await world.store.commit({ queue: '', runs })).claimed).toEqual([])
  },
  async 'a repeated checkpoint of a lost run does not return another run'(world) {
    await world.make()
    const runs = [await (await world.claimOne()).settled({ end: 'checkpoint' })]
    await world.store.commit({ queue: '', runs })
    world.advance(45_001)
    await world.tick()
    world.advance(2_000)
    await world.claimOne()
    expect((await world.store.commit({ queue: '', runs })).claimed).toEqual([])
  },
  async 'a checkpoint extends the lease'(world) {
    await world.make()
    const run = await world.claimOne()
    world.advance(40_000)
    await run.commit({ end: 'checkpoint', n: 0 })
    world.advance(40_000)
    await world.tick()
    expect(await run.commit({ n: 1 })).toBe('completed')
  },
  async 'a commit with a past number is refused'(world) {
    const id = await world.make({ out: { out: {} } })
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, ops: [outOf('out', '0')] })
    await run.commit({ end: 'checkpoint', n: 1, ops: [outOf('out', '1')] })
    expect(await run.commit({ end: 'checkpoint', n: 0, ops: [outOf('out', '0')] })).toBe('lost')
    expect(await world.values(id, 'out', 'out')).toEqual(['0', '1'])
  },
  async 'a run given back after a checkpoint is leased again'(world) {
    await world.store.register('e', [pulled])
    const id = await world.make({ queue: 'e', class: 'remote' })
    const engine = world.engine()
    const { token } = (await engine.runs.claim('e', {}))[0]!.run
    await engine.runs.commit(token, { end: 'checkpoint', n: 0, state: { set: { n: one } } })
    for (let i = 0; i < 2; i++) expect(await engine.runs.release(token)).toEqual({ status: 'queued' })
    const [again] = await world.claim({ queue: 'e', pull: true })
    expect(again).toMatchObject({ id, snapshot: { state: { n: '1' } } })
  },
  async 'a lost run has no effect since its last checkpoint'(world) {
    const id = await world.make({ out: { out: {} } })
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, state: { set: { n: one } } })
    world.advance(45_001)
    expect(await run.commit({ n: 1, state: { set: { n: '2' as Encoded } }, ops: [outOf('out', '1')] })).toBe('lost')
    await world.tick()
    expect((await world.document(id))['s:n']).toBe('1')
    expect(await world.values(id, 'out', 'out')).toEqual([])
  },
  async 'steps are kept over failed and lost runs, and removed by a successful run'(world) {
    const id = await world.make()
    const step = { op: 'step' as const, name: 'charge', value: one }
    const steps = (run: Run) => run.snapshot.steps
    const first = await world.claimOne()
    await first.commit({ end: 'checkpoint', ops: [step] })
    expect(await first.commit({ end: 'failed', n: 1, error: { message: 'broken' } }, retry)).toBe('queued')
    world.advance(10_001)
    await lose(world)
    world.advance(1_001)
    const third = await world.claimOne()
    expect(steps(third)).toEqual({ charge: '1' })
    await third.suspend()
    await world.change(id, 'run', '', '', '', '', '')
    expect(steps(await world.claimOne())).toBeUndefined()
  },
  async 'steps are kept when a failed job is retried manually'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, ops: [{ op: 'step', name: 'charge', value: one }] })
    expect(await run.commit({ end: 'failed', n: 1, error: { message: 'broken' } })).toBe('failed')
    await world.change(id, 'retry', '')
    expect((await world.claimOne()).snapshot.steps).toEqual({ charge: '1' })
  },
  async 'steps of an ended function are shown until its next step, and it is not listed as waiting'(world) {
    const id = await world.make()
    const step = (name: string): Op => ({ op: 'step', name, value: one })
    const shown = async () => Object.keys((await world.store.steps(id, '0')).steps).sort()
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, ops: [step('charge'), step('mail')] })
    expect(await run.commit({ n: 1 } as never)).toBe('completed')
    expect(await shown()).toEqual(['charge', 'mail'])
    expect((await world.store.list({ mode: 'all', waits: 'function', limit: 10 })).jobs).toEqual([])
    await world.make({ parent: String(id), name: 'mailer', queue: 'other' })
    await world.change(id, 'run', '', '', '', '', '')
    const again = await world.claimOne()
    expect(again.snapshot.steps).toBeUndefined()
    expect(await shown()).toEqual(['charge', 'mail'])
    await again.commit({ end: 'checkpoint', n: 0, ops: [step('refund')] })
    expect(await shown()).toEqual(['refund'])
    await again.commit({ end: 'checkpoint', n: 1, ops: [step('log')] })
    expect(await shown()).toEqual(['log', 'refund'])
  },
  async 'large steps are removed when the function ends'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    const value = encodeValue('x'.repeat(9_000))
    await run.commit({ end: 'checkpoint', n: 0, ops: [{ op: 'step', name: 'report', value }] })
    expect(await run.commit({ n: 1 } as never)).toBe('completed')
    expect((await world.store.steps(id, '0')).steps).toEqual({})
    expect(await world.document(id)).not.toHaveProperty('hasSteps')
  },
  async 'steps are removed when the job is terminated'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await run.commit({ end: 'checkpoint', n: 0, ops: [{ op: 'step', name: 'charge', value: one }] })
    await run.commit({ end: 'failed', n: 1, error: { message: 'broken' } })
    await world.change(id, 'terminate', '', '')
    await world.change(id, 'run', '', '1', '', '', '')
    expect((await world.claimOne()).snapshot.steps).toBeUndefined()
  },
  async 'a pause keeps the steps, and ends at its time and not before'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    const ops: Op[] = [{ op: 'step', name: 'charge', value: one }]
    expect(await run.suspend({ ops, pause: { until: world.now() + 60_000 } })).toBe('queued')
    expect(await world.claim()).toEqual([])
    world.advance(60_001)
    const next = await world.claimOne()
    expect(next).toMatchObject({ id, snapshot: { steps: { charge: '1' } } })
    expect(await next.commit()).toBe('completed')
    world.advance(60_001)
    expect(await world.claim()).toEqual([])
  },
  async 'a pause without a time lasts until input arrives'(world) {
    const id = await world.make({ in: { in: {} } })
    expect(await (await world.claimOne()).suspend({ pause: {} })).toBe('suspended')
    world.advance(1_000_000_000)
    expect(await world.claim()).toEqual([])
    await world.push(id, 'in', '1')
    expect(await world.claimOne()).toMatchObject({ id })
  },
  async 'the time of a pause is removed with the pause'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).suspend({ pause: { until: world.now() + 60_000 } })
    await world.push(id, 'in', '1')
    await (await world.claimOne()).suspend({ pause: {} })
    expect(await world.status(id)).toBe('suspended')
    await world.push(id, 'in', '2')
    expect(await (await world.claimOne()).commit()).toBe('completed')
    world.advance(60_001)
    expect(await world.claim()).toEqual([])
  },
  async 'a pause for children ends with the end of a child, and returns the outcomes of the awaited children'(world) {
    const id = await world.make()
    const spawn = (name: string): Op => ({ op: 'spawn', name, queue: 'other', class: 'child' })
    const ops = [spawn('a'), spawn('b')]
    await (await world.claimOne()).suspend({ ops, pause: { children: ['a'] } })
    const [a, b] = await world.claim({ queue: 'other' })
    await a!.commit({ end: 'again' })
    expect(await world.claim()).toEqual([])
    await (await world.claimOne({ queue: 'other' })).commit()
    await b!.commit()
    const run = await world.claimOne()
    expect(run.id).toBe(id)
    expect(run.snapshot.family).toMatchObject({ finished: [{ name: 'a' }] })
    expect(run.snapshot.family!.finished).toHaveLength(1)
  },
  async 'a pause ends when an awaited child is gone'(world) {
    const id = await world.make()
    const ops: Op[] = [{ op: 'spawn', name: 'a', queue: 'other', class: 'child' }]
    await (await world.claimOne()).suspend({ ops, pause: { children: ['a'] } })
    await world.change(id, 'disown', 'a')
    await (await world.claimOne()).suspend({ ops: [{ ...ops[0]!, name: 'b' } as Op], pause: { children: ['b'] } })
    const [, child] = await world.claim({ queue: 'other' })
    await child!.release()
    await world.change(child!.id, 'delete', '', '1')
    expect(await world.claimOne()).toMatchObject({ id, snapshot: { children: {} } })
  },
  async 'more than a hundred steps are returned on request'(world) {
    await world.make()
    const names = Array.from({ length: 101 }, (_, i) => `step ${i}`)
    const ops = names.map((name): Op => ({ op: 'step', name, value: one }))
    const run = await world.claimOne()
    await run.suspend({ ops: ops.slice(1), pause: { until: 1 } })
    const second = await world.claimOne()
    expect(Object.keys(second.snapshot.steps!)).toHaveLength(100)
    await second.suspend({ ops: ops.slice(0, 1), pause: { until: 1 } })
    const third = await world.claimOne()
    expect(third.snapshot).toMatchObject({ moreSteps: true })
    expect(third.snapshot.steps).toBeUndefined()
    expect(Object.keys((await world.store.steps(third.id, '0')).steps)).toHaveLength(101)
    await third.suspend({ ops: [{ op: 'step', name: 'step 7', forget: true }], pause: { until: 1 } })
    expect((await world.claimOne()).snapshot.steps).not.toHaveProperty('step 7')
  },
}

const rule7: Facts = {
  async 'a read of an own port counts only if no other client has read since'(world) {
    const id = await world.make({ in: { in: {} }, out: { out: {} }, inputs: { in: ['=1', '=2'] } })
    const run = await world.claimOne()
    expect(await world.change(id, 'take', '', 'i', 'in', 1)).toEqual(['', '=1'])
    expect(await run.commit({ reads: { in: { cursor: 0, count: 1 } }, ops: [outOf('out', '1')] })).toBe('conflict')
    expect(await world.values(id, 'out', 'out')).toEqual([])
    expect(await world.values(id, 'in', 'in')).toEqual(['2'])
    expect(await world.status(id)).toBe('queued')
  },
  async 'a read of a foreign port counts only if no other client has read since'(world) {
    const id = await source(world, '1', '2')
    await world.make()
    const run = await world.claimOne()
    await world.change(id, 'take', '', 'o', 'out', 1)
    expect(await run.commit({ ops: [readFrom(id, 'out', 0, 1)] })).toBe('conflict')
    expect(await world.values(id, 'out', 'out')).toEqual(['2'])
  },
  async 'a value that one run has read is read by no other'(world) {
    const id = await source(world, '1', '2')
    await world.make()
    await world.make()
    const [first, second] = await world.claim()
    expect(await first!.commit({ ops: [readFrom(id, 'out', 0, 1)] })).toBe('completed')
    expect(await second!.commit({ ops: [readFrom(id, 'out', 0, 1)] })).toBe('conflict')
    expect(await world.values(id, 'out', 'out')).toEqual(['2'])
  },
  async 'a run cannot read more values than are waiting'(world) {
    const id = await source(world, '1')
    await world.make()
    expect(await (await world.claimOne()).commit({ ops: [readFrom(id, 'out', 0, 2)] })).toBe('conflict')
    expect(await world.values(id, 'out', 'out')).toEqual(['1'])
  },
  async 'values that arrive during a run do not affect its reads'(world) {
    const id = await world.make({ in: { in: {} }, inputs: { in: ['=1'] } })
    const run = await world.claimOne()
    await world.push(id, 'in', '2')
    expect(await run.commit({ end: 'suspended', reads: { in: { cursor: 0, count: 1 } } })).toBe('queued')
    expect(await world.values(id, 'in', 'in')).toEqual(['2'])
  },
  async 'a port that is removed and created again continues its count'(world) {
    const id = await world.make({ in: { in: {} }, inputs: { in: ['=1', '=2'] } })
    const run = await world.claimOne()
    await world.change(id, 'ports', '', 'i', 0)
    await world.change(id, 'ports', '', 'i', 1, 'in', '0', '', 0)
    await world.push(id, 'in', '3')
    expect(await run.commit({ reads: { in: { cursor: 0, count: 1 } } })).toBe('conflict')
    expect(await world.values(id, 'in', 'in')).toEqual(['3'])
    const again = await world.claimOne()
    expect(again.snapshot.in.in).toMatchObject({ cursor: 2, values: [{ data: '3' }] })
  },
  async 'a connection takes values like any reader'(world) {
    const id = await source(world, '1')
    const other = await world.make({ in: { in: {} } })
    await world.make()
    const [, run] = await world.claim()
    await world.change(id, 'connect', '', 'o', 'out', 1, other, 'i', 'in')
    expect(await run!.commit({ ops: [readFrom(id, 'out', 0, 1)] })).toBe('conflict')
  },
}

const rule8: Facts = {
  async 'a repeated commit has one effect and one answer'(world) {
    const id = await world.make({ out: { out: {} } })
    const run = await world.claimOne()
    expect(await run.suspend({ ops: [outOf('out', '1')] })).toBe('suspended')
    expect(await run.suspend({ ops: [outOf('out', '1')] })).toBe('suspended')
    expect(await world.values(id, 'out', 'out')).toEqual(['1'])
  },
  async 'a repeated commit gets its answer when the job has been leased again'(world) {
    await world.make({ in: { in: {} }, inputs: { in: ['=1'] } })
    const run = await world.claimOne()
    expect(await run.commit({ end: 'again', reads: { in: { cursor: 0, count: 1 } } })).toBe('queued')
    await world.claimOne()
    expect(await run.commit({ end: 'again', reads: { in: { cursor: 0, count: 1 } } })).toBe('queued')
  },
  async 'a repeated commit gets its answer when the commit deleted the job'(world) {
    const id = await world.make({ retain: 0 })
    const run = await world.claimOne()
    expect(await run.commit()).toBe('completed')
    await expect(world.document(id)).rejects.toThrow('does not exist')
    expect(await run.commit()).toBe('completed')
  },
  async 'a repeated commit gets its answer when the job was deleted later'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    expect(await run.commit()).toBe('completed')
    expect(await world.change(id, 'delete', '', '1')).toEqual(['gone'])
    expect(await run.commit()).toBe('completed')
  },
  async 'conflicts and refusals are stored answers too'(world) {
    const id = await world.make({ in: { in: {} }, inputs: { in: ['=1'] } })
    const run = await world.claimOne()
    await world.change(id, 'take', '', 'i', 'in', 1)
    expect(await run.commit({ reads: { in: { cursor: 0, count: 1 } } })).toBe('conflict')
    const next = await world.claimOne()
    expect(await run.commit({ reads: { in: { cursor: 0, count: 1 } } })).toBe('conflict')
    expect(await next.commit({ ops: [outOf('none', '1')] })).toMatch(/^refused:REFUSED/)
    expect(await next.commit({ ops: [outOf('none', '1')] })).toMatch(/^refused:REFUSED/)
    expect(await world.status(id)).toBe('failed')
  },
}

const rule9: Facts = {
  async 'with two runs in one commit that read the same value, the second has a conflict'(world) {
    const id = await source(world, '1')
    const [a, b] = [await world.make(), await world.make()]
    const runs = await world.claim()
    const both = await Promise.all(runs.map((run) => run.settled({ ops: [readFrom(id, 'out', 0, 1)] })))
    expect((await world.store.commit({ queue: 'q', runs: both })).answers).toEqual(['completed', 'conflict'])
    expect([await world.status(a), await world.status(b)]).toEqual(['completed', 'queued'])
    expect(await world.values(id, 'out', 'out')).toEqual([])
  },
  async 'a run sees values that earlier runs of the same commit wrote'(world) {
    const id = await source(world, '1')
    await world.make()
    const target = await world.make({ in: { in: {} } })
    const [first, second] = await world.claim()
    const writes = await first!.settled({ ops: [{ op: 'write', to: { job: id, out: 'out' }, values: [one, one] }] })
    const connects = await second!.settled({
      ops: [{ op: 'connect', from: { job: id, out: 'out' }, to: [{ in: 'in' }] }],
    })
    await world.store.commit({ queue: 'q', runs: [writes, connects] })
    expect(await world.values(target, 'in', 'in')).toEqual(['1', '1', '1'])
  },
  async 'a run sees its own earlier ops: spawn, write to the child, connect it'(world) {
    const id = await world.make({ in: { in: {} } })
    const run = await world.claimOne()
    const spawn = (name: string, ports = {}): Op => ({ op: 'spawn', name, queue: 'q', class: 'child', ...ports })
    const ops: Op[] = [
      spawn('a', { outports: { out: {} }, inports: { in: {} } }),
      spawn('b', { inports: { in: {} } }),
      { op: 'write', to: { child: 'a', out: 'out' }, values: [one, '2' as Encoded] },
      { op: 'connect', from: { child: 'a', out: 'out' }, to: [{ child: 'b', in: 'in' }, { in: 'in' }] },
      { op: 'write', to: { child: 'b', in: 'in' }, values: ['3' as Encoded] },
    ]
    expect(await run.suspend({ ops })).toBe('queued')
    const { children } = (await world.claim()).find((one) => one.id === id)!.snapshot
    expect(await world.values(children.a!.id, 'out', 'out')).toEqual([])
    expect(await world.values(children.b!.id, 'in', 'in')).toEqual(['1', '2', '3'])
    expect(await world.values(id, 'in', 'in')).toEqual(['1', '2'])
  },
  async 'a refused run has no effect, and other runs of its commit take effect'(world) {
    const id = await source(world, '1', '2')
    const [a, b, c] = [
      await world.make({ out: { out: {} } }),
      await world.make({ out: { out: {} } }),
      await world.make(),
    ]
    const [first, second, third] = await world.claim()
    const spoilt: Op[] = [
      readFrom(id, 'out', 0, 1),
      outOf('out', '1'),
      { op: 'spawn', name: 'x', queue: 'q', class: 'child' },
      { op: 'alias', add: 'spoilt' },
      { op: 'publish', channel: '/a', message: one },
      { op: 'write', to: { job: id, out: 'nowhere' }, values: [one] },
    ]
    const runs = [
      await first!.settled({ ops: spoilt, state: { set: { n: one } } }),
      await second!.settled({ ops: [outOf('out', '2')] }),
      await third!.settled({
        ops: [readFrom(id, 'out', 0, 2), { op: 'spawn', name: 'y', queue: 'q', class: 'child' }],
      }),
    ]
    const { answers } = await world.store.commit({ queue: 'q', runs })
    expect(answers).toEqual([expect.stringMatching(/^refused:/), 'completed', 'completed'])
    expect(await world.values(a, 'out', 'out')).toEqual([])
    expect(await world.values(b, 'out', 'out')).toEqual(['2'])
    expect(await world.document(a)).not.toHaveProperty('s:n')
    expect(await world.document(a)).not.toHaveProperty('aliases')
    expect((await world.store.list({ mode: 'children', name: String(a), limit: 9 })).jobs).toEqual([])
    expect((await world.store.list({ mode: 'children', name: String(c), limit: 9 })).jobs).toHaveLength(1)
    expect((await world.store.list({ mode: 'alias', name: 'spoilt', limit: 9 })).jobs).toEqual([])
  },
  async 'one refused job in a batch refuses the whole batch'(world) {
    const job = { queue: 'q', class: 'plain', known: true }
    await expect(world.store.enqueue([job, { ...job, parent: '999', name: 'x' }])).rejects.toThrow('does not exist')
    expect((await world.store.list({ mode: 'all', limit: 9 })).jobs).toEqual([])
  },
  async 'a job keeps a child that the same call creates below it'(world) {
    const job = { queue: 'q', class: 'plain', known: true }
    const [before, far] = [await world.make(), await world.make()]
    const first = far + (far - before)
    const { made } = await world.store.enqueue([job, { ...job, parent: String(first), name: 'x' }])
    expect(made.map(({ id }) => id)).toEqual([first, first + 1])
    expect(await world.document(first)).toHaveProperty('hasChildren')
  },
}

const rule10: Facts = {
  async 'a refused commit fails without a retry, with its reason'(world) {
    const id = await world.make({ out: { out: {} } })
    const run = await world.claimOne()
    const ops = [outOf('out', '1'), outOf('none', '1')]
    expect(await run.commit({ ops }, retry)).toMatch(/^refused:REFUSED .*none/)
    expect(await world.status(id)).toBe('failed')
    expect(JSON.parse((await world.document(id)).lastError!)).toMatchObject({ code: 'REFUSED' })
    expect(await world.values(id, 'out', 'out')).toEqual([])
  },
  async 'a run with a taken name is retried'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    const spawn: Op = { op: 'spawn', name: 'a', queue: 'other', class: 'child' }
    expect(await run.commit({ ops: [spawn, spawn] }, retry)).toMatch(/^refused:TAKEN/)
    expect(await world.status(id)).toBe('queued')
    expect((await world.document(id)).backoffUntil ?? 0).toBeGreaterThan(world.now() + 5_000)
    expect(await world.document(id)).not.toHaveProperty('hasChildren')
  },
  async 'a run with a missing target is retried'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    expect(await run.commit({ ops: [{ op: 'terminate', job: 999 }] }, retry)).toMatch(/^refused:NOT_FOUND/)
    expect(await world.status(id)).toBe('queued')
  },
  async 'a run with a missing target fails without retries left'(world) {
    const id = await world.make()
    const run = await world.claimOne()
    await run.commit({ ops: [{ op: 'terminate', job: 999 }] }, { max: 0 })
    expect(await world.status(id)).toBe('failed')
  },
  async 'a job of a class that the deployment does not know is delayed, not failed'(world) {
    const id = await world.make({ queue: 'new', class: 'unheard-of' })
    await world.engine({ workers: [], lane: { budget: 500 } }).dispatch('new', 'bell')
    const doc = await world.document(id)
    expect(await world.status(id)).toBe('queued')
    expect(doc.backoffUntil ?? 0).toBeGreaterThan(world.now() + 8_000)
    expect(doc).not.toHaveProperty('failures')
    expect(doc.lastRun).toContain('released')
    world.advance(10_001)
    expect(await world.claim({ queue: 'new' })).toHaveLength(1)
  },
  async 'a job that is delayed for another reason than a failure loses its earlier error'(world) {
    const id = await world.make({ class: 'unheard-of' })
    const errors = []
    for (const message of ['short', 'long '.repeat(200)]) {
      await (await world.claimOne()).fail(retry, message)
      errors.push((await world.document(id)).lastError)
      world.advance(30_000)
      await world.engine({ workers: [], lane: { budget: 500 } }).dispatch('q', 'bell')
      errors.push((await world.document(id)).lastError)
      world.advance(10_001)
    }
    expect(errors).toEqual([expect.stringContaining('short'), undefined, expect.stringContaining('long'), undefined])
  },
}

async function collide(world: World, id: number) {
  await world.push(id, 'in', '1')
  const run = await world.claimOne()
  const { cursor } = run.snapshot.in.in!
  await world.change(id, 'take', '', 'i', 'in', 1)
  expect(await run.commit({ reads: { in: { cursor, count: 1 } } })).toBe('conflict')
}

const minuteOf = (world: World) => Math.floor(world.now() / 60_000)

const rule11: Facts = {
  async 'a conflict runs the job again at once, and uses no attempt'(world) {
    const id = await world.make({ in: { in: {} } })
    for (let i = 0; i < 2; i++) await collide(world, id)
    expect(await world.queueOf()).toMatchObject({ ready: 1, timers: 0 })
    expect((await world.claimOne()).snapshot.run.attempt).toBe(1)
  },
  async 'after three conflicts in a row the job backs off'(world) {
    const id = await world.make({ in: { in: {} } })
    for (let i = 0; i < 4; i++) await collide(world, id)
    expect(await world.queueOf()).toMatchObject({ ready: 0, timers: 1 })
  },
  async 'a successful run resets the count of conflicts'(world) {
    const id = await world.make({ in: { in: {} } })
    for (let i = 0; i < 3; i++) await collide(world, id)
    await (await world.claimOne()).commit({ end: 'again' })
    await collide(world, id)
    expect(await world.queueOf()).toMatchObject({ ready: 1, timers: 0 })
  },
  async 'conflicts do not count as a runaway'(world) {
    const id = await world.make({ in: { in: {} } })
    world.advance(60_000 - (world.now() % 60_000))
    await world.restore(id, { ...(await world.document(id)), runsThisMinute: `${minuteOf(world)}:599` })
    for (let i = 0; i < 3; i++) await collide(world, id)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'lost runs do not count as a runaway'(world) {
    const id = await world.make()
    world.advance(60_000 - (world.now() % 60_000))
    await world.restore(id, { ...(await world.document(id)), runsThisMinute: `${minuteOf(world)}:599` })
    await world.claim({ lease: 1_000, begun: 0 })
    world.advance(1_001)
    await world.tick()
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a job that runs too often in a minute is terminated'(world) {
    const id = await world.make()
    world.advance(60_000 - (world.now() % 60_000))
    await world.restore(id, { ...(await world.document(id)), runsThisMinute: `${minuteOf(world)}:599` })
    await (await world.claimOne()).commit({ end: 'again' })
    expect(await world.claim()).toEqual([])
    expect(await world.status(id)).toBe('terminated')
  },
}

const rule12: Facts = {
  async 'input during a failing run runs the job again after the backoff'(world) {
    const id = await world.make({ in: { in: {} } })
    const run = await world.claimOne()
    await world.push(id, 'in', '1')
    expect(await run.fail(retry)).toBe('queued')
    expect(await world.claim()).toEqual([])
    world.advance(10_001)
    const again = await world.claimOne()
    expect(again.snapshot.run.attempt).toBe(2)
    expect(again.snapshot.in.in!.values).toEqual([{ data: '1' }])
  },
  async 'a failed job keeps new input and is not woken by it'(world) {
    const id = await world.make({ in: { in: {} }, inputs: { in: ['=0'] } })
    const run = await world.claimOne()
    await world.push(id, 'in', '1')
    expect(await run.commit({ end: 'failed', error: { message: 'x' }, reads: { in: { cursor: 0, count: 1 } } })).toBe(
      'failed',
    )
    await world.push(id, 'in', '2')
    expect(await world.status(id)).toBe('failed')
    expect(await world.values(id, 'in', 'in')).toEqual(['0', '1', '2'])
    const { reasons } = await world.engine().jobs.why(String(id))
    expect(reasons.map(({ code, key }) => [code, key])).toEqual([
      ['FAILED', undefined],
      ['INPUT_KEPT', 'in'],
    ])
  },
  async 'a retried job sees newer input'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).fail()
    await world.push(id, 'in', '1')
    await world.change(id, 'retry', '')
    expect((await world.claimOne()).snapshot.in.in!.values).toEqual([{ data: '1' }])
  },
}

const rule13: Facts = {
  async 'only runs that had begun count as lost'(world) {
    const ids = [await world.make(), await world.make(), await world.make()]
    await lose(world, { begun: 1 })
    const lost = await Promise.all(ids.map(async (id) => (await world.document(id)).lostRuns))
    expect(lost).toEqual([1, undefined, undefined])
    expect(await world.queueOf()).toMatchObject({ ready: 2, timers: 1 })
  },
  async 'a run whose lease was extended has begun'(world) {
    const id = await world.make()
    const [run] = await world.claim({ begun: 0 })
    await run!.extend()
    world.advance(45_001)
    await world.tick()
    expect((await world.document(id)).lostRuns).toBe(1)
  },
  async 'lost jobs are claimed in half batches, and alone after a second loss'(world) {
    const ids = await Promise.all(Array.from({ length: 9 }, () => world.make()))
    await lose(world, { max: 9 })
    await ready(world)
    const claims = [await world.claim({ max: 9 }), await world.claim({ max: 9 }), await world.claim({ max: 9 })]
    expect(claims.map((runs) => runs.length)).toEqual([4, 4, 1])
    expect(claims.flat().map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
    world.advance(LEASE + 1)
    await world.tick()
    await ready(world)
    expect(await world.claim({ max: 9 })).toHaveLength(1)
    expect(await world.claim({ max: 9 })).toHaveLength(1)
  },
  async 'lost jobs that are claimed together all begin, so that a second loss counts'(world) {
    const ids = await Promise.all(Array.from({ length: 6 }, () => world.make()))
    await lose(world, { max: 6, begun: 0 })
    const runs = await world.claim({ max: 6, begun: 4 })
    expect(runs).toHaveLength(2)
    const begun = await Promise.all(runs.map(async ({ id }) => (await world.document(id)).begun))
    expect(begun).toEqual(['1', '1'])
    expect(await world.claim({ max: 1, begun: 1 })).toHaveLength(1)
    expect(ids).toHaveLength(6)
  },
  async 'lost jobs share no claim with fresh jobs, before or behind them, of any kind'(world) {
    const pack = async () => {
      const jobs = Array.from({ length: 12 }, (_, i) => ({ queue: 'q', class: 'plain', known: true, args: `${i}` }))
      return (await world.store.enqueue(jobs)).made.map(({ id }) => id)
    }
    const kinds = [
      async () => [await world.make()],
      async () => [await world.make({ retain: 60_000 })],
      async () => [await world.make({ in: { in: {} }, history: 1 })],
      pack,
    ]
    const lane = world.lane()
    for (const make of kinds) {
      const suspects = [await world.make(), await world.make()]
      await lose(world, { max: 2 })
      await ready(world)
      const behind = await make()
      expect(new Set((await lane.ask()).ids)).toEqual(new Set(suspects))
      const before = await world.make({ priority: -1 })
      expect((await lane.ask()).ids).toEqual([before, ...behind])
      for (const id of [...suspects, before, ...behind]) await world.change(id, 'delete', '', '1')
    }
  },
  async 'a claim that skipped lost jobs reports that it has not seen all jobs'(world) {
    await world.make()
    await lose(world)
    await ready(world)
    const other = await world.make({ priority: -1 })
    const claim = { max: 9, lease: LEASE, begun: 9 }
    const { claimed, seen } = await world.store.commit({ queue: 'q', claim })
    expect([claimed.map(({ id }) => id), seen]).toEqual([[other], 0])
  },
  async 'a pull worker finds the job behind 1,100 jobs at a limit that is full'(world) {
    const pulling = (priority: number, concurrency?: number) => ({
      pull: true,
      class: 'remote',
      priority,
      ...(concurrency ? { limits: [{ key: 'full', how: 'set' as const, concurrency }] } : {}),
    })
    const first = await world.make(pulling(-2, 2_000))
    const spec = { queue: 'q', known: true, shutdown: false, ...pulling(-1, 2_000) }
    for (let i = 0; i < 11; i++) await world.store.enqueue(Array.from({ length: 100 }, () => spec))
    expect((await world.claimOne({ pull: true, max: 1, lease: 600_000 })).id).toBe(first)
    const last = await world.make(pulling(1))
    await world.make({ ...pulling(2, 1) })
    const claim = { max: 1, lease: LEASE, begun: 1, pull: true }
    const { claimed, seen } = await world.store.commit({ queue: 'q', claim })
    expect([claimed, seen]).toEqual([[], 0])
    const again = await world.store.commit({ queue: 'q', claim: { ...claim, skip: seen } })
    expect(again.claimed.map(({ id }) => id)).toEqual([last])
  },
  async 'claims of lost jobs and of fresh jobs take turns'(world) {
    const suspects = await Promise.all(Array.from({ length: 4 }, () => world.make()))
    for (let n = 0; n < 2; n++) {
      for (let left = 4; left > 0; ) left -= (await world.claim()).length
      world.advance(LEASE + 1)
      await world.tick()
      await ready(world)
    }
    const lane = world.lane()
    const claims: boolean[][] = []
    for (let n = 0; n < 8; n++) {
      await world.make()
      claims.push((await lane.ask()).ids.map((id) => suspects.includes(id)))
    }
    const alone = [true]
    // The last claim before this loop was for a lost job, so the first claim here is for a new job.
    expect(claims.map(({ length }) => length)).toEqual([1, 1, 2, 1, 2, 1, 2, 1])
    expect(claims.filter(([isSuspect]) => isSuspect)).toEqual([alone, alone, alone, alone])
  },
  async 'lost jobs are claimed group by group if there are no fresh jobs'(world) {
    await Promise.all(Array.from({ length: 4 }, () => world.make()))
    await lose(world, { max: 4 })
    await ready(world)
    const lane = world.lane()
    const answers = [await lane.ask({ max: 4 }), await lane.ask({ max: 4 }), await lane.ask({ max: 4 })]
    expect(answers.map(({ ids, word }) => [ids.length, word])).toEqual([
      [2, 'ok'],
      [2, 'ok'],
      [0, 'empty'],
    ])
  },
  async '100 lost jobs, one of which crashes its lane, need 53 claims'(world) {
    const ids = await Promise.all(Array.from({ length: 100 }, () => world.make({ retain: 3_600_000 })))
    const poison = ids[57]!
    let claims = 0
    let lost = 0
    await lose(world)
    for (let round = 0; round < 3; round++) {
      await ready(world)
      for (const lane = world.lane(); ; ) {
        const { runs } = await lane.ask()
        if (runs.length === 0) break
        claims++
        if (!runs.some(({ id }) => id === poison)) await Promise.all(runs.map((run) => run.commit()))
        else lost += runs.length
      }
      world.advance(LEASE + 1)
      await world.tick()
    }
    expect({ claims, lost }).toEqual({ claims: 2 + 50 + 1, lost: 50 + 1 + 1 })
    expect(new Set(await Promise.all(ids.filter((id) => id !== poison).map(world.status)))).toEqual(
      new Set(['completed']),
    )
  },
  async 'a lost job comes back after a delay that grows with each loss'(world) {
    const id = await world.make()
    await lose(world)
    const backoff = async () => (await world.document(id)).backoffUntil! - world.now()
    expect(await backoff()).toBeLessThanOrEqual(1_000)
    world.advance(1_001)
    await lose(world)
    expect(await backoff()).toBeGreaterThan(1_500)
  },
  async 'a job of an isolated class fails after its second loss'(world) {
    const id = await world.make({ maxLost: 2 })
    for (let i = 0; i < 2; i++) {
      expect(await world.status(id)).toBe('queued')
      await lose(world)
      world.advance(3_600_001)
    }
    expect(await world.status(id)).toBe('failed')
  },
  async 'a job that is lost repeatedly fails'(world) {
    const id = await world.make()
    for (let i = 0; i < 10; i++) {
      expect(await world.status(id)).toBe('queued')
      await lose(world)
      world.advance(3_600_001)
    }
    expect(await world.status(id)).toBe('failed')
  },
  async 'a job with redeliver goes to another worker at once, in a batch, and a bounded number of times'(world) {
    const redeliver = { after: '+5 SECONDS', ms: 5_000, max: 2 }
    const id = await world.make({ pull: true, redeliver })
    for (let n = 0; n < 2; n++) {
      const other = await world.make()
      expect((await world.claim({ pull: true })).map((run) => run.id)).toEqual([id, other])
      world.advance(5_001)
      await world.tick()
      await world.change(other, 'delete', '', '1')
    }
    expect(await world.claim({ pull: true })).toEqual([])
    expect([await world.status(id), (await world.document(id)).lastError]).toEqual([
      'failed',
      expect.stringContaining('delivered 2 times'),
    ])
  },
  async 'a lane leases a job with redeliver as usual; a deferred worker leases it for the job’s own time'(world) {
    const id = await world.make({ redeliver: { after: '+5 MINUTES', ms: 300_000 } })
    const run = await world.claimOne()
    const length = async () => (await world.document(id)).leaseUntil! - world.now()
    expect(await length()).toBeLessThanOrEqual(45_000)
    await world.store.extend('q', [run.token], 300_000, { own: true })
    expect(await length()).toBeGreaterThan(290_000)
    world.advance(200_000)
    await run.extend()
    expect(await length()).toBeGreaterThan(290_000)
  },
  async 'a run given back was not delivered, and a conflict or a checkpoint is an answer'(world) {
    const id = await world.make({ redeliver: { after: '+5 SECONDS', ms: 5_000, max: 1 }, in: { in: {} } })
    const deliveries = async () => (await world.document(id)).deliveries
    const given = await world.claimOne()
    expect(await deliveries()).toBe(1)
    await given.release('at', '0')
    expect(await deliveries()).toBe(0)
    const overtaken = await world.claimOne()
    expect(await overtaken.commit({ reads: { in: { cursor: 1, count: 1 } } })).toBe('conflict')
    expect(await deliveries()).toBeUndefined()
    await (await world.claimOne()).commit({ end: 'checkpoint' })
    expect(await deliveries()).toBeUndefined()
  },
}

export const runs: Record<number, Facts> = {
  5: rule5,
  6: rule6,
  7: rule7,
  8: rule8,
  9: rule9,
  10: rule10,
  11: rule11,
  12: rule12,
  13: rule13,
}
