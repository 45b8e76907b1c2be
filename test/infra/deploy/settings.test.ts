// What a deployment would do, what it is told, and what is written down about it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { experimental_readRawConfig as readRawConfig } from 'wrangler'
import { adviceFor } from '../../../infra/deploy/failure.ts'
import { qstashRegion } from '../../../infra/deploy/regions.ts'
import { describe, namesOf, planOf } from '../../../infra/deploy/settings.ts'
import { configFor } from '../../../infra/deploy/wrangler.ts'
import { probe } from '../../../infra/probe/index.ts'
import { development } from '../../../infra/qstash.ts'
import { EVERY_TEN_MINUTES } from '../../../infra/tick.ts'
import { settings } from '../../../src/settings.ts'

const root = join(import.meta.dirname, '../../..')
/** What the Worker is told by its environment. */
const told: string[] = Object.keys(settings)

const given = {
  UPSTASH_REDIS_REST_URL: 'https://eu1.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'redis-token',
  QSTASH_TOKEN: 'qstash-token',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_1',
  QSTASH_NEXT_SIGNING_KEY: 'sig_2',
}

test('it says what it would make, deploy and schedule, and shows no secret', () => {
  const lines = describe(planOf({ ...given, HOME: '/root' }, 'sidejob-staging'))
  expect(lines).toEqual([
    '1. Make SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET, unless the Worker sidejob-staging has them, and keep them in .sidejob/sidejob-staging.keys.json.',
    '2. Make the bucket sidejob-staging-files in R2, unless it is there; without R2 there are no downloads.',
    `3. Build the Worker sidejob-staging and deploy it, with the secrets SIDEJOB_NAMESPACE, ${Object.keys(given).join(', ')}.`,
    '4. See that https://sidejob-staging.<your subdomain>.workers.dev/health answers, and that https://sidejob-staging.<your subdomain>.workers.dev/tick refuses who has not signed.',
    '5. Set up the schedule sidejob-tick-sidejob-staging in QStash, and see that one tick arrives.',
  ])
  for (const secret of Object.values(given)) expect(lines.join('\n')).not.toContain(secret)
})

test('a key that is given is not made', () => {
  const own = {
    SIDEJOB_API_KEY: 'a key of my own, long enough',
    SIDEJOB_WEBHOOK_SECRET: `whsec_${btoa('x'.repeat(32))}`,
    SIDEJOB_FILES_SECRET: 'mine',
  }
  const plan = planOf({ ...given, ...own })
  expect(plan).toMatchObject({ made: [], refused: [], missing: [] })
  expect(describe(plan)[0]).toBe('1. Make no secret: all are given.')
  expect(plan.given).toMatchObject(own)
})

test('what is missing is named, with where it comes from', () => {
  const lines = describe(planOf({ ...given, QSTASH_TOKEN: undefined }))
  expect(lines.filter((line) => line.startsWith('Missing'))).toEqual([
    "Missing: QSTASH_TOKEN, from QStash's page in the Upstash console.",
  ])
})

test('what everybody knows, and what tests need, must not be deployed', () => {
  const refusedFor = (more: Record<string, string>) => planOf({ ...given, ...more }).refused.join()
  expect(refusedFor({})).toBe('')
  expect(refusedFor({ SIDEJOB_TEST_CLOCK: '1' })).toMatch(/^SIDEJOB_TEST_CLOCK: expected to be unset/)
  expect(refusedFor({ SIDEJOB_API_KEY: 'dev' })).toContain('at least 16 characters, got the key of local stacks')
  for (const [name, value] of Object.entries(development))
    if (name !== 'QSTASH_URL')
      expect(refusedFor({ QSTASH_TOKEN: value })).toContain("that of QStash's development server")
  expect(refusedFor({ SIDEJOB_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' })).toContain('at least 24 bytes in base64, got 5 bytes')
})

test('a key of encryption that is none is refused, with what it should be', () => {
  const refusedFor = (key: string) => planOf({ ...given, SIDEJOB_ENCRYPTION_KEY: key }).refused
  expect(refusedFor(`${'A'.repeat(43)}=,${'_-B'.repeat(14)}A`)).toEqual([])
  expect(refusedFor(`${'A'.repeat(43)}=,short`)).toEqual([
    'SIDEJOB_ENCRYPTION_KEY, key 2: expected the base64 of 32 bytes, as "openssl rand -base64 32" writes it, got 5 characters',
  ])
})

test('the first deployment of all keeps its names, and no other has one of them', () => {
  expect(namesOf()).toEqual({
    worker: 'sidejob',
    namespace: 'sidejob:',
    bucket: 'sidejob-files',
    schedule: 'sidejob-tick-sidejob',
  })
  const names = [namesOf(), namesOf('sidejob-staging'), namesOf('other')].flatMap((one) => Object.values(one))
  expect(new Set(names).size).toBe(names.length)
})

test('the configuration is ours with the names of the deployment, and nothing that the account has not', () => {
  const raw = { main: 'src/worker.ts', r2_buckets: [{ binding: 'FILES' }, { binding: 'MINE' }], minify: true }
  const shape = { names: namesOf('other'), bucket: true, cron: true, workersDev: true, placement: 'aws:eu-west-1' }
  expect(configFor(raw, '/project', shape)).toEqual({
    name: 'other',
    main: '/project/src/worker.ts',
    minify: true,
    workers_dev: true,
    placement: { region: 'aws:eu-west-1' },
    r2_buckets: [{ binding: 'FILES', bucket_name: 'other-files' }, { binding: 'MINE' }],
  })
  expect(configFor(raw, '/project', { ...shape, bucket: false, cron: false })).toMatchObject({
    r2_buckets: [{ binding: 'MINE' }],
    triggers: { crons: [] },
  })
})

test('no plan refuses what is committed: it has no limits, and binds no Worker by its name', () => {
  const toml = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  expect(toml).not.toMatch(/^\[limits\]|^\[\[services\]\]/m)
  expect(toml).toContain('redact_query_string = true')
  expect(toml).toContain('global_fetch_strictly_public')
  for (const template of readdirSync(join(root, 'templates')))
    expect(readFileSync(join(root, 'templates', template, 'wrangler.jsonc'), 'utf8')).not.toMatch(/"(limits|services)"/)
})

test('QStash says its region in its address', () => {
  expect(qstashRegion()).toBe('eu-central-1')
  expect(qstashRegion('https://qstash-us-east-1.upstash.io')).toBe('us-east-1')
})

test('nobody is advised about what nobody knows', () => {
  expect(adviceFor('a comet has struck')).toBeUndefined()
})

test('whatever the Worker is told, the deployment can tell it', () => {
  const all = planOf(Object.fromEntries(told.map((name) => [name, 'x'])))
  expect(Object.keys(all.given).sort()).toEqual(told.filter((name) => name !== 'SIDEJOB_TEST_CLOCK').sort())
})

test('the module of Terraform makes the Worker that wrangler.toml describes, and names only settings that there are', () => {
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
  const named = [...main.matchAll(/^ {4}([A-Z][A-Z0-9_]+) += /gm)].map(([, name]) => name!)
  expect(named.filter((name) => !told.includes(name))).toEqual([])
  expect(raw.secrets.required.filter((name) => !named.includes(name))).toEqual([])
  const { namespace, bucket } = namesOf('other')
  const asInHcl = main.replaceAll(/\$\{var\.name\}/g, 'other')
  for (const one of [namespace, bucket]) expect(asInHcl).toContain(JSON.stringify(one))
})

test('a probe without settings names all that are missing, and asks nothing', async () => {
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
