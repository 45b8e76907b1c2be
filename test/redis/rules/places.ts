// Rules 14–18: the index of its queue in which a job is stored, and the end of a job.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import { type Facts, queuesOf, type World } from '../direct.ts'

const one = '1' as Encoded
const retry = { max: 3, backoff: { base: 10_000, jitter: 0 } }
const run = (world: World, id: number, { force = '', at = '' }: { force?: '1' | ''; at?: number | '' } = {}) =>
  world.change(id, 'run', '', force, at, '', '')
const terminate = (world: World, id: number, recursive: '1' | '' = '') => world.change(id, 'terminate', '', recursive)
const spawn = (name: string, more: Partial<Extract<Op, { op: 'spawn' }>> = {}): Op => ({
  op: 'spawn',
  name,
  queue: 'q',
  class: 'child',
  ...more,
})
const childOf = async (world: World, parent: number): Promise<number> => {
  const { jobs } = await world.store.list({ mode: 'children', name: String(parent), limit: 1 })
  return jobs[0]!.id
}
const placesOf = async (world: World) => {
  const { ready, pull, timers, leases, suspended, completed, failed, terminated } = await world.queueOf()
  const all = { ready, pull, timers, leases, suspended, completed, failed, terminated }
  return Object.entries(all).flatMap(([place, n]) => (n ? [`${place} ${n}`] : []))
}

const tickAfterMinute = (world: World) => {
  world.advance(60_000)
  return world.tick()
}

const rule14: Facts = {
  async 'a job is in exactly one place, whatever happens to it'(world) {
    const id = await world.make({ in: { in: {} } })
    const steps: [() => Promise<unknown>, string][] = [
      [() => world.claim(), 'leases 1'],
      [() => lastRun(world, id, { end: 'failed', error: { message: 'x' } }), 'timers 1'],
      [() => tickAfterMinute(world), 'ready 1'],
      [() => world.change(id, 'lock', 5_000, 'token'), 'ready 1'],
      [() => world.claim(), 'timers 1'],
      [() => world.change(id, 'unlock', 'token'), 'ready 1'],
      [() => world.claim(), 'leases 1'],
      [() => lastRun(world, id, { end: 'suspended' }), 'suspended 1'],
      [() => world.push(id, 'in', '1'), 'ready 1'],
      [() => world.claim(), 'leases 1'],
      [() => lastRun(world, id, { end: 'completed' }), 'completed 1'],
      [() => run(world, id, { at: world.now() + 5_000 }), 'timers 1'],
      [() => run(world, id), 'ready 1'],
      [() => world.change(id, 'patch', 1, 'p', '5'), 'ready 1'],
      [() => terminate(world, id), 'terminated 1'],
      [() => run(world, id, { force: '1' }), 'ready 1'],
      [() => world.claim(), 'leases 1'],
      [() => lastRun(world, id, { end: 'failed', error: { message: 'x', retry: false } }), 'failed 1'],
      [() => world.change(id, 'retry', ''), 'ready 1'],
    ]
    for (const [step, place] of steps) {
      await step()
      expect(await placesOf(world)).toEqual([place])
      expect(await world.faults()).toEqual([])
    }
  },
  async 'a suspended job names its wake conditions'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).suspend()
    const { reasons } = await world.engine().jobs.why(String(id))
    expect(reasons).toMatchObject([{ code: 'INPUT', key: 'in' }])
  },
}

async function lastRun(world: World, id: number, changes: object) {
  const document = await world.document(id)
  const claimed = { id, document, inputs: {}, children: [], steps: [], childCount: 0, family: [], wires: [] }
  return world.runOf(claimed).commit(changes, retry)
}

