import { afterAll, beforeAll, expect, test } from 'vitest'
import { flow } from '../../functions/flow.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { labelsText } from '../../src/core/labels.ts'
import { defineWorker } from '../../src/index.ts'
import { startPages, type Visitor } from './kit.ts'
import { fails, waits } from './seed-jobs.ts'

const charge = defineWorker({
  class: 'charge',
  retry: { max: 0 },
  perform() {
    throw Object.assign(new Error('card declined'), { stack: '' })
  },
})
const flaky = defineWorker({
  class: 'flaky',
  retry: { max: 1, backoff: { base: 3_600_000 } },
  perform() {
    throw new Error('no answer')
  },
})
const alert = defineWorker({ class: 'alert', queue: 'alerts', perform: (job) => job.suspend() })

const recovers = defineWorker({
  class: 'recovers',
  retry: { max: 1, backoff: { base: 1 } },
  perform(job) {
    if (job.attempt === 1) throw new Error('no answer')
  },
})

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor
let running: number
let retrying: number

beforeAll(async () => {
  pages = await startPages({ workers: [waits, fails, charge, flaky, recovers, alert, flow] })
  admin = await pages.enter(['admin'])
  for (let i = 0; i < 2; i++) await pages.rest(await pages.make('charge'), 'failed')
  await pages.engine.workers.register('default', 'pulled', { pull: true, concurrency: 1 })
  running = await pages.make('pulled', { retry: { max: 0 } })
  await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000 })
  retrying = await pages.make('flaky')
  await pages.until(async () => (await pages.engine.jobs.get(String(retrying))).attempt === 1)
})
afterAll(() => pages.close())

