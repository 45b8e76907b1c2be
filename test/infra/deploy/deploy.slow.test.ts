import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type DeployOptions, deploy, destroy } from '../../../src/deploy/index.ts'
import { VERSION } from '../../../src/engine/index.ts'
import { type Cloud, startCloud } from './cloud.ts'

let cloud: Cloud
let folder: string
let said: string[]

// A small Worker is enough, because this test does not cover the build.
const toml = `name = "sidejob"
main = "w.js"
compatibility_date = "2026-10-20"
workers_dev = true
preview_urls = false
triggers = { crons = ["* * * * *"] }
r2_buckets = [{ binding = "FILES", bucket_name = "sidejob-files" }]
`

beforeEach(async () => {
  cloud = await startCloud()
  folder = mkdtempSync(join(tmpdir(), 'sidejob-deploy-'))
  writeFileSync(join(folder, 'wrangler.toml'), toml)
  writeFileSync(join(folder, 'w.js'), "export default { fetch: () => new Response('') }")
  said = []
  const real = globalThis.fetch
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = String(input instanceof Request ? input.url : input)
    const found = /^https:\/\/([^.]+)\.acme\.workers\.dev(\/.*)$/.exec(url)
    return found ? real(`${cloud.base}/${found[1]}${found[2]}`, init) : real(input, init)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await cloud.close()
  rmSync(folder, { recursive: true, force: true })
})

const options = (): DeployOptions => ({
  env: cloud.env,
  name: 'sidejob-staging',
  folder,
  config: join(folder, 'wrangler.toml'),
  say: (line) => said.push(line),
})
const run = (more: Partial<DeployOptions> = {}, env: Record<string, string | undefined> = {}) =>
  deploy({ ...options(), env: { ...cloud.env, ...env }, patience: 200, pause: 20, ...more })
const remove = (more: Partial<DeployOptions> = {}) => destroy({ ...options(), ...more })
const failure = async (more: Partial<DeployOptions> = {}, env: Record<string, string | undefined> = {}) => {
  const found = await run(more, env).then(
    () => undefined,
    (error: Error) => error.message,
  )
  expect(found).toBeTypeOf('string')
  return found!
}
const keysOf = (name = 'sidejob-staging') =>
  JSON.parse(readFileSync(join(folder, `${name}.keys.json`), 'utf8')) as Record<string, string>
const wasUploaded = () => cloud.state.seen.some((line) => /^PUT .*\/scripts\/[^/]+$/.test(line))

