// Deployments, on a Cloudflare, an Upstash and a QStash of the test's own: wrangler is the real one.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type DeployOptions, deploy, destroy } from '../../../infra/deploy/index.ts'
import { type Cloud, startCloud } from './cloud.ts'

let cloud: Cloud
let folder: string
let said: string[]

// A small Worker in the place of ours: what is tried here is not the build.
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
  // Nobody answers for workers.dev here: the Workers of the fake do.
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

const run = (more: Partial<DeployOptions> = {}, env: Record<string, string | undefined> = {}) =>
  deploy({
    env: { ...cloud.env, ...env },
    name: 'sidejob-staging',
    folder,
    toml: join(folder, 'wrangler.toml'),
    say: (line) => said.push(line),
    patience: 200,
    pause: 20,
    ...more,
  })
/** What is said when it fails. */
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
  test('makes all that it needs under its own name, sees that it works, and says where it is', async () => {
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
    expect(said.join('\n')).toContain('Redis in us-east-1, QStash in eu-central-1, the Worker at aws:us-east-1')
    expect(said.join('\n')).toContain('a round trip from the Worker to Redis: 7 ms')
    expect(said.join('\n')).toContain('WARNING QStash (eu-central-1) and the database (us-east-1) are apart')
    for (const secret of Object.values(keysOf())) expect(said.join('\n')).not.toContain(secret)
  })

  test('a second one leaves the first alone, and so does taking it down', async () => {
    await run({ name: 'sidejob' })
    const before = JSON.stringify([
      cloud.workers.get('sidejob'),
      cloud.schedules.get('sidejob-tick-sidejob'),
      keysOf('sidejob'),
    ])
    await run()
    await destroy({ env: cloud.env, name: 'sidejob-staging', say: (line) => said.push(line) })
    expect(
      JSON.stringify([cloud.workers.get('sidejob'), cloud.schedules.get('sidejob-tick-sidejob'), keysOf('sidejob')]),
    ).toBe(before)
    expect([...cloud.workers.keys()]).toEqual(['sidejob'])
    expect([...cloud.schedules.keys()]).toEqual(['sidejob-tick-sidejob'])
    await destroy({ env: cloud.env, name: 'sidejob-staging', say: (line) => said.push(line) })
    expect(said).toContain('there is no Worker sidejob-staging')
  })

  test('may be done again: the keys stay the same', async () => {
    await run()
    const [keys, secrets] = [keysOf(), cloud.workers.get('sidejob-staging')!.secrets]
    await run()
    expect(keysOf()).toEqual(keys)
    expect(cloud.workers.get('sidejob-staging')!.secrets).toEqual(secrets)
  })

  test('takes over from one whose schedule was called as all were', async () => {
    const destination = 'https://sidejob-staging.acme.workers.dev/tick'
    cloud.schedules.set('sidejob-tick', { destination, cron: '* * * * *' })
    cloud.schedules.set('other', { destination, cron: '* * * * *' })
    await run()
    expect([...cloud.schedules.keys()].sort()).toEqual(['other', 'sidejob-tick-sidejob-staging'])
  })

  test('without R2 there is none, and it says so', async () => {
    cloud.state.r2 = false
    await run()
    expect(cloud.workers.get('sidejob-staging')!.buckets).toEqual([])
    expect(said.join('\n')).toContain('R2 is not enabled on this account, so there are no downloads')
  })

  test('a domain of its own needs no workers.dev subdomain', async () => {
    cloud.state.subdomain = undefined
    const url = `${cloud.base}/sidejob-staging`
    expect((await run({}, { PUBLIC_URL: `${url}/` })).url).toBe(url)
    expect(cloud.workers.get('sidejob-staging')!.secrets.PUBLIC_URL).toBe(url)
  })
})

