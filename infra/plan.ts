// What the vendor's plans allow of Redis and of QStash: the stand-ins refuse what is more.

const MB = 1024 * 1024
const DAY = 86_400_000
const NONE = Number.POSITIVE_INFINITY

export type Plan = {
  redis: { record: number; commandsASecond: number; commandsAMonth: number }
  qstash: { daily: number; parallelism: number; message: number; delay: number }
}

const redis = { record: 100 * MB, commandsASecond: 10_000, commandsAMonth: NONE }
const qstash = { daily: NONE, parallelism: 100, message: 10 * MB, delay: 365 * DAY }

export const plans = {
  free: {
    redis: { ...redis, commandsAMonth: 500_000 },
    qstash: { daily: 1_000, parallelism: 10, message: MB, delay: 7 * DAY },
  },
  payg: { redis, qstash },
  fixed: { redis, qstash: { ...qstash, daily: 1_000_000 } },
  /** No limits of a plan: what QStash's protocol bounds, a year and 10 MB, is bounded still. */
  off: {
    redis: { record: NONE, commandsASecond: NONE, commandsAMonth: NONE },
    qstash: { daily: NONE, parallelism: NONE, message: NONE, delay: NONE },
  },
} as const satisfies Record<string, Plan>

export type PlanName = keyof typeof plans

/**
 * The plan that SIDEJOB_PLAN names; pay as you go where it names none.
 *
 * @example plans[planOf()].qstash.daily // Infinity
 */
export function planOf(name = process.env.SIDEJOB_PLAN || 'payg'): PlanName {
  if (Object.hasOwn(plans, name)) return name as PlanName
  throw new Error(`SIDEJOB_PLAN: expected ${Object.keys(plans).join(', ')}, got "${name}"`)
}
