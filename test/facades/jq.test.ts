import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Decoder, Encoder, ExtData } from '@msgpack/msgpack'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import { facades } from '../../src/facades/index.ts'
import { createApp } from '../../src/http/app.ts'
import { type Kit, rawCommand, startKit } from '../kit/index.ts'

const MSGPACK = 'application/vnd.msgpack'
const encoder = new Encoder({ useBigInt64: true })
const decoder = new Decoder({ useBigInt64: true })

const pack = (value: unknown): Uint8Array => new Encoder().encode(value)
// biome-ignore lint/suspicious/noExplicitAny: decodes any value.
const unpack = (bytes: ArrayBuffer | Uint8Array): any => new Decoder().decode(bytes as Uint8Array)

let kit: Kit
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  kit = await startKit({ random: () => 0, allowHosts: ['127.0.0.1'], webhookSecrets: ['whsec_c2VjcmV0'] })
  app = createApp({
    facades,
    engine: kit.engine,
    verify: async () => true,
    publicUrl: 'https://jobs.example.com',
  })
})
afterAll(() => kit.close())

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

// biome-ignore lint/suspicious/noExplicitAny: workers receive any map.
type Call = { body: any; bytes: Uint8Array; headers: IncomingMessage['headers']; at: number }
type Reply = { status?: number; body?: unknown; bytes?: Uint8Array; type?: string; headers?: Record<string, string> }

const now = () => Date.now() + kit.engineOptions.clock!()
const success = (result: unknown = null) => ({ type: 'success', finished_at: '2026-03-11T12:00:00Z', result })
const failure = (more: object = {}) => ({
  type: 'failure',
  reason: 'other',
  finished_at: '2026-03-11T12:00:00+01:00',
  should_retry: true,
  error: { code: 500 },
  message: 'boom',
  ...more,
})

async function startWorker(reply: (call: Call, n: number) => Reply | Promise<Reply> = () => ({ body: success() })) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const call = { bytes, body: unpack(bytes), headers: request.headers, at: now() }
    calls.push(call)
    const { status = 200, body, bytes: raw, type = MSGPACK, headers = {} } = await reply(call, calls.length)
    if (status === 0) return response.destroy()
    response.writeHead(status, { 'content-type': type, ...headers }).end(raw ?? pack(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const name = `worker-${crypto.randomUUID().slice(0, 8)}`
  const registered = await ask('PUT', `/jq/workers/${name}`, pack({ url }))
  expect([registered.status, await read(registered)]).toEqual([200, { name, url }])
  return { name, url, calls }
}

const ask = (method: string, path: string, body?: Uint8Array, headers: Record<string, string> = {}) =>
  app.request(path, {
    method,
    headers: { authorization: 'Bearer dev', ...(body ? { 'content-type': MSGPACK } : {}), ...headers },
    ...(body ? { body: body as BodyInit } : {}),
  })

const read = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe(MSGPACK)
  return unpack(await response.arrayBuffer())
}

async function push(job: object): Promise<string> {
  const answer = await ask('POST', '/jq/jobs', pack({ argument: null, ...job }))
  const body = await read(answer)
  expect([answer.status, Object.keys(body)]).toEqual([201, ['id']])
  return body.id
}

const result = async (id: string) => {
  const answer = await ask('GET', `/jq/jobs/${id}/result`)
  return { status: answer.status, body: await read(answer) }
}
const status = (id: string) => kit.statusOf(Number(id))
const ended = (id: string, is?: string) => kit.rest(Number(id), is)
const calledTimes = (calls: Call[], n: number) => kit.until(() => calls.length >= n)
const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

async function runOut(id: string, step: number) {
  for (let i = 0; i < 200 && !['completed', 'failed'].includes(await status(id)); i++) {
    await kit.advance(step)
    await kit.engine.tick()
    await new Promise((resolve) => setTimeout(resolve, 20))
    // Do not move the clock during a run, because this would end the lease of the run.
    await kit.until(async () => (await status(id)) !== 'running')
  }
}

