import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { defineWorker, Terminal } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { startPages, type Visitor } from './kit.ts'

const mail = defineWorker({
  class: 'mail',
  retain: 0,
  perform({ args }) {
    const { fail } = args as { fail?: string }
    if (fail) throw new Terminal(fail)
    return { sent: true }
  },
})
const zip = defineWorker({ class: 'zip', queue: 'files', retain: 0, perform: () => undefined })
const db = sqliteDatabase(':memory:')

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const jobs: Record<string, number> = {}

beforeAll(async () => {
  pages = await startPages({
    workers: [mail, zip],
    hold: true,
    historyStore: { store: createHistoryStore(db), days: 90 },
  })
  await pages.engine.history.begin()
  jobs.sent = await pages.make('mail', {
    args: '{"order":{"id":4711}}',
    labels: '{"customer":"7"}',
    group: { id: 'g' },
  })
  jobs.declined = await pages.make('mail', { args: '{"fail":"card <b>declined</b>"}' })
  jobs.zipped = await pages.make('zip', { queue: 'files', args: '"plain"' })
  for (const _ of [1, 2]) await drain(pages.engine).catch(() => undefined)
  await pages.engine.jobs.remove(String(jobs.declined), { force: true })
  await pages.engine.history.drain()
  reader = await pages.enter(['read', 'write', 'admin'])
})
afterAll(async () => {
  await pages.close()
  db.close()
})

const rowsOf = (html: string) => [...html.matchAll(/id="row-(\d+)-\d+"/g)].map(([, id]) => Number(id))
const noteOf = (html: string) => /<h1[^>]*>.*?<\/h1>\s*<span[^>]*>([^<]*)/s.exec(html)?.[1]
const textOf = (html: string) =>
  html
    .slice(html.indexOf('id="main"'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

describe('the list of the history', () => {
  const cases: [string, () => number[]][] = [
    ['', () => [jobs.zipped!, jobs.declined!, jobs.sent!]],
    ['class=mail', () => [jobs.declined!, jobs.sent!]],
    ['queue=files', () => [jobs.zipped!]],
    ['status=failed', () => [jobs.declined!]],
    ['status=completed,failed&class=mail', () => [jobs.declined!, jobs.sent!]],
    ['group=g', () => [jobs.sent!]],
    ['labels.customer=7', () => [jobs.sent!]],
    ['args.order.id=4711', () => [jobs.sent!]],
    ['text=DECLINED', () => [jobs.declined!]],
    ['since=1h', () => [jobs.zipped!, jobs.declined!, jobs.sent!]],
    ['ended=1h&class=zip', () => [jobs.zipped!]],
    ['until=1h', () => []],
    ['ended=2020-01-01T00:00Z/2020-01-02T00:00Z', () => []],
    ['longer=10m', () => []],
    ['class=mail&labels.customer=8', () => []],
  ]
  test.each(cases)('%s', async (query, expected) => {
    const html = await reader.html(`/ui/jobs?in=history&${query}`)
    expect(rowsOf(html).toSorted()).toEqual(expected().toSorted())
    if (expected().length === 0) expect(textOf(html)).toContain('No job that ended')
    else expect(noteOf(html)).toMatch(new RegExp(`^${expected().length} (failed )?jobs?$`))
  })

  test('the filter line keeps the search in the history, and typed words become its tokens', async () => {
    const html = await reader.html('/ui/jobs?in=history&class=mail')
    expect(html).toContain('<input type="hidden" name="in" value="history"')
    const answer = await reader.get('/ui/jobs?in=history&class=mail&q=status:failed')
    expect(answer.headers.get('location')).toBe('/ui/jobs?in=history&class=mail&status=failed')
    expect(html).toMatch(/aria-current="page"[^>]*>History</)
    expect(textOf(html)).toContain('customer=7')
    expect(html).toContain('href="/ui/jobs?in=history&amp;labels.customer=7"')
  })

  test('an error names an unknown filter of the history, or a wrong value', async () => {
    for (const [query, message] of [
      ['alias=x', 'alias: unknown member'],
      ['longer=soon', 'longer: expected a duration'],
      ['since=soon', 'since: expected'],
    ]) {
      const answer = await reader.get(`/ui/jobs?in=history&${query}`)
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain(message)
    }
  })

  test('a page with too few matches shows how far it searched, and links to older jobs', async () => {
    const ids = Array.from({ length: 12_000 }, (_, i) => i)
    const store = createHistoryStore(db)
    const [one] = await db.all(['SELECT * FROM ends WHERE job = ?', jobs.zipped!])
    const { ns: _, ...row } = one!
    const T = Date.parse('2026-01-01T00:00:00Z')
    const ends = ids.map((i) => ({ ...row, job: 100_000 + i, class: 'bulk', ended: T + i * 1_000 })) as never
    await store.write('sidejob:', { ends, runs: [] })
    const first = await reader.html('/ui/jobs?in=history&class=bulk&text=nothing')
    expect(textOf(first)).toContain('No match in the jobs that ended since 1 Jan 2026')
    const next = /class="further".*?href="([^"]*)"/s.exec(first)![1]!.replaceAll('&amp;', '&')
    expect(textOf(await reader.html(next))).toContain('No job that ended')
    const full = await reader.html('/ui/jobs?in=history&class=bulk')
    expect(rowsOf(full)).toEqual(
      ids
        .slice(-50)
        .map((i) => 100_000 + i)
        .toReversed(),
    )
    expect(full).toContain('Older jobs')
  })
})

