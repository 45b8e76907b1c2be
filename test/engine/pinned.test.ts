import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorker } from '../../src/cloudflare/node.ts'
import type { Worker } from '../../src/core/worker.ts'
import { createEngine, type Engine } from '../../src/engine/index.ts'
import { createVersions } from '../../src/engine/remote/versions.ts'
import { createApp } from '../../src/http/app.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, kind, startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { costOf } from '../redis/commandstats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MINUTE = 60_000

let kit: Kit
let effects: string[] = []
const apps = new Map<string, (request: Request) => Response | Promise<Response>>()

beforeEach(async () => {
  kit = await startKit({ hold: true })
  effects = []
  apps.clear()
})
afterEach(() => kit.close())

/** Requests to other addresses use the real network, and fail. */
const network: typeof fetch = async (url, init) => {
  const app = apps.get(new URL(String(url)).origin)
  if (!app) return fetch(url, init)
  return app(new Request(String(url), init))
}

type Version = { engine: Engine; goAway: () => void }

async function deploy(version: string, workers: readonly Worker[], secret = 'shared', ticks = true): Promise<Version> {
  const versionUrl = `https://${version}.example.com`
  const options = { ...kit.engineOptions, workers, version, versionUrl, tokenSecret: secret, fetch: network }
  const engine = createEngine(options)
  const app = createApp({ engine, verify: async () => false, publicUrl: versionUrl })
  apps.set(versionUrl, (request) => app.fetch(request))
  if (ticks) await engine.tick()
  // Cloudflare answers like this for a version that no longer exists.
  const goAway = () => void apps.set(versionUrl, () => new Response('There is nothing here yet', { status: 404 }))
  return { engine, goAway }
}

const order = (perform: (job: Job) => Promise<unknown>, options: Partial<Worker> = {}): Worker =>
  defineWorker({ class: 'order', pin: true, in: { paid: {} }, perform: perform as never, ...options } as never)

const noting = (version: string, options: Partial<Worker> = {}) =>
  order(async (job) => {
    await job.step('reserve', () => void effects.push(`reserve by ${version}`))
    await job.sleep('1 hour')
    await job.step('ship', () => void effects.push(`ship by ${version}`))
    return version
  }, options)

async function create({ engine }: Version): Promise<number> {
  const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: 'order', keepResult: 24 * HOUR }])
  await drain(engine)
  return jobs[0]!.id
}

const get = (id: number) => kit.engine.jobs.get(String(id))
const firstReason = async (id: number) => (await kit.engine.jobs.why(String(id))).reasons[0]!
const resultOf = async (id: number) => {
  const answer = await kit.engine.jobs.result(String(id), {})
  return answer.ended && answer.result
}

async function move({ engine }: Version, input: object): Promise<unknown> {
  const { id } = await engine.bulk.start({ action: 'move', ...input } as never)
  await engine.dispatch('sidejob.bulk', '')
  return JSON.parse((await get(id)).progress!)
}

test('a job that began on v1 finishes on v1 after v2 is deployed, and new jobs run on v2', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const old = await create(v1)
  expect((await get(old)).pinnedTo).toBe('v1')
  const v2 = await deploy('v2', [
    order(async (job) => {
      await job.sleep('5 minutes')
      await job.step('ship', () => void effects.push('ship by v2'))
      return 'v2'
    }),
  ])
  const fresh = await create(v2)
  for (const wait of [5 * MINUTE, HOUR]) {
    await kit.advance(wait)
    await drain(v2.engine)
  }
  expect(effects).toEqual(['reserve by v1', 'ship by v2', 'ship by v1'])
  expect([await get(old), await get(fresh)]).toMatchObject([
    { status: 'completed', version: 'v1', pinnedTo: null },
    { status: 'completed', version: 'v2', pinnedTo: null },
  ])
  expect([await resultOf(old), await resultOf(fresh)]).toMatchObject([{ result: '"v1"' }, { result: '"v2"' }])
})

test('a version announces its address before it pins its first job, also without a tick', async () => {
  const v1 = await deploy('v1', [noting('v1')], 'shared', false)
  await v1.engine.jobs.enqueue([{ queue: 'default', class: 'order' }])
  await v1.engine.dispatch('default', '')
  expect(Object.keys(await kit.store.versions.all())).toEqual(['v1'])
})

