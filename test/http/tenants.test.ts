import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf } from '../../src/cloudflare/tenants.ts'
import { newKey } from '../../src/core/crypto.ts'
import type { SidejobError } from '../../src/core/errors.ts'
import type { Bucket, Downloads } from '../../src/core/files.ts'
import { addressOf, namespaceOf } from '../../src/core/tenant.ts'
import { createSessionDoor, type Seen } from '../../src/dashboard/session.ts'
import type { Scope } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/index.ts'
import { createEngine } from '../../src/engine/index.ts'
import { facades } from '../../src/facades/index.ts'
import { createFiles, type R2, r2Bucket } from '../../src/files.ts'
import { createApp } from '../../src/http/app.ts'
import { createDoor } from '../../src/http/door.ts'
import { createGate } from '../../src/http/gate.ts'
import { createPlaces, type Place } from '../../src/http/places.ts'
import { isSigned, type Route } from '../../src/http/route.ts'
import { list, listed } from '../../src/http/routes.ts'
import { defineWorker, port } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { fakeEngine } from './fake-engine.ts'

const requireAsWrangler = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { Miniflare, convertV4MiniflareOptions } = requireAsWrangler('miniflare') as typeof import('miniflare')

const HOUR = 3_600_000
const publicUrl = 'https://jobs.example.com'
const routes = [...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))]
const scopes: Scope[] = ['read', 'write', 'work', 'admin']

