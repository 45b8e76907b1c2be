// A failed deploy can be repeated, because existing parts stay unchanged.

import { basename } from 'node:path'
import { migrate } from '../history/schema.ts'
import { askAgain, runAgain } from './again.ts'
import { checkHealth, checkSignature, checkTick, type Found, type Polling } from './checks.ts'
import { type Cloudflare, createCloudflare } from './cloudflare.ts'
import { authorOf, commitOf } from './code-version.ts'
import {
  configFor,
  cronsOf,
  hasFiles,
  needsHistory,
  type Project,
  readProject,
  warningsFor,
  withConfig,
} from './config.ts'
import {
  type Database,
  databaseOf,
  databaseWarnings,
  distanceWarnings,
  placementOf,
  qstashRegion,
  refuseEviction,
} from './database.ts'
import { adviceFor, CloudflareError, DeployFailure } from './failure.ts'
import { type Keys, keepKeys, readKeys, withSecrets } from './keys.ts'
import { type Env, keyFileOf, make, type Names, namesOf, type Plan, planOf } from './settings.ts'
import { withSources } from './sources.ts'
import { clientFor, EVERY_MINUTE, EVERY_TEN_MINUTES, scheduleTick } from './tick.ts'
import { createWrangler, type Wrangler } from './wrangler.ts'

export type DeployOptions = Polling & {
  env: Env
  name?: string
  /** Origin of the name, for errors. */
  source?: string
  /** If false, QStash calls the tick each minute. */
  cron?: boolean
  folder: string
  config: string
  say?: (line: string) => void
}

type DeployTools = { account: string; cloudflare: Cloudflare; wrangler: Wrangler }

async function advised<T>(work: Promise<T>, account?: string): Promise<T> {
  return work.catch((error: Error) => {
    const advice = error instanceof DeployFailure ? undefined : adviceFor(error.message, account)
    throw advice ? new DeployFailure(`${error.message}\n${advice}`, { cause: error }) : error
  })
}

/** Deploy calls QStash last, so errors of QStash say that the Worker is deployed. */
async function ofQstash<T>(ask: () => Promise<T>): Promise<T> {
  return askAgain(ask).catch((error: Error & { status?: number }) => {
    if (error instanceof DeployFailure) throw error
    const advice =
      error.status === 401
        ? 'QSTASH_TOKEN does not belong to this QStash: copy the token of the region in QSTASH_URL from the Upstash console.'
        : (adviceFor(error.message) ?? 'Correct this in the QStash console.')
    throw new DeployFailure(
      `The Worker is deployed, but QStash refused the schedule: ${error.message}\n${advice} Then deploy again: completed steps are not repeated.`,
      { cause: error },
    )
  })
}

async function meansOf(env: Env, project: Project): Promise<DeployTools> {
  const printed = env.CLOUDFLARE_API_TOKEN ? '' : await advised(createWrangler(env)('auth', 'token', '--json'))
  const token = env.CLOUDFLARE_API_TOKEN || (JSON.parse(printed) as { token: string }).token
  const cloudflare = createCloudflare({ token, base: env.CLOUDFLARE_API_BASE_URL })
  const account = env.CLOUDFLARE_ACCOUNT_ID || project.raw.account_id || (await onlyAccount(cloudflare))
  const wrangler = createWrangler({ ...env, CLOUDFLARE_ACCOUNT_ID: account }, project.root)
  return { account, cloudflare, wrangler }
}

