import { createHash, createHmac } from 'node:crypto'
import { encode } from '@msgpack/msgpack'
import { beforeAll, describe, expect, test } from 'vitest'
import { MSGPACK, useStack } from './kit.ts'

const stack = useStack()
const { ask, done } = stack

const failed = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })

beforeAll(async () => {
  await done('PUT /v1/workers/plain/plain', { pull: true, in: { a: {} }, out: { b: {} } })
})

const plain = { queue: 'plain', class: 'plain' }

describe('the stack by default', () => {
  test('prints its address in one line', () => {
    expect(stack.said().split('\n')).toContain(`ready on ${stack.url}`)
    expect(stack.said()).toMatch(/^API key +dev$/m)
  })

  test('GET /health needs no key and returns { ok, redis }; callers with a key also see the version', async () => {
    const { status, body } = await ask('GET /health', undefined, { key: null })
    expect([status, body]).toEqual([200, { ok: true, redis: true }])
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const { body: more } = await ask('GET /health?details=true', undefined, { key: null })
    expect(more).toMatchObject({ ok: true, ms: expect.any(Number), tickAt: expect.any(String) })
    expect((await ask('GET /health')).body).toEqual({ ...body, version: expect.any(String) })
    expect((await ask('GET /health', undefined, { key: 'wrong' })).body).toEqual(body)
  })

  test('GET /openapi.json is OpenAPI 3.1 and lists the routes of the contract', async () => {
    const { status, body, headers } = await ask('GET /openapi.json', undefined, { key: null })
    expect([status, headers.get('content-type'), body.openapi]).toEqual([200, 'application/json', '3.1.0'])
    for (const path of ['/v1/jobs', '/v1/jobs/{job}', '/v1/runs/{token}/commit', '/v1/queues/{queue}/claim'])
      expect(Object.keys(body.paths)).toContain(path)
    expect(body.components.schemas).toMatchObject({ Snapshot: expect.anything(), Changes: expect.anything() })
  })

  test('GET /docs is a page and needs no key', async () => {
    const { status, headers } = await ask('GET /docs', undefined, { key: null })
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  })
})

const contract = `
GET /health
GET /v1/workers · PUT DELETE /v1/workers/{}/{}
GET POST /v1/jobs · GET PATCH DELETE /v1/jobs/{}
POST /v1/jobs/{}/run · POST /v1/jobs/{}/terminate · POST /v1/jobs/{}/retry · POST /v1/jobs/{}/cancel
GET PATCH /v1/jobs/{}/state · GET /v1/jobs/{}/result · POST /v1/jobs/{}/result/take · GET /v1/jobs/{}/why
GET /v1/jobs/{}/runs · GET /v1/jobs/{}/log · GET /v1/jobs/{}/tree
POST /v1/jobs/{}/adopt · POST /v1/jobs/{}/disown · PUT DELETE /v1/jobs/{}/aliases/{}
POST /v1/jobs/{}/lock · POST /v1/jobs/{}/lock/refresh · POST /v1/jobs/{}/unlock
PUT /v1/jobs/{}/ports · GET POST /v1/jobs/{}/{}/{} · POST /v1/jobs/{}/{}/{}/read
PUT DELETE /v1/jobs/{}/{}/{}/default · PUT /v1/jobs/{}/{}/{}/channels · POST /v1/jobs/{}/{}/{}/connect
POST /v1/publish · GET /v1/channels · GET POST /v1/subscribe/{} · GET POST /v1/log
GET /v1/queues · PATCH /v1/queues/{} · POST /v1/queues/{}/claim
POST /v1/runs/{}/commit · POST /v1/runs/{}/heartbeat · POST /v1/runs/{}/release · GET /v1/runs/{}/in/{}
GET PUT DELETE /v1/limits/{} · GET PUT DELETE /v1/constraints/{} · GET /v1/groups · GET PATCH /v1/groups/{}
GET /v1/stats · POST /v1/bulk
POST /dispatch/{} · POST /tick
PUT /jq/workers/{} · POST /jq/jobs · GET /jq/jobs/{}/result · PUT /jq/constraints/{}
POST /downloader/download · POST /downloader/retry/{} · GET /downloader/stats/{}
GET /downloader/dashboard/aggregations · GET /downloader/hb
GET POST /v1/schedules · GET PATCH DELETE /v1/schedules/{}
POST /v1/schedules/{}/pause · POST /v1/schedules/{}/resume · POST /v1/schedules/{}/run
GET /v1/callbacks · POST /v1/callbacks/{}/resend
GET PUT /v1/flows/{}/graph · GET /v1/flows/{}/wires · POST /v1/flows/{}/undo
POST /v1/flows/{}/wires/{}/inject · POST /v1/flows/{}/wires/{}/drain · POST /v1/flows/{}/wires/{}/move
GET PUT DELETE /v1/graphs/{}
GET POST /v1/keys · DELETE /v1/keys/{} · GET /files/{}
POST /v1/test/clock
`

