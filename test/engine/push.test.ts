import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isFromSidejob } from '../../examples/node-worker/webhook.ts'
import { writeMsgpack } from '../../src/core/codec/msgpack-writer.ts'
import { encodedToJson, encodeValue } from '../../src/core/codec/value.ts'
import type { WorkerDefinition } from '../../src/engine/engine.ts'
import { createSigner, webhookHeaders } from '../../src/engine/remote/sign.ts'
import { type Kit, startKit } from '../kit/index.ts'

type Sent = {
  run: { token: string; startedAt: number }
  job: { createdAt: number; ranAt: number | null }
  in: Record<string, { cursor: number; values: { data: number }[] }>
  children: Record<string, unknown>
}
type Request = { headers: IncomingMessage['headers']; body: Buffer; snapshot: Sent; answer: ServerResponse }
type Handler = (request: Request) => void

const secretOf = (text: string) => `whsec_${Buffer.from(text.padEnd(24, '.')).toString('base64')}`
const secrets = [secretOf('new'), secretOf('old')]
const ANSWER = 10 * 1024 * 1024

let kit: Kit
let server: Server
let base: string
const handlers = new Map<string, Handler>()
let classes = 0

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    handlers.get(request.url!)!({
      headers: request.headers,
      body,
      snapshot: JSON.parse(body.toString()),
      answer: response,
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  kit = await startKit({ webhookSecrets: secrets, random: () => 0.5, fetch: toServer })
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await kit.close()
})

/** Each class has its own host, because failing hosts get fewer calls. */
const toServer: typeof fetch = (url, init) => fetch(String(url).replace(/^http:\/\/class\d+\.example\.com/, base), init)

async function serve(handler: Handler, definition: WorkerDefinition = {}): Promise<string> {
  const name = `class${classes++}`
  handlers.set(`/${name}`, handler)
  await kit.engine.workers.register('default', name, {
    in: { in: {} },
    out: { out: {} },
    push: { url: `http://${name}.example.com/${name}` },
    ...definition,
  })
  return name
}

const json = (answer: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) =>
  answer.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

async function jobOf(handler: Handler, definition?: WorkerDefinition, input: object = {}) {
  const id = await kit.make(await serve(handler, definition), { keepResult: true, ...input })
  await kit.rest(id)
  return view(id)
}

async function view(id: number) {
  const { error, ...job } = await kit.engine.jobs.get(String(id))
  return { ...job, error: error === null ? null : JSON.parse(error) }
}

const resultOf = async (id: number) => {
  const answer = await kit.engine.jobs.result(String(id), {})
  return answer.ended ? answer.result : undefined
}

const outOf = async (id: number) =>
  (await kit.engine.ports.get(String(id), 'out', 'out')).values.map(({ data }) => encodedToJson(data))

