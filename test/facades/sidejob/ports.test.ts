// docs/compat/sidejob.md refers to these tests by their titles.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineWorker } from '../../../src/index.ts'
import { type Desk, startDesks } from './kit.ts'
import { taken, workers } from './workers.ts'

const grouping = defineWorker({
  class: 'grouping',
  out: { a: {}, b: {}, c: {}, d: {} },
  perform: (job) =>
    job.group({ setDefault: true, log: false }, async () => {
      job.write('a', 1)
      await job.group({ setDefault: false }, () => job.write('b', 2))
      job.write('c', 3)
      job.write('d', 4, { setDefault: false, log: true })
    }),
})

const overlapping = defineWorker({
  class: 'overlapping',
  out: { out: { channels: ['/loud'] } },
  async perform(job) {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const quiet = { notify: false, log: false }
    const branches = job.parallel([
      () => job.group(quiet, () => job.context({ branch: 'first' }, () => first.promise)),
      () => job.group(quiet, () => job.context({ branch: 'second' }, () => second.promise)),
    ])
    first.resolve()
    await new Promise(setImmediate)
    job.log('one is open')
    second.resolve()
    await branches
    job.write('out', 'loud')
    job.log('none is open')
  },
})

const talking = defineWorker({
  class: 'talking',
  in: { in: {} },
  out: { out: { channels: ['/said'] } },
  async perform(job) {
    while (job.size('in') > 0) job.write('out', await job.read('in'))
    job.log('a text')
    job.log(new Error('an error'))
    job.log({ own: true })
    await job.context({ user: 'ann' }, () => job.publish('/said', 'more'))
  },
})

const narcissus = defineWorker({
  class: 'narcissus',
  in: { ear: {} },
  async perform(job) {
    while (job.size('ear') > 0) await job.read('ear')
  },
})

const logging = defineWorker({ class: 'logging', perform: (job) => job.log(job.args as object) })

let desks: Awaited<ReturnType<typeof startDesks>>
let desk: Desk
beforeAll(async () => {
  desks = await startDesks([...workers, grouping, overlapping, talking, narcissus, logging])
})
beforeEach(() => {
  desk = desks.desk()
  taken()
})
afterAll(() => desks.close())

test('ports of a job replace the ports of its class one by one, with all their options', async () => {
  const job = await desk.make('tuples', { in: { d: {}, own: { default: 1 } } })
  expect((await desk.view(job)).in).toMatchObject({
    in2: { size: 0 },
    d: { size: 0, channels: [] },
    dn: { default: 'null' },
    own: { default: '1' },
  })
  expect(await desk.defaultOf(job, 'in', 'd')).toBe(undefined)
  await desk.setDefault(job, 'in', 'own', 2)
  await desk.put(job, 'own', 'kept')
  await desk.ports(job, { in: { own: {} } })
  expect(await desk.values(job, 'own', 'in')).toEqual(['kept'])
  expect([await desk.defaultOf(job, 'in', 'own'), await desk.defaultOf(job, 'in', 'd')]).toEqual([undefined, 'default'])
  await desk.ports(job, { in: {} })
  expect(Object.keys((await desk.view(job)).in).sort()).toEqual(['d', 'dn', 'in2'])
})

test('the defaults null and false are kept, and differ from no default', async () => {
  const job = await desk.make('nop', { in: { a: { default: null }, b: { default: false }, c: {} } })
  expect(await desk.read(job, 'in', 'a')).toBe(null)
  expect(await desk.read(job, 'in', 'b')).toBe(false)
  expect(await desk.read(job, 'in', 'c')).toBe(undefined)
  await desk.setDefault(job, 'in', 'a')
  expect(await desk.read(job, 'in', 'a')).toBe(undefined)
})

