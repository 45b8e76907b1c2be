import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { delay } from '../../../functions/delay.ts'
import { defineWorker, port, Terminal } from '../../../src/index.ts'
import { call, sandbox } from '../../../src/testing/index.ts'

const zip = defineWorker({
  class: 'zip',
  in: { left: port(z.number()), right: port(z.string(), { default: 'x' }) },
  out: { pair: port(z.tuple([z.number(), z.string()])) },
  async perform(job) {
    for await (const { left, right } of job.inputs('left', 'right')) job.write('pair', [left, right])
    job.set({ runs: (job.get<number>('runs') ?? 0) + 1 })
  },
})

describe('call', () => {
  test('returns the outputs of one run', async () => {
    expect(await call(zip, { left: [1], right: ['a'] })).toEqual({
      end: 'completed',
      out: { pair: [[1, 'a']] },
      state: { runs: 1 },
      defaults: {},
      unread: { left: [], right: [] },
      ops: [{ op: 'write', to: { out: 'pair' }, values: ['[1,"a"]'] }],
    })
  })

  test('takes defaults, state, arguments and more ports', async () => {
    const all = defineWorker({
      class: 'all',
      in: { '*': port() },
      out: { '*': port() },
      perform(job) {
        for (const name of job.inPorts()) job.write(name, [job.default(name), job.get('by'), job.args])
      },
    })
    const { out } = await call(all, {}, { in: { b: {}, a: {} }, defaults: { a: 1 }, state: { by: 2 }, args: 3 })
    expect(out).toEqual({ a: [[1, 2, 3]], b: [[null, 2, 3]] })
  })

  test('a failed run has no effect', async () => {
    const { end, error, out, unread, state, ops } = await call(zip, { left: [1, 'two'], right: ['a', 'b'] })
    expect({ end, out, state, ops }).toEqual({ end: 'failed', out: { pair: [] }, state: {}, ops: [] })
    expect(error).toMatchObject({
      message: expect.stringMatching(/port "left" .*expected a number, got "two"/),
      retry: false,
    })
    expect(unread).toEqual({ left: [1, 'two'], right: ['a', 'b'] })
  })

  test('writes that Redis would refuse fail here too, without effect', async () => {
    const wrong = defineWorker({
      class: 'wrong',
      out: { out: port() },
      perform(job) {
        job.write('out', 1)
        job.writeChild('missing', 'in', 1)
      },
    })
    expect(await call(wrong)).toMatchObject({
      end: 'failed',
      error: { message: 'job 1 (wrong) has no child missing; it has none', retry: false },
      out: { out: [] },
    })
    await expect(call(wrong, { in: [1] })).rejects.toThrow('job 1 (wrong) has no input port "in"')
  })

  test('returns the result, the ops and the time of the next run', async () => {
    const busy = defineWorker({
      class: 'busy',
      perform(job) {
        job.publish('/a', 1)
        job.log({ b: 2 })
        return job.again({ wait: 5_000 })
      },
    })
    expect(await call(busy, {}, { now: 1_000 })).toMatchObject({
      end: 'again',
      runAt: 6_000,
      ops: [
        { op: 'publish', channel: '/a', message: '1' },
        { op: 'log', entry: '{"b":2}' },
      ],
    })
    expect(await call(defineWorker({ class: 'seven', perform: () => ({ n: 7 }) }))).toMatchObject({ result: { n: 7 } })
  })
})

