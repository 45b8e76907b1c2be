import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { experimental_readRawConfig as readRawConfig } from 'wrangler'
import { probe } from '../../../infra/probe/index.ts'
import { development } from '../../../infra/stand-ins/qstash.ts'
import { planOf as initPlan } from '../../../src/cli/project/init/plan.ts'
import { authorOf, commitOf } from '../../../src/deploy/code-version.ts'
import { configFor, readProject, warningsFor } from '../../../src/deploy/config.ts'
import { distanceWarnings, placementOf, qstashRegion } from '../../../src/deploy/database.ts'
import { adviceFor } from '../../../src/deploy/failure.ts'
import { flagsFor, observability, versionMetadata } from '../../../src/deploy/recommended.ts'
import { describe, namesOf, planOf } from '../../../src/deploy/settings.ts'
import { EVERY_TEN_MINUTES } from '../../../src/deploy/tick.ts'
import { settings } from '../../../src/settings.ts'
import { placements, regions } from './placement.ts'

const root = join(import.meta.dirname, '../../..')
const told: string[] = Object.keys(settings)

const given = {
  UPSTASH_REDIS_REST_URL: 'https://eu1.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'redis-token',
  QSTASH_TOKEN: 'qstash-token',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_1',
  QSTASH_NEXT_SIGNING_KEY: 'sig_2',
}

test('the plan lists the resources to create, deploy and schedule, and shows no secret', () => {
  const lines = describe(planOf({ ...given, HOME: '/root' }, 'sidejob-staging'))
  expect(lines).toEqual([
    '1. Create SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET unless the Worker sidejob-staging has them, and store them in .sidejob/sidejob-staging.keys.json.',
    '2. Create the bucket sidejob-staging-files in R2 unless it exists; without R2 there are no downloads.',
    '3. Create the database sidejob-staging-history and its tables in D1, if the configuration binds HISTORY without an id.',
    `4. Build the Worker sidejob-staging and deploy it, with the secrets SIDEJOB_NAMESPACE, ${Object.keys(given).join(', ')}.`,
    '5. Find the path at which the Worker serves sidejob, check that https://sidejob-staging.<your subdomain>.workers.dev<mount>/health answers, and that https://sidejob-staging.<your subdomain>.workers.dev<mount>/tick refuses unsigned calls.',
    '6. Set up the schedule sidejob-tick-sidejob-staging in QStash, and check that one tick arrives.',
  ])
  for (const secret of Object.values(given)) expect(lines.join('\n')).not.toContain(secret)
})

test('a given key is not created', () => {
  const own = {
    SIDEJOB_API_KEY: 'a key of my own, long enough',
    SIDEJOB_WEBHOOK_SECRET: `whsec_${btoa('x'.repeat(32))}`,
    SIDEJOB_FILES_SECRET: 'mine',
  }
  const plan = planOf({ ...given, ...own })
  expect(plan).toMatchObject({ made: [], refused: [], missing: [] })
  expect(describe(plan)[0]).toBe('1. Create no secrets, because all are set.')
  expect(plan.given).toMatchObject(own)
})

test('missing values are named, with their source', () => {
  const lines = describe(planOf({ ...given, QSTASH_TOKEN: undefined }))
  expect(lines.filter((line) => line.startsWith('Missing'))).toEqual([
    "Missing: QSTASH_TOKEN, from QStash's page in the Upstash console.",
  ])
})

