import { Cron } from 'croner'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const units = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND, d: DAY } as const

const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/
const DURATION_PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g

export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(DURATION_PART)) ms += Number(amount) * units[unit as keyof typeof units]
  return ms
}

/** QStash's delays: 12 s, 2m28s, 30m8s, 6h7m6s, then a day. `retry` counts from 1. */
const backoff = (retry: number) => Math.min(86_400, Math.floor(Math.exp(2.5 * retry))) * SECOND

export function nextAttempt(retried: number, answer: Answered, now: number): number {
  return now + (steeredWait(answer, now) ?? backoff(retried + 1))
}

type Answered = Record<string, string | string[] | undefined>

const steering = ['retry-after', 'x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']

function steeredWait(answer: Answered, now: number): number | undefined {
  const text = steering.map((name) => answer[name]).find((value) => value !== undefined)
  if (text === undefined) return undefined
  const wait = parseWait(String(text).trim(), now)
  // QStash ignores a header that asks for a delay of more than a day.
  return wait <= DAY ? Math.max(0, wait) : undefined
}

const parseWait = (text: string, now: number): number =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND : (parseDuration(text) ?? Date.parse(text) - now)

const ZONE = /^(?:CRON_TZ|TZ)=(\S+)\s+/

export function nextTick(cron: string, now: number): number | undefined {
  const timezone = ZONE.exec(cron)?.[1] ?? 'UTC'
  const pattern = new Cron(cron.replace(ZONE, ''), { timezone, mode: '5-or-6-parts' })
  return pattern.nextRun(new Date(now))?.getTime()
}
