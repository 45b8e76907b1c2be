import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { many, moment } from '../../src/dashboard/words/text.ts'
import { defineWorker } from '../../src/index.ts'
import { fillHistory, NS } from '../history/many.ts'
import { startReceiver } from '../kit/receiver.ts'
import { startPages, type Visitor } from './kit.ts'
import { endedLists, FIRST_HISTORY_ID, openPast, windowOf } from './many-ended.ts'

const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  perform(job) {
    if ((job.args as { fails: boolean }).fails) throw Object.assign(new Error('card declined'), { stack: '' })
  },
})
const causes = ['no stock', 'bad address', 'timeout']
const broken = defineWorker({
  class: 'broken',
  queue: 'broken',
  retry: { max: 0 },
  perform(job) {
    throw Object.assign(new Error(job.args as string), { stack: '' })
  },
})
const AT_ONCE = 1_000

type Listed = { ids: number[]; pages: number; progress: string[]; note: string }

export function suite(size: number, ended: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-many-'))
  const past = openPast(join(folder, 'history.sqlite'))
  let pages: Awaited<ReturnType<typeof startPages>>
  let reader: Visitor
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const made: number[] = []

  beforeAll(async () => {
    await fillHistory(past.db, ended, { first: FIRST_HISTORY_ID })
    pages = await startPages({ workers: [charge, broken], historyStore: { store: past.store } })
    await pages.engine.history.begin()
    await pages.engine.workers.register('many', 'waits', { pull: true })
    await pages.engine.workers.register('few', 'waits', { pull: true })
    receiver = await startReceiver((_, response) => response.writeHead(410).end())
    for (let i = 0; i < 12; i++) {
      const about = i < 2 ? { callback: { url: receiver.url } } : {}
      const args = JSON.stringify({ fails: i % 3 !== 0, order: `ORD-${7_000 + i}` })
      made.push(await pages.make('charge', { args, group: { id: 'shop-7' }, ...about }))
    }
    for (const id of made) await pages.rest(id)
    await pages.until(async () => (await pages.engine.callbacks.counts()).FAILED === 2)
    const jobs = Array.from({ length: AT_ONCE }, () => ({ queue: 'many', class: 'waits' }))
    for (let i = 0; i < size / AT_ONCE; i++) await pages.engine.jobs.enqueue(jobs)
    reader = await pages.enter(['read', 'admin'])
    await pages.engine.history.drain()
  }, 900_000)
  afterAll(async () => {
    await receiver.close()
    await pages.close()
    past.db.close()
    rmSync(folder, { recursive: true })
  }, 300_000)

  async function listed(path: string, most = 1_000): Promise<Listed> {
    const ids: number[] = []
    const progress: string[] = []
    let [next, n, note]: [string | undefined, number, string] = [`/ui${path}`, 0, '']
    for (; next !== undefined && n < most; n++) {
      const html: string = await reader.html(next)
      const found = /<tbody[^>]* data-found[^>]*>(.*?)<\/tbody>/s.exec(html)?.[1] ?? ''
      ids.push(...[...found.matchAll(/<tr [^>]*id="row-(\d+)[-"]/g)].map(([, id]) => Number(id)))
      const further: string = /<div class="further".*?<\/div>/s.exec(html)?.[0] ?? ''
      const word = /<span class="word"[^>]*>([^<]*)/.exec(further)?.[1]
      if (word) progress.push(word)
      note ||= /<h1[^>]*>.*?<\/h1>\s*<span[^>]*>([^<]*)/s.exec(html)?.[1] ?? ''
      next = /href="([^"]*)"/.exec(further)?.[1]?.replaceAll('&amp;', '&')
    }
    return { ids, pages: n, progress, note }
  }

  const failed = () => made.filter((_, i) => i % 3 !== 0).toReversed()
  const all = () => made.toReversed()

  test('failed jobs of all queues are on the first page, and its title counts them', async () => {
    const { ids, pages: n, note } = await listed('/jobs?status=failed')
    const { jobs } = await pages.engine.jobs.list({ status: 'failed' })
    expect(ids).toEqual(jobs.map(({ id }) => id))
    for (const id of failed()) expect(ids).toContain(id)
    expect(n).toBe(1)
    expect(note).toBe(`${jobs.length} failed jobs`)
  })

  test.each([
    ['a class and a status', '/jobs?class=charge&status=failed', failed],
    ['a class', '/jobs?class=charge', all],
    ['a group', '/jobs?group=shop-7', all],
    ['a queue', '/jobs?queue=default', all],
    ['args', '/jobs?args.order=ORD-7003', () => [made[3]!]],
    ['a text', '/jobs?text=ord-7004', () => [made[4]!]],
  ])('%s: the list reaches every match', async (_, path, expected) => {
    const { ids, progress } = await listed(path)
    expect(ids).toEqual(expected())
    for (const word of progress) expect(word).toMatch(/^(No match|\d+ match(es)?) in the newest [\d,]+ of [\d,]+$/)
  })

  describe(`${ended.toLocaleString('en-US')} ended jobs in the history`, { timeout: 120_000 }, () => {
    const sql = (text: string) => past.db.all([text])
    const jobsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ job }) => Number(job))
    const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => b - a)
    const lists = endedLists(ended)

    test('have the same counts in SQL, in the API and by construction', async () => {
      const own = `ns = '${NS}' AND job >= ${FIRST_HISTORY_ID}`
      const text = `SELECT status, count(*) AS n FROM ends WHERE ${own} GROUP BY status ORDER BY status`
      const rows = [
        { status: 'completed', n: ended - ended / 50 },
        { status: 'failed', n: ended / 50 },
      ]
      expect(await sql(text)).toEqual(rows)
      const failedOnes = `SELECT count(*) AS n FROM ends INDEXED BY ends_status WHERE ${own} AND status <> 'completed'`
      expect(await pages.engine.history.sql({ sql: failedOnes, limit: 10 })).toEqual({
        rows: [{ n: ended / 50 }],
        more: false,
      })
      expect(await sql(`SELECT count(*) AS n FROM labels WHERE ${own}`)).toEqual([{ n: ended / 20 }])
      expect(await sql(`SELECT count(*) AS n FROM ends WHERE ns = '${NS}'`)).toEqual([{ n: ended + made.length }])
    })

    test.each(lists)('%s: the page, the API and SQL have the same jobs and numbers', async (_, list) => {
      const { query, filter, rest = 'true' } = list
      const expected = jobsOf(await sql(`SELECT job FROM (${windowOf(list)}) WHERE ${rest} LIMIT 51`))
      const [edge] = await sql(`SELECT count(*) AS n, min(ended) AS ended FROM (${windowOf(list)})`)
      const isFull = expected.length > 50
      const isOver = !isFull && Number(edge!.n) < 10_000
      const api = await pages.engine.history.list({ ...filter, limit: 50 })
      expect(api.jobs.map(({ id }) => id)).toEqual(expected.slice(0, 50))
      expect(api.cursor === null).toBe(isOver)
      const { ids, note, progress } = await listed(`/jobs?in=history&${query}`, 1)
      expect(ids).toEqual(expected.slice(0, 50))
      const kind = filter.status ? `${filter.status[0]} job` : 'job'
      expect(note).toBe(isOver ? many(ids.length, kind) : `${ids.length} so far`)
      if (isFull || isOver) return expect(progress).toEqual([])
      const found = ids.length === 0 ? 'No match' : many(ids.length, 'match', 'matches')
      expect(progress).toEqual([`${found} in the jobs that ended since ${moment(Number(edge!.ended), 'UTC')}`])
      expect(api.searchedTo).toBe(edge!.ended)
    })

    test.each(lists)('%s: the page needs less than 100 ms of the database', async (_, { query }) => {
      const times: number[] = []
      for (let n = 0; n < 5; n++) {
        const before = past.spent()
        await reader.html(`/ui/jobs?in=history&${query}&try=${n}`)
        times.push(past.spent() - before)
      }
      expect(times.toSorted((a, b) => a - b)[2]).toBeLessThan(100)
      expect(Math.min(...times)).toBeGreaterThan(0)
    })

    test('are listed page by page, each job once', async () => {
      const { ids } = await listed('/jobs?in=history&class=class7&since=2023-11-01', 12)
      const text = `SELECT job FROM ends WHERE ns = '${NS}' AND class = 'class7' ORDER BY ended DESC, job DESC LIMIT 600`
      expect(ids).toEqual(jobsOf(await sql(text)))
    })

    test('that are also in Redis are equal in both', async () => {
      const [past, alive] = [await listed('/jobs?in=history&class=charge'), await listed('/jobs?class=charge')]
      expect(sorted(past.ids)).toEqual(sorted(alive.ids))
      expect(past.note).toBe(`${made.length} jobs`)
      const { ids } = await listed('/jobs?in=history&class=charge&status=failed')
      expect(sorted(ids)).toEqual(failed())
      const text = "SELECT count(*) AS n FROM ends WHERE class = 'charge' AND status = 'failed'"
      expect(await sql(text)).toEqual([{ n: failed().length }])
    })

    test('open one by one from the history', async () => {
      const id = FIRST_HISTORY_ID + Math.floor(ended / 100) * 50
      const answer = await reader.get(`/ui/jobs/${id}`)
      expect(answer.headers.get('location')).toBe(`/ui/jobs/${id}/history`)
      expect(await reader.html(`/ui/jobs/${id}/history`)).toContain(`broken ${id - FIRST_HISTORY_ID}`)
    })
  })

  test('callbacks are on the first page', async () => {
    const { ids, pages: n } = await listed('/callbacks')
    expect([ids.sort((a, b) => a - b), n]).toEqual([[made[0], made[1]], 1])
  })

  test('a search reports its progress and continues with older jobs', async () => {
    const [first, rest] = [await listed('/jobs?tag=none', 1), await listed('/jobs?tag=none')]
    expect(rest.ids).toEqual([])
    if (size > 20_000) expect(first.progress[0]).toMatch(/^No match in the newest [\d,]+ of [\d,]+$/)
  })

  test('an open page does not search again when it refreshes', async () => {
    await reader.html('/ui/jobs?group=shop-7')
    const begun = performance.now()
    const sent: string[] = []
    const ask = globalThis.fetch
    globalThis.fetch = (...args) => {
      sent.push(String(args[0]))
      return ask(...args)
    }
    await reader.html('/ui/jobs?group=shop-7')
    globalThis.fetch = ask
    expect(sent.length).toBeLessThanOrEqual(4)
    expect(performance.now() - begun).toBeLessThan(2_000)
  })

  test('pages show the same numbers as the API', async () => {
    const { queues } = await pages.engine.stats.totals()
    const number = (html: string, before: RegExp) =>
      Number(new RegExp(`${before.source}\\s*([\\d,]+)`, 's').exec(html)?.[1]?.replaceAll(',', ''))
    const jobs = await reader.html('/ui/jobs')
    const sum = (status: string) => queues.reduce((all, { counts }) => all + (counts as never)[status], 0)
    for (const status of ['queued', 'completed', 'failed'])
      expect(number(jobs, new RegExp(`class="${status}"[^>]*><b>`))).toBe(sum(status))
    expect((await pages.engine.jobs.list({ queue: 'many', limit: 1 })).jobs).toHaveLength(1)
    const preview = await pages.engine.bulk.preview({ filter: { status: 'failed' }, action: 'retry' })
    expect(preview.ids).toEqual(failed())
    const { classes } = await pages.engine.stats.classes({})
    const row = classes.find(({ class: name }) => name === 'charge')!
    expect(row.counts).toMatchObject({ failed: 8, completed: 4 })
    const byClass = (await reader.html('/ui/jobs?by=class')).replace(/<[^>]*>/g, ' ')
    expect(byClass).toMatch(/charge\s/)
  })

  test('a bulk action on a rare class counts every job of it', async () => {
    const admin = await pages.enter(['admin'])
    let fields: Record<string, string | string[]> = { act: 'selected', do: 'retry', fit: 'all' }
    for (let n = 0; n < 100; n++) {
      const { confirm } = (await (await admin.act('/ui/jobs?group=shop-7', fields)).json()) as { confirm: string }
      const hidden = [...confirm.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])
      fields = Object.fromEntries(hidden)
      if (confirm.includes('data-counting')) continue
      expect(confirm).toContain('>Retry 8<')
      return
    }
    throw new Error('the count did not end')
  })

  test('a kind of error has the same number in the list of kinds, in its list of jobs and in its bulk action', async () => {
    const n = size / 20
    const jobs = Array.from({ length: n }, (_, i) => ({
      queue: 'broken',
      class: 'broken',
      args: JSON.stringify(causes[i % 3]),
    }))
    for (let i = 0; i < n; i += AT_ONCE) await pages.engine.jobs.enqueue(jobs.slice(i, i + AT_ONCE))
    const count = async () => (await pages.engine.errors.list({ class: 'broken' })).looked
    await pages.until(async () => (await count()) === n, 300_000)
    const { errors, cursor } = await pages.engine.errors.list({ class: 'broken', details: true })
    expect([errors.length, cursor]).toEqual([3, null])
    const number = (one: number) => one.toLocaleString('en-US')
    for (const { error, count, message, minutes } of errors) {
      const expected = jobs.filter(({ args }) => JSON.parse(args) === message).length
      expect([count, minutes!.reduce((sum, one) => sum + one.count, 0)]).toEqual([expected, expected])
      const first = await pages.engine.jobs.list({ error, limit: 50 })
      expect([first.jobs.length, first.total]).toEqual([Math.min(50, expected), expected])
      const { note } = await listed(`/jobs?status=failed&error=${error}`, 1)
      expect(note).toBe(`${number(expected)} failed jobs`)
      const ids: number[] = []
      for (let cursor: string | undefined | null; cursor !== null; ) {
        const page = await pages.engine.bulk.preview({ filter: { error }, action: 'retry' }, { cursor, pages: 1 })
        ids.push(...page.ids)
        cursor = page.cursor
      }
      expect(new Set(ids).size).toBe(expected)
    }
    const { jobs: ofClass, total } = await pages.engine.jobs.list({ status: 'failed', class: 'broken', limit: 50 })
    expect([ofClass.length, total]).toEqual([50, n])
  }, 600_000)
}