test('every route of the contract exists', async () => {
  const { paths } = await done('GET /openapi.json')
  const served = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
  )
  const named = contract
    .trim()
    .split(/\n| · /)
    .flatMap((entry) => {
      const words = entry.split(' ')
      return words.slice(0, -1).map((method) => `${method} ${words.at(-1)}`)
    })
  expect(named.length).toBeGreaterThan(90)
  expect(named.filter((one) => !served.includes(one))).toEqual([])
})

describe('JSON and MessagePack', () => {
  const types = ['application/vnd.msgpack', 'application/msgpack', 'application/x-msgpack']

  test.each(types)('%s is accepted, and returned to clients that accept it', async (type) => {
    const made = await ask(
      'POST /v1/jobs',
      { ...plain, args: { n: 1 } },
      { headers: { 'content-type': type, accept: type } },
    )
    expect([made.status, made.headers.get('content-type')]).toEqual([201, MSGPACK])
    expect(made.body).toEqual({ id: expect.any(Number), status: 'queued' })
    const shown = await ask(`GET /v1/jobs/${made.body.id}`, undefined, { headers: { accept: type } })
    expect(shown.headers.get('content-type')).toBe(MSGPACK)
    expect(shown.body).toMatchObject({ id: made.body.id, args: { n: 1 }, createdAt: expect.stringMatching(/Z$/) })
  })

  test.each([
    ['GET /health'],
    ['GET /v1/jobs'],
    ['GET /v1/workers'],
    ['GET /v1/queues'],
    ['GET /v1/channels'],
    ['GET /v1/log'],
    ['GET /v1/limits'],
    ['GET /v1/constraints'],
    ['GET /v1/groups'],
    ['GET /v1/schedules'],
    ['GET /v1/callbacks'],
    ['GET /v1/keys'],
    ['GET /v1/stats'],
    ['GET /openapi.json'],
  ])('%s returns the same data in both formats', async (address) => {
    const json = await ask(address, undefined, { headers: { accept: 'application/json' } })
    const msgpack = await ask(address, undefined, { headers: { accept: MSGPACK } })
    expect([json.status, msgpack.status]).toEqual([200, 200])
    expect(msgpack.headers.get('content-type')).toBe(MSGPACK)
    expect(msgpack.body).toEqual(json.body)
  })

  test.each([
    ['nothing', undefined, 'application/json'],
    ['anything', '*/*', 'application/json'],
    ['a browser', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['both', 'application/json;q=0.5, application/msgpack', MSGPACK],
    ['both, JSON first', 'application/msgpack;q=0.5, application/json', 'application/json'],
  ])('a client that accepts %s gets the right format', async (_, accept, type) => {
    const { headers } = await ask('GET /v1/jobs', undefined, { headers: accept ? { accept } : {} })
    expect(headers.get('content-type')).toBe(type)
  })

  test('errors are in the format that the client accepts', async () => {
    const { status, headers, body } = await ask('GET /v1/jobs/999999', undefined, { headers: { accept: MSGPACK } })
    expect([status, headers.get('content-type')]).toEqual([404, MSGPACK])
    expect(body).toEqual(failed('NOT_FOUND'))
  })

  test('JSON is accepted with a charset, and without a content type', async () => {
    const body = JSON.stringify(plain)
    const typed = { 'content-type': 'application/json; charset=UTF-8' }
    expect((await ask('POST /v1/jobs', undefined, { raw: body, headers: typed })).status).toBe(201)
    const untyped = new Blob([body]).stream()
    const answer = await fetch(`${stack.url}/v1/jobs`, {
      method: 'POST',
      body: untyped,
      duplex: 'half',
      headers: { authorization: 'Bearer dev' },
    } as RequestInit)
    expect(answer.status).toBe(201)
  })

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])('%s is 415', async (type) => {
    const { status, body } = await ask('POST /v1/jobs', undefined, { raw: '{}', headers: { 'content-type': type } })
    expect([status, body]).toEqual([415, failed('UNSUPPORTED')])
  })

  test('numbers, empty lists and text are returned unchanged', async () => {
    const args = '{"list":[],"map":{},"long":12345678901234567890,"pi":3.141592653589793238,"e":"é\\u0000"}'
    const made = await ask('POST /v1/jobs', undefined, {
      raw: `{"queue":"plain","class":"plain","args":${args}}`,
      headers: { 'content-type': 'application/json' },
    })
    const response = await fetch(`${stack.url}/v1/jobs/${made.body.id}`, { headers: { authorization: 'Bearer dev' } })
    expect(await response.text()).toContain(`"args":${args}`)
  })

  test('values that JSON cannot express are returned as $bin, $int and $ext', async () => {
    const raw = new Uint8Array([
      0x83,
      ...encode('queue'),
      ...encode('plain'),
      ...encode('class'),
      ...encode('plain'),
      ...encode('args'),
      0x93,
      ...encode(new Uint8Array([1, 2])),
      0xcf,
      ...new Array(8).fill(0xff),
      0xd4,
      0x05,
      0x09,
    ])
    const made = await ask('POST /v1/jobs', undefined, { raw, headers: { 'content-type': MSGPACK } })
    expect(made.status).toBe(201)
    const { args } = await stack.get(made.body.id)
    expect(args).toEqual([{ $bin: 'AQI=' }, expect.anything(), { $ext: [5, 'CQ=='] }])
    const shown = await fetch(`${stack.url}/v1/jobs/${made.body.id}`, {
      headers: { authorization: 'Bearer dev', accept: MSGPACK },
    })
    expect(Buffer.from(await shown.arrayBuffer()).includes(Buffer.from(raw.slice(-16)))).toBe(true)
  })
})

