const MB = 1024 * 1024
const DAY = 86_400_000
const NONE = Number.POSITIVE_INFINITY

export type Bounds = {
  connections?: number
  subrequests?: number
  services?: number
  /** Maximum invocations of the same Worker for one request, including the first. */
  invocations?: number
  /** Milliseconds that work may continue after the response. */
  kept?: number
}

type Plan = {
  redis: { record: number; commandsASecond: number; commandsAMonth: number }
  qstash: { daily: number; parallelism: number; message: number; delay: number }
  workers: {
    invocation: Bounds
    /** `cpu`: milliseconds per invocation. `memory`: bytes per isolate. */
    cpu: number
    memory: number
  }
}

const redis = { record: 100 * MB, commandsASecond: 10_000, commandsAMonth: NONE }
// https://developers.cloudflare.com/workers/platform/limits/
const workers = {
  invocation: { connections: 6, subrequests: 10_000, services: 10_000, invocations: 32, kept: 30_000 },
  cpu: 30_000,
  memory: 128 * MB,
}
const qstash = { daily: NONE, parallelism: 100, message: 10 * MB, delay: 365 * DAY }

export const plans = {
  free: {
    redis: { ...redis, commandsAMonth: 500_000 },
    qstash: { daily: 1_000, parallelism: 10, message: MB, delay: 7 * DAY },
    workers: { ...workers, invocation: { ...workers.invocation, subrequests: 50, services: 1_000 }, cpu: 10 },
  },
  payg: { redis, qstash, workers },
  /** QStash Fixed 1M: https://upstash.com/pricing/qstash.md */
  fixed: { redis, qstash: { ...qstash, daily: 1_000_000, parallelism: 200, message: 50 * MB }, workers },
  off: {
    redis: { record: NONE, commandsASecond: NONE, commandsAMonth: NONE },
    qstash: { daily: NONE, parallelism: NONE, message: NONE, delay: NONE },
    workers: { invocation: {}, cpu: 30_000, memory: NONE },
  },
} as const satisfies Record<string, Plan>

export type PlanName = keyof typeof plans

export function planOf(name = process.env.SIDEJOB_PLAN || 'payg'): PlanName {
  if (Object.hasOwn(plans, name)) return name as PlanName
  throw new Error(`SIDEJOB_PLAN: expected ${Object.keys(plans).join(', ')}, got "${name}"`)
}
