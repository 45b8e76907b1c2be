import { type PlanName, plans } from '../plan.ts'
import { Refusal, type Settings } from './message.ts'

const DAY = 86_400_000

export const quotaExceeded = (limit: number, time: number): Refusal =>
  new Refusal(429, 'quota exceeded: the daily limit of messages is reached', {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(Math.ceil((Math.floor(time / DAY) + 1) * (DAY / 1_000))),
  })

export function createQuota(plan: PlanName, now: () => number) {
  const { daily, message, delay } = plans[plan].qstash
  let day = 0
  let used = 0

  const today = (): number => {
    const current = Math.floor(now() / DAY)
    if (current !== day) [day, used] = [current, 0]
    return used
  }

  function admit(): void {
    if (today() >= daily) throw quotaExceeded(daily, now())
  }

  return {
    admit,
    take(): void {
      admit()
      used++
    },
    check(body: Buffer, { delay: wait = 0, notBefore = 0 }: Settings): void {
      if (body.length > message)
        throw new Refusal(412, `the body has ${body.length} bytes; at most ${message} in plan ${plan}`)
      if (Math.max(wait, notBefore * 1_000 - now()) > delay)
        throw new Refusal(412, `the message is due in more than ${delay / DAY} days, the maximum of plan ${plan}`)
    },
    used: today,
  }
}

export type Quota = ReturnType<typeof createQuota>
