import { fromBase64Url } from './core/codec/base64.ts'
import { readPrices } from './core/cost.ts'
import { SidejobError } from './core/errors.ts'
import type { Downloads } from './core/files.ts'
import { MAX_HISTORY } from './core/schemas/job-options.ts'
import { codeVersion } from './core/schemas/names.ts'
import { duration } from './core/time.ts'
import { addressIn, isLocal, secretFault } from './core/url.ts'
import type { Worker } from './core/worker.ts'
import { development } from './development.ts'
import type { EngineOptions } from './engine/index.ts'
import type { SettingName } from './settings.ts'

export type VersionMetadata = { id: string; tag?: string; timestamp?: string }

export type Environment = { [Name in SettingName]?: string } & { CF_VERSION_METADATA?: VersionMetadata }

export type Deployment = {
  engine: Pick<
    EngineOptions,
    | 'redis'
    | 'qstash'
    | 'namespace'
    | 'apiKey'
    | 'tokenSecret'
    | 'webhookSecrets'
    | 'encryptionKeys'
    | 'sharedSignature'
    | 'allowHosts'
    | 'dispatch'
    | 'lane'
    | 'maxLost'
    | 'history'
    | 'prices'
    | 'version'
    | 'versionUrl'
    | 'author'
    | 'grace'
    | 'traces'
  >
  publicUrl: string
  signingKeys: { current: string; next: string }
  testClock: boolean
  origins: readonly string[]
  log: LogLevel
  downloads: Omit<Downloads, 'files'>
  fileSecret: string
  historyDays: number
  historyRetain?: number
  heartbeat?: string
  /** In bytes. */
  maxDownload?: number
  s3?: { accessKeyId: string; secretAccessKey: string; buckets: readonly string[] }
}

const logLevels = ['failed', 'all', 'none'] as const
export type LogLevel = (typeof logLevels)[number]

const required = [
  'UPSTASH_REDIS_REST_URL',
  'UPSTASH_REDIS_REST_TOKEN',
  'QSTASH_TOKEN',
  'QSTASH_CURRENT_SIGNING_KEY',
  'QSTASH_NEXT_SIGNING_KEY',
  'PUBLIC_URL',
] as const

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/** By default, derives the secret from the token of Redis. */
function signingOf({ SIDEJOB_WEBHOOK_SECRET, SIDEJOB_WEBHOOK_SIGNATURES, UPSTASH_REDIS_REST_TOKEN }: Environment) {
  const own = listOf(SIDEJOB_WEBHOOK_SECRET)
  return {
    webhookSecrets: own.length ? own : [`whsec_${btoa(`webhooks:${UPSTASH_REDIS_REST_TOKEN}`)}`],
    sharedSignature: own.length > 0 && SIDEJOB_WEBHOOK_SIGNATURES !== 'endpoint',
  }
}

/** The first key encrypts, and all keys decrypt. `openssl rand -base64 32` prints such a key. */
export function encryptionKeysOf({ SIDEJOB_ENCRYPTION_KEY }: Environment): Uint8Array[] {
  return listOf(SIDEJOB_ENCRYPTION_KEY).map((text, i) => {
    const bytes = /^[\w+/-]{43}=?$/.test(text) ? fromBase64Url(text) : undefined
    if (bytes?.length === 32) return bytes
    const expected = 'the base64 of 32 bytes, as "openssl rand -base64 32" writes it'
    throw secretFault(`SIDEJOB_ENCRYPTION_KEY, key ${i + 1}`, expected, text)
  })
}

