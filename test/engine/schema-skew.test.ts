import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createClient } from '../../src/client/index.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { Worker } from '../../src/core/worker.ts'
import type { WorkerDefinition } from '../../src/engine/engine.ts'
import { createEngine, type Engine } from '../../src/engine/index.ts'
import { createApp } from '../../src/http/app.ts'
import { defineWorker, port, schemasOf } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

const old = z.object({ width: z.number(), colour: z.string().optional() })
const current = z.object({ width: z.string(), color: z.string().optional() })
const HASH = /^[0-9a-f]{16}$/

const version = (args: z.ZodType, saw: unknown[] = [], queue = 'default') =>
  defineWorker({
    queue,
    class: 'resize',
    args,
    perform(job) {
      saw.push(job.args)
    },
  })

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [version(current)], hold: true })
  await kit.engine.tick()
})
afterAll(() => kit.close())

const schema = (properties: object) => encodeValue({ type: 'object', properties })
const pulled = (properties: object): WorkerDefinition => ({
  args: schema(properties),
  result: encodeValue({ type: 'number' }),
  in: {},
  out: {},
  pull: true,
  retry: { max: 1 },
})
const number = { width: { type: 'number' } }
const text = { width: { type: 'string' } }

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    ({ code, path, message, schema }) => ({ code, path, message, schema }),
  )

let names = 0
const queueName = () => `skew${names++}`

const deployed = (at: string, version: string, workers: Worker[]) =>
  createEngine({
    ...kit.engineOptions,
    version,
    workers,
    qstash: { ...kit.engineOptions.qstash, publicUrl: `http://${at}.test` },
  })

const appOf = (engine: Engine) => createApp({ engine, verify: async () => false, publicUrl: 'http://sidejob.test' })

const clientOf = (schemas: Record<string, string>, engine: Engine = kit.engine) => {
  const app = appOf(engine)
  return createClient({ url: 'http://sidejob', key: 'dev', schemas, fetch: async (request) => app.fetch(request) })
}

describe('a client', () => {
  const [then, now] = [schemasOf([version(old)]), schemasOf([version(current)])] as const
  const [built, is] = [then['default/resize']!, now['default/resize']!]

  test('built against an older schema gets 409 with both hashes, the class and the field', async () => {
    expect([built, is]).toEqual([expect.stringMatching(HASH), expect.stringMatching(HASH)])
    expect(built).not.toBe(is)
    const refused = await faultOf(clientOf(then).jobs.enqueue({ class: 'resize', args: { width: 7 } }))
    expect(refused).toEqual({
      code: 'SCHEMA_CHANGED',
      path: ['args', 'width'],
      message: `args.width: expected a string, got 7 (args of class resize). Class resize has schema ${is}, and the caller was built against ${built}: build and deploy the caller again`,
      schema: { class: 'resize', current: is, built },
    })
  })

  test('silently lost a renamed optional member: with different hashes it gets 409', async () => {
    const args = { width: '7', colour: 'red' }
    expect(await faultOf(clientOf(then).jobs.enqueue({ class: 'resize', args }))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['args', 'colour'],
      message: expect.stringContaining('args.colour: unknown member'),
    })
    expect(await faultOf(clientOf(now).jobs.enqueue({ class: 'resize', args }))).toBe('taken')
    expect(await faultOf(clientOf({}).jobs.enqueue({ class: 'resize', args }))).toBe('taken')
  })

  test('built against another schema can send args that fit both', async () => {
    expect(await faultOf(clientOf(then).jobs.enqueue({ class: 'resize', args: { width: '7' } }))).toBe('taken')
  })

  test('newer than the engine: its new member gets 409 until the engine is deployed', async () => {
    const queue = queueName()
    const engine = deployed(queue, 'v1', [version(old, [], queue)])
    const client = clientOf(schemasOf([version(current, [], queue)]), engine)
    const sent = (args: object) => faultOf(client.jobs.enqueue({ queue, class: 'resize', args }))
    expect(await sent({ width: 7, color: 'red' })).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['args', 'color'],
      schema: { current: built, built: is },
    })
    expect(await sent({ width: 7 })).toBe('taken')
  })

  test('that sends many jobs, one of which does not fit: none is created', async () => {
    const jobs = [{ width: '1' }, { width: 2 }].map((args) => ({ class: 'resize', args }))
    const last = async () => (await kit.engine.jobs.list({ limit: 1 })).jobs[0]!.id
    const before = await last()
    expect(await faultOf(clientOf(then).jobs.enqueue(jobs))).toMatchObject({ code: 'SCHEMA_CHANGED' })
    expect(await last()).toBe(before)
  })

  test('that creates a job with values, or changes its args, gets 409 if they do not fit', async () => {
    const queue = queueName()
    const is = (properties: object) => ({ ...pulled(properties), in: { n: { schema: schema(properties) } } })
    const first = await kit.engine.workers.register(queue, 'sum', is(number))
    await kit.engine.workers.register(queue, 'sum', is({ ...number, colour: {} }))
    const schemas = { [`${queue}/sum`]: first.schema! }
    const { jobs } = clientOf(schemas)
    const job = { queue, class: 'sum', args: { width: 1 } }
    expect(await faultOf(jobs.enqueue({ ...job, inputs: { n: [{ width: 1 }, { width: 'x' }] } }))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['inputs', 'n', 1, 'width'],
    })
    const { id } = await jobs.enqueue(job)
    const update = (schema?: string) => faultOf(jobs.patch(id, { args: { width: 1, color: 'red' }, schema }))
    expect(await update(first.schema)).toMatchObject({ code: 'SCHEMA_CHANGED', path: ['args', 'color'] })
    expect(await update()).toBe('taken')
  })

  test('that writes to a port names its schema in the request', async () => {
    const queue = queueName()
    const is = (properties: object) => ({ ...pulled({}), in: { n: { schema: schema(properties) } } })
    const first = await kit.engine.workers.register(queue, 'sum', is(number))
    const second = await kit.engine.workers.register(queue, 'sum', is(text))
    const id = await kit.make('sum', { queue, args: encodeValue({}) })
    const write = (built?: string) =>
      faultOf(kit.engine.ports.write(String(id), 'in', 'n', [encodeValue({ width: 1 })], { schema: built }))
    expect(await write(first.schema)).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['values', 0, 'width'],
      schema: { current: second.schema, built: first.schema },
    })
    const value = encodeValue({ width: 1 })
    const fallback = kit.engine.ports.setDefault(String(id), 'in', 'n', value, undefined, first.schema)
    expect(await faultOf(fallback)).toMatchObject({ code: 'SCHEMA_CHANGED', path: ['value', 'width'] })
    expect(await write(second.schema)).toMatchObject({ code: 'REFUSED' })
    expect(await write()).toMatchObject({ code: 'REFUSED' })
  })
})

