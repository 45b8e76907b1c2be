import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Order } from '../../../src/testing/index.ts'
import { SEEDS } from '../../kit/orders.ts'
import { type Desk, startDesks } from './kit.ts'
import { taken, workers } from './workers.ts'

const orders: Order[] = ['fifo', 'lifo', ...Array.from({ length: SEEDS }, (_, seed) => ({ seed }))]

let desks: Awaited<ReturnType<typeof startDesks>>
beforeAll(async () => {
  desks = await startDesks(workers)
})
afterAll(() => desks.close())

function scenario(name: string, story: (desk: Desk, order: Order) => Promise<void>): void {
  test(name, async () => {
    for (const order of orders) {
      try {
        await story(desks.desk(), order)
        // Check after each order, because one check after all hundred orders would exceed the timeout of a call.
        await desks.verify()
      } catch (error) {
        throw new Error(`in the order ${JSON.stringify(order)}: ${(error as Error).message}`, { cause: error })
      }
    }
  }, 300_000)
}

scenario('S01 jobs get ids from 1, are queued, and have their arguments and creator', async (desk, order) => {
  const first = await desk.make('nop')
  const second = await desk.make('nop', { args: [1, 2], createdBy: 'test:sidejob' })
  expect([first, second]).toEqual([1, 2])
  expect(await desk.ready()).toEqual([1, 2])
  expect(await desk.view(first)).toMatchObject({ status: 'queued', args: null, createdBy: '', ranAt: null })
  expect(await desk.view(second)).toMatchObject({
    status: 'queued',
    args: '[1,2]',
    createdBy: 'test:sidejob',
    ranAt: null,
  })
  await desk.drain(order)
  expect([await desk.status(1), await desk.status(2)]).toEqual(['completed', 'completed'])
})

scenario(
  'S03 run() runs queued, suspended and completed jobs, and other statuses only with force',
  async (desk, order) => {
    const at: Record<string, number> = {
      completed: await desk.make('nop'),
      suspended: await desk.make('suspending'),
      failed: await desk.make('failing'),
      terminated: await desk.make('nop'),
    }
    await desk.drain(order, 'keep')
    await desk.terminate(at.terminated!)
    at.queued = await desk.make('nop')
    for (const status of ['queued', 'suspended', 'completed']) {
      expect(await desk.run(at[status]!)).toEqual({ id: at[status], status: 'queued' })
      expect(await desk.ready()).toContain(at[status])
    }
    await desk.drain(order, 'keep')
    at.terminating = await desk.make('closing')
    await desk.terminate(at.terminating)
    for (const status of ['failed', 'terminating', 'terminated'] as const) {
      expect(await desk.run(at[status]!)).toEqual({ id: at[status], status, ran: false })
      expect(await desk.run(at[status]!, { force: true })).toEqual({ id: at[status], status: 'queued' })
    }
    expect(await desk.ready()).toEqual([at.failed, at.terminated, at.terminating].sort((a, b) => a! - b!))
  },
)

scenario('S05 a later run is scheduled, the earliest time counts, and a past time means now', async (desk, order) => {
  const idle = await desk.make('nop')
  await desk.drain(order)
  await desk.run(idle, { at: desk.now() + 10_000_000 })
  expect(await desk.ready()).toEqual([])
  const far = await desk.view(idle)
  expect(far.status).toBe('queued')
  await desk.run(idle, { wait: 100_000 })
  const { runAt } = await desk.view(idle)
  expect(runAt! - desk.now()).toBeLessThanOrEqual(100_000)
  expect(runAt!).toBeLessThan(far.runAt!)
  const past = await desk.make('nop', { at: desk.now() - 5_000 })
  expect(await desk.ready()).toEqual([past])
})

scenario('S07 status changes of a job are published on its channel, in order', async (desk, order) => {
  taken()
  const ear = await desk.ear('/sidejob/job/2')
  const job = await desk.make('closing')
  expect(job).toBe(2)
  await desk.drain(order)
  await desk.terminate(job)
  await desk.drain(order)
  await desk.remove(job)
  await desk.drain(order)
  const statuses = ['queued', 'running', 'completed', 'terminating', 'terminated']
  expect(await desk.heard(ear)).toEqual([...statuses.map((status) => ({ status })), { deleted: true }])
  expect(taken()).toEqual(['startup 2', 'perform 2', 'shutdown 2'])
})

