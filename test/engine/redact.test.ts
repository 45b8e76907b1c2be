import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { redacted } from '../../src/core/redact.ts'
import { defineWorker, port } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { type Kit, startKit } from '../kit/index.ts'

const SECRET = 'M4rk3r'
const seen: unknown[] = []

const pay = defineWorker({
  class: 'pay',
  redact: [
    'args.card.number',
    'args.people.pin',
    'state.token',
    'state.all.key',
    'in.orders.note',
    'in.codes',
    'out.done.id',
    'result.receipt',
    'error.message',
    'progress',
  ],
  in: { orders: port(), codes: port(undefined, { default: SECRET }) },
  out: { done: port() },
  async perform(job) {
    const order = (await job.read('orders')) as { fail?: true }
    seen.push(job.args, order, await job.read('codes'))
    if (order.fail) throw new Error(`no: ${SECRET}`)
    job.set({ token: SECRET, all: { key: SECRET, open: 1 } })
    job.write('done', { id: SECRET, n: 1 })
    job.progress(SECRET)
    return { receipt: SECRET, paid: true }
  },
})

const note = defineWorker({
  class: 'note',
  redact: ['args', 'result.pin'],
  result: z.object({ pin: z.number(), paid: z.boolean() }),
  perform: (job) => (job.args ?? {}) as { pin: number; paid: boolean },
})

const more = Array.from({ length: 40 }, (_, n) => `args.private.field_${n}`)
const careful = { ...pay, class: 'careful', redact: [...pay.redact!, ...more] }

const MEBIBYTE = 1_000_000
const large = defineWorker({
  ...careful,
  class: 'large',
  redact: [...pay.redact!, 'state.a', 'state.b.key', ...more.slice(2)],
  async perform(job) {
    for (const name of ['a', 'b', 'token', 'all']) job.set({ [name]: { key: `${SECRET}${'x'.repeat(MEBIBYTE)}` } })
    if (((await job.read('orders')) as { fail?: true }).fail) {
      await job.checkpoint()
      throw new Error(`${SECRET}${'x'.repeat(600)}`)
    }
    job.write('done', { id: SECRET, n: 1 })
    return { receipt: SECRET }
  },
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [pay, note, careful, large] })
})
afterAll(() => kit.close())

const args = `{"card":{"number":"${SECRET}","exp":"12/29"},"people":[{"pin":"${SECRET}"},{"pin":"${SECRET}","name":"Ann"}],"big":12345678901234567890}`
const order = JSON.stringify({ note: SECRET, n: 1 })
const text = (value: unknown) => JSON.stringify(value)
const textOf = (value: unknown) => JSON.parse(String(value)) as unknown

async function looked(id: number) {
  const job = String(id)
  const { engine } = kit
  return {
    view: await engine.jobs.get(job),
    list: await engine.jobs.list({}),
    rows: await engine.jobs.rows({}),
    state: await engine.jobs.state(job),
    in: await engine.ports.get(job, 'in', 'orders'),
    codes: await engine.ports.get(job, 'in', 'codes'),
    out: await engine.ports.get(job, 'out', 'done'),
    result: await engine.jobs.result(job, {}),
    runs: await engine.jobs.runs(job),
    errors: await engine.errors.list({}),
    log: await engine.log.read({ job }),
  }
}

test('an error about a wrong value does not show the value if a part of it is redacted', async () => {
  const id = await kit.make('note', { args: text({ pin: SECRET, paid: true }) })
  await kit.rest(id, 'failed')
  const { message } = JSON.parse((await kit.engine.jobs.get(String(id))).error!)
  expect(message).toBe(`the result of job ${id} at pin: expected a number, got something else`)
})

test('viewers of a job see a mark, and the rest unchanged', async () => {
  const heard: string[] = []
  const listening = new AbortController()
  const stream = (async () => {
    for await (const { message } of await kit.engine.channels.subscribe(['/sidejob/log'], listening.signal))
      heard.push(message)
  })().catch(() => undefined)
  const id = await kit.make('pay', { args, inputs: { orders: [order] }, keepResult: true })
  await kit.rest(id, 'completed')
  await kit.until(() => heard.some((entry) => entry.includes('"write"')))
  await kit.engine.ports.write(String(id), 'in', 'codes', [JSON.stringify(SECRET)], { notify: false })
  await kit.engine.ports.write(String(id), 'in', 'orders', [order], { notify: false })
  const shown = await looked(id)
  expect(text(shown)).not.toContain(SECRET)
  expect(heard.join()).not.toContain(SECRET)
  expect(heard.join()).toContain('[redacted]')
  listening.abort()
  await stream

  expect(shown.view.args).toBe(
    '{"card":{"number":"[redacted]","exp":"12/29"},"people":[{"pin":"[redacted]"},{"pin":"[redacted]","name":"Ann"}],"big":12345678901234567890}',
  )
  expect(shown.view).toMatchObject({ in: { codes: { default: '"[redacted]"' } } })
  expect(shown.state).toEqual({ token: '"[redacted]"', all: '{"key":"[redacted]","open":1}' })
  expect(shown.in.values[0]!.data).toBe('{"note":"[redacted]","n":1}')
  expect(shown.out.values[0]!.data).toBe('{"id":"[redacted]","n":1}')
  expect(shown.result).toMatchObject({ result: { result: '{"receipt":"[redacted]","paid":true}' } })
})