describe('a pull worker', () => {
  async function changed() {
    const queue = queueName()
    const first = await kit.engine.workers.register(queue, 'resize', pulled(number))
    const before = await kit.make('resize', { queue, args: encodeValue({ width: 1 }) })
    const second = await kit.engine.workers.register(queue, 'resize', pulled(text))
    return { queue, before, built: first.schema!, is: second.schema! }
  }
  const claim = (queue: string, schema: string, max = 5) =>
    kit.engine.runs.claim(queue, { max, schemas: { resize: schema } })
  const idsOf = (runs: { job: { id: number } }[]) => runs.map(({ job }) => job.id)

  test('with an older schema gets the jobs that fit it, and not the newer ones', async () => {
    const { queue, before, built, is } = await changed()
    const after = await kit.make('resize', { queue, args: encodeValue({ width: 'wide' }) })
    const runs = await claim(queue, built)
    expect(idsOf(runs)).toEqual([before])
    expect(runs[0]!.run.schema).toBe(is)
    expect(await kit.statusOf(after)).toBe('queued')
    expect(await faultOf(claim(queue, built))).toEqual({
      code: 'SCHEMA_CHANGED',
      path: ['args', 'width'],
      message: `job ${after}: args.width: expected a number, got "wide". Class resize has schema ${is}, and the worker was built against ${built}: build and deploy the worker again`,
      schema: { class: 'resize', current: is, built },
    })
    expect(idsOf(await claim(queue, is))).toEqual([after])
  })

  test('with the current schema: a job of an older client fails with both hashes, and the next one is claimed', async () => {
    const { queue, before, built, is } = await changed()
    const after = await kit.make('resize', { queue, args: encodeValue({ width: 'wide' }) })
    expect(idsOf(await claim(queue, is, 1))).toEqual([after])
    const { status, error } = await kit.engine.jobs.get(String(before))
    expect(status).toBe('failed')
    expect(JSON.parse(error!).message).toBe(
      `SCHEMA_CHANGED: args.width: expected a string, got 1. Class resize has schema ${is}, but job ${before} was created for ${built}: change its args with PATCH /v1/jobs/${before}, then retry it`,
    )
    await kit.engine.jobs.update(String(before), { args: encodeValue({ width: 'now' }) })
    await kit.engine.jobs.retry(String(before))
    expect(idsOf(await claim(queue, is))).toEqual([before])
  })

  test('with a schema that the class never had gets 409 before it claims anything', async () => {
    const { queue, before, is } = await changed()
    expect(await faultOf(claim(queue, '0123456789abcdef'))).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['schemas', 'resize'],
      schema: { class: 'resize', current: is, built: '0123456789abcdef' },
    })
    expect(await kit.statusOf(before)).toBe('queued')
  })

  test('that registers its schema at each start can serve next to a newer one', async () => {
    const { queue, before, built, is } = await changed()
    await kit.engine.workers.register(queue, 'resize', pulled(number))
    await kit.engine.workers.register(queue, 'resize', pulled(text))
    await kit.engine.workers.register(queue, 'resize', pulled(number))
    const after = await kit.make('resize', { queue, args: encodeValue({ width: 2 }) })
    expect(await faultOf(claim(queue, is))).toMatchObject({ code: 'SCHEMA_CHANGED', schema: { current: built } })
    expect(idsOf(await claim(queue, built))).toEqual([before, after])
  })

  test('with an older schema commits a result that does not fit: 409, and the run is retried', async () => {
    const { queue, before, built, is } = await changed()
    const [run] = await claim(queue, built)
    const result = encodeValue('a text')
    const refused = await faultOf(kit.engine.runs.commit(run!.run.token, { end: 'completed', result, schema: built }))
    expect(refused).toMatchObject({
      code: 'SCHEMA_CHANGED',
      path: ['result'],
      message: expect.stringContaining(`result: expected a number, got "a text"; the run has failed`),
      schema: { class: 'resize', current: is, built },
    })
    const { status, runAt } = await kit.engine.jobs.get(String(before))
    expect({ status, runAt }).toEqual({ status: 'queued', runAt: expect.any(Number) })
  })

  test('without hashes claims as before', async () => {
    const { queue, before } = await changed()
    expect(idsOf(await kit.engine.runs.claim(queue, {}))).toEqual([before])
  })

  test('over HTTP gets the hash when it registers, and 409 with both hashes in a claim', async () => {
    const app = appOf(kit.engine)
    const ask = async (method: string, path: string, body: unknown) => {
      const headers = { authorization: 'Bearer dev', 'content-type': 'application/json' }
      const answer = await app.request(path, { method, headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as never }
    }
    const queue = queueName()
    const definition = (type: string) => ({ pull: true, args: { type: 'object', properties: { width: { type } } } })
    const first = await ask('PUT', `/v1/workers/${queue}/resize`, definition('number'))
    const second = await ask('PUT', `/v1/workers/${queue}/resize`, definition('string'))
    const [built, is] = [first, second].map(({ body }) => (body as { schema: string }).schema)
    expect([built, is]).toEqual([expect.stringMatching(HASH), expect.stringMatching(HASH)])
    await ask('POST', '/v1/jobs', { queue, class: 'resize', args: { width: 'wide' } })
    const claimed = await ask('POST', `/v1/queues/${queue}/claim`, { schemas: { resize: built } })
    expect(claimed).toMatchObject({
      status: 409,
      body: { error: { code: 'SCHEMA_CHANGED', path: ['args', 'width'], schema: { current: is, built } } },
    })
    const { body } = await ask('PATCH', `/v1/workers/${queue}/resize`, { timeout: 5 })
    expect(body).toMatchObject({ schema: is })
    expect(body).not.toHaveProperty('former')
  })
})

