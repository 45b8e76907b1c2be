import { portOf } from '../src/cli/project/dev.ts'
import { type Stack, startLocalStack } from './stack.ts'

const { env } = process

const passedOn = [
  'SIDEJOB_ALLOW_HOSTS',
  'SIDEJOB_DISPATCH',
  'SIDEJOB_DOWNLOAD_MAX_BYTES',
  'SIDEJOB_DOWNLOAD_URL',
  'SIDEJOB_ENCRYPTION_KEY',
  'SIDEJOB_FILES_SECRET',
  'SIDEJOB_FILE_RETENTION',
  'SIDEJOB_HISTORY',
  'SIDEJOB_KAFKA_REST_URL',
  'SIDEJOB_LANE_BUDGET',
  'SIDEJOB_LANE_LEASE',
  'SIDEJOB_LANE_WARM',
  'SIDEJOB_MAX_LOST',
  'SIDEJOB_LANE_REQUESTS',
  'SIDEJOB_LOG',
  'SIDEJOB_ORIGINS',
  'SIDEJOB_NAMESPACE',
  'SIDEJOB_S3_ACCESS_KEY_ID',
  'SIDEJOB_S3_BUCKETS',
  'SIDEJOB_S3_SECRET_ACCESS_KEY',
  'SIDEJOB_TEST_CLOCK',
  'SIDEJOB_VERSION',
  'SIDEJOB_WEBHOOK_SIGNATURES',
]

let stack: Stack | undefined
let ending = false

async function end(code: number) {
  if (ending) return
  ending = true
  setTimeout(() => process.exit(code || 1), 4_500).unref()
  await stack?.close()
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))

// Check the parent, because it may end without sending a signal.
const parent = process.ppid
setInterval(() => process.ppid !== parent && end(0), 250).unref()

try {
  stack = await startLocalStack({
    dir: env.SIDEJOB_DIR || '.sidejob',
    port: portOf({}, 'PORT'),
    apiKey: env.SIDEJOB_API_KEY || undefined,
    webhookSecret: env.SIDEJOB_WEBHOOK_SECRET,
    qstash: env.QSTASH_URL
      ? {
          url: env.QSTASH_URL,
          token: env.QSTASH_TOKEN,
          currentSigningKey: env.QSTASH_CURRENT_SIGNING_KEY,
          nextSigningKey: env.QSTASH_NEXT_SIGNING_KEY,
        }
      : undefined,
    vars: Object.fromEntries(passedOn.map((name) => [name, env[name]])),
    say: (line) => console.log(line),
  })
  introduce(stack, await stack.login())
  await stack.gone
} catch (error) {
  console.error(`sidejob: ${error instanceof Error ? error.message : error}`)
  await end(1)
}

function introduce({ url, apiKey, webhookSecret, redis, gateway, qstash }: Stack, login?: string) {
  const rows = {
    Redis: redis.describe,
    Gateway: `${gateway.url}, the REST API of this Redis`,
    QStash: qstash ? `stand-in on ${qstash.url}` : env.QSTASH_URL,
    'API key': apiKey,
    Webhooks: `signed with ${webhookSecret}`,
    'Next, try': 'npm run demo',
    ...(login ? { Dashboard: `${login} (once, within an hour)` } : {}),
  }
  for (const [name, text] of Object.entries(rows)) console.log(`${name.padEnd(10)} ${text}`)
  console.log(`ready on ${url}`)
}
