import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startGateway } from '../../../infra/stand-ins/gateway.ts'
import { startQstash } from '../../../infra/stand-ins/qstash.ts'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { type Cloud, startCloud } from '../deploy/cloud.ts'
import { createSites, type Sites } from '../deploy/served.ts'
import { jsonOf, must, type Packed, pack, start, textOf } from './kit.ts'

const VITE = ['vite@7.3.8', '@cloudflare/vite-plugin@1.64.0']
const TOKEN = 'the-redis-token'
/** A deployment refuses the keys of the development server, because these keys are public. */
const qstashAccount = { token: 'qstash-token', currentSigningKey: 'sig_1', nextSigningKey: 'sig_2' }

let packed: Packed
let first: string
let sites: Sites
let cloud: Cloud
let services: { close: () => Promise<unknown> }[]
let env: Record<string, string>

beforeAll(async () => {
  packed = await pack()
  first = join(packed.folder, 'worker')
  sites = createSites()
  cloud = await startCloud({ onDeployed: sites.serve })
  const redis = await startRedis({ persist: false })
  const gateway = await startGateway({ redis, token: TOKEN })
  const qstash = await startQstash(qstashAccount)
  services = [qstash, gateway, redis]
  cloud.state.databases = [{ ...cloud.state.databases[0]!, endpoint: new URL(gateway.url).host }]
  env = {
    ...(cloud.env as Record<string, string>),
    CI: '',
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: TOKEN,
    QSTASH_URL: qstash.url,
  }
})
afterAll(async () => {
  await sites?.close()
  for (const service of services ?? []) await service.close()
  packed?.remove()
  await cloud?.close()
})

const create = (template: string) =>
  must(
    packed.folder,
    `npm exec --yes --package ${packed.tarball} --package ${packed.creator} -- create-sidejob ${template} -t ${template}`,
    packed.env,
  )

