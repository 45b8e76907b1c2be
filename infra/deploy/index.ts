// Deploys a Worker with all that it needs, or takes it down again. What is there stays as it is: it may be run again
// after failing at any step.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientFor, EVERY_MINUTE, EVERY_TEN_MINUTES, scheduleTick, tickUrl, type Where } from '../tick.ts'
import { checkHealth, checkSignature, checkTick } from './checks.ts'
import { type Cloudflare, createCloudflare } from './cloudflare.ts'
import { adviceFor, DeployFailure } from './failure.ts'
import { keepKeys, readKeys, withSecrets } from './keys.ts'
import { qstashRegion, redisRegion, warnings } from './regions.ts'
import { type Env, keyFileOf, make, type Names, namesOf, type Plan, planOf } from './settings.ts'
import { createWrangler, hasFiles, type Wrangler, writeConfig } from './wrangler.ts'

export type DeployOptions = {
  env: Env
  name?: string
  /** Whether Cloudflare's cron ticks each minute; else QStash does. */
  cron?: boolean
  /** Where keys and the configuration are kept. */
  folder?: string
  /** The configuration that this deployment's is made from. */
  toml?: string
  say?: (line: string) => void
  /** Milliseconds for a new address to be known, and between looks. */
  patience?: number
  pause?: number
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What the schedule was called before each Worker had its own. */
const FORMER_SCHEDULE = 'sidejob-tick'

type Means = { account: string; cloudflare: Cloudflare; wrangler: Wrangler }

/** Says what to do beside what a vendor has said. */
async function advised<T>(work: Promise<T>, account?: string): Promise<T> {
  return work.catch((error: Error) => {
    const advice = error instanceof DeployFailure ? undefined : adviceFor(error.message, account)
    throw advice ? new DeployFailure(`${error.message}\n${advice}`, { cause: error }) : error
  })
}

/** What is asked of QStash comes last: the Worker is there, and goes on without. */
async function ofQstash<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: Error & { status?: number }) => {
    if (error instanceof DeployFailure) throw error
    const advice =
      error.status === 401
        ? 'QSTASH_TOKEN is not one of this QStash: copy it from the Upstash console, for the region that QSTASH_URL names.'
        : (adviceFor(error.message) ?? 'Mend that in the console of QStash.')
    throw new DeployFailure(
      `The Worker is deployed, but QStash says: ${error.message}\n${advice} Then deploy again: nothing is done twice.`,
      { cause: error },
    )
  })
}

async function meansOf(env: Env): Promise<Means> {
  const said = env.CLOUDFLARE_API_TOKEN ? '' : await advised(createWrangler(env)('auth', 'token', '--json'))
  const token = env.CLOUDFLARE_API_TOKEN || (JSON.parse(said) as { token: string }).token
  const cloudflare = createCloudflare({ token, base: env.CLOUDFLARE_API_BASE_URL })
  const account = env.CLOUDFLARE_ACCOUNT_ID || (await onlyAccount(cloudflare))
  return { account, cloudflare, wrangler: createWrangler({ ...env, CLOUDFLARE_ACCOUNT_ID: account }) }
}

