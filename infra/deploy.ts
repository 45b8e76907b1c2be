// `npm run deploy`: the Worker with its secrets, the bucket for files, and QStash's schedule for the tick. What is there
// stays as it is, so that it may be run again at any time. `--dry-run` says what it would do, and asks nobody.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { newKey } from '../src/core/crypto.ts'
import { scheduleTick, TICK, tickUrl } from './tick.ts'

/** What the Worker is told in secret: where it comes from, or how it is made when nobody has one yet. */
const secrets: Record<string, { from: string } | { make: () => string } | { optional: string }> = {
  UPSTASH_REDIS_REST_URL: { from: "the database's page in the Upstash console" },
  UPSTASH_REDIS_REST_TOKEN: { from: "the database's page in the Upstash console" },
  QSTASH_TOKEN: { from: "QStash's page in the Upstash console" },
  QSTASH_CURRENT_SIGNING_KEY: { from: "QStash's page in the Upstash console" },
  QSTASH_NEXT_SIGNING_KEY: { from: "QStash's page in the Upstash console" },
  PUBLIC_URL: { from: 'the address of the Worker, https://sidejob.<account>.workers.dev or a domain of yours' },
  SIDEJOB_API_KEY: { make: newKey },
  SIDEJOB_WEBHOOK_SECRET: { make: () => `whsec_${randomBytes(32).toString('base64')}` },
  SIDEJOB_FILES_SECRET: { make: () => randomBytes(32).toString('base64url') },
  QSTASH_URL: { optional: 'a region of QStash other than the usual one' },
  SIDEJOB_ALLOW_HOSTS: { optional: 'internal hosts that may be called' },
  SIDEJOB_DISPATCH: { optional: 'eager: who enqueues starts the work' },
  SIDEJOB_LOG: { optional: 'which runs are lines of the log' },
  SIDEJOB_ORIGINS: { optional: 'whose pages may read streams' },
  SIDEJOB_NAMESPACE: { optional: 'what keys in Redis begin with' },
  SIDEJOB_LANE_BUDGET: { optional: 'how long a lane serves before it hands on' },
  SIDEJOB_LANE_LEASE: { optional: 'how long a run is lent before it counts as lost' },
  SIDEJOB_DOWNLOAD_URL: { optional: 'where files are given by their ids alone' },
  SIDEJOB_DOWNLOAD_MAX_BYTES: { optional: 'the largest download; 1 GiB' },
  SIDEJOB_FILE_RETENTION: { optional: 'for how long a file is kept after its callback was delivered' },
  SIDEJOB_KAFKA_REST_URL: { optional: 'a Kafka REST proxy for callbacks of downloads' },
  SIDEJOB_S3_ACCESS_KEY_ID: { optional: 'for downloads into buckets of others' },
  SIDEJOB_S3_SECRET_ACCESS_KEY: { optional: 'for downloads into buckets of others' },
  SIDEJOB_S3_BUCKETS: { optional: 'which buckets of others' },
}

/** The buckets that the Worker is bound to. */
export const bucketsIn = (config: string): string[] =>
  [...config.matchAll(/^bucket_name = "([^"]+)"/gm)].map(([, name]) => name!)

const config = fileURLToPath(new URL('../wrangler.toml', import.meta.url))

type Plan = { given: Record<string, string>; made: string[]; missing: string[]; buckets: string[] }

export function planOf(env: Record<string, string | undefined>): Plan {
  const names = Object.keys(secrets)
  const without = names.filter((name) => !env[name])
  return {
    given: Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    made: without.filter((name) => 'make' in secrets[name]!),
    missing: without.filter((name) => 'from' in secrets[name]!),
    buckets: bucketsIn(readFileSync(config, 'utf8')),
  }
}

/** The plan in words; values are never shown. */
export function describe({ given, made, missing, buckets }: Plan): string[] {
  const url = given.PUBLIC_URL ?? '<PUBLIC_URL>'
  const steps = [
    made.length ? `Make ${made.join(', ')}, unless the Worker has them.` : 'Make no secret: all are given.',
    ...buckets.map((name) => `Make the bucket ${name} in R2, unless it is there.`),
    `Build the Worker and deploy it with wrangler, with the secrets ${Object.keys(given).join(', ') || '(none)'}.`,
    `Set up the schedule ${TICK.scheduleId} in QStash: POST ${tickUrl(url)}, cron ${TICK.cron}.`,
    'Ask for the first tick.',
  ]
  return [
    ...steps.map((step, i) => `${i + 1}. ${step}`),
    ...missing.map((name) => `Missing: ${name}, from ${(secrets[name] as { from: string }).from}.`),
  ]
}

async function deploy({ given, made, buckets }: Plan) {
  const there = made.length ? await secretsThere() : []
  const fresh = Object.fromEntries(
    made
      .filter((name) => !there.includes(name))
      .map((name) => [name, (secrets[name] as { make: () => string }).make()]),
  )
  for (const bucket of buckets) await makeBucket(bucket)
  await withFile(JSON.stringify({ ...given, ...fresh }), (file) => wrangler('deploy', '--secrets-file', file))
  for (const [name, value] of Object.entries(fresh)) console.log(`${name} is new, keep it: ${value}`)
  const publicUrl = given.PUBLIC_URL!.replace(/\/+$/, '')
  await scheduleTick({ url: given.QSTASH_URL, token: given.QSTASH_TOKEN!, publicUrl })
  console.log(`deployed to ${publicUrl}, and ${TICK.scheduleId} is set up`)
}

/** The names of the secrets that the Worker has; none when there is no Worker yet. */
async function secretsThere(): Promise<string[]> {
  const listed = await wrangler('secret', 'list', '--format', 'json').catch((error: Error) => {
    if (/not found|does not exist/i.test(error.message)) return '[]'
    throw error
  })
  return (JSON.parse(listed) as { name: string }[]).map(({ name }) => name)
}

async function makeBucket(name: string): Promise<void> {
  await wrangler('r2', 'bucket', 'create', name, '--update-config=false').then(
    () => console.log(`the bucket ${name} is new`),
    (error: Error) => {
      if (!/already exists/i.test(error.message)) throw error
    },
  )
}

/** Secrets go to wrangler in a file that only we can read: a command line can be seen by everybody. */
async function withFile<T>(content: string, use: (path: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-deploy-'))
  try {
    const path = join(dir, 'secrets.json')
    writeFileSync(path, content, { mode: 0o600 })
    return await use(path)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function wrangler(...args: string[]): Promise<string> {
  const bin = join(createRequire(import.meta.url).resolve('wrangler/package.json'), '../bin/wrangler.js')
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['inherit', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  if ((await ended) !== 0) throw new Error(`wrangler ${args[0]} has failed:\n${(complained || said).trim()}`)
  return said
}

if (import.meta.main) {
  const plan = planOf(process.env)
  const dry = process.argv.includes('--dry-run')
  if (dry || plan.missing.length) for (const line of describe(plan)) console.log(line)
  if (plan.missing.length) process.exitCode = 1
  else if (!dry) {
    await deploy(plan).catch((error: Error) => {
      console.error(`deploy: ${error.message}`)
      process.exitCode = 1
    })
  }
}