test('a lane performs jobs of several versions in one batch', async () => {
  const ids: number[] = []
  const versions: Version[] = []
  for (const name of ['v1', 'v2', 'v3']) {
    versions.push(await deploy(name, [noting(name)]))
    for (let i = 0; i < 5; i++) ids.push(await create(versions.at(-1)!))
  }
  await kit.advance(HOUR)
  await versions[0]!.engine.dispatch('default', '')
  expect(new Set(effects.filter((effect) => effect.startsWith('ship')))).toEqual(
    new Set(['ship by v1', 'ship by v2', 'ship by v3']),
  )
  for (const id of ids) expect((await get(id)).status).toBe('completed')
})

test('checkpoints, children and logs of a run on another version take effect', async () => {
  const child = defineWorker({ class: 'child', perform: () => 7 })
  const parent = order(async (job) => {
    await job.sleep('1 hour')
    const results = await job.parallel([() => job.callWorker(child as never, null as never)])
    job.log(`child returned ${results[0]}`)
    return results[0]
  })
  const v1 = await deploy('v1', [parent, child as Worker])
  const id = await create(v1)
  const v2 = await deploy('v2', [noting('v2'), child as Worker])
  await kit.advance(HOUR)
  await drain(v2.engine)
  expect(await get(id)).toMatchObject({ status: 'completed', version: 'v1' })
  expect(await resultOf(id)).toMatchObject({ result: '7' })
})

test('a job whose version is gone waits; why names the version and the remedy; move continues it', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const id = await create(v1)
  const v2 = await deploy('v2', [noting('v2')])
  v1.goAway()
  await kit.advance(HOUR)
  await drain(v2.engine)
  expect(await firstReason(id)).toMatchObject({
    code: 'VERSION',
    message: expect.stringMatching(
      new RegExp(
        '^version v1 at https://v1\\.example\\.com answered 404 There is nothing here yet: deploy it again, or ' +
          `rehearse the new code and run: sidejob move ${id} --to <version>\\. Tries again at `,
      ),
    ),
    data: { version: 'v1' },
  })
  for (let i = 0; i < 20; i++) {
    await kit.advance(10 * MINUTE)
    await drain(v2.engine)
  }
  expect(await get(id)).toMatchObject({ status: 'queued', attempt: 0, pinnedTo: 'v1' })
  const { until } = await firstReason(id)
  expect(until! - kit.now()).toBeGreaterThan(9 * MINUTE)

  const filter = { class: 'order' }
  expect(await v2.engine.bulk.preview({ action: 'move', to: 'v2', filter })).toMatchObject({ fits: 1, looked: 1 })
  expect(await move(v2, { to: 'v2', filter })).toEqual({ done: 1, passed: 0 })
  await drain(v2.engine)
  expect(effects).toEqual(['reserve by v1', 'ship by v2'])
  expect(await get(id)).toMatchObject({ status: 'completed', version: 'v2' })
})

test('a job continues by itself when its version is back', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const id = await create(v1)
  const v2 = await deploy('v2', [noting('v2')])
  v1.goAway()
  await kit.advance(HOUR)
  await drain(v2.engine)
  await deploy('v1', [noting('v1')])
  await kit.advance(10 * MINUTE)
  await drain(v2.engine)
  expect(effects).toEqual(['reserve by v1', 'ship by v1'])
  expect((await get(id)).status).toBe('completed')
})

test('after a rollback to v1, jobs of v2 finish on v2', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const v2 = await deploy('v2', [noting('v2')])
  const id = await create(v2)
  await kit.advance(HOUR)
  await drain(v1.engine)
  expect(effects).toEqual(['reserve by v2', 'ship by v2'])
  expect(await get(id)).toMatchObject({ status: 'completed', version: 'v2' })
})

test('v2 continues jobs of a class that it no longer has on v1', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const id = await create(v1)
  const v2 = await deploy('v2', [])
  await kit.advance(HOUR)
  await v2.engine.tick()
  expect((await kit.engine.workers.list()).workers.map((one) => one.class)).not.toContain('order')
  await v2.engine.jobs.run(String(id), {})
  await drain(v2.engine)
  expect(await get(id)).toMatchObject({ status: 'completed', version: 'v1' })
})

