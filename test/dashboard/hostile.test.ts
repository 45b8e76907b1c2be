import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker, port } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'

const EVIL = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u0000\u202Eevil" style="x'
const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform() {
    throw new Error(EVIL)
  },
})
const any = defineWorker({ class: 'any', in: { '*': port() }, out: { '*': port() }, perform: (job) => job.suspend() })

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const ids: Record<string, number> = {}

beforeAll(async () => {
  pages = await startPages({ workers: [fails, any] })
  ids.failed = await pages.make('fails')
  await pages.rest(ids.failed)
  const huge = JSON.stringify('x'.repeat(1_048_000))
  ids.huge = await pages.make('any', {
    args: huge,
    alias: ['größe <b>&"'],
    createdBy: EVIL.slice(0, 60).replace('\u0000', ''),
  })
  await pages.rest(ids.huge)
  await pages.engine.ports.write(String(ids.huge), 'in', 'evil', [
    JSON.stringify(EVIL),
    JSON.stringify({ token: 'sk_live_1', n: EVIL }),
  ])
  for (const [channel, message] of [
    ['/evil<b>"', JSON.stringify(EVIL)],
    ['/huge', huge],
  ] as const)
    await pages.engine.channels.publish(channel, message, { keep: 1 })
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`p${i}`, {}]))
  ids.ports = await pages.make('any')
  await pages.rest(ids.ports)
  await pages.engine.ports.define(String(ids.ports), { in: many })
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

const paths = () => [
  '/ui/jobs',
  ...['log', 'args', 'errors', 'runs', 'state', 'result'].flatMap((tab) =>
    [ids.failed, ids.huge, ids.ports].map((id) => `/ui/jobs/${id}?tab=${tab}`),
  ),
  '/ui/log',
  '/ui/channels',
  `/ui/channels?at=${encodeURIComponent('/evil<b>"')}`,
  '/ui',
  `/ui/jobs?class=${encodeURIComponent(EVIL)}`,
  `/ui/find?q=${encodeURIComponent(EVIL)}`,
  `/ui/jobs/new?class=${encodeURIComponent(EVIL)}`,
]

test('no page interprets hostile data as markup', async () => {
  for (const path of paths()) {
    const answer = await reader.get(path)
    const html = await answer.text()
    expect([200, 400, 404], path).toContain(answer.status)
    expect(html, path).not.toContain('<script>alert')
    expect(html, path).not.toContain('<img')
    expect(html, path).not.toMatch(/\sstyle="/)
    const read = html.replace(/="[^"]*"/g, '')
    expect(read, path).not.toContain('\u202E')
    expect(read, path).not.toContain('\u0000')
  }
  expect(pages.reported).toEqual([])
})

test('a value of 1 MiB, and 900 ports, leave a page below 200 KB', async () => {
  for (const path of paths()) expect((await reader.html(path)).length, path).toBeLessThan(200_000)
})

test('an unknown name shows an error on every page', async () => {
  for (const path of ['/ui/jobs/999999', '/ui/queues/%3Cb%3E', '/ui/workers/a/%3Cb%3E', '/ui/nothing']) {
    const answer = await reader.get(path)
    expect([400, 404], path).toContain(answer.status)
    expect(await answer.text(), path).toContain('<h1>')
  }
})
