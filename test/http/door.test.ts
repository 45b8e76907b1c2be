// The door: how much each key may ask for, who is written down, and how long a stream stays open.

import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AuditEntry, KnownKey } from '../../src/engine/engine.ts'
import type { BadRequest } from './bad-input.ts'
import { fakeEngine } from './fake-engine.ts'
import { setUp } from './kit.ts'

const get = (path: string, more: Partial<BadRequest> = {}): BadRequest => ({ method: 'GET', path, ...more })
const post = (path: string, body = '{}'): BadRequest => ({
  method: 'POST',
  path,
  body,
  headers: { 'content-type': 'application/json' },
})

/** An app whose one key is this. */
function keyed(known: Partial<KnownKey>, verbs: Parameters<typeof fakeEngine>[0] = {}) {
  const { engine, calls } = fakeEngine(verbs)
  const key: KnownKey = { id: 'k1', name: 'ci', scopes: ['admin'], ...known }
  return { ...setUp({}, { engine: { ...engine, authenticate: async () => key } }), calls }
}

afterEach(() => vi.useRealTimers())

describe('how much', () => {
  test('a key that asks for more than its limit is told when the next request is free', async () => {
    vi.useFakeTimers()
    const { ask } = keyed({ limits: { requestsPerSecond: 2 } })
    for (let i = 0; i < 4; i++) expect((await ask(get('/v1/queues'))).status).toBe(200)
    const refused = await ask(get('/v1/queues'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({
      error: { code: 'LIMITED', message: expect.stringContaining('2 a second') },
    })
    vi.advanceTimersByTime(500)
    expect((await ask(get('/v1/queues'))).status).toBe(200)
    expect((await ask(get('/v1/queues'))).status).toBe(429)
  })

  test('the key of the deployment has no limit', async () => {
    const { ask } = keyed({ limits: { requestsPerSecond: 1 }, unlimited: true })
    for (let i = 0; i < 20; i++) expect((await ask(get('/v1/queues'))).status).toBe(200)
  })

  test('an address that keeps coming with wrong keys is not looked up any more, and others are', async () => {
    let asked = 0
    const { engine } = fakeEngine()
    const authenticate = async () => {
      asked++
      return undefined
    }
    const { ask } = setUp({}, { engine: { ...engine, authenticate } })
    const from = (address: string) => ask(get('/v1/queues', { headers: { 'cf-connecting-ip': address } }))
    for (let i = 0; i < 30; i++) expect((await from('203.0.113.7')).status).toBe(401)
    expect((await from('203.0.113.7')).status).toBe(429)
    expect(asked).toBe(31)
    expect((await from('203.0.113.8')).status).toBe(401)
  })

  test('a signed route reads at most 64 KiB, and nothing without a signature', async () => {
    const { ask } = setUp()
    const body = `{"bell":"${'x'.repeat(70_000)}"}`
    const bell = (sign?: object): BadRequest => ({ ...post('/dispatch/default', body), as: 'none', sign })
    expect((await ask(bell({}))).status).toBe(413)
    expect((await ask(bell())).status).toBe(401)
  })
})

describe('who', () => {
  test('what an admin changes, and what is forced, is written down before it is done', async () => {
    const written: AuditEntry[] = []
    const { ask, calls } = keyed({}, { audit: async (entry) => void written.push(entry) })
    await ask(post('/v1/keys', '{"name":"x","scopes":["read"]}'))
    await ask({ ...get('/v1/jobs/7?force=true'), method: 'DELETE' })
    await ask({ ...get('/v1/jobs/7'), method: 'DELETE' })
    await ask(get('/v1/audit'))
    expect(written).toEqual([
      { by: 'key:k1', name: 'ci', verb: 'keys.add', method: 'POST', path: '/v1/keys' },
      { by: 'key:k1', name: 'ci', verb: 'jobs.remove', method: 'DELETE', path: '/v1/jobs/7?force=true' },
    ])
    expect(calls.map(({ verb }) => verb)).toEqual(['addKey', 'remove', 'remove', 'readAudit'])
  })

  test('what cannot be written down is not done', async () => {
    const { ask, calls } = keyed({}, { audit: () => Promise.reject(new Error('no Redis')) })
    expect((await ask(post('/v1/keys', '{"name":"x","scopes":["read"]}'))).status).toBe(500)
    expect(calls).toEqual([])
  })

  test('the engine is told which key asks, and what that may have waiting', async () => {
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
  /** A stream that nobody says anything on; what it has sent so far. */
  async function listening(knows: () => Promise<boolean>) {
    vi.useFakeTimers()
    const { engine } = fakeEngine({
      knows,
      async *subscribe(_, signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
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

  test('ends with the beat after its key was removed', async () => {
    let known = true
    const { text, isOver } = await listening(async () => known)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(isOver()).toBe(false)
    known = false
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await text).toBe(': here\n\n: here\n\n')
  })

  test('goes on while nobody can say whether its key is known', async () => {
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
  test('says that its type is what it says, and that nobody keeps it', async () => {
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

  test('over https says that it stays so', async () => {
    const { app } = setUp()
    expect((await app.request('https://jobs.example.com/health')).headers.get('strict-transport-security')).toContain(
      'max-age',
    )
    expect((await app.request('http://127.0.0.1/health')).headers.has('strict-transport-security')).toBe(false)
  })
})