test('a retry stays on the version, a copy and a new run after the end begin on the newest', async () => {
  let broken = true
  const failing = order(async (job) => {
    await job.step('reserve', () => void effects.push('reserve by v1'))
    await job.sleep('1 hour')
    if (broken) throw new Error('broken')
    return 'v1'
  })
  const v1 = await deploy('v1', [failing])
  const id = await create(v1)
  const v2 = await deploy('v2', [noting('v2')])
  await kit.advance(HOUR)
  await drain(v2.engine, { errors: 'keep' })
  expect(await get(id)).toMatchObject({ status: 'failed', pinnedTo: 'v1', version: 'v1' })
  broken = false
  await v2.engine.jobs.retry(String(id))
  await drain(v2.engine)
  expect(await get(id)).toMatchObject({ status: 'completed', version: 'v1', pinnedTo: null })
  const copy = await v2.engine.jobs.copy(String(id), {})
  await v2.engine.jobs.run(String(id), { force: true })
  await drain(v2.engine)
  expect([await get(copy.id), await get(id)]).toMatchObject([{ pinnedTo: 'v2' }, { pinnedTo: 'v2' }])
})

test('move refuses a version that no deployment has announced, and skips jobs that are not pinned', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const v2 = await deploy('v2', [noting('v2'), defineWorker({ class: 'free', perform: () => 1 }) as Worker])
  const id = await create(v1)
  await v2.engine.jobs.enqueue([{ queue: 'default', class: 'free', at: kit.now() + HOUR }] as never)
  await expect(v2.engine.bulk.preview({ action: 'move', to: 'v9', ids: [id] })).rejects.toThrow(
    'to: expected a version that a deployment has announced (v1, v2), got v9',
  )
  const filter = { queue: 'default' }
  expect(await v2.engine.bulk.preview({ action: 'move', to: 'v2', filter })).toMatchObject({ fits: 1, looked: 2 })
  expect(await move(v2, { to: 'v2', filter })).toEqual({ done: 1, passed: 1 })
  expect((await get(id)).pinnedTo).toBe('v2')
})

test('a version refuses calls without the signature of its deployment, and jobs of other versions', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  await create(v1)
  const call = (headers: Record<string, string>) =>
    network('https://v1.example.com/perform', { method: 'POST', headers, body: '{}' })
  expect((await call({})).status).toBe(401)
  const now = String(Math.floor(kit.now() / 1000))
  const forged = `v1,${btoa('x'.repeat(32))}`
  const headers = { 'webhook-id': '1', 'webhook-timestamp': now, 'webhook-signature': forged }
  expect((await call(headers)).status).toBe(401)

  apps.set('https://v1.example.com', apps.get(`https://v2.example.com`) ?? (() => new Response()))
  const v2 = await deploy('v2', [noting('v2')])
  apps.set('https://v1.example.com', apps.get('https://v2.example.com')!)
  await kit.advance(HOUR)
  await drain(v2.engine)
  expect(effects).toEqual(['reserve by v1'])
})

test('a version whose secret has changed since does not perform jobs, and why shows its answer', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const id = await create(v1)
  const v2 = await deploy('v2', [noting('v2')], 'another')
  await kit.advance(HOUR)
  await drain(v2.engine)
  expect(await firstReason(id)).toMatchObject({ code: 'VERSION', message: expect.stringContaining('answered 401') })
  expect(effects).toEqual(['reserve by v1'])
})

test('the doctor finds jobs that are pinned to a version that no deployment announces', async () => {
  const v1 = await deploy('v1', [noting('v1')])
  const id = await create(v1)
  expect(await kit.engine.doctor.verify()).toEqual([])
  await kit.store.versions.set('v2', '{}')
  await kit.store.versions.remove('v1')
  expect(await kit.engine.doctor.verify()).toMatchObject([
    { kind: 'job', who: String(id), what: 'is pinned to version v1, which no deployment announces' },
  ])
  const v2 = await deploy('v2', [noting('v2')])
  expect(await move(v2, { to: 'v2', ids: [id] })).toEqual({ done: 1, passed: 0 })
})

