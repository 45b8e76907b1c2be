import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { jobInputs } from '../../src/core/schemas.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const plain = defineWorker({ class: 'plain', perform: (job) => job.labels })
const shop = defineWorker({
  class: 'shop',
  labels: { plan: 'free', area: 'eu' },
  async perform(job) {
    if (!job.children.inner) job.spawn('inner', plain, { labels: { ...job.labels, step: 'pack' }, keepResult: true })
    return job.labels
  },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [plain, shop], hold: true })
})
afterAll(() => kit.close())
afterEach(async () => {
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const made = async (jobs: object | object[]) => {
  const inputs = jobInputs.parse(jobs)
  const { jobs: all } = await kit.engine.jobs.enqueue(Array.isArray(inputs) ? inputs : [inputs])
  return all.map(({ id }) => id)
}
const labelsOf = async (id: number) => (await kit.engine.jobs.get(String(id))).labels

test('a job shows its labels, and its function and its copies have them', async () => {
  const [id] = await made({ class: 'plain', labels: { customer: '7', order: 'A-1 b' }, keepResult: true })
  const [bare] = await made({ class: 'plain' })
  expect(await labelsOf(id!)).toEqual({ customer: '7', order: 'A-1 b' })
  expect(await labelsOf(bare!)).toEqual({})
  await drain(kit.engine)
  const found = await kit.engine.jobs.result(String(id), {})
  expect(found).toMatchObject({ result: { result: '{"customer":"7","order":"A-1 b"}' } })
  expect(await labelsOf(id!)).toEqual({ customer: '7', order: 'A-1 b' })
  const copy = await kit.engine.jobs.copy(String(id), {})
  expect(await labelsOf(copy.id)).toEqual({ customer: '7', order: 'A-1 b' })
  await drain(kit.engine)
})

test('a job replaces labels of its class, and gives them to its children', async () => {
  const [id] = await made({ class: 'shop', labels: { plan: 'pro', customer: '8' } })
  expect(await labelsOf(id!)).toEqual({ area: 'eu', customer: '8', plan: 'pro' })
  await drain(kit.engine)
  const { children } = await kit.engine.jobs.get(String(id))
  expect(await labelsOf(children.inner!.id)).toEqual({ area: 'eu', customer: '8', plan: 'pro', step: 'pack' })
})

test('a schedule creates its job with its labels', async () => {
  const { job } = await kit.engine.schedules.set(
    'hourly',
    jobInputs.parse({ class: 'plain', repeat: { cron: '0 9 * * *' }, labels: { customer: '9' } }) as never,
  )
  expect(await labelsOf(job)).toEqual({ customer: '9' })
  await kit.engine.jobs.remove(String(job), { force: true })
})

test('jobs with equal labels wait in pieces, in any order of their names', async () => {
  const keys = async () => (await createClient(kit.options).ask((redis) => redis.keys('sidejob:job*:*'))).length
  const before = await keys()
  const ids = await made(
    Array.from({ length: 100 }, (_, n) => ({
      class: 'plain',
      args: String(n),
      labels: n % 2 ? { a: '1', b: '2' } : { b: '2', a: '1' },
    })),
  )
  expect((await keys()) - before).toBeLessThan(10)
  expect(await labelsOf(ids[40]!)).toEqual({ a: '1', b: '2' })
  await drain(kit.engine)
  expect(await labelsOf(ids[41]!)).toEqual({ a: '1', b: '2' })
})

test('the list finds jobs by labels', async () => {
  const [first, , third] = await made([
    { class: 'plain', labels: { customer: '70', plan: 'pro' } },
    { class: 'plain', labels: { customer: '71' } },
    { class: 'plain', labels: { customer: '70' } },
  ])
  const idsOf = async (labels: Record<string, string>) =>
    (await kit.engine.jobs.rows({ labels })).jobs.map(({ id }) => id)
  expect(await idsOf({ customer: '70' })).toEqual([third, first])
  expect(await idsOf({ customer: '70', plan: 'pro' })).toEqual([first])
  expect(await idsOf({ customer: 'x' })).toEqual([])
  await drain(kit.engine)
})

test('labels that are too many, too large or wrongly named are refused', async () => {
  const refusal = (labels: unknown) => jobInputs.safeParse({ class: 'plain', labels }).error?.issues[0]?.message
  const nine = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`l${n}`, 'x']))
  const large = { a: 'x'.repeat(255), b: 'x'.repeat(255) }
  expect(jobInputs.safeParse({ class: 'plain', labels: { customer: '7' } }).success).toBe(true)
  for (const wrong of [nine, large, { '7': 'x' }, { a: 7 }, { a: '' }, { a: 'x'.repeat(256) }])
    expect(refusal(wrong)).toBeDefined()
  const seven = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`l${n}`, 'x']))
  await expect(made({ class: 'shop', labels: seven })).rejects.toThrow(/labels: expected at most 8 labels .*, got 9/)
  expect(() => createEngine({ ...kit.engineOptions, workers: [{ ...plain, labels: { a: 7 } } as never] })).toThrow(
    /labels/,
  )
})
