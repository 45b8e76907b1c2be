import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createApp } from '../../src/http/app.ts'
import { type Kit, startKit } from '../kit/index.ts'

const PATH = '/v1/subscribe/news'

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
})
afterAll(() => kit.close())

const may = (token: string, path = PATH) => kit.engine.streamTokens.authenticate(token, path)

test('a token has the rights of the key that requested it', async () => {
  const { key } = await kit.engine.keys.add({ name: 'page', scopes: ['read'] })
  expect(await may((await kit.engine.streamTokens.create(key, PATH)).token)).toMatchObject({
    name: 'page',
    scopes: ['read'],
  })
  const { token } = await kit.engine.streamTokens.create('dev', PATH)
  expect(await may(token)).toMatchObject({ name: 'deployment', scopes: ['admin'] })
})

test('a token is valid for one address, and reveals nothing about its key', async () => {
  const { token } = await kit.engine.streamTokens.create('dev', PATH)
  expect(await may(token, '/v1/subscribe/other')).toBeUndefined()
  expect(token).not.toContain('dev')
  expect(token.length).toBeLessThan(100)
})

test('a changed token, or a token for an unknown key, gives no access', async () => {
  const { token } = await kit.engine.streamTokens.create('dev', PATH)
  const [id, until, proof] = token.split('.') as [string, string, string]
  const changed = proof.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  for (const bad of [`${id}.${until}.${changed}`, `${id}.${Number(until) + 1}.${proof}`, `${id}.${until}.`, '', 'x'])
    expect(await may(bad)).toBeUndefined()
  expect(await may((await kit.engine.streamTokens.create('nobody', PATH)).token)).toBeUndefined()
})

test('a token ends after a minute, and with its key', async () => {
  const { id, key } = await kit.engine.keys.add({ name: 'page', scopes: ['read'] })
  const { token, expiresAt } = await kit.engine.streamTokens.create(key, PATH)
  expect(expiresAt - kit.now()).toBeLessThanOrEqual(60_000)
  await kit.advance(59_000)
  expect(await may(token)).toBeDefined()
  await kit.advance(1_001)
  expect(await may(token)).toBeUndefined()
  const fresh = await kit.engine.streamTokens.create(key, PATH)
  await kit.engine.keys.remove(id)
  expect(await may(fresh.token)).toBeUndefined()
})

test('a person who can read Redis cannot create a token, and no token is valid for more than 30 days', async () => {
  const { createHmac } = await import('node:crypto')
  const { id, key } = await kit.engine.keys.add({ name: 'page', scopes: ['read'] })
  const { hash } = JSON.parse((await kit.store.apiKey(id))!) as { hash: string }
  const until = kit.now() + 60_000
  for (const secret of [hash, '', 'dev']) {
    const proof = createHmac('sha256', secret).update(`GET ${PATH} until ${until}`).digest('hex')
    expect(await may(`${id}.${until}.${proof}`)).toBeUndefined()
  }
  const DAY = 86_400_000
  expect(await may((await kit.engine.streamTokens.create(key, PATH, 30 * DAY)).token)).toBeDefined()
  expect(await may((await kit.engine.streamTokens.create(key, PATH, 31 * DAY)).token)).toBeUndefined()
})

test('a token is valid in all isolates of its deployment, and in no other deployment', async () => {
  const isolate = (tokenSecret: string) => createEngine({ ...kit.engineOptions, tokenSecret })
  const { token } = await isolate('one').streamTokens.create('dev', PATH)
  expect(await isolate('one').streamTokens.authenticate(token, PATH)).toBeDefined()
  expect(await isolate('two').streamTokens.authenticate(token, PATH)).toBeUndefined()
})

const appOf = (origins?: string[]) =>
  createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1', origins })

test('only a page of an allowed origin can read a stream', async () => {
  const app = appOf(['https://app.example.com'])
  const shared = async (origin: string) => {
    const { token } = await kit.engine.streamTokens.create('dev', PATH)
    const answer = await app.request(`${PATH}?token=${token}`, { headers: { origin } })
    await answer.body?.cancel()
    return [answer.status, answer.headers.get('access-control-allow-origin')]
  }
  expect(await shared('https://app.example.com')).toEqual([200, 'https://app.example.com'])
  expect(await shared('https://evil.example')).toEqual([200, null])
})

test('a page can send a reason, a trace and If-Match with the client, and can read the hash of a graph', async () => {
  const app = appOf(['*'])
  const origin = 'https://app.example.com'
  const sent: string[] = []
  const fetch = async (request: Request) => {
    sent.push(...request.headers.keys())
    return Response.json({})
  }
  const client = createClient({ url: origin, key: 'k', fetch, reason: 'r', traceparent: () => 't' })
  await client.queues.patch('mail', { paused: true }, { ifMatch: 'h' })
  const preflight = await app.request('/v1/queues/mail', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PATCH' },
  })
  const allowed = preflight.headers.get('access-control-allow-headers')!.split(', ')
  expect(sent.filter((name) => !allowed.includes(name))).toEqual([])
  const answer = await app.request('/health', { headers: { origin } })
  expect(answer.headers.get('access-control-expose-headers')!.split(', ')).toContain('etag')
})