test('the error for an unknown port names the port', async () => {
  const job = await desk.make('double')
  const why = (side: string) => `job ${job} (double) has no ${side}put port "X"`
  await expect(desk.put(job, 'X', 1)).rejects.toThrow(why('in'))
  await expect(desk.read(job, 'out', 'X')).rejects.toThrow(why('out'))
  await expect(desk.connect(job, 'out', 'out', { job, in: 'X' })).rejects.toThrow(why('in'))
  await expect(desk.make('double', { inputs: { X: [1] } })).rejects.toThrow('double has no input port "X"')
})

test('a port * creates ports on demand, with its current default and without its channels', async () => {
  const job = await desk.make('deaf', { in: { '*': { default: 'd' } } })
  expect(await desk.read(job, 'in', 'new')).toBe('d')
  await desk.put(job, 'other', 1)
  expect(Object.keys((await desk.view(job)).in).sort()).toEqual(['ear', 'new', 'other'])
  await expect(desk.put(job, 'no name', 1)).rejects.toThrow('expected a port name')
  await expect(desk.put(job, 'a\nb', 1)).rejects.toThrow('expected a port name')
  await expect(desk.ports(job, { in: { '*': { channels: ['/a'] } } })).rejects.toThrow('port * cannot have channels')
  await desk.ports(job, { in: { '*': {} } })
  expect(Object.keys((await desk.view(job)).in)).toEqual(['ear'])
  expect(await desk.read(job, 'in', 'new')).toBe(undefined)
})

test('an input and an output with the same name are two ports', async () => {
  const job = await desk.make('nop', { in: { a: {} }, out: { a: {} } })
  await desk.put(job, 'a', 'in')
  await desk.write(job, 'out', 'a', ['out'])
  expect([await desk.values(job, 'a', 'in'), await desk.values(job, 'a', 'out')]).toEqual([['in'], ['out']])
})

test('a default is not counted and not drained; setting it wakes no job, publishes nothing and logs nothing', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/a')]
  const job = await desk.make('nop', { in: { in: {} }, out: { out: { channels: ['/a'] } } })
  await desk.drain()
  await desk.heard(log)
  for (const dir of ['in', 'out'] as const) {
    await desk.setDefault(job, dir, dir, 1)
    await desk.setDefault(job, dir, dir, 2)
    expect(await desk.size(job, dir, dir)).toBe(0)
    expect(await desk.drainPort(job, dir, dir)).toEqual([])
    expect(await desk.read(job, dir, dir)).toBe(2)
    expect(await desk.read(job, dir, dir)).toBe(2)
  }
  expect(await desk.status(job)).toBe('completed')
  expect(await desk.heard(ear)).toEqual([])
})

test('a write to a failed or terminating job is kept and wakes no job', async () => {
  const jobs = [await desk.make('failing'), await desk.make('closing'), await desk.make('nop')]
  await desk.drain('fifo', 'keep')
  for (const job of jobs.slice(1)) await desk.terminate(job)
  const statuses = ['failed', 'terminating', 'terminated']
  for (const [i, job] of jobs.entries()) {
    await desk.put(job, 'a', 1)
    expect([await desk.status(job), await desk.size(job, 'in', 'a')]).toEqual([statuses[i], 1])
  }
})

test('writes to an output are published, writes to an input are not', async () => {
  const ear = await desk.ear('/a', '/b')
  const job = await desk.make('nop', { in: { in: { channels: ['/a'] } }, out: { out: { channels: ['/a', '/b'] } } })
  await desk.put(job, 'in', 1)
  expect(await desk.heard(ear)).toEqual([])
  await desk.write(job, 'out', 'out', [2])
  expect(await desk.heard(ear)).toEqual([2, 2])
  expect(await desk.values(job, 'in', 'in')).toEqual([1, 2])
})

