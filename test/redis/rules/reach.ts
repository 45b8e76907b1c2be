// Rule 70: the jobs that a run may change.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { Facts, World } from '../direct.ts'

const DENIED = /^refused:FORBIDDEN/
const inputs = { in: { in: {} } }

async function tree(world: World) {
  const root = await world.make({ queue: 'other', ...inputs })
  const child = await world.make({ parent: String(root), name: 'a', queue: 'q', ...inputs })
  const below = await world.make({ parent: String(child), name: 'b', queue: 'other', ...inputs })
  const stranger = await world.make({ queue: 'other', ...inputs })
  return { root, child, below, stranger, run: await world.claimOne() }
}

const write = (job: number): Op => ({ op: 'write', to: { job, in: 'in' }, values: [encodeValue(1)] })

const reach: Facts = {
  async 'a run writes to the jobs above and below it'(world) {
    const { root, below, run } = await tree(world)
    expect(await run.commit({ ops: [write(root), write(below)] }, {}, 'family')).toBe('completed')
    expect((await world.engine().ports.get(String(root), 'in', 'in')).size).toBe(1)
    expect((await world.engine().ports.get(String(below), 'in', 'in')).size).toBe(1)
  },
  async 'a run cannot change a foreign job, in any way'(world) {
    const ops = (job: number): Op[] => [
      write(job),
      { op: 'run', job },
      { op: 'terminate', job },
      { op: 'delete', job },
      { op: 'adopt', job, name: 'mine' },
      { op: 'channels', of: { job, in: 'in' }, set: ['/a'] },
      { op: 'connect', from: { in: 'in' }, to: [{ job, in: 'in' }] },
      { op: 'ports', of: { job }, in: {} },
    ]
    for (const at of ops(0).keys()) {
      const { stranger, run } = await tree(world)
      expect(await run.commit({ ops: [ops(stranger)[at]!] }, {}, 'family')).toMatch(DENIED)
      expect(await world.status(stranger)).toBe('queued')
      expect(await world.status(run.id)).toBe('failed')
    }
  },
  async 'a run of a worker with reach to all jobs can change any job'(world) {
    const { stranger, run } = await tree(world)
    const ops: Op[] = [write(stranger), { op: 'adopt', job: stranger, name: 'mine' }]
    expect(await run.commit({ ops }, {}, 'all')).toBe('completed')
    expect((await world.engine().jobs.get(String(stranger))).parent).toEqual({ id: run.id, name: 'mine' })
  },
  async 'a run cannot use force only because the job is in its family'(world) {
    const { run, below } = await tree(world)
    const ops: Op[] = [{ op: 'delete', child: 'b', force: true }]
    expect(await run.commit({ ops }, {}, 'family')).toMatch(DENIED)
    expect(await world.status(below)).toBe('queued')
  },
  async 'a run cannot change a child that it has disowned'(world) {
    const { below, run } = await tree(world)
    const ops: Op[] = [write(below), { op: 'disown', child: 'b' }, write(below)]
    expect(await run.commit({ ops }, {}, 'family')).toMatch(DENIED)
  },
}

const below: Facts = {
  async 'at most a hundred thousand jobs are below one job, and a removed job makes room'(world) {
    const [a] = await crowded(world, 99_999)
    const run = await world.claimOne({ queue: 'other' })
    expect(await run.commit({ end: 'suspended', ops: [spawn('one'), spawn('two')] })).toMatch(
      /^refused:LIMITED job \d+: expected at most 100000/,
    )
    await world.change(a, 'retry', '')
    const again = await world.claimOne({ queue: 'other' })
    expect(await again.suspend({ ops: [spawn('one')] })).toBe('suspended')
    expect((await world.document(a)).descendants).toBe(100000)
    await world.change(a, 'run', '', '1', '', '', '')
    const last = await world.claimOne({ queue: 'other' })
    expect(await last.suspend({ ops: [{ op: 'delete', child: 'one', force: true }, spawn('two')] })).toBe('queued')
    expect((await world.document(a)).descendants).toBe(100000)
  },
  async 'a detached job still counts among the descendants of its first parent'(world) {
    const [a] = await crowded(world, 0)
    const run = await world.claimOne({ queue: 'other' })
    await run.suspend({ ops: [spawn('one'), { op: 'disown', child: 'one' }] })
    expect((await world.document(a)).descendants).toBe(1)
    const child = await world.claimOne()
    await child.suspend({ ops: [spawn('below')] })
    expect((await world.document(a)).descendants).toBe(2)
  },
  async 'at most a thousand generations are below one job'(world) {
    const [a] = await crowded(world, 0)
    const run = await world.claimOne({ queue: 'other' })
    await run.suspend({ ops: [spawn('one')] })
    const child = await world.claimOne()
    const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.job(child.id)))
    const deep = String(text).replace(`"${a},1"`, `"${a},1000"`)
    await world.client.ask((redis) => redis.set(world.store.keys.job(child.id), deep))
    expect(await child.commit({ end: 'suspended', ops: [spawn('below')] })).toMatch(
      /^refused:LIMITED .* generations below/,
    )
  },
}

const spawn = (name: string): Op => ({ op: 'spawn', name, queue: 'q', class: 'child' })

async function crowded(world: World, born: number) {
  const id = await world.make({ queue: 'other' })
  if (born > 0) await world.change(id, 'patch', '1', 'tn', String(born))
  return [id] as const
}

export const reaching = { 70: reach, 71: below }
