import { afterAll, beforeAll, expect, test } from 'vitest'
import { htmlOf, namesIn, type Patch, patched, patchOf, withoutTimes } from '../../src/dashboard/words/chunks.ts'
import { defineWorker } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'

const waits = defineWorker({ class: 'waits', in: { n: {} }, perform: (job) => job.suspend() })
const fails = defineWorker({
  class: 'fails',
  perform: () => {
    throw new Error('the printer is out of paper')
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
let job: string

beforeAll(async () => {
  pages = await startPages({ workers: [waits, fails] })
  for (let i = 0; i < 60; i++) await pages.rest(await pages.make(i % 3 === 0 ? 'fails' : 'waits'))
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  await pages.make('pulled')
  await fail()
  const id = await pages.make('pulled', { history: 5, in: { n: {} } })
  job = String(id)
  reader = await pages.enter(['admin'])
})
afterAll(() => pages.close())

const chunksOf = (html: string) => patched([], patchOf(html, '-')!)

async function fail(): Promise<void> {
  const [run] = await pages.engine.runs.claim('default', { names: ['pulled'] })
  await pages.engine.runs.commit(run!.run.token, { end: 'failed', error: { message: 'no ink' } } as never)
}

async function change(): Promise<void> {
  if ((await pages.statusOf(Number(job))) === 'failed') return void (await pages.engine.jobs.retry(job))
  await fail()
}

async function look(path: string, headers = {}): Promise<string> {
  pages.forget()
  return (await reader.get(`/ui${path}`, { accept: 'text/html', ...headers })).text()
}

async function refreshed(path: string): Promise<{ patch: number; whole: number }> {
  const first = chunksOf(await look(path))
  await change()
  const whole = await look(path)
  const names = namesIn(first)
  expect(withoutTimes(htmlOf(patched(first, patchOf(whole, names)!))) === withoutTimes(whole)).toBe(true)
  const text = await look(path, { 'x-live': names })
  const { patch } = JSON.parse(text) as { patch: Patch }
  expect(htmlOf(patched(first, patch))).toMatch(/^<!doctype html>.*<\/html>$/s)
  return { patch: text.length, whole: whole.length }
}

test.each([
  ['Overview', '/', 12_000],
  ['Jobs', '/jobs', 4_000],
  ['a job', '/jobs/:job', 9_500],
])('a refresh of %s sends only the parts that changed', async (_, path, most) => {
  const { patch, whole } = await refreshed(path.replace(':job', job))
  expect(patch).toBeLessThan(most)
  expect(whole).toBeGreaterThan(3 * patch)
})

test('a refresh without changes has no body', async () => {
  const first = await reader.get('/ui/jobs')
  const again = await reader.get('/ui/jobs', {
    'if-none-match': first.headers.get('etag')!,
    'x-live': namesIn(chunksOf(await first.text())),
  })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('a visit returns the whole page', async () => {
  const answer = await reader.get('/ui/jobs')
  expect(answer.headers.get('content-type')).toContain('text/html')
  expect(await answer.text()).toMatch(/^<!doctype html>/)
})

const list = (...items: string[]) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`

test.each([
  ['a new row', list('a', 'b'), list('new', 'a', 'b')],
  ['a removed row', list('a', 'b', 'c'), list('a', 'c')],
  ['moved rows', list('a', 'b', 'c'), list('c', 'a', 'b')],
  ['equal rows', list('a', 'a', 'a'), list('a', 'a')],
  ['another page', list('a'), '<p>none</p>'],
  ['an empty page', list('a'), ''],
])('a patch results in the new page: %s', (_, was, is) => {
  const known = chunksOf(was)
  expect(htmlOf(patched(known, patchOf(is, namesIn(known))!))).toBe(is)
})

test('a relative time that grows is not sent as a change', () => {
  const row = (ago: string) => list(`<time data-ago="7">${ago}</time>`)
  expect(patchOf(row('3 s ago'), namesIn(chunksOf(row('1 s ago'))))).toEqual([0, 1])
})

test('a page of more than 600 chunks is sent whole', () => {
  expect(patchOf(list(...Array<string>(600).fill('a')), '-')).toBeUndefined()
})
