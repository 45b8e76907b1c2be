// The Free plan of Cloudflare allows 50 requests per invocation.

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startWorkerd, type Workerd } from './kit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let workerd: Workerd
beforeAll(async () => {
  workerd = await startWorkerd({ plan: 'free', vars: { SIDEJOB_LANE_REQUESTS: '40' } })
})
afterAll(() => workerd?.close())

test('with 40 requests for each lane, 120 single jobs stay within the limits of the Free plan', async () => {
  const { client, printed } = workerd
  await client.queues.patch('default', { batch: 1, lanes: 1 })
  const inputs = { text: ['to be'] }
  const made = await Promise.all(
    Array.from({ length: 120 }, () => client.jobs.enqueue({ class: 'count_words', inputs, retain: 3_600 })),
  )
  const all = () => Promise.all(made.map(({ id }) => client.jobs.get(id)))
  await expect
    .poll(async () => (await all()).filter(({ status }) => status !== 'completed').length, {
      timeout: 50_000,
      interval: 500,
    })
    .toBe(0)
  expect((await all()).filter(({ lost }) => lost > 0)).toEqual([])
  expect(printed).toEqual([])
})