describe('pushing', () => {
  test('Q1 a job is created from its bytes, and its worker receives it', async () => {
    const { calls, url } = await startWorker()
    expect((await ask('PUT', '/jq/workers/thumb', pack({ url }))).status).toBe(200)
    const sent = hex('82a46e616d65a57468756d62a8617267756d656e7481a2696407')
    const id = (await read(await ask('POST', '/jq/jobs', sent))).id
    expect(typeof id).toBe('string')
    await calledTimes(calls, 1)
    expect(calls[0]!.headers).toMatchObject({ 'content-type': MSGPACK, 'webhook-signature': expect.any(String) })
    expect(calls[0]!.body).toEqual({ id, name: 'thumb', argument: { id: 7 }, attempt: 1, timeout: 30 })
  })

  test('Q2 two equal jobs are two jobs', async () => {
    const { name, calls } = await startWorker()
    const [a, b] = [await push({ name }), await push({ name })]
    expect(a).not.toBe(b)
    await calledTimes(calls, 2)
    expect(calls.map(({ body }) => body.id).sort()).toEqual([a, b].sort())
  })

  test('Q3 every attribute is stored', async () => {
    const { url } = await startWorker()
    await ask('PUT', '/jq/workers/thumb', pack({ url }))
    await kit.engine.queues.update('jq', { paused: true })
    const sent = hex(
      '86a46e616d65a57468756d62a8617267756d656e7481a2696407a87072696f72697479fba96d61785f726574727903ab6b6565705f726573756c74c3a774696d656f75740a',
    )
    const { id } = await read(await ask('POST', '/jq/jobs', sent))
    expect(await kit.engine.jobs.get(id)).toMatchObject({ queue: 'jq', class: 'thumb', priority: -5 })
    const { document } = await kit.store.inspect(id)
    expect([document.retry, document.keepResult, document.timeout]).toEqual(['{"max":3}', 3_600_000, 10_000])
    await kit.engine.queues.update('jq', { paused: false })
    await ended(id)
  })

  test('Q4 a worker gets the argument unchanged: bytes, nil, 64 bits, floats, nested maps', async () => {
    const { name, calls } = await startWorker()
    const argument = hex('86a162c403000102a16ec0a175cfffffffffffffffffa166cb3ff0000000000000a16dc7010500a16181a17880')
    const head = encoder.encode({ name }).slice(1)
    const body = Buffer.concat([Buffer.from([0x82]), head, encoder.encode('argument'), argument])
    expect((await ask('POST', '/jq/jobs', body)).status).toBe(201)
    await calledTimes(calls, 1)
    expect(Buffer.from(calls[0]!.bytes).includes(Buffer.from(argument))).toBe(true)
    expect(decoder.decode(argument)).toMatchObject({ u: 2n ** 64n - 1n, m: expect.any(ExtData) })
  })

  test('Q5 a priority has 32 bits; larger numbers and fractions are refused', async () => {
    const { name } = await startWorker()
    const job = (priority: Uint8Array) =>
      Buffer.concat([
        Buffer.from([0x83]),
        encoder.encode({ name }).slice(1),
        hex('a8617267756d656e74c0'),
        hex('a87072696f72697479'),
        priority,
      ])
    for (const [bytes, code] of [
      ['ce7fffffff', 201],
      ['d280000000', 201],
      ['ce80000000', 400],
      ['d3ffffffff7fffffff', 400],
      ['cb3ff0000000000000', 400],
      ['a131', 400],
      ['c3', 400],
    ] as const)
      expect([bytes, (await ask('POST', '/jq/jobs', job(hex(bytes)))).status]).toEqual([bytes, code])
  })

  test('an invalid job is refused with JQ’s message and not created', async () => {
    const { name } = await startWorker()
    const before = await kit.store.lastId()
    const wrong: [object, number][] = [
      [{ name: 'nobody-serves-this', argument: 1 }, 422],
      [{ argument: 1 }, 400],
      [{ name }, 400],
      [{ name, argument: 1, max_retry: -1 }, 400],
      [{ name, argument: 1, max_retry: 1.5 }, 400],
      [{ name, argument: 1, max_retry: '3' }, 400],
      [{ name, argument: 1, timeout: 0 }, 400],
      [{ name, argument: 1, timeout: -1 }, 400],
      [{ name, argument: 1, timeout: '10' }, 400],
      [{ name, argument: 1, timeout: 86_401 }, 400],
      [{ name, argument: 1, keep_result: 1 }, 400],
    ]
    for (const [job, code] of wrong) {
      const answer = await ask('POST', '/jq/jobs', pack(job))
      expect([job, answer.status]).toEqual([job, code])
      expect(await read(answer)).toEqual({ error: expect.any(String), message: expect.any(String) })
    }
    expect((await ask('POST', '/jq/jobs', hex('c1'))).status).toBe(400)
    expect((await ask('POST', '/jq/jobs', pack({}), { 'content-type': 'text/plain' })).status).toBe(415)
    expect(await kit.store.lastId()).toBe(before)
    expect((await ask('POST', '/jq/jobs', pack({ name, argument: 1, whatever: true }))).status).toBe(201)
  })

  test('a timeout or a period below half a millisecond became 0: now the call is refused', async () => {
    const { name } = await startWorker()
    const says = async (method: string, path: string, body: object) => read(await ask(method, path, pack(body)))
    expect(await says('POST', '/jq/jobs', { name, argument: 1, timeout: 0.0004 })).toEqual({
      error: 'BAD_REQUEST',
      message: 'timeout: expected at least 0.001, got 0.0004',
    })
    const rate = { limit: 1, period: 0.0004 }
    expect(await says('PUT', `/jq/constraints/${name}`, { match: { name }, rate })).toEqual({
      error: 'BAD_REQUEST',
      message: 'rate.period: expected at least 0.001, got 0.0004',
    })
    expect((await ask('POST', '/jq/jobs', pack({ name, argument: 1, timeout: 0.001 }))).status).toBe(201)
  })

  test('answers in JSON if the client asks for it, and accepts all three media types of MessagePack', async () => {
    const { name, calls } = await startWorker()
    const body = new TextEncoder().encode(JSON.stringify({ name, argument: { n: 1 } }))
    const answer = await ask('POST', '/jq/jobs', body, { 'content-type': 'application/json' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'application/json'])
    for (const type of ['application/msgpack', 'application/x-msgpack'])
      expect((await ask('POST', '/jq/jobs', pack({ name, argument: 1 }), { 'content-type': type })).status).toBe(201)
    await calledTimes(calls, 3)
    expect(calls[0]!.body.argument).toEqual({ n: 1 })
    const json = await ask('GET', '/jq/jobs/999999/result', undefined, { accept: 'application/json' })
    expect(await json.json()).toEqual({ error: 'NOT_FOUND', message: expect.any(String) })
    const open = await app.request('/jq/jobs', { method: 'POST' })
    expect([open.status, (await read(open)).error]).toEqual([401, 'UNAUTHENTICATED'])
  })

  test('a running job may push jobs, and a name that is registered again is served by the new worker', async () => {
    const second = await startWorker()
    const first = await startWorker(async () => {
      await push({ name: second.name, argument: 'from a worker' })
      return { body: success() }
    })
    await push({ name: first.name })
    await calledTimes(second.calls, 1)
    expect(second.calls[0]!.body.argument).toBe('from a worker')
    expect((await ask('PUT', `/jq/workers/${first.name}`, pack({ url: second.url }))).status).toBe(200)
    await push({ name: first.name, argument: 'now here' })
    await calledTimes(second.calls, 2)
    expect(first.calls).toHaveLength(1)
  })
})

