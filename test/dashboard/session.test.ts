import { afterAll, beforeAll, expect, test } from 'vitest'
import { KEY, startPages } from './kit.ts'

let pages: Awaited<ReturnType<typeof startPages>>

beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())

const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const cookiesOf = (answer: Response): string[] => answer.headers.getSetCookie()

test('a key opens a session of 12 hours that scripts cannot read, and Redis stores only hashes', async () => {
  const { answer, cookie } = await pages.enterWith(KEY)
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/ui/')
  const session = cookiesOf(answer).find((one) => one.startsWith('sidejob_session='))!
  expect(session.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/ui', 'SameSite=Strict'])
  const name = /sidejob_session=(\w+)/.exec(cookie)![1]!
  expect(name).toMatch(/^[0-9a-f]{64}$/)
  expect(await pages.engine.sessions.get(name)).toMatchObject({ name: 'deployment', scopes: ['admin'] })
  expect(await pages.store.session(name)).toBeNull()
})

test('the cookie is Secure unless the host is a loopback address', async () => {
  const form = new FormData()
  form.set('key', KEY)
  const answer = await pages.app.request('http://jobs.example.com/ui/login', {
    method: 'POST',
    body: form,
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  for (const cookie of cookiesOf(answer)) expect(cookie).toContain('Secure')
})

test('a wrong key shows an error, and creates no session', async () => {
  const { answer } = await pages.enterWith('sj_wrong')
  expect(answer.status).toBe(401)
  expect(cookiesOf(answer)).toEqual([])
  expect(await answer.text()).toContain('This API key is unknown')
})

test('a form of another site cannot log in', async () => {
  const form = new FormData()
  form.set('key', KEY)
  const answer = await pages.ask('/ui/login', {
    method: 'POST',
    body: form,
    headers: { 'sec-fetch-site': 'cross-site' },
  })
  expect(answer.status).toBe(403)
  expect(cookiesOf(answer)).toEqual([])
})

test('a user without a session gets the login page, and then the requested page', async () => {
  const answer = await pages.ask('/ui/jobs?status=failed')
  expect(answer.headers.get('location')).toBe('/ui/login?to=%2Fjobs%3Fstatus%3Dfailed')
  expect(await (await pages.ask('/ui/login?to=%2Fjobs%3Fstatus%3Dfailed')).text()).toContain(
    'value="/jobs?status=failed"',
  )
})

test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/login?to=/x'])(
  'a login does not lead to %s',
  async (to) => {
    expect(await (await pages.ask(`/ui/login?to=${encodeURIComponent(to)}`)).text()).toContain('name="to" value="/"')
  },
)

test('a link from another website, which omits the strict cookie, loads the page again', async () => {
  const answer = await pages.ask('/ui/jobs', { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('http-equiv="refresh"')
})

test('a link that npm start prints logs in only once', async () => {
  const made = await pages.ask('/ui/login-links', { method: 'POST', headers: { authorization: `Bearer ${KEY}` } })
  const { url } = (await made.json()) as { url: string }
  const path = url.slice(url.indexOf('/ui'))
  const name = new URL(url).searchParams.get('once')!
  expect(await pages.engine.sessions.get(name)).toBeUndefined()
  for (const method of ['HEAD', 'GET']) {
    const opened = await pages.ask(path, { method, headers: { 'sec-fetch-site': 'cross-site' } })
    expect([opened.status, cookiesOf(opened)]).toEqual([200, []])
  }
  expect(await (await pages.ask(path)).text()).toContain('Log in as deployment')
  const press = (site = 'same-origin') => {
    const body = new URLSearchParams({ once: name, to: '/jobs' })
    return pages.ask('/ui/login', { method: 'POST', body, headers: { 'sec-fetch-site': site } })
  }
  expect((await press('cross-site')).status).toBe(403)
  const first = await press()
  expect([first.status, first.headers.get('location')]).toEqual([303, '/ui/jobs'])
  expect(cookiesOf(first).join()).toContain('sidejob_session=')
  for (const second of [await press(), await pages.ask(path)]) {
    expect(second.status).toBe(401)
    expect(cookiesOf(second)).toEqual([])
  }
})

test('logins, links and the end of a session are in the audit', async () => {
  const { id, key } = await pages.engine.keys.add({ name: 'audited', scopes: ['read'] })
  const made = await pages.ask('/ui/login-links', { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  const once = new URL(((await made.json()) as { url: string }).url).searchParams.get('once')!
  const headers = { 'sec-fetch-site': 'same-origin' }
  await pages.ask('/ui/login', { method: 'POST', body: new URLSearchParams({ once }), headers })
  const visitor = await pages.enterWith(key)
  await visitor.act('/ui/logout', { csrf: visitor.csrf })
  const { entries } = await pages.engine.audit.read({})
  const own = entries.filter(({ by }) => by === `key:${id}`).reverse()
  expect(own.map(({ verb, name }) => [verb, name])).toEqual(
    ['link', 'redeem', 'open', 'end'].map((act) => [`sessions.${act}`, 'audited']),
  )
})

test("a key above its rate of requests is refused on pages, in the dashboard's API and in the API", async () => {
  const { key } = await pages.engine.keys.add({ name: 'slow', scopes: ['read'], limits: { requestsPerSecond: 3 } })
  const { get } = await pages.enterWith(key)
  const statuses: number[] = []
  for (let i = 0; i < 5; i++)
    for (const asked of [get('/ui/jobs'), get('/ui/v1/queues'), pages.ask('/v1/queues', withKey(key))])
      statuses.push((await asked).status)
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(8)
  expect(statuses.slice(-3)).toEqual([429, 429, 429])
})

test('a session is refused at the address of another tenant', async () => {
  const { get } = await pages.enterWith(KEY)
  for (const path of ['/ui/v1/jobs', '/ui/jobs']) expect((await get(`/t/other${path}`)).status).toBe(404)
})

test('a session ends when its key is removed or the user logs out', async () => {
  const { key, id } = await pages.engine.keys.add({ name: 'short', scopes: ['read'] })
  const one = await pages.enterWith(key)
  expect((await one.get('/ui/jobs')).status).toBe(200)
  await pages.engine.keys.remove(id)
  expect((await one.get('/ui/jobs')).status).toBe(303)

  const other = await pages.enterWith(KEY)
  const left = await other.act('/ui/logout', { csrf: other.csrf })
  expect(left.headers.get('location')).toBe('/ui/login')
  expect((await other.get('/ui/jobs')).status).toBe(303)
})

test('an ended session led to the login page without a reason, and without the name of the page that follows', async () => {
  const { key, id } = await pages.engine.keys.add({ name: 'ended', scopes: ['read'] })
  const { get } = await pages.enterWith(key)
  await pages.engine.keys.remove(id)
  const to = (await get('/ui/jobs?status=failed')).headers.get('location')!
  expect(to).toBe('/ui/login?ended=1&to=%2Fjobs%3Fstatus%3Dfailed')
  expect(await (await pages.ask(to)).text()).toMatch(/Your session has ended\.<\/b> Log in to return to Jobs\./)
  const first = (await pages.ask('/ui/jobs')).headers.get('location')!
  expect(await (await pages.ask(first)).text()).not.toContain('session has ended')
})

test("the API accepts no cookie, and the dashboard's API accepts only a cookie", async () => {
  const { cookie, get } = await pages.enterWith(KEY)
  expect((await pages.ask('/v1/jobs', { headers: { cookie } })).status).toBe(401)
  expect((await get('/ui/v1/jobs')).status).toBe(200)
  const withKey = await pages.ask('/ui/v1/jobs', { headers: { authorization: `Bearer ${KEY}` } })
  expect(withKey.status).toBe(401)
})

test.each([
  ['no proof', { 'x-csrf': '' }],
  ['the proof of another session', { 'x-csrf': 'f'.repeat(64) }],
  ['a foreign page', { 'sec-fetch-site': 'cross-site' }],
  ['a page of a neighbour', { 'sec-fetch-site': 'same-site' }],
])('a change with %s is refused by the API and by forms', async (_, headers) => {
  const { cookie, csrf, act } = await pages.enterWith(KEY)
  const sent = {
    cookie,
    'x-csrf': csrf,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    ...headers,
  }
  const body = JSON.stringify({ paused: true })
  expect((await pages.ask('/ui/v1/queues/default', { method: 'PATCH', headers: sent, body })).status).toBe(403)
  expect((await act('/ui/jobs', { act: 'selected', do: 'retry', sel: '1' }, headers)).status).toBe(403)
})

test("a session has the scopes of its key, also in the dashboard's API", async () => {
  const { get, cookie, csrf } = await pages.enter(['read'])
  expect((await get('/ui/v1/jobs')).status).toBe(200)
  const answer = await pages.ask('/ui/v1/jobs', {
    method: 'POST',
    headers: { cookie, 'x-csrf': csrf, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'any' }),
  })
  expect(answer.status).toBe(403)
})
