import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker, type Job, port } from '../../src/index.ts'
import { drain, replay } from '../../src/testing/index.ts'
import { clientOf } from '../kit/client.ts'
import { type Kit, startKit } from '../kit/index.ts'

type Perform = (job: Job) => Promise<unknown>

const acted: string[] = []

const first: Perform = async (job) => {
  const price = await job.step('price', () => {
    acted.push('price')
    job.write('told', 'priced')
    return 10
  })
  const { value } = { value: await job.read('amount') }
  job.write('told', { total: price * (value as number) })
  job.set({ total: price * (value as number) })
  job.publish('/orders', 'paid')
  job.spawn('receipt', { class: 'receipt' }, { args: { to: 'ann' }, wait: '30 days' })
  return { total: price * (value as number) }
}

const lateOptions = { at: new Date('2030-01-01'), timeout: '1m', retry: { max: 1 }, keepResult: '2h', priority: 5 }

const options = { class: 'order', in: { amount: port() }, out: { told: port() }, history: { values: true } }
const versionOf = (perform: Perform, more: object = {}): Worker =>
  defineWorker({ ...options, ...more, perform: perform as never }) as Worker

const workers: Worker[] = [
  versionOf(first),
  defineWorker({ class: 'receipt', async perform() {} }) as Worker,
  versionOf(first, { class: 'plain', history: 3 }),
  versionOf(async () => 'x'.repeat(70_000), { class: 'large' }),
  versionOf(async () => 'done', { class: 'secret', redact: ['args.card'] }),
  versionOf((job) => job.look(job.id), { class: 'looker' }),
  versionOf(async (job) => job.spawn('late', { class: 'receipt' }, lateOptions), { class: 'parent' }),
  versionOf(
    async (job) => {
      await job.step('first', () => 1)
      await job.sleep('3 days')
      const paid = await job.waitFor('amount', { timeout: '1 day' })
      return job.step('last', () => ({ paid }))
    },
    { class: 'waiter' },
  ),
  versionOf(
    async () => {
      throw new Error('no stock')
    },
    { class: 'broken' },
  ),
]

let kit: Kit
let client: ReturnType<typeof clientOf>
beforeAll(async () => {
  kit = await startKit({ workers, hold: true, encryptionKeys: [randomBytes(32)] })
  client = clientOf(kit.engine)
})
afterAll(() => kit.close())

async function ended(name: string, input: object = {}) {
  const id = await kit.make(name, { keepResult: true, ...input })
  await drain(kit.engine, { errors: 'keep' })
  acted.length = 0
  return client.recorded.get(id)
}

const order = () => ended('order', { inputs: { amount: ['3'] } })

test('a replay of the same code has the same result, and performs no step', async () => {
  const { run, status } = await order()
  expect(status).toBe('completed')
  expect(await replay(versionOf(first), run!)).toEqual({ is: 'same' })
  expect(acted).toEqual([])
})

test('a replay that creates a child with the same options has the same result', async () => {
  const { run } = await ended('parent')
  const spawning: Perform = async (job) => job.spawn('late', { class: 'receipt' }, lateOptions)
  expect(await replay(versionOf(spawning, { class: 'parent' }), run!)).toEqual({ is: 'same' })
  const [late] = (run!.commits.at(-1)!.ops ?? []).filter(({ op }) => op === 'spawn')
  expect(late).toMatchObject({ at: Date.UTC(2030, 0, 1), timeout: 60_000, keepResult: 7_200_000 })
})

test('a run that read another job is not recorded, and its fault names the reason', async () => {
  expect(await ended('looker')).toMatchObject({ run: null, fault: 'its run read another job' })
})

test('a replay names the parts that differ', async () => {
  const { run } = await order()
  const is = async (perform: Perform) => {
    const replayed = await replay([versionOf(perform)], run!)
    return replayed.is === 'differs' ? replayed.differences : replayed
  }
  const cheaper: Perform = async (job) => {
    const price = await job.step('price', () => 10)
    const value = (await job.read('amount')) as number
    job.write('told', { total: price * value - 1 })
    job.set({ total: price * value })
    job.publish('/orders', 'paid')
    return { total: price * value }
  }
  expect(await is(cheaper)).toEqual([
    {
      part: 'writes',
      was: [
        { to: { out: 'told' }, value: 'priced' },
        { to: { out: 'told' }, value: { total: 30 } },
      ],
      is: [
        { to: { out: 'told' }, value: 'priced' },
        { to: { out: 'told' }, value: { total: 29 } },
      ],
    },
    {
      part: 'children',
      was: [{ queue: 'default', name: 'receipt', class: 'receipt', args: { to: 'ann' }, wait: 2_592_000_000 }],
      is: [],
    },
  ])
  expect(await is(async () => ({ total: 0 }))).toContainEqual({ part: 'result', was: { total: 30 }, is: { total: 0 } })
  expect(
    await is(async () => {
      throw new Error('no stock')
    }),
  ).toContainEqual({ part: 'error', was: undefined, is: 'no stock' })
  expect(await is((job) => job.step('price in cents', () => 1_000))).toEqual([
    { part: 'steps', was: ['price'], is: 'step "price in cents"' },
  ])
  expect(await replay([], run!)).toEqual({ is: 'unjudged', why: 'there is no class order' })
})

test('a failed run is replayed, too', async () => {
  const { run, status } = await ended('broken')
  expect(status).toBe('failed')
  const broken = workers.find((one) => one.class === 'broken')!
  expect(await replay(broken, run!)).toEqual({ is: 'same' })
  const repaired = { ...broken, perform: async () => 'sold' } as Worker
  expect(await replay(repaired, run!)).toMatchObject({ is: 'differs' })
})

test('the last run of a function that waits is replayed with its kept steps', async () => {
  const id = await kit.make('waiter')
  await drain(kit.engine)
  await kit.advance(3 * 86_400_000)
  await client.ports.write(id, 'in', 'amount', { values: [5] })
  await drain(kit.engine)
  const { run, status } = await client.recorded.get(id)
  expect(status).toBe('completed')
  const waiter = workers.find((one) => one.class === 'waiter')!
  expect(await replay(waiter, run!)).toEqual({ is: 'same' })
})

test('the list has ended jobs that keep values, with the reason if a job cannot be replayed', async () => {
  const { id } = await order()
  await ended('plain', { inputs: { amount: ['3'] } })
  const large = await ended('large')
  const secret = await ended('secret', { args: '{"card":"4111"}' })
  const { jobs } = await client.recorded.list({ limit: 1_000 })
  expect(jobs.map((job) => job.id)).toContain(id)
  expect(jobs.map((job) => job.class)).not.toContain('plain')
  expect(large).toMatchObject({
    run: null,
    fault: expect.stringMatching(/^its run is too large to be recorded \(\d+ characters\)$/),
  })
  expect(secret).toMatchObject({ run: null, fault: 'its class redacts values' })
  expect((await client.recorded.list({ class: 'large' })).jobs).toHaveLength(1)
})

test('values of a recorded run are encrypted in Redis', async () => {
  const { id } = await ended('order', { inputs: { amount: ['3'] }, args: '"M4rk3r"' })
  const { document } = await kit.store.inspect(String(id))
  expect(document.lastValues).toContain('$sealed')
  expect(JSON.stringify(document)).not.toContain('M4rk3r')
})
