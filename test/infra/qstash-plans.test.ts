import { Client } from '@upstash/qstash'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type PlanName, planOf, plans } from '../../infra/stand-ins/plan.ts'
import { type Qstash, startQstash } from '../../infra/stand-ins/qstash.ts'

const DAY = 86_400_000
const url = 'https://jobs.example.com/tick'
const start = Date.UTC(2026, 0, 1)

let time = start
let qstash: Qstash
let client: Client
afterEach(() => qstash?.close())

async function startWith(plan: PlanName) {
  vi.spyOn(console, 'error').mockReturnValue()
  time = start
  qstash = await startQstash({ plan, now: () => time })
  client = new Client({ baseUrl: qstash.url, token: qstash.token, devMode: false, enableTelemetry: false })
}
const later = (n: number) => Array.from({ length: n }, () => ({ url, delay: 3_600 }))

describe('the free plan', () => {
  test('accepts the first 1,000 messages of a day, also within a batch, and then returns 429 until midnight', async () => {
    await startWith('free')
    for (let i = 0; i < 9; i++) await client.batch(later(100))
    const answers = (await client.batch(later(150))) as { messageId?: string; error?: string }[]
    expect(answers.filter(({ messageId }) => messageId)).toHaveLength(100)
    expect(answers.filter(({ error }) => error?.startsWith('quota exceeded'))).toHaveLength(50)
    await expect(client.publish({ url, delay: 3_600 })).rejects.toMatchObject({ status: 429 })
    await expect(client.batch(later(2))).rejects.toMatchObject({ status: 429 })
    time += DAY
    await client.publish({ url, delay: 3_600 })
  })

  test('refuses messages due in more than 7 days, or larger than 1 MB', async () => {
    await startWith('free')
    await expect(client.publish({ url, delay: 8 * 86_400 })).rejects.toThrow(/7 days/)
    await expect(client.publish({ url, notBefore: Math.floor(time / 1000) + 8 * 86_400 })).rejects.toThrow(/7 days/)
    await expect(client.publish({ url, body: 'x'.repeat(2 ** 20 + 1) })).rejects.toThrow(/1048577 bytes/)
    await client.publish({ url, delay: 6 * 86_400, body: 'x'.repeat(2 ** 20) })
  })

  test('delivers ten messages at once', async () => {
    await startWith('free')
    const answer = await fetch(`${qstash.url}/v2/globalParallelism`, {
      headers: { authorization: `Bearer ${qstash.token}` },
    })
    expect(await answer.json()).toMatchObject({ parallelismMax: 10 })
  })
})

test('pay as you go has no daily limit', async () => {
  await startWith('payg')
  for (let i = 0; i < 11; i++) await client.batch(later(100))
  expect(qstash.counts.published).toBe(1_100)
})

test('without a plan nothing is refused', async () => {
  await startWith('off')
  for (let i = 0; i < 11; i++) await client.batch(later(100))
  await client.publish({ url, delay: 300 * 86_400, body: 'x'.repeat(2 ** 21) })
  expect(qstash.counts.published).toBe(1_101)
})

test('an unknown plan is refused with the list of plans', () => {
  expect(plans[planOf('free')]).toMatchObject({ redis: { commandsAMonth: 500_000 }, qstash: { daily: 1_000 } })
  expect(() => planOf('gold')).toThrow('SIDEJOB_PLAN: expected free, payg, fixed, off, got "gold"')
})