test('a page of an allowed origin can call the API after a preflight request, and can read errors', async () => {
  const app = appOf(['https://app.example.com'])
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  const preflight = (origin: string) => app.request('/v1/jobs', { method: 'OPTIONS', headers: { ...asked, origin } })
  const yes = await preflight('https://app.example.com')
  expect([yes.status, yes.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example.com'])
  expect(yes.headers.get('access-control-allow-headers')).toContain('idempotency-key')
  expect(yes.headers.get('access-control-allow-credentials')).toBeNull()
  const no = await preflight('https://evil.example')
  expect([no.status >= 400, no.headers.get('access-control-allow-origin')]).toEqual([true, null])
  const error = await app.request('/v1/jobs/7', { headers: { origin: 'https://app.example.com' } })
  expect([error.status, error.headers.get('access-control-allow-origin')]).toEqual([401, 'https://app.example.com'])
  expect(error.headers.get('vary')).toBe('origin')
  const none = await appOf().request('/health', { headers: { origin: 'https://app.example.com' } })
  expect([none.headers.get('access-control-allow-origin'), none.headers.get('vary')]).toEqual([null, null])
})

async function question(life?: string) {
  await kit.engine.workers.register('q', 'approval', { in: { decision: {}, other: {} }, pull: true })
  const job = await kit.make('approval', { queue: 'q', wait: 31_536_000_000 })
  const app = appOf()
  const made = await app.request(`/v1/jobs/${job}/links/decision`, {
    method: 'POST',
    headers: { authorization: 'Bearer dev', 'content-type': 'application/json' },
    body: JSON.stringify(life ? { for: life } : {}),
  })
  const { url } = (await made.json()) as { url: string }
  const answer = async (value: unknown, path = new URL(url).pathname + new URL(url).search) => {
    const headers = { 'content-type': 'application/json' }
    return (await app.request(path, { method: 'POST', headers, body: JSON.stringify({ value }) })).status
  }
  const values = async () => (await kit.engine.ports.get(String(job), 'in', 'decision')).values.map(({ data }) => data)
  return { job, url, answer, values }
}

test('a link writes one value to one port of one job, without a key', async () => {
  const { job, url, answer, values } = await question()
  expect(new URL(url).pathname).toBe(`/v1/answers/${job}/decision`)
  expect(await answer({ ok: true })).toBe(200)
  expect(await answer({ ok: true })).toBe(200)
  expect(await answer({ ok: false })).toBe(409)
  expect(await values()).toEqual(['{"ok":true}'])
  await kit.advance(2 * 86_400_000)
  expect(await answer({ ok: true })).toBe(200)
  expect(await values()).toEqual(['{"ok":true}'])
})

test('a link gives no other access, and expires', async () => {
  const { job, url, answer, values } = await question('2 hours')
  const { search } = new URL(url)
  expect(await answer(1, `/v1/answers/${job}/other${search}`)).toBe(401)
  expect(await answer(1, `/v1/answers/${job + 1}/decision${search}`)).toBe(401)
  const app = appOf()
  for (const path of [`/v1/jobs/${job}${search}`, `/v1/subscribe/news${search}`])
    expect((await app.request(path)).status, path).toBeGreaterThanOrEqual(400)
  await kit.advance(2 * 3_600_000 + 1_000)
  expect(await answer(1)).toBe(401)
  expect(await values()).toEqual([])
})

test('a page of another site cannot use a link in a browser, unless its origin is allowed', async () => {
  const { url, values } = await question()
  const path = new URL(url).pathname + new URL(url).search
  const body = JSON.stringify({ value: 1 })
  const json = { 'content-type': 'application/json' }
  const foreign = { ...json, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  const app = appOf(['https://app.example.com'])
  const answer = async (headers: Record<string, string>) => {
    const request = new Request(`http://127.0.0.1${path}`, {
      method: 'POST',
      headers,
      body: new TextEncoder().encode(body),
    })
    return (await app.fetch(request)).status
  }
  expect([await answer({}), await answer(foreign), await values()]).toEqual([415, 403, []])
  expect(await answer({ ...foreign, origin: 'https://app.example.com' })).toBe(200)
})

test('a link for a missing port is refused when it is created', async () => {
  const { job } = await question()
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json' }
  const made = (port: string, body: object) =>
    appOf().request(`/v1/jobs/${job}/links/${port}`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect((await made('nothing', {})).status).toBe(422)
  expect((await made('decision', { for: '31 days' })).status).toBe(400)
})

test('llms.txt is public, and names each route with its scope', async () => {
  const page = await appOf().request('/llms.txt')
  const text = await page.text()
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(text).toMatch(/^# sidejob\n\n> /)
  for (const line of ['- POST /v1/jobs (write): ', '- GET /v1/jobs/:job/why (read): ', '## queues'])
    expect(text).toContain(line)
  expect(text).not.toContain('/dispatch')
})
