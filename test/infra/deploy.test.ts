// What a deployment would do; it is carried out on the vendors' machines only.

import { expect, test } from 'vitest'
import { describe, planOf } from '../../infra/deploy.ts'

const given = {
  UPSTASH_REDIS_REST_URL: 'https://eu1.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'redis-token',
  QSTASH_TOKEN: 'qstash-token',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_1',
  QSTASH_NEXT_SIGNING_KEY: 'sig_2',
  PUBLIC_URL: 'https://jobs.example.com',
}

test('it says what it would make, deploy and schedule, and shows no secret', () => {
  expect(describe(planOf({ ...given, HOME: '/root' }))).toEqual([
    '1. Make SIDEJOB_API_KEY and SIDEJOB_WEBHOOK_SECRET, unless the Worker has them.',
    `2. Build the Worker and deploy it with wrangler, with the secrets ${Object.keys(given).join(', ')}.`,
    '3. Set up the schedule sidejob-tick in QStash: POST https://jobs.example.com/tick, cron * * * * *.',
    '4. Ask for the first tick.',
  ])
})

test('a key that is given is not made', () => {
  const plan = planOf({ ...given, SIDEJOB_API_KEY: 'mine', SIDEJOB_WEBHOOK_SECRET: 'whsec_mine' })
  expect(plan.made).toEqual([])
  expect(plan.given).toMatchObject({ SIDEJOB_API_KEY: 'mine' })
})

test('what is missing is named, with where it comes from', () => {
  const lines = describe(planOf({ ...given, QSTASH_TOKEN: undefined, PUBLIC_URL: '' }))
  expect(lines.filter((line) => line.startsWith('Missing'))).toEqual([
    "Missing: QSTASH_TOKEN, from QStash's page in the Upstash console.",
    'Missing: PUBLIC_URL, from the address of the Worker, https://sidejob.<account>.workers.dev or a domain of yours.',
  ])
})