function wholeNumber(setting: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0 && number <= most) return number
  const upTo = most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`
  throw new SidejobError('UNAVAILABLE', `${setting}: expected a whole number from 1${upTo}, got ${text}`)
}

const MOST_DAYS = 36_525

function durationOf(setting: string, text: string): number {
  try {
    return duration(text)
  } catch (error) {
    throw new SidejobError('MISCONFIGURED', `${setting}: ${(error as Error).message}`, { cause: error })
  }
}

const laneOf = (env: Environment) => ({
  warm: durationOf('SIDEJOB_LANE_WARM', env.SIDEJOB_LANE_WARM || '10s'),
  ...(env.SIDEJOB_LANE_BUDGET ? { budget: durationOf('SIDEJOB_LANE_BUDGET', env.SIDEJOB_LANE_BUDGET) } : {}),
  ...(env.SIDEJOB_LANE_LEASE ? { lease: durationOf('SIDEJOB_LANE_LEASE', env.SIDEJOB_LANE_LEASE) } : {}),
  ...(env.SIDEJOB_LANE_REQUESTS ? { requests: wholeNumber('SIDEJOB_LANE_REQUESTS', env.SIDEJOB_LANE_REQUESTS) } : {}),
})

/** OpenTelemetry percent-encodes these pairs. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    listOf(text).map((pair) => {
      try {
        const [name = '', value] = pair.split(/=(.*)/s).map((part) => decodeURIComponent(part.trim()))
        if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && value !== undefined) return [name, value]
      } catch {
        // Replaces the error of decodeURIComponent, which does not name the setting.
      }
      throw secretFault('OTEL_EXPORTER_OTLP_HEADERS', 'name=value, percent-encoded', pair)
    }),
  )

const addressOf = (env: Environment, setting: SettingName): string | undefined =>
  env[setting] ? addressIn(setting, env[setting]) : undefined

function tracesOf(env: Environment): Pick<EngineOptions, 'traces'> {
  const { OTEL_TRACES_SAMPLER_ARG: share, OTEL_SERVICE_NAME: service } = env
  const endpoint = addressOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  if (!endpoint) return {}
  const sample = Number(share || 1)
  if (!(sample >= 0 && sample <= 1))
    throw new SidejobError('MISCONFIGURED', `OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got ${share}`)
  const headers = headersOf(env.OTEL_EXPORTER_OTLP_HEADERS ?? '')
  return { traces: { endpoint, headers, sample, ...(service && { service }) } }
}

const MOST_AUTHOR = 100
const SHORT_ID = 8

export function versionOf({ SIDEJOB_VERSION: own, CF_VERSION_METADATA, PUBLIC_URL }: Environment): string | undefined {
  if (own) {
    const { success } = codeVersion.safeParse(own)
    if (success) return own
    const expected = '1 to 40 letters, digits, ".", "_", "+" and "-"'
    throw new SidejobError('MISCONFIGURED', `SIDEJOB_VERSION: expected ${expected}, got ${JSON.stringify(own)}`)
  }
  // The version id of a local stack changes at each start, so it is not used.
  const metadata = isLocal(PUBLIC_URL!) ? undefined : CF_VERSION_METADATA
  if (metadata?.tag && codeVersion.safeParse(metadata.tag).success) return metadata.tag
  return metadata?.id?.slice(0, SHORT_ID) || undefined
}

export function versionUrlOf({ SIDEJOB_VERSION_URL: pattern, CF_VERSION_METADATA }: Environment): string | undefined {
  const id = CF_VERSION_METADATA?.id.slice(0, SHORT_ID)
  if (!pattern || (pattern.includes('{id}') && !id)) return undefined
  const url = pattern.replaceAll('{id}', id ?? '').replace(/\/+$/, '')
  if (/^https?:/.test(url) && URL.canParse(url)) return url
  const expected = 'a URL such as "https://{id}-jobs.example.workers.dev"'
  throw new SidejobError('MISCONFIGURED', `SIDEJOB_VERSION_URL: expected ${expected}, got ${JSON.stringify(pattern)}`)
}

function credentialsOf(env: Environment): Pick<Deployment, 's3'> {
  const { SIDEJOB_S3_ACCESS_KEY_ID: accessKeyId, SIDEJOB_S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey) return {}
  return { s3: { accessKeyId, secretAccessKey, buckets: listOf(env.SIDEJOB_S3_BUCKETS) } }
}

/** The default is derived from the token of Redis, which is long and random. */
const secretOf = (env: Environment): string => env.SIDEJOB_FILES_SECRET ?? `store:${env.UPSTASH_REDIS_REST_TOKEN}`

export function checkPins(
  { engine: { version, versionUrl }, publicUrl }: Deployment,
  workers: readonly Worker[],
): void {
  const pinned = workers.find(({ pin }) => pin)
  if (!pinned || (version && versionUrl) || isLocal(publicUrl)) return
  const missing = version ? 'SIDEJOB_VERSION_URL' : 'SIDEJOB_VERSION or the binding CF_VERSION_METADATA'
  throw new SidejobError(
    'MISCONFIGURED',
    `class ${pinned.class} is pinned, but its versions have no addresses. Set ${missing}, or remove "pin"`,
  )
}

/** These keys of local stacks are public, so a deployment must not use them. */
const published: { [Name in SettingName]?: readonly string[] } = {
  SIDEJOB_API_KEY: ['dev'],
  QSTASH_TOKEN: [development.token],
  QSTASH_CURRENT_SIGNING_KEY: [development.currentSigningKey, development.nextSigningKey],
  QSTASH_NEXT_SIGNING_KEY: [development.currentSigningKey, development.nextSigningKey],
}

function refusePublished(env: Environment): void {
  if (isLocal(env.PUBLIC_URL!)) return
  const names = Object.keys(published) as SettingName[]
  const found = names.filter((name) => published[name]!.includes(env[name] ?? ''))
  if (found.length === 0) return
  const message = `${found.join(', ')}: expected your own keys, got the keys of the development stack, which are public`
  throw new SidejobError('MISCONFIGURED', `${message}. Set new keys with "wrangler secret put <name>", or in .dev.vars`)
}

/**
 * Reads the settings. The error names all missing settings.
 *
 * @example const { engine, publicUrl } = deploymentOf(env)
 */
export function deploymentOf(env: Environment): Deployment {
  const missing = required.filter((name) => !env[name])
  if (missing.length)
    throw new SidejobError(
      'UNAVAILABLE',
      `not configured: ${missing.join(', ')} (set each with wrangler secret put; in development, run npx sidejob dev instead of wrangler dev)`,
    )
  refusePublished(env)
  const publicUrl = env.PUBLIC_URL!.replace(/\/+$/, '')
  const secret = secretOf(env)
  return {
    engine: {
      redis: { url: addressOf(env, 'UPSTASH_REDIS_REST_URL')!, token: env.UPSTASH_REDIS_REST_TOKEN! },
      qstash: { url: addressOf(env, 'QSTASH_URL'), token: env.QSTASH_TOKEN!, publicUrl },
      namespace: env.SIDEJOB_NAMESPACE,
      apiKey: env.SIDEJOB_API_KEY,
      tokenSecret: `tokens of ${secret}`,
      ...signingOf(env),
      encryptionKeys: encryptionKeysOf(env),
      allowHosts: listOf(env.SIDEJOB_ALLOW_HOSTS),
      dispatch: env.SIDEJOB_DISPATCH === 'eager' ? 'eager' : 'bell',
      lane: laneOf(env),
      ...(env.SIDEJOB_PRICES ? { prices: readPrices(env.SIDEJOB_PRICES) } : {}),
      ...(env.SIDEJOB_HISTORY ? { history: wholeNumber('SIDEJOB_HISTORY', env.SIDEJOB_HISTORY, MAX_HISTORY) } : {}),
      version: versionOf(env),
      ...(env.SIDEJOB_AUTHOR ? { author: env.SIDEJOB_AUTHOR.slice(0, MOST_AUTHOR) } : {}),
      ...tracesOf(env),
      versionUrl: versionUrlOf(env),
      // A local stack has only one process, so old classes can be removed immediately.
      ...(isLocal(publicUrl) ? { grace: 0 } : {}),
      ...(env.SIDEJOB_MAX_LOST ? { maxLost: wholeNumber('SIDEJOB_MAX_LOST', env.SIDEJOB_MAX_LOST) } : {}),
    },
    publicUrl,
    signingKeys: { current: env.QSTASH_CURRENT_SIGNING_KEY!, next: env.QSTASH_NEXT_SIGNING_KEY! },
    testClock: env.SIDEJOB_TEST_CLOCK === '1',
    origins: listOf(env.SIDEJOB_ORIGINS),
    log: logLevels.find((level) => level === env.SIDEJOB_LOG) ?? 'failed',
    downloads: {
      allowHosts: listOf(env.SIDEJOB_ALLOW_HOSTS),
      base: addressOf(env, 'SIDEJOB_DOWNLOAD_URL')?.replace(/\/+$/, ''),
      keep: durationOf('SIDEJOB_FILE_RETENTION', env.SIDEJOB_FILE_RETENTION ?? '3h'),
      kafka: addressOf(env, 'SIDEJOB_KAFKA_REST_URL'),
    },
    fileSecret: secret,
    ...(env.SIDEJOB_HISTORY_RETAIN
      ? { historyRetain: durationOf('SIDEJOB_HISTORY_RETAIN', env.SIDEJOB_HISTORY_RETAIN) }
      : {}),
    historyDays: wholeNumber('SIDEJOB_HISTORY_DAYS', env.SIDEJOB_HISTORY_DAYS || '90', MOST_DAYS),
    ...(env.SIDEJOB_DOWNLOAD_MAX_BYTES
      ? { maxDownload: wholeNumber('SIDEJOB_DOWNLOAD_MAX_BYTES', env.SIDEJOB_DOWNLOAD_MAX_BYTES) }
      : {}),
    heartbeat: addressOf(env, 'SIDEJOB_HEARTBEAT_URL'),
    ...credentialsOf(env),
  }
}
