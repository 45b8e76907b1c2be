// What a plan of the vendor allows: messages a day, deliveries at once, sizes and delays. Beyond it is refused as there.

import { type Headers, Refusal, type Settings } from './message.ts'

const DAY = 86_400_000

type Limits = { daily: number; parallelism: number; message: number; delay: number }

export const plans = {
  free: { daily: 1_000, parallelism: 10, message: 2 ** 20, delay: 7 * DAY },
  payg: { daily: Number.POSITIVE_INFINITY, parallelism: 100, message: 10 * 2 ** 20, delay: 365 * DAY },
  fixed: { daily: 1_000_000, parallelism: 100, message: 10 * 2 ** 20, delay: 365 * DAY },
} as const satisfies Record<string, Limits>

export type Plan = keyof typeof plans

/** The plan that SIDEJOB_PLAN names; pay as you go when it names none. */
export function planOf(name = process.env.SIDEJOB_PLAN || 'payg'): Plan {
  if (Object.hasOwn(plans, name)) return name as Plan
  throw new Error(`SIDEJOB_PLAN: expected ${Object.keys(plans).join(', ')}, got "${name}"`)
}

export const quotaHeaders = (limit: number, time: number): Headers => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': '0',
  'RateLimit-Reset': String(Math.ceil((Math.floor(time / DAY) + 1) * (DAY / 1_000))),
})

/**
 * Counts messages against a plan.
 *
 * @example const quota = createQuota('free', Date.now); quota.take()
 */
export function createQuota(plan: Plan, now: () => number) {
  const { daily, message, delay } = plans[plan]
  let day = 0
  let used = 0

  const today = (): number => {
    const current = Math.floor(now() / DAY)
    if (current !== day) [day, used] = [current, 0]
    return used
  }

  /** @throws when the day's messages are used up */
  function admit(): void {
    if (today() >= daily)
      throw new Refusal(429, 'quota exceeded: the daily limit of messages is reached', quotaHeaders(daily, now()))
  }

  return {
    admit,
    /** Counts one; of a batch, those that go beyond are refused one by one. */
    take(): void {
      admit()
      used++
    },
    /** @throws when a message is larger or later than the plan allows */
    check(body: Buffer, { delay: wait = 0, notBefore = 0 }: Settings): void {
      if (body.length > message)
        throw new Refusal(412, `the body has ${body.length} bytes; at most ${message} in plan ${plan}`)
      if (Math.max(wait, notBefore * 1_000 - now()) > delay)
        throw new Refusal(
          412,
          `the message is due later than ${delay / DAY} days from now, the longest of plan ${plan}`,
        )
    },
    used: today,
  }
}

export type Quota = ReturnType<typeof createQuota>
