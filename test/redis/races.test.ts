// Crashes and races that lost or repeated work in SideJob, the predecessor of sidejob. Each test fails if the Redis
// scripts have the same fault.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import type { Op } from '../../src/core/run.ts'
import { kind, startState } from '../kit/index.ts'
import { type Fault, isNoticed, readScripts } from './broken.ts'
import { createWorld, type Making, type World } from './direct.ts'

type Window = { says: string; fact: (world: World) => Promise<void>; broken: Fault }

const value = (n: number | string): Encoded => JSON.stringify(n) as Encoded
const one: Making = { in: { in: {} }, out: { out: {} } }
const retry = { max: 3, backoff: { base: 1_000, jitter: 0 } }
const FOR_EVER = 600_000

async function die(world: World): Promise<void> {
  world.advance(46_000)
  await world.tick()
  world.advance(2_000)
}

const seen = ({ snapshot }: { snapshot: { in: Record<string, { values: { data: Encoded }[] }> } }, port = 'in') =>
  (snapshot.in[port]?.values ?? []).map(({ data }) => data)
const write = (...values: number[]): Op => ({ op: 'write', to: { out: 'out' }, values: values.map(value) })
const broken: Op = { op: 'write', to: { in: 'nowhere' }, values: [value(0)] }
const read = (cursor: number, count: number) => ({ in: { cursor, count } })
const run = (world: World, id: number, force = '', wait = '') => world.change(id, 'run', '', force, '', wait, '')
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    ({ code }: { code?: string }) => code,
  )