describe('the request to a push worker', () => {
  test('the snapshot has every member of the protocol', async () => {
    const seen: Sent[] = []
    const leaf = await serve(() => undefined, { pull: true, push: undefined })
    const name = await serve(
      ({ snapshot, answer }) => {
        seen.push(snapshot)
        json(answer, {
          end: 'suspended',
          state: { set: { n: seen.length } },
          ops: seen.length === 1 ? [{ op: 'spawn', name: 'a', class: leaf }] : [],
        })
      },
      { in: { in: {}, side: { default: '[0]' } }, out: { out: { channels: ['/outs'] } }, timeout: 7_000 },
    )
    const parent = await kit.make(leaf)
    const input = { args: '{"deep":[1.0]}', parent: String(parent), name: 'kid', alias: ['the-kid'], createdBy: 'me' }
    const id = await kit.make(name, input)
    await kit.rest(id, 'suspended')
    await kit.engine.ports.write(String(id), 'in', 'in', ['{"v":1}'], { context: '"from me"' })
    await kit.until(() => seen.length === 2)
    const [first, second] = seen as [Sent, Sent]
    expect(first.job.ranAt).toBe(null)
    expect(first.children).toEqual({})
    expect(second).toEqual({
      run: {
        token: expect.stringMatching(new RegExp(`^${id}\\.2\\.\\w+$`)),
        attempt: 1,
        lost: 0,
        reason: 'run',
        timeout: 7_000,
        startedAt: expect.any(Number),
        leaseUntil: second.run.startedAt + 45_000,
      },
      job: {
        id,
        queue: 'default',
        class: name,
        args: { deep: [1] },
        name: 'kid',
        createdAt: first.job.createdAt,
        createdBy: 'me',
        ranAt: first.run.startedAt,
        parent: { id: parent, name: 'kid' },
        aliases: ['the-kid'],
      },
      state: { n: 1 },
      in: {
        in: { cursor: 0, values: [{ data: { v: 1 }, context: 'from me' }], more: 0 },
        side: { cursor: 0, values: [], more: 0, default: { data: [0] } },
      },
      out: { out: { size: 0, channels: ['/outs'] } },
      children: { a: { id: id + 1, class: leaf, status: 'queued' } },
    })
  })

  test('values are sent unchanged, digit for digit', async () => {
    let body = ''
    await jobOf(({ body: sent, answer }) => (body = sent.toString()) && answer.end(), {}, { args: '{"n":1.10}' })
    expect(body).toContain('"args":{"n":1.10}')
  })

  test('a call is signed with both secrets during a rotation, and its id is the run', async () => {
    const calls: Request[] = []
    await jobOf((call) => {
      calls.push(call)
      call.answer.end()
    })
    const [{ headers, body, snapshot }] = calls as [Request]
    expect(headers['webhook-id']).toBe(snapshot.run.token)
    for (const secret of secrets) expect(isFromSidejob(headers, body, secret)).toBe(true)
    expect(isFromSidejob(headers, body, secretOf('other'))).toBe(false)
    expect(isFromSidejob(headers, Buffer.concat([body, Buffer.from(' ')]), secrets[0]!)).toBe(false)
    expect(isFromSidejob(headers, body, secrets[0]!, Date.now() + 6 * 60_000)).toBe(false)
  })

  test('every receiver could forge signatures for any other receiver: now each also has its own secret', async () => {
    const calls: Request[] = []
    const handler: Handler = (call) => {
      calls.push(call)
      call.answer.end()
    }
    const names = [await serve(handler), await serve(handler)]
    for (const name of names) await kit.rest(await kit.make(name), 'completed')
    const [mine, other] = await Promise.all(
      names.map((name) => kit.engine.callbacks.secrets(`http://${name}.example.com/${name}?token=1`)),
    )
    expect(mine!.secrets).toHaveLength(2)
    const [{ headers, body }] = calls as [Request]
    for (const secret of mine!.secrets) expect(isFromSidejob(headers, body, secret)).toBe(true)
    for (const secret of other!.secrets) expect(isFromSidejob(headers, body, secret)).toBe(false)
  })

  test('the secret of an endpoint differs in each tenant, and can be the only signature', async () => {
    const url = 'https://a.example.com/hook'
    const of = async (options: object) => createSigner({ roots: secrets, ...options }).secretsFor(url)
    const own = await createSigner({ roots: secrets }).endpointSecrets(url)
    expect(await of({})).toEqual([...secrets, ...own])
    expect(await of({ shared: false })).toEqual(own)
    expect(await of({ shared: false, tenant: 'acme' })).not.toEqual(own)
    expect(Buffer.from(own[0]!.replace('whsec_', ''), 'base64')).toHaveLength(32)
  })

  test('calls without a configured secret had an empty signature: now every call is signed', async () => {
    const bare = await startKit({ webhookSecrets: [], fetch: async () => Promise.reject(new Error('called')) })
    await bare.engine.workers.register('default', 'unsigned', {
      push: { url: 'http://a.example.com/' },
      retry: { max: 3 },
    })
    const id = await bare.make('unsigned')
    await bare.rest(id, 'failed')
    const { attempt, error } = await bare.engine.jobs.get(String(id))
    expect({ attempt, message: JSON.parse(error!).message }).toEqual({
      attempt: 1,
      message: expect.stringContaining('requests must be signed: set SIDEJOB_WEBHOOK_SECRET'),
    })
    await bare.close()
  })

  test("a worker's own secret replaces the deployment's", async () => {
    const own = secretOf('own')
    const verdicts: boolean[] = []
    const name = await serve(({ headers, body, answer }) => {
      verdicts.push(...[own, ...secrets].map((secret) => isFromSidejob(headers, body, secret)))
      answer.end()
    })
    await kit.engine.workers.register('default', name, { push: { url: `${base}/${name}`, secret: own } })
    await kit.rest(await kit.make(name), 'completed')
    expect(verdicts).toEqual([true, false, false])
  })

  test('the signature matches the example of Standard Webhooks', async () => {
    // Source: the libraries of Standard Webhooks.
    const body = new TextEncoder().encode('{"test": 2432232314}')
    const headers = await webhookHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body,
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      1_614_265_330_000,
    )
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})

describe('a worker’s answer', () => {
  test('200 with changes: all of them are committed', async () => {
    const {
      id,
      status,
      in: ports,
    } = await jobOf(
      ({ snapshot, answer }) => {
        const { cursor, values } = snapshot.in.in!
        json(answer, {
          end: 'completed',
          result: { sum: 3 },
          reads: { in: { cursor, count: values.length } },
          state: { set: { done: true } },
          ops: [{ op: 'write', to: { out: 'out' }, values: values.map(({ data }) => data * 10) }],
        })
      },
      {},
      { inputs: { in: ['1', '2'] } },
    )
    expect({ status, size: ports.in!.size }).toEqual({ status: 'completed', size: 0 })
    expect(await outOf(id)).toEqual(['10', '20'])
    expect(await kit.engine.jobs.state(String(id))).toEqual({ done: 'true' })
    expect(await resultOf(id)).toMatchObject({ type: 'success', result: '{"sum":3}' })
  })

  test.each([
    [{ result: 'x' }, 'result: expected a number, got "x"'],
    [
      { ops: [{ op: 'write', to: { out: 'out' }, values: [1, null] }] },
      'ops[0].values[1]: expected a number, got null',
    ],
  ])('changes with values that its registration does not accept, %j: failed, not retried', async (changes, message) => {
    const number = encodeValue({ type: 'number' })
    const definition = { result: number, out: { out: { schema: number } }, retry: { max: 3 } }
    const job = await jobOf(({ answer }) => json(answer, { end: 'completed', ...changes }), definition)
    expect(job).toMatchObject({ status: 'failed', attempt: 1, error: { message } })
    expect(await outOf(job.id)).toEqual([])
  })

  test.each([200, 204])('%i without a body: completed', async (status) => {
    expect(await jobOf(({ answer }) => answer.writeHead(status).end())).toMatchObject({ status: 'completed' })
  })

  test.each([400, 401, 404, 410, 422])('%i: failed, not retried', async (code) => {
    const job = await jobOf(({ answer }) => answer.writeHead(code).end('go away'), { retry: { max: 5 } })
    expect(job).toMatchObject({ status: 'failed', attempt: 1 })
    const error = { message: `the worker answered ${code}`, reason: 'other', detail: 'go away', retry: false }
    expect(job.error).toEqual(error)
  })

  test('a redirect is refused', async () => {
    let reached = false
    handlers.set('/elsewhere', () => (reached = true))
    const job = await jobOf(({ answer }) => answer.writeHead(307, { location: `${base}/elsewhere` }).end(), {
      retry: { max: 5 },
    })
    expect(job).toMatchObject({ status: 'failed', attempt: 1 })
    expect(job.error.message).toBe('the worker answered 307, and redirects are not followed')
    expect(reached).toBe(false)
  })

  test.each([408, 425, 429, 500, 502, 503])('%i: retried with backoff', async (code) => {
    let calls = 0
    const name = await serve(({ answer }) => void (calls++ ? answer.end() : answer.writeHead(code).end()), {
      retry: { max: 1, backoff: { base: 20_000, jitter: 0.2 } },
    })
    const id = await kit.make(name)
    expect(await waitOf(id)).toBe(22_000)
    await kit.advance(23_000)
    await kit.rest(id, 'completed')
    expect(calls).toBe(2)
  })

  test('an unused address, or a broken connection: retried', async () => {
    const dead = await serve(() => undefined, { retry: { max: 1 }, push: { url: 'http://127.0.0.1:9/' } })
    const broken = await serve(({ answer }) => void answer.destroy(), { retry: { max: 1 } })
    for (const name of [dead, broken]) {
      const id = await kit.make(name)
      expect(await waitOf(id)).toBe(11_000)
      expect((await view(id)).error.message).toMatch(/^the worker could not be reached: fetch failed: /)
    }
  })

  test.each<[string, (now: number) => string]>([
    ['seconds', () => '120'],
    ['a date', (now) => new Date((now + 120) * 1000).toUTCString()],
  ])('Retry-After in %s is a floor for the backoff', async (_, header) => {
    const name = await serve(
      ({ headers, answer }) =>
        void answer.writeHead(503, { 'retry-after': header(Number(headers['webhook-timestamp'])) }).end(),
      { retry: { max: 1, backoff: { base: 1_000 } } },
    )
    const wait = await waitOf(await kit.make(name))
    expect(wait).toBeGreaterThan(115_000)
    expect(wait).toBeLessThanOrEqual(120_000)
  })

  test('a Retry-After of three thousand years counts as one day', async () => {
    const name = await serve(({ answer }) => void answer.writeHead(429, { 'retry-after': '99999999999' }).end(), {
      retry: { max: 1 },
    })
    const wait = await waitOf(await kit.make(name))
    expect(wait).toBeGreaterThan(86_000_000)
    expect(wait).toBeLessThanOrEqual(86_400_000)
  })

  test('a Retry-After shorter than the backoff changes nothing', async () => {
    const name = await serve(({ answer }) => void answer.writeHead(429, { 'retry-after': '1' }).end(), {
      retry: { max: 1 },
    })
    expect(await waitOf(await kit.make(name))).toBe(11_000)
  })

  test.each<[string, Handler]>([
    ['no answer', () => undefined],
    ['an answer that does not end', ({ answer }) => void answer.writeHead(200).write('{"end":')],
  ])('%s within the timeout: failed with reason timeout', async (_, handler) => {
    const job = await jobOf(handler, { timeout: 50 })
    expect(job).toMatchObject({ status: 'failed' })
    expect(job.error).toMatchObject({ message: 'the worker did not answer within 50 ms', reason: 'timeout' })
    expect(await resultOf(job.id)).toMatchObject({ type: 'failure', reason: 'timeout' })
  })

  test('a timeout of a month does not end at once', async () => {
    const job = await jobOf(({ answer }) => void setImmediate(() => answer.end()), { timeout: 30 * 86_400_000 })
    expect(job.status).toBe('completed')
  })

  test.each<[string, string, RegExp]>([
    ['no JSON', '<html>', /^JSON at 1:1: expected a value, got "<"$/],
    ['half of it', '{"end":"comp', /^JSON at 1:13: /],
    ['null', 'null', /^the body: expected an object, got null$/],
    ['a list', '[]', /^the body: expected an object, got a list of 0$/],
    ['no end', '{}', /^end: is missing$/],
    ['an unknown end', '{"end":"done"}', /^end: /],
    ['an unknown member', '{"end":"completed","opps":[]}', /^opps: unknown member$/],
    ['an unknown op', '{"end":"completed","ops":[{"op":"fly"}]}', /^ops\[0\]/],
    ['an open count', '{"end":"completed","reads":{"in":{"cursor":-1,"count":1}}}', /^reads\.in\.cursor: /],
    [
      'a checkpoint',
      '{"end":"checkpoint"}',
      /^end: expected the end of the run, got a checkpoint\. Commit checkpoints with the token of the run$/,
    ],
  ])('an answer other than changes (%s) fails the run with the reason', async (_, text, why) => {
    const job = await jobOf(({ answer }) => void answer.end(text), { retry: { max: 5 } })
    expect(job).toMatchObject({ status: 'failed', attempt: 1 })
    const [, said] = /^the worker's answer is invalid: (.*)$/.exec(job.error.message)!
    expect(said).toMatch(why)
  })

  test('bytes that are not UTF-8 fail the run', async () => {
    const job = await jobOf(({ answer }) => void answer.end(Buffer.from([0x7b, 0xff, 0x7d])))
    expect(job.status).toBe('failed')
    expect(job.error.message).toMatch(/^the worker's answer is invalid: /)
  })

  test('an answer of more than 10 MiB is refused, for any Content-Length', async () => {
    const job = await jobOf(({ answer }) => void answer.writeHead(200).end(Buffer.alloc(ANSWER + 1, 32)))
    expect(job.status).toBe('failed')
    expect(job.error.message).toBe(`the worker's answer is invalid: it is larger than ${ANSWER} bytes`)
    expect(await jobOf(({ answer }) => void answer.end(Buffer.alloc(ANSWER, 32)))).toMatchObject({
      status: 'completed',
    })
  })

  test('refused changes fail the run, and none of them takes effect', async () => {
    const job = await jobOf(
      ({ answer }) =>
        void json(answer, {
          end: 'completed',
          state: { set: { n: 1 } },
          ops: [
            { op: 'write', to: { out: 'out' }, values: [1] },
            { op: 'write', to: { out: 'none' }, values: [1] },
          ],
        }),
      { retry: { max: 5 } },
    )
    expect(job).toMatchObject({ status: 'failed', attempt: 1 })
    expect(job.error).toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('has no output port "none"'),
    })
    expect(await outOf(job.id)).toEqual([])
    expect(await kit.engine.jobs.state(String(job.id))).toEqual({})
  })

  test('MessagePack by Content-Type: bytes stay bytes', async () => {
    const values = [new Uint8Array([1, 2]), 2n ** 60n]
    const job = await jobOf(({ answer }) =>
      answer
        .writeHead(200, { 'content-type': 'application/vnd.msgpack' })
        .end(writeMsgpack({ end: 'completed', ops: [{ op: 'write', to: { out: 'out' }, values }] })),
    )
    expect(job.status).toBe('completed')
    expect(await outOf(job.id)).toEqual(['{"$bin":"AQI="}', '{"$int":"1152921504606846976"}'])
  })

  test('MessagePack that ends too early fails the run', async () => {
    const job = await jobOf(
      ({ answer }) => void answer.writeHead(200, { 'content-type': 'application/x-msgpack' }).end(Buffer.from([0x81])),
    )
    expect(job.error.message).toMatch(/^the worker's answer is invalid: MessagePack at byte 1: /)
  })
})

describe('the result map, a short form of changes', () => {
  test('success keeps the result', async () => {
    const job = await jobOf(({ answer }) =>
      json(answer, { type: 'success', finished_at: new Date().toISOString(), result: [1, null] }),
    )
    expect(job.status).toBe('completed')
    expect(await resultOf(job.id)).toMatchObject({ type: 'success', result: '[1,null]' })
  })

  test('failure has the reason, and keeps any error value', async () => {
    const failure = {
      type: 'failure',
      reason: 'timeout',
      should_retry: true,
      error: { code: [7] },
      message: 'too slow',
    }
    const job = await jobOf(({ answer }) => json(answer, failure))
    expect(job.status).toBe('failed')
    expect(job.error).toEqual({ message: 'too slow', reason: 'timeout', detail: { code: [7] } })
    expect(await resultOf(job.id)).toMatchObject({ type: 'failure', reason: 'timeout', error: '{"code":[7]}' })
  })

  test('should_retry decides whether the remaining attempts are used', async () => {
    const saying = (should_retry: boolean) =>
      serve(({ answer }) => json(answer, { type: 'failure', reason: 'other', should_retry, message: 'no' }), {
        retry: { max: 1 },
      })
    expect(await waitOf(await kit.make(await saying(true)))).toBe(11_000)
    const id = await kit.make(await saying(false))
    await kit.rest(id, 'failed')
  })
})

describe('a host that keeps failing', () => {
  async function host() {
    const own = await startKit({ webhookSecrets: secrets, random: () => 0 })
    let calls = 0
    let status = 503
    const server = createServer((request, response) => {
      calls++
      request.resume().on('end', () => response.writeHead(status).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const push = { url: `http://127.0.0.1:${port}/` }
    await own.engine.workers.register('default', 'once', { push, retry: { max: 0 } })
    const outcome = async (id: number) => (await own.engine.jobs.runs(String(id))).runs[0]?.outcome
    return {
      kit: own,
      host: `127.0.0.1:${port}`,
      calls: () => calls,
      answers: (next: number) => {
        status = next
      },
      outcome,
      async run() {
        const id = await own.make('once')
        await own.until(async () => (await outcome(id)) !== undefined)
        return id
      },
      async close() {
        await own.close()
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
    }
  }

  test('is no longer called at the failing address, but at its other addresses', async () => {
    const down = await host()
    for (let i = 0; i < 5; i++) await down.run()
    await down.kit.engine.workers.register('default', 'other', {
      push: { url: `http://${down.host}/other` },
      retry: { max: 0 },
    })
    const id = await down.kit.make('other')
    await down.kit.until(async () => (await down.outcome(id)) !== undefined)
    expect([await down.outcome(id), down.calls()]).toEqual(['failed', 6])
    expect(await down.outcome(await down.run())).toBe('released')
    expect(down.calls()).toBe(6)
    await down.close()
  })

  test('is not called: runs are given back until a probe succeeds', async () => {
    const down = await host()
    for (let i = 0; i < 4; i++) expect(await down.outcome(await down.run())).toBe('failed')
    const spared = [await down.run(), await down.run()]
    expect(down.calls()).toBe(5)
    for (const id of spared) {
      expect(await down.kit.engine.jobs.get(String(id))).toMatchObject({ status: 'queued', attempt: 0 })
      const { reasons } = await down.kit.engine.jobs.why(String(id))
      expect(reasons[0]).toMatchObject({
        code: 'BACKOFF',
        message: expect.stringContaining(`without using an attempt: ${down.host} keeps failing; next attempt after`),
      })
    }
    down.answers(200)
    await down.kit.advance(13_000)
    const completed = async () => {
      const outcomes = await Promise.all(spared.map(down.outcome))
      return outcomes.filter((outcome) => outcome === 'completed').length
    }
    await down.kit.until(async () => (await completed()) > 0)
    // The second call arrived during the test call. The second call waits until the longest possible test call would
    // have ended.
    await down.kit.advance(37_000)
    await down.kit.until(async () => (await completed()) === 2)
    expect(down.calls()).toBe(7)
    expect(await down.outcome(await down.run())).toBe('completed')
    await down.close()
  })

  test('a failed probe counts against its job alone, and delays the remaining jobs longer', async () => {
    const down = await host()
    for (let i = 0; i < 4; i++) await down.run()
    const spared = [await down.run(), await down.run()]
    await down.kit.advance(13_000)
    const outcomes = () => Promise.all(spared.map(down.outcome))
    await down.kit.until(async () => (await outcomes()).includes('failed'))
    expect(down.calls()).toBe(6)
    expect((await outcomes()).sort()).toEqual(['failed', 'released'])
    await down.close()
  })

  test.each([400, 404, 200])('%i does not count against a host', async (status) => {
    const well = await host()
    well.answers(status)
    for (let i = 0; i < 7; i++) await well.run()
    expect(well.calls()).toBe(7)
    await well.close()
  })

  test('is counted neither as failing nor as healthy for calls that could not be sent', async () => {
    const down = await host()
    const unsigned = { push: { url: `http://${down.host}/`, secret: 'whsec_***' }, retry: { max: 0 } }
    await down.kit.engine.workers.register('default', 'unsigned', unsigned)
    const fail = async () => {
      const id = await down.kit.make('unsigned')
      await down.kit.rest(id, 'failed')
      return JSON.parse((await down.kit.engine.jobs.get(String(id))).error!).message
    }
    for (let i = 0; i < 6; i++) expect(await fail()).toMatch(/^the call could not be made: .*secret/)
    for (let i = 0; i < 5; i++) await down.run()
    expect(down.calls()).toBe(5)
    await down.kit.engine.queues.update('default', { paused: true })
    await down.kit.advance(11_000)
    const probing = await down.kit.make('unsigned', { priority: -1 })
    await down.kit.engine.queues.update('default', { paused: false, batch: 1, lanes: 1 })
    await down.kit.rest(probing, 'failed')
    const next = await down.run()
    expect([await down.outcome(next), down.calls()]).toEqual(['released', 5])
    await down.close()
  })

  test('is still called if successes occur between failures', async () => {
    const uneven = await host()
    for (let i = 0; i < 12; i++) {
      uneven.answers(i % 4 === 3 ? 200 : 500)
      expect(await uneven.outcome(await uneven.run())).toBe(i % 4 === 3 ? 'completed' : 'failed')
    }
    expect(uneven.calls()).toBe(12)
    await uneven.close()
  })
})

describe('202: the worker commits later', () => {
  async function later(definition: WorkerDefinition = {}) {
    const tokens: string[] = []
    const name = await serve(({ snapshot, answer }) => {
      tokens.push(snapshot.run.token)
      answer.writeHead(202).end('{"accepted":true}')
    }, definition)
    const id = await kit.make(name)
    await kit.until(() => tokens.length === 1)
    return { id, tokens }
  }

  test('with the token, and a heartbeat keeps the lease and reports the progress', async () => {
    const { id, tokens } = await later()
    const token = tokens[0]!
    for (const half of ['0.25', '0.5', '0.75']) {
      await kit.advance(40_000)
      await kit.engine.tick()
      await kit.engine.runs.heartbeat(token, { progress: half })
    }
    expect(await view(id)).toMatchObject({ status: 'running', progress: '0.75', lost: 0 })
    const changes = { end: 'completed', ops: [{ op: 'write', to: { out: 'out' }, values: ['1'] }] } as const
    expect(await kit.engine.runs.commit(token, changes as never)).toEqual({ status: 'completed' })
    expect(await outOf(id)).toEqual(['1'])
  })

  test('if the worker sends nothing more, the run is lost and repeated', async () => {
    const { id, tokens } = await later()
    await kit.advance(61_000)
    await kit.engine.tick()
    await kit.advance(2_000)
    await kit.until(() => tokens.length === 2)
    expect(await view(id)).toMatchObject({ status: 'running', lost: 1 })
    await expect(kit.engine.runs.commit(tokens[0]!, { end: 'completed' })).rejects.toMatchObject({ code: 'LOST' })
    expect(await kit.engine.runs.commit(tokens[1]!, { end: 'completed' })).toEqual({ status: 'completed' })
  })

  test('a worker may commit checkpoints with the token and end the run in its answer', async () => {
    const job = await jobOf(async ({ snapshot, answer }) => {
      const write = (value: string) => ({ op: 'write' as const, to: { out: 'out' }, values: [value] })
      await kit.engine.runs.commit(snapshot.run.token, { end: 'checkpoint', ops: [write('1')] })
      await kit.engine.runs.commit(snapshot.run.token, { end: 'checkpoint', n: 1, ops: [write('2')] })
      json(answer, { end: 'completed', ops: [{ op: 'write', to: { out: 'out' }, values: [3] }] })
    })
    expect(job.status).toBe('completed')
    expect(await outOf(job.id)).toEqual(['1', '2', '3'])
  })

  test('a worker that refuses after a checkpoint has failed: only the checkpoint is kept', async () => {
    const job = await jobOf(async ({ snapshot, answer }) => {
      await kit.engine.runs.commit(snapshot.run.token, { end: 'checkpoint', state: { set: { step: '1' } } })
      answer.writeHead(400).end()
    })
    expect(job.status).toBe('failed')
    expect(await kit.engine.jobs.state(String(job.id))).toEqual({ step: '1' })
  })
})

describe('a worker that keeps a patch as a step, as the manual shows', () => {
  type Waiting = Sent & { steps?: Record<string, unknown> }
  const PATCH = 'patched:check'
  const ended = { end: 'completed', result: 'shipped' }

  const before: Handler = ({ snapshot, answer }) => {
    const { steps = {} } = snapshot as Waiting
    const ops = [{ op: 'step', name: 'reserve', value: 1 }]
    if (steps.reserve) return json(answer, ended)
    return json(answer, { end: 'suspended', ops, pause: { until: kit.now() + 3_600_000 } })
  }
  const after: Handler = ({ snapshot, answer }) => {
    const { steps = {} } = snapshot as Waiting
    const isPatched = (steps[PATCH] ?? Object.keys(steps).length === 0) as boolean
    const checked = isPatched && !steps.check ? [{ op: 'step', name: 'check', value: 1 }] : []
    const ops = [...checked, { op: 'step', name: PATCH, value: isPatched }, { op: 'step', name: 'reserve', value: 1 }]
    if (steps.reserve) return json(answer, { ...ended, result: steps.check ? 'checked' : 'shipped' })
    return json(answer, { end: 'suspended', ops, pause: { until: kit.now() + 3_600_000 } })
  }

  test('a job past the patched line keeps its path, and a new job takes the new path', async () => {
    const name = await serve(before)
    const make = () => kit.make(name, { keepResult: true })
    const old = await make()
    await kit.until(async () => (await kit.engine.jobs.steps(String(old))).steps.length === 1)
    handlers.set(`/${name}`, after)
    const fresh = await make()
    await kit.until(async () => (await kit.engine.jobs.steps(String(fresh))).steps.length === 3)
    await kit.advance(3_700_000)
    await kit.engine.tick()
    await Promise.all([old, fresh].map((id) => kit.rest(id, 'completed')))
    const results = await Promise.all([old, fresh].map(resultOf))
    expect(results).toMatchObject([{ result: '"shipped"' }, { result: '"checked"' }])
  })
})

test.each([
  ['http://10.1.2.3/', '10.1.2.3'],
  ['http://localhost:9/', 'localhost'],
  ['http://[::1]:9/', '[::1]'],
  ['http://169.254.169.254/latest', '169.254.169.254'],
])('a worker inside the internal network (%s) is not registered unless it is allowed', async (url, host) => {
  const registered = jobOf(() => undefined, { push: { url }, retry: { max: 5 } })
  await expect(registered).rejects.toMatchObject({ path: ['push', 'url'] })
  await expect(registered).rejects.toThrow(`${host}`)
  await expect(registered).rejects.toThrow(
    `is in a private network; to allow it, add workers=${new URL(url).host} to SIDEJOB_ALLOW_HOSTS`,
  )
})

async function waitOf(id: number): Promise<number> {
  await kit.until(async () => (await kit.engine.jobs.runs(String(id))).runs.some(({ outcome }) => outcome === 'failed'))
  const [{ runs }, { runAt }] = await Promise.all([kit.engine.jobs.runs(String(id)), kit.engine.jobs.get(String(id))])
  return runAt! - runs[0]!.endedAt
}