describe('a push worker', () => {
  test('is not called with args of another schema; it receives the hash, and its misfit result names both', async () => {
    const queue = queueName()
    const seen: { run: { schema?: string }; job: { args: unknown } }[] = []
    const receiver = await startReceiver(({ body }, response) => {
      seen.push(JSON.parse(body))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ end: 'completed', result: 'a text', schema: '0123456789abcdef' }))
    })
    const define = async (properties: object) => {
      const { pull: _, ...definition } = pulled(properties)
      return kit.engine.workers.register(queue, 'resize', { ...definition, push: { url: receiver.url } })
    }
    const first = await define(number)
    const before = await kit.make('resize', { queue, args: encodeValue({ width: 1 }) })
    const second = await define(text)
    const after = await kit.make('resize', { queue, args: encodeValue({ width: 'wide' }) })
    await kit.engine.dispatch(queue, '')
    await receiver.close()
    const errorOf = async (id: number) => JSON.parse((await kit.engine.jobs.get(String(id))).error!).message
    expect(await errorOf(before)).toContain(
      `Class resize has schema ${second.schema}, but job ${before} was created for ${first.schema}`,
    )
    expect(seen).toMatchObject([{ run: { schema: second.schema }, job: { args: { width: 'wide' } } }])
    expect(await errorOf(after)).toBe(
      `result: expected a number, got "a text". Class resize has schema ${second.schema}, and the worker was built against 0123456789abcdef: build and deploy the worker again`,
    )
  })
})