scenario('S09 a port returns values in their order, with their types', async (desk) => {
  const job = await desk.make('nop', { in: { port: {} } })
  expect(await desk.read(job, 'in', 'port')).toBe(undefined)
  const values = ['abc', 123, true, false, null, {}, ['data1', 1, { key: 'val' }]]
  await desk.put(job, 'port', ...values)
  expect(await desk.size(job, 'in', 'port')).toBe(7)
  for (const value of values) expect(await desk.read(job, 'in', 'port')).toEqual(value)
  expect(await desk.read(job, 'in', 'port')).toBe(undefined)
  expect(await desk.size(job, 'in', 'port')).toBe(0)
})

scenario('S11 redefined ports keep their values and lose their old defaults', async (desk) => {
  const job = await desk.make('deaf', { in: { port: { default: 'orig' } }, inputs: { port: ['data'] } })
  await desk.ports(job, { in: { port: { default: 'new' } } })
  expect(await desk.read(job, 'in', 'port')).toBe('data')
  expect(await desk.read(job, 'in', 'port')).toBe('new')
  await desk.put(job, 'port', 123)
  await desk.ports(job, { in: {} })
  expect(Object.keys((await desk.view(job)).in)).toEqual(['ear'])
  await expect(desk.read(job, 'in', 'port')).rejects.toThrow('has no input port "port"')
  await desk.ports(job, { in: { port: {} } })
  expect(await desk.size(job, 'in', 'port')).toBe(0)
  expect(await desk.read(job, 'in', 'port')).toBe(undefined)
})

scenario('S13 a connection moves all values to every target and copies an existing default', async (desk) => {
  const from = await desk.make('nop', { out: { out1: {} } })
  const to = await desk.make('nop', { in: { port1: {}, other: { default: 'default' } } })
  await desk.write(from, 'out', 'out1', [1, [2, 3]])
  const targets = [
    { job: to, in: 'port1' },
    { job: to, in: 'other' },
  ]
  expect(await desk.connect(from, 'out', 'out1', ...targets)).toEqual({ moved: 2 })
  expect(await desk.size(from, 'out', 'out1')).toBe(0)
  const read = (port: string) => desk.read(to, 'in', port)
  expect([await read('port1'), await read('port1'), await read('port1')]).toEqual([1, [2, 3], undefined])
  expect([await read('other'), await read('other'), await read('other')]).toEqual([1, [2, 3], 'default'])
  expect(await desk.connect(from, 'out', 'out1', ...targets)).toEqual({ moved: 0 })
})

scenario(
  'S15 a write to an input wakes the job, and a write to an output wakes the parent, unless notify is false',
  async (desk, order) => {
    const parent = await desk.make('nop')
    const child = await desk.make('nop', { parent, name: 'child', in: { port1: {} }, out: { out1: {} } })
    const other = await desk.make('nop', { in: { items: {} } })
    const statuses = async () => [await desk.status(child), await desk.status(parent)]
    await desk.drain(order)
    await desk.put(child, 'port1', 1)
    expect(await statuses()).toEqual(['queued', 'completed'])
    await desk.drain(order)
    await desk.write(child, 'out', 'out1', [1])
    expect(await statuses()).toEqual(['completed', 'queued'])
    await desk.drain(order)
    await desk.write(child, 'in', 'port1', [1], { notify: false })
    await desk.write(child, 'out', 'out1', [1], { notify: false })
    expect(await statuses()).toEqual(['completed', 'completed'])
    await desk.write(other, 'in', 'items', [1], { notify: false })
    await desk.connect(other, 'in', 'items', { job: child, out: 'out1' })
    expect(await statuses()).toEqual(['completed', 'queued'])
  },
)

scenario('S17 a group is one log entry with its context, and contexts nest', async (desk, order) => {
  const ear = await desk.ear('/sidejob/log')
  const nested = await desk.make('nesting')
  await desk.drain(order)
  expect(await desk.heard(ear)).toEqual([
    { job: nested, user: 'foo', read: [], write: [{ job: nested, outport: 'out', data: ['hello', 2] }] },
  ])
  const job = await desk.make('contexts')
  await desk.drain(order)
  expect(await desk.heard(ear)).toEqual([
    { job, data1: 1, x: 1 },
    { job, data1: 1, data2: 2, x: 2 },
    { job, data1: 1, x: 3 },
    { job, x: 4 },
  ])
})

