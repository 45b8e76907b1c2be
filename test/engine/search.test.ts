import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { labelsText } from '../../src/core/labels.ts'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
const make = (args: unknown, input: object = {}) => kit.make('job', { args: encodeValue(args), ...input })
const ids = async (filter: object) => (await kit.engine.jobs.list(filter)).jobs.map(({ id }) => id)

beforeAll(async () => {
  kit = await startKit({ hold: true })
  await kit.engine.workers.register('default', 'job', { pull: true })
  await kit.engine.workers.register('default', 'secret', { pull: true, redact: ['args.card'] })
})
afterAll(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.close()
})

test('args, errors, labels and aliases are searched without regard to case', async () => {
  const order = await make({ order: 'AB-4711' }, { labels: labelsText({ customer: 'shop-9000' }) })
  const named = await make({}, { alias: ['invoice-4711'] })
  const other = await make({ order: '4712' })
  const failing = await make({})
  for (const { run } of await kit.engine.runs.claim('default', { names: ['job'], max: 10 }))
    if (run.token.startsWith(`${failing}.`))
      await kit.engine.runs.commit(run.token, { end: 'failed', error: { message: 'no order ab-4711', retry: false } })
  expect(await ids({ text: 'ab-4711' })).toEqual([failing, order])
  expect(await ids({ text: '4711' })).toEqual([failing, named, order])
  expect(await ids({ text: '4711', status: 'failed' })).toEqual([failing])
  expect(await ids({ text: 'SHOP-9000' })).toEqual([order])
  expect(await ids({ text: '471' })).toContain(other)
  expect(await kit.engine.jobs.list({ text: 'nowhere' })).toMatchObject({ jobs: [], cursor: null, looked: 4 })
})

test('redacted values are never found', async () => {
  const id = await kit.make('secret', { args: encodeValue({ card: '4000-0000', shop: 'berlin' }) })
  expect(await ids({ text: '4000-0000' })).toEqual([])
  expect(await ids({ text: 'berlin' })).toEqual([id])
})

test('a value at a path into args is matched exactly: a text, a number, true, false or null', async () => {
  const one = await make({ order: { id: 'A-1', lines: [{ n: 12 }] }, paid: true })
  const two = await make({ order: { id: 'a-1', lines: [{ n: 12 }] }, paid: null, '12': 'x' })
  const at = (args: Record<string, string>, more = {}) => ids({ args, ...more })
  expect(await at({ 'order.id': 'A-1' })).toEqual([one])
  expect(await at({ 'order.lines.0.n': '12' })).toEqual([two, one])
  expect(await at({ 'order.lines.0.n': '12', paid: 'true' })).toEqual([one])
  expect(await at({ paid: 'null' })).toEqual([two])
  expect(await at({ 'order.lines.0.n': '12' }, { text: '"a-1"', limit: 1 })).toEqual([two])
  const none = [
    ['order', '[object Object]'],
    ['order.lines', '12'],
    ['missing', 'undefined'],
    ['toString', 'x'],
  ] as const
  for (const [path, value] of none) expect(await at({ [path]: value })).toEqual([])
  expect(await kit.engine.jobs.list({ args: { 'order.id': 'A-1' }, limit: 1 })).toMatchObject({ cursor: String(one) })
  expect(await kit.engine.jobs.rows({ args: { 'order.id': 'A-1' } })).toMatchObject({
    jobs: [{ id: one }],
    cursor: null,
  })
  const secret = await kit.make('secret', { args: encodeValue({ card: '4000-1111', shop: 'rome' }) })
  expect(await at({ card: '4000-1111' })).toEqual([])
  expect(await at({ shop: 'rome' })).toEqual([secret])
})

test('a request searches two thousand jobs, reports the number, and the cursor continues', async () => {
  const first = await make({ wanted: 'needle' })
  for (let i = 0; i < 3; i++)
    await kit.engine.jobs.enqueue(
      Array.from({ length: 1_000 }, (_, n) => ({ queue: 'default', class: 'job', args: encodeValue({ n }) })),
    )
  const { requests } = kit.counts()
  const page = await kit.engine.jobs.list({ text: 'needle', limit: 10 })
  expect(page).toMatchObject({ jobs: [], looked: 2_000 })
  expect(kit.counts().requests - requests).toBe(2)
  expect(await ids({ text: 'needle', limit: 10, cursor: page.cursor! })).toEqual([first])
})

test('a full page continues after its last job', async () => {
  const { jobs, cursor } = await kit.engine.jobs.list({ text: '"n":7', limit: 2 })
  const next = await kit.engine.jobs.list({ text: '"n":7', limit: 2, cursor: cursor! })
  expect(jobs).toHaveLength(2)
  expect(next.jobs[0]!.id).toBeLessThan(jobs[1]!.id)
})
