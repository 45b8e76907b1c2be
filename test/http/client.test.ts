import { describe, expect, expectTypeOf, test } from 'vitest'
import { isInQuery } from '../../src/client/call.ts'
import { ApiError, createClient } from '../../src/client/index.ts'
import { table } from '../../src/client/table.generated.ts'
import { SidejobError } from '../../src/core/errors.ts'
import type { Status } from '../../src/core/job.ts'
import { downloader } from '../../src/facades/downloader/index.ts'
import { facades } from '../../src/facades/index.ts'
import { createApp } from '../../src/http/app.ts'
import { isSigned, type Route } from '../../src/http/route.ts'
import { listed, list as ours } from '../../src/http/routes.ts'
import { type Answers, fakeEngine } from './fake-engine.ts'

const list = [...ours, ...listed('downloader', downloader as unknown as Record<string, Route>)]

type Fetch = (request: Request) => Promise<Response>

const setUp = (verbs: Answers = {}, around = (fetch: Fetch): Fetch => fetch) => {
  const { engine, calls } = fakeEngine(verbs)
  const app = createApp({ engine, facades, verify: async () => false, publicUrl: 'http://jobs.test', report: () => {} })
  const requests: Request[] = []
  const fetch = around(async (request) => {
    requests.push(request.clone())
    return app.fetch(request)
  })
  return { client: createClient({ url: 'http://jobs.test', key: 'admin', fetch }), calls, requests }
}

test('a call takes the names in the path, then its body', async () => {
  const { client, calls } = setUp()
  expect(await client.ports.write(7, 'in', 'left', { values: [1, { a: 'b' }] })).toEqual({ size: 2 })
  expect(calls[0]).toMatchObject({ verb: 'ports.write', args: ['7', 'in', 'left', ['1', '{"a":"b"}'], {}, {}] })
})

test('a query accepts numbers and booleans', async () => {
  const { client, calls } = setUp()
  await client.jobs.list({ status: 'failed', limit: 5 })
  await client.jobs.remove(7, { force: true })
  expect(calls.map(({ args }) => (args[0] === '7' ? args[1] : args[0]))).toEqual([
    { status: ['failed'], limit: 5 },
    { force: true },
  ])
})

describe('the input of a call is sent where its route reads it', () => {
  test('the second slice of a repair: the cursor is in the query', async () => {
    const { client, calls, requests } = setUp()
    await client.doctor.repair({ cursor: '7' })
    expect(requests[0]!.url).toBe('http://jobs.test/v1/doctor/repair?cursor=7')
    expect(calls).toContainEqual(expect.objectContaining({ verb: 'doctor.repair', args: ['7'] }))
  })

  const reads = ({ query, body, method }: Route) => /^(GET|DELETE)$/.test(method) || (query && !body)
  const addressesOf = (routes: typeof list) => routes.map(({ method, path }) => `${method} ${path}`).sort()

  test('each route with a query and no body gets its input in the query', () => {
    const served = list.filter((route) => !isSigned(route))
    expect(addressesOf(served).filter(isInQuery)).toEqual(addressesOf(served.filter(reads)))
  })

  test('the client has each route that is not only for QStash', () => {
    const served = list.filter((route) => !isSigned(route))
    expect(
      Object.values(table)
        .flatMap((verbs) => Object.values(verbs))
        .sort(),
    ).toEqual(addressesOf(served))
  })
})

test('a key created for retries is marked, and a given key is unchanged', async () => {
  const { client, requests } = setUp()
  await client.jobs.enqueue({ class: 'zip' })
  await client.jobs.enqueue({ class: 'zip' }, { idempotencyKey: 'mine' })
  const [own, mine] = requests.map(({ headers }) => headers.get('idempotency-key'))
  expect(own).toMatch(/^retry:[0-9a-f-]{36}$/)
  expect(mine).toBe('mine')
})

test('a single job returns a single answer, a list returns a list, and the types agree', async () => {
  const { client } = setUp()
  const one = await client.jobs.enqueue({ class: 'zip', args: { any: 'thing' }, wait: '5m' })
  const many = await client.jobs.enqueue([{ class: 'zip' }, { class: 'zip' }])
  expect(one).toEqual({ id: 7, status: 'queued' })
  expect(many.jobs.map(({ id }) => id)).toEqual([7, 8])
  expectTypeOf(one.status).toEqualTypeOf<Status>()
  expectTypeOf(client.jobs.get).parameter(0).toEqualTypeOf<string | number>()
  expectTypeOf((await client.jobs.get(7)).createdAt).toEqualTypeOf<string>()
  expectTypeOf((await client.jobs.get(7)).args).toEqualTypeOf<unknown>()
  // @ts-expect-error the class is missing
  await expect(client.jobs.enqueue({ queue: 'core' })).rejects.toThrow('class: is missing')
  // @ts-expect-error a port is in or out
  await expect(client.ports.look(7, 'up', 'left')).rejects.toThrow('does not exist')
})