test('a job of a push worker stays at the address that began it', async () => {
  const suspended = JSON.stringify({ end: 'suspended' })
  const first = await startReceiver((_, response) => response.end(suspended))
  const second = await startReceiver((_, response) => response.end(suspended))
  try {
    const register = (url: string) => kit.engine.workers.register('default', 'remote', { push: { url }, pin: true })
    const create = async () => {
      const { jobs } = await kit.engine.jobs.enqueue([{ queue: 'default', class: 'remote' }])
      await drain(kit.engine)
      return jobs[0]!.id
    }
    await register(`${first.url}/job`)
    const old = await create()
    expect((await get(old)).pinnedTo).toBe(`${first.url}/job`)
    await register(`${second.url}/job`)
    await kit.advance(10_000)
    await create()
    await kit.engine.jobs.run(String(old), {})
    await drain(kit.engine)
    expect([first.came.length, second.came.length]).toEqual([2, 1])

    first.answer = (_, response) => response.writeHead(410).end()
    await kit.engine.jobs.run(String(old), {})
    await drain(kit.engine, { errors: 'keep' })
    expect(await firstReason(old)).toMatchObject({
      code: 'VERSION',
      message: expect.stringContaining(`the push worker at ${first.url}/job answered 410: deploy it again`),
    })
    const { id } = await kit.engine.bulk.start({ action: 'move', to: `${second.url}/job`, ids: [old] })
    await kit.engine.dispatch('sidejob.bulk', '')
    expect((await get(id)).progress).toBe('{"done":1,"passed":0}')
    await drain(kit.engine)
    expect([first.came.length, second.came.length]).toEqual([3, 2])
  } finally {
    await first.close()
    await second.close()
  }
})

/** The first commit of a day costs more commands, so the measured commits are later in the day. */
const beginDay = () => kit.advance(DAY - (kit.now() % DAY) + HOUR)

test.skipIf(kind === 'embedded')('a pinned class costs no further command or round trip', async () => {
  await beginDay()
  const costs = []
  for (const pin of [true, false, true]) {
    const { engine } = await deploy('v1', [noting('v1', { pin })])
    await engine.jobs.enqueue([{ queue: 'default', class: 'order' }])
    const first = await costOf(kit, () => engine.dispatch('default', ''))
    await kit.advance(HOUR)
    const second = await costOf(kit, () => engine.dispatch('default', ''))
    costs.push([first.calls, first.billed, second.calls, second.billed])
  }
  expect(costs[2]).toEqual(costs[1])
})

test.skipIf(kind === 'embedded')(
  'each run on another version costs at most one command, which reads the addresses',
  async () => {
    await beginDay()
    const versions = [await deploy('v1', [noting('v1')]), await deploy('v2', [noting('v2')])]
    const costs = []
    for (const version of [versions[1]!, ...versions]) {
      for (let i = 0; i < 3; i++) await create(version)
      await kit.advance(HOUR)
      const { calls, billed } = await costOf(kit, () => versions[1]!.engine.dispatch('default', ''))
      costs.push([calls, billed])
    }
    const [here, there] = [costs[2]!, costs[1]!]
    for (const [i, cost] of there.entries()) {
      expect(cost - here[i]!).toBeGreaterThan(0)
      expect(cost - here[i]!).toBeLessThanOrEqual(3)
    }
    expect(effects.filter((effect) => effect === 'ship by v1')).toHaveLength(3)
  },
)

test('a run on another version was cut off at once if its timeout was longer than 24 days', async () => {
  const slow: typeof fetch = async (_, init) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    init!.signal!.throwIfAborted()
    return Response.json({})
  }
  const versions = createVersions({ store: kit.store, fetch: slow, secret: 'shared', now: kit.now })
  const claimed = { id: 1, document: { token: '1.1.x' } } as ClaimedJob
  expect(await versions.forward('https://v1.example.com', claimed, 30 * DAY)).toEqual({})
})

test.each(['', '/', '/_jobs'])(
  'a mounted Worker announces its mount once if SIDEJOB_VERSION_URL ends with "%s"',
  async (end) => {
    const worker = createWorker<object>({ functions: [noting('v1')], mount: '/_jobs' })
    const { url, token } = kit.options
    const env = {
      UPSTASH_REDIS_REST_URL: url,
      UPSTASH_REDIS_REST_TOKEN: token,
      QSTASH_URL: kit.qstash.url,
      QSTASH_TOKEN: kit.qstash.token,
      QSTASH_CURRENT_SIGNING_KEY: 'a',
      QSTASH_NEXT_SIGNING_KEY: 'b',
      PUBLIC_URL: 'http://127.0.0.1:1',
      SIDEJOB_VERSION: 'v1',
      SIDEJOB_VERSION_URL: `https://{id}-jobs.example.com${end}`,
      CF_VERSION_METADATA: { id: '4f2c8b1e-0000' },
    }
    const waiting: Promise<unknown>[] = []
    worker.scheduled({}, env, { waitUntil: (work) => void waiting.push(work) })
    await Promise.all(waiting)
    const { v1 } = await kit.store.versions.all()
    expect(JSON.parse(v1!)).toMatchObject({ url: 'https://4f2c8b1e-jobs.example.com/_jobs' })
  },
)
