import { hash, randomBytes } from 'node:crypto'
import { newKey } from '../core/crypto.ts'
import { development } from '../development.ts'
import { encryptionKeysOf } from '../environment.ts'
import { settings } from '../settings.ts'
import { scheduleIdOf } from './tick.ts'

export type Env = Record<string, string | undefined>

const needed: Record<string, { from: string } | { make: () => string }> = {
  UPSTASH_REDIS_REST_URL: { from: "the database's page in the Upstash console" },
  UPSTASH_REDIS_REST_TOKEN: { from: "the database's page in the Upstash console" },
  QSTASH_TOKEN: { from: "QStash's page in the Upstash console" },
  QSTASH_CURRENT_SIGNING_KEY: { from: "QStash's page in the Upstash console" },
  QSTASH_NEXT_SIGNING_KEY: { from: "QStash's page in the Upstash console" },
  SIDEJOB_API_KEY: { make: newKey },
  SIDEJOB_WEBHOOK_SECRET: { make: () => `whsec_${randomBytes(32).toString('base64')}` },
  SIDEJOB_FILES_SECRET: { make: () => randomBytes(32).toString('base64url') },
}

/** Omits variables that belong to tests or to a single upload. */
const variables = [
  ...new Set([
    ...Object.keys(needed),
    ...Object.keys(settings).filter(
      (name) => !['SIDEJOB_TEST_CLOCK', 'SIDEJOB_VERSION', 'SIDEJOB_AUTHOR'].includes(name),
    ),
  ]),
]

export type Names = { worker: string; namespace: string; bucket: string; history: string; schedule: string }

const DEFAULT = 'sidejob'
const MAX_NAME = 52

/** R2 names cannot contain `_`. The hash keeps the buckets of `my_jobs` and `my-jobs` apart. */
function bucketOf(name: string): string {
  const plain = name.replaceAll('_', '-')
  if (plain === name) return `${name}-files`
  return `${plain}-${hash('sha256', name).slice(0, 4)}-files`
}

export function namesOf(name = DEFAULT, source = '--name'): Names {
  // wrangler refuses capital letters, although Cloudflare accepts them.
  if (!/^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/.test(name) || name.length > MAX_NAME)
    throw new Error(
      `${source}: expected up to ${MAX_NAME} of a-z, 0-9, "-" and "_", beginning and ending with a letter or digit, got ${JSON.stringify(name)}`,
    )
  return {
    worker: name,
    namespace: `${name}:`,
    bucket: bucketOf(name),
    history: `${name}-history`,
    schedule: scheduleIdOf(name),
  }
}

const [KEY, SECRET] = [16, 24]

const bytesOf = (secret: string): number => Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length

function badKeys(env: Env): string | false {
  try {
    encryptionKeysOf(env)
    return false
  } catch (error) {
    return (error as Error).message
  }
}

function refused(env: Env): string[] {
  const webhooks = (env.SIDEJOB_WEBHOOK_SECRET ?? '').split(',').map((secret) => secret.trim())
  const published = new Set<string>(Object.values(development))
  const key = env.SIDEJOB_API_KEY
  return [
    env.SIDEJOB_TEST_CLOCK &&
      'SIDEJOB_TEST_CLOCK: expected no value, because every key with the scope admin could move the clock',
    key !== undefined &&
      key.length < KEY &&
      `SIDEJOB_API_KEY: expected at least ${KEY} characters, got ${key === 'dev' ? '"dev", the key of local stacks' : key.length}`,
    ...['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'].map(
      (name) =>
        published.has(env[name] ?? '') &&
        `${name}: expected a value from your QStash account, got the value of QStash's development server`,
    ),
    badKeys(env),
    ...webhooks.map(
      (secret) =>
        secret !== '' &&
        bytesOf(secret) < SECRET &&
        `SIDEJOB_WEBHOOK_SECRET: expected whsec_ and at least ${SECRET} bytes in base64, got ${bytesOf(secret)} bytes`,
    ),
  ].filter((sentence) => typeof sentence === 'string')
}

export type Plan = {
  names: Names
  given: Record<string, string>
  made: string[]
  missing: string[]
  refused: string[]
}

export function planOf(env: Env, name?: string, source?: string): Plan {
  const names = namesOf(name, source)
  const without = variables.filter((secret) => !env[secret])
  return {
    names,
    given: {
      SIDEJOB_NAMESPACE: names.namespace,
      ...Object.fromEntries(variables.flatMap((secret) => (env[secret] ? [[secret, env[secret]]] : []))),
    },
    made: without.filter((secret) => 'make' in (needed[secret] ?? {})),
    missing: without.filter((secret) => 'from' in (needed[secret] ?? {})),
    refused: refused(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))),
  }
}

export const make = (secret: string): string => (needed[secret] as { make: () => string }).make()

export function describe({ names, given, made, missing, refused: no }: Plan): string[] {
  const url = given.PUBLIC_URL ?? `https://${names.worker}.<your subdomain>.workers.dev`
  const steps = [
    made.length
      ? `Create ${made.join(', ')} unless the Worker ${names.worker} has them, and store them in ${keyFileOf(names)}.`
      : 'Create no secrets, because all are set.',
    `Create the bucket ${names.bucket} in R2 unless it exists; without R2 there are no downloads.`,
    `Create the database ${names.history} and its tables in D1, if the configuration binds HISTORY without an id.`,
    `Build the Worker ${names.worker} and deploy it, with the secrets ${Object.keys(given).join(', ')}.`,
    `Find the path at which the Worker serves sidejob, check that ${url}<mount>/health answers, and that ${url}<mount>/tick refuses unsigned calls.`,
    `Set up the schedule ${names.schedule} in QStash, and check that one tick arrives.`,
  ]
  return [
    ...steps.map((step, i) => `${i + 1}. ${step}`),
    ...missing.map((secret) => `Missing: ${secret}, from ${(needed[secret] as { from: string }).from}.`),
    ...no.map((sentence) => `Refused: ${sentence}.`),
  ]
}

export const keyFileOf = ({ worker }: Names, folder = '.sidejob'): string => `${folder}/${worker}.keys.json`
