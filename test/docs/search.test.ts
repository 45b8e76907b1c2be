import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { find, loadIndex } from '../../infra/docs/search.ts'
import { buildSite } from '../../infra/docs/site.ts'

const folder = mkdtempSync(join(tmpdir(), 'sidejob-search-'))
let index: ReturnType<typeof loadIndex>
beforeAll(async () => {
  await buildSite(folder)
  const script = readFileSync(join(folder, 'search-index.js'), 'utf8')
  index = loadIndex(JSON.parse(script.slice('window.searchIndex='.length)))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const queries: [query: string, ...pages: string[]][] = [
  ['rate limit', 'concurrency', 'customers'],
  ['rate limit per customer', 'customers'],
  ['change a limit at run time', 'customers', 'concurrency'],
  ['dead letter', 'bulk', 'glossary'],
  ['dead letter queue', 'bulk', 'glossary'],
  ['retry', 'retries'],
  ['stop retrying', 'retries'],
  ['timeout', 'timeouts'],
  ['cancel a job', 'jobs'],
  ['cancel all running jobs', 'bulk'],
  ['wait for event', 'waits'],
  ['step', 'waits'],
  ['sleep', 'waits'],
  ['stuck', 'troubleshooting'],
  ['job not running', 'troubleshooting'],
  ['all tasks stuck in queue', 'troubleshooting'],
  ['environment variables', 'environments'],
  ['secrets', 'environments'],
  ['staging', 'environments'],
  ['versioning', 'changing-code'],
  ['send email', 'alerts', 'recipes'],
  ['Slack', 'alerts'],
  ['Sentry', 'alerts'],
  ['OpenTelemetry', 'alerts'],
  ['Next.js', 'web-apps'],
  ['progress bar in React', 'web-apps'],
  ['payload too large', 'payloads'],
  ['long running job', 'long'],
  ['cron time zone', 'schedules'],
  ['missed runs', 'schedules'],
  ['exactly once', 'concepts', 'retries', 'faq'],
  ['deduplication', 'unique'],
  ['idempotency key', 'unique', 'jobs'],
  ['self-host', 'platforms', 'faq'],
  ['local development', 'entry', 'troubleshooting'],
  ['FAQ', 'faq'],
  ['pricing', 'cost'],
  ['spend less', 'cost', 'faq'],
  ['flatten a list', 'functions'],
  ['split a string', 'functions'],
  ['jq filter', 'functions'],
  ['download a file', 'functions', 'recipes'],
  ['Python worker', 'languages'],
  ['webhook signature does not verify', 'callbacks', 'faq'],
  ['Stripe webhook', 'edges'],
  ['backup', 'operate'],
  ['encryption', 'security'],
  ['BullMQ alternative', 'instead', 'moving/bullmq'],
  ['fake clock in tests', 'testing'],
  ['priority', 'order'],
  ['unit tests', 'testing'],
  ['roll back a deployment', 'deploy'],
]

const pageOf = (id: string) => id.replace(/\.html.*$/, '')

test.each(queries)('"%s" finds the page among the first three results', (query, ...pages) => {
  const found = find(index, query, 3).map(({ id }) => pageOf(id))
  expect(
    found.some((page) => pages.includes(page)),
    `${found} for ${pages}`,
  ).toBe(true)
})

test('at least 40 queries are tried, and a query without a meaning finds nothing', () => {
  expect(queries.length).toBeGreaterThanOrEqual(40)
  expect(find(index, 'qqxzzy')).toEqual([])
  expect(find(index, '  ')).toEqual([])
})

test('a word of another system finds the page that has only our word', () => {
  expect(find(index, 'kill a job', 3).map(({ id }) => pageOf(id))).toContain('jobs')
})