describe('sandbox', () => {
  test('a job runs again when it receives a value', async () => {
    const job = sandbox(zip)
    job.write('right', 'a')
    await job.settle()
    expect(job.status).toBe('suspended')
    expect(await job.settle()).toBeUndefined()
    job.write('left', 1, 2)
    await job.settle()
    expect(job.status).toBe('completed')
    expect(job.take('pair')).toEqual([
      [1, 'a'],
      [2, 'x'],
    ])
    expect(job.state.runs).toBe(2)
  })

  test('time is frozen until it is moved', async () => {
    const job = sandbox(delay, { in: { delay: { default: 10 } }, now: 0 })
    job.write('in', 'hello')
    await job.settle()
    expect([job.status, job.runAt]).toEqual(['queued', 10_000])
    expect(await job.settle()).toBeUndefined()
    job.advance('10s')
    await job.settle()
    expect([job.status, job.runAt, job.take('out')]).toEqual(['completed', undefined, ['hello']])
  })

  test('effects of a checkpoint stay, whatever happens later', async () => {
    const careful = defineWorker({
      class: 'careful',
      in: { in: port() },
      out: { out: port() },
      async perform(job) {
        while (job.size('in') > 0) {
          const value = await job.read('in')
          if (value === 'bad') throw new Error('bad value')
          job.write('out', value)
          await job.checkpoint()
        }
      },
    })
    const job = sandbox(careful)
    job.write('in', 1, 2, 'bad', 3)
    expect(await job.settle()).toMatchObject({ end: 'failed', error: { message: 'bad value' } })
    expect([job.out, job.unread]).toEqual([{ out: [1, 2] }, { in: ['bad', 3] }])
  })

  test('a step runs once, and each further retry comes later', async () => {
    let charged = 0
    const pay = defineWorker({
      class: 'pay',
      retry: { max: 2, backoff: { base: 1_000 } },
      async perform(job) {
        await job.step('charge', () => ++charged)
        throw new Error(`attempt ${job.attempt}`)
      },
    })
    const job = sandbox(pay, { now: 0 })
    for (const [attempt, status, runAt] of [
      [1, 'queued', 1_000],
      [2, 'queued', 3_000],
      [3, 'failed', undefined],
    ] as const) {
      expect((await job.settle())?.error?.message).toBe(`attempt ${attempt}`)
      expect([job.status, job.runAt]).toEqual([status, runAt])
      job.advance(attempt)
    }
    expect(charged).toBe(1)
    job.wake()
    expect(job.status).toBe('failed')
  })

  test('startup comes before the first run that does not fail', async () => {
    const seen: string[] = []
    const started = defineWorker({
      class: 'started',
      startup: () => seen.push('startup'),
      perform() {
        seen.push('perform')
        if (seen.length < 3) throw new Error('not yet')
      },
    })
    const job = sandbox(started)
    for (let i = 0; i < 3; i++) await job.run()
    expect(seen).toEqual(['startup', 'perform', 'startup', 'perform', 'perform'])
  })

  test('a parent sees the outcome of its children', async () => {
    const sum = defineWorker({
      class: 'sum',
      in: { n: port(z.number()) },
      out: { sum: port(z.number()) },
      async perform(job) {
        for await (const { n } of job.inputs('n')) job.spawn(`of${n}`, { class: 'part' }, { args: n })
        const found = Object.values(await job.readChildren<number>('part')).flat()
        for (const part of found) job.write('sum', part)
      },
    })
    const job = sandbox(sum)
    job.write('n', 1, 2)
    const ran = await job.settle()
    expect(ran?.ops.map((op) => op.op)).toEqual(['spawn', 'spawn'])
    job.child('of1', { status: 'completed', out: { part: [10, 11] } })
    await job.settle()
    expect(job.take('sum')).toEqual([10, 11])
    job.child('of2', { status: 'completed', out: { part: [20] } })
    await job.settle()
    expect(job.take('sum')).toEqual([20])
  })

  test('a parent waiting for children is not woken before they have ended', async () => {
    const waiting = defineWorker({
      class: 'waiting',
      perform(job) {
        const open = Object.values(job.children).filter(({ status }) => status === 'queued')
        if (open.length > 0) return job.suspend({ waitFor: 'children' })
      },
    })
    const job = sandbox(waiting, { children: { a: { status: 'queued' } } })
    await job.settle()
    expect(job.status).toBe('suspended')
    job.child('a', { status: 'failed' })
    await job.settle()
    expect(job.status).toBe('completed')
  })

  test('Terminal is not retried, and a used name fails the run', async () => {
    const twice = defineWorker({
      class: 'twice',
      retry: { max: 5 },
      perform(job) {
        if (job.args === 'stop') throw new Terminal('enough', { detail: { n: 1 } })
        job.spawn('a', zip)
        job.spawn('a', zip)
      },
    })
    expect(await call(twice)).toMatchObject({
      end: 'failed',
      error: { message: 'job 1 (twice) already has a child a' },
    })
    const job = sandbox(twice, { args: 'stop' })
    expect(await job.settle()).toMatchObject({ error: { message: 'enough', retry: false, detail: '{"n":1}' } })
    expect(job.status).toBe('failed')
  })

  test('a waiting function continues when its value has come', async () => {
    const order = defineWorker({
      class: 'order',
      in: { paid: port(z.number()) },
      async perform(job) {
        const paid = await job.waitFor('paid', { timeout: '2 weeks' })
        await job.sleep('3 days')
        const shipped = await job.waitFor('/shipped')
        const label = await job.callWorker('label')
        return { paid, shipped, label }
      },
    })
    const job = sandbox(order)
    await job.settle()
    expect(job.status).toBe('queued')
    job.write('paid', 7)
    await job.settle()
    job.advance('3 days')
    await job.settle()
    expect(job.status).toBe('suspended')
    job.hear('/shipped', 'today')
    await job.settle()
    job.child('label#1', { status: 'completed', left: 'A-7' })
    expect(await job.settle()).toMatchObject({ result: { paid: 7, shipped: 'today', label: 'A-7' } })
    expect(job.status).toBe('completed')
  })
})

