import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { addressOf, namespaceOf } from '../../src/core/tenant.ts'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createPlaces } from '../../src/http/places.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { ORIGIN, startPages, type Visitor } from './kit.ts'

const names = ['acme', 'globex'] as const
const HOME = 'homeland'

let pages: Awaited<ReturnType<typeof startPages>>
const visitors: Record<string, Visitor> = {}
const engines: Record<string, Engine> = {}

async function fill(engine: Engine, name: string): Promise<void> {
  await engine.workers.register('default', `class-${name}`, { pull: true, retry: { max: 0 } })
  await engine.workers.register(`queue-${name}`, `class-${name}`, { pull: true })
  const job = { queue: 'default', class: `class-${name}`, group: { id: `group-${name}` }, alias: [`alias-${name}`] }
  await engine.jobs.enqueue([{ ...job, createdBy: name }])
  const [run] = await engine.runs.claim('default', { names: [job.class], lease: 60_000 })
  await engine.runs.commit(run!.run.token, { n: 1, end: 'failed', error: { message: `error-${name}` } })
  await engine.jobs.enqueue([{ queue: 'default', class: job.class, group: { id: `group-${name}` } }])
  await engine.limits.set(`limit-${name}`, { concurrency: 1 })
  await engine.schedules.set(`schedule-${name}`, {
    queue: 'default',
    class: job.class,
    repeat: { cron: '0 3 * * *' },
  })
  await engine.log.write(encodeValue({ message: `log-${name}` }))
  await engine.views.set(`view-${name}`, { query: 'status=failed', by: name })
}

beforeAll(async () => {
  pages = await startPages({}, ({ engine, engineOptions }) => ({
    tenants: createPlaces(engine, (tenant) => ({
      engine: (engines[tenant] ??= createEngine({
        ...engineOptions,
        namespace: namespaceOf('sidejob:', tenant),
        tenant,
      })),
      publicUrl: addressOf(ORIGIN, tenant),
    })),
  }))
  engines[HOME] = pages.engine
  for (const name of names) {
    await pages.engine.tenants.set(name, {})
    engines[name] ??= createEngine({
      ...pages.engineOptions,
      apiKey: undefined,
      namespace: namespaceOf('sidejob:', name),
      tenant: name,
    })
  }
  for (const [name, engine] of Object.entries(engines)) {
    await fill(engine, name)
    const { key } = await engine.keys.add({ name: `key-${name}`, scopes: ['read', 'write', 'admin'] })
    visitors[name] = await pages.enterWith(key)
  }
})
afterAll(() => pages.close())

const others = (name: string) => [...names, HOME].filter((other) => other !== name)

const paths = (name: string) => [
  ...table
    .filter(({ path }) => !path.startsWith('/flows/'))
    .map(({ path }) =>
      path.replace(':job', '1').replace(':queue', 'default').replace(':class', `class-${name}`).replace(':id', 'x'),
    ),
  '/jobs?status=failed',
  `/limits?open=limit-${name}`,
  '/find?q=class',
  '/callbacks?state=FAILED',
  '/jobs/1?tab=runs',
]