test('public values, and values for tests, must not be deployed', () => {
  const refusedFor = (more: Record<string, string>) => planOf({ ...given, ...more }).refused.join()
  expect(refusedFor({})).toBe('')
  expect(refusedFor({ SIDEJOB_TEST_CLOCK: '1' })).toMatch(/^SIDEJOB_TEST_CLOCK: expected no value/)
  expect(refusedFor({ SIDEJOB_API_KEY: 'dev' })).toContain('at least 16 characters, got "dev", the key of local stacks')
  for (const [name, value] of Object.entries(development))
    if (name !== 'QSTASH_URL')
      expect(refusedFor({ QSTASH_TOKEN: value })).toContain("the value of QStash's development server")
  expect(refusedFor({ SIDEJOB_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' })).toContain('at least 24 bytes in base64, got 5 bytes')
})

test('an invalid encryption key is refused, with the expected form', () => {
  const refusedFor = (key: string) => planOf({ ...given, SIDEJOB_ENCRYPTION_KEY: key }).refused
  expect(refusedFor(`${'A'.repeat(43)}=,${'_-B'.repeat(14)}A`)).toEqual([])
  expect(refusedFor(`${'A'.repeat(43)}=,short`)).toEqual([
    'SIDEJOB_ENCRYPTION_KEY, key 2: expected the base64 of 32 bytes, as "openssl rand -base64 32" writes it, got another value of 5 characters',
  ])
})

test('the first deployment keeps its names, and no other deployment uses them', () => {
  expect(namesOf()).toEqual({
    worker: 'sidejob',
    namespace: 'sidejob:',
    bucket: 'sidejob-files',
    history: 'sidejob-history',
    schedule: 'sidejob-tick-sidejob',
  })
  const names = [namesOf(), namesOf('sidejob-staging'), namesOf('other')].flatMap((one) => Object.values(one))
  expect(new Set(names).size).toBe(names.length)
})

test('a name with "_" is accepted, and its bucket has a name that R2 accepts', () => {
  expect(namesOf('my_jobs')).toMatchObject({
    worker: 'my_jobs',
    namespace: 'my_jobs:',
    bucket: expect.stringMatching(/^my-jobs-[0-9a-f]{4}-files$/),
    schedule: 'sidejob-tick-my_jobs',
  })
  const buckets = ['my-jobs-too', 'my_jobs_too', 'my_jobs-too'].map((name) => namesOf(name).bucket)
  expect(new Set(buckets).size).toBe(3)
})

test('a name that Cloudflare or wrangler refuses: the error names its source', () => {
  for (const name of ['My Jobs', 'MyJobs', '-jobs', 'jobs-', 'a'.repeat(53), ''])
    expect(() => namesOf(name, 'name in wrangler.jsonc')).toThrow(
      /^name in wrangler\.jsonc: expected up to 52 of a-z, 0-9, "-" and "_"/,
    )
})

const shape = {
  names: namesOf('other'),
  account: 'acc1',
  bucket: true,
  cron: true,
  workersDev: true,
  placement: 'aws:eu-west-1',
}

test('the configuration of a deployment has the names of the deployment and the paths of the project', () => {
  const paths = {
    main: 'src/worker.ts',
    tsconfig: './tsconfig.worker.json',
    assets: { directory: './public', binding: 'ASSETS' },
    alias: { dep: './src/dep.ts' },
    wasm_modules: { math: './math.wasm' },
    d1_databases: [{ binding: 'DB', database_id: 'x', migrations_dir: '../db/migrations' }],
    containers: [{ class_name: 'C', image: './Dockerfile' }],
    build: { command: 'npm run prebuild', cwd: './build', watch_dir: './src' },
  }
  const raw = { ...paths, minify: true, r2_buckets: [{ binding: 'FILES', jurisdiction: 'eu' }, { binding: 'MINE' }] }
  expect(configFor(raw, shape)).toEqual({
    ...paths,
    minify: true,
    name: 'other',
    account_id: 'acc1',
    workers_dev: true,
    placement: { region: 'aws:eu-west-1' },
    version_metadata: { binding: 'CF_VERSION_METADATA' },
    r2_buckets: [{ binding: 'FILES', jurisdiction: 'eu', bucket_name: 'other-files' }, { binding: 'MINE' }],
  })
  const d1 = { d1_databases: [{ binding: 'HISTORY' }, { binding: 'DB', database_id: 'x' }] }
  expect(configFor({ ...raw, ...d1 }, { ...shape, history: 'id7' }).d1_databases).toEqual([
    { binding: 'HISTORY', database_name: 'other-history', database_id: 'id7' },
    { binding: 'DB', database_id: 'x' },
  ])
  expect(configFor(raw, { ...shape, bucket: false }).r2_buckets).toEqual([{ binding: 'MINE' }])
  expect(configFor({ main: 'w.js' }, { ...shape, placement: undefined })).toEqual({
    main: 'w.js',
    name: 'other',
    account_id: 'acc1',
    workers_dev: true,
    version_metadata: { binding: 'CF_VERSION_METADATA' },
  })
})

test('a deployment has the commit of its folder and its author as variables, next to its own variables', () => {
  const { vars } = configFor({ vars: { GREETING: 'hello' } }, { ...shape, version: '88f62d2b', author: 'Ann' })
  expect(vars).toEqual({ GREETING: 'hello', SIDEJOB_VERSION: '88f62d2b', SIDEJOB_AUTHOR: 'Ann' })
  expect(configFor({}, shape).vars).toBeUndefined()
  expect(commitOf(root)).toMatch(/^[0-9a-f]{8,}(-dirty)?$/)
  expect(commitOf('/')).toBeUndefined()
  expect(authorOf(root)).toMatch(/\S/)
  expect(authorOf('/')).toBeUndefined()
  const { given: secrets } = planOf({ ...given, SIDEJOB_VERSION: '88f62d2b' })
  expect(secrets).not.toHaveProperty('SIDEJOB_VERSION')
})

test('a Worker with preview URLs learns the address of each version, unless the project sets another one', () => {
  const versionUrl = 'https://{id}-other.acme.workers.dev'
  const of = (vars?: object) =>
    configFor({ preview_urls: true, ...(vars && { vars }) } as never, { ...shape, versionUrl })
  expect(of()).toMatchObject({ preview_urls: true, vars: { SIDEJOB_VERSION_URL: versionUrl } })
  const own = { SIDEJOB_VERSION_URL: 'https://{id}.example.com' }
  expect(of(own).vars).toEqual(own)
})

test("the project's own placement is kept, and --no-cron removes only the trigger of the tick", () => {
  const raw = { placement: { mode: 'smart' }, triggers: { crons: ['0 3 * * *', '* * * * *'] } }
  expect(configFor(raw, shape)).toMatchObject(raw)
  expect(configFor(raw, { ...shape, cron: false }).triggers).toEqual({ crons: ['0 3 * * *'] })
  expect(configFor({}, { ...shape, cron: false }).triggers).toEqual({ crons: [] })
})

const templates = readdirSync(join(root, 'templates')).map((template) => `templates/${template}/wrangler.jsonc`)

test('every plan accepts the committed settings: no limits, and no binding to a Worker by name', () => {
  expect(readFileSync(join(root, 'wrangler.toml'), 'utf8')).not.toMatch(/^\[limits\]|^\[\[services\]\]/m)
  for (const path of templates) expect(readFileSync(join(root, path), 'utf8')).not.toMatch(/"(limits|services)"/)
})

test.each(['wrangler.toml', ...templates])(
  '%s has the recommended flags and leaves query strings out of logs',
  (path) => {
    const { raw } = readProject(join(root, path))
    expect(raw.compatibility_flags).toEqual(flagsFor(String(raw.compatibility_date)))
    expect(raw.observability).toEqual(observability)
    expect(raw.version_metadata).toEqual(versionMetadata)
    expect(warningsFor(readProject(join(root, path)))).toEqual([])
  },
)

const folderWith = (files: Record<string, string>) => {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-init-'))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  return folder
}

test('init adds the same flags and observability to every configuration in JSON', () => {
  const configs = [
    '{\n  "name": "mine",\n  "compatibility_date": "2026-10-20"\n}\n',
    '{\n  "name": "mine",\n  "compatibility_date": "2025-01-01",\n  "compatibility_flags": ["nodejs_compat"],\n  "observability": { "enabled": true }\n}\n',
    '{\n  "name": "mine",\n  "compatibility_date": "2026-10-20",\n  "observability": {},\n  "compatibility_flags": ["global_fetch_strictly_public"]\n}\n',
  ]
  for (const config of configs) {
    const folder = folderWith({ 'wrangler.json': config })
    const path = join(folder, 'wrangler.json')
    const change = initPlan(folder, '/_sidejob').changes.find((one) => one.path === path)!
    writeFileSync(path, change.after)
    const { raw } = readProject(path)
    expect(raw.compatibility_flags?.toSorted()).toEqual(flagsFor(String(raw.compatibility_date)).toSorted())
    expect(raw.observability?.redact_query_string).toBe(true)
    expect(raw.version_metadata).toEqual(versionMetadata)
    expect(warningsFor(readProject(path))).toEqual([])
    rmSync(folder, { recursive: true })
  }
})

test('init adds the same flags and observability to a configuration in TOML', () => {
  const texts = [
    'name = "mine"\ncompatibility_date = "2026-10-20"\n',
    'name = "mine"\ncompatibility_date = "2025-01-01"\ncompatibility_flags = [\n  "nodejs_compat",\n]\n\n[observability]\nenabled = true\n\n[vars]\nX = "1"\n',
  ]
  for (const text of texts) {
    const folder = folderWith({ 'wrangler.toml': text })
    const path = join(folder, 'wrangler.toml')
    const change = initPlan(folder, '/_sidejob').changes.find((one) => one.path === path)!
    writeFileSync(path, change.after)
    const { raw } = readProject(path)
    expect(raw.compatibility_flags?.toSorted()).toEqual(flagsFor(String(raw.compatibility_date)).toSorted())
    expect(raw.observability).toEqual({ enabled: true, redact_query_string: true })
    expect(raw.version_metadata).toEqual(versionMetadata)
    expect(raw.triggers?.crons).toEqual(['* * * * *'])
    expect(warningsFor(readProject(path))).toEqual([])
    rmSync(folder, { recursive: true })
  }
})

test.each([
  ['us-east-1', 'aws:us-east-1'],
  ['ap-southeast-2', 'aws:ap-southeast-2'],
  ['us-central1', 'gcp:us-central1'],
  ['europe-west1', 'gcp:europe-west1'],
  ['azure:westeurope', 'azure:westeurope'],
])('a database in %s is near the placement %s', (region, placement) => {
  expect(placementOf(region)).toBe(placement)
  if (!placement.startsWith('azure')) expect(placements.has(placement)).toBe(true)
})

test('an invalid region is refused', () => {
  expect(() => placementOf('Frankfurt')).toThrow(
    'UPSTASH_REDIS_REGION: expected a region such as us-east-1 (AWS) or us-central1 (Google Cloud), got "Frankfurt"',
  )
})

test('a deployment warns if QStash and the database are on different sides of the Atlantic', () => {
  const warned = (redis: string, qstash: string) => distanceWarnings({ redis, qstash, roundTrip: 5 }).length
  expect([
    warned('us-east-1', 'us-east-1'),
    warned('us-central1', 'us-east-1'),
    warned('eu-west-1', 'eu-central-1'),
  ]).toEqual([0, 0, 0])
  expect([warned('us-east-1', 'eu-central-1'), warned('europe-west1', 'us-east-1')]).toEqual([1, 1])
})

test('the address of QStash contains its region', () => {
  expect(qstashRegion()).toBe('eu-central-1')
  expect(qstashRegion('https://qstash-us-east-1.upstash.io')).toBe('us-east-1')
})

test('no advice for unknown values', () => {
  expect(adviceFor('a comet has struck')).toBeUndefined()
})

test('every setting of the Worker is a secret, except the clock of tests and the version and author of an upload', () => {
  const all = planOf(Object.fromEntries(told.map((name) => [name, 'x'])))
  const others = ['SIDEJOB_TEST_CLOCK', 'SIDEJOB_VERSION', 'SIDEJOB_AUTHOR']
  expect(Object.keys(all.given).sort()).toEqual(told.filter((name) => !others.includes(name)).sort())
})

test('the Terraform module creates the Worker of wrangler.toml, and names existing settings only', () => {
  const { rawConfig } = readRawConfig({ config: join(root, 'wrangler.toml') })
  const raw = rawConfig as {
    compatibility_date: string
    compatibility_flags: string[]
    triggers: { crons: string[] }
    secrets: { required: string[] }
  }
  const main = readFileSync(join(root, 'infra/terraform/main.tf'), 'utf8')
  const value = (name: string) => new RegExp(`^ *${name} *= (.*)$`, 'm').exec(main)?.[1]
  expect(value('compatibility_date')).toBe(JSON.stringify(raw.compatibility_date))
  expect(JSON.parse(value('compatibility_flags')!)).toEqual(raw.compatibility_flags)
  expect(value('schedules')).toBe(`[${raw.triggers.crons.map((cron) => `{ cron = ${JSON.stringify(cron)} }`)}]`)
  expect(value('cron')).toBe(JSON.stringify(EVERY_TEN_MINUTES))
  expect(value('main_module')).toBe('"worker.js"')
  const aws = new RegExp(/can\(regex\("(.+?)"/.exec(value('placement')!)![1]!)
  for (const [provider, all] of Object.entries(regions))
    for (const region of all) expect([region, aws.test(region)]).toEqual([region, provider === 'aws'])
  expect(main).toMatch(/placement = \{\n\s+region = local\.placement\n/)
  const named = [...main.matchAll(/^ {4}([A-Z][A-Z0-9_]+) += /gm)].map(([, name]) => name!)
  expect(named.filter((name) => !told.includes(name))).toEqual([])
  expect(raw.secrets.required.filter((name) => !named.includes(name))).toEqual([])
  const { namespace, bucket } = namesOf('other')
  const asInHcl = main.replaceAll(/\$\{var\.name\}/g, 'other')
  for (const one of [namespace, bucket]) expect(asInHcl).toContain(JSON.stringify(one))
})

test('a probe without settings names all missing settings, and sends no request', async () => {
  const said: string[] = []
  const env = { UPSTASH_REDIS_REST_URL: given.UPSTASH_REDIS_REST_URL, QSTASH_TOKEN: '' }
  const failure = await probe({ env, say: (line) => said.push(line) }).catch((error: Error) => error.message)
  expect(String(failure).match(/^\w+(?= is missing)/gm)).toEqual([
    'UPSTASH_REDIS_REST_TOKEN',
    'QSTASH_TOKEN',
    'QSTASH_CURRENT_SIGNING_KEY',
    'QSTASH_NEXT_SIGNING_KEY',
    'PUBLIC_URL',
  ])
  expect(said).toEqual([])
})