const rule15: Facts = {
  async 'a running job that is terminated keeps its lease until its commit'(world) {
    const id = await world.make({ class: 'closing', out: { out: {} } })
    const first = await world.claimOne()
    await terminate(world, id)
    expect(await world.status(id)).toBe('terminating')
    expect(await world.claim()).toEqual([])
    expect(await first.suspend({ ops: [{ op: 'write', to: { out: 'out' }, values: [one] }] })).toBe('terminating')
    expect(await world.values(id, 'out', 'out')).toEqual(['1'])
    const last = await world.claimOne()
    expect(last.snapshot.run.reason).toBe('shutdown')
    expect(await last.commit()).toBe('terminated')
  },
  async 'the lane of a running job learns of its termination when it renews the lease'(world) {
    const id = await world.make({ class: 'closing' })
    const { token } = (await world.claimOne()).snapshot.run
    expect(await world.store.renew('q', [token, '9.1.x'], 45_000, 'lane')).toEqual({ ending: [], lost: ['9.1.x'] })
    await terminate(world, id)
    expect(await world.store.renew('q', [token], 45_000, 'lane')).toEqual({ ending: [token], lost: [] })
  },
  async 'a running job that is terminated keeps its lease until it is taken back'(world) {
    const id = await world.make({ class: 'closing' })
    await world.claimOne()
    await terminate(world, id)
    world.advance(45_001)
    await world.tick()
    expect((await world.claimOne()).snapshot.run.reason).toBe('shutdown')
    expect(await world.status(id)).toBe('terminating')
  },
  async 'a running job that is terminated keeps its lease until it is given back'(world) {
    await world.make({ class: 'closing' })
    const first = await world.claimOne()
    await terminate(world, first.id)
    expect(await first.release()).toBe('terminating')
    expect((await world.claimOne()).snapshot.run.reason).toBe('shutdown')
  },
  async 'a heartbeat of a terminating run reports it, keeps its lease, and the run may finish'(world) {
    await world.make()
    const run = await world.claimOne()
    await terminate(world, run.id)
    expect(await run.extend()).toBeNull()
    expect(await run.commit()).toBe('terminated')
  },
  async 'a run of a terminating job cannot extend itself by checkpoints'(world) {
    for (const [className, status] of [
      ['plain', 'terminated'],
      ['closing', 'terminating'],
    ] as const) {
      const id = await world.make({ class: className })
      const run = await world.claimOne()
      await terminate(world, id)
      expect(await run.commit({ end: 'checkpoint', state: { set: { a: '1' } } } as never)).toBe('lost')
      expect(await world.status(id)).toBe(status)
      expect(await world.document(id)).not.toHaveProperty('s:a')
      for (const last of await world.claim()) {
        expect(await last.commit({ end: 'checkpoint' })).toBe('running')
        expect(await last.commit({ n: 1 })).toBe('terminated')
      }
    }
  },
  async 'a shutdown run that is given back is repeated as a shutdown run'(world) {
    const id = await world.make({ class: 'closing' })
    await terminate(world, id)
    await (await world.claimOne()).release('wait', '5000')
    expect(await world.claim()).toEqual([])
    world.advance(5_001)
    expect((await world.claimOne()).snapshot.run.reason).toBe('shutdown')
  },
  async 'without a shutdown hook the end of the run is the end of the job'(world) {
    for (const end of ['commit', 'fail', 'release'] as const) {
      await world.make()
      const first = await world.claimOne()
      await terminate(world, first.id)
      expect(await first[end]()).toBe('terminated')
    }
    const id = await world.make()
    await world.claimOne()
    await terminate(world, id)
    world.advance(45_001)
    await world.tick()
    expect(await world.status(id)).toBe('terminated')
  },
  async 'a job with a shutdown hook that waits runs once more'(world) {
    const id = await world.make({ class: 'closing', at: world.now() + 60_000 })
    await terminate(world, id)
    expect(await world.status(id)).toBe('terminating')
    const last = await world.claimOne()
    expect(last.snapshot.run.reason).toBe('shutdown')
    await last.suspend()
    expect(await world.status(id)).toBe('terminated')
  },
  async 'nothing wakes a job that is terminating'(world) {
    const id = await world.make({ class: 'closing', in: { in: {} } })
    await terminate(world, id)
    const last = await world.claimOne()
    await world.push(id, 'in', '1')
    expect(await run(world, id)).toEqual([String(id), 'terminating', ''])
    expect(await last.commit()).toBe('terminated')
  },
  async 'a forced delete of a running job ends with its run'(world) {
    const id = await world.make()
    const first = await world.claimOne()
    await expect(world.change(id, 'delete', '', '')).rejects.toThrow('terminate it')
    expect(await world.change(id, 'delete', '', '1')).toEqual(['ending'])
    expect(await world.status(id)).toBe('terminating')
    await first.commit()
    await expect(world.document(id)).rejects.toThrow('does not exist')
  },
  async 'a forced delete of a running job ends when its lease is taken back'(world) {
    const id = await world.make()
    await world.claimOne()
    await world.change(id, 'delete', '', '1')
    world.advance(45_001)
    await world.tick()
    await expect(world.document(id)).rejects.toThrow('does not exist')
  },
  async 'a deleted job that is then run by force is not removed when that run ends'(world) {
    const revived = [
      (id: number) => world.change(id, 'run', '', '1', '', '', ''),
      (id: number) => world.change(id, 'requeue', '', ''),
    ]
    for (const revive of revived) {
      const id = await world.make()
      const run = await world.claimOne()
      expect(await world.change(id, 'delete', '', '1')).toEqual(['ending'])
      await revive(id)
      await run.commit()
      for (const next of await world.claim()) await next.commit()
      expect(await world.status(id)).toBe('completed')
    }
  },
  async 'a forced delete of a tree waits for the last run in the tree'(world) {
    const id = await world.make()
    await (await world.claimOne()).suspend({ ops: [spawn('a'), spawn('b')] })
    const runs = await world.claim()
    expect(await world.change(id, 'delete', '', '1')).toEqual(['ending'])
    await runs[0]!.commit()
    expect(await world.status(id)).toBe('terminated')
    await runs[1]!.commit()
    await expect(world.document(id)).rejects.toThrow('does not exist')
    expect((await world.store.list({ mode: 'all', limit: 9 })).jobs).toEqual([])
  },
  async 'no caller outside can add a job below a terminating job'(world) {
    const id = await world.make({ class: 'closing' })
    await terminate(world, id)
    await expect(world.make({ parent: String(id), name: 'x' })).rejects.toThrow('terminating')
    const orphan = await world.make()
    await expect(world.change(id, 'adopt', orphan, 'x')).rejects.toThrow('terminating')
  },
  async 'children of a terminating job are created terminating'(world) {
    const id = await world.make()
    const first = await world.claimOne()
    await terminate(world, id)
    expect(await first.commit({ ops: [spawn('a'), spawn('b', { class: 'closing' })] })).toBe('terminated')
    const { jobs } = await world.store.list({ mode: 'children', name: String(id), limit: 9 })
    const statuses = await Promise.all(jobs.map(async (job) => [job.document.class, await world.status(job.id)]))
    expect(statuses.sort()).toEqual([
      ['child', 'terminated'],
      ['closing', 'terminating'],
    ])
  },
  async 'children of a shutdown run are created terminating'(world) {
    const id = await world.make({ class: 'closing' })
    await terminate(world, id)
    await (await world.claimOne()).commit({ ops: [spawn('a')] })
    expect(await world.status(await childOf(world, id))).toBe('terminated')
  },
}

