import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const ours = defineWorker({ class: 'ours', perform() {} })
const json = (text: string) => text as Encoded

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [ours], hold: true })
})
afterAll(() => kit.close())

const text = json('{"type":"string"}')
const first = {
  push: { url: 'http://127.0.0.1:9/run', secret: 'whsec_aa' },
  retry: { max: 3, backoff: { base: 1_000 } },
  timeout: 60_000,
  in: { url: { schema: text, default: json('"a"') }, size: { default: json('12345678901234567890') } },
  redact: ['args.card'],
}
const register = () => kit.engine.workers.register('media', 'resize', first)
const kept = async () => {
  const { workers } = await kit.engine.workers.list()
  const { queue: _, class: __, seen: ___, servedBy: ____, ...found } = workers.find(({ queue }) => queue === 'media')!
  return found
}

test('given members replace old ones, the rest stays, and null restores the default', async () => {
  await register()
  const patch = { timeout: null, concurrency: 4, retry: { max: 9 }, in: { url: { default: json('null') }, more: {} } }
  const definition = await kit.engine.workers.update('media', 'resize', patch)
  expect(definition).toEqual({
    push: first.push,
    retry: { max: 9, backoff: { base: 1_000 } },
    concurrency: 4,
    in: { url: { schema: text }, size: { default: '12345678901234567890' }, more: {} },
    out: {},
    redact: ['args.card'],
    schema: expect.stringMatching(/^[0-9a-f]{16}$/),
  })
  expect(await kept()).toMatchObject(definition)
  expect(await kit.engine.limits.get('worker:media/resize')).toMatchObject({ concurrency: 4 })
  const pulled = await kit.engine.workers.update('media', 'resize', { push: null, pull: true, redact: null, in: null })
  expect(pulled).toEqual({ pull: true, retry: { max: 9, backoff: { base: 1_000 } }, concurrency: 4, out: {} })
})

test('a change that a registration would refuse is refused, and has no effect', async () => {
  await register()
  const refused = (patch: object) =>
    kit.engine.workers.update('media', 'resize', patch).then(
      () => 'done',
      (error: Error) => error.message,
    )
  expect(await refused({ pull: true })).toBe('pull: expected "push" or "pull", got both')
  expect(await refused({ push: { url: null } })).toBe('push.url: is missing')
  expect(await refused({ push: { url: 'http://10.0.0.1/x' } })).toMatch(/^push\.url: /)
  expect(await refused({ in: { url: { schema: json('{"type":"text"}') } } })).toMatch(/^in\.url\.schema\.type: /)
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}]))
  expect(await refused({ in: many })).toMatch(/^in: expected at most [\d]+ ports, got 20002$/)
  expect(await kept()).toMatchObject(first)
})

test('neither a missing class nor a function can be changed', async () => {
  await kit.engine.workers.list()
  await expect(kit.engine.workers.update('media', 'nobody', {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(kit.engine.workers.update('default', 'ours', { timeout: 1 })).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining(
      'class ours of queue default is defined in the code of a deployment: change it there',
    ),
  })
})

test('the second of two concurrent changes is refused with the difference', async () => {
  await register()
  const other = createEngine(kit.engineOptions)
  const both = await Promise.allSettled([
    ...Array.from({ length: 4 }, (_, i) => kit.engine.workers.update('media', 'resize', { timeout: 1_000 + i })),
    ...Array.from({ length: 4 }, (_, i) => other.workers.update('media', 'resize', { retry: { max: 10 + i } })),
  ])
  const done = both.filter(({ status }) => status === 'fulfilled')
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error & { code: string }] : []))
  expect(done.length).toBeGreaterThan(0)
  expect(refused.length).toBeGreaterThan(0)
  for (const { code, message } of refused) {
    expect(code).toBe('CONFLICT')
    expect(message).toMatch(
      /^class resize was changed during this call: (timeout|retry\.max)(, retry\.max)?\. Get the class/,
    )
  }
  const last = await kept()
  const told = done.map((one) => (one as PromiseFulfilledResult<{ timeout?: number }>).value)
  expect(told).toContainEqual(expect.objectContaining({ timeout: last.timeout, retry: last.retry }))
})

test('a preview lists waiting jobs that would not fit, and changes nothing', async () => {
  await kit.engine.workers.register('cards', 'charge', { pull: true, in: { n: {} } })
  const make = (args: string, n: string[]) =>
    kit.engine.jobs.enqueue([{ queue: 'cards', class: 'charge', args: json(args), inputs: { n: n.map(json) } }])
  const { jobs } = await make('{"sum":1}', ['1', '"two"', '3'])
  await make('{"sum":"1"}', ['4'])
  await make('{"sum":2}', [])
  const schema = json('{"type":"object","properties":{"sum":{"type":"number"}}}')
  const patch = { args: schema, in: { n: { schema: json('{"type":"number"}') } } }
  const { unfit, ...would } = await kit.engine.workers.update('cards', 'charge', patch, { preview: true })
  expect(would).toEqual({ pull: true, args: schema, in: patch.in, out: {}, schema: expect.any(String) })
  expect(unfit).toEqual({
    jobs: 2,
    values: [
      { job: jobs[0]!.id + 1, port: null, why: 'sum: expected a number, got "1"' },
      { job: jobs[0]!.id, port: 'n', why: 'expected a number, got "two"' },
    ],
    looked: 3,
    more: false,
  })
  const { workers } = await kit.engine.workers.list()
  expect(workers.find(({ queue }) => queue === 'cards')).toMatchObject({ in: { n: {} } })
  expect(workers.find(({ queue }) => queue === 'cards')).not.toHaveProperty('args')
  const hidden = { pull: true, ...patch, redact: ['args.sum'] }
  const told = await kit.engine.workers.register('cards', 'charge', hidden, { preview: true })
  expect(told.unfit!.values.map(({ why }) => why)).toEqual(['sum: does not fit', 'does not fit'])
  expect(await kit.engine.workers.update('cards', 'charge', {}, { preview: true })).toMatchObject({
    unfit: { jobs: 0, values: [], looked: 3, more: false },
  })
})

test('a preview reads the newest hundred jobs, and reports further ones', async () => {
  await kit.engine.workers.register('cards', 'many', { pull: true })
  for (let i = 0; i < 2; i++)
    await kit.engine.jobs.enqueue(
      Array.from({ length: 60 }, () => ({ queue: 'cards', class: 'many', args: json(i === 0 ? '"old"' : '"new"') })),
    )
  const { unfit } = await kit.engine.workers.update(
    'cards',
    'many',
    { args: json('{"const":"new"}') },
    { preview: true },
  )
  expect(unfit).toMatchObject({ jobs: 40, looked: 100, more: true })
  expect(unfit!.values).toHaveLength(10)
})