scenario('S19 a message reaches listeners of its channel and of the channels above it', async (desk) => {
  const ports = { myport: { channels: ['/namespace/mychannel'] }, yourport: { channels: ['/namespace'] } }
  const job = await desk.make('nop', { in: ports })
  await desk.publish('/namespace/mychannel', [1, 2])
  expect(await desk.values(job, 'myport', 'in')).toEqual([[1, 2]])
  const { values } = await desk.engine.ports.get(String(job), 'in', 'yourport')
  expect(values).toEqual([{ data: '[1,2]', context: '{"channel":"/namespace/mychannel"}' }])
})

scenario('S21 jobs that are connected only by channels compute a sum', async (desk, order) => {
  const ready = { channels: ['/test/ready'] }
  const sum = (from: string, to?: string) =>
    desk.make('sum', { in: { in: { channels: [from] }, ready }, ...(to ? { out: { sum: { channels: [to] } } } : {}) })
  const one = await sum('/test/in', '/test/chan1')
  const two = await sum('/test/chan1', '/test/chan2')
  const three = await sum('/test/chan1', '/test/chan2')
  const four = await sum('/test/chan2')
  for (const n of [1, 2, 4]) await desk.publish('/test/in', n)
  await desk.publish('/test/ready', true)
  if (order === 'fifo') for (const id of [one, two, three, four]) await desk.once(id)
  await desk.drain(order)
  const sums = (await desk.values(four, 'sum')) as number[]
  expect(sums.reduce((total, n) => total + n, 0)).toBe(14)
  if (order === 'fifo') expect(sums[0]).toBe(14)
  expect(await desk.status(four)).toBe('completed')
  expect(await desk.size(four, 'in', 'ready')).toBe(1)
})

scenario('S23 each tuple is a log entry', async (desk, order) => {
  const ear = await desk.ear('/sidejob/log')
  const inputs = {
    in1: [1, 2],
    in2: [
      ['a', 'b'],
      ['c', 'd'],
    ],
  }
  const job = await desk.make('pair', { inputs })
  await desk.heard(ear)
  await desk.drain(order)
  const entry = (n: number, list: string[]) => ({
    job,
    read: [
      { job, inport: 'in1', data: [n] },
      { job, inport: 'in2', data: [list] },
    ],
    write: [{ job, outport: 'out1', data: [[n, list[0]]] }],
  })
  expect(await desk.heard(ear)).toEqual([entry(1, ['a', 'b']), entry(2, ['c', 'd'])])
  expect(await desk.status(job)).toBe('completed')
})

scenario('S25 defaults fill in for missing values, but are not input', async (desk, order) => {
  const job = await desk.make('tuples', { args: ['dn', 'in2'], inputs: { dn: [1], in2: [[2, 3], 3] } })
  await desk.drain(order)
  expect(await desk.values(job, 'out1')).toEqual([
    [1, [2, 3]],
    [null, 3],
  ])
  const other = await desk.make('tuples', { args: ['d', 'in2'] })
  await desk.drain(order)
  expect(await desk.values(other, 'out1')).toEqual([])
  expect(await desk.status(other)).toBe('completed')
})

scenario('the reads of each tuple include the defaults that were used', async (desk, order) => {
  const ear = await desk.ear('/sidejob/log')
  const job = await desk.make('tuples', { args: ['dn', 'in2'], inputs: { dn: [1], in2: [[2, 3], 3] } })
  await desk.heard(ear)
  await desk.drain(order)
  const read = (inport: string, value: unknown) => ({ job, inport, data: [value] })
  const write = (value: unknown) => [{ job, outport: 'out1', data: [value] }]
  expect(await desk.heard(ear)).toEqual([
    { job, read: [read('dn', 1), read('in2', [2, 3])], write: write([1, [2, 3]]) },
    { job, read: [read('in2', 3), read('dn', null)], write: write([null, 3]) },
  ])
})