describe.each([...names, HOME])('%s', (name) => {
  test('sees only its own names on every page', async () => {
    for (const path of paths(name)) {
      const answer = await visitors[name]!.get(`/ui${path}`)
      expect(answer.status, path).toBe(200)
      const html = await answer.text()
      for (const other of others(name)) expect(html, path).not.toContain(other)
    }
    for (const [path, own] of [
      ['/', `class-${name}`],
      ['/jobs', `group-${name}`],
      ['/jobs?status=failed', `error-${name}`],
      ['/jobs', `view-${name}`],
      ['/queues', `queue-${name}`],
      ['/limits', `limit-${name}`],
      ['/schedules', `schedule-${name}`],
      ['/workers', `class-${name}`],
      ['/log', `log-${name}`],
      ['/settings/keys', `key-${name}`],
    ])
      expect(await visitors[name]!.html(`/ui${path}`), path).toContain(own)
  })

  test('saw no page that named its tenant, and read about the key of the deployment', async () => {
    const html = await visitors[name]!.html('/ui/settings/keys')
    const isTenant = name !== HOME
    expect(html.includes(`<span class="tag" title="Tenant">${name}</span>`)).toBe(isTenant)
    expect(html.includes('The key of the deployment')).toBe(!isTenant)
  })

  test('read in the first minute to use the key of the deployment, and to write a function', async () => {
    const html = await visitors[name]!.html('/ui/?first=1')
    const isTenant = name !== HOME
    expect(html.includes('npx sidejob key')).toBe(!isTenant)
    expect(html.includes('Write your own worker')).toBe(!isTenant)
  })

  test('read on Deploys to set a variable of the deployment', async () => {
    const html = await visitors[name]!.html('/ui/deploys')
    const isTenant = name !== HOME
    expect(html.includes('SIDEJOB_VERSION')).toBe(!isTenant)
    expect(html.includes('first served this tenant')).toBe(isTenant)
  })

  test('read on empty pages that nothing exists, and to bind a bucket of the deployment', async () => {
    const isTenant = name !== HOME
    expect(await visitors[name]!.html('/ui/callbacks')).toContain(
      `No callbacks${isTenant ? ' of this tenant' : ''} yet.`,
    )
    expect((await visitors[name]!.html('/ui/files')).includes('R2 bucket')).toBe(!isTenant)
  })

  test('read on Jobs to add a database to the wrangler.toml of the deployment', async () => {
    const html = await visitors[name]!.html('/ui/jobs?in=history')
    const isTenant = name !== HOME
    expect(html.includes('wrangler.toml')).toBe(!isTenant)
    expect(html.includes('The operator of the deployment can add one')).toBe(isTenant)
  })

  test('read on Doctor to check the database of the deployment', async () => {
    const engine = engines[name]!
    const remedy = 'check the database that is bound as `HISTORY`'
    const problem = { of: 'history', code: 'UNAVAILABLE', message: 'it does not respond', remedy } as const
    const health = vi.spyOn(engine, 'health').mockResolvedValue({ ...(await engine.health()), problems: [problem] })
    const html = await visitors[name]!.html('/ui/doctor')
    health.mockRestore()
    const isTenant = name !== HOME
    expect(html).toContain('it does not respond')
    expect(html.includes(remedy)).toBe(!isTenant)
    expect(html.includes('Ask the operator of the deployment to check this service.')).toBe(isTenant)
  })

  test('read on the page of a removed job to bind a database to the deployment', async () => {
    const engine = engines[name]!
    const [made] = (await engine.jobs.enqueue([{ queue: 'default', class: `class-${name}` }])).jobs
    await engine.jobs.remove(String(made!.id), { force: true })
    const html = await visitors[name]!.html(`/ui/jobs/${made!.id}`)
    expect(html).toContain('this deployment has no history')
    expect(html.includes('bound as HISTORY')).toBe(name === HOME)
  })

  test('finds nothing of other tenants by their names, and changes nothing', async () => {
    for (const other of others(name)) {
      for (const path of [`/jobs/alias-${other}`, `/queues/queue-${other}`, `/workers/default/class-${other}`])
        expect((await visitors[name]!.get(`/ui${path}`)).status, path).toBe(404)
      await visitors[name]!.act('/ui/queues/default', { act: 'pause' })
      expect((await engines[other]!.queues.list()).queues.every(({ paused }) => !paused)).toBe(true)
      await visitors[name]!.act('/ui/queues/default', { act: 'resume' })
    }
  })

  test("gets only its own jobs from the dashboard's API", async () => {
    const answer = await pages.ask('/ui/v1/jobs', { headers: { cookie: visitors[name]!.cookie } })
    const { jobs } = (await answer.json()) as { jobs: { class: string }[] }
    expect(new Set(jobs.map((job) => job.class))).toEqual(new Set([`class-${name}`]))
  })
})

test('a tenant read of its first use of the deployment as a deploy, and to roll back', async () => {
  const [tenant] = names
  const work = defineWorker({
    class: 'work',
    retry: { max: 0 },
    perform() {
      throw new Error('a new kind of error')
    },
  })
  async function deploy(version: string): Promise<string> {
    const namespace = namespaceOf('sidejob:', tenant)
    const engine = createEngine({
      ...pages.engineOptions,
      apiKey: undefined,
      namespace,
      tenant,
      workers: [work],
      version,
    })
    await engine.tick()
    await engine.jobs.enqueue([{ queue: 'default', class: 'work' }])
    await drain(engine, { errors: 'keep' })
    return visitors[tenant]!.html('/ui/deploys')
  }
  const { deployments } = await engines[tenant]!.deployments.list()
  expect(deployments.map(({ deploys }) => deploys.length)).toEqual([1])
  const none = await visitors[tenant]!.html('/ui/deploys')
  expect(none).toContain('<h1>Deploys</h1>')
  expect(none).toContain('No deploy since the first use of this tenant.')
  await engines[tenant]!.jobs.enqueue([{ queue: 'default', class: `class-${tenant}`, priority: -1 }])
  const [run] = await engines[tenant]!.runs.claim('default', { names: [`class-${tenant}`], lease: 60_000 })
  await engines[tenant]!.runs.commit(run!.run.token, { n: 1, end: 'failed', error: { message: 'late' } })
  const failed = await visitors[tenant]!.html(`/ui/jobs/${run!.job.id}`)
  expect(failed).toContain('id="failure"')
  expect(failed).not.toContain('/ui/deploys?of=')
  await deploy('v1')
  const second = await deploy('v2')
  expect(second).toContain('<h1>Deploy of v2</h1>')
  expect(second).toContain('>v1<')
  expect(second).toContain('<span class="tag">2</span>')
  expect(second).not.toContain('npx wrangler')
})