async function onlyAccount(cloudflare: Cloudflare): Promise<string> {
  const accounts = await advised(cloudflare.accounts())
  if (accounts.length === 1) return accounts[0]!.id
  if (accounts.length === 0)
    throw new DeployFailure('This token has access to no Cloudflare account: create a new token.')
  const list = accounts.map(({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id}  # ${name}`).join('\n')
  throw new DeployFailure(`This token has access to ${accounts.length} accounts. Choose one, and set\n${list}`)
}

async function addressOf(
  plan: Plan,
  { raw }: Project,
  { account, cloudflare }: DeployTools,
): Promise<{ url: string; workersDev: boolean; versionUrl?: string }> {
  const given = plan.given.PUBLIC_URL?.replace(/\/+$/, '')
  const subdomain = await advised(cloudflare.subdomain(account), account)
  const host = `${plan.names.worker}.${subdomain}.workers.dev`
  const hasVersions = subdomain && raw.preview_urls && !plan.given.SIDEJOB_VERSION_URL
  const previews = hasVersions ? { versionUrl: `https://{id}-${host}` } : {}
  if (given) return { url: given, workersDev: subdomain !== undefined && raw.workers_dev !== false, ...previews }
  if (subdomain) return { url: `https://${host}`, workersDev: true, ...previews }
  throw new DeployFailure(
    'This account has no workers.dev subdomain yet, so the Worker would have no address. Choose one at ' +
      `https://dash.cloudflare.com/${account}/workers/onboarding, or set PUBLIC_URL to your own domain. Then deploy again.`,
  )
}

async function freshKeys(
  { env, say }: Required<Pick<DeployOptions, 'env' | 'say'>>,
  plan: Plan,
  file: string,
  means: DeployTools,
) {
  if (plan.made.length === 0) return {}
  const there = (await advised(means.cloudflare.secrets(means.account, plan.names.worker), means.account)) ?? []
  const wanted = plan.made.filter((name) => !there.includes(name))
  if (wanted.length === 0) return {}
  if (env.CI) throw new DeployFailure(`In CI, a generated key file would be lost: set ${wanted.join(', ')}.`)
  const known = readKeys(file)
  const fresh = Object.fromEntries(wanted.map((name) => [name, known[name] ?? make(name)]))
  keepKeys(file, fresh)
  say(`${wanted.join(', ')}: kept in ${file}`)
  return fresh
}

async function makeBucket({ bucket }: Names, { account, cloudflare }: DeployTools, say: (line: string) => void) {
  const made = await advised(cloudflare.makeBucket(account, bucket), account)
  if (made === 'new') say(`the bucket ${bucket} is new`)
  if (made === 'off')
    say(
      'R2 is not enabled on this account, so there are no downloads: enable it at ' +
        `https://dash.cloudflare.com/${account}/r2, and deploy again`,
    )
  return made !== 'off'
}

async function makeHistory({ history }: Names, { account, cloudflare }: DeployTools, say: (line: string) => void) {
  try {
    const { id, isNew } = await cloudflare.makeDatabase(account, history)
    await migrate(cloudflare.sqlOf(account, id))
    if (isNew) say(`the database ${history} is new`)
    return id
  } catch (error) {
    if (!(error instanceof CloudflareError)) throw error
    throw new DeployFailure(
      `Cloudflare refused the history database ${history}: ${error.message}\nGive the token the permission ` +
        `"D1: Edit", or create a database with \`npx wrangler d1 create ${history}\` and add its database_id to the binding HISTORY.`,
      { cause: error },
    )
  }
}

async function placeFor(redis: string | undefined, { raw }: Project, { account, cloudflare }: DeployTools) {
  if (raw.placement) return { placement: raw.placement.region ?? raw.placement.mode, warnings: [] }
  if (!redis) return { warnings: [] }
  const placement = placementOf(redis)
  const known = await cloudflare.placements(account)
  if (!known || known.has(placement)) return { placement, warnings: [] }
  return {
    warnings: [`Cloudflare has no placement region ${placement}, so the Worker is not placed near the database.`],
  }
}

type Tick = { schedule: string; warnings: string[] }

/** QStash counts each tick as a message, so it ticks every ten minutes if a cron trigger ticks every minute. */
function tickOf({ path, raw }: Project, { cron: own = EVERY_MINUTE }: Found, cron: boolean): Tick {
  const triggers = cronsOf(raw)
  if (cron && triggers.includes(own)) return { schedule: EVERY_TEN_MINUTES, warnings: [] }
  if (!cron && (own === EVERY_MINUTE || !triggers.includes(own))) return { schedule: EVERY_MINUTE, warnings: [] }
  // The user added a trigger with another pattern, so `--no-cron` keeps it.
  if (!cron) return { schedule: EVERY_TEN_MINUTES, warnings: [] }
  const warning =
    `${basename(path)} has no cron trigger "${own}", so only QStash ticks this Worker: every minute, which is 1,440 messages a ` +
    `day. QStash Free has 1,000. Add "${own}" to crons in triggers, then deploy again.`
  return { schedule: EVERY_MINUTE, warnings: [warning] }
}

type Report = {
  found: Found
  database?: Database
  redis?: string
  qstash: string
  placement?: string
  schedule: string
}

function report({ found, database, redis, qstash, placement, schedule }: Report): string[] {
  const { url, version, redisMs = 0 } = found
  return [
    `${url} answers${version ? ` with sidejob ${version}` : ''}, refuses unsigned calls, and received a tick from QStash`,
    `Redis in ${redis ?? 'an unknown region'}, QStash in ${qstash}, the Worker ${placement ? `at ${placement}` : 'not placed'}`,
    ...(database
      ? [
          `Upstash Redis: ${database.name}, plan ${database.plan ?? 'unknown'}, eviction ${database.eviction ? 'on' : 'off'}`,
        ]
      : []),
    `QStash ticks at ${schedule}`,
    `a round trip from the Worker to Redis: ${redisMs} ms`,
  ]
}

export async function deploy(options: DeployOptions) {
  const { env, name, source, cron = true, folder, config, say = () => {} } = options
  const plan = planOf(env, name, source)
  const wrong = [...plan.missing.map((one) => `${one} is missing`), ...plan.refused]
  if (wrong.length) throw new DeployFailure(wrong.join('\n'))
  const project = readProject(config)
  const { names } = plan
  const database = await databaseOf(env)
  if (database) refuseEviction(database)
  const redis = env.UPSTASH_REDIS_REGION || database?.region
  const means = await meansOf(env, project)
  const { url: origin, workersDev, versionUrl } = await addressOf(plan, project, means)
  const { placement, warnings: unplaced } = await placeFor(redis, project, means)
  const keyFile = keyFileOf(names, folder)
  const fresh = await freshKeys({ env, say }, plan, keyFile, means)
  const secrets: Keys = { ...plan.given, ...fresh, PUBLIC_URL: origin }
  const bucket = hasFiles(project.raw) && (await makeBucket(names, means, say))
  const history = needsHistory(project.raw) ? await makeHistory(names, means, say) : undefined
  const { account } = means
  const version = env.SIDEJOB_VERSION || (project.raw.vars?.SIDEJOB_VERSION as string) || commitOf(project.root)
  const author = env.SIDEJOB_AUTHOR || (project.raw.vars?.SIDEJOB_AUTHOR as string) || authorOf(project.root)
  const shape = { names, account, bucket, history, placement, cron, workersDev, version, author, versionUrl }
  const deployed = configFor(project.raw, shape)
  await withConfig(project, deployed, (path) =>
    withSecrets(folder, secrets, (file) =>
      withSources(project, { ...env, ...plan.given }, (args) =>
        advised(
          runAgain(() => means.wrangler('deploy', '--config', path, '--secrets-file', file, ...args)),
          account,
        ),
      ),
    ),
  )
  say(`the Worker ${names.worker} is deployed${version ? `, version ${version}` : ''}`)
  const isKept = !('SIDEJOB_API_KEY' in secrets)
  const { SIDEJOB_API_KEY: key } = isKept ? readKeys(keyFile) : secrets
  const found = await checkHealth(origin, { ...options, key, isKept })
  const { url } = found
  await checkSignature(url, options)
  const { schedule, warnings: unticked } = tickOf(project, found, cron)
  const where = { url: env.QSTASH_URL || undefined, token: env.QSTASH_TOKEN!, publicUrl: url }
  await ofQstash(() => scheduleTick(where, names.worker, schedule))
  await ofQstash(() => checkTick(where, options))
  const qstash = qstashRegion(env.QSTASH_URL)
  for (const line of report({ found, database, redis, qstash, placement, schedule })) say(line)
  const warnings = [
    ...(key && !found.version
      ? [`The Worker does not know the SIDEJOB_API_KEY in ${keyFile}: write its current key to this file.`]
      : []),
    ...unticked,
    ...unplaced,
    ...distanceWarnings({ redis, qstash, roundTrip: found.redisMs ?? 0 }),
    ...(database ? databaseWarnings(database) : []),
    ...warningsFor(project),
  ]
  for (const warning of warnings) say(`WARNING ${warning}`)
  return { url, redisMs: found.redisMs ?? 0 }
}

export async function destroy(options: DeployOptions): Promise<void> {
  const { env, name, source, folder, config, say = () => {} } = options
  const names = namesOf(name, source)
  if (!env.QSTASH_TOKEN) throw new DeployFailure('QSTASH_TOKEN is missing: set it to remove the schedule from QStash')
  const { account, cloudflare } = await meansOf(env, readProject(config))
  const { schedules } = clientFor({ url: env.QSTASH_URL || undefined, token: env.QSTASH_TOKEN, publicUrl: '' })
  const schedule = (await askAgain(() => schedules.list())).some(({ scheduleId }) => scheduleId === names.schedule)
  if (schedule) await askAgain(() => schedules.delete(names.schedule))
  say(schedule ? `the schedule ${names.schedule} is removed` : `there is no schedule ${names.schedule}`)
  const worker = await advised(cloudflare.removeWorker(account, names.worker), account)
  say(worker ? `the Worker ${names.worker} is removed` : `there is no Worker ${names.worker}`)
  say(
    `kept: the keys in Redis that begin with ${env.SIDEJOB_NAMESPACE || names.namespace}, the bucket ${names.bucket}, the database ${names.history}, ${keyFileOf(names, folder)}`,
  )
}
