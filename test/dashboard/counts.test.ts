// Each test is about a number that users once saw with a wrong value.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { startPages, type Visitor } from './kit.ts'
import { openPast } from './many-ended.ts'
import { waits } from './seed-jobs.ts'

const says = defineWorker({
  class: 'says',
  perform(job) {
    for (let n = 0; n < Number(job.args); n++) job.log(`line ${n}`)
  },
})

const folder = mkdtempSync(join(tmpdir(), 'sidejob-counts-'))
const past = openPast(join(folder, 'history.sqlite'))
let pages: Awaited<ReturnType<typeof startPages>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
let reader: Visitor

const jobs = (n: number, about: object) => Array.from({ length: n }, () => about) as never

beforeAll(async () => {
  receiver = await startReceiver((_, response) => response.writeHead(410).end())
  pages = await startPages({ workers: [waits, says], historyStore: { store: past.store } })
  const { engine } = pages
  for (const queue of ['mail', 'busy']) await engine.workers.register(queue, 'pulled', { pull: true })
  await pages.rest(await pages.make('waits', { callback: { url: receiver.url } }))
  await engine.jobs.terminate('1', {})
  await pages.until(async () => (await engine.callbacks.counts()).FAILED === 1)
  await engine.workers.register('default', 'slow', { pull: true, concurrency: 1 })
  await engine.jobs.enqueue(jobs(2, { queue: 'default', class: 'slow' }))
  for (const _ of [1, 2]) await engine.runs.claim('default', { names: ['slow'], lease: 3_600_000 })
  await engine.queues.update('mail', { paused: true }, {})
  await engine.jobs.enqueue(jobs(2, { queue: 'mail', class: 'pulled' }))
  await engine.jobs.enqueue(jobs(3, { queue: 'mail', class: 'pulled', wait: 3_600_000 }))
  for (let n = 0; n < 3; n++) await engine.jobs.enqueue(jobs(1_500, { queue: 'busy', class: 'pulled' }))
  for (let n = 0; n < 101; n++) await engine.log.write(JSON.stringify({ message: `entry ${n}` }) as never)
  reader = await pages.enter(['read'])
})
afterAll(async () => {
  await pages.close()
  await receiver.close()
  past.db.close()
  rmSync(folder, { recursive: true })
})

const textOf = async (path: string) =>
  (await reader.html(`/ui${path}`)).replace(/<(style|script|svg)[\s\S]*?<\/\1>|<[^>]*>/g, ' ').replace(/\s+/g, ' ')

test('Overview counted fewer failed jobs than the list that its tile opens', async () => {
  expect(await textOf('/')).toContain('Failed 1 of ')
  const [, list] = /href="\/ui(\/jobs\?status=failed[^"]*)"[^>]*><span class="dt">/.exec(await reader.html('/ui/'))!
  expect(await textOf(list!.replaceAll('&amp;', '&'))).toContain('1 failed job ')
})

test('Overview counted all ended jobs, but its tile opened a list of completed jobs only', async () => {
  const [, n] = / (\d+) ended in 4 h/.exec(await textOf('/'))!
  const [, list] = /href="\/ui(\/jobs\?[^"]*)"[^>]*><span class="dt">Ended</.exec(await reader.html('/ui/'))!
  const html = await reader.html(`/ui${list!.replaceAll('&amp;', '&')}`)
  expect(Number(n)).toBeGreaterThan(0)
  expect(html.match(/ data-row="/g)).toHaveLength(Number(n))
})

test('Overview showed the number of failed jobs next to a share of other jobs', async () => {
  const { points } = await pages.engine.stats.series({ step: 'minute' })
  const ended = points.reduce((sum, one) => sum + one.completed + one.failed + one.terminated, 0)
  expect(await textOf('/')).toMatch(new RegExp(`Failed 1 of ${ended} ended in 4 h, ${Math.round(100 / ended)}%`))
})

test('Overview counted open jobs and queues without the queue of callbacks', async () => {
  const { queues } = await pages.engine.queues.list()
  expect(await textOf('/')).toContain(`All ${queues.length} `)
  expect(await textOf('/queues')).toContain(`${queues.length} queues, 1 paused`)
})

