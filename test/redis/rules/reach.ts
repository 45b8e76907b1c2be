// Rule 70: which jobs a run may change.

import { expect } from 'vitest'
import { wire } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { Facts, World } from '../direct.ts'

const DENIED = /^refused:FORBIDDEN/
const inputs = { in: { in: {} } }

/** A job with a child and a grandchild, of which the child is running; and a stranger. */
async function tree(world: World) {
  const root = await world.make({ queue: 'other', ...inputs })
  const child = await world.make({ parent: String(root), name: 'a', queue: 'q', ...inputs })
  const below = await world.make({ parent: String(child), name: 'b', queue: 'other', ...inputs })
  const stranger = await world.make({ queue: 'other', ...inputs })
  return { root, child, below, stranger, run: await world.claimOne() }
}

const write = (job: number): Op => ({ op: 'write', to: { job, in: 'in' }, values: [wire(1)] })

const reach: Facts = {
  async 'a run writes to the jobs above and below it'(world) {
    const { root, below, run } = await tree(world)
    expect(await run.commit({ ops: [write(root), write(below)] }, {}, 'family')).toBe('completed')
    expect((await world.engine().look(String(root), 'in', 'in')).size).toBe(1)
    expect((await world.engine().look(String(below), 'in', 'in')).size).toBe(1)
  },
  async "a run cannot change somebody else's job, whatever it does"(world) {
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
  async 'a run of a worker that reaches all changes any job'(world) {
    const { stranger, run } = await tree(world)
    const ops: Op[] = [write(stranger), { op: 'adopt', job: stranger, name: 'mine' }]
    expect(await run.commit({ ops }, {}, 'all')).toBe('completed')
    expect((await world.engine().get(String(stranger))).parent).toEqual({ id: run.id, name: 'mine' })
  },
  async 'force needs more than being of the family'(world) {
    const { run, below } = await tree(world)
    const ops: Op[] = [{ op: 'delete', child: 'b', force: true }]
    expect(await run.commit({ ops }, {}, 'family')).toMatch(DENIED)
    expect(await world.status(below)).toBe('queued')
  },
  async 'a child that a run has let go is a stranger to the run'(world) {
    const { below, run } = await tree(world)
    const ops: Op[] = [write(below), { op: 'disown', child: 'b' }, write(below)]
    expect(await run.commit({ ops }, {}, 'family')).toMatch(DENIED)
  },
}

export const reaching = { 70: reach }