const textOf = (html: string): string =>
  html
    .replace(/<style.*?<\/style>|<script.*?<\/script>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
const crumbsOf = (html: string): string => textOf(/<nav class="crumbs".*?<\/nav>/s.exec(html)![0]).trim()
const tilesOf = (html: string): string => textOf(/<nav class="counts".*?<\/nav>/s.exec(html)![0])
const failuresOf = (html: string, id: number): string =>
  new RegExp(`id="row-${id}".*?<td class="num[^>]*>(.*?)</td>`, 's').exec(html)![1]!

test.each([
  ['class=charge', 'Jobs charge'],
  ['status=failed&class=charge', 'Jobs Failed, charge'],
  ['in=history', 'Jobs History'],
  ['in=history&class=charge', 'Jobs History, charge'],
])('the breadcrumb of %s has unescaped names', async (query, crumbs) => {
  expect(crumbsOf(await admin.html(`/ui/jobs?${query}`))).toMatch(new RegExp(`${crumbs}$`))
})

test('the breadcrumb of a kind of error was a hash', async () => {
  const { errors } = await pages.engine.errors.list({})
  const { error } = errors.find(({ class: name }) => name === 'charge')!
  const html = await admin.html(`/ui/jobs?status=failed&error=${error}`)
  expect(crumbsOf(html)).toMatch(/Jobs Failed, card declined$/)
})

test('the tiles above a list of one class had numbers of other classes, or no numbers', async () => {
  expect(tilesOf(await admin.html('/ui/jobs'))).toMatch(/\d/)
  expect(tilesOf(await admin.html('/ui/jobs?queue=default&status=failed'))).toMatch(/\d/)
  const html = await admin.html('/ui/jobs?class=charge')
  const rows = [...html.matchAll(/data-row=/g)].length
  expect(tilesOf(html)).toContain(` ${rows} All `)
  expect(tilesOf(html)).toContain(` ${rows} Failed `)
  expect(textOf(/<nav class="views".*?<\/nav>/s.exec(html)![0])).not.toMatch(/(?<!last )\d/)
  expect(tilesOf(await admin.html('/ui/jobs?class=charge&status=failed'))).not.toMatch(/\d/)
})

test('the current run of a job is not counted as a failure', async () => {
  const html = await admin.html('/ui/jobs')
  expect(failuresOf(html, running)).toBe('–')
  expect(failuresOf(html, retrying)).toBe('<span class="up">1</span>')
  const [failed] = (await pages.engine.jobs.list({ class: 'charge' })).jobs
  expect(failuresOf(html, failed!.id)).toBe('<span class="up">1</span>')
})

test('the column "Failed runs" was empty for jobs that had failed and then succeeded', async () => {
  const id = await pages.make('recovers')
  await pages.until(async () => (await pages.statusOf(id)) === 'completed')
  expect((await pages.engine.jobs.runs(String(id), {})).runs.map(({ outcome }) => outcome)).toContain('failed')
  const html = await admin.html('/ui/jobs')
  expect(failuresOf(html, id)).toBe('–')
  expect(html).toContain('>Failures in a row</th>')
  expect(html).not.toContain('Failed runs')
})

test('a message that is too long for its row had no title', async () => {
  const [failed] = (await pages.engine.jobs.list({ class: 'charge' })).jobs
  const row = new RegExp(`id="row-${failed!.id}".*?</tr>`, 's').exec(await admin.html('/ui/jobs'))![0]
  expect(row).toContain('title="card declined"')
})

test('the filter shows the message of a kind of error, not its hash', async () => {
  const [kind] = (await pages.engine.errors.list({ class: 'charge' })).errors
  const token = /<span class="tok">.*?<\/a>/s.exec(await admin.html(`/ui/jobs?error=${kind!.error}`))![0]
  expect(token).toMatch(/title="[0-9a-f]{16}"[^>]*>card declined</)
})

test('classes with failed jobs are listed first', async () => {
  const html = await admin.html('/ui/jobs?by=class')
  const classes = [...html.matchAll(/class=\w+"><b>(\w+)<\/b>/g)].map(([, name]) => name)
  expect(classes[0]).toBe('charge')
  expect(classes).toContain('pulled')
})

test.each(['labels.customer=east', 'text=east'])(
  'a list of jobs with %s also showed jobs that had not ended in the chosen time',
  async (filter) => {
    const given = { args: encodeValue('east'), labels: labelsText({ customer: 'east' }) }
    const ended = await pages.make('charge', given)
    await pages.rest(ended, 'failed')
    const open = await pages.make('pulled', given)
    const rowsOf = async (query: string) => {
      const html = await admin.html(`/ui/jobs?${filter}${query}`)
      return [...html.matchAll(/data-row="(\d+)"/g)].map(([, id]) => Number(id))
    }
    expect(await rowsOf('')).toEqual(expect.arrayContaining([open, ended]))
    const recent = await rowsOf('&ended=1h')
    expect(recent).toContain(ended)
    expect(recent).not.toContain(open)
    expect(await rowsOf('&ended=2020-01-01T00:00Z/2020-01-02T00:00Z')).toEqual([])
  },
)

test('lost runs of a class are counted, although none of them ended', async () => {
  const site = await startPages({ hold: true })
  try {
    await site.engine.workers.register('default', 'batch', { pull: true })
    await site.make('batch')
    await site.engine.runs.claim('default', { names: ['batch'], lease: 1_000 })
    await site.advance(10_000)
    await site.engine.tick()
    const html = await (await site.enter(['read'])).html('/ui/jobs?by=class')
    expect(textOf(html)).toMatch(/batch default 1 0 0 1 lost /)
  } finally {
    await site.close()
  }
})

const foundBy = async (text: string): Promise<string[]> => {
  const html = await admin.html(`/ui/find?list&q=${text}`)
  return [...html.replace(/<\/?mark>/g, '').matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => textOf(line!).trim())
}

test('the search finds a flow by its name, lists an exact match first, and marks schedules', async () => {
  const graph = { name: 'catalog-sync', nodes: {}, edges: [] }
  const id = await pages.make('flow', { queue: 'core', inputs: { __graph: [encodeValue(graph)] } })
  await pages.rest(id)
  await pages.engine.limits.set('shops', { concurrency: 1 })
  await pages.engine.limits.set('shop', { concurrency: 1 })
  await pages.engine.schedules.set('shopping', {
    queue: 'default',
    class: 'waits',
    repeat: { cron: '0 3 * * *' },
  } as never)
  expect((await foundBy('catalog'))[0]).toMatch(/^catalog-sync \w+ flow$/)
  const found = await foundBy('shop')
  expect(found[0]).toBe('shop limit')
  expect(found).toContainEqual(expect.stringMatching(/^shopping waits, \w+ schedule$/))
  const html = await admin.html('/ui/find?q=shop')
  expect([...html.matchAll(/<h3 class="group">(.*?)<\/h3>/g)].map(([, group]) => group)).toEqual(
    expect.arrayContaining(['Limits', 'Schedules', 'Search further']),
  )
  expect(html).toContain('<mark>shop</mark>ping')
})

test('jobs that send alerts are found after jobs of the user', async () => {
  const own = await pages.make('waits', { args: encodeValue('order of bike-9') })
  for (let i = 0; i < 6; i++) await pages.make('alert', { queue: 'alerts', args: encodeValue('alert for bike-9') })
  const found = (await foundBy('bike-9')).filter((line) => line.includes('#'))
  expect(found).toHaveLength(5)
  expect(found[0]).toContain(`waits #${own}`)
  expect(found[1]).toContain('alert #')
})

test.each(['/ui/nothing', '/ui/queues/nothing', '/ui/jobs/999'])(
  '%s has a sentence about the missing name, says where it may be, and searches for it',
  async (path) => {
    const main = /<main.*<\/main>/s.exec(await admin.html(path))![0]
    expect(textOf(main)).toMatch(
      /(?:There is no \S.*|Job 999 does not exist) It may have been removed, or be in another deployment: this is 127\.0\.0\.1:8787 /,
    )
    const name = path.split('/').at(-1)!
    const next = path === '/ui/nothing' ? '/ui/more' : `/ui/settings/keys?q=${name}`
    for (const to of [`/ui/find?q=${name}&amp;list`, next]) expect(main).toContain(`href="${to}"`)
  },
)