async function onlyAccount(cloudflare: Cloudflare): Promise<string> {
  const accounts = await advised(cloudflare.accounts())
  if (accounts.length === 1) return accounts[0]!.id
  if (accounts.length === 0)
    throw new DeployFailure('This token belongs to no account of Cloudflare: make another one.')
  const list = accounts.map(({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id}  # ${name}`).join('\n')
  throw new DeployFailure(`There are ${accounts.length} accounts: say which is meant, by one of\n${list}`)
}

/** Where the Worker answers: under a domain of one's own, or under workers.dev. */
async function addressOf(plan: Plan, { account, cloudflare }: Means): Promise<{ url: string; workersDev: boolean }> {
  const given = plan.given.PUBLIC_URL?.replace(/\/+$/, '')
  const subdomain = await advised(cloudflare.subdomain(account), account)
  if (given) return { url: given, workersDev: subdomain !== undefined }
  if (subdomain) return { url: `https://${plan.names.worker}.${subdomain}.workers.dev`, workersDev: true }
  throw new DeployFailure(
    'This account has no workers.dev subdomain yet, so the Worker would have no address. Choose one at ' +
      `https://dash.cloudflare.com/${account}/workers/onboarding, or set PUBLIC_URL to a domain of yours. Then deploy again.`,
  )
}

/** The keys that neither we nor the Worker have yet, written down before anybody is told. */
async function freshKeys(
  { env, say }: Required<Pick<DeployOptions, 'env' | 'say'>>,
  plan: Plan,
  file: string,
  means: Means,
) {
  if (plan.made.length === 0) return {}
  const there = (await advised(means.cloudflare.secrets(means.account, plan.names.worker), means.account)) ?? []
  const wanted = plan.made.filter((name) => !there.includes(name))
  if (wanted.length === 0) return {}
  if (env.CI) throw new DeployFailure(`In CI a file of keys would be lost: set ${wanted.join(', ')}.`)
  const known = readKeys(file)
  const fresh = Object.fromEntries(wanted.map((name) => [name, known[name] ?? make(name)]))
  keepKeys(file, fresh)
  say(`${wanted.join(', ')}: kept in ${file}`)
  return fresh
}

async function makeBucket({ bucket }: Names, { account, cloudflare }: Means, say: (line: string) => void) {
  const made = await advised(cloudflare.makeBucket(account, bucket), account)
  if (made === 'new') say(`the bucket ${bucket} is new`)
  if (made === 'off')
    say(
      'R2 is not enabled on this account, so there are no downloads: enable it at ' +
        `https://dash.cloudflare.com/${account}/r2, and deploy again`,
    )
  return made !== 'off'
}

/** One that points to us from before would tick twice. */
async function dropFormerSchedule(where: Where) {
  const { schedules } = clientFor(where)
  const former = (await schedules.list()).find(({ scheduleId }) => scheduleId === FORMER_SCHEDULE)
  if (former?.destination === tickUrl(where.publicUrl)) await schedules.delete(FORMER_SCHEDULE)
}

/**
 * Deploys, and sees that it works.
 *
 * @example await deploy({ env: process.env, name: 'sidejob-staging', say: console.log })
 */
export async function deploy(options: DeployOptions): Promise<{ url: string; redisMs: number }> {
  const { env, name, cron = true, folder = join(root, '.sidejob'), toml = join(root, 'wrangler.toml') } = options
  const { say = () => {} } = options
  const plan = planOf(env, name)
  const wrong = [...plan.missing.map((one) => `${one} is missing`), ...plan.refused]
  if (wrong.length) throw new DeployFailure(wrong.join('\n'))
  const means = await meansOf(env)
  const { url, workersDev } = await addressOf(plan, means)
  const fresh = await freshKeys({ env, say }, plan, keyFileOf(plan.names, folder), means)
  const bucket = hasFiles(toml) && (await makeBucket(plan.names, means, say))
  const redis = await redisRegion(env)
  const placement = redis && `aws:${redis}`
  const config = writeConfig(toml, join(folder, 'deploy'), { names: plan.names, bucket, placement, cron, workersDev })
  const secrets = { ...plan.given, ...fresh, PUBLIC_URL: url }
  await withSecrets(folder, secrets, (file) =>
    advised(means.wrangler('deploy', '--config', config, '--secrets-file', file), means.account),
  )
  say(`the Worker ${plan.names.worker} is deployed`)
  const health = await checkHealth(url, options)
  await checkSignature(url)
  const where = { url: env.QSTASH_URL || undefined, token: env.QSTASH_TOKEN!, publicUrl: url }
  await ofQstash(scheduleTick(where, plan.names.worker, cron ? EVERY_TEN_MINUTES : EVERY_MINUTE))
  await ofQstash(dropFormerSchedule(where))
  await ofQstash(checkTick(where, options))
  const places = { redis, qstash: qstashRegion(env.QSTASH_URL), roundTrip: health.redisMs ?? 0 }
  say(`${url} answers as version ${health.version}, refuses who has not signed, and was ticked by QStash`)
  say(
    `Redis in ${redis ?? 'an unknown region'}, QStash in ${places.qstash}, the Worker ${placement ? `at ${placement}` : 'not placed'}`,
  )
  say(`a round trip from the Worker to Redis: ${places.roundTrip} ms`)
  for (const warning of warnings(places)) say(`WARNING ${warning}`)
  return { url, redisMs: places.roundTrip }
}

/**
 * Takes a deployment down: its schedule, then its Worker. What it has stored stays, in Redis and in its bucket.
 *
 * @example await destroy({ env: process.env, name: 'sidejob-staging', say: console.log })
 */
export async function destroy({ env, name, say = () => {} }: DeployOptions): Promise<void> {
  const names = namesOf(name)
  if (!env.QSTASH_TOKEN) throw new DeployFailure('QSTASH_TOKEN is missing: the schedule cannot be removed without it')
  const { account, cloudflare } = await meansOf(env)
  const { schedules } = clientFor({ url: env.QSTASH_URL || undefined, token: env.QSTASH_TOKEN, publicUrl: '' })
  const schedule = (await schedules.list()).some(({ scheduleId }) => scheduleId === names.schedule)
  if (schedule) await schedules.delete(names.schedule)
  say(schedule ? `the schedule ${names.schedule} is removed` : `there is no schedule ${names.schedule}`)
  const worker = await advised(cloudflare.removeWorker(account, names.worker), account)
  say(worker ? `the Worker ${names.worker} is removed` : `there is no Worker ${names.worker}`)
  say(
    `what stays: the keys in Redis that begin with ${names.namespace}, the bucket ${names.bucket}, ${keyFileOf(names)}`,
  )
}