const brought: Record<string, (world: World, className: string) => Promise<number>> = {
  queued: (world, className) => world.make({ class: className }),
  async suspended(world, className) {
    const id = await world.make({ class: className })
    await (await world.claimOne()).suspend()
    return id
  },
  async completed(world, className) {
    const id = await world.make({ class: className })
    await (await world.claimOne()).commit()
    return id
  },
  async failed(world, className) {
    const id = await world.make({ class: className })
    await (await world.claimOne()).fail()
    return id
  },
}

const rule16: Facts = {
  ...Object.fromEntries(
    Object.entries(brought).flatMap(([status, bring]) => [
      [
        `a ${status} job without a shutdown hook is terminated at once`,
        async (world: World) => {
          const id = await bring(world, 'plain')
          expect(await terminate(world, id)).toEqual([String(id), 'terminated', ''])
        },
      ],
      [
        `a ${status} job with a shutdown hook runs it first`,
        async (world: World) => {
          const id = await bring(world, 'closing')
          expect(await terminate(world, id)).toEqual([String(id), 'terminating', ''])
          expect((await world.claimOne()).snapshot.run.reason).toBe('shutdown')
        },
      ],
    ]),
  ),
  async 'force brings a terminating job back'(world) {
    const id = await world.make({ class: 'closing' })
    await terminate(world, id)
    expect(await run(world, id)).toEqual([String(id), 'terminating', ''])
    expect(await run(world, id, { force: '1' })).toEqual([String(id), 'queued', '1'])
    expect((await world.claimOne()).snapshot.run.reason).toBe('run')
  },
  async 'the parent of a terminating job sees when force brings the job back'(world) {
    const id = await world.make({ queue: 'other' })
    await (await world.claimOne({ queue: 'other' })).suspend({ ops: [spawn('a', { class: 'closing' })] })
    const child = await childOf(world, id)
    await terminate(world, child)
    await run(world, child, { force: '1' })
    const { children } = await world.engine().jobs.get(String(id))
    expect(children.a!.status).toBe('queued')
  },
  async 'force brings back a terminating job whose shutdown run was delayed'(world) {
    const id = await world.make({ queue: 'other' })
    await (await world.claimOne({ queue: 'other' })).suspend({ ops: [spawn('a', { class: 'closing' })] })
    const child = await childOf(world, id)
    await terminate(world, child)
    await (await world.claimOne()).release('wait', '5000')
    expect(await run(world, child, { force: '1' })).toEqual([String(child), 'queued', '1'])
    expect((await world.claimOne()).snapshot.run.reason).toBe('run')
  },
  async 'force during a run cancels the termination'(world) {
    const id = await world.make({ class: 'closing' })
    const first = await world.claimOne()
    await terminate(world, id)
    await run(world, id, { force: '1' })
    expect(await world.status(id)).toBe('running')
    expect(await first.commit()).toBe('queued')
    expect((await world.claimOne()).snapshot.run.reason).toBe('run')
  },
  async 'force during the shutdown run runs the job again after it'(world) {
    const id = await world.make({ class: 'closing' })
    await terminate(world, id)
    const last = await world.claimOne()
    await run(world, id, { force: '1' })
    await last.commit()
    expect(await world.status(id)).toBe('queued')
    expect((await world.claimOne()).snapshot.run.reason).toBe('run')
  },
  async 'only force wakes a terminated job'(world) {
    const id = await world.make({ in: { in: {} } })
    await terminate(world, id)
    await world.push(id, 'in', '1')
    await run(world, id)
    expect(await world.status(id)).toBe('terminated')
    await run(world, id, { force: '1' })
    expect(await world.status(id)).toBe('queued')
  },
  async 'a failed job runs again with force, and counts its attempts from zero'(world) {
    const id = await world.make()
    await (await world.claimOne()).fail()
    await run(world, id)
    expect(await world.status(id)).toBe('failed')
    await run(world, id, { force: '1' })
    expect((await world.claimOne()).snapshot.run.attempt).toBe(1)
  },
}