test('a value whose write was not logged is not logged when it is read', async () => {
  const log = await desk.ear('/sidejob/log')
  const job = await desk.make('nop', { in: { a: {} } })
  await desk.write(job, 'in', 'a', [1], { log: false })
  await desk.write(job, 'in', 'a', [2])
  expect(await desk.drainPort(job, 'in', 'a')).toEqual([1, 2])
  const row = { job, inport: 'a', data: [2] }
  expect(await desk.heard(log)).toEqual([
    { read: [], write: [row] },
    { read: [row], write: [] },
  ])
})

test('a value has the context of its writer, and reading it does not change the context of the reader', async () => {
  const job = await desk.make('double')
  await desk.write(job, 'in', 'in', [1], { context: { user: 'ann' } })
  const { values } = await desk.engine.ports.get(String(job), 'in', 'in')
  expect(values).toEqual([{ data: '1', context: '{"user":"ann"}' }])
  await desk.drain()
  const out = await desk.engine.ports.get(String(job), 'out', 'out')
  expect(out.values).toEqual([{ data: '2', context: `{"job":${job}}` }])
})

test('a connection wakes the target if it receives data or a different default', async () => {
  const parent = await desk.make('nop')
  const from = await desk.make('nop', { parent, name: 'from', out: { out: { default: 1 } } })
  const to = await desk.make('nop', { parent, name: 'to', in: { a: { default: 1 } }, out: { b: { default: 1 } } })
  await desk.drain()
  await desk.connect(from, 'out', 'out', { job: to, in: 'a' }, { job: to, out: 'b' })
  expect(await desk.ready()).toEqual([])
  await desk.setDefault(from, 'out', 'out', 2)
  await desk.connect(from, 'out', 'out', { job: to, in: 'a' })
  expect(await desk.ready()).toEqual([to])
  expect(await desk.defaultOf(to, 'in', 'a')).toBe(2)
  await desk.drain()
  await desk.write(from, 'out', 'out', [3], { notify: false })
  await desk.connect(from, 'out', 'out', { job: to, out: 'b' })
  expect(await desk.ready()).toEqual([parent])
})

test('a connection is one log entry and publishes at outputs, and its values keep their context', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/b')]
  const from = await desk.make('nop', { out: { out: { default: 9 } } })
  const to = await desk.make('nop', { in: { a: { channels: ['/b'] } }, out: { b: { channels: ['/b'] } } })
  await desk.write(from, 'out', 'out', [1, 2], { context: { user: 'ann' }, log: true })
  await desk.heard(log)
  await desk.connect(from, 'out', 'out', { job: to, in: 'a' }, { job: to, out: 'b' })
  const [entry] = (await desk.heard(log)) as { read: object[]; write: object[] }[]
  expect(entry).toMatchObject({ read: [{ job: from, outport: 'out', data: [1, 2] }] })
  expect(entry!.write).toContainEqual({ job: to, outport: 'b', data: [1, 2] })
  expect(await desk.heard(ear)).toEqual([1, 2])
  const { values } = await desk.engine.ports.get(String(to), 'out', 'b')
  expect(values[0]).toEqual({ data: '1', context: '{"user":"ann"}' })
  await desk.heard(log)
  await desk.connect(from, 'out', 'out', { job: to, out: 'b' })
  expect(await desk.heard(log)).toEqual([])
})

test('a target that is named twice gets everything twice, and its job runs once', async () => {
  const from = await desk.make('nop', { out: { out: {} } })
  const to = await desk.make('nop', { in: { a: {}, b: {} } })
  await desk.drain()
  await desk.write(from, 'out', 'out', [1])
  await desk.connect(from, 'out', 'out', { job: to, in: 'a' }, { job: to, in: 'a' }, { job: to, in: 'b' })
  expect([await desk.values(to, 'a', 'in'), await desk.values(to, 'b', 'in')]).toEqual([[1, 1], [1]])
  expect(await desk.drain()).toHaveLength(1)
})