scenario('S27 jobs that are suspended, ended or deleted never run', async (desk, order) => {
  const jobs = {
    suspended: await desk.make('suspending'),
    completed: await desk.make('nop'),
    failed: await desk.make('failing'),
    terminated: await desk.make('nop'),
  }
  const gone = await desk.make('nop')
  await desk.terminate(gone)
  await desk.remove(gone)
  await desk.drain(order, 'keep')
  await desk.terminate(jobs.terminated)
  taken()
  expect(await desk.drain(order)).toEqual([])
  expect(taken()).toEqual([])
  for (const [status, id] of Object.entries(jobs)) expect(await desk.status(id)).toBe(status)
})

scenario('S29 a request to run overrides the end of the run', async (desk, order) => {
  for (const ending of ['suspend', 'return']) {
    const job = await desk.make('asking', { args: ending })
    await desk.once(job)
    expect(await desk.status(job)).toBe('queued')
    expect(await desk.ready()).toEqual([job])
    await desk.drain(order)
    expect(await desk.status(job)).toBe(ending === 'suspend' ? 'suspended' : 'completed')
  }
})

scenario(
  'S31 a terminating job is shut down even if its hook fails, and its parent is notified',
  async (desk, order) => {
    const parent = await desk.make('suspending')
    const job = await desk.make('stubborn', { parent, name: 'child' })
    await desk.drain(order)
    taken()
    await desk.terminate(job)
    expect(await desk.status(job)).toBe('terminating')
    await desk.once(job, { force: false })
    expect(await desk.status(job)).toBe('terminated')
    expect(await desk.error(job)).toBe('shutdown error')
    expect(await desk.status(parent)).toBe('queued')
    expect(taken()).toEqual([])
  },
)

scenario('S33 the 601st run of a minute is not performed, and the job is terminated', async (desk, order) => {
  const ear = await desk.ear('/sidejob/log')
  const job = await desk.make('closing')
  taken()
  await desk.ranThisMinute(job, 599)
  await desk.drain(order)
  expect(await desk.status(job)).toBe('completed')
  expect(taken()).toEqual([`startup ${job}`, `perform ${job}`])
  await desk.run(job)
  await desk.drain(order)
  expect(taken()).toEqual([`shutdown ${job}`])
  expect(await desk.status(job)).toBe('terminated')
  expect(await desk.heard(ear)).toContainEqual({ job, error: 'Job was terminated due to being called too rapidly' })
})

scenario('S35 map hands out each element and waits for an equal number of results', async (desk, order) => {
  const job = await desk.make('map', { queue: 'core', inputs: { in: [[1, 2, 3]], each: ['a'] } })
  await desk.drain(order)
  expect(await desk.status(job)).toBe('suspended')
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([])
  await desk.put(job, 'each', 'b', 'c', 'x')
  await desk.drain(order)
  expect(await desk.drainPort(job, 'out', 'each')).toEqual([1, 2, 3])
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([['a', 'b', 'c']])
  expect([await desk.size(job, 'in', 'each'), await desk.status(job)]).toEqual([1, 'completed'])
  await desk.put(job, 'in', { k: 9 })
  await desk.drain(order)
  expect(await desk.drainPort(job, 'out', 'each')).toEqual([['k', 9]])
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([['x']])
})

scenario('S37 wait_each returns its list when all of its elements have arrived', async (desk, order) => {
  const job = await desk.make('wait_each', { queue: 'core', inputs: { in: [[1, 1, 2, 2]], each: [1, 2] } })
  await desk.drain(order)
  expect(await desk.status(job)).toBe('suspended')
  await desk.put(job, 'each', 1, 2, 2, 3)
  await desk.drain(order)
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([[1, 1, 2, 2]])
  expect(await desk.status(job)).toBe('completed')
  await desk.put(job, 'in', [3, 2])
  await desk.drain(order)
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([[3, 2]])
})

scenario('S41 merge returns each object that arrives, merged over a default', async (desk, order) => {
  const job = await desk.make('merge', {
    queue: 'core',
    in: { in1: { default: { key1: 'val3', common: 'x' } }, in2: {} },
    inputs: { in2: [{ key2: 'val2', common: 'y' }, { key2: 'val4' }] },
  })
  await desk.drain(order)
  expect(await desk.values(job, 'out')).toEqual([
    { key1: 'val3', common: 'y', key2: 'val2' },
    { key1: 'val3', common: 'x', key2: 'val4' },
  ])
})