test('jobs that wait for their time were counted as jobs of a paused queue', async () => {
  const text = await textOf('/')
  expect(text).toContain('1 at limits, 2 paused')
  expect(text).toContain('In paused queues 2 ')
})

test('the page of a queue counted the 20 jobs that it shows, not all jobs that are ready', async () => {
  expect(await textOf('/queues/busy')).toMatch(/next[^<]{0,8} 4,500 /i)
})

test('the page of the log called its newest 100 entries all entries', async () => {
  expect(await textOf('/log')).toContain('100 so far')
  expect(await textOf('/log?q=entry+7')).toContain('11 entries')
})

test('the tab of a log with 80 entries counted only the 50 shown entries', async () => {
  const tabs = async (id: number) => (await textOf(`/jobs/${id}`)).match(/ Log \d+\+? /)![0].trim()
  const ids = await Promise.all([80, 50, 3].map((n) => pages.make('says', { args: String(n) })))
  for (const id of ids) await pages.rest(id)
  expect(await Promise.all(ids.map(tabs))).toEqual(['Log 50+', 'Log 50', 'Log 3'])
  expect(await reader.html(`/ui/jobs/${ids[0]}`)).toContain('<span class="n" title="Counts only the newest">50+<')
})

test('the only stored run of a job was counted as all its runs', async () => {
  const id = await pages.make('says', { args: '1' })
  await pages.rest(id)
  expect(await textOf(`/jobs/${id}`)).toContain('1 run ')
  await pages.engine.jobs.run(String(id), {})
  await pages.until(async () => (await pages.engine.log.read({ job: String(id) })).entries.length === 2)
  await pages.rest(id)
  expect(await textOf(`/jobs/${id}`)).toMatch(/2 runs .* Runs 2 /)
})

test('the page of schedules counted only the first 100 of 101 schedules', async () => {
  for (let n = 0; n < 101; n++)
    await pages.engine.schedules.set(`nightly-${n}`, {
      queue: 'default',
      class: 'says',
      repeat: { cron: '0 3 * * *' },
    } as never)
  expect(await textOf('/schedules')).toContain('first 100 schedules')
})

test('a search counted its links to other searches', async () => {
  expect(await textOf('/find?q=no-such-name')).toContain('0 shown for “no-such-name”')
  const text = await textOf('/find?q=busy&list')
  expect(text).toContain('2 shown for “busy”')
  expect(text).toContain('Search the history for busy')
})

test('a class of a queue at a limit had no newest job after thousands of newer jobs', async () => {
  const text = await textOf('/workers/default/waits')
  expect(text).toMatch(/newest jobs all jobs #1 Terminated/i)
})

test('the list of all pages counted at most 100 full limits', async () => {
  const { engine } = pages
  const sign = async () => / title="full limits with waiting jobs">([\d+]+)</.exec(await reader.html('/ui/more'))![1]!
  expect(await sign()).toBe('1')
  const names = Array.from({ length: 200 }, (_, n) => `single-${n}`)
  for (const name of names) await engine.workers.register('full', name, { pull: true, concurrency: 1 })
  await engine.jobs.enqueue(names.flatMap((name) => jobs(2, { queue: 'full', class: name })) as never)
  while ((await engine.runs.claim('full', { names, lease: 3_600_000, max: 100 })).length > 0);
  expect((await engine.limits.list()).limits.filter(({ waiting }) => waiting > 0)).toHaveLength(201)
  pages.forget()
  expect(await sign()).toMatch(/^1\d\d\+$/)
})

test('one class was "1 classes"', async () => {
  expect(await textOf('/jobs?by=class&class=waits')).toContain('1 class ')
})

test('the counts of the side bar were missing on All pages, and on a page that does not exist', async () => {
  const { engine } = pages
  const { queues } = await engine.queues.list()
  const held = queues.filter(({ paused, counts }) => paused && counts.queued > counts.scheduled)
  expect(held.map(({ name }) => name)).toEqual(['mail'])
  for (const path of ['/nothing', '/more']) {
    pages.forget()
    const html = path === '/nothing' ? await (await reader.get(`/ui${path}`)).text() : await reader.html(`/ui${path}`)
    const signs = html.match(/title="paused or slow queues with waiting jobs">\d+</g)
    expect(signs).toHaveLength(path === '/more' ? 2 : 1)
  }
})