test('names in a path are encoded, and a channel keeps its slashes', async () => {
  const { client, calls } = setUp()
  await client.workers.register('core', 'a/b ü', { pull: true })
  const heard = []
  for await (const message of await client.channels.subscribe('/a/b c')) heard.push(message)
  expect(calls[0]!.args).toEqual(['core', 'a/b ü', { pull: true }, {}])
  expect(calls[1]!.args[0]).toEqual(['/a/b c'])
  expect(heard).toEqual([
    { channel: '/a/b c', message: { n: 1 } },
    { channel: '/a/b c/b', message: [1] },
  ])
})

test('a claim without jobs returns null', async () => {
  const { client } = setUp({ runs: { claim: async () => [] } })
  expect(await client.queues.claim('core', { max: 2 })).toBeNull()
})

test('an error has code, status, message and path', async () => {
  const { client } = setUp({
    jobs: {
      get: async () => {
        throw new SidejobError('NOT_FOUND', 'job 7 does not exist', { path: ['job'] })
      },
    },
  })
  const error = await client.jobs.get(7).catch((error) => error)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404, message: 'job 7 does not exist', path: ['job'] })
})

test('a call is repeated with the same key after a network error, at most three times', async () => {
  let broken = 2
  const { client, calls } = setUp({}, (fetch) => async (request) => {
    const answer = await fetch(request)
    if (broken-- > 0) throw new TypeError('network')
    return answer
  })
  await client.jobs.enqueue({ class: 'zip' })
  const keys = calls.map(({ args }) => (args[1] as { key: string }).key)
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  broken = 3
  await expect(client.jobs.enqueue({ class: 'zip' })).rejects.toThrow('network')
})

test('an interrupted answer is requested again', async () => {
  let broken = 1
  const { client, requests } = setUp({}, (fetch) => async (request) => {
    const answer = await fetch(request)
    if (broken-- <= 0) return answer
    const breaking = new ReadableStream({ pull: (stream) => stream.error(new TypeError('terminated')) })
    return new Response(breaking, answer)
  })
  expect(await client.jobs.get(7)).toMatchObject({ id: 7 })
  expect(requests).toHaveLength(2)
})

test('a call is repeated after a 503, but not after other errors', async () => {
  let down = 1
  const { client, calls } = setUp({
    stats: {
      totals: async () => {
        if (down-- > 0) throw new SidejobError('UNAVAILABLE', 'Redis does not answer', { retryAfter: 0 })
        return { queues: [], processed: 1, failed: 0, today: {}, total: {}, waits: {} }
      },
    },
    queues: {
      list: async () => {
        throw new Error('broken')
      },
    },
  })
  expect(await client.stats.show()).toMatchObject({ processed: 1 })
  await expect(client.queues.list()).rejects.toMatchObject({ code: 'INTERNAL', status: 500 })
  expect(calls.map(({ verb }) => verb)).toEqual(['stats.totals', 'stats.totals', 'queues.list'])
})

test('the error for an answer of another program shows the first line of the answer', async () => {
  const failing = (text: string, type = 'text/plain') =>
    setUp({}, () => async () => new Response(text, { status: 404, headers: { 'content-type': type } })).client.jobs.get(
      7,
    )
  await expect(failing('404 Not Found')).rejects.toThrow('Expected an answer of sidejob, got 404 Not Found')
  await expect(failing('Error: class double is defined twice\n    at worker.js:1')).rejects.toMatchObject({
    status: 404,
    message: 'Expected an answer of sidejob, got Error: class double is defined twice',
  })
  await expect(failing('<!doctype html>', 'text/html')).rejects.toThrow('got an HTML page')
  await expect(failing('')).rejects.toThrow('got an empty body')
})

test('a call that its caller aborted is not repeated', async () => {
  const gone = AbortSignal.abort(new Error('gone'))
  const { client, requests } = setUp({}, (fetch) => async (request) => {
    await fetch(request)
    throw request.signal.reason
  })
  await expect(client.jobs.get(7, {}, { signal: gone })).rejects.toThrow('gone')
  expect(requests).toHaveLength(1)
})

test('every route except QStash’s is a method of the client', () => {
  const { client } = setUp()
  const methods = Object.entries(client).flatMap(([resource, verbs]) =>
    Object.keys(verbs).map((verb) => `${resource}.${verb}`),
  )
  const routes = list.filter((route) => !isSigned(route)).map(({ resource, verb }) => `${resource}.${verb}`)
  expect(methods.sort()).toEqual(routes.sort())
})