describe('a deployment', { timeout: 120_000 }, () => {
  test('creates all its resources under its own name, checks them, and prints the address', async () => {
    const { url, redisMs } = await run()
    expect({ url, redisMs }).toEqual({ url: 'https://sidejob-staging.acme.workers.dev', redisMs: 7 })
    const worker = cloud.workers.get('sidejob-staging')!
    expect(worker.buckets).toEqual(['sidejob-staging-files'])
    expect(worker.crons).toEqual(['* * * * *'])
    expect(worker.placement).toMatchObject({ region: 'aws:us-east-1' })
    expect(worker.secrets).toMatchObject({
      PUBLIC_URL: url,
      SIDEJOB_NAMESPACE: 'sidejob-staging:',
      UPSTASH_REDIS_REST_TOKEN: 'redis-token',
      ...keysOf(),
    })
    expect(Object.keys(keysOf()).sort()).toEqual(['SIDEJOB_API_KEY', 'SIDEJOB_FILES_SECRET', 'SIDEJOB_WEBHOOK_SECRET'])
    expect(statSync(join(folder, 'sidejob-staging.keys.json')).mode & 0o777).toBe(0o600)
    expect([...cloud.schedules]).toEqual([
      ['sidejob-tick-sidejob-staging', { destination: `${url}/tick`, cron: '*/10 * * * *' }],
    ])
    expect(cloud.workers.get('sidejob-staging')!.metadata).toMatchObject({ compatibility_date: '2026-10-20' })
    expect(said.join('\n')).toContain('Upstash Redis: jobs, plan paid, eviction off')
    expect(said.join('\n')).toContain('Redis in us-east-1, QStash in eu-central-1, the Worker at aws:us-east-1')
    expect(said.join('\n')).toContain('a round trip from the Worker to Redis: 7 ms')
    expect(said.join('\n')).toContain('WARNING QStash (eu-central-1) is far from the database (us-east-1)')
    for (const secret of Object.values(keysOf())) expect(said.join('\n')).not.toContain(secret)
  })

  test('does not affect another deployment, and neither does its removal', async () => {
    await run({ name: 'sidejob' })
    const before = JSON.stringify([
      cloud.workers.get('sidejob'),
      cloud.schedules.get('sidejob-tick-sidejob'),
      keysOf('sidejob'),
    ])
    await run()
    await remove()
    expect(
      JSON.stringify([cloud.workers.get('sidejob'), cloud.schedules.get('sidejob-tick-sidejob'), keysOf('sidejob')]),
    ).toBe(before)
    expect([...cloud.workers.keys()]).toEqual(['sidejob'])
    expect([...cloud.schedules.keys()]).toEqual(['sidejob-tick-sidejob'])
    await remove()
    expect(said).toContain('there is no Worker sidejob-staging')
  })

  test('can be repeated, and the keys stay the same', async () => {
    await run()
    const [keys, secrets] = [keysOf(), cloud.workers.get('sidejob-staging')!.secrets]
    await run()
    expect(keysOf()).toEqual(keys)
    expect(cloud.workers.get('sidejob-staging')!.secrets).toEqual(secrets)
  })

  test('succeeds and warns after the owner has replaced SIDEJOB_API_KEY with wrangler', async () => {
    await run()
    cloud.workers.get('sidejob-staging')!.secrets.SIDEJOB_API_KEY = 'the new key of the owner'
    await run()
    expect(said.join('\n')).toContain('WARNING The Worker does not know the SIDEJOB_API_KEY in ')
  })

  test('without R2 creates no bucket, and reports this', async () => {
    cloud.state.r2 = false
    await run()
    expect(cloud.workers.get('sidejob-staging')!.buckets).toEqual([])
    expect(said.join('\n')).toContain('R2 is not enabled on this account, so there are no downloads')
  })

  const bindHistory = (more = '') =>
    writeFileSync(join(folder, 'wrangler.toml'), `${toml}d1_databases = [{ binding = "HISTORY"${more} }]\n`)

  test('with a binding HISTORY creates the database and its tables once, and keeps a given id', async () => {
    bindHistory()
    await run()
    const [[id, { name, sql }]] = [...cloud.databases] as [[string, { name: string; sql: DatabaseSync }]]
    expect([name, cloud.workers.get('sidejob-staging')!.databases]).toEqual(['sidejob-staging-history', [id]])
    expect(said).toContain('the database sidejob-staging-history is new')
    const tables = sql.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    expect(tables.map((one) => one.name)).toEqual(['ends', 'labels', 'runs', 'sidejob_history'])
    await run()
    expect([...cloud.databases.keys()]).toEqual([id])
    expect(sql.prepare('SELECT version FROM sidejob_history').all()).toEqual([{ version: 1 }])
    await run({ name: 'sidejob-other' })
    expect(cloud.databases.size).toBe(2)
    bindHistory(`, database_name = "mine", database_id = "${id}"`)
    await run({ name: 'sidejob-third' })
    expect(cloud.workers.get('sidejob-third')!.databases).toEqual([id])
    expect(cloud.databases.size).toBe(2)
  })

  test('uses the database of an earlier deployment that lost its connection', async () => {
    bindHistory()
    cloud.state.faults.push({ at: /^POST .*\/d1\/database$/, breaks: 'after' })
    expect(await failure()).toContain('Try again: completed steps are not repeated')
    await run()
    expect(cloud.workers.get('sidejob-staging')!.databases).toEqual([...cloud.databases.keys()])
    expect(cloud.databases.size).toBe(1)
  })

  test('with a token without access to D1 names the remedy, and uploads nothing', async () => {
    bindHistory()
    cloud.state.d1 = false
    expect(await failure()).toMatch(/Authentication error.*\nGive the token the permission "D1: Edit", or create/)
    expect(wasUploaded()).toBe(false)
  })

  test('at its own domain needs no workers.dev subdomain', async () => {
    cloud.state.subdomain = undefined
    const url = `${cloud.base}/sidejob-staging`
    expect((await run({}, { PUBLIC_URL: `${url}/` })).url).toBe(url)
    expect(cloud.workers.get('sidejob-staging')!.secrets.PUBLIC_URL).toBe(url)
  })
})

