// docs/compat/sidejob.md refers to these tests by their titles.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineWorker } from '../../../src/index.ts'
import { type Desk, startDesks } from './kit.ts'
import { taken, workers } from './workers.ts'

const ephemeral = defineWorker({
  class: 'ephemeral',
  reach: 'all',
  perform: (job) => job.op({ op: 'delete', job: job.id, force: true }),
})

const twofold = defineWorker({
  class: 'twofold',
  in: { a: { default: 1 }, b: { default: 2 } },
  out: { out: {} },
  async perform(job) {
    for await (const { a } of job.inputs('a')) job.write('out', ['a', a], { setDefault: false })
    for await (const { b } of job.inputs('b')) job.write('out', ['b', b], { setDefault: false })
  },
})

const dated = defineWorker({ class: 'dated', in: { '*': {} }, perform: (job) => job.suspend() })

let desks: Awaited<ReturnType<typeof startDesks>>
let desk: Desk
beforeAll(async () => {
  desks = await startDesks([...workers, ephemeral, twofold, dated])
})
beforeEach(() => {
  desk = desks.desk()
  taken()
})
afterAll(() => desks.close())

test('a job shows when it last ran', async () => {
  const job = await desk.make('dated')
  expect((await desk.view(job)).ranAt).toBe(null)
  await desk.once(job)
  const first = (await desk.view(job)).ranAt!
  expect(Math.abs(first - desk.now())).toBeLessThan(5_000)
  await desk.once(job)
  expect((await desk.view(job)).ranAt).toBeGreaterThanOrEqual(first)
})

test('a job that deletes itself is deleted when its run has ended, and its parent is notified', async () => {
  const parent = await desk.make('nop')
  const job = await desk.make('ephemeral', { parent, name: 'a' })
  await desk.once(parent)
  expect((await desk.view(parent)).children).toHaveProperty('a')
  await desk.once(job)
  expect(await desk.status(parent)).toBe('queued')
  expect((await desk.view(parent)).children).toEqual({})
  expect(await desk.keys(`job:${job}*`)).toEqual([])
})

test('startup is not called again after a termination and a run with force', async () => {
  const job = await desk.make('closing')
  await desk.drain()
  await desk.terminate(job)
  await desk.drain()
  expect(await desk.status(job)).toBe('terminated')
  await desk.once(job)
  expect(taken()).toEqual([`startup ${job}`, `perform ${job}`, `shutdown ${job}`, `perform ${job}`])
})

test('each set of ports remembers which defaults it has returned', async () => {
  const job = await desk.make('twofold')
  await desk.once(job)
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([
    ['a', 1],
    ['b', 2],
  ])
  await desk.once(job)
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([])
  await desk.setDefault(job, 'in', 'b', 3)
  await desk.once(job)
  expect(await desk.drainPort(job, 'out', 'out')).toEqual([['b', 3]])
})

test('a run that fails logs its error, wakes its parent, and consumes nothing', async () => {
  const log = await desk.ear('/sidejob/log')
  const parent = await desk.make('nop')
  const job = await desk.make('failing', { parent, name: 'a', in: { in: {} }, inputs: { in: [1] } })
  await desk.once(parent)
  await desk.heard(log)
  await desk.once(job)
  expect([await desk.status(job), await desk.status(parent), await desk.size(job, 'in', 'in')]).toEqual([
    'failed',
    'queued',
    1,
  ])
  const [entry] = await desk.heard(log)
  expect(entry).toMatchObject({ job, error: 'test error', reason: 'other', backtrace: expect.stringContaining('at ') })
  expect(entry).not.toHaveProperty('message')
})

test('the entry of a failed run has its error, whatever the message, the detail and the code contain', async () => {
  const log = await desk.ear('/sidejob/log')
  const job = await desk.make('detailed')
  await desk.once(job)
  expect(await desk.heard(log)).toMatchObject([
    { job, error: 'a ","reason":" b', detail: { stack: 'mine', error: 'also mine', deep: [1] } },
  ])
  const parent = await desk.make('twins')
  await desk.once(parent)
  expect(await desk.heard(log)).toMatchObject([
    { job: parent, error: expect.stringContaining('already has a child a'), code: 'TAKEN' },
  ])
})

test('startup is called in the first run, even if the job was terminated before', async () => {
  const job = await desk.make('closing')
  await desk.terminate(job)
  await desk.drain()
  expect(await desk.status(job)).toBe('terminated')
  await desk.once(job)
  await desk.once(job)
  expect(taken()).toEqual([`shutdown ${job}`, `startup ${job}`, `perform ${job}`, `perform ${job}`])
})

test('terminate keeps an unread result', async () => {
  for (const className of ['answering', 'answering_last']) {
    const job = await desk.make(className, { keepResult: true })
    await desk.once(job)
    await desk.terminate(job)
    await desk.drain()
    expect(await desk.status(job)).toBe('terminated')
    expect(await desk.engine.jobs.result(String(job), {})).toMatchObject({ result: { type: 'success', result: '42' } })
  }
  const job = await desk.make('answering', { keepResult: true })
  await desk.terminate(job)
  expect(await desk.engine.jobs.result(String(job), {})).toMatchObject({ result: { type: 'failure' } })
})

test('a job whose class was removed is terminated without its shutdown hook, and can be deleted', async () => {
  const register = () =>
    desk.engine.workers.register('elsewhere', 'closing', { push: { url: 'http://127.0.0.1:1/' }, shutdown: true })
  await register()
  const make = () => desk.make('closing', { queue: 'elsewhere' })
  const [job, asked, deleted] = [await make(), await make(), await make()]
  await desk.terminate(asked)
  expect(await desk.status(asked)).toBe('terminating')
  await desk.engine.workers.unregister('elsewhere', 'closing')
  await desk.terminate(job)
  expect(await desk.status(job)).toBe('terminated')
  expect(await desk.engine.jobs.remove(String(deleted), { force: true })).toBe('gone')
  await desk.drain()
  expect(await desk.status(asked)).toBe('terminated')
})