describe('choosing', () => {
  test('Q6 small priorities start first, then older jobs', async () => {
    const { name, calls } = await startWorker()
    await kit.engine.queues.update('jq', { paused: true })
    for (const [argument, priority] of [
      ['c', 1],
      ['a', -1],
      ['b', 0],
      ['b2', 0],
    ] as const)
      await push({ name, argument, priority })
    await kit.engine.queues.update('jq', { paused: false, batch: 1, lanes: 1 })
    await calledTimes(calls, 4)
    expect(calls.map(({ body }) => body.argument)).toEqual(['a', 'b', 'b2', 'c'])
    await kit.engine.queues.update('jq', { batch: 100, lanes: 4 })
  })

  test('Q7 a stream of jobs with smaller priorities may delay another job until it ends', async () => {
    const COMPLETIONS = 100
    const stream: Promise<string>[] = []
    const { name, calls } = await startWorker(async ({ body }) => {
      if (body.argument !== 'last' && calls.length < COMPLETIONS) stream.push(push({ name, argument: calls.length }))
      await stream.at(-1)
      return { body: success() }
    })
    await kit.engine.queues.update('jq', { paused: true })
    const last = await push({ name, argument: 'last', priority: 10 })
    await push({ name, argument: 0 })
    await kit.engine.queues.update('jq', { paused: false, batch: 1, lanes: 1 })
    await ended(last, 'completed')
    expect(calls.map(({ body }) => body.argument)).toEqual([...Array(COMPLETIONS).keys(), 'last'])
    await kit.engine.queues.update('jq', { batch: 100, lanes: 4 })
  })

  test('a retry keeps its priority, and is ordered by the time at which it is due', async () => {
    const { name, calls } = await startWorker(({ body }) => ({
      body: body.argument === 'fails' && body.attempt === 1 ? failure() : success(),
    }))
    const failing = await push({ name, argument: 'fails', max_retry: 1 })
    await kit.until(async () => calls.length === 1 && (await status(failing)) === 'queued')
    await kit.engine.queues.update('jq', { paused: true })
    for (const [argument, priority] of [
      ['meanwhile', 0],
      ['preferred', -1],
    ] as const)
      await push({ name, argument, priority })
    await kit.advance(20_000)
    await kit.engine.tick()
    const after = await push({ name, argument: 'after', priority: 1 })
    await kit.engine.queues.update('jq', { paused: false, batch: 1, lanes: 1 })
    await ended(after, 'completed')
    expect(calls.slice(1).map(({ body }) => body.argument)).toEqual(['preferred', 'meanwhile', 'fails', 'after'])
    await kit.engine.queues.update('jq', { batch: 100, lanes: 4 })
  })
})

