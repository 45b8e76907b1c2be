import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { defineWorker } from '../../src/index.ts'
import { call } from '../../src/testing/index.ts'
import { blockAt } from './blocks.ts'
import { KEY, startSite } from './site.ts'
import { defined, load, writeProject } from './snippet.ts'
import { env } from './snippets/workers.ts'

const ALERTS = 'docs/alerts.md'
const WEB = 'docs/web-apps.md'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Received = { path: string; headers: Record<string, unknown>; body: string }

async function startService() {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ path: request.url!, headers: request.headers, body })
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { received, port, url: `http://127.0.0.1:${port}` }
}

const until = async (fact: () => unknown) => {
  while (!fact()) await new Promise((resolve) => setTimeout(resolve, 10))
}

const broken = defineWorker({
  class: 'broken',
  retry: { max: 0 },
  perform() {
    throw new Error('no paper')
  },
})

test('alerts.md: a failed job is a message in Slack, with a link to its page', async () => {
  const slack = await startService()
  const block = blockAt(ALERTS, '// src/index.ts, with alerts to Slack')
  const text = block.text.replace(
    'createWorker({ functions,',
    'createWorker({ functions: [...functions, globalThis.broken],',
  )
  Object.assign(globalThis, { broken })
  const { default: worker } = await load({ ...block, text })
  const site = await startSite(worker as never, { SLACK_WEBHOOK: slack.url })
  closing.push(site.close)
  Object.assign(env, site.env)
  const { id } = await site.client.jobs.enqueue({ class: 'broken' })
  await until(() => slack.received.length)
  expect(JSON.parse(slack.received[0]!.body)).toEqual({
    text: `*broken* #${id} failed after attempt 1: no paper\n${site.url}/ui/jobs/${id}`,
  })
})

