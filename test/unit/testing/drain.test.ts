import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { fibonacci } from '../../../examples/functions/fibonacci.ts'
import { defineWorker, port } from '../../../src/index.ts'
import { createClock, drain, runInline } from '../../../src/testing/index.ts'
import { type Kit, startKit } from '../../kit/index.ts'

let performed: number[] = []

const note = defineWorker({
  class: 'note',
  in: { go: port() },
  perform: (job) => {
    performed.push(job.id)
  },
})

const fail = defineWorker({
  class: 'fail',
  in: { n: port(z.number()) },
  async perform(job) {
    performed.push(job.id)
    for await (const { n } of job.inputs('n')) throw new Error(`no to ${n}`)
  },
})

const forever = defineWorker({ class: 'forever', perform: (job) => job.again() })

const clock = createClock()
let kit: Kit
beforeEach(async () => {
  performed = []
  kit = await startKit({ hold: true, workers: [note, fail, forever, fibonacci], clock })
})
afterEach(() => kit.close())

const make = async (n: number, input: object = {}) => {
  const ids: number[] = []
  while (ids.length < n) ids.push(await kit.make('note', input))
  return ids
}

test('jobs run oldest first, newest first, or in a random order that repeats for the same seed', async () => {
  const [a, b, c] = await make(3)
  await drain(kit)
  expect(performed.splice(0)).toEqual([a, b, c])
  await make(3)
  await drain(kit, { order: 'lifo' })
  expect(performed.splice(0)).toEqual([c! + 3, b! + 3, a! + 3])
  const orders = new Set<string>()
  for (let seed = 0; seed < 12; seed++) {
    const ids = await make(3)
    await drain(kit, { order: { seed: seed % 6 } })
    orders.add(`${seed % 6}: ${performed.splice(0).map((id) => ids.indexOf(id))}`)
  }
  expect(orders.size).toBe(6)
  expect(new Set([...orders].map((order) => order.slice(3))).size).toBeGreaterThan(2)
})

test('urgent jobs run first in every order, and keep their priority', async () => {
  const [late] = await make(1, { priority: 5 })
  const [soon] = await make(1, { priority: -5 })
  const [next] = await make(1)
  await drain(kit, { order: 'lifo' })
  expect(performed).toEqual([soon, next, late])
  expect((await kit.engine.jobs.get(String(soon))).priority).toBe(-5)
  expect((await kit.engine.jobs.get(String(next))).priority).toBe(0)
  expect(await kit.engine.doctor.verify()).toEqual([])
})

test.each(['fifo', 'lifo', { seed: 1 }, { seed: 2 }, { seed: 3 }] as const)(
  'fib(7) is 13 when jobs run %o',
  async (order) => {
    const id = await kit.make('fibonacci', { args: '{"n":7}' })
    const runs = await drain(kit, { order })
    const { values } = await kit.engine.ports.get(String(id), 'out', 'answer')
    expect(values.map(({ data }) => data)).toEqual(['13'])
    expect(runs).toHaveLength(25 + 12)
    expect(runs.at(-1)).toMatchObject({ id, class: 'fibonacci', status: 'completed' })
    expect(await kit.engine.doctor.verify()).toEqual([])
  },
)

test('a run that fails stops the drain, or is listed', async () => {
  const first = await kit.make('fail', { inputs: { n: ['1'] } })
  const [second] = await make(1)
  await expect(drain(kit)).rejects.toThrow(`job ${first} (fail) failed: no to 1`)
  expect(performed).toEqual([first])
  const third = await kit.make('fail', { inputs: { n: ['2'] } })
  const runs = await drain(kit.engine, { errors: 'keep' })
  expect(runs.map(({ id, status, error }) => [id, status, error?.message])).toEqual([
    [second, 'completed', undefined],
    [third, 'failed', 'no to 2'],
  ])
})

test('later jobs run when the clock is moved', async () => {
  await make(1, { wait: 3_600_000 })
  expect(await drain(kit)).toEqual([])
  clock.advance('59m')
  expect(await drain(kit)).toEqual([])
  clock.advance('1m')
  expect(await drain(kit)).toMatchObject([{ class: 'note', status: 'completed' }])
})

test('a job that never stops is stopped by the limit', async () => {
  await kit.make('forever')
  await expect(drain(kit, { limit: 20 })).rejects.toThrow('1 job is still ready after 20 runs')
})

test('runInline performs one job, whatever its place in the queue and its status', async () => {
  const [, , id] = await make(3)
  expect(await runInline(kit, id!)).toMatchObject({ id, status: 'completed' })
  expect(await runInline(kit, id!)).toMatchObject({ id, status: 'completed' })
  expect(performed).toEqual([id, id])
})

test('runInline respects the status without force', async () => {
  const id = await kit.make('fail', { inputs: { n: ['1'] } })
  await expect(runInline(kit, id)).rejects.toThrow('no to 1')
  expect(await runInline(kit, id, { force: false })).toBeUndefined()
  expect(await runInline(kit, id, { errors: 'keep' })).toMatchObject({
    status: 'failed',
    error: { message: 'no to 1' },
  })
  expect(performed).toEqual([id, id])
})
