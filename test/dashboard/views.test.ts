import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages, type Visitor } from './kit.ts'

const HOUR = 3_600_000
let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const jobs: Record<string, number> = {}

const claim = (name: string) => pages.engine.runs.claim('default', { names: [name], lease: 24 * HOUR, max: 10 })

async function fail(name: string): Promise<void> {
  const claimed = await claim(name)
  expect(claimed).toHaveLength(1)
  await pages.engine.runs.commit(claimed[0]!.run.token, { end: 'failed', error: { message: 'no answer' } })
}

beforeAll(async () => {
  pages = await startPages()
  // Pages use the real time, so the engine starts eight hours in the past.
  await pages.advance(-8 * HOUR)
  for (const name of ['slow', 'quick', 'one', 'later', 'early', 'late'])
    await pages.engine.workers.register('default', name, { pull: true, retry: { max: 0 } })
  jobs.before = await pages.make('later')
  jobs.slow = await pages.make('slow')
  // The first claim registers the deployment, so `before` and `slow` are a minute older than the deploy.
  await pages.advance(60_000)
  await claim('slow')
  jobs.failedEarly = await pages.make('early')
  jobs.failedLate = await pages.make('late')
  await fail('early')
  await pages.advance(3 * HOUR)
  await fail('late')
  await pages.advance(5 * HOUR)
  await pages.engine.workers.register('default', 'tries', { pull: true, retry: { max: 5, backoff: { base: HOUR } } })
  jobs.quick = await pages.make('quick')
  await claim('quick')
  jobs.holds = await pages.make('one', { group: { id: 'one', concurrency: 1 } })
  jobs.waits = await pages.make('one', { group: { id: 'one' } })
  await claim('one')
  jobs.tries = await pages.make('tries')
  await fail('tries')
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

async function listed(view: string): Promise<string[]> {
  const [, href] = new RegExp(`href="([^"]*)"[^>]*>${view} `).exec(await reader.html('/ui/jobs')) ?? []
  expect(href, view).toBeDefined()
  const html = await reader.html(href!.replaceAll('&amp;', '&'))
  expect(html, 'it is the current view').toMatch(new RegExp(`aria-current="page"[^>]*>${view} `))
  const rows = [...html.matchAll(/data-row="(\d+)"/g)].map(([, id]) => Number(id))
  return rows.map((row) => Object.keys(jobs).find((name) => jobs[name] === row) ?? String(row)).sort()
}

test.each([
  ['Failed, last 6 h', ['failedLate']],
  ['At limits', ['waits']],
  ['Retrying', ['tries']],
  ['Over a minute', ['slow']],
  ['Since the deploy', ['failedEarly', 'failedLate', 'holds', 'quick', 'tries', 'waits']],
])('%s', async (view, names) => expect(await listed(view)).toEqual(names))

test('each view has an address with its name, also if it is shared', async () => {
  const to = async (view: string) => reader.get(`/ui/jobs?view=${encodeURIComponent(view)}`)
  expect((await to('At limits')).headers.get('location')).toBe('/ui/jobs?waits=limit')
  await pages.engine.views.set('mine & yours', { query: 'class=slow', by: 'somebody' })
  pages.forget()
  expect((await to('mine & yours')).headers.get('location')).toBe('/ui/jobs?class=slow')
  expect((await to('nobody has it')).status).toBe(404)
})

test('rows that the address selects are checked, and links omit the selection', async () => {
  const html = await reader.html(`/ui/jobs?status=running&sel=${jobs.slow},${jobs.holds}`)
  const ticked = [...html.matchAll(/<input[^>]*name="sel"[^>]*>/g)].filter(([box]) => / checked/.test(box))
  expect(ticked.map(([box]) => /value="(\d+)"/.exec(box)![1]).sort()).toEqual(
    [jobs.slow, jobs.holds].map(String).sort(),
  )
  expect(html.slice(html.indexOf('id="main"'))).not.toMatch(/href="[^"]*sel=/)
  expect(html).toMatch(/<a class="running"[^>]*aria-current="page"/)
})

test('queues show the jobs that ended in the range of the address', async () => {
  const html = await reader.html('/ui/queues?range=24h')
  expect(html).toMatch(/aria-current="page"[^>]*>24 h</)
  expect(html).toContain('Ended, 24 h')
  expect(await reader.html('/ui/queues')).toContain('Ended, 4 h')
})