test('options of a group apply to its writes; an inner group and a write override them', async () => {
  const log = await desk.ear('/sidejob/log')
  const job = await desk.make('grouping')
  await desk.drain()
  const port = async (name: string) => [await desk.values(job, name), await desk.defaultOf(job, 'out', name)]
  expect([await port('a'), await port('b'), await port('c'), await port('d')]).toEqual([
    [[], 1],
    [[2], undefined],
    [[], 3],
    [[4], undefined],
  ])
  expect(await desk.heard(log)).toEqual([{ job, read: [], write: [{ job, outport: 'd', data: [4] }] }])
})

test('groups and contexts of two branches that overlap end with their blocks', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/loud')]
  const job = await desk.make('overlapping')
  await desk.drain()
  expect(await desk.heard(log)).toEqual([
    { job, branch: 'second', message: 'one is open' },
    { job, message: 'none is open' },
    {
      job,
      read: [],
      write: [
        { job, outport: 'out', data: ['loud'] },
        { job: ear, inport: 'ear', data: ['loud'] },
      ],
    },
  ])
  expect(await desk.heard(ear)).toEqual(['loud'])
})

test('writing a default wakes, publishes and is logged like every write', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/a')]
  const job = await desk.make('nop', { in: { in: {} }, out: { out: { channels: ['/a'] } } })
  await desk.drain()
  await desk.write(job, 'in', 'in', [1], { setDefault: true })
  await desk.write(job, 'out', 'out', [2], { setDefault: true })
  expect([await desk.defaultOf(job, 'in', 'in'), await desk.defaultOf(job, 'out', 'out')]).toEqual([1, 2])
  expect([await desk.size(job, 'in', 'in'), await desk.size(job, 'out', 'out')]).toEqual([0, 0])
  expect(await desk.ready()).toContain(job)
  expect(await desk.heard(log)).toHaveLength(2)
  expect(await desk.heard(ear)).toEqual([2])
})

test('every entry of a run has its job, its contexts and its own data', async () => {
  const [log, ear] = [await desk.ear('/sidejob/log'), await desk.ear('/said')]
  const job = await desk.make('talking', { inputs: { in: [1, 2] } })
  await desk.heard(log)
  await desk.drain()
  const entries = (await desk.heard(log)) as { backtrace?: string }[]
  const said = (data: unknown[]) => ({ job: ear, inport: 'ear', data })
  expect(entries.map(({ backtrace, ...entry }) => entry)).toEqual([
    { job, message: 'a text' },
    { job, error: 'an error' },
    { job, own: true },
    {
      job,
      read: [{ job, inport: 'in', data: [1, 2] }],
      write: [{ job, outport: 'out', data: [1, 2] }, said([1, 2])],
    },
    { job, user: 'ann', read: [], write: [said(['more'])] },
  ])
  expect(entries[1]!.backtrace).toContain('ports.test.ts')
  const { values } = await desk.engine.ports.get(String(ear), 'in', 'ear')
  expect(values.map(({ context }) => JSON.parse(context!))).toEqual([
    { job, channel: '/said' },
    { job, channel: '/said' },
    { job, user: 'ann', channel: '/said' },
  ])
})

test('an external log entry is an object or a string, stays on the log page, and causes no loop', async () => {
  const ear = await desk.ear('/sidejob/log', '/')
  await desk.engine.log.write('{"a":1}' as never)
  await desk.engine.log.write('"a text"' as never)
  expect(await desk.heard(ear)).toEqual([{ a: 1 }, { a: 1 }, { message: 'a text' }, { message: 'a text' }])
  expect(await desk.heard(ear)).toEqual([])
  const { entries } = await desk.engine.log.read({})
  expect(entries.map(({ entry }) => JSON.parse(entry))).toEqual([{ message: 'a text' }, { a: 1 }])
})