describe('results', () => {
  test('Q8 a kept result is returned once, as the worker’s map, and after that as nil', async () => {
    const values = [null, true, 7, -1.5, 'text', new Uint8Array([1, 2]), [1, [2]], { a: { b: null } }]
    const { name } = await startWorker(({ body }) => ({ body: success(values[body.argument]) }))
    for (const [i, value] of values.entries()) {
      const id = await push({ name, argument: i, keep_result: true })
      await ended(id)
      const { body } = await result(id)
      expect(body).toEqual(success(value))
      const again = await ask('GET', `/jq/jobs/${id}/result`)
      expect([again.status, Buffer.from(await again.arrayBuffer()).toString('hex')]).toEqual([200, 'c0'])
    }
  })

  test('Q9 without keep_result, the result is nil and not stored in Redis', async () => {
    const { name } = await startWorker(() => ({ body: success('secret') }))
    for (const keep of [{}, { keep_result: false }]) {
      const id = await push({ name, ...keep })
      await ended(id)
      const answer = await ask('GET', `/jq/jobs/${id}/result`)
      expect([answer.status, Buffer.from(await answer.arrayBuffer()).toString('hex')]).toEqual([200, 'c0'])
      expect(await rawCommand(kit.redis.port, 'GET', `sidejob:result:${id}`)).toBe('$-1\r\n')
    }
  })

  test('Q10 an unread result is deleted after an hour, and its job after a day; then the result is nil', async () => {
    const { name } = await startWorker()
    const id = await push({ name, keep_result: true })
    await ended(id)
    const kept = kit.redis.port
    const ttl = Number((await rawCommand(kept, 'PTTL', `sidejob:result:${id}`)).slice(1))
    expect(ttl).toBeGreaterThan(3_500_000)
    expect(ttl).toBeLessThanOrEqual(3_600_000)
    await kit.advance(2 * 86_400_000)
    await kit.engine.tick()
    await expect(kit.engine.jobs.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await rawCommand(kept, 'DEL', `sidejob:result:${id}`)
    expect(await result(id)).toEqual({ status: 200, body: null })
  })

  test('Q11 an unfinished job returns 202 with a state, and an unknown job returns 404', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const { name, calls } = await startWorker(async () => {
      await gate
      return { body: success() }
    })
    const id = await push({ name, keep_result: true })
    await calledTimes(calls, 1)
    expect(await result(id)).toEqual({ status: 202, body: { state: 'running' } })
    go()
    await ended(id)
    for (const unknown of ['99999999', 'abc', '0']) {
      const answer = await ask('GET', `/jq/jobs/${unknown}/result`)
      expect([answer.status, (await read(answer)).error]).toEqual([404, 'NOT_FOUND'])
    }
    await kit.engine.queues.update('by-hand', { mode: 'pull' })
    const { jobs } = await kit.engine.jobs.enqueue([{ queue: 'by-hand', class: 'none of JQ’s' }])
    expect((await ask('GET', `/jq/jobs/${jobs[0]!.id}/result`)).status).toBe(404)
  })

  test('Q12 if two clients ask at once, one gets the result', async () => {
    const { name } = await startWorker(() => ({ body: success(1) }))
    const id = await push({ name, keep_result: true })
    await ended(id)
    const got = await Promise.all(Array.from({ length: 8 }, () => result(id)))
    expect(got.filter(({ body }) => body !== null)).toHaveLength(1)
  })
})