describe('a thrown value that is not an Error is kept', () => {
  test.each<[string, unknown, object]>([
    ['an object', { code: 42 }, { message: '{"code":42}', detail: '{"code":42}' }],
    [
      'an object with a message',
      { message: 'busy', code: 42 },
      { message: 'busy', detail: '{"message":"busy","code":42}' },
    ],
    ['a list', [1, 2], { message: '[1,2]', detail: '[1,2]' }],
    ['a text', 'a bare string', { message: 'a bare string' }],
    ['undefined', undefined, { message: 'undefined' }],
  ])('%s', async (_, thrown, error) => {
    const worker = defineWorker({
      class: 'throws',
      perform() {
        throw thrown
      },
    })
    expect((await sandbox(worker).run()).error).toEqual({ ...error, reason: 'other' })
  })

  test('an object that refers to itself can be thrown', async () => {
    const own: { code: number; self?: object } = { code: 42 }
    own.self = own
    const worker = defineWorker({
      class: 'throws',
      perform() {
        throw own
      },
    })
    expect((await sandbox(worker).run()).error).toMatchObject({ message: '[object Object]', reason: 'other' })
  })
})

test('env is the env of the function, in call and in sandbox', async () => {
  const worker = defineWorker({
    class: 'secret',
    perform: (job) => (job.env as unknown as { STRIPE_KEY: string }).STRIPE_KEY,
  })
  const env = { STRIPE_KEY: 'sk' }
  expect(await call(worker, {}, { env })).toMatchObject({ end: 'completed', result: 'sk' })
  expect(await sandbox(worker, { env }).run()).toMatchObject({ end: 'completed', result: 'sk' })
})

test('an unknown child is refused with the names of the children, as parallel makes them', async () => {
  const worker = defineWorker({
    class: 'image',
    perform: (job) => job.parallel([(at) => at.callWorker('resize'), (at) => at.callWorker('resize')]),
  })
  const job = sandbox(worker)
  await job.settle()
  expect(() => job.child('#0', { status: 'completed' })).toThrow(
    'job 1 (image) has no child #0; it has parallel#1[0]/resize#1, parallel#1[1]/resize#1',
  )
})