describe('each route, with each key, at each address', () => {
  const keys = new Map<string, { tenant?: string; scope: Scope }>()
  for (const tenant of [undefined, 'acme', 'globex'])
    for (const scope of scopes) keys.set(newKey(tenant), { tenant, scope })
  const placeOf = (tenant?: string): Place => {
    const authenticate: Engine['keys']['authenticate'] = async (key) => {
      const known = keys.get(key)
      return known && known.tenant === tenant ? { id: key, name: key, scopes: [known.scope] } : undefined
    }
    return {
      engine: fakeEngine({ keys: { authenticate } }).engine,
      publicUrl,
    }
  }
  const home = { ...placeOf(), verify: async () => true }
  const places: Record<string, Place> = { acme: placeOf('acme'), globex: placeOf('globex') }
  const tenants = {
    open: async (name: string) => places[name],
    tick: () => home.engine.tick(),
    erase: async () => ({ keys: 0, files: 0, cursor: null }),
  }
  const deps = { ...home, tenants }
  const admit = createDoor(deps, createGate({}))

  function expected(route: Route, key: { tenant?: string; scope: Scope } | undefined, address?: string): string {
    const there = address === undefined ? 'home' : places[address] ? address : 'NOT_FOUND'
    if (route.scope === 'open' || isSigned(route)) return there
    if (!key) return 'UNAUTHENTICATED'
    const may = route.scope === 'any' || key.scope === 'admin' || key.scope === route.scope
    if (key.tenant !== undefined) {
      if (address !== undefined && address !== key.tenant) return 'NOT_FOUND'
      return may ? key.tenant : 'FORBIDDEN'
    }
    if (address !== undefined && key.scope !== 'admin') return 'FORBIDDEN'
    return may || there === 'NOT_FOUND' ? there : 'FORBIDDEN'
  }

  async function found(route: Route, key: string | undefined, address?: string): Promise<string> {
    const path = `${address === undefined ? '' : `/t/${address}`}${route.path.replace(/:\w+/g, 'x')}`
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const request = new Request(`http://inside.test${path}`, { method: route.method, headers })
    try {
      const { place } = await admit(route, request)
      return place === deps ? 'home' : Object.keys(places).find((name) => places[name] === place)!
    } catch (error) {
      return (error as SidejobError).code
    }
  }

  const others: [string, string | undefined][] = [
    ['no key', undefined],
    ['a wrong key', newKey()],
    ['a wrong key of a tenant', newKey('acme')],
    ['a key of no tenant', newKey('nobody')],
  ]
  const asking: [string, string | undefined][] = [
    ...[...keys].map(([key, { tenant = 'home', scope }]): [string, string] => [`${scope} of ${tenant}`, key]),
    ...others,
  ]

  for (const route of routes)
    test(`${route.method} ${route.path}`, async () => {
      for (const [name, key] of asking)
        for (const address of [undefined, 'acme', 'globex', 'nobody'])
          expect([name, address, await found(route, key, address)]).toEqual([
            name,
            address,
            expected(route, key === undefined ? undefined : keys.get(key), address),
          ])
    })

  describe('with a session instead of a key, in the API of the pages', () => {
    const door = createSessionDoor()
    const sessionOf = (tenant: string | undefined, scope: Scope): Seen => {
      const place = tenant === undefined ? home : places[tenant]!
      const caller = { id: 's', name: 's', scopes: [scope], home: place.engine, ...(tenant ? { tenant } : {}) }
      return { place, caller, csrf: 'c' }
    }

    test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (_, route) => {
      const asked = (seen?: Seen) => {
        const request = new Request(`http://inside.test/ui${route.path.replace(/:\w+/g, 'x')}`, {
          method: route.method,
        })
        return door.admit(route, seen ? door.let(request, seen) : request).then(
          ({ place }) => place,
          (error: SidejobError) => error.code,
        )
      }
      expect(await asked()).toBe('UNAUTHENTICATED')
      for (const tenant of [undefined, 'acme', 'globex'])
        for (const scope of scopes) {
          const seen = sessionOf(tenant, scope)
          const may = ['open', 'any', scope].includes(route.scope) || scope === 'admin'
          expect([tenant, scope, await asked(seen)]).toEqual([tenant, scope, may ? seen.place : 'FORBIDDEN'])
        }
    })
  })

  test('a refusal names the scope that is needed', async () => {
    const [reading] = [...keys].find(([, { tenant, scope }]) => tenant === 'acme' && scope === 'read')!
    const app = createApp(deps)
    const headers = { authorization: `Bearer ${reading}` }
    const answer = await app.request('/v1/jobs', { method: 'POST', headers })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({
      error: { message: 'POST /v1/jobs needs the scope "write"; this key has read' },
    })
  })

  test('a tenant cannot call the routes of the clock and of tenants', async () => {
    const app = createApp({ ...deps, clock: { advance: () => undefined } })
    const [key] = [...keys].find(([, { tenant, scope }]) => tenant === 'acme' && scope === 'admin')!
    const headers = { authorization: `Bearer ${key}` }
    for (const [method, path] of [
      ['GET', '/v1/tenants'],
      ['PUT', '/v1/tenants/globex'],
      ['DELETE', '/v1/tenants/globex'],
      ['POST', '/v1/test/clock'],
    ] as const)
      expect([path, (await app.request(path, { method, headers })).status]).toEqual([path, 404])
  })
})

test('all tenants tick even if other ticks fail, and the error names the tenant', async () => {
  const ticked: string[] = []
  const make = (name: string) => ({
    engine: {
      async tick() {
        await pause(20)
        ticked.push(name)
        if (name === 'acme') throw new Error('no space')
      },
    } as unknown as Engine,
    publicUrl,
  })
  const tenants = { list: async () => ({ tenants: ['acme', 'globex'].map((name) => ({ name })) }) }
  const tick = (own: () => Promise<unknown>) => createPlaces({ tenants, tick: own } as never, make).tick()
  await expect(tick(() => Promise.reject(new Error('own')))).rejects.toThrow('own')
  expect(ticked.splice(0).sort()).toEqual(['acme', 'globex'])
  const knowing = async (_: unknown, know: (areThere: boolean) => void) => know(true)
  await expect(tick(knowing as never)).rejects.toThrow('tenant acme: no space')
  expect(ticked.sort()).toEqual(['acme', 'globex'])
})