describe('failing', () => {
  test('Q13 retries come with exponential backoff, and then the failure is final', async () => {
    const { name, calls } = await startWorker(() => ({ body: failure() }))
    const id = await push({ name, max_retry: 3, keep_result: true })
    await calledTimes(calls, 1)
    await kit.until(async () => (await status(id)) === 'queued')
    await runOut(id, 1_000)
    expect(await status(id)).toBe('failed')
    expect(calls.map(({ body }) => body.attempt)).toEqual([1, 2, 3, 4])
    expect(new Set(calls.map(({ body }) => body.id))).toEqual(new Set([id]))
    const gaps = calls.slice(1).map(({ at }, i) => at - calls[i]!.at)
    for (const [i, wanted] of [10_000, 20_000, 40_000].entries()) {
      expect(gaps[i]).toBeGreaterThanOrEqual(wanted)
      expect(gaps[i]).toBeLessThan(wanted + 5_000)
    }
    expect((await kit.engine.jobs.get(id)).error).toContain('"boom"')
    expect(await result(id)).toEqual({ status: 200, body: failure() })
  })

  test('Q14 should_retry false is final, even if attempts remain, and no retries means one attempt', async () => {
    const { name, calls } = await startWorker(() => ({ body: failure({ should_retry: false, reason: 'timeout' }) }))
    const id = await push({ name, max_retry: 5, keep_result: true })
    await ended(id, 'failed')
    expect((await result(id)).body).toEqual(failure({ should_retry: false, reason: 'timeout' }))
    const once = await startWorker(() => ({ body: failure() }))
    const one = await push({ name: once.name })
    await ended(one, 'failed')
    expect([calls.length, once.calls.length]).toEqual([1, 1])
  })

  test('Q15 a timeout is a failure with the reason timeout, and the late answer changes nothing', async () => {
    const waits: (() => void)[] = []
    const { name, calls } = await startWorker(async () => {
      await new Promise<void>((resolve) => waits.push(resolve))
      return { body: success('late') }
    })
    const id = await push({ name, timeout: 0.3, max_retry: 1, keep_result: true })
    await calledTimes(calls, 1)
    await kit.until(async () => (await status(id)) === 'queued')
    expect(now() - calls[0]!.at).toBeLessThan(300 + 1_000)
    expect((await kit.engine.jobs.get(id)).error).toContain('"reason":"timeout"')
    await runOut(id, 2_000)
    for (const answer of waits) answer()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect([await status(id), calls.length]).toEqual(['failed', 2])
    const { body } = await result(id)
    expect(body).toMatchObject({ type: 'failure', reason: 'timeout', should_retry: true })
    expect(body.finished_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    const token = calls[0]!.headers['webhook-id'] as string
    const posted = await ask('POST', `/jq/jobs/${id}/result`, pack(success('late')), { 'webhook-id': token })
    expect(posted.status).toBe(410)
  })

  const badMaps: [string, Reply][] = [
    ['not a map', { body: 7 }],
    ['an unknown type', { body: { ...success(), type: 'fine' } }],
    ['without finished_at', { body: { type: 'success', result: 1 } }],
    ['an invalid time', { body: { ...success(), finished_at: 'yesterday' } }],
    ['no result', { body: { type: 'success', finished_at: '2026-03-11T12:00:00Z' } }],
    ['an unknown reason', { body: failure({ reason: 'bad luck' }) }],
    ['without should_retry', { body: failure({ should_retry: undefined }) }],
    ['a message that is not a string', { body: failure({ message: 7 }) }],
    ['invalid MessagePack', { bytes: hex('c1') }],
    ['nothing', { bytes: new Uint8Array() }],
    ['500', { status: 500, body: null }],
    ['404', { status: 404, body: null }],
    ['a connection that breaks', { status: 0 }],
  ]

  test.each(badMaps)('Q16 if the answer is %s, the attempt fails and is retried', async (_, bad) => {
    const { name, calls } = await startWorker((_call, n) => (n === 1 ? bad : { body: success('second') }))
    const id = await push({ name, max_retry: 1, keep_result: true })
    await calledTimes(calls, 1)
    await kit.until(async () => (await status(id)) === 'queued')
    await runOut(id, 2_000)
    expect([await status(id), calls.length]).toEqual(['completed', 2])
    expect((await result(id)).body).toEqual(success('second'))
  })

  test('410, and 489 with its header, are failures that are not retried', async () => {
    const replies: Reply[] = [
      { status: 410, body: null },
      { status: 489, body: null, headers: { 'upstash-nonretryable-error': 'true' } },
    ]
    for (const reply of replies) {
      const { name } = await startWorker(() => reply)
      const id = await push({ name, max_retry: 5 })
      await ended(id, 'failed')
    }
  })

  test('Q18 a worker may return 202 and send the result later, once', async () => {
    const { name, calls } = await startWorker(() => ({ status: 202, body: null }))
    const id = await push({ name, keep_result: true })
    await calledTimes(calls, 1)
    const token = calls[0]!.headers['webhook-id'] as string
    const give = (map: object, to = id, as = token) =>
      ask('POST', `/jq/jobs/${to}/result`, pack(map), as ? { 'webhook-id': as } : {})
    expect((await give({ type: 'success' })).status).toBe(400)
    expect((await give(success(), id, '')).status).toBe(400)
    expect((await give(success(), '99999999')).status).toBe(404)
    const given = await give(success({ big: 2 ** 40 }))
    expect([given.status, await read(given)]).toEqual([200, { state: 'completed' }])
    await give(failure())
    expect(await status(id)).toBe('completed')
    expect((await result(id)).body).toEqual(success({ big: 2 ** 40 }))
  })

  test('a result that does not match the schema of its name is refused, whether it comes at once or later', async () => {
    const giving = async (reply: Reply) => {
      const { name, url, calls } = await startWorker(() => reply)
      await kit.engine.workers.register('jq', name, {
        push: { url, format: 'jq' },
        result: '{"type":"object","required":["pages"]}' as Encoded,
      })
      const id = await push({ name, keep_result: true, max_retry: 3 })
      await calledTimes(calls, 1)
      return { id, calls }
    }
    const message = 'result.pages: is missing'
    const at = await giving({ body: success({ page: 1 }) })
    await ended(at.id, 'failed')
    expect((await result(at.id)).body).toMatchObject({ type: 'failure', message, should_retry: false })

    const late = await giving({ status: 202, body: null })
    const token = late.calls[0]!.headers['webhook-id'] as string
    const refused = await ask('POST', `/jq/jobs/${late.id}/result`, pack(success([])), { 'webhook-id': token })
    expect([refused.status, (await read(refused)).message]).toEqual([422, expect.stringContaining('result: expected')])
    expect(await status(late.id)).toBe('failed')
  })

  test('Q19 a worker that dies is called again with the same id', async () => {
    const { name, calls } = await startWorker((_, n) => (n === 1 ? { status: 0 } : { body: success() }))
    const id = await push({ name, max_retry: 1 })
    await calledTimes(calls, 1)
    await kit.until(async () => (await status(id)) === 'queued')
    await runOut(id, 2_000)
    expect(calls.map(({ body }) => [body.id, body.attempt])).toEqual([
      [id, 1],
      [id, 2],
    ])
  })

  test('Q19 a master that restarts accepts the result of a worker or calls it again, and the job ends once', async () => {
    let release = () => {}
    const { name, calls } = await startWorker(async (_, n) => {
      if (n > 1) return { body: success('second') }
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return { body: success('to nobody') }
    })
    /** Starts a lane whose later writes never reach Redis. */
    const abandoned = async () => {
      calls.length = 0
      const id = await push({ name, keep_result: true })
      await calledTimes(calls, 1)
      const token = calls[0]!.headers['webhook-id'] as string
      let lost = 0
      kit.gateway.faults.lose({
        times: Number.POSITIVE_INFINITY,
        when: (commands) => {
          const words = commands.flat().map(String)
          const isLane = words.some((word) => word.includes(':lane:')) && words.some((word) => word.includes(token))
          if (isLane) lost++
          return isLane
        },
      })
      return { id, token, lost: () => lost }
    }
    const give = (id: string, token: string) =>
      ask('POST', `/jq/jobs/${id}/result`, pack(success('first')), { 'webhook-id': token })

    const early = await abandoned()
    expect((await give(early.id, early.token)).status).toBe(200)
    release()
    await kit.until(() => early.lost() > 0)
    expect([await status(early.id), (await result(early.id)).body]).toEqual(['completed', success('first')])

    // The queue gets no new lane until the lease of the abandoned lane ends.
    const overdue = async () => {
      await kit.advance(46_000)
      await kit.engine.tick()
    }
    await overdue()
    const late = await abandoned()
    await runOut(late.id, 46_000)
    release()
    await kit.until(() => late.lost() > 0)
    expect((await give(late.id, late.token)).status).toBe(410)
    expect(calls.map(({ body }) => body.id)).toEqual([late.id, late.id])
    expect([await status(late.id), (await result(late.id)).body]).toEqual(['completed', success('second')])
    await overdue()
  })
})

describe('constraints', () => {
  test('Q17 a rate applies to matching jobs only', async () => {
    const { name, calls } = await startWorker()
    const constraint = { match: { name, argument: { host: 'a.com' } }, rate: { limit: 5, period: 1 } }
    expect((await ask('PUT', `/jq/constraints/${name}`, pack(constraint))).status).toBe(200)
    const started = now()
    const hosts = ['a.com', 'b.com'].flatMap((host) => Array<string>(20).fill(host))
    const ids = await Promise.all(hosts.map((host) => push({ name, argument: { host } })))
    for (const id of ids) await ended(id, 'completed')
    expect(calls).toHaveLength(40)
    const at = (host: string) => calls.filter(({ body }) => body.argument.host === host).map((call) => call.at)
    const a = at('a.com').sort((x, y) => x - y)
    // Calls reach the worker some milliseconds after the start of their run, so they may be closer than 1 s.
    for (let i = 5; i < a.length; i++) expect(a[i]! - a[i - 5]!).toBeGreaterThanOrEqual(850)
    expect(Math.max(...at('b.com')) - started).toBeLessThan(2_000)
    expect((await ask('DELETE', `/jq/constraints/${name}`)).status).toBe(200)
    expect((await ask('PUT', `/jq/constraints/${name}`, pack({ rate: { limit: 1, period: 1 } }))).status).toBe(400)
  })

  test('a rate counts retries like first attempts', async () => {
    const { name, calls } = await startWorker((_, n) => ({ body: n === 1 ? failure() : success() }))
    await ask('PUT', `/jq/constraints/${name}`, pack({ match: { name }, rate: { limit: 1, period: 3_600 } }))
    const id = await push({ name, max_retry: 1 })
    await kit.until(async () => calls.length === 1 && (await status(id)) === 'queued')
    for (let minute = 0; minute < 58; minute += 2) {
      await kit.advance(120_000)
      await kit.engine.tick()
    }
    expect([calls.length, await status(id)]).toEqual([1, 'queued'])
    await runOut(id, 60_000)
    expect([calls.length, await status(id)]).toEqual([2, 'completed'])
    expect(calls[1]!.at - calls[0]!.at).toBeGreaterThanOrEqual(3_600_000)
  })

  test('every matching constraint applies to a job, and can change while the job waits', async () => {
    const open: Record<string, number> = { 'a.com': 0, 'b.com': 0 }
    let most = { a: 0, all: 0 }
    const { name } = await startWorker(async ({ body }) => {
      const { host } = body.argument
      open[host]!++
      most = { a: Math.max(most.a, open['a.com']!), all: Math.max(most.all, open['a.com']! + open['b.com']!) }
      await new Promise((resolve) => setTimeout(resolve, 20))
      open[host]!--
      return { body: success() }
    })
    const [all, host] = [`/jq/constraints/${name}`, `/jq/constraints/${name}-a`]
    const many = async () => {
      most = { a: 0, all: 0 }
      const jobs = Array.from({ length: 12 }, (_, i) => ({ name, argument: { host: i % 2 ? 'a.com' : 'b.com' } }))
      return Promise.all(jobs.map(push))
    }
    const onlyA = { name, argument: { host: 'a.com' } }
    await kit.engine.queues.update('jq', { paused: true })
    const ids = await many()
    await ask('PUT', all, pack({ match: { name }, concurrency: 3 }))
    await ask('PUT', host, pack({ match: onlyA, concurrency: 1 }))
    await kit.engine.queues.update('jq', { paused: false })
    for (const id of ids) await ended(id, 'completed')
    expect(most.a).toBe(1)
    expect([2, 3]).toContain(most.all)
    await kit.engine.queues.update('jq', { paused: true })
    const more = await many()
    await ask('PUT', all, pack({ match: { name }, concurrency: 1 }))
    expect((await ask('DELETE', host)).status).toBe(200)
    await kit.engine.queues.update('jq', { paused: false })
    for (const id of more) await ended(id, 'completed')
    expect(most).toEqual({ a: 1, all: 1 })
  })

  test('the concurrency is limited too, and waiting uses no retry', async () => {
    let most = 0
    let open = 0
    const { name, calls } = await startWorker(async () => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 20))
      open--
      return { body: success() }
    })
    await ask('PUT', `/jq/constraints/${name}`, pack({ match: { name }, concurrency: 2 }))
    const ids = await Promise.all(Array.from({ length: 8 }, () => push({ name })))
    for (const id of ids) await ended(id, 'completed')
    expect(most).toBeLessThanOrEqual(2)
    expect(new Set(calls.map(({ body }) => body.attempt))).toEqual(new Set([1]))
  })
})