const rule17: Facts = {
  async 'an early run keeps a later time of the job'(world) {
    const at = world.now() + 60_000
    const id = await world.make({ at, in: { in: {} } })
    await world.push(id, 'in', '1')
    const early = await world.claimOne()
    expect(await early.suspend()).toBe('queued')
    expect(await world.claim()).toEqual([])
    world.advance(60_001)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a manual run cancels a later time of the job'(world) {
    const id = await world.make({ at: world.now() + 60_000 })
    await run(world, id, { force: '1' })
    expect(await (await world.claimOne()).commit()).toBe('completed')
    world.advance(60_001)
    expect(await world.claim()).toEqual([])
  },
  async 'a commit with a new time replaces the previous time'(world) {
    const id = await world.make({ at: world.now() + 60_000 })
    await run(world, id)
    const { commit } = await world.claimOne()
    await commit({ end: 'again', wait: 120_000 })
    world.advance(60_001)
    expect(await world.claim()).toEqual([])
    world.advance(60_000)
    expect((await world.claim()).map((one) => one.id)).toEqual([id])
  },
  async 'input wakes a job that waits for a time'(world) {
    const id = await world.make({ at: world.now() + 60_000, in: { in: {} } })
    expect(await world.claim()).toEqual([])
    await world.push(id, 'in', '1')
    expect(await world.claim()).toHaveLength(1)
  },
  async 'input does not shorten a backoff'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).fail(retry)
    await world.push(id, 'in', '1')
    await run(world, id)
    expect(await world.claim()).toEqual([])
    world.advance(10_001)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'input does not shorten a lock'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).suspend()
    await world.change(id, 'lock', 10_000, 'token')
    await world.push(id, 'in', '1')
    expect(await world.queueOf()).toMatchObject({ ready: 0, timers: 1 })
    expect(await world.claim()).toEqual([])
    world.advance(10_001)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'input during a backoff takes precedence over a later time'(world) {
    const id = await world.make({ in: { in: {} } })
    await (await world.claimOne()).fail(retry)
    await world.push(id, 'in', '1')
    await run(world, id, { at: world.now() + 600_000 })
    world.advance(10_001)
    const early = await world.claimOne()
    expect(await early.suspend()).toBe('queued')
    expect(await world.claim()).toEqual([])
    world.advance(600_000)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a ready job stays ready when a later run is requested'(world) {
    const id = await world.make()
    await run(world, id, { at: world.now() + 60_000 })
    expect(await (await world.claimOne()).suspend()).toBe('queued')
    world.advance(60_001)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a new priority leaves a job ready that is ready before its time'(world) {
    const id = await world.make({ at: world.now() + 60_000, in: { in: {} } })
    await world.push(id, 'in', '1')
    await world.change(id, 'patch', 1, 'p', '3')
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a new slot leaves a job ready that input has made ready for pull workers'(world) {
    const id = await world.make({ at: world.now() + 60_000, in: { in: {} }, pull: true })
    await world.push(id, 'in', '1')
    const slot = (moment: number) => world.change(id, 'patch', 1, 'ns', String(moment))
    await slot(world.now() + 120_000)
    await slot(world.now() - 1)
    await world.make({ pull: true })
    await slot(world.now() + 120_000)
    expect((await world.claim({ pull: true, max: 1 })).map((one) => one.id)).toEqual([id])
  },
  async 'a new time makes a job wait again that was ready before its time'(world) {
    const id = await world.make({ at: world.now() + 60_000, in: { in: {} }, pull: true })
    await world.push(id, 'in', '1')
    await world.change(id, 'patch', 1, 'w', String(world.now() + 120_000))
    expect(await world.claim({ pull: true })).toEqual([])
  },
  async 'a registration leaves a job ready that is ready before its time'(world) {
    const id = await world.make({ at: world.now() + 60_000, in: { in: {} } })
    await world.push(id, 'in', '1')
    await world.store.register('q', [{ name: 'plain', definition: '{"pull":true}', serves: 'pull' }])
    expect(await world.claim({ pull: true })).toHaveLength(1)
  },
}