test('runs, and callers that take a value or a result, get it unchanged', async () => {
  seen.length = 0
  const id = await kit.make('pay', { args, inputs: { orders: [order] }, keepResult: true })
  await kit.rest(id, 'completed')
  expect(seen).toEqual([textOf(args), textOf(order), SECRET])
  const job = String(id)
  expect(textOf((await kit.engine.ports.take(job, 'out', 'done', {})).values[0]!.data)).toMatchObject({ id: SECRET })
  expect(await kit.engine.jobs.result(job, { take: true })).toMatchObject({
    result: { result: JSON.stringify({ receipt: SECRET, paid: true }) },
  })
  const copy = await kit.engine.jobs.copy(job, { inputs: { orders: [order] } })
  await kit.rest(copy.id, 'completed')
  expect(seen[3]).toEqual(textOf(args))
})

test('errors are redacted on request, in lists, runs and kinds of errors too', async () => {
  const id = await kit.make('pay', { args, inputs: { orders: ['{"fail":true}'] }, keepResult: true })
  await kit.rest(id, 'failed')
  const shown = await looked(id)
  expect(textOf(shown.view.error)).toMatchObject({ message: '[redacted]' })
  expect(shown.log.entries[0]!.entry).toMatch(/^\{"error":"\[redacted\]","reason":"other"/)
  expect(shown.errors.errors[0]).toMatchObject({ class: 'pay', example: '[redacted]' })
  expect(text(shown)).not.toContain(SECRET)
})

test('the secrets of a class with more than 512 bytes of redacted paths were shown', async () => {
  const fails = JSON.stringify({ ...(textOf(order) as object), fail: true })
  for (const [value, end] of [
    [order, 'completed'],
    [fails, 'failed'],
  ] as const) {
    const id = await kit.make('careful', { args, inputs: { orders: [value] }, keepResult: true, retry: false })
    await kit.rest(id, end)
    expect(text(await looked(id))).not.toContain(SECRET)
  }
})

test('a job whose list of redacted paths is deleted while it is read was shown with its secrets', async () => {
  const id = await kit.make('careful', { args, inputs: { orders: [order] }, keepResult: true })
  await kit.rest(id, 'completed')
  const redis = createClient(kit.options)
  const key = kit.store.keys.value(id, 'vd')
  const paths = await redis.ask((one) => one.getdel<string>(key))
  const job = String(id)
  const shown = [await kit.engine.jobs.get(job), await kit.engine.jobs.list({ class: 'careful' })]
  expect(text([shown, await kit.engine.jobs.state(job)])).not.toContain(SECRET)
  await redis.ask((one) => one.set(key, paths!))
})

test('no secret is shown of a job with more than 2 MiB of separate values, whose list of paths is separate too', async () => {
  for (const [fail, end] of [
    [false, 'completed'],
    [true, 'failed'],
  ] as const) {
    const order = JSON.stringify({ note: SECRET, ...(fail && { fail }) })
    const id = await kit.make('large', { args, inputs: { orders: [order] }, keepResult: true, retry: false })
    await kit.rest(id, end)
    const job = String(id)
    const shown = await looked(id)
    expect(text(shown)).not.toContain(SECRET)
    expect(text(shown)).toContain('[redacted]')
    const more = [await kit.engine.jobs.why(job), await kit.engine.jobs.list({ class: 'large', status: [end] })]
    expect(text(more)).not.toContain(SECRET)
  }
})

test('a whole part or a path inside it can be redacted, and missing values stay missing', () => {
  expect(redacted('{"a":1}', ['progress'], 'progress')).toBe('"[redacted]"')
  expect(redacted('[1]', ['in.x'], 'in', 'x')).toBe('"[redacted]"')
  expect(redacted('[1]', ['in.x'], 'in', 'xy')).toBe('[1]')
  expect(redacted('{"a": 1}', ['args.b.c'], 'args')).toBe('{"a": 1}')
  expect(redacted(null, ['args'], 'args')).toBe(null)
})

test('an invalid path is refused, with the expected form', async () => {
  await expect(async () => startKit({ workers: [{ ...pay, redact: ['arg.card'] }] })).rejects.toThrow(
    'class pay of queue default: redact[0]: expected a path that begins with one of args, state, in, out, result, error, progress, such as "args.card.number", got "arg.card"',
  )
})