describe('functions in a rolling deployment', () => {
  test('older code gives a job of the newer schema back, because it would drop its new member', async () => {
    const queue = queueName()
    const [before, after]: unknown[][] = [[], []]
    const v1 = deployed(queue, 'v1', [version(old, before, queue)])
    await v1.tick()
    const v2 = deployed(queue, 'v2', [version(z.object({ width: z.number(), unit: z.string() }), after, queue)])
    await v2.tick()
    const { jobs } = await v2.jobs.enqueue([{ queue, class: 'resize', args: encodeValue({ width: 7, unit: 'mm' }) }])
    const id = String(jobs[0]!.id)
    await v1.dispatch(queue, '')
    expect(before).toEqual([])
    const { status, attempt } = await v2.jobs.get(id)
    expect({ status, attempt }).toEqual({ status: 'queued', attempt: 0 })
    expect(JSON.stringify(await v2.jobs.why(id))).toContain('only newer code can run it')
    await kit.advance(15_000)
    await v2.dispatch(queue, '')
    expect(after).toEqual([{ width: 7, unit: 'mm' }])
    expect((await v2.jobs.get(id)).status).toBe('completed')
  })

  test('older code gives a job with values of the newer schema at its ports back, instead of failing it', async () => {
    const queue = queueName()
    const saw: unknown[] = []
    const reads = (n: z.ZodType) =>
      defineWorker({
        queue,
        class: 'resize',
        in: { n: port(n) },
        perform: async (job) => void saw.push(await job.read('n')),
      })
    const v1 = deployed(queue, 'v1', [reads(old)])
    await v1.tick()
    const v2 = deployed(queue, 'v2', [reads(current)])
    await v2.tick()
    const inputs = { n: [encodeValue({ width: 'wide' })] }
    const { jobs } = await v2.jobs.enqueue([{ queue, class: 'resize', inputs }])
    const id = String(jobs[0]!.id)
    await v1.dispatch(queue, '')
    expect(JSON.stringify(await v2.jobs.why(id))).toContain('only newer code can run it')
    await kit.advance(15_000)
    await v2.dispatch(queue, '')
    expect(saw).toEqual([{ width: 'wide' }])
    expect((await v2.jobs.get(id)).status).toBe('completed')
  })

  test('a child that older code created with callWorker fails with both hashes if it does not fit newer code', async () => {
    const queue = queueName()
    const family = (args: z.ZodType, given: unknown): Worker[] => [
      version(args, [], queue),
      defineWorker({ queue, class: 'page', perform: (job) => job.callWorker({ queue, class: 'resize' }, given) }),
    ]
    const v1 = deployed(queue, 'v1', family(old, { width: 7, colour: 'red' }))
    await v1.tick()
    const { jobs } = await v1.jobs.enqueue([{ queue, class: 'page' }])
    const parent = String(jobs[0]!.id)
    await v1.performOne((await v1.ready()).find(({ id }) => String(id) === parent)!)
    const [child] = Object.values((await v1.jobs.get(parent)).children)
    expect(child).toMatchObject({ status: 'queued' })
    const v2 = deployed(queue, 'v2', family(current, { width: '7', color: 'red' }))
    await v2.tick()
    await v2.dispatch(queue, '')
    const { status, error } = await v2.jobs.get(String(child!.id))
    expect(status).toBe('failed')
    const [then, now] = [old, current].map((args) => schemasOf([version(args)])['default/resize'])
    const { message } = JSON.parse(error!)
    expect(message).toContain(`Class resize has schema ${now}, but job ${child!.id} was created for ${then}`)
    expect(message).toContain('args.width: expected a string, got 7')
  })

  test('a job of an older schema that fits runs', async () => {
    const queue = queueName()
    const saw: unknown[] = []
    const v1 = deployed(queue, 'v1', [version(old, [], queue)])
    await v1.tick()
    const { jobs } = await v1.jobs.enqueue([{ queue, class: 'resize', args: encodeValue({ width: 7 }) }])
    const v2 = deployed(queue, 'v2', [
      version(z.object({ width: z.number(), unit: z.string().default('px') }), saw, queue),
    ])
    await v2.dispatch(queue, '')
    expect(saw).toEqual([{ width: 7, unit: 'px' }])
    expect((await v2.jobs.get(String(jobs[0]!.id))).status).toBe('completed')
  })
})