describe('what fails before anything is uploaded', () => {
  afterEach(() => expect(wasUploaded()).toBe(false))

  test('several accounts: they are named', async () => {
    cloud.state.accounts.push({ id: 'acc2', name: 'Two' })
    const words = await failure()
    expect(words).toContain('CLOUDFLARE_ACCOUNT_ID=acc1  # One')
    expect(words).toContain('CLOUDFLARE_ACCOUNT_ID=acc2  # Two')
  })

  test('no workers.dev subdomain: where it is chosen', async () => {
    cloud.state.subdomain = undefined
    expect(await failure()).toContain('https://dash.cloudflare.com/acc1/workers/onboarding')
  })

  test('a token that is none: how to get one', async () => {
    cloud.state.faults.push({ at: /GET .*\/accounts$/, status: 403, code: 9109, message: 'Invalid access token' })
    expect(await failure()).toContain('npx wrangler login')
  })

  test('Cloudflare cannot be reached: that nothing was done', async () => {
    cloud.state.faults.push({ at: /workers\/subdomain/, breaks: 'before' })
    expect(await failure()).toMatch(/Cloudflare cannot be reached.*Nothing was done/)
  })

  test('in CI the keys have to be given', async () => {
    expect(await failure({}, { CI: 'true' })).toContain(
      'set SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET',
    )
  })

  test.each([
    ['a clock that can be moved', { SIDEJOB_TEST_CLOCK: '1' }, 'SIDEJOB_TEST_CLOCK'],
    ['the key of local stacks', { SIDEJOB_API_KEY: 'dev' }, 'got the key of local stacks'],
    ['a key that can be guessed', { SIDEJOB_API_KEY: 'short' }, 'expected at least 16 characters, got 5'],
    [
      "QStash's published signing key",
      { QSTASH_CURRENT_SIGNING_KEY: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r' },
      'QSTASH_CURRENT_SIGNING_KEY: expected one of your account',
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

  test('a name that is none is refused', async () => {
    await expect(run({ name: 'My Jobs' })).rejects.toThrow('--name: expected up to 52 of a-z, 0-9 and -')
  })
})

describe('what fails at the upload or after it, and the next try', { timeout: 120_000 }, () => {
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
      'names a Worker that is not there',
    ],
    [
      'the account has no room for a cron trigger',
      { at: /PUT .*\/schedules$/, code: 10072, message: 'You have exceeded the limit of 5 cron triggers.' },
      'deploy with --no-cron',
    ],
  ])('%s', async (_, fault, advice) => {
    cloud.state.faults.push(fault)
    expect(await failure()).toContain(advice)
    // Whatever was uploaded, the keys are not lost.
    const keys = keysOf()
    await run()
    expect(keysOf()).toEqual(keys)
    expect(cloud.workers.get('sidejob-staging')!.secrets).toMatchObject(keys)
  })

  test('the network fails once the Worker is there: the key that it has is the one that was written down', async () => {
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

  test('something else answers at the address', async () => {
    cloud.state.health = { ok: true, version: '9.9.9' }
    expect(await failure()).toMatch(/does not answer as version .* does: 200 .*9\.9\.9.*PUBLIC_URL/s)
  })

  test('Redis cannot be reached from the Worker', async () => {
    cloud.state.health = { ok: false, redis: false, version: '0.1.0' }
    expect(await failure()).toContain('Look at UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN')
  })

  test('a page for bots stands before the Worker', async () => {
    cloud.state.faults.push({ at: /POST \/sidejob-staging\/tick/, status: 403, code: 1, message: 'Just a moment' })
    expect(await failure()).toContain('turn off Bot Fight Mode')
    expect(cloud.schedules.size).toBe(0)
  })

  test('the tick does not arrive', async () => {
    cloud.state.delivery = 'FAILED'
    expect(await failure()).toMatch(/did not arrive \(FAILED, message msg_1\).*signing keys/)
  })

  test.each([
    ['the token', 401, 'unauthorized', /QSTASH_TOKEN is not one of this QStash: copy it from the Upstash console/],
    ['another schedule', 412, 'maximum number of schedules reached', /maximum number of schedules.*console of QStash/s],
  ])(
    'QStash refuses %s: the Worker is there, and the next try sets up what is missing',
    async (_, status, message, says) => {
      cloud.state.faults.push({ at: /POST \/qstash\/v2\/schedules/, status, code: 1, message })
      const words = await failure()
      expect(words).toMatch(says)
      expect(words).toMatch(/^The Worker is deployed, but QStash says: /)
      expect(wasUploaded()).toBe(true)
      expect(cloud.schedules.size).toBe(0)
      const keys = keysOf()
      await run()
      expect([...cloud.schedules.keys()]).toEqual(['sidejob-tick-sidejob-staging'])
      expect(keysOf()).toEqual(keys)
    },
  )
})
