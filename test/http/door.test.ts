import { encode } from '@msgpack/msgpack'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SidejobError } from '../../src/core/errors.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import type { AuditEntry, KnownKey } from '../../src/engine/engine.ts'
import type { Deps } from '../../src/http/deps.ts'
import { createGate } from '../../src/http/gate.ts'
import type { BadRequest } from './bad-input.ts'
import { fakeEngine, twoMessages } from './fake-engine.ts'
import { setUp } from './kit.ts'

const get = (path: string, more: Partial<BadRequest> = {}): BadRequest => ({ method: 'GET', path, ...more })
const post = (path: string, body = '{}'): BadRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'content-type': 'application/json' },
})

const withKey = (key: string) => ({ as: key as BadRequest['as'] })

function keyed(known: Partial<KnownKey>, verbs: Parameters<typeof fakeEngine>[0] = {}) {
  const { engine, calls } = fakeEngine(verbs)
  const key: KnownKey = { id: 'k1', name: 'ci', scopes: ['admin'], ...known }
  return { ...setUp({}, { engine: { ...engine, keys: { ...engine.keys, authenticate: async () => key } } }), calls }
}

afterEach(() => vi.useRealTimers())

async function* silent(signal: AbortSignal) {
  await new Promise((end) => signal.addEventListener('abort', end))
}