const wins = async (calls: Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled').length

async function resting(world: World, making: Making = one): Promise<number> {
  const id = await world.make(making)
  await (await world.claimOne()).suspend()
  return id
}

const NO_ROLLBACK = {
  file: 'lib/run/finish.lua',
  find: 'ok, status = journal.isolate(run.id, ',
  replace: 'ok, status = pcall(',
}
const NO_JOURNAL = {
  file: 'lib/runtime/cache.lua',
  find: '  journal.put(doc, field, value)\n',
  replace: '  doc[field] = value\n',
}

const windows: Record<string, Window> = {
  R1: {
    says: 'if a process dies after its read, the values are still there, and no data is left',
    async fact(world) {
      const id = await world.make(one)
      const large = ['1', `"${'2'.repeat(600)}"`]
      await world.push(id, 'in', ...large)
      expect(seen(await world.claimOne())).toEqual(large)
      await die(world)
      const again = await world.claimOne()
      expect(seen(again)).toEqual(large)
      expect(await world.values(id, 'out', 'out')).toEqual([])
      expect(await again.commit({ reads: read(0, 2), ops: [write(3)] })).toBe('completed')
      expect(await world.values(id, 'out', 'out')).toEqual(['3'])
    },
    broken: {
      file: 'lib/run/snapshot.lua',
      find: 'local more = lists.now(port, math.min(step, n - #items), (skip or 0) + #items)',
      replace:
        "local more = redis.call('LPOP', redis_keys.list(port), n) or lists.now(port, math.min(step, n - #items), (skip or 0) + #items)",
      says: 'a claim takes the values it shows',
    },
  },
  R2: {
    says: 'a run that is released at a deploy leaves its job queued, with its inputs',
    async fact(world) {
      const id = await world.make(one)
      await world.push(id, 'in', '1')
      await (await world.claimOne()).release()
      expect(await world.status(id)).toBe('queued')
      expect(seen(await world.claimOne())).toEqual(['1'])
    },
    broken: {
      file: 'lib/run/retry.lua',
      find: '    values.set_value(id, doc, fields.last_error, run.error)\n  end\n  queueing.enqueue(id, doc, true)\n',
      replace: '    values.set_value(id, doc, fields.last_error, run.error)\n  end\n',
      says: 'a run given back leaves its job in place',
    },
  },
  R3: {
    says: 'a failed run has consumed no values, and is retried',
    async fact(world) {
      const id = await world.make(one)
      await world.push(id, 'in', '1', '2')
      const failing = await world.claimOne()
      const failed = { end: 'failed' as const, error: { message: 'broken' }, reads: read(0, 2), ops: [write(1)] }
      expect(await failing.commit(failed, retry)).toBe('queued')
      expect(await world.values(id, 'out', 'out')).toEqual([])
      world.advance(2_000)
      expect(seen(await world.claimOne())).toEqual(['1', '2'])
    },
    broken: {
      file: 'lib/run/retry.lua',
      find: "  counts.add(doc, 'errors')\n",
      replace: "  counts.add(doc, 'errors')\n  cache.change(id, doc, 'vi:in', nil)\n",
      says: 'values read by a failed run are lost',
    },
  },
  R4: {
    says: 'input that arrives between the last read and the commit runs the job again',
    async fact(world) {
      for (const end of ['completed', 'suspended'] as const) {
        const id = await world.make(one)
        const running = await world.claimOne()
        await world.push(id, 'in', '1')
        expect(await running.commit({ end })).toBe('queued')
        const again = await world.claimOne()
        expect(seen(again)).toEqual(['1'])
        await again.commit({ reads: read(0, 1) })
      }
    },
    broken: {
      file: 'lib/run/finish.lua',
      find: 'if own or (child and not waiting) then',
      replace: 'if child and not waiting then',
      says: 'the end of a run overwrites newer input',
    },
  },
  R5: {
    says: 'a wake-up during a failing run is not lost: the job is retried with the input, or keeps it',
    async fact(world) {
      const id = await world.make(one)
      const failing = await world.claimOne()
      await world.push(id, 'in', '1')
      expect(await failing.fail(retry)).toBe('queued')
      world.advance(2_000)
      const last = await world.claimOne()
      expect(seen(last)).toEqual(['1'])
      await world.push(id, 'in', '2')
      expect(await last.fail()).toBe('failed')
      expect(await world.values(id, 'in', 'in')).toEqual(['1', '2'])
      await world.change(id, 'retry', '')
      expect(seen(await world.claimOne())).toEqual(['1', '2'])
    },
    broken: {
      file: 'lib/run/retry.lua',
      find: "  elseif delay ~= '' then\n",
      replace: "  elseif delay ~= '' and not doc.input_during_run then\n",
      says: 'a run that fails after a wake-up fails for good',
    },
  },
  R6: {
    says: 'a job terminated during its run is terminated when the run ends, no matter what reads it in between',
    async fact(world) {
      const id = await world.make(one)
      const running = await world.claimOne()
      await world.change(id, 'terminate', '', '')
      expect(await world.claim()).toEqual([])
      expect(await world.status(id)).toBe('terminating')
      expect(await running.commit()).toBe('terminated')
    },
    broken: {
      file: 'lib/run/finish.lua',
      find: '  if doc.terminating then return ending.terminate_now(id, doc) end\n',
      replace: '',
      says: 'the end of a run loses the termination of the job',
    },
  },
  R7: {
    says: 'a job that is terminated just before or just after its claim is terminated',
    async fact(world) {
      const before = await world.make({ class: 'closing' })
      await world.change(before, 'terminate', '', '')
      const shutdown = await world.claimOne()
      expect(shutdown.snapshot.run.reason).toBe('shutdown')
      expect(await shutdown.commit()).toBe('terminated')
      const after = await world.make({ class: 'closing' })
      const running = await world.claimOne()
      await world.change(after, 'terminate', '', '')
      expect(await running.commit()).toBe('terminating')
      expect(await (await world.claimOne()).commit()).toBe('terminated')
    },
    broken: {
      file: 'lib/run/claim.lua',
      find: 'if doc.terminating then cache.change(id, doc, fields.terminating, TERMINATING.shutdown) end',
      replace: 'cache.change(id, doc, fields.terminating, nil)',
      says: 'a claim overwrites a requested termination',
    },
  },
  R8: {
    says: 'a run that is requested while a dead process holds the job takes place',
    async fact(world) {
      const id = await world.make(one)
      await world.claimOne()
      await run(world, id)
      await die(world)
      const again = await world.claimOne()
      expect(again.id).toBe(id)
      expect(await again.commit()).toBe('completed')
    },
    broken: {
      file: 'lib/queue/due.lua',
      find: '    retry.lose(id, doc)\n',
      replace: '',
      says: 'the lease of a dead process is never taken back',
    },
  },
  R9: {
    says: 'if a job has two runs and the lease of one has ended, only the leased run counts',
    async fact(world) {
      const id = await world.make(one)
      const slow = await world.claimOne()
      await die(world)
      const second = await world.claimOne()
      expect(await slow.commit({ ops: [write(1)] })).toBe('lost')
      expect(await second.commit({ ops: [write(2)] })).toBe('completed')
      expect(await world.values(id, 'out', 'out')).toEqual(['2'])
    },
    broken: {
      file: 'lib/run/finish.lua',
      find: 'doc.token ~= run.token or tonumber(doc.lease_until) <= time.now',
      replace: 'tonumber(doc.lease_until or 0) <= time.now',
      says: 'any run of the job may commit',
    },
  },
  R10: {
    says: 'a value and its wake-up are stored in one step, so the writer may die right after',
    async fact(world) {
      const id = await resting(world)
      await world.push(id, 'in', '1')
      expect(await world.status(id)).toBe('queued')
      expect(seen(await world.claimOne())).toEqual(['1'])
    },
    broken: {
      file: 'lib/port/write.lua',
      find: "  if is_quiet then return end\n  if port.dir == 'i' then queueing.wake(port.id, port.doc, 'own')",
      replace: "  if is_quiet then return end\n  if port.dir == 'i' then return",
      says: 'another call performs the wake-up',
    },
  },
  R11: {
    says: 'an output port publishes in the commit that writes it, or not at all',
    async fact(world) {
      const listener = await resting(world, { in: { in: { channels: ['/a'] } } })
      await world.make({ out: { out: { channels: ['/a'] } } })
      const running = await world.claimOne()
      expect(await running.commit({ ops: [write(1), broken] })).toMatch(/^refused/)
      expect(await world.values(listener, 'in', 'in')).toEqual([])
      await world.change(running.id, 'retry', '')
      await (await world.claimOne()).commit({ ops: [write(2)] })
      expect(await world.values(listener, 'in', 'in')).toEqual(['2'])
      expect(await world.values(running.id, 'out', 'out')).toEqual(['2'])
    },
    broken: {
      file: 'lib/port/write.lua',
      find: 'for _, channel in ipairs(channels) do write.publish(channel, items) end',
      replace: '',
      says: 'another call sends the message',
    },
  },
  R12: {
    says: 'a listener that cannot accept a message affects neither other listeners nor the publisher',
    async fact(world) {
      const listening = { in: { in: { channels: ['/a'] } } }
      const [first, gone, last] = [
        await resting(world, listening),
        await resting(world, listening),
        await resting(world, listening),
      ]
      // In a restored backup, the channel still names a deleted job.
      await world.change(gone, 'delete', '', '1')
      const { channel, channels, audience } = world.store.keys
      const members = [first, last, gone].map((id) => `${id}:in`).join(' ')
      await world.client.ask((redis) => redis.zadd(channel('/a'), { score: 0, member: `${gone}:in` }))
      await world.client.ask((redis) => redis.hset(channels, { '/a': '3' }))
      await world.client.ask((redis) => redis.set(audience('/a'), `3 ${members}`))
      expect(await world.change('', 'publish', '/a', '=1')).toEqual(['2'])
      for (const id of [first, last]) expect(await world.values(id, 'in', 'in')).toEqual(['1'])
    },
    broken: {
      file: 'lib/port/write.lua',
      find: '    audience.member_change(channel, member, false)\n    return 0\n',
      replace: "    journal.refuse('NOT_FOUND', member)\n",
      says: 'a departed listener stops the message for the rest',
    },
  },
  R13: {
    says: 'a connection moves its values and wakes their new owner in one step, or changes nothing',
    async fact(world) {
      const [from, to] = [await resting(world), await resting(world, { in: { in: {} } })]
      await run(world, from)
      const source = await world.claimOne()
      await source.commit({ ops: [write(1, 2)] })
      await run(world, from)
      const target = (job: number) => ({ job, in: 'in' })
      const connect = (...jobs: number[]): Op => ({ op: 'connect', from: { out: 'out' }, to: jobs.map(target) })
      expect(await (await world.claimOne()).commit({ ops: [connect(to), broken] })).toMatch(/^refused/)
      expect(await world.values(from, 'out', 'out')).toEqual(['1', '2'])
      expect([await world.values(to, 'in', 'in'), await world.status(to)]).toEqual([[], 'suspended'])
      await world.change(from, 'connect', '', 'o', 'out', 1, to, 'i', 'in')
      expect(await world.values(from, 'out', 'out')).toEqual([])
      expect(seen(await world.claimOne())).toEqual(['1', '2'])
    },
    broken: { ...NO_ROLLBACK, says: 'a connection that is refused has moved values' },
  },
  R14: {
    says: 'a connection to a deleted job leaves the values in place, and creates no orphans',
    async fact(world) {
      const [from, to] = [await resting(world), await resting(world)]
      await run(world, from)
      await (await world.claimOne()).commit({ ops: [write(1)] })
      await world.change(to, 'delete', '', '1')
      const connected = world.change(from, 'connect', '', 'o', 'out', 1, to, 'i', 'in')
      expect(await refusal(connected)).toBe('NOT_FOUND')
      expect(await world.values(from, 'out', 'out')).toEqual(['1'])
      expect(await world.client.ask((redis) => redis.keys(`${world.store.keys.job(to)}*`))).toEqual([])
    },
    broken: {
      file: 'lib/runtime/cache.lua',
      find: '  if not doc then cache.miss(id) end\n',
      replace:
        "  if not doc then\n    doc = { q = 'q', c = 'plain', z = 's', n = '0', ['i:in'] = '0,0' }\n    journal.put(cache.docs, id, doc)\n  end\n",
      says: 'a connection writes to a deleted job',
    },
  },
  R15: {
    says: 'jobs with parent, ports and first values are created in one step, and a refusal creates none of them',
    async fact(world) {
      const parent = await resting(world, {})
      const child = { queue: 'q', class: 'child', known: true, parent: String(parent), name: 'a', ...one }
      const made = world.store.enqueue([child, { ...child, inputs: { nowhere: ['=1'] }, name: 'b' }])
      expect(await refusal(made)).toBe('REFUSED')
      expect((await world.store.inspect(String(parent))).children).toEqual([])
      expect(await world.queueOf()).toMatchObject({ ready: 0, suspended: 1 })
      await world.store.enqueue([{ ...child, inputs: { in: ['=1'] } }])
      expect(seen(await world.claimOne())).toEqual(['1'])
    },
    broken: {
      file: 'scripts/enqueue.lua',
      find: 'if not ok then return reply.refused',
      replace: 'if not ok then work.flush() end\nif not ok then return reply.refused',
      says: 'jobs created before the refusal stay',
    },
  },
  R16: {
    says: 'when two jobs are adopted at once under one name, one is a child and the other is not orphaned',
    async fact(world) {
      const parent = await resting(world, {})
      const orphans = [await resting(world, {}), await resting(world, {})]
      expect(await wins(orphans.map((id) => world.change(parent, 'adopt', id, 'a')))).toBe(1)
      const parents = await Promise.all(orphans.map(async (id) => (await world.document(id)).parent))
      expect(parents.sort()).toEqual([String(parent), undefined])
    },
    broken: {
      file: 'lib/family/kin.lua',
      find: "if taken_by and cache.find(taken_by) then journal.refuse('TAKEN'",
      replace: "if false then journal.refuse('TAKEN'",
      says: 'a name is given to two children',
    },
  },
  R17: {
    says: 'when two jobs take an alias at once, one gets the alias and the other is refused',
    async fact(world) {
      const ids = [await resting(world, {}), await resting(world, {})]
      expect(await wins(ids.map((id) => world.change(id, 'alias', 'x')))).toBe(1)
      const aliases = await Promise.all(ids.map(async (id) => (await world.document(id)).aliases))
      const owner = ids[aliases.findIndex((al) => al !== undefined)]
      expect(aliases.filter((al) => al !== undefined)).toEqual(['["x"]'])
      expect((await world.store.inspect('x')).id).toBe(owner)
    },
    broken: {
      file: 'lib/job/aliases.lua',
      find: "if owner and owner ~= id then journal.refuse('TAKEN', 'alias '",
      replace: "if false then journal.refuse('TAKEN', 'alias '",
      says: 'an alias is given to two jobs',
    },
  },
  R18: {
    says: 'a child that is created just before its parent is deleted keeps the parent; a child that is created just after is refused',
    async fact(world) {
      const parent = await resting(world, {})
      await world.change(parent, 'terminate', '', '')
      const child = { parent: String(parent), name: 'a' }
      const id = await world.make(child)
      expect(await refusal(world.change(parent, 'delete', '', ''))).toBe('WRONG_STATUS')
      expect(await world.status(id)).toBe('queued')
      await world.change(id, 'terminate', '', '')
      const [deleted, made] = await Promise.allSettled([
        world.change(parent, 'delete', '', ''),
        world.make({ ...child, name: 'b' }),
      ])
      expect([deleted, made].filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    },
    broken: {
      file: 'lib/job/ending.lua',
      find: '  if force or doc.place == PLACE.terminated then return end\n',
      replace: '  if true then return end\n',
      says: 'descendants were checked in another call',
    },
  },
  R19: {
    says: 'a job is in the queue once, for any number of requested runs',
    async fact(world) {
      const id = await resting(world)
      await run(world, id, '', '60000')
      await Promise.all([run(world, id), run(world, id), run(world, id, '', '30000'), run(world, id)])
      expect(await world.queueOf()).toMatchObject({ ready: 1, timers: 0, suspended: 0 })
      await (await world.claimOne()).commit()
      await run(world, id, '', '20000')
      await run(world, id, '', '10000')
      expect(await world.queueOf()).toMatchObject({ ready: 0, timers: 1 })
    },
    broken: {
      file: 'lib/job/places.lua',
      find: '  if was then places.leave(id, doc, keeps) end\n',
      replace: '',
      says: 'each request adds an entry to the queue',
    },
  },
  R20: {
    says: 'a due timer becomes a lease or stays a timer, even if the process that moves it dies',
    async fact(world) {
      const id = await world.make({ wait: 5_000 })
      world.advance(5_001)
      await world.claimOne()
      await die(world)
      expect((await world.claimOne()).id).toBe(id)
    },
    broken: {
      file: 'lib/queue/due.lua',
      find: 'miss_slot(id, doc)\n  queueing.enqueue(id, doc)\n',
      replace: 'cache.zset(key, id, false)\n',
      says: 'one call removes a due timer, and another call queues the job',
    },
  },
  R21: {
    says: 'due times are exact to the second: a bell is scheduled for the time, and a claim returns the time',
    async fact(world) {
      const at = world.now() + 30_000
      const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true, at }])
      expect(rings).toMatchObject([{ queue: 'q', at }])
      expect((await world.lane().ask()).nextDue).toBe(at)
      world.advance(30_001)
      expect(await world.claim()).toHaveLength(1)
    },
    broken: {
      file: 'lib/queue/bells.lua',
      find: 'moment <= time.now + lanes.MINUTE and not (queue_record.timer_bell',
      replace: 'false and not (queue_record.timer_bell',
      says: 'a timer waits for the next sweep',
    },
  },
  R22: {
    says: 'a value of a port goes either to an external reader or to the run, never to both or neither',
    async fact(world) {
      const id = await world.make(one)
      await world.push(id, 'in', '1', '2')
      const running = await world.claimOne()
      expect(await world.change(id, 'take', '', 'i', 'in', 1)).toEqual(['', '=1'])
      expect(await running.commit({ reads: read(0, 1), ops: [write(1)] })).toBe('conflict')
      const again = await world.claimOne()
      expect(seen(again)).toEqual(['2'])
      expect(await again.commit({ reads: read(1, 1), ops: [write(2)] })).toBe('completed')
      expect(await world.values(id, 'out', 'out')).toEqual(['2'])
    },
    broken: {
      file: 'lib/port/ports.lua',
      find: 'if taken ~= cursor then journal.refuse',
      replace: 'if false then journal.refuse',
      says: 'two callers take the same value',
    },
  },
  R23: {
    says: 'defaults that a run has seen are stored only if the run counts',
    async fact(world) {
      const id = await world.make(one)
      const set = { memo: value('seen') }
      expect(await (await world.claimOne()).commit({ state: { set }, ops: [broken] })).toMatch(/^refused/)
      await world.change(id, 'retry', '')
      const again = await world.claimOne()
      expect(again.snapshot.state).toEqual({})
      await again.commit({ end: 'suspended', state: { set } })
      expect((await world.document(id))['s:memo']).toBe(set.memo)
    },
    broken: { ...NO_JOURNAL, says: 'a run records values it did not use' },
  },
  R24: {
    says: 'a value that a run moves from a port to its state is in one of the two, whenever the process dies',
    async fact(world) {
      const id = await world.make(one)
      await world.push(id, 'in', '1', '2')
      const running = await world.claimOne()
      const set = { queue: '[1]' as Encoded }
      expect(await running.commit({ end: 'checkpoint', reads: read(0, 1), state: { set } })).toBe('running')
      await die(world)
      const again = await world.claimOne()
      expect([seen(again), again.snapshot.state]).toEqual([['2'], set])
    },
    broken: {
      file: 'lib/run/ops/on_records.lua',
      find: "  values.set_value(me.id, doc, 's:' .. field, value)\n",
      replace: "  if me.ending ~= 'checkpoint' then values.set_value(me.id, doc, 's:' .. field, value) end\n",
      says: 'values are taken at once, and the rest is written at the end',
    },
  },
  R25: {
    says: 'the elements of a list and their number are written together, once',
    async fact(world) {
      const id = await world.make(one)
      const set = { n: value(3) }
      const running = await world.claimOne()
      expect(await running.commit({ state: { set }, ops: [write(1, 2), write(3), broken] })).toMatch(/^refused/)
      expect(await world.values(id, 'out', 'out')).toEqual([])
      await world.change(id, 'retry', '')
      const again = await world.claimOne()
      const changes = { state: { set }, ops: [write(1, 2), write(3)] }
      expect([await again.commit(changes), await again.commit(changes)]).toEqual(['completed', 'completed'])
      expect(await world.values(id, 'out', 'out')).toEqual(['1', '2', '3'])
    },
    broken: { ...NO_ROLLBACK, says: 'a run that is refused has written some of the elements' },
  },
  R26: {
    says: 'a graph is stored together with the jobs that it needs, or not at all',
    async fact(world) {
      const id = await world.make(one)
      const set = { graph: value('g') }
      const spawn = (className: string): Op => ({ op: 'spawn', name: className, queue: 'q', class: className })
      const running = await world.claimOne()
      const refused = await running.commit({ state: { set }, ops: [spawn('child'), spawn('unheard-of')] })
      expect(refused).toMatch(/^refused:REFUSED class unheard-of is not registered/)
      expect((await world.store.inspect(String(id))).children).toEqual([])
      await run(world, id, '1')
      const again = await world.claimOne()
      expect(again.snapshot.state).toEqual({})
      expect(await again.commit({ end: 'suspended', state: { set }, ops: [spawn('child')] })).toBe('suspended')
    },
    broken: { ...NO_JOURNAL, says: 'the graph is stored before its jobs' },
  },
  R27: {
    says: 'one answer contains the default of a port, and whether the port has a default',
    async fact(world) {
      const id = await resting(world, { in: { in: { default: value(7) } } })
      const taken = await world.change(id, 'take', '', 'i', 'in', 1)
      expect(taken).toEqual(['1', '=7'])
      await world.change(id, 'default', '', 'i', 'in', '0', '')
      expect(await world.change(id, 'take', '', 'i', 'in', 1)).toEqual([''])
    },
    broken: {
      file: 'lib/port/ports.lua',
      find: 'return default and { default } or {}, default ~= nil',
      replace: 'return {}, default ~= nil',
      says: 'two calls return the existence and the value of a default',
    },
  },
  R28: {
    says: 'only the holder of a lock extends it',
    async fact(world) {
      const id = await resting(world)
      await world.change(id, 'lock', 10_000, 'mine')
      const stolen = world.change(id, 'refresh', 'other', FOR_EVER)
      expect(await refusal(stolen)).toBe('CONFLICT')
      await run(world, id)
      world.advance(10_001)
      expect((await world.claimOne()).id).toBe(id)
    },
    broken: {
      file: 'lib/run/ops/of_callers.lua',
      find: 'or doc.lock_token ~= token then',
      replace: 'then',
      says: 'any caller can extend the lock',
    },
  },
}

const scripts = readScripts()

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

test('all 28 races are tested', () => {
  expect(Object.keys(windows)).toEqual(Array.from({ length: 28 }, (_, i) => `R${i + 1}`))
})

describe.concurrent.each(Object.entries(windows))('%s', (id, { says, fact, broken: fault }) => {
  test(`${id}: ${says}`, async () => {
    const world = await createWorld(state.direct)
    await fact(world)
    expect(await world.faults()).toEqual([])
  })
  // The embedded server is skipped, because it is too slow and runs the same scripts.
  test.skipIf(kind === 'embedded')(`${id} is noticed if ${fault.says}`, async () => {
    expect(scripts.occurrences(fault)).toBe(1)
    expect(await isNoticed(fact, state.direct, scripts.with(fault))).toBe(true)
  })
})