describe('two tenants on one Redis', () => {
  let kit: Kit
  let ask: (key: string, address: string, body?: unknown) => Promise<{ status: number; body: never }>
  const key: Record<string, string> = {}
  let engineOf: (tenant: string) => Promise<Engine>
  let cloud: InstanceType<typeof Miniflare>
  let bucket: Bucket

  function downloadsOf(tenant: string): Downloads {
    const own = folderOf(bucket, `t/${tenant}/`)
    const files = createFiles({ bucket: own, secret: 's', publicUrl, now: Date.now })
    return { files, allowHosts: [], keep: HOUR }
  }

  const double = defineWorker({
    class: 'double',
    in: { n: port<number>() },
    perform: async (job) => ((await job.read('n')) ?? 0) * 2,
  })

  beforeAll(async () => {
    kit = await startKit({ hold: true, workers: [double] })
    cloud = new Miniflare(convertV4MiniflareOptions({ modules: true, script: '', r2Buckets: ['FILES'] }))
    bucket = r2Bucket((await cloud.getR2Bucket('FILES')) as unknown as R2)
    const make = (tenant: string): Place => ({
      engine: createEngine({
        ...kit.engineOptions,
        namespace: namespaceOf('sidejob:', tenant),
        tenant,
        apiKey: undefined,
        qstash: { ...kit.engineOptions.qstash, publicUrl: addressOf(kit.engineOptions.qstash.publicUrl, tenant) },
      }),
      publicUrl: addressOf(publicUrl, tenant),
      ...(tenant.startsWith('with-files') && { downloads: downloadsOf(tenant) }),
    })
    const tenants = createPlaces(kit.engine, make)
    engineOf = async (tenant) => (await tenants.open(tenant))!.engine
    const app = createApp({ engine: kit.engine, verify: async () => true, publicUrl, tenants, facades })
    ask = async (as, address, body) => {
      const [method, path] = address.split(' ') as [string, string]
      const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' }
      const answer = await app.request(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return {
        status: answer.status,
        body: (text && /json/.test(answer.headers.get('content-type')!) ? JSON.parse(text) : text) as never,
      }
    }
    for (const tenant of ['acme', 'globex']) {
      expect((await ask('dev', `PUT /v1/tenants/${tenant}`)).status).toBe(200)
      const made = await ask('dev', `POST /t/${tenant}/v1/keys`, { name: 'first', scopes: ['admin'] })
      expect(made.status).toBe(201)
      key[tenant] = (made.body as { key: string }).key
    }
  })
  afterAll(async () => {
    for (const tenant of ['acme', 'globex'])
      expect(await ((await engineOf(tenant)) as Kit['engine']).doctor.verify()).toEqual([])
    await kit.close()
    await cloud.dispose()
  })

  async function fill(tenant: string, priority: number) {
    const job = {
      class: 'pulled',
      queue: 'orders',
      priority,
      unique: 'key-1',
      alias: ['nightly'],
      group: { id: 'g', concurrency: priority },
      in: { n: { channels: ['/news'] } },
    }
    const as = key[tenant]!
    const done = async (address: string, body?: unknown) => {
      const answer = await ask(as, address, body)
      expect([address, answer.status < 300]).toEqual([address, true])
      return answer.body as { id: number }
    }
    await done('PUT /v1/workers/orders/pulled', { pull: true })
    const { id } = await done('POST /v1/jobs', job)
    await done('POST /v1/schedules', { class: 'double', repeat: 'hourly' })
    await done('PUT /v1/limits/api', { concurrency: priority })
    await done('PUT /v1/constraints/c', { match: { class: 'none' }, concurrency: priority })
    await done('POST /v1/log', { entry: { from: tenant } })
    await done('POST /v1/publish', { channel: '/news', message: tenant })
    await done('PUT /v1/graphs/g', { nodes: {}, edges: [] })
    return id
  }

  test('names are separate for each tenant', async () => {
    const [mine, other] = [await fill('acme', 1), await fill('globex', 2)]
    expect(mine).toBe(other)
    for (const [tenant, priority] of [
      ['acme', 1],
      ['globex', 2],
    ] as const) {
      const as = key[tenant]!
      expect((await ask(as, 'GET /v1/jobs/nightly')).body).toMatchObject({ priority, in: { n: { size: 1 } } })
      expect((await ask(as, 'GET /v1/jobs/nightly/in/n')).body).toMatchObject({ values: [{ data: tenant }] })
      expect((await ask(as, 'GET /v1/limits/api')).body).toMatchObject({ concurrency: priority })
      expect((await ask(as, 'GET /v1/groups/g')).body).toMatchObject({ concurrency: priority, jobs: 1 })
      expect((await ask(as, 'GET /v1/constraints/c')).body).toMatchObject({ concurrency: priority })
      expect(((await ask(as, 'GET /v1/log')).body as { entries: { entry: object }[] }).entries[0]!.entry).toMatchObject(
        { from: tenant },
      )
      expect((await ask(as, 'GET /v1/keys')).body).toMatchObject({ keys: [{ name: 'first' }] })
      expect((await ask(as, 'GET /v1/audit')).body).toMatchObject({ entries: expect.any(Array) })
    }
  })

  test('data of a tenant can be neither seen nor changed from outside', async () => {
    const { body } = await ask(key.acme!, 'POST /v1/jobs', { class: 'double', alias: ['mine'] })
    const { id } = body as { id: number }
    for (const as of [key.globex!, 'dev']) {
      expect((await ask(as, 'GET /v1/jobs/mine')).status).toBe(404)
      expect((await ask(as, `GET /v1/jobs/${id + 100}`)).status).toBe(404)
      expect((await ask(as, `POST /v1/jobs/mine/terminate`, {})).status).toBe(404)
    }
    for (const path of [
      '/v1/jobs',
      '/v1/schedules',
      '/v1/groups',
      '/v1/limits',
      '/v1/channels',
      '/v1/log',
      '/v1/constraints',
    ])
      expect([path, JSON.stringify((await ask('dev', `GET ${path}`)).body)]).toEqual([
        path,
        expect.stringMatching(/^\{"\w+":\[\](,"cursor":null)?\}$/),
      ])
    expect((await ask('dev', 'GET /metrics')).body).not.toContain('orders')
    expect((await ask(key.globex!, 'GET /t/acme/v1/jobs')).status).toBe(404)
    const own = await ask('dev', 'GET /t/acme/v1/jobs/mine')
    expect(own).toMatchObject({ status: 200, body: { by: expect.stringMatching(/^key:[0-9a-f]{16}$/) } })
  })

  test('runs, bells and ticks of a tenant stay in the tenant', async () => {
    const { body } = await ask(key.acme!, 'POST /v1/jobs', { class: 'double', keepResult: true, inputs: { n: [21] } })
    const { id } = body as { id: number }
    const before = kit.qstash.counts.published
    expect(before).toBeGreaterThan(0)
    const rung = await ask('dev', 'POST /t/acme/dispatch/default', { bell: 'b' })
    expect(rung.status).toBe(401)
    await (await engineOf('acme')).dispatch('default', 'b')
    expect((await ask(key.acme!, `GET /v1/jobs/${id}/result`)).body).toMatchObject({ result: 42 })
  })

  test('a locked tenant is refused, and finds all data unchanged when it is unlocked', async () => {
    expect((await ask('dev', 'DELETE /v1/tenants/globex')).status).toBe(200)
    expect((await ask(key.globex!, 'GET /v1/jobs')).status).toBe(401)
    expect((await ask('dev', 'GET /t/globex/v1/jobs')).status).toBe(404)
    await ask('dev', 'PUT /v1/tenants/globex')
    expect((await ask(key.globex!, 'GET /v1/jobs/nightly')).status).toBe(200)
  })

  describe('limits of a tenant', () => {
    const job = { class: 'double', wait: '10h' }
    const keyFor = async (limits?: object) => {
      const made = await ask('dev', 'POST /t/small/v1/keys', { name: 'k', scopes: ['admin'], limits })
      return (made.body as { key: string }).key
    }
    const setLimits = (limits: object) => ask('dev', 'PUT /v1/tenants/small', { limits })

    test('count the jobs of all its keys together, whatever its own keys allow', async () => {
      expect((await setLimits({ jobs: 10 })).status).toBe(200)
      const [one, other] = [await keyFor({ jobs: 1e9, bytes: 1e12 }), await keyFor({ jobs: 1e9 })]
      expect((await ask(one, 'POST /v1/jobs', Array(6).fill(job))).status).toBe(201)
      expect((await ask(other, 'POST /v1/jobs', Array(4).fill(job))).status).toBe(201)
      const refused = {
        error: { code: 'LIMITED', message: 'tenant small: expected at most 10 jobs that have not ended, got 11' },
      }
      for (const key of [one, other])
        expect(await ask(key, 'POST /v1/jobs', job)).toMatchObject({ status: 429, body: refused })
      expect((await ask('dev', 'POST /t/small/v1/jobs', job)).status).toBe(201)
      expect((await ask(key.acme!, 'POST /v1/jobs', Array(11).fill(job))).status).toBe(201)
      const { jobs } = (await ask(one, 'GET /v1/jobs?class=double')).body as { jobs: { id: number }[] }
      for (const { id } of jobs) await ask(one, `DELETE /v1/jobs/${id}?force=true`)
      expect((await ask(other, 'POST /v1/jobs', Array(10).fill(job))).status).toBe(201)
    })

    test('count the bytes of all its keys together, also of stored graphs and of values that are written later', async () => {
      await setLimits({ bytes: 80_000 })
      const [one, other] = [await keyFor(), await keyFor()]
      const { id } = (await ask(one, 'POST /v1/jobs', { ...job, args: 'x'.repeat(40_000) })).body as { id: number }
      const graph = { description: 'x'.repeat(9_000), nodes: {}, edges: [] }
      expect((await ask(other, 'PUT /v1/graphs/g', graph)).status).toBe(200)
      const refused = await ask(other, `POST /v1/jobs/${id}/in/n`, { value: 'x'.repeat(40_000) })
      expect(refused).toMatchObject({
        status: 429,
        body: { error: { message: expect.stringMatching(/^tenant small: expected at most 80000 bytes/) } },
      })
      await setLimits({ bytes: 200_000 })
      expect((await ask(other, `POST /v1/jobs/${id}/in/n`, { value: 'x'.repeat(40_000) })).status).toBe(200)
    })

    test('count its requests together, and stay when the tenant is updated without limits', async () => {
      await setLimits({ requestsPerSecond: 1 })
      await ask('dev', 'PUT /v1/tenants/small')
      const { tenants } = (await ask('dev', 'GET /v1/tenants')).body as { tenants: object[] }
      expect(tenants).toContainEqual(expect.objectContaining({ name: 'small', limits: { requestsPerSecond: 1 } }))
      await setLimits({})
      const [one, other] = [await keyFor(), await keyFor()]
      await setLimits({ requestsPerSecond: 1 })
      const statuses = []
      for (const key of [one, other, one, other]) statuses.push((await ask(key, 'GET /v1/me')).status)
      expect(statuses).toEqual([200, 200, 429, 429])
      await setLimits({})
    })
  })

  test('a tenant is erased in slices, and a new tenant with its name is empty', async () => {
    await ask('dev', 'PUT /v1/tenants/gone')
    const made = await ask('dev', 'POST /t/gone/v1/keys', { name: 'k', scopes: ['admin'] })
    const { key: own } = made.body as { key: string }
    for (let i = 0; i < 50; i++)
      expect(
        (await ask(own, 'POST /v1/jobs', Array(100).fill({ class: 'double', wait: '10h', args: { i } }))).status,
      ).toBe(201)
    const erase = async (query: string) => {
      let [keys, calls, cursor] = [0, 0, undefined as string | null | undefined]
      while (cursor !== null) {
        const page: string = cursor === undefined ? '' : `&cursor=${cursor}`
        const { status, body } = await ask('dev', `DELETE /v1/tenants/gone?${query}${page}`)
        expect(status).toBe(200)
        const erased = body as { keys: number; files: number; cursor: string | null }
        keys += erased.keys
        calls++
        cursor = erased.cursor
      }
      return { keys, calls }
    }
    const dry = await erase('erase=true&preview=true')
    expect(dry.keys).toBeGreaterThan(5_000)
    expect((await ask(own, 'GET /v1/me')).status).toBe(200)
    const acme = (await ask(key.acme!, 'GET /v1/jobs?class=double')).body
    const { keys, calls } = await erase('erase=true')
    expect({ keys, isSliced: calls > 1 }).toEqual({ keys: dry.keys, isSliced: true })
    expect((await ask(own, 'GET /v1/me')).status).toBe(401)
    expect(await erase('erase=true')).toEqual({ keys: 0, calls: 1 })
    expect((await ask(key.acme!, 'GET /v1/jobs?class=double')).body).toEqual(acme)
    await ask('dev', 'PUT /v1/tenants/gone')
    expect((await ask(own, 'GET /v1/me')).status).toBe(401)
    expect((await ask('dev', 'GET /t/gone/v1/jobs')).body).toMatchObject({ jobs: [] })
    const { entries } = (await ask('dev', 'GET /v1/audit')).body as { entries: object[] }
    expect(entries).toContainEqual(
      expect.objectContaining({ verb: 'tenants.remove', path: '/v1/tenants/gone?erase=true' }),
    )
    expect((await ask('dev', 'DELETE /v1/tenants/gone?preview=true')).status).toBe(400)
  })

  test('erasing a tenant erases its files, and no file of another tenant or of the deployment', async () => {
    const names = ['with-files', 'with-files-too']
    for (const name of names) await ask('dev', `PUT /v1/tenants/${name}`)
    const [own, other] = names.map((name) => folderOf(bucket, `t/${name}/`)) as [Bucket, Bucket]
    const keysIn = async (of: Bucket) => {
      const keys: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = await of.list({ limit: 1_000, ...(cursor && { cursor }) })
        keys.push(...page.objects.map(({ key }) => key))
        cursor = page.cursor
      }
      return keys
    }
    const put = (of: Bucket, n: number) => of.put(`abc/file-${n}`, new Uint8Array([n % 256]), {})
    await Promise.all(Array.from({ length: 110 }, (_, n) => put(own, n)))
    await Promise.all([1, 2, 3].flatMap((n) => [put(other, n), put(bucket, n)]))

    const erase = async (query = '') => {
      let [files, calls, cursor] = [0, 0, '0' as string | null]
      while (cursor !== null) {
        const address = `DELETE /v1/tenants/with-files?erase=true${query}&cursor=${encodeURIComponent(cursor)}`
        const { status, body } = await ask('dev', address)
        expect(status).toBe(200)
        files += (body as { files: number }).files
        calls++
        cursor = (body as { cursor: string | null }).cursor
      }
      return { files, calls }
    }
    expect(await erase('&preview=true')).toEqual({ files: 110, calls: 3 })
    expect(await keysIn(own)).toHaveLength(110)
    expect(await erase()).toEqual({ files: 110, calls: 3 })
    expect(await keysIn(own)).toEqual([])
    expect(await erase()).toEqual({ files: 0, calls: 2 })
    expect(await keysIn(other)).toHaveLength(3)
    const left = await keysIn(bucket)
    expect(left.filter((key) => key.startsWith('abc/'))).toHaveLength(3)
    expect(left).toHaveLength(6)
  })

  test('a stream of a tenant receives only messages of its channel, also with a token', async () => {
    const token = (await ask(key.acme!, 'POST /v1/subscribe/news', {})).body as { token: string }
    expect(token.token).toMatch(/^acme~/)
    const app = await engineOf('globex')
    expect(await app.streamTokens.authenticate(token.token, '/v1/subscribe/news')).toBeUndefined()
  })
})