describe('error codes', () => {
  const json = { 'content-type': 'application/json' }
  test.each<[string, string, unknown, number, string, object?]>([
    ['a body that is no JSON', 'POST /v1/jobs', undefined, 400, 'BAD_REQUEST', { raw: '{', headers: json }],
    ['a body without required members', 'POST /v1/jobs', {}, 400, 'BAD_REQUEST'],
    ['an unknown member', 'POST /v1/jobs', { ...plain, colour: 'red' }, 400, 'BAD_REQUEST'],
    ['a key that is missing', 'GET /v1/jobs', undefined, 401, 'UNAUTHENTICATED', { key: null }],
    ['an unknown key', 'GET /v1/jobs', undefined, 401, 'UNAUTHENTICATED', { key: 'wrong' }],
    ['a job that is not there', 'GET /v1/jobs/999999', undefined, 404, 'NOT_FOUND'],
    ['an alias that is not there', 'GET /v1/jobs/nobody', undefined, 404, 'NOT_FOUND'],
    ['an id that is none', 'GET /v1/jobs/1abc', undefined, 404, 'NOT_FOUND'],
    ['a route that is not there', 'GET /v1/nothing', undefined, 404, 'NOT_FOUND'],
    ['a method that a route does not take', 'PUT /v1/jobs', {}, 405, 'WRONG_METHOD'],
    ['a lease that was never given', 'POST /v1/runs/1.1.abcdef/commit', { end: 'completed' }, 410, 'LOST'],
    ['a token that is none', 'POST /v1/runs/nonsense/heartbeat', {}, 410, 'LOST'],
    ['a class that is not registered', 'POST /v1/jobs', { class: 'unknown' }, 422, 'REFUSED'],
    ['a port that is not declared', 'POST /v1/jobs', { ...plain, inputs: { x: [1] } }, 422, 'REFUSED'],
    ['an unknown query parameter', 'GET /v1/jobs?colour=red', undefined, 400, 'BAD_REQUEST'],
  ])('%s', async (_, address, body, status, code, asking) => {
    const answer = await ask(address, body, asking)
    expect([answer.status, answer.body]).toEqual([status, failed(code)])
  })

  test('an error reports the path of the fault', async () => {
    const { body } = await ask('POST /v1/jobs', [plain, { ...plain, retry: { max: -1 } }])
    expect(body.error.path).toEqual([1, 'retry', 'max'])
  })

  test('an error contains neither a key nor a stack', async () => {
    const { body } = await ask('GET /v1/jobs', undefined, { key: 'a-secret-key' })
    expect(JSON.stringify(body)).not.toMatch(/a-secret-key|\.ts:|at /)
  })
})

