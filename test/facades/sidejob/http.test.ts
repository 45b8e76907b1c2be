// docs/compat/sidejob.md refers to these tests by their titles.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../../src/http/app.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { workers } from './workers.ts'

const KEY = 'secret'
let kit: Kit
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  kit = await startKit({ workers, hold: true, apiKey: KEY })
  app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://inside.test' })
})
afterAll(() => kit.close())

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const request = new Request(`http://inside.test${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const response = await app.fetch(request)
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), body: text ? JSON.parse(text) : null }
}
const post = (path: string, body?: unknown) => ask('POST', path, body)
const get = (path: string) => ask('GET', path)
const make = async (input: object = {}) => (await post('/v1/jobs', { class: 'nop', ...input })).body.id as number

test('a job is created, shown with its state and ports, and found by its alias', async () => {
  const parent = await make()
  const made = await post('/v1/jobs', {
    queue: 'default',
    class: 'nop',
    args: [1, { a: null }],
    parent,
    name: 'child',
    createdBy: 'test',
    in: { in: { default: 0 } },
    out: { out: {} },
    alias: ['shown'],
  })
  expect(made).toMatchObject({ status: 201, body: { status: 'queued' } })
  const { body, type } = await get('/v1/jobs/shown')
  expect(type).toMatch(/^application\/json/)
  expect(body).toMatchObject({
    id: made.body.id,
    args: [1, { a: null }],
    parent: { id: parent, name: 'child' },
    createdBy: 'test',
    in: { in: { size: 0, default: 0, channels: [] } },
    out: { out: { size: 0 } },
  })
  expect(body.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('an invalid job is refused with the name of its field, and not created', async () => {
  const last = await make()
  for (const [input, status, path] of [
    [{ queue: 'default' }, 400, ['class']],
    [{ class: 'unknown' }, 422, undefined],
    [{ class: 'nop', parent: 9_999 }, 404, undefined],
    [{ class: 'nop', at: 'tomorrow' }, 400, ['at']],
    [{ class: 'nop', in: { 'a b': {} } }, 400, ['in', 'a b']],
    [{ class: 'nop', in: { 'good\nbad': {} } }, 400, ['in', 'good\nbad']],
    [{ class: 'nop', in: { a: null } }, 400, ['in', 'a']],
    [{ class: 'nop', in: { a: { channels: null } } }, 400, ['in', 'a', 'channels']],
    [{ class: 'nop', alias: ['1234'] }, 400, ['alias', 0]],
    [{ class: 'nop', alias: ['1\nabc'] }, 400, ['alias', 0]],
    [{ class: 'nop', alias: [''] }, 400, ['alias', 0]],
  ] as const) {
    const answer = await post('/v1/jobs', input)
    expect({ status: answer.status, path: answer.body.error.path }, JSON.stringify(input)).toEqual({ status, path })
    expect(answer.body.error.message).toBeTypeOf('string')
  }
  expect(await make()).toBe(last + 1)
})

test('an unknown job returns 404, and an id is a whole number of at least 1', async () => {
  await make()
  for (const ref of ['9999', '1abc', '1.9', '%201'])
    expect((await get(`/v1/jobs/${ref}`)).status, ref).toBeGreaterThanOrEqual(400)
  expect(await get('/v1/jobs/9999')).toMatchObject({
    status: 404,
    body: { error: { code: 'NOT_FOUND', message: 'job 9999 does not exist' } },
  })
})

test('state is merged field by field, whatever the fields are called', async () => {
  const job = await make()
  const set = { context: 1, run: true, a: { b: [] } }
  expect(await ask('PATCH', `/v1/jobs/${job}/state`, { set })).toMatchObject({ status: 200, body: set })
  await ask('PATCH', `/v1/jobs/${job}/state`, { set: { a: 2 }, unset: ['run'] })
  expect((await get(`/v1/jobs/${job}/state`)).body).toEqual({ context: 1, a: 2 })
})

test('values are written and read with their context, and an empty port returns nothing', async () => {
  const job = await make({ in: { a: { default: 'd' }, b: {} } })
  const port = `/v1/jobs/${job}/in/a`
  await post(port, { value: 1, context: { user: 'ann' } })
  await post(port, { values: [null, [2]] })
  expect((await get(port)).body).toMatchObject({ size: 3, default: 'd' })
  expect((await post(`${port}/read`, { max: 2 })).body).toMatchObject({
    values: [{ data: 1, context: { user: 'ann' } }, { data: null }],
  })
  expect((await post(`${port}/read`, { max: 10 })).body).toMatchObject({ values: [{ data: [2] }] })
  expect((await post(`${port}/read`)).body).toMatchObject({ values: [{ data: 'd', default: true }] })
  expect((await post(`/v1/jobs/${job}/in/b/read`)).body).toEqual({ values: [] })
  expect((await post(port, {})).status).toBe(400)
  expect((await post(`/v1/jobs/${job}/sideways/a/read`)).status).toBe(404)
  expect((await post(`/v1/jobs/${job}/in/a/turn`)).status).toBe(404)
})

test('all ports are replaced together', async () => {
  const job = await make({ class: 'double', in: { own: {} } })
  const { body } = await ask('PUT', `/v1/jobs/${job}/ports`, { in: { other: { default: 1 } } })
  expect(Object.keys(body.in).sort()).toEqual(['in', 'other'])
})

test('run, terminate and delete report the new state of the job', async () => {
  const job = await make({ class: 'nop' })
  const of = (path: string) => `/v1/jobs/${job}${path}`
  expect((await post(of('/run'), { wait: 100 })).body).toEqual({ id: job, status: 'queued' })
  expect((await ask('DELETE', of(''))).status).toBe(409)
  expect((await post(of('/terminate'), { recursive: true })).body).toEqual({ id: job, status: 'terminated' })
  expect((await post(of('/run'))).body).toEqual({ id: job, status: 'terminated', ran: false })
  expect((await ask('DELETE', of(''))).status).toBe(200)
  expect((await get(of(''))).status).toBe(404)
})

test('a lock needs a time, and every change to it needs its token', async () => {
  const job = await make()
  const of = (path: string) => `/v1/jobs/${job}${path}`
  expect((await post(of('/lock'), {})).status).toBe(400)
  const { token } = (await post(of('/lock'), { ttl: 60 })).body
  expect((await post(of('/lock'), { ttl: 60 })).status).toBe(409)
  expect((await post(of('/lock/refresh'), { token: 'x', ttl: 60 })).status).toBe(409)
  expect((await post(of('/lock/refresh'), { token, ttl: 60 })).status).toBe(200)
  expect((await post(of('/unlock'), { token: 'x' })).status).toBe(409)
  expect((await post(of('/unlock'), { token })).status).toBe(200)
})

test('children are adopted and disowned', async () => {
  const [parent, child] = [await make(), await make()]
  expect((await post(`/v1/jobs/${parent}/adopt`, { job: child, name: 'c' })).status).toBe(200)
  expect((await get(`/v1/jobs/${parent}`)).body.children).toHaveProperty('c')
  expect((await post(`/v1/jobs/${parent}/disown`, { name: 'c' })).status).toBe(200)
  expect((await post(`/v1/jobs/${parent}/disown`, { name: 'c' })).status).toBe(404)
})

test('messages and log entries require their fields and are published', async () => {
  const job = await make({ class: 'deaf', in: { ear: { channels: ['/sidejob/log', '/a'] } } })
  expect((await post('/v1/publish', { message: 1 })).body.error.path).toEqual(['channel'])
  expect((await post('/v1/log', {})).body.error.path).toEqual(['entry'])
  expect((await post('/v1/publish', { channel: '/a', message: 1, context: { user: 'u' } })).body).toEqual({
    subscribers: 1,
  })
  await post('/v1/log', { entry: 'a text' })
  const { values } = (await post(`/v1/jobs/${job}/in/ear/read`, { max: 10 })).body
  expect(values).toMatchObject([
    { data: 1, context: { user: 'u', channel: '/a' } },
    { data: expect.anything() },
    { data: { message: 'a text' } },
  ])
})

test('a body must be JSON, and a caller needs a key', async () => {
  expect((await post('/v1/jobs', '{"class":')).status).toBe(400)
  expect((await ask('GET', '/v1/jobs', undefined, { authorization: '' })).status).toBe(401)
  expect((await ask('GET', '/nowhere')).body.error.code).toBe('NOT_FOUND')
  expect((await get('/health')).body).toEqual({
    ok: true,
    redis: true,
    version: expect.any(String),
  })
})
