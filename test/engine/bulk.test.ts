import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { BulkInput } from '../../src/engine/engine.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const broken = new Set<number>()
const fragile = defineWorker({
  class: 'fragile',
  retain: 3_600_000,
  perform(job) {
    if (broken.has(job.args as number)) throw new Error('broken')
  },
})
const other = defineWorker({ ...fragile, class: 'other' })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [fragile, other], hold: true })
})
afterAll(() => kit.close())
afterEach(async () => {
  broken.clear()
  expect(await kit.engine.doctor.verify()).toEqual([])
})

const settle = () => drain(kit.engine, { errors: 'keep' })

async function make(className: string, ...args: number[]): Promise<number[]> {
  const jobs = args.map((n) => ({ queue: 'default', class: className, args: String(n) as never }))
  return (await kit.engine.jobs.enqueue(jobs)).jobs.map(({ id }) => id)
}

async function bulk(filter: BulkInput['filter'], action: BulkInput['action']) {
  const { id } = await kit.engine.bulk.start({ filter, action })
  await settle()
  const { status, progress } = await kit.engine.jobs.get(String(id))
  const kept = await kit.engine.jobs.result(String(id), {})
  const result = kept.ended && kept.result?.type === 'success' ? JSON.parse(kept.result.result) : null
  expect({ status, progress: JSON.parse(progress!) }).toEqual({ status: 'completed', progress: result })
  return result
}

const statusesOf = (ids: number[]) => Promise.all(ids.map((id) => kit.statusOf(id)))

test('failed jobs of a class are retried, other jobs are unchanged', async () => {
  for (const n of [1, 2, 3]) broken.add(n)
  const ids = await make('fragile', 1, 2, 3, 4)
  const others = await make('other', 1)
  await settle()
  expect(await statusesOf(ids)).toEqual(['failed', 'failed', 'failed', 'completed'])
  broken.clear()
  broken.add(3)
  expect(await bulk({ class: 'fragile', status: 'failed' }, 'retry')).toEqual({ done: 3, passed: 0 })
  expect(await statusesOf(ids)).toEqual(['completed', 'completed', 'failed', 'completed'])
  expect(await statusesOf(others)).toEqual(['failed'])
  expect(await bulk({ class: 'fragile' }, 'retry')).toEqual({ done: 1, passed: 3 })
  expect(await bulk({ class: 'fragile' }, 'delete')).toEqual({ done: 4, passed: 0 })
  await expect(kit.statusOf(ids[0]!)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await bulk({ class: 'other' }, 'terminate')).toEqual({ done: 1, passed: 0 })
  expect(await statusesOf(others)).toEqual(['terminated'])
  expect(await bulk({ class: 'other' }, 'requeue')).toEqual({ done: 1, passed: 0 })
  expect(await statusesOf(others)).toEqual(['completed'])
})

test('many jobs are changed in slices, each once, without jobs created in the meantime', async () => {
  const ids = await make('fragile', ...Array.from({ length: 450 }, (_, n) => n + 10))
  const { id } = await kit.engine.bulk.start({ filter: { class: 'fragile', status: 'queued' }, action: 'terminate' })
  const [late] = await make('fragile', 1)
  const slice = async () => kit.engine.performOne((await kit.engine.ready()).find((job) => job.id === id)!)
  expect(await slice()).toMatchObject({ status: 'queued' })
  expect(JSON.parse((await kit.engine.jobs.get(String(id))).progress!)).toEqual({ done: 200, passed: 0 })
  while ((await kit.statusOf(id)) === 'queued') await slice()
  await settle()
  expect(await kit.engine.jobs.result(String(id), {})).toMatchObject({ result: { result: '{"done":450,"passed":0}' } })
  expect(new Set(await statusesOf(ids.slice(0, 3)))).toEqual(new Set(['terminated']))
  expect(await kit.statusOf(late!)).toBe('completed')
})