const schedule = () => [...cloud.schedules.values()]
const warned = () => said.filter((line) => line.startsWith('WARNING'))
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const generated = () => readdirSync(folder).filter((name) => name.startsWith('wrangler.sidejob'))

describe('every kind of Worker', { timeout: 120_000 }, () => {
  test('a mounted Worker is checked and ticked below its mount, although its app has no /health', async () => {
    cloud.state.mount = '/_sidejob'
    const { url } = await run()
    expect(url).toBe('https://sidejob-staging.acme.workers.dev/_sidejob')
    expect(schedule()).toEqual([{ destination: `${url}/tick`, cron: '*/10 * * * *' }])
    expect(cloud.workers.get('sidejob-staging')!.secrets.PUBLIC_URL).toBe('https://sidejob-staging.acme.workers.dev')
    expect(said.join('\n')).toContain(`${url} answers with sidejob ${VERSION}, refuses unsigned calls`)
  })

  test('PUBLIC_URL of a mounted Worker may contain the mount', async () => {
    cloud.state.mount = '/_sidejob'
    const given = 'https://sidejob-staging.acme.workers.dev/_sidejob'
    expect((await run({}, { PUBLIC_URL: given })).url).toBe(given)
    expect(schedule()[0]!.destination).toBe(`${given}/tick`)
  })

  test('a Worker with static files, an alias and a build command: relative paths work as in wrangler', async () => {
    cloud.databases.set('00000000-0000-4000-8000-000000000000', { name: 'mine', sql: new DatabaseSync(':memory:') })
    write('public/hello.html', 'hello')
    write('lib/dep.js', "export const dep = 'the alias'")
    write(
      'w.js',
      "import { dep } from 'dep'\nimport { made } from './made.js'\nexport default { fetch: () => new Response(dep + made) }",
    )
    write(
      'wrangler.toml',
      `${toml}
alias = { dep = "./lib/dep.js" }
assets = { directory = "./public", binding = "ASSETS" }
build = { command = "echo \\"export const made = 'the build'\\" > made.js" }
tsconfig = "./tsconfig.json"
[[d1_databases]]
binding = "DB"
database_id = "00000000-0000-4000-8000-000000000000"
database_name = "mine"
migrations_dir = "../migrations"
`,
    )
    write('tsconfig.json', '{}')
    await run()
    const { modules, files, metadata } = cloud.workers.get('sidejob-staging')!
    const code = Buffer.from(modules!.find(({ name }) => name === metadata!.main_module)!.contents).toString()
    expect(code).toContain('the alias')
    expect(code).toContain('the build')
    expect([...files!].map(([path, content]) => [path, content.toString()])).toEqual([['/hello.html', 'hello']])
    expect(generated()).toEqual([])
  })

  test('a Worker from a build tool: its generated configuration is deployed', async () => {
    write('.wrangler/deploy/config.json', '{ "configPath": "../../dist/server/wrangler.json" }')
    write('dist/client/index.html', 'built')
    write(
      'dist/server/index.js',
      "import { part } from './assets/part.js'\nexport default { fetch: () => new Response(part) }",
    )
    write('dist/server/assets/part.js', "export const part = 'a part of its own'")
    write(
      'dist/server/wrangler.json',
      JSON.stringify({
        configPath: '../../wrangler.toml',
        userConfigPath: '../../wrangler.toml',
        name: 'built',
        main: 'index.js',
        compatibility_date: '2026-10-20',
        no_bundle: true,
        rules: [{ type: 'ESModule', globs: ['**/*.js'] }],
        assets: { directory: '../client' },
        triggers: { crons: ['* * * * *'] },
      }),
    )
    await run()
    const { modules, files } = cloud.workers.get('sidejob-staging')!
    expect(modules!.map(({ name }) => name).sort()).toEqual(['assets/part.js', 'index.js'])
    expect([...files!.keys()]).toEqual(['/index.html'])
    expect(schedule()[0]!.cron).toBe('*/10 * * * *')
    const left = readdirSync(join(folder, 'dist/server')).filter((name) => !name.startsWith('.'))
    expect(left.sort()).toEqual(['assets', 'index.js', 'wrangler.json'])
  })

  test('a Worker keeps its own cron trigger, with and without the tick', async () => {
    write('wrangler.toml', toml.replace('["* * * * *"]', '["0 3 * * *", "* * * * *"]'))
    await run()
    expect(cloud.workers.get('sidejob-staging')!.crons).toEqual(['0 3 * * *', '* * * * *'])
    expect(schedule()[0]!.cron).toBe('*/10 * * * *')
    await run({ cron: false })
    expect(cloud.workers.get('sidejob-staging')!.crons).toEqual(['0 3 * * *'])
    expect(schedule()[0]!.cron).toBe('* * * * *')
  })

  test('QStash ticks a Worker without a cron trigger every minute, and the owner is warned', async () => {
    write('wrangler.toml', toml.replace('["* * * * *"]', '["0 3 * * *"]'))
    await run()
    expect(cloud.workers.get('sidejob-staging')!.crons).toEqual(['0 3 * * *'])
    expect(schedule()[0]!.cron).toBe('* * * * *')
    expect(warned().join()).toContain(
      'wrangler.toml has no cron trigger "* * * * *", so only QStash ticks this Worker: every minute',
    )
  })

  test('a Worker can publish another pattern of its tick at its well-known address', async () => {
    cloud.state.mount = '/_sidejob'
    cloud.state.tick = '*/2 * * * *'
    write('wrangler.toml', toml.replace('["* * * * *"]', '["*/2 * * * *"]'))
    await run()
    expect(schedule()[0]!.cron).toBe('*/10 * * * *')
    expect(warned().join()).not.toContain('cron trigger')
  })

  test('the name of a Worker may contain "_"', async () => {
    const { url } = await run({ name: 'my_jobs' })
    expect(url).toBe('https://my_jobs.acme.workers.dev')
    expect(cloud.workers.get('my_jobs')!.buckets[0]).toMatch(/^my-jobs-[0-9a-f]{4}-files$/)
  })

  test('a Worker is placed near its database in Google Cloud', async () => {
    await run({}, { UPSTASH_REDIS_REGION: 'us-central1' })
    expect(cloud.workers.get('sidejob-staging')!.placement).toMatchObject({ region: 'gcp:us-central1' })
  })

  test('if Cloudflare does not know the region, a Worker is deployed without a placement, and the owner is warned', async () => {
    await run({}, { UPSTASH_REDIS_REGION: 'us-moon-1' })
    expect(cloud.workers.get('sidejob-staging')!.placement).toBeUndefined()
    expect(warned().join()).toContain('Cloudflare has no placement region aws:us-moon-1')
  })

  test('the configuration of a Worker chooses one of several accounts', async () => {
    cloud.state.accounts.push({ id: 'acc2', name: 'Two' })
    write('wrangler.toml', `account_id = "acc2"\n${toml}`)
    await run()
    expect(cloud.state.seen.some((line) => line.includes('/accounts/acc2/workers/scripts/sidejob-staging'))).toBe(true)
    expect(cloud.state.seen.some((line) => line.includes('/accounts/acc1/'))).toBe(false)
  })

  test('the configuration of a Worker chooses the account from which destroy removes it', async () => {
    cloud.state.accounts.push({ id: 'acc2', name: 'Two' })
    write('wrangler.toml', `account_id = "acc2"\n${toml}`)
    await run()
    await remove()
    expect(said).toContain('the Worker sidejob-staging is removed')
    expect(said.at(-1)).toContain(join(folder, 'sidejob-staging.keys.json'))
  })

  test('destroy named the wrong namespace if SIDEJOB_NAMESPACE was set', async () => {
    await remove({ env: { ...cloud.env, SIDEJOB_NAMESPACE: 'own:' } })
    expect(said.at(-1)).toMatch(/^kept: the keys in Redis that begin with own:, the bucket sidejob-staging-files,/)
  })

  test('destroy says that an invalid name is from the configuration', async () => {
    const source = 'name in wrangler.toml'
    await expect(remove({ name: 'My Jobs', source })).rejects.toThrow(`${source}: expected up to 52`)
  })

  test('warns about flags that a configuration lacks', async () => {
    await run()
    expect(warned().join('\n')).toMatch(/wrangler\.toml lacks the compatibility flag "global_fetch_strictly_public"/)
  })

  test.each([
    ['Cloudflare, before the upload', /GET .*\/workers\/subdomain$/],
    ['Cloudflare, in the middle of wrangler', /GET .*\/scripts\/[^/]+\/deployments$/],
    ['Upstash', /GET \/upstash\/v2\/redis\/databases$/],
    ['QStash, for the schedule', /POST \/qstash\/v2\/schedules/],
    ['QStash, for the tick', /POST \/qstash\/v2\/publish/],
  ])('is deployed although its rate is refused twice: %s', async (_, at) => {
    await run()
    cloud.state.faults.push({ at, status: 429, times: 2 })
    await run()
    expect(cloud.state.faults[0]!.times).toBe(0)
  })

  test('is deployed although the log of QStash is late', async () => {
    cloud.state.late = 6
    await run({ patience: 5_000 })
  })
})

