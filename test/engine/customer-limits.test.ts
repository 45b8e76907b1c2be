import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { encodeValue } from '../../src/core/codec/value.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

let ran: string[] = []
const mail = defineWorker({
  class: 'mail',
  args: z.object({ customer: z.string(), region: z.string().default('eu') }),
  limits: [
    {
      key: ({ customer, region }) => (customer === 'free' ? undefined : `customer:${customer}:${region}`),
      rate: { limit: 1, period: '10s' },
    },
    { key: 'mails', concurrency: 100 },
  ],
  perform: (job) => void ran.push(job.args.customer),
})
const broken = defineWorker({
  class: 'broken',
  args: z.any(),
  limits: [{ key: (args) => args.customer.id, concurrency: 1 }],
  perform() {},
})
let isNewCode = false
const changed = defineWorker({
  class: 'changed',
  args: z.any(),
  limits: [{ key: (args) => (isNewCode ? args.customer.id : undefined), concurrency: 1 }],
  perform() {},
})
const parent = defineWorker({
  class: 'parent',
  async perform(job) {
    await job.step('children', () =>
      job.spawn('grouped', { class: 'plain' }, { group: { id: 'acme', concurrency: 1 }, priority: 3, wait: '5m' }),
    )
    await job.callWorker('plain', {}, { group: { id: 'acme' }, retry: { max: 1, backoff: '2s' } })
  },
})
const plain = defineWorker({ class: 'plain', perform() {} })
const careless = defineWorker({
  class: 'careless',
  retry: { max: 0 },
  perform: (job) => job.spawn('child', plain, job.args as object),
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [mail, broken, changed, parent, plain, careless] })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})
beforeEach(() => {
  ran = []
})

const make = (...customers: string[]) =>
  kit.engine.jobs.enqueue(
    customers.map((customer) => ({ queue: 'default', class: 'mail', args: encodeValue({ customer }) })),
  )

describe('a limit with a key for each customer', () => {
  test('applies to each customer separately, also if one call creates many jobs', async () => {
    const { jobs } = await make('a', 'a', 'b', 'a', 'free', 'b', 'free')
    await kit.until(() => ran.length === 4)
    expect(ran.toSorted()).toEqual(['a', 'b', 'free', 'free'])
    await kit.until(async () => (await kit.engine.jobs.why(String(jobs[1]!.id))).reasons[0]?.code === 'LIMITED')
    expect((await kit.engine.jobs.why(String(jobs[1]!.id))).reasons[0]).toMatchObject({ key: 'customer:a:eu' })
    for (const expected of [['a', 'b'], ['a']]) {
      ran = []
      await kit.advance(10_100)
      await kit.until(() => ran.length === expected.length)
      expect(ran.toSorted()).toEqual(expected)
    }
  })

  test('keeps a rate that was set through the API when more jobs of the customer are created', async () => {
    const rate = { limit: 5, period: 10_000 }
    await kit.engine.limits.set('customer:c:eu', { rate })
    await make('c', 'c', 'c', 'd', 'd')
    await kit.until(() => ran.length === 4)
    expect(ran.toSorted()).toEqual(['c', 'c', 'c', 'd'])
    expect(await kit.engine.limits.get('customer:c:eu')).toMatchObject({ rate })
    await kit.engine.limits.remove('customer:c:eu')
    await make('c')
    await kit.until(() => ran.length === 5)
    expect(await kit.engine.limits.get('customer:c:eu')).toMatchObject({ rate: { limit: 1, period: 10_000 } })
    await kit.advance(10_100)
    await kit.until(() => ran.length === 6)
  })

  test('is listed with the other limits, and shows its rate', async () => {
    expect(await kit.engine.limits.get('customer:b:eu')).toMatchObject({ rate: { limit: 1, period: 10_000 } })
    expect(await kit.engine.limits.get('mails')).toMatchObject({ concurrency: 100 })
  })

  test('refuses args that give no key, and creates no job', async () => {
    const enqueue = (args: unknown) =>
      kit.engine.jobs.enqueue([{ queue: 'default', class: 'broken', args: encodeValue(args) }])
    await expect(enqueue({})).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringMatching(/^args: class broken could not compute a limit key: Cannot read properties/),
    })
    await expect(enqueue({ customer: { id: '' } })).rejects.toThrow('expected a string of 1 to 255 bytes, got ""')
  })

  test('new code that throws for a waiting job stopped the queue, and its other jobs were lost', async () => {
    await kit.engine.queues.update('default', { paused: true })
    const { jobs } = await kit.engine.jobs.enqueue(
      ['changed', 'plain', 'plain'].map((name) => ({ queue: 'default', class: name, args: '{}' })),
    )
    isNewCode = true
    await kit.engine.constraints.set('few', { match: { class: 'changed' }, concurrency: 5 })
    await kit.engine.queues.update('default', { paused: false })
    for (const { id } of jobs) {
      await kit.rest(id)
      expect(await kit.engine.jobs.get(String(id))).toMatchObject({ status: 'completed', lost: 0 })
    }
    await kit.engine.constraints.remove('few')
  })
})

describe('a child of a function', () => {
  test('has the group, priority and delay that its parent gives it', async () => {
    const { jobs } = await kit.engine.jobs.enqueue([{ queue: 'default', class: 'parent' }])
    const view = () => kit.engine.jobs.get(String(jobs[0]!.id))
    await kit.until(async () => Object.keys((await view()).children).includes('grouped'))
    const grouped = await kit.engine.jobs.get(String((await view()).children.grouped!.id))
    expect(grouped).toMatchObject({ group: 'acme', priority: 3, status: 'queued' })
    expect(grouped.runAt! - kit.now()).toBeGreaterThan(240_000)
    expect(await kit.engine.groups.get('acme')).toMatchObject({ concurrency: 1 })
  })

  test.each<[object, string]>([
    [{ retry: { backoff: { base: 'soon' } } }, 'retry.backoff.base: expected a duration in milliseconds or like'],
    [{ retry: { max: -3 } }, 'retry.max: expected at least 0, got -3'],
    [{ wait: -1 }, 'expected a duration'],
    [{ timeout: 'long' }, 'expected a duration'],
  ])('fails its parent with %j, and no other run', async (options, message) => {
    const made = await kit.engine.jobs.enqueue([
      { queue: 'default', class: 'careless', args: encodeValue(options) },
      { queue: 'default', class: 'plain' },
    ])
    const views = () => Promise.all(made.jobs.map(({ id }) => kit.engine.jobs.get(String(id))))
    await kit.until(async () => (await views()).every(({ endedAt }) => endedAt !== null))
    const [careless, other] = await views()
    expect(careless).toMatchObject({ status: 'failed' })
    expect(JSON.parse(careless!.error!).message).toContain(message)
    expect(other).toMatchObject({ status: 'completed' })
  })
})