describe('a job that Redis no longer has', () => {
  test('opens from the history with its status, args, result and labels', async () => {
    const answer = await reader.get(`/ui/jobs/${jobs.sent}`)
    expect(answer.headers.get('location')).toBe(`/ui/jobs/${jobs.sent}/history`)
    const text = textOf(await reader.html(`/ui/jobs/${jobs.sent}/history`))
    for (const part of ['Completed', '4711', '&quot;sent&quot; : true', 'customer=7', 'from the history'])
      expect(text).toContain(part)
  })

  test('shows its error and its failed runs, as text', async () => {
    const html = await reader.html(`/ui/jobs/${jobs.declined}/history`)
    expect(html).toContain('card &lt;b&gt;declined&lt;/b&gt;')
    expect(textOf(html)).toMatch(/Stored runs .* failed/)
  })

  test('is copied to a new job', async () => {
    const html = await reader.html(`/ui/jobs/new?from=${jobs.sent}`)
    expect(html).toContain(`Duplicate #${jobs.sent}`)
    expect(html).toContain('4711')
  })

  test('opens although the history has not stored its end yet', async () => {
    const id = await pages.make('zip', { queue: 'files' })
    await drain(pages.engine)
    expect((await reader.get(`/ui/jobs/${id}`)).headers.get('location')).toBe(`/ui/jobs/${id}/history`)
  })

  test('is not found if it is not in the history either', async () => {
    await db.batch([['DELETE FROM ends WHERE job = ?', jobs.zipped!]])
    const answer = await reader.get(`/ui/jobs/${jobs.zipped}`)
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('was removed after it ended, and the history does not have it')
    expect((await reader.get('/ui/jobs/9999/history')).status).toBe(404)
  })
})

test('a search of the history is saved as a view for all, and its link shows the search', async () => {
  const at = '/ui/jobs?in=history&labels.customer=7'
  expect(await (await reader.act(at, { act: 'share', name: 'Customer 7' })).json()).toMatchObject({
    say: 'View Customer 7 is shared with everyone',
  })
  pages.forget()
  const html = await reader.html(at)
  expect(html).toMatch(/aria-current="page"[^>]*>Customer 7</)
  expect(html).toContain('Delete view Customer 7')
  expect((await reader.get('/ui/jobs?view=Customer+7')).headers.get('location')).toBe(at)
  expect((await pages.engine.views.list()).views).toMatchObject([{ query: 'in=history&labels.customer=7' }])
})

test('without a history, the pages name their limit and explain how to enable the history', async () => {
  const other = await startPages({ workers: [zip], hold: true })
  const visitor = await other.enter(['read'])
  const id = await other.make('zip', { queue: 'files' })
  await drain(other.engine)
  expect(textOf(await visitor.html('/ui/jobs?in=history'))).toMatch(
    /This deployment has no history .*Add a database to wrangler\.toml, then run npx sidejob deploy .*d1_databases.*HISTORY/,
  )
  const waiting = await other.make('zip', { queue: 'files', wait: 60_000 })
  const past = await visitor.html(`/ui/jobs/${waiting}/history`)
  expect(textOf(past)).toMatch(/Job #\d+ has not ended: it is \w+ Open job #\d+ This deployment has no history/)
  expect(past).toContain(`href="/ui/jobs/${waiting}"`)
  const live = await visitor.html('/ui/jobs?class=none')
  expect(textOf(live)).toContain(
    'This list keeps most ended jobs for a day, and failed jobs for 30 days: search the history',
  )
  expect(live).toContain('href="/ui/jobs?class=none&amp;in=history"')
  const answer = await visitor.get(`/ui/jobs/${id}`)
  const gone = await answer.text()
  expect([answer.status, gone]).toEqual([404, expect.stringContaining('this deployment has no history')])
  expect(gone).not.toContain('Search the history of ended jobs')
  await other.close()
})

test('the history page of a job that has not ended shows its status, and links to the job', async () => {
  const id = await pages.make('zip', { queue: 'files', wait: 60_000 })
  const html = await reader.html(`/ui/jobs/${id}/history`)
  expect(textOf(html)).toMatch(/Job #\d+ has not ended: it is \w+ Open job #/)
  expect(html).toContain(`href="/ui/jobs/${id}"`)
  const answer = await reader.get('/ui/jobs/999/history')
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringContaining('Search the history of ended jobs'),
  ])
})