test('alerts.md: a failed job is a mail, once in ten minutes for each class', async () => {
  const mails = await startService()
  const block = blockAt(ALERTS, '// src/index.ts, with mails')
  const text = block.text.replace('[...functions, mail]', '[...functions, mail, globalThis.broken]')
  Object.assign(globalThis, { broken })
  const { default: worker } = await load({ ...block, text })
  const site = await startSite(worker as never, { MAIL_URL: mails.url, MAIL_KEY: 'secret' })
  closing.push(site.close)
  Object.assign(env, site.env)
  for (let i = 0; i < 3; i++) {
    const { id } = await site.client.jobs.enqueue({ class: 'broken' })
    await site.reaches(id, 'failed')
  }
  await until(() => mails.received.length)
  await site.reaches(2, 'completed').catch(() => undefined)
  expect(mails.received).toHaveLength(1)
  expect(mails.received[0]!.headers).toMatchObject({ authorization: 'Bearer secret' })
  expect(JSON.parse(mails.received[0]!.body)).toMatchObject({ subject: expect.stringMatching(/^broken #\d+ failed$/) })
})

type Loaded = Record<string, (to: string, report: object) => Promise<void>>
const report = {
  job: 7,
  queue: 'default',
  class: 'broken',
  attempt: 1,
  outcome: 'failed',
  ms: 12,
  error: { message: 'no paper', reason: 'error', stack: 'Error: no paper' },
}

test('alerts.md: Sentry receives an envelope with the error', async () => {
  const sentry = await startService()
  const { toSentry } = (await load(blockAt(ALERTS, '// src/sentry.ts'))) as Loaded
  await toSentry!(`http://public@127.0.0.1:${sentry.port}/42`, report)
  const [{ path, body }] = sentry.received as [Received]
  expect(path).toBe('/api/42/envelope/?sentry_key=public&sentry_version=7')
  const [head, item, event] = body.split('\n').map((line) => JSON.parse(line))
  expect([head.event_id, item.type]).toEqual([event.event_id, 'event'])
  expect(event).toMatchObject({ exception: { values: [{ type: 'broken', value: 'no paper' }] }, extra: { job: 7 } })
})

test('payloads.md: the function reads its file from the bucket and writes a report', async () => {
  const [countLines] = await defined('docs/payloads.md', 'import { defineWorker, Terminal }')
  const files = new Map([['a.txt', 'one\ntwo']])
  const UPLOADS = {
    get: async (key: string) => (files.has(key) ? { text: async () => files.get(key)! } : null),
    put: async (key: string, value: string) => files.set(key, value),
  }
  const run = (key: string) => call(countLines as never, {} as never, { args: { key }, env: { UPLOADS } } as never)
  const { result } = await run('a.txt')
  expect(result).toMatchObject({ lines: 2, report: expect.stringMatching(/^reports\/\d+\.txt$/) })
  expect([...files.values()]).toContain('3\n3')
  expect((await run('b.txt')).error).toMatchObject({ message: 'no file b.txt' })
})

test('long.md: a page is committed in each run', async () => {
  const [resize] = await defined('docs/long.md', "import { defineWorker } from 'sidejob'\nimport * as z")
  const first = await call(resize as never, {} as never, { args: { total: 700 } } as never)
  expect([first.end, first.state]).toEqual(['again', { from: 500 }])
  const last = await call(resize as never, {} as never, { args: { total: 700 }, state: { from: 500 } } as never)
  expect([last.end, last.result]).toEqual(['completed', 700])
})

test('customers.md: each plan has its own limit', async () => {
  const [render] = await defined(
    'docs/customers.md',
    "import { defineWorker } from 'sidejob'\nimport * as z from 'zod'\n\nconst args",
  )
  const site = await startSite([render!])
  closing.push(site.close)
  await site.client.jobs.enqueue([
    { class: 'render', args: { customer: 'a', plan: 'free' } },
    { class: 'render', args: { customer: 'b', plan: 'pro' } },
  ])
  expect((await site.client.jobs.get(1)).limits).toContain('free:a')
  expect((await site.client.jobs.get(2)).limits).toContain('pro:b')
})

async function eventsOf(response: Response): Promise<{ status: string; done?: number }[]> {
  const text = await response.text()
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
}

test('web-apps.md: Express and the route handlers of Next.js stream the progress of a job to its end', async () => {
  const files = writeProject(WEB)
  const { importRows } = (await import(files['src/jobs/import_rows.ts']!)) as { importRows: Worker }
  const site = await startSite([importRows])
  closing.push(site.close)
  Object.assign(process.env, { SIDEJOB_URL: site.url, SIDEJOB_API_KEY: KEY })
  const { app } = await import(files['server.ts']!)
  const server = app.listen(0)
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const send = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"total":350}' }

  const made = await fetch(`http://127.0.0.1:${port}/api/imports`, send)
  expect(made.status).toBe(201)
  const { id } = (await made.json()) as { id: number }
  const express = await eventsOf(await fetch(`http://127.0.0.1:${port}/api/imports/${id}/events`))
  expect(express.at(-1)).toEqual({ status: 'completed', done: 350, total: 350 })

  const { POST } = await import(files['app/api/imports/route.ts']!)
  const { GET } = await import(files['app/api/imports/[id]/events/route.ts']!)
  await site.client.queues.patch('default', { paused: true })
  const next = await (await POST(new Request('http://app/api/imports', send))).json()
  const stream = GET(new Request('http://app/'), { params: Promise.resolve({ id: String(next.id) }) })
  const events = eventsOf(await stream)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await site.client.queues.patch('default', { paused: false })
  const seen = await events
  expect(seen[0]).toMatchObject({ status: 'queued' })
  expect(seen.map(({ done }) => done)).toContain(200)
  expect(seen.at(-1)).toEqual({ status: 'completed', done: 350, total: 350 })
})

test('the previews of two pull requests in CI had the same name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-preview-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...words], { cwd: folder })
  const names = blockAt('docs/environments.md', 'BRANCH=').text.replaceAll(
    /^npx sidejob .*(--name "[^"]*").*$/gm,
    'echo $1',
  )
  const preview = (vars: Record<string, string> = {}) => {
    const ran = spawnSync('sh', ['-ec', names], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...vars },
    })
    return ran.status === 0 ? [...new Set(ran.stdout.trim().split('\n'))] : ran.stderr
  }
  git('init', '--quiet', '--initial-branch', 'New_page')
  git('commit', '--quiet', '--allow-empty', '-m', 'one')
  expect(preview()).toEqual(['--name my-jobs-new-page'])
  git('checkout', '--quiet', '--detach')
  const pull = { GITHUB_HEAD_REF: 'fix/tax', GITHUB_REF_NAME: '12/merge' }
  expect(preview(pull)).toEqual(['--name my-jobs-fix-tax'])
  expect(preview({ GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'main' })).toEqual(['--name my-jobs-main'])
  expect(preview({ CI_COMMIT_REF_NAME: 'a' })).toEqual(['--name my-jobs-a'])
  expect(preview({ WORKERS_CI_BRANCH: 'b' })).toEqual(['--name my-jobs-b'])
  expect(preview({ BRANCH: 'c' })).toEqual(['--name my-jobs-c'])
  expect(preview()).toContain('BRANCH: set it to the name of the branch')
})