test('a log entry has its job and time, even if nested members have the same names', async () => {
  const log = await desk.ear('/sidejob/log')
  const job = await desk.make('logging', { args: { at: { job: 'x', timestamp: 'y' }, text: '"job": }{[ \\' } })
  await desk.once(job)
  const { values } = await desk.engine.ports.get(String(log), 'in', 'ear')
  expect(JSON.parse(values[0]!.data)).toMatchObject({ job, timestamp: expect.any(Number), at: { job: 'x' } })
  await desk.heard(log)
  const own = await desk.make('logging', { args: { a: [{ job: 1 }], job: 'mine', b: '\\"' } })
  await desk.once(own)
  expect(await desk.heard(log)).toEqual([{ a: [{ job: 1 }], job: 'mine', b: '\\"' }])
})

test('a message that is published is logged where it arrives, with its channel', async () => {
  const log = await desk.ear('/sidejob/log')
  const job = await desk.make('nop', { in: { a: { channels: ['/c'] } } })
  await desk.publish('/c/d', 1, { user: 'u' })
  expect(await desk.heard(log)).toEqual([
    { user: 'u', channel: '/c/d', read: [], write: [{ job, inport: 'a', data: [1] }] },
  ])
})

test('a port receives messages as long as it listens, and wakes its job like any input', async () => {
  const job = await desk.make('nop', { in: { a: { channels: ['/x'] }, b: {} } })
  await desk.drain()
  expect((await desk.view(job)).in.a!.channels).toEqual(['/x'])
  await desk.engine.ports.setChannels(String(job), 'in', 'b', ['/x', '/y'])
  expect(await desk.publish('/x', 1)).toEqual({ subscribers: 2 })
  expect(await desk.ready()).toEqual([job])
  await desk.engine.ports.setChannels(String(job), 'in', 'a', [])
  expect(await desk.publish('/x', 2)).toEqual({ subscribers: 1 })
  expect([await desk.values(job, 'a', 'in'), await desk.values(job, 'b', 'in')]).toEqual([[1], [1, 2]])
  expect(await desk.publish('/nobody', 1)).toEqual({ subscribers: 0 })
})

const times = async (job: number, port: string, message: unknown) =>
  (await desk.values(job, port, 'in')).filter((value) => value === message).length

test('a port that listens at two levels receives a message twice, and all ports of a job receive it', async () => {
  const job = await desk.make('nop', { in: { a: { channels: ['/x/y', '/x'] }, b: { channels: ['/'] } } })
  await desk.publish('/x/y', 'hello')
  expect([await times(job, 'a', 'hello'), await times(job, 'b', 'hello')]).toEqual([2, 1])
})

test('a message on a channel without a leading slash does not reach listeners of /', async () => {
  const ports = { a: { channels: ['x'] }, root: { channels: ['/'] }, b: { channels: ['/a/b'] } }
  const job = await desk.make('nop', { in: ports })
  await desk.publish('x/y', 'relative')
  expect([await times(job, 'a', 'relative'), await times(job, 'root', 'relative')]).toEqual([1, 0])
  await desk.publish('/a/b/', 'odd')
  expect([await times(job, 'b', 'odd'), await times(job, 'root', 'odd')]).toEqual([0, 1])
})

test('a listener on / receives the statuses and the log of all jobs', async () => {
  await desk.engine.tick()
  const ear = await desk.ear('/')
  const job = await desk.make('nop')
  await desk.drain()
  await desk.engine.log.write('{"a":1}' as never)
  await desk.publish(`/sidejob/job/${job}`, 'own')
  const heard = await desk.heard(ear)
  expect(heard.slice(0, 5)).toEqual([
    { status: 'queued' },
    { status: 'running' },
    { status: 'completed' },
    { a: 1 },
    'own',
  ])
})

test('a job that listens to its own statuses wakes itself repeatedly, and is terminated', async () => {
  const job = await desk.make('narcissus')
  await desk.engine.ports.setChannels(String(job), 'in', 'ear', [`/sidejob/job/${job}`])
  await desk.ranThisMinute(job, 590)
  await desk.drain()
  expect(await desk.status(job)).toBe('terminated')
})
