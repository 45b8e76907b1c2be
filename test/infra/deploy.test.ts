// What a deployment would do; it is carried out on the vendors' machines only.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bucketsIn, describe, planOf } from '../../infra/deploy.ts'

const root = join(import.meta.dirname, '../..')
/** What the Worker is told by its environment. */
const told = [
  ...readFileSync(join(root, 'src/environment.ts'), 'utf8').matchAll(/^ {2}([A-Z][A-Z0-9_]+)\?: string/gm),
].map(([, name]) => name!)

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
    '1. Make SIDEJOB_API_KEY, SIDEJOB_WEBHOOK_SECRET, SIDEJOB_FILES_SECRET, unless the Worker has them.',
    '2. Make the bucket sidejob-files in R2, unless it is there.',
    `3. Build the Worker and deploy it with wrangler, with the secrets ${Object.keys(given).join(', ')}.`,
    '4. Set up the schedule sidejob-tick in QStash: POST https://jobs.example.com/tick, cron * * * * *.',
    '5. Ask for the first tick.',
  ])
})

test('a key that is given is not made', () => {
  const own = { SIDEJOB_API_KEY: 'mine', SIDEJOB_WEBHOOK_SECRET: 'whsec_mine', SIDEJOB_FILES_SECRET: 'mine' }
  const plan = planOf({ ...given, ...own })
  expect(plan.made).toEqual([])
  expect(describe(plan)[0]).toBe('1. Make no secret: all are given.')
  expect(plan.given).toMatchObject({ SIDEJOB_API_KEY: 'mine' })
})

test('what is missing is named, with where it comes from', () => {
  const lines = describe(planOf({ ...given, QSTASH_TOKEN: undefined, PUBLIC_URL: '' }))
  expect(lines.filter((line) => line.startsWith('Missing'))).toEqual([
    "Missing: QSTASH_TOKEN, from QStash's page in the Upstash console.",
    'Missing: PUBLIC_URL, from the address of the Worker, https://sidejob.<account>.workers.dev or a domain of yours.',
  ])
})

test('a deployment without a bucket makes none', () => {
  expect(bucketsIn('name = "sidejob"\n')).toEqual([])
  expect(bucketsIn('[[r2_buckets]]\nbinding = "FILES"\nbucket_name = "mine"\n')).toEqual(['mine'])
})

test('whatever the Worker is told, the deployment can tell it', () => {
  const all = planOf(Object.fromEntries(told.map((name) => [name, 'x'])))
  expect(Object.keys(all.given).sort()).toEqual(told.filter((name) => name !== 'SIDEJOB_TEST_CLOCK').sort())
})

test('the README has every setting of the Worker', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  expect(told.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
})