const write = (folder: string, files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

type Deployed = { origin: string; url: string; folder: string; printed: string; env: Record<string, string> }

async function deploy(name: string, folder: string, mount = ''): Promise<Deployed> {
  const origin = await sites.reserve(name)
  const printed = await must(folder, 'npx sidejob deploy', { ...env, PUBLIC_URL: origin })
  const url = `${origin}${mount}`
  const { SIDEJOB_API_KEY } = JSON.parse(textOf(folder, `.sidejob/${name}.keys.json`)) as Record<string, string>
  expect(printed).toContain(`${url} answers with sidejob`)
  expect(printed).not.toMatch(/WARNING .*(lacks|cron trigger|observability)/)
  const { destination } = await scheduleOf(name)
  expect(destination).toBe(`${url}/tick`)
  return { origin, url, folder, printed, env: { SIDEJOB_URL: url, SIDEJOB_API_KEY: SIDEJOB_API_KEY! } }
}

async function scheduleOf(name: string): Promise<{ destination: string; cron: string }> {
  const answer = await fetch(`${env.QSTASH_URL}/v2/schedules/sidejob-tick-${name}`, {
    headers: { authorization: `Bearer ${qstashAccount.token}` },
  })
  return (await answer.json()) as { destination: string; cron: string }
}

async function runsDouble({ folder, env: address }: Deployed): Promise<void> {
  const { id } = jsonOf(await must(folder, 'npx sidejob run double -i n=2 -i n=3 --json', address))
  const headers = { authorization: `Bearer ${address.SIDEJOB_API_KEY}` }
  await vi.waitFor(
    async () => {
      const job = await (await fetch(`${address.SIDEJOB_URL}/v1/jobs/${id}`, { headers })).json()
      expect(job).toMatchObject({ status: 'completed' })
    },
    { timeout: 60_000, interval: 100 },
  )
  expect(await must(folder, `npx sidejob read ${id} doubled --json`, address)).toContain('[4,6]')
}

test('a Worker from the template worker', async () => {
  await create('worker')
  await must(first, 'npm install --no-audit --no-fund')
  const deployed = await deploy('worker', first)
  await runsDouble(deployed)
  expect(cloud.workers.get('worker')!.crons).toEqual(['* * * * *'])
  expect((await scheduleOf('worker')).cron).toBe('*/10 * * * *')
  expect(await sites.fire('worker', '* * * * *')).toBe('ok')
  const health = await (await fetch(`${deployed.url}/health?details=true`)).json()
  expect(health).toMatchObject({ tickBy: 'cron' })
})

test('a Worker from the template hono, whose jobs are below its mount', async () => {
  await create('hono')
  const folder = join(packed.folder, 'hono')
  await must(packed.folder, `cp -al ${first}/node_modules ${folder}/node_modules`)
  const deployed = await deploy('hono', folder, '/_sidejob')
  await runsDouble(deployed)
  expect((await fetch(`${deployed.origin}/health`)).status).toBe(404)
  const answer = await fetch(`${deployed.origin}/numbers`, { method: 'POST', body: '[1,2]' })
  expect(answer.status).toBe(201)
})

test('a Worker from the template python, whose jobs an external program performs', async () => {
  await create('python')
  const folder = join(packed.folder, 'python')
  await must(packed.folder, `cp -al ${first}/node_modules ${folder}/node_modules`)
  const deployed = await deploy('python', folder)
  const python = start(folder, 'python3 worker.py', deployed.env)
  try {
    await python.prints(/waiting for work/)
    const out = await must(folder, `npx sidejob run report --args '{"text":"hello"}' --wait --json`, deployed.env)
    expect(out).toContain('"shouted":"HELLO"')
  } finally {
    await python.close()
  }
})

const mine = {
  'package.json': '{\n  "name": "mine",\n  "private": true,\n  "type": "module"\n}\n',
  'public/hello.txt': 'a file of mine',
  'lib/greeting.ts': "export const greeting = 'mine, by an alias'\n",
  'src/index.ts': `import { Hono } from 'hono'
import { greeting } from 'greeting'
const app = new Hono<{ Bindings: { LAST: string } }>()
let last = 'none'
app.get('/greeting', (c) => c.text(greeting))
app.get('/last-cron', (c) => c.text(last))
export default { fetch: app.fetch, scheduled: (event: { cron: string }) => void (last = event.cron) }
`,
}

const withJobs = (entry: string): string =>
  `import { jobs } from './jobs/index.ts'\n${entry.replace(/export default (\{.*\})/s, 'export default jobs.with($1)')}`

test('a Worker that init added sidejob to, with static files, an alias and its own cron trigger', async () => {
  const folder = join(packed.folder, 'mine')
  write(folder, {
    ...mine,
    'wrangler.jsonc': `{
  // mine
  "name": "mine",
  "main": "src/index.ts",
  "compatibility_date": "2026-10-20",
  "assets": { "directory": "./public" },
  "alias": { "greeting": "./lib/greeting.ts" },
  "triggers": { "crons": ["0 3 * * *"] }
}
`,
  })
  await must(packed.folder, `cp -al ${first}/node_modules ${folder}/node_modules`)
  await must(folder, 'npx sidejob init --yes', packed.env)
  write(folder, { 'src/index.ts': withJobs(mine['src/index.ts']) })
  const deployed = await deploy('mine', folder, '/_sidejob')
  await runsDouble(deployed)
  const textAt = async (path: string) => (await fetch(`${deployed.origin}${path}`)).text()
  expect(await textAt('/hello.txt')).toBe('a file of mine')
  expect(await textAt('/greeting')).toBe('mine, by an alias')
  expect(cloud.workers.get('mine')!.crons.toSorted()).toEqual(['* * * * *', '0 3 * * *'])
  await sites.fire('mine', '* * * * *')
  expect(await textAt('/last-cron')).toBe('none')
  await sites.fire('mine', '0 3 * * *')
  expect(await textAt('/last-cron')).toBe('0 3 * * *')
  expect(await must(folder, 'ls')).not.toContain('wrangler.sidejob')
})

const builtEntry = "export default { fetch: () => new Response('mine') }\n"

test("a Worker that Cloudflare's Vite plugin built", async () => {
  const folder = join(packed.folder, 'built')
  write(folder, {
    'package.json': '{\n  "name": "built",\n  "private": true,\n  "type": "module"\n}\n',
    'index.html': '<!doctype html><title>built</title><script type="module" src="/page.ts"></script>',
    'page.ts': "document.title = 'built by Vite'\n",
    'vite.config.ts': `import { cloudflare } from '@cloudflare/vite-plugin'
import { defineConfig } from 'vite'
export default defineConfig({ plugins: [cloudflare()] })
`,
    'wrangler.jsonc': `{
  "name": "built",
  "main": "src/index.ts",
  "compatibility_date": "2026-10-12",
  "assets": { "not_found_handling": "single-page-application", "run_worker_first": ["/_sidejob/*", "/.well-known/*", "/mine"] }
}
`,
    'src/index.ts': builtEntry,
  })
  await must(folder, `npm install --no-audit --no-fund ${packed.tarball} zod hono ${VITE.join(' ')}`)
  await must(folder, 'npx sidejob init --yes', packed.env)
  write(folder, { 'src/index.ts': withJobs(builtEntry) })
  await must(folder, 'npx vite build')
  const deployed = await deploy('built', folder, '/_sidejob')
  await runsDouble(deployed)
  expect(await (await fetch(`${deployed.origin}/`)).text()).toContain('<title>built</title>')
  expect(await (await fetch(`${deployed.origin}/mine`)).text()).toBe('mine')
  expect(cloud.workers.get('built')!.crons).toEqual(['* * * * *'])
})