describe('rate limits', () => {
  test('a key beyond its limit learns when the next request is free', async () => {
    vi.useFakeTimers()
    const { ask } = keyed({ limits: { requestsPerSecond: 2 } })
    for (let i = 0; i < 4; i++) expect((await ask(get('/v1/queues'))).status).toBe(200)
    const refused = await ask(get('/v1/queues'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({
      error: { code: 'LIMITED', message: expect.stringContaining('2 per second') },
    })
    vi.advanceTimersByTime(500)
    expect((await ask(get('/v1/queues'))).status).toBe(200)
    expect((await ask(get('/v1/queues'))).status).toBe(429)
  })

  test('the refused requests of one key do not count against the other keys of its tenant', () => {
    const gate = createGate({})
    const count = (id: string, limits?: { requestsPerSecond: number }) =>
      gate.count({ id, limits, tenant: 'acme', tenantLimits: { requestsPerSecond: 2 } })
    count('greedy', { requestsPerSecond: 1 })
    count('greedy', { requestsPerSecond: 1 })
    for (let i = 0; i < 10; i++) expect(() => count('greedy', { requestsPerSecond: 1 })).toThrow('with this API key')
    count('modest')
    count('modest')
    expect(() => count('modest')).toThrow('requests of tenant acme')
  })

  test('the key of the deployment has no limit', async () => {
    const { ask } = keyed({ limits: { requestsPerSecond: 1 }, unlimited: true })
    for (let i = 0; i < 20; i++) expect((await ask(get('/v1/queues'))).status).toBe(200)
  })

  test('a key has at most 500 open streams and long polls, and can open another when one closes', async () => {
    const ends: (() => void)[] = []
    const result = () => new Promise<null>((end) => ends.push(() => end(null)))
    const { ask } = keyed({}, { jobs: { result } } as never)
    const poll = () => ask(get('/v1/jobs/7/result?wait=30'))
    const open = Array.from({ length: 500 }, poll)
    await vi.waitFor(() => expect(ends.length).toBe(500))
    const refused = await poll()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await refused.json()).toMatchObject({
      error: { code: 'LIMITED', message: expect.stringContaining('at most 500 open streams and long polls') },
    })
    ends[0]!()
    // The polls are not admitted in the order of their calls.
    await Promise.race(open)
    const next = poll()
    await vi.waitFor(() => expect(ends.length).toBe(501))
    for (const end of ends) end()
    await Promise.all([...open, next])
  })

  test('the channel / has at most 50 listeners, of all keys together', async () => {
    const subscribe = async (_: unknown, signal: AbortSignal) => silent(signal)
    const { ask } = keyed({}, { channels: { subscribe } } as never)
    const listen = (path: string) => ask(get(path))
    const open = await Promise.all(Array.from({ length: 50 }, () => listen('/v1/subscribe?channel=/')))
    expect(open.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect((await listen('/v1/subscribe?channel=/a&channel=/')).status).toBe(429)
    const other = await listen('/v1/subscribe?channel=/a')
    expect(other.status).toBe(200)
    await open[0]!.body!.cancel()
    await vi.waitFor(async () => {
      const again = await listen('/v1/subscribe?channel=/')
      expect(again.status).toBe(200)
      await again.body!.cancel()
    })
    for (const { body } of [...open.slice(1), other]) await body!.cancel()
  })

  describe('unknown callers', () => {
    function counting(deps: Partial<Deps> = {}) {
      const looked = { keys: 0, tokens: 0, sessions: 0, tenants: 0 }
      const { engine } = fakeEngine({
        keys: {
          authenticate: async (key) => {
            looked.keys++
            return key === 'right' ? { id: 'k1', name: 'ci', scopes: ['admin'] } : undefined
          },
        },
        streamTokens: { authenticate: async () => void looked.tokens++ },
        sessions: {
          get: async () => void looked.sessions++,
          redeem: async () => void looked.sessions++,
          peek: async () => void looked.sessions++,
        },
      })
      const open = async () => void looked.tenants++
      const made = setUp({}, {
        engine,
        dashboard: dashboard(),
        tenants: { open, tick: () => engine.tick(), erase: async () => ({ keys: 0, files: 0, cursor: null }) },
        ...deps,
      } as object)
      const from = (address: string, path = '/v1/queues', more: Partial<BadRequest> = {}) =>
        made.ask(get(path, { ...more, headers: { 'cf-connecting-ip': address, ...more.headers } }))
      const times = async (n: number, ask: (i: number) => Promise<Response>) => {
        const seen: number[] = []
        for (let i = 0; i < n; i++) seen.push((await ask(i)).status)
        return seen
      }
      return { looked, from, times }
    }

    test.each<[string, (i: number) => [path: string, more?: Partial<BadRequest>]]>([
      ['wrong keys', (i) => ['/v1/queues', withKey(`wrong${i}`)]],
      ['keys of made-up tenants', (i) => ['/v1/queues', withKey(`sj_t${i}_${'0'.repeat(44)}`)]],
      ['made-up tokens', (i) => [`/v1/subscribe/a?token=${i}.1.f`, { as: 'none' }]],
      ['made-up cookies', (i) => ['/ui/jobs', { as: 'none', headers: { cookie: `sidejob_session=${i}` } }]],
      ['made-up login links', (i) => [`/ui/login?once=${i}`, { as: 'none' }]],
      ['addresses of made-up tenants', (i) => [`/t/t${i}/health`, { as: 'none' }]],
    ])('%s are looked up 30 times, then refused before the lookup', async (_, asked) => {
      const { looked, from, times } = counting()
      const statuses = await times(200, (i) => from('203.0.113.7', ...asked(i)))
      expect(statuses.slice(0, 30)).not.toContain(429)
      expect(new Set(statuses.slice(40))).toEqual(new Set([429]))
      expect(Math.max(...Object.values(looked))).toBeLessThanOrEqual(32)
    })

    test('are counted together per address, and an IPv6 /64 network counts as one address', async () => {
      const { from, times } = counting()
      await times(15, (i) => from('2001:db8:0:1::1', '/v1/queues', withKey(`wrong${i}`)))
      await times(15, (i) => from(`2001:db8::1:${i}:2:3:4`, `/t/t${i}/health`, { as: 'none' }))
      expect((await from('2001:db8:0:1:ffff::', '/v1/queues', withKey('other'))).status).toBe(429)
      expect((await from('2001:db8:0:2::1', '/v1/queues', withKey('other'))).status).toBe(401)
      expect((await from('203.0.113.8', '/v1/queues', withKey('other'))).status).toBe(401)
    })

    test('do not lock out a known key at the same address, nor slow down a right key', async () => {
      const { from, times } = counting()
      expect(new Set(await times(100, () => from('203.0.113.7', '/v1/queues', withKey('right'))))).toEqual(
        new Set([200]),
      )
      const statuses = await times(40, (i) => from('203.0.113.7', '/v1/queues', withKey(`wrong${i}`)))
      expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(30)
      expect((await from('203.0.113.7', '/v1/queues', withKey('right'))).status).toBe(200)
    })

    test('also pass the rate limit of the platform', async () => {
      const asked: string[] = []
      const limiter = async (address: string) => asked.push(address) < 3
      const { from, times } = counting({ limiter })
      expect(await times(4, (i) => from('203.0.113.7', '/v1/queues', withKey(`wrong${i}`)))).toEqual([
        401, 401, 429, 429,
      ])
      expect(asked).toEqual(Array(4).fill('203.0.113.7'))
    })
  })

  test('/health asks Redis once a second, for any number of unknown callers', async () => {
    let asked = 0
    const { ask } = setUp({ health: async () => ({ ok: true, redis: true, version: `${asked++}` }) })
    for (let i = 0; i < 50; i++) expect((await ask(get('/health', { as: 'none' }))).status).toBe(200)
    expect(asked).toBeLessThanOrEqual(2)
  })

  test('a signed route reads at most 64 KiB, and no body without a signature', async () => {
    const { ask } = setUp()
    const body = `{"bell":"${'x'.repeat(70_000)}"}`
    const bell = (sign?: object): BadRequest => ({ ...post('/dispatch/default', body), as: 'none', sign })
    expect((await ask(bell({}))).status).toBe(413)
    expect((await ask(bell())).status).toBe(401)
  })
})

describe('the audit log', () => {
  test('admin changes and forced actions are recorded before they happen', async () => {
    const written: AuditEntry[] = []
    const { ask, calls } = keyed({}, { audit: { write: async (entry) => void written.push(entry) } })
    await ask(post('/v1/keys', '{"name":"x","scopes":["read"]}'))
    await ask({ ...get('/v1/jobs/7?force=true'), method: 'DELETE' })
    await ask({ ...get('/v1/jobs/7'), method: 'DELETE' })
    await ask(get('/v1/audit'))
    expect(written).toEqual([
      {
        by: 'key:k1',
        name: 'ci',
        verb: 'keys.add',
        method: 'POST',
        path: '/v1/keys',
        change: '{"name":"x","scopes":["read"]}',
      },
      { by: 'key:k1', name: 'ci', verb: 'jobs.remove', method: 'DELETE', path: '/v1/jobs/7?force=true' },
      { by: 'key:k1', name: 'ci', verb: 'jobs.remove', method: 'DELETE', path: '/v1/jobs/7' },
    ])
    expect(calls.map(({ verb }) => verb)).toEqual(['keys.add', 'jobs.remove', 'jobs.remove', 'audit.read'])
  })

  test('a change is recorded with its settings and its reason; jobs and values are not changes', async () => {
    const written: AuditEntry[] = []
    const { ask, calls } = keyed({}, { audit: { write: async (entry) => void written.push(entry) } })
    const json = { 'content-type': 'application/json' }
    const headers = { ...json, 'sidejob-reason': encodeURIComponent('DHL is down – ask Zoë') }
    await ask({ ...post('/v1/queues/mail', '{"paused":true}'), method: 'PATCH', headers })
    await ask(post('/v1/jobs/7/retry', '{}'))
    await ask(post('/v1/jobs', '{"class":"zip"}'))
    await ask(post('/v1/jobs/7/in/in', '{"value":1}'))
    expect(written).toMatchObject([
      { verb: 'queues.patch', path: '/v1/queues/mail', change: '{"paused":true}', reason: 'DHL is down – ask Zoë' },
      { verb: 'jobs.retry', path: '/v1/jobs/7/retry' },
    ])
    expect(written[1]).not.toHaveProperty('change')
    expect(calls.map(({ verb }) => verb)).toEqual([
      'queues.get',
      'queues.update',
      'jobs.retry',
      'jobs.enqueue',
      'ports.write',
    ])
    for (const given of ['%E0%A4%A', 'x'.repeat(201)]) {
      const refused = await ask({ ...post('/v1/jobs/7/retry', '{}'), headers: { ...json, 'sidejob-reason': given } })
      expect([refused.status, (await refused.json()).error.path]).toEqual([400, ['Sidejob-Reason']])
    }
    expect(calls).toHaveLength(5)
  })

  test('a change in MessagePack is recorded as JSON, without former values if they cannot be read', async () => {
    const written: AuditEntry[] = []
    const failing = (error: Error) =>
      keyed({}, {
        audit: { write: async (entry: AuditEntry) => void written.push(entry) },
        queues: { get: () => Promise.reject(error) },
      } as never)
    const headers = { 'content-type': 'application/x-msgpack' }
    const body = encode({ paused: true }) as never
    for (const error of [new Error('timeout'), new SidejobError('NOT_FOUND', 'none')])
      await failing(error).ask({ ...post('/v1/queues/mail'), method: 'PATCH', headers, body })
    const change = '{"paused":true}'
    expect(written.map(({ change, was }) => ({ change, was }))).toEqual([
      { change, was: undefined },
      { change, was: '{"paused":null}' },
    ])
  })

  test('an admin change through the API of an older system is recorded too', async () => {
    const written: AuditEntry[] = []
    const { ask } = keyed({}, { audit: { write: async (entry) => void written.push(entry) } })
    await ask({ ...get('/jq/constraints/mail'), method: 'DELETE' })
    await ask(post('/jq/jobs', '{"name":"zip"}'))
    expect(written).toMatchObject([
      { by: 'key:k1', verb: 'jq.removeConstraint', method: 'DELETE', path: '/jq/constraints/mail' },
    ])
  })

  test('a change through the API of an older system is recorded even if the caller adds preview=1', async () => {
    const written: AuditEntry[] = []
    const { ask, calls } = keyed({}, { audit: { write: async (entry) => void written.push(entry) } })
    await ask({ ...get('/jq/constraints/mail?preview=1'), method: 'DELETE' })
    expect([written.map(({ path }) => path), calls.length]).toEqual([['/jq/constraints/mail?preview=1'], 1])
  })

  test('a preview is not recorded, because it changes nothing; only a route with previews has one', async () => {
    const written: AuditEntry[] = []
    const { ask, calls } = keyed({}, { audit: { write: async (entry) => void written.push(entry) } })
    await ask({ ...post('/v1/limits/stripe?preview=true', '{"concurrency":2}'), method: 'PUT' })
    await ask({ ...post('/v1/limits/stripe?preview=false', '{"concurrency":2}'), method: 'PUT' })
    expect(calls.map(({ verb, args }) => [verb, args[2]])).toEqual([
      ['limits.set', { preview: true }],
      ['limits.get', undefined],
      ['limits.set', { preview: false }],
    ])
    expect(written.map(({ path }) => path)).toEqual(['/v1/limits/stripe?preview=false'])
    const refused = await ask({ ...get('/v1/limits/stripe?preview=true'), method: 'DELETE' })
    expect([refused.status, (await refused.json()).error.path, calls.length]).toEqual([400, ['preview'], 3])
  })

  test('an action that cannot be recorded does not happen', async () => {
    const { ask, calls } = keyed({}, { audit: { write: () => Promise.reject(new Error('no Redis')) } })
    expect((await ask(post('/v1/keys', '{"name":"x","scopes":["read"]}'))).status).toBe(500)
    expect(calls).toEqual([])
  })

  test('the engine receives the key and its quota', async () => {
    const about = async (known: object) => {
      const { ask, calls } = keyed(known)
      await ask(post('/v1/jobs', '{"class":"zip"}'))
      return calls[0]!.args[1]
    }
    expect(await about({})).toEqual({ by: 'key:k1', quota: { jobs: 250_000, bytes: 268_435_456 } })
    expect(await about({ limits: { jobs: 5 } })).toEqual({ by: 'key:k1', quota: { jobs: 5, bytes: 268_435_456 } })
    expect(await about({ unlimited: true })).toEqual({ by: 'key:k1' })
  })
})

describe('a stream', () => {
  async function listening(knows: () => Promise<boolean>) {
    vi.useFakeTimers()
    const { engine } = fakeEngine({
      keys: { isActive: knows },
      channels: {
        subscribe: async (_, signal) => silent(signal),
      },
    })
    const { ask } = setUp({}, { engine })
    const answer = await ask(get('/v1/subscribe/a'))
    let isOver = false
    const text = answer.text().then((sent) => {
      isOver = true
      return sent
    })
    return { text, isOver: () => isOver }
  }

  test('a message that is sent as soon as the client has its stream is not missed', async () => {
    const opening = Promise.withResolvers<AsyncIterable<{ channel: string; message: string }>>()
    const { engine } = fakeEngine({ channels: { subscribe: () => opening.promise } })
    const { ask } = setUp({}, { engine })
    let isOpen = false
    const answer = Promise.resolve(ask(get('/v1/subscribe/a'))).finally(() => {
      isOpen = true
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isOpen).toBe(false)
    opening.resolve(twoMessages('/a'))
    expect(await (await answer).text()).toContain('"message":[1]')
  })

  test('is refused if Redis refuses the subscription', async () => {
    const refused = new SidejobError('UNAVAILABLE', 'Redis refused the subscription: 500')
    const { engine } = fakeEngine({ channels: { subscribe: () => Promise.reject(refused) } })
    const answer = await setUp({}, { engine }).ask(get('/v1/subscribe/a'))
    expect([answer.status, (await answer.json()).error.message]).toEqual([503, refused.message])
  })

  test('ends at the next heartbeat after its key was removed', async () => {
    let known = true
    const { text, isOver } = await listening(async () => known)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(isOver()).toBe(false)
    known = false
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await text).toBe(': here\n\n: here\n\n')
  })

  test('continues while the key cannot be verified', async () => {
    const { isOver } = await listening(() => Promise.reject(new Error('no Redis')))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(isOver()).toBe(false)
  })

  test('ends after an hour', async () => {
    const { isOver } = await listening(async () => true)
    await vi.advanceTimersByTimeAsync(3_599_000)
    expect(isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(isOver()).toBe(true)
  })
})

describe('every answer', () => {
  test('names its type, and forbids caching', async () => {
    const { ask } = setUp()
    for (const path of [
      '/v1/queues',
      '/docs',
      '/nothing',
      '/downloader/hb',
      '/downloader/stats/processor',
      '/metrics',
    ]) {
      const { headers } = await ask(get(path))
      expect([path, headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        path,
        'nosniff',
        'no-referrer',
      ])
      expect(headers.get('cache-control')).not.toBeNull()
    }
  })

  test('forbids plain http if it is sent over https', async () => {
    const { app } = setUp()
    expect((await app.request('https://jobs.example.com/health')).headers.get('strict-transport-security')).toContain(
      'max-age',
    )
    expect((await app.request('http://127.0.0.1/health')).headers.has('strict-transport-security')).toBe(false)
  })
})