const rule18: Facts = {
  async 'a locked job is not leased before its lock ends'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 10_000, 'token')
    expect(await world.claim()).toEqual([])
    expect(await world.queueOf()).toMatchObject({ ready: 0, timers: 1 })
    world.advance(10_001)
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'a locked job is not leased to a claim by its id'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 10_000, 'token')
    expect(await world.claim({ only: id })).toEqual([])
    world.advance(10_001)
    expect((await world.claimOne({ only: id })).id).toBe(id)
  },
  async 'unlocking makes the job ready, and rings'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 60_000, 'token')
    await world.claim()
    world.advance(21_000)
    const { rings } = await world.store.change(String(id), [['unlock', 'token']])
    expect(queuesOf(rings)).toEqual(['q'])
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a job that was ready before its time is ready again when it is unlocked'(world) {
    const id = await world.make({ at: world.now() + 600_000, in: { in: {} } })
    await world.push(id, 'in', '1')
    await world.change(id, 'lock', 60_000, 'token')
    expect(await world.claim()).toEqual([])
    await world.change(id, 'unlock', 'token')
    expect(await world.claim()).toHaveLength(1)
  },
  async 'a running job cannot be locked'(world) {
    const id = await world.make()
    await world.claimOne()
    await expect(world.change(id, 'lock', 10_000, 'token')).rejects.toMatchObject({ code: 'BUSY' })
  },
  async 'a lock is held by its token'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 10_000, 'token')
    await expect(world.change(id, 'lock', 10_000, 'other')).rejects.toMatchObject({ code: 'BUSY' })
    await expect(world.change(id, 'unlock', 'other')).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(world.change(id, 'refresh', 'other', 10_000)).rejects.toMatchObject({ code: 'CONFLICT' })
  },
  async 'a refreshed lock lasts longer'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 10_000, 'token')
    await world.claim()
    world.advance(5_000)
    await world.change(id, 'refresh', 'token', 10_000)
    world.advance(6_000)
    expect(await world.claim()).toEqual([])
    world.advance(4_001)
    expect(await world.claim()).toHaveLength(1)
  },
  async 'an expired lock has no holder'(world) {
    const id = await world.make()
    await world.change(id, 'lock', 10_000, 'token')
    world.advance(10_001)
    await expect(world.change(id, 'unlock', 'token')).rejects.toMatchObject({ code: 'CONFLICT' })
    await world.change(id, 'lock', 10_000, 'other')
  },
}

export const places: Record<number, Facts> = { 14: rule14, 15: rule15, 16: rule16, 17: rule17, 18: rule18 }