describe('documents', () => {
  test('Q20 the APIs of pushers and workers are described as OpenAPI', async () => {
    const pusher = (await (await ask('GET', '/jq/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, object>
    }
    expect(pusher.openapi).toBe('3.1.0')
    expect(Object.keys(pusher.paths).sort()).toEqual([
      '/jq/constraints/{name}',
      '/jq/jobs',
      '/jq/jobs/{id}/result',
      '/jq/openapi.json',
      '/jq/worker.openapi.json',
      '/jq/workers/{name}',
    ])
    expect(Object.keys(pusher.paths['/jq/jobs/{id}/result']!)).toEqual(['get', 'post'])
    expect(JSON.stringify(pusher.paths['/jq/jobs'])).toContain(MSGPACK)
    const worker = (await (await ask('GET', '/jq/worker.openapi.json')).json()) as {
      paths: { '/': { post: { requestBody: { content: Record<string, { schema: { required: string[] } }> } } } }
    }
    const { content } = worker.paths['/'].post.requestBody
    expect(content[MSGPACK]!.schema.required).toEqual(['id', 'name', 'argument', 'attempt', 'timeout'])
  })

  test('a page shows jobs by state, constraints and workers', async () => {
    const { name, url } = await startWorker(() => ({ body: failure({ message: '<b>boom</b>' }) }))
    await ask('PUT', `/jq/constraints/${name}`, pack({ match: { name }, concurrency: 2 }))
    const id = await push({ name, priority: -5, max_retry: 1 })
    await kit.until(async () => (await kit.engine.jobs.get(id)).error !== null && (await status(id)) === 'queued')
    // biome-ignore lint/suspicious/noExplicitAny: the API returns any JSON.
    const look = async (path: string): Promise<any> =>
      (await ask('GET', path, undefined, { accept: 'application/json' })).json()
    const { jobs } = await look(`/v1/jobs?queue=jq&class=${name}&status=queued`)
    expect(jobs).toMatchObject([{ id: Number(id), class: name, status: 'queued', priority: -5, attempt: 1 }])
    expect(Date.parse(jobs[0].runAt)).toBeGreaterThan(now())
    expect(JSON.stringify(jobs[0].error)).toContain('<b>boom</b>')
    const { constraints } = await look('/v1/constraints')
    expect(constraints).toContainEqual(expect.objectContaining({ name: `jq:${name}`, concurrency: 2 }))
    const { workers } = await look('/v1/workers')
    expect(workers).toContainEqual(expect.objectContaining({ class: name, push: expect.objectContaining({ url }) }))
    await runOut(id, 10_000)
  })

  test('Redis is the only store among the dependencies', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
    expect(
      Object.keys(dependencies).filter((name) => /sql|mongo|maria|prisma|drizzle|knex|dynamo|pg$/.test(name)),
    ).toEqual([])
    expect(Object.keys(dependencies)).toContain('@upstash/redis')
  })
})