describe('files in the folder after a deployment', { timeout: 120_000 }, () => {
  test('only the keys remain after an upload that was refused', async () => {
    cloud.state.faults.push({ at: /^PUT .*\/scripts\/[^/]+$/, code: 10021, message: 'Uncaught ReferenceError' })
    await failure()
    expect(readdirSync(folder).sort()).toEqual(['.wrangler', 'sidejob-staging.keys.json', 'w.js', 'wrangler.toml'])
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('neither secrets nor a configuration remain after %s', async (signal) => {
    cloud.state.faults.push({ at: /^PUT .*\/scripts\/[^/]+$/, breaks: 'never' })
    const env = { ...cloud.env, CLOUDFLARE_ACCOUNT_ID: 'acc1' }
    const cli = join(import.meta.dirname, '../../../src/cli/index.ts')
    const child = spawn(process.execPath, [cli, 'deploy', folder], { env, stdio: 'ignore' })
    const ended = new Promise((done) => child.once('close', (_, by) => done(by)))
    await vi.waitFor(() => expect(wasUploaded()).toBe(true), { timeout: 60_000, interval: 50 })
    const secrets = () => readdirSync(join(folder, '.sidejob')).filter((name) => name.startsWith('secrets'))
    expect([generated().length, secrets().length]).toEqual([1, 1])
    child.kill(signal)
    expect(await ended).toBe(signal)
    expect([generated(), secrets()]).toEqual([[], []])
  })
})

describe('failures before the upload', () => {
  afterEach(() => expect(wasUploaded()).toBe(false))

  test('the error names all accounts, although a page has only two', async () => {
    for (const n of [2, 3, 4, 5]) cloud.state.accounts.push({ id: `acc${n}`, name: `No. ${n}` })
    const words = await failure()
    expect(words).toContain('This token has access to 5 accounts.')
    for (const n of [2, 3, 4, 5]) expect(words).toContain(`CLOUDFLARE_ACCOUNT_ID=acc${n}  # No. ${n}`)
  })

  test('if a database evicts keys, the error says where to turn off eviction', async () => {
    cloud.state.databases = [{ ...cloud.state.databases[0]!, eviction: true }]
    expect(await failure()).toMatch(/Eviction is on for the database jobs.*deletes random keys.*Upstash console/)
  })

  test('the error for an invalid region shows the received value', async () => {
    expect(await failure({}, { UPSTASH_REDIS_REGION: 'Frankfurt' })).toContain('got "Frankfurt"')
  })

  test('if the configuration of a build is missing, the error asks for a new build', async () => {
    mkdirSync(join(folder, '.wrangler/deploy'), { recursive: true })
    writeFileSync(join(folder, '.wrangler/deploy/config.json'), '{ "configPath": "../../dist/wrangler.json" }')
    expect(await failure()).toMatch(/dist\/wrangler\.json, which does not exist\. Build the Worker again/)
  })

  test('without a workers.dev subdomain, the error names the page to choose a subdomain', async () => {
    cloud.state.subdomain = undefined
    expect(await failure()).toContain('https://dash.cloudflare.com/acc1/workers/onboarding')
  })

  test('the error for an invalid token explains how to get a token', async () => {
    cloud.state.faults.push({ at: /GET .*\/accounts$/, status: 403, code: 9109, message: 'Invalid access token' })
    expect(await failure()).toContain('npx wrangler login')
  })

  test('if Cloudflare cannot be reached, the error says that completed steps are not repeated', async () => {
    cloud.state.faults.push({ at: /workers\/subdomain/, breaks: 'before' })
    expect(await failure()).toMatch(/Cloudflare cannot be reached.*Try again: completed steps are not repeated/)
  })

  test('in CI, the error asks for the keys', async () => {
    expect(await failure({}, { CI: 'true' })).toContain(
      'set SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET',
    )
  })

  test.each([
    ['a clock that can be moved', { SIDEJOB_TEST_CLOCK: '1' }, 'SIDEJOB_TEST_CLOCK'],
    ['the key of local stacks', { SIDEJOB_API_KEY: 'dev' }, 'got "dev", the key of local stacks'],
    ['a key that can be guessed', { SIDEJOB_API_KEY: 'short' }, 'expected at least 16 characters, got 5'],
    [
      "QStash's published signing key",
      { QSTASH_CURRENT_SIGNING_KEY: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r' },
      'QSTASH_CURRENT_SIGNING_KEY: expected a value from your QStash account',
    ],
    [
      'a webhook secret that is too short',
      { SIDEJOB_WEBHOOK_SECRET: `whsec_${btoa('x'.repeat(32))},whsec_${btoa('x'.repeat(23))}` },
      'expected whsec_ and at least 24 bytes in base64, got 23 bytes',
    ],
    ['no token of QStash', { QSTASH_TOKEN: '' }, 'QSTASH_TOKEN is missing'],
  ])('%s is refused', async (_, env, words) => {
    expect(await failure({}, env)).toContain(words)
    expect(cloud.state.seen).toEqual([])
  })

  test('an invalid name is refused', async () => {
    await expect(run({ name: 'My Jobs' })).rejects.toThrow('--name: expected up to 52 of a-z, 0-9')
  })
})

describe('failures during and after the upload, and the next attempt', { timeout: 120_000 }, () => {
  const upload = /^PUT .*\/scripts\/[^/]+$/

  test.each([
    [
      'the Free plan refuses a CPU limit',
      { at: upload, code: 100328, message: 'CPU limits are not supported for the Free plan.' },
      'remove [limits] from wrangler.toml',
    ],
    [
      'a binding names a Worker that is not there',
      { at: upload, code: 10143, message: 'Service binding SELF references Worker sidejob which was not found.' },
      'names a Worker that does not exist',
    ],
    [
      'the account has no room for a cron trigger',
      { at: /PUT .*\/schedules$/, code: 10072, message: 'You have exceeded the limit of 5 cron triggers.' },
      'deploy with --no-cron',
    ],
  ])('%s', async (_, fault, advice) => {
    cloud.state.faults.push(fault)
    expect(await failure()).toContain(advice)
    const keys = keysOf()
    await run()
    expect(keysOf()).toEqual(keys)
    expect(cloud.workers.get('sidejob-staging')!.secrets).toMatchObject(keys)
  })

  test('the network fails after the upload: the Worker has the recorded key', async () => {
    cloud.state.faults.push({ at: upload, breaks: 'after', times: 10 })
    expect(await failure()).toContain('Deploy again')
    const keys = keysOf()
    cloud.state.faults.length = 0
    await run()
    expect(keysOf()).toEqual(keys)
    expect(cloud.workers.get('sidejob-staging')!.secrets).toMatchObject(keys)
  })

  test('without a cron trigger QStash ticks each minute', async () => {
    await run({ cron: false })
    expect(cloud.workers.get('sidejob-staging')!.crons).toEqual([])
    expect([...cloud.schedules.values()].map(({ cron }) => cron)).toEqual(['* * * * *'])
  })

  test('another version answers at the address', async () => {
    cloud.state.health = { ok: true, version: '9.9.9' }
    expect(await failure()).toMatch(/healthy Worker with sidejob .*, got \S+\/health: 200 .*9\.9\.9.*PUBLIC_URL/s)
  })

  test('Redis cannot be reached from the Worker', async () => {
    cloud.state.health = { ok: false, redis: false, version: '0.1.0' }
    expect(await failure()).toContain(
      'Compare UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN with the Upstash console',
    )
  })

  test('a check for bots answers instead of the Worker', async () => {
    cloud.state.faults.push({ at: /POST \/sidejob-staging\/tick/, status: 403, code: 1, message: 'Just a moment' })
    expect(await failure()).toContain('turn off Bot Fight Mode')
    expect(cloud.schedules.size).toBe(0)
  })

  test('the tick does not arrive', async () => {
    cloud.state.delivery = 'FAILED'
    expect(await failure()).toMatch(/did not arrive \(FAILED, message msg_\d\).*signing keys/)
  })

  test('if QStash refuses to show its log, the error has this cause and does not blame the signing keys', async () => {
    const message = 'this token cannot read logs'
    cloud.state.faults.push({ at: /GET \/qstash\/v2\/(logs|events)/, status: 403, code: 1, message, times: 1_000 })
    const words = await failure()
    expect(words).toContain(message)
    expect(words).not.toContain('signing keys')
  })

  test('is deployed although the first connection for an unsigned tick breaks', async () => {
    cloud.state.faults.push({ at: /POST \/sidejob-staging\/tick/, breaks: 'before' })
    await run()
    expect(cloud.state.faults[0]!.times).toBe(0)
  })

  test.each([
    ['the token', 401, 'unauthorized', /QSTASH_TOKEN does not belong to this QStash/],
    ['another schedule', 412, 'maximum number of schedules reached', /maximum number of schedules.*QStash console/s],
  ])(
    'QStash refuses %s: the Worker exists, and the next attempt creates the missing parts',
    async (_, status, message, says) => {
      cloud.state.faults.push({ at: /POST \/qstash\/v2\/schedules/, status, code: 1, message })
      const words = await failure()
      expect(words).toMatch(says)
      expect(words).toMatch(/^The Worker is deployed, but QStash refused the schedule: /)
      expect(wasUploaded()).toBe(true)
      expect(cloud.schedules.size).toBe(0)
      const keys = keysOf()
      await run()
      expect([...cloud.schedules.keys()]).toEqual(['sidejob-tick-sidejob-staging'])
      expect(keysOf()).toEqual(keys)
    },
  )
})