test('a bulk job changes the named jobs, in slices', async () => {
  const ids = await make('fragile', ...Array.from({ length: 250 }, (_, n) => n + 600))
  await kit.engine.dispatch('default', '')
  const named = ids.slice(0, 220)
  const preview = await kit.engine.bulk.preview({ ids: [...named, 999_999], action: 'terminate' })
  expect(preview).toMatchObject({ fits: 220, ids: named.toReversed(), cursor: null })
  const { id } = await kit.engine.bulk.start({ ids: preview.ids, action: 'terminate' })
  await settle()
  expect(JSON.parse((await kit.engine.jobs.get(String(id))).progress!)).toEqual({ done: 220, passed: 0 })
  expect(await statusesOf([ids[0]!, ids[219]!, ids[220]!])).toEqual(['terminated', 'terminated', 'completed'])
})

test.each([
  ['retry', ['failed']],
  ['requeue', ['completed', 'failed', 'terminated']],
  ['terminate', ['completed', 'failed']],
  ['delete', ['completed', 'failed', 'terminated']],
] as const)('a preview of %s counts the jobs that it changes', async (action, changed) => {
  broken.add(1)
  const ids = await make('fragile', 1, 2, 3)
  await settle()
  await kit.engine.jobs.terminate(String(ids[2]), {})
  const before = await statusesOf(ids)
  const { ids: counted } = await kit.engine.bulk.preview({ ids, action })
  expect(counted.map((id) => before[ids.indexOf(id)]).sort()).toEqual([...changed])
  const { id } = await kit.engine.bulk.start({ ids, action })
  await settle()
  const { done } = JSON.parse((await kit.engine.jobs.get(String(id))).progress!) as { done: number }
  expect(done).toBe(changed.length)
})

test('a lost run of a bulk job has changed nothing, and is repeated', async () => {
  const ids = await make('other', 5, 6)
  await settle()
  const { id } = await kit.engine.bulk.start({ filter: { class: 'other', status: 'completed' }, action: 'requeue' })
  await kit.store.commit({ queue: 'sidejob.bulk', claim: { max: 1, lease: 45_000 } })
  await kit.advance(46_000)
  await kit.engine.tick()
  expect(await statusesOf(ids)).toEqual(['completed', 'completed'])
  await kit.advance(5_000)
  await settle()
  const kept = await kit.engine.jobs.result(String(id), {})
  expect(kept).toMatchObject({ ended: true, result: { type: 'success' } })
})

test('a bulk job cannot be enqueued or changed by callers, and skips internal jobs', async () => {
  const args = '{"filter":{"class":"other"},"action":"delete"}' as never
  const asked = kit.engine.jobs.enqueue([{ queue: 'sidejob.bulk', class: 'bulk', args }])
  await expect(asked).rejects.toMatchObject({ code: 'REFUSED' })
  const { id } = await kit.engine.bulk.start({ filter: { status: 'queued' }, action: 'terminate' })
  await expect(kit.engine.jobs.update(String(id), { args })).rejects.toMatchObject({ code: 'REFUSED' })
  await settle()
  expect(await kit.statusOf(id)).toBe('completed')
})

test('a bulk job is created and runs while a constraint exists, and after its removal', async () => {
  const group = { id: 'swept', concurrency: 1 }
  const jobs = [1, 2].map(() => ({ queue: 'default', class: 'other', wait: 3_600_000, group }))
  const ids = (await kit.engine.jobs.enqueue(jobs)).jobs.map(({ id }) => id)
  await kit.engine.constraints.set('anything', { match: { class: 'fragile' }, concurrency: 5 })
  expect(await bulk({ group: 'swept' }, 'terminate')).toEqual({ done: 2, passed: 0 })
  await kit.engine.constraints.remove('anything')
  expect(await bulk({ group: 'swept' }, 'requeue')).toEqual({ done: 2, passed: 0 })
  expect(await statusesOf(ids)).toEqual(['completed', 'completed'])
})

test('a bulk move to an address that may not be called names the field "to"', async () => {
  const refused = { code: 'REFUSED', message: expect.stringMatching(/^to: 10\.0\.0\.1 is in a private network/) }
  const input = { action: 'move', to: 'https://10.0.0.1/job', ids: [1] } as const
  await expect(kit.engine.bulk.start(input as never)).rejects.toMatchObject({ ...refused, path: ['to'] })
  await expect(kit.engine.bulk.preview(input as never)).rejects.toMatchObject({ ...refused, path: ['to'] })
})
