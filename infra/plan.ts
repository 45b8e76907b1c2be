// What the vendor's plans allow of Redis: the stand-ins refuse what is more.

const MB = 1024 * 1024

const plans = {
  free: { redis: { request: 10 * MB, record: 100 * MB, commandsASecond: 10_000, commandsAMonth: 500_000 } },
  payg: { redis: { request: 10 * MB, record: 100 * MB, commandsASecond: 10_000, commandsAMonth: undefined } },
  fixed: { redis: { request: 10 * MB, record: 100 * MB, commandsASecond: 10_000, commandsAMonth: undefined } },
} as const

export type Plan = { redis: { request: number; record: number; commandsASecond: number; commandsAMonth?: number } }

/**
 * The limits of a plan by its name: that of SIDEJOB_PLAN, pay-as-you-go where none is set.
 *
 * @example planOf('free').redis.commandsAMonth // 500000
 */
export function planOf(name = process.env.SIDEJOB_PLAN || 'payg'): Plan {
  const plan = plans[name as keyof typeof plans]
  if (!plan) throw new Error(`SIDEJOB_PLAN: expected free, payg or fixed, got "${name}"`)
  return plan
}