describe('limits', () => {
  const big = (bytes: number) => 'x'.repeat(bytes)
  test.each<[string, () => unknown, number]>([
    ['a value of 1 MiB less its quotes', () => ({ ...plain, args: big(1024 * 1024 - 2) }), 201],
    ['a value over 1 MiB', () => ({ ...plain, args: big(1024 * 1024 - 1) }), 413],
    ['1,000 jobs', () => Array.from({ length: 1_000 }, () => plain), 201],
    ['1,001 jobs', () => Array.from({ length: 1_001 }, () => plain), 413],
    ['a class of 255 bytes', () => ({ queue: 'plain', class: big(255) }), 422],
    ['a class of 256 bytes', () => ({ queue: 'plain', class: big(256) }), 400],
    ['a class with a control character', () => ({ queue: 'plain', class: 'a\nb' }), 400],
    ['a class with a slash and a colon', () => ({ queue: 'plain', class: 'a/b:c' }), 422],
    ['a queue with a slash', () => ({ queue: 'a/b', class: 'x' }), 400],
    ['a queue with a colon', () => ({ queue: 'a:b', class: 'x' }), 400],
    ['a port name of 100', () => ({ ...plain, in: { [big(100)]: {} } }), 201],
    ['a port name of 101', () => ({ ...plain, in: { [big(101)]: {} } }), 400],
    ['a port name with a hyphen', () => ({ ...plain, in: { 'a-b': {} } }), 400],
    ['an alias that begins with a digit', () => ({ ...plain, alias: ['7up'] }), 400],
    ['a priority at the low end', () => ({ ...plain, priority: -2147483648 }), 201],
    ['a priority at the high end', () => ({ ...plain, priority: 2147483647 }), 201],
    ['a priority beyond', () => ({ ...plain, priority: 2147483648 }), 400],
    ['a priority that is not whole', () => ({ ...plain, priority: 0.5 }), 400],
  ])('%s', async (_, body, status) => {
    expect((await ask('POST /v1/jobs', body())).status).toBe(status)
  })

  test('a body may have 200 levels, and more are refused with 413', async () => {
    const nested = (levels: number) =>
      `{"queue":"plain","class":"plain","args":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const asked = (levels: number) =>
      ask('POST /v1/jobs', undefined, { raw: nested(levels), headers: { 'content-type': 'application/json' } })
    expect((await asked(199)).status).toBe(201)
    expect(await asked(201)).toMatchObject({ status: 413, body: failed('TOO_LARGE') })
  })

  test('a body over 10 MiB is refused with 413', async () => {
    const raw = Buffer.alloc(10 * 1024 * 1024 + 1, ' ')
    const { status, body } = await ask('POST /v1/jobs', undefined, {
      raw,
      headers: { 'content-type': 'application/json' },
    })
    expect([status, body]).toEqual([413, failed('TOO_LARGE')])
  })

  test('one invalid job in a list refuses the whole list', async () => {
    const count = async () => (await done('GET /v1/jobs?queue=plain&limit=1000')).jobs.length
    const before = await count()
    expect((await ask('POST /v1/jobs', [plain, { queue: 'plain', class: 'unknown' }])).status).toBe(422)
    expect(await count()).toBe(before)
  })
})

describe('a repeated call', () => {
  const once = (key: string) => ({ headers: { 'idempotency-key': key } })

  test('with the same key and body returns the first answer and status', async () => {
    const first = await ask('POST /v1/jobs', plain, once('a'))
    const again = await ask('POST /v1/jobs', plain, once('a'))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual({ ...first.body, existing: true })
    expect(first.body.existing).toBeUndefined()
  })

  test('with a key that a client created for its retries returns the first answer for ten minutes', async () => {
    const key = `retry:${crypto.randomUUID()}`
    const first = await ask('POST /v1/jobs', plain, once(key))
    const again = await ask('POST /v1/jobs', plain, once(key))
    expect([again.status, again.body]).toEqual([201, { ...first.body, existing: true }])
    const other = await ask('POST /v1/jobs', { ...plain, priority: 1 }, once(key))
    expect([other.status, other.body]).toEqual([409, failed('TAKEN')])
  })

  test('with the same key and another body is refused with 409 TAKEN and has no effect', async () => {
    await ask('POST /v1/jobs', plain, once('b'))
    const { status, body } = await ask('POST /v1/jobs', { ...plain, priority: 1 }, once('b'))
    expect([status, body]).toEqual([409, failed('TAKEN')])
  })

  test('with a list of jobs returns the same ids', async () => {
    const first = await ask('POST /v1/jobs', [plain, plain], once('c'))
    const again = await ask('POST /v1/jobs', [plain, plain], once('c'))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body.jobs.map(({ id }: { id: number }) => id)).toEqual(
      first.body.jobs.map(({ id }: { id: number }) => id),
    )
    expect(again.body.jobs[0].existing).toBe(true)
  })

  test('with the same key on another route or by another caller is a new call', async () => {
    const { key } = await done('POST /v1/keys', { name: 'other', scopes: ['write'] })
    const first = await done('POST /v1/jobs', plain, once('d'))
    const other = await done('POST /v1/jobs', plain, { key, ...once('d') })
    expect(other.id).not.toBe(first.id)
    expect((await ask(`POST /v1/jobs/${first.id}/run`, {}, once('d'))).status).toBe(200)
  })

  test('writes a value once', async () => {
    const id = await stack.make(plain)
    for (let n = 0; n < 3; n++) await done(`POST /v1/jobs/${id}/in/a`, { value: n === 0 ? 1 : 1 }, once(`w${id}`))
    expect((await done(`GET /v1/jobs/${id}/in/a`)).size).toBe(1)
  })

  test('takes a value once, and returns the same value again', async () => {
    const id = await stack.make({ ...plain, inputs: { a: [1, 2, 3] } })
    const first = await done(`POST /v1/jobs/${id}/in/a/read`, {}, once(`r${id}`))
    const again = await done(`POST /v1/jobs/${id}/in/a/read`, {}, once(`r${id}`))
    expect(again).toEqual(first)
    expect((await done(`GET /v1/jobs/${id}/in/a`)).size).toBe(2)
  })

  test.each([
    ['POST /v1/publish', { channel: '/twice', message: 1 }, { channel: '/twice', message: 2 }],
    ['POST /v1/log', { entry: { a: 1 } }, { entry: { a: 2 } }],
    ['POST /v1/queues/plain/claim', { max: 1, lease: 5 }, { max: 2, lease: 5 }],
    ['POST /v1/schedules', { ...plain, repeat: 'hourly' }, { ...plain, repeat: 'daily' }],
    ['POST /v1/keys', { name: 'twice', scopes: ['read'] }, { name: 'thrice', scopes: ['read'] }],
  ])('to %s returns the first answer, or 409 TAKEN with another body', async (address, body, other) => {
    const first = await ask(address, body, once('everywhere'))
    const again = await ask(address, body, once('everywhere'))
    expect(first.status).toBeLessThan(300)
    expect(again.status).toBe(first.status)
    expect({ ...again.body, existing: undefined }).toEqual({ ...first.body, existing: undefined })
    expect(await ask(address, other, once('everywhere'))).toMatchObject({ status: 409, body: failed('TAKEN') })
  })

  test('with a key that is too long is refused with 400', async () => {
    expect((await ask('POST /v1/jobs', plain, once('x'.repeat(256)))).status).toBe(400)
  })
})

describe('scopes', () => {
  const keys: Record<string, string> = {}
  let job: number
  beforeAll(async () => {
    for (const scope of ['read', 'write', 'work', 'admin'])
      keys[scope] = (await done('POST /v1/keys', { name: scope, scopes: [scope] })).key
    job = await stack.make(plain)
  })

  const table: [string, string, unknown?][] = [
    ['read', 'GET /v1/jobs'],
    ['read', 'GET /v1/jobs/JOB'],
    ['read', 'GET /v1/jobs/JOB/state'],
    ['read', 'GET /v1/jobs/JOB/result'],
    ['read', 'GET /v1/jobs/JOB/why'],
    ['read', 'GET /v1/jobs/JOB/runs'],
    ['read', 'GET /v1/jobs/JOB/log'],
    ['read', 'GET /v1/jobs/JOB/tree'],
    ['read', 'GET /v1/jobs/JOB/in/a'],
    ['read', 'GET /v1/workers'],
    ['read', 'GET /v1/queues'],
    ['read', 'GET /v1/limits'],
    ['read', 'GET /v1/constraints'],
    ['read', 'GET /v1/groups'],
    ['read', 'GET /v1/schedules'],
    ['read', 'GET /v1/callbacks'],
    ['read', 'GET /v1/keys'],
    ['read', 'GET /v1/channels'],
    ['read', 'GET /v1/log'],
    ['read', 'GET /v1/stats'],
    ['write', 'GET /jq/jobs/1/result'],
    ['write', 'POST /v1/jobs/JOB/result/take', {}],
    ['write', 'POST /v1/jobs', plain],
    ['write', 'PATCH /v1/jobs/JOB', { priority: 1 }],
    ['write', 'PATCH /v1/jobs/JOB/state', { set: { a: 1 } }],
    ['write', 'POST /v1/jobs/JOB/run', {}],
    ['write', 'POST /v1/jobs/JOB/in/a', { value: 1 }],
    ['write', 'POST /v1/jobs/JOB/in/a/read', {}],
    ['write', 'PUT /v1/jobs/JOB/in/a/default', { value: 1 }],
    ['write', 'PUT /v1/jobs/JOB/in/a/channels', { channels: [] }],
    ['write', 'PUT /v1/jobs/JOB/aliases/known', {}],
    ['write', 'POST /v1/publish', { channel: '/a', message: 1 }],
    ['write', 'POST /v1/log', { entry: 1 }],
    ['write', 'POST /v1/schedules', { ...plain, repeat: 'hourly' }],
    ['write', 'DELETE /v1/jobs/999999'],
    ['work', 'POST /v1/queues/nobody/claim', {}],
    ['work', 'POST /v1/runs/1.1.abc/heartbeat', {}],
    ['work', 'POST /v1/runs/1.1.abc/commit', { end: 'completed' }],
    ['work', 'POST /v1/runs/1.1.abc/release', {}],
    ['work', 'GET /v1/runs/1.1.abc/in/a'],
    ['admin', 'PUT /v1/workers/some/some', { pull: true }],
    ['admin', 'DELETE /v1/workers/some/some'],
    ['admin', 'PATCH /v1/queues/plain', { lanes: 4 }],
    ['admin', 'PUT /v1/limits/k', { concurrency: 1 }],
    ['admin', 'DELETE /v1/limits/k'],
    ['admin', 'PUT /v1/constraints/k', { match: { class: 'x' }, concurrency: 1 }],
    ['admin', 'DELETE /v1/constraints/k'],
    ['admin', 'POST /v1/keys', { name: 'x', scopes: ['read'] }],
    ['admin', 'DELETE /v1/jobs/999999?force=true'],
  ]

  test.each(table)('%s: %s', async (scope, address, body) => {
    const given = address.replace('JOB', String(job))
    for (const [name, key] of Object.entries(keys)) {
      const { status } = await ask(given, body, { key })
      const may = name === scope || name === 'admin'
      expect([name, status === 403]).toEqual([name, !may])
    }
  })

  test('a removed key is refused', async () => {
    const { id, key } = await done('POST /v1/keys', { name: 'gone', scopes: ['read'] })
    expect((await done('GET /v1/keys')).keys).toContainEqual({
      id,
      name: 'gone',
      scopes: ['read'],
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(JSON.stringify(await done('GET /v1/keys'))).not.toContain(key)
    expect((await ask('GET /v1/jobs', undefined, { key })).status).toBe(200)
    await done(`DELETE /v1/keys/${id}`)
    expect((await ask('GET /v1/jobs', undefined, { key })).status).toBe(401)
  })
})

describe('routes for QStash only', () => {
  // QStash's public development key.
  const KEY = 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r'
  const base64url = (text: string) => Buffer.from(text).toString('base64url')
  const sign = (url: string, body: string, key = KEY, claims: object = {}) => {
    const now = Math.floor(Date.now() / 1000)
    const payload = {
      iss: 'Upstash',
      sub: url,
      exp: now + 300,
      nbf: now - 5,
      iat: now,
      jti: 'jwt',
      body: createHash('sha256').update(body).digest('base64url'),
      ...claims,
    }
    const text = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(JSON.stringify(payload))}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  const bell = JSON.stringify({ bell: 'none' })
  const asked = (path: string, body: string, signature?: string, key: string | null = null) =>
    ask(`POST ${path}`, undefined, {
      key,
      raw: body,
      headers: { 'content-type': 'application/json', ...(signature && { 'upstash-signature': signature }) },
    })

  // The queue has no recent jobs: a lane of a busy queue would wait for the next job before it answers.
  test.each(['/dispatch/quiet', '/tick'])('%s accepts calls signed with the current or the next key', async (path) => {
    expect((await asked(path, bell, sign(`${stack.url}${path}`, bell))).status).toBe(200)
    const next = 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs'
    expect((await asked(path, bell, sign(`${stack.url}${path}`, bell, next))).status).toBe(200)
  })

  test.each(['/dispatch/plain', '/tick'])('%s refuses calls without a valid signature', async (path) => {
    const url = `${stack.url}${path}`
    const refused = [
      await asked(path, bell),
      await asked(path, bell, undefined, 'dev'),
      await asked(path, bell, sign(url, bell, 'sig_other')),
      await asked(path, bell, sign(url, '{}')),
      await asked(path, bell, sign(`${stack.url}/dispatch/other`, bell)),
      await asked(path, bell, sign(url, bell, KEY, { exp: 1 })),
      await asked(path, bell, sign(url, bell, KEY, { nbf: Math.floor(Date.now() / 1000) + 60 })),
      await asked(path, bell, sign(url, bell, KEY, { iss: 'Other' })),
    ]
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 401))
  })
})
