import { randomBytes } from 'node:crypto'
import type { Env } from '../../src/deploy/settings.ts'
import { clockQuestion, databaseQuestion } from './account.ts'
import { questionsOfJobs } from './jobs.ts'
import { questionsOfQstash } from './qstash.ts'
import { questionsOfRedis } from './redis.ts'
import { answerOf, type Line } from './verdict.ts'
import { questionsOfWorker } from './worker.ts'

type ProbeOptions = {
  env: Env
  record?: number
  /** Milliseconds of silence before a subscription is tested again. */
  silence?: number
  cronMaxWait?: number
  delays?: readonly number[]
  say?: (line: string) => void
  maxWait?: number
  pause?: number
}

const settings = {
  UPSTASH_REDIS_REST_URL: "the database's page in the Upstash console",
  UPSTASH_REDIS_REST_TOKEN: "the database's page in the Upstash console",
  QSTASH_TOKEN: "QStash's page in the Upstash console",
  QSTASH_CURRENT_SIGNING_KEY: "QStash's page in the Upstash console",
  QSTASH_NEXT_SIGNING_KEY: "QStash's page in the Upstash console",
  PUBLIC_URL: 'the address of the Worker, as printed by `npm run deploy`',
}

const secret = [
  'UPSTASH_REDIS_REST_TOKEN',
  'QSTASH_TOKEN',
  'QSTASH_CURRENT_SIGNING_KEY',
  'QSTASH_NEXT_SIGNING_KEY',
  'SIDEJOB_API_KEY',
  'UPSTASH_API_KEY',
]

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export const hider =
  (env: Env) =>
  (text: string): string =>
    secret.reduce((shown, name) => {
      const value = env[name]
      if (!value) return shown
      return shown.replace(new RegExp(`(?<![\\w-])${quoted(value)}(?![\\w-])`, 'g'), `<${name}>`)
    }, text)

function required(env: Env): Record<keyof typeof settings, string> {
  const missing = Object.entries(settings).filter(([name]) => !env[name])
  if (missing.length) throw new Error(missing.map(([name, from]) => `${name} is missing: ${from}`).join('\n'))
  return env as Record<keyof typeof settings, string>
}

const shown = ({ verdict, about, expected, got }: Line): string =>
  `${verdict.padEnd(9)}  ${about}\n           expected ${expected}\n           got      ${got}`

/** Throws one error that names all missing settings, or all things that could not be deleted. */
export async function probe({
  env,
  record,
  silence,
  cronMaxWait,
  delays,
  say = () => {},
  ...waits
}: ProbeOptions): Promise<Line[]> {
  const given = required(env)
  const hide = hider(env)
  const name = `sidejob-probe-${randomBytes(6).toString('hex')}`
  const where = {
    url: env.QSTASH_URL || undefined,
    token: given.QSTASH_TOKEN,
    publicUrl: given.PUBLIC_URL.replace(/\/+$/, ''),
  }
  const redis = questionsOfRedis({
    url: given.UPSTASH_REDIS_REST_URL,
    token: given.UPSTASH_REDIS_REST_TOKEN,
    namespace: `${name}:`,
    record,
    silence,
  })
  const keys = { current: given.QSTASH_CURRENT_SIGNING_KEY, next: given.QSTASH_NEXT_SIGNING_KEY }
  const qstash = questionsOfQstash({ ...where, keys, schedule: name })
  const worker = questionsOfWorker({
    ...where,
    ...waits,
    cronMaxWait,
    key: env.SIDEJOB_API_KEY,
    versionUrl: env.SIDEJOB_VERSION_URL,
    queue: `${name} a%b?ä`,
  })
  const others = [databaseQuestion(env), clockQuestion({ ...where, time: redis.time })]
  const jobs = questionsOfJobs({ ...where, ...waits, delays, key: env.SIDEJOB_API_KEY })
  const lines: Line[] = []
  try {
    for (const question of [...redis.questions, ...qstash.questions, ...worker, ...others, ...jobs.questions]) {
      const line = await answerOf(question)
      lines.push({ ...line, expected: hide(line.expected), got: hide(line.got) })
      say(shown(lines.at(-1)!))
    }
  } finally {
    await removed(name, [redis.remove, qstash.remove, jobs.remove], hide)
  }
  return lines
}

async function removed(name: string, removals: (() => Promise<number>)[], hide: (text: string) => string) {
  const left = await Promise.allSettled(removals.map((remove) => remove()))
  const wrong = left.flatMap((one) => {
    if (one.status === 'rejected') return [hide(String(one.reason))]
    return one.value ? [`${one.value} left`] : []
  })
  if (wrong.length)
    throw new Error(`keys or schedules of the probe could not be removed, look for ${name}: ${wrong.join('; ')}`)
}
