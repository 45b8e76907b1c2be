import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flow } from '../../functions/flow.ts'
import { encodeValue } from '../../src/core/codec/value.ts'
import { entryOf } from '../../src/dashboard/nav.ts'
import { pages as table } from '../../src/dashboard/pages/index.ts'
import { POLICY } from '../../src/dashboard/policy.ts'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker, port } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { startPages, type Visitor } from './kit.ts'

const ends = defineWorker({ class: 'ends', perform: () => undefined })
const fails = defineWorker({
  class: 'fails',
  retry: { max: 0 },
  perform() {
    throw new Error('<b>no answer</b> within 30 s')
  },
})
const waits = defineWorker({ class: 'waits', in: { n: port() }, perform: (job) => job.suspend() })

const FLOW = 7

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const jobs: Record<string, number> = {}

beforeAll(async () => {
  pages = await startPages({ workers: [ends, fails, waits, flow] })
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  jobs.completed = await pages.make('ends')
  jobs.failed = await pages.make('fails')
  jobs.suspended = await pages.make('waits')
  jobs.terminated = await pages.make('waits')
  for (const id of [jobs.completed, jobs.failed, jobs.suspended, jobs.terminated]) await pages.rest(id)
  await pages.engine.jobs.terminate(String(jobs.terminated), {})
  jobs.running = await pages.make('pulled')
  await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000 })
  jobs.queued = await pages.make('pulled', { group: { id: 'shop-7' } })
  expect(await pages.make('flow', { queue: 'core', args: encodeValue({ graph: {} }) })).toBe(FLOW)
  await pages.rest(FLOW)
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

const paths = table.map(({ path }) =>
  path
    .replace('/flows/:job', `/flows/${FLOW}`)
    .replace(':job', '1')
    .replace(':queue', 'default')
    .replace(':class', 'ends')
    .replace(':id', 'shop-7'),
)

test.each(table.map(({ path, nav }, i) => [path, nav, paths[i]!] as const))(
  '%s highlights its entry in the side bar, if it has an entry',
  async (_, nav, path) => {
    const marked = [...(await reader.html(`/ui${path}`)).matchAll(/aria-current="page"[^>]*data-go="(\w)"/g)]
    expect(marked.map(([, key]) => key)).toEqual(nav ? [entryOf(nav).key] : [])
  },
)

describe.each(paths)('%s', (path) => {
  test('is served to keys with the scope read, with a content security policy and without style attributes', async () => {
    const answer = await reader.get(`/ui${path}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toBe(POLICY)
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    const html = await answer.text()
    expect(html).not.toMatch(/\sstyle=/)
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/)
    expect(html).not.toMatch(/\son\w+=/)
    expect(html.match(/<h1/g)).toHaveLength(1)
    expect(pages.reported).toEqual([])
  })

  test('is not served without a session or without the scope read', async () => {
    expect((await pages.ask(`/ui${path}`)).status).toBe(303)
    const worker = await pages.enter(['work'])
    expect((await worker.get(`/ui${path}`)).status).toBe(403)
  })
})

test('pages have different titles', async () => {
  const titles = await Promise.all(
    paths.map(async (path) => /<title>(.*?)<\/title>/.exec(await reader.html(`/ui${path}`))![1]),
  )
  expect(new Set(titles).size).toBe(titles.length)
})

test.each(['queued', 'running', 'suspended', 'completed', 'failed', 'terminated'])(
  'a job that is %s is in its list',
  async (status) => {
    const html = await reader.html(`/ui/jobs?status=${status}`)
    expect(html).toContain(`href="/ui/jobs/${jobs[status]}"`)
    for (const [other, id] of Object.entries(jobs)) if (other !== status) expect(html).not.toContain(`id="row-${id}"`)
  },
)

test('text of users is shown as text', async () => {
  const html = await reader.html('/ui/jobs?status=failed')
  expect(html).toContain('&lt;b&gt;no answer&lt;/b&gt; within 30 s')
  expect(html).not.toContain('<b>no answer')
})

test('a refresh with the same data draws nothing', async () => {
  const first = await reader.get('/ui/jobs')
  const again = await reader.get('/ui/jobs', { 'if-none-match': first.headers.get('etag')! })
  expect(again.status).toBe(304)
  await pages.make('pulled')
  const changed = await reader.get('/ui/jobs', { 'if-none-match': first.headers.get('etag')! })
  expect(changed.status).toBe(200)
})

test('a pattern is described in words with its next five times, without a script, and an invalid one is refused', async () => {
  const html = await reader.html(`/ui/schedules?${new URLSearchParams({ cron: '0 9 * * MON', tz: 'Asia/Tokyo' })}`)
  expect(html).toContain('At 09:00, only on Monday')
  expect(html.slice(html.indexOf('nexttimes')).match(/<time/g)!.length).toBeGreaterThanOrEqual(5)
  expect(await reader.html('/ui/schedules?cron=nonsense')).toMatch(/<p class="err">When: [^<]+</)
  expect(await reader.html('/ui/schedules?cron=every+day+at+3')).toContain('At 03:00')
})

test('a schedule without a run a minute after its slot is overdue', async () => {
  const site = await startPages()
  await site.engine.workers.register('default', 'pulled', { pull: true })
  const user = await site.enter(['read'])
  const make = (name: string) => site.make('pulled', { repeat: { cron: '* * * * *' }, alias: [name] })
  await make('on time')
  expect(await user.html('/ui/schedules')).not.toContain('</svg>overdue')
  await site.advance(-180_000)
  await make('heartbeat')
  const html = await user.html('/ui/schedules')
  expect(html.match(/<span class="st failed"><svg[^>]*><use[^>]*><\/use><\/svg>overdue<\/span>/g)).toHaveLength(1)
  await site.close()
})

test('a new job of a class in another queue gets a link to it, and its args have fields', async () => {
  await pages.engine.workers.register('media', 'shrink', {
    pull: true,
    args: '{"type":"object","properties":{"width":{"type":"integer"}}}' as never,
  })
  const elsewhere = await reader.html('/ui/jobs/new?queue=default&class=shrink')
  expect(elsewhere).toContain('No class &quot;shrink&quot; in queue default.')
  expect(elsewhere).toContain('href="/ui/jobs/new?queue=media&amp;class=shrink"')
  const known = await reader.html('/ui/jobs/new?queue=media&class=shrink')
  expect(known).toMatch(/<input name="args\/width"[^>]*type="number"/)
  expect(known).toContain('args: {\n    width: 0\n  }')
  expect(known).not.toContain('No class')
})

test('a typed filter is stored in the address', async () => {
  const answer = await reader.get('/ui/jobs?queue=default&q=failed+group%3Ashop-7')
  expect(answer.headers.get('location')).toBe('/ui/jobs?queue=default&status=failed&group=shop-7')
  expect((await reader.get('/ui/jobs?q=%2312')).headers.get('location')).toBe('/ui/jobs/12')
})

test('buttons that the user may not press are disabled, with the reason', async () => {
  const html = await reader.html('/ui/jobs')
  expect(html).toMatch(/<button[^>]*disabled[^>]*title="needs the scope write; your key has read"[^>]*>/)
})

test('assets have their hash in their name and are cached forever', async () => {
  const html = await reader.html('/ui/jobs')
  const names = [...html.matchAll(/\/ui\/assets\/([\w.-]+)/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThanOrEqual(2)
  for (const name of names) {
    const answer = await pages.ask(`/ui/assets/${name}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(name).toMatch(/-[0-9a-f]{10}\.(css|js)$/)
  }
  expect((await pages.ask('/ui/assets/app.js')).status).toBe(404)
})

describe('the views of Jobs', () => {
  const rowsOf = async (query: string) =>
    [...(await reader.html(`/ui/jobs?${query}`)).matchAll(/data-row="(\d+)"/g)].map(([, id]) => Number(id))

  test('open on a click, and show their filter', async () => {
    const html = await reader.html('/ui/jobs')
    for (const name of ['Since the deploy', 'At limits', 'Retrying', 'Over a minute'])
      expect(html).toContain(`${name} `)
    const held = await pages.make('pulled', { group: { id: 'one-at-a-time', concurrency: 1 } })
    await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000, max: 10 })
    const waiting = await pages.make('pulled', { group: { id: 'one-at-a-time' } })
    await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000, max: 10 })
    const atLimits = await rowsOf('waits=limit')
    expect(atLimits).toContain(waiting)
    expect(atLimits).not.toContain(held)
    expect(await rowsOf('waits=retry')).toEqual([])
    expect(await rowsOf('status=running&longer=1m')).toEqual([])
    expect(await rowsOf('since=deploy')).toContain(waiting)
    expect(await rowsOf('until=6h')).toEqual([])
    expect(await rowsOf('status=failed,terminated')).toEqual([jobs.terminated, jobs.failed])
  })

  test('ended jobs are sorted by their end', async () => {
    expect(await rowsOf('sort=ended&status=failed,terminated')).toEqual([jobs.terminated, jobs.failed])
    const { jobs: ended } = await pages.engine.jobs.list({ sort: 'ended', limit: 50 })
    expect(await rowsOf('sort=ended')).toEqual(ended.map(({ id }) => id))
    const html = await reader.html('/ui/jobs?sort=ended')
    expect(html).toContain('aria-sort="descending"')
    expect(html).toContain('<input type="hidden" name="sort" value="ended"/>')
    expect(await reader.html('/ui/jobs?status=failed')).toContain('href="/ui/jobs?status=failed&amp;sort=ended"')
    for (const query of ['sort=ended&status=running', 'status=queued'])
      expect(await reader.html(`/ui/jobs?${query}`)).not.toContain('Sort by end')
    expect(await rowsOf('sort=ended&cursor=5')).toEqual(ended.map(({ id }) => id))
  })

  test('a text is found, and the page counts its matches', async () => {
    const id = await pages.make('pulled', { args: encodeValue({ order: 'AB-4711' }) })
    expect(await rowsOf('text=ab-4711')).toEqual([id])
    expect(await reader.html('/ui/jobs?text=ab-4711')).toContain('>1 job<')
  })

  test('jobs are counted by class, with how long they waited and ran', async () => {
    const html = await reader.html('/ui/jobs?by=class')
    expect(html).toMatch(/aria-current="page"[^>]*>By class</)
    const { classes } = await pages.engine.stats.classes({})
    const failing = classes.find(({ class: name }) => name === 'fails')!
    expect(failing.counts).toMatchObject({ failed: expect.any(Number), errors: expect.any(Number) })
    expect(failing.counts.failed).toBeGreaterThan(0)
    const row = html.split('<tr>').find((row) => row.includes('<b>fails</b>'))!
    expect(row).toContain(`"made">${failing.counts.made}</td>`)
    expect(row).toContain(
      `data-head="running"><span class="dimmer">0</span></td><td class="num" data-head="ended runs">${failing.counts.runs}</td>`,
    )
    expect(row).toContain(`class=fails">${failing.counts.failed}</a>`)
    expect(row).toMatch(/≤ [\d.]+ m?s/)
    expect(await reader.html('/ui/jobs?by=class&class=pulled')).not.toContain('<b>fails</b>')
    expect(await reader.html('/ui/jobs?by=class&day=yesterday')).toContain('No jobs were counted yesterday')
  })

  test('are shown as tokens of the filter', async () => {
    const html = await reader.html('/ui/jobs?waits=limit&since=6h')
    for (const name of ['waits', 'since']) expect(html).toContain(`<span class="kk">${name}</span>`)
  })
})

test('the page of a class names the deployments with its function, and the last contact of its pull workers', async () => {
  const { deployments } = await pages.engine.deployments.list()
  const own = await reader.html('/ui/workers/default/ends')
  expect(own).toContain('a function of 1 deployment')
  expect(own).toContain(deployments[0]!.id)
  expect(await reader.html('/ui/workers/default/pulled')).toContain('no named worker has claimed')
  expect(await reader.html('/ui/workers')).toContain('no claims yet')
  await pages.engine.runs.claim('default', { names: ['nothing'], process: 'host:1' })
  pages.forget()
  const heard = await reader.html('/ui/workers/default/pulled')
  expect(heard).toContain('the last claim from its queue was')
  expect(heard).toContain('<div>host:1: 0 jobs</div>')
  const list = await reader.html('/ui/workers')
  expect(list).toMatch(/\/queues\/default".*host:1<\/span> 0 jobs, seen <time/s)
})

test('the page of deploys compares the hours before and after a deploy, and lists new kinds of errors', async () => {
  const site = await startPages({ hold: true })
  try {
    const visitor = await site.enter(['read'])
    expect(await visitor.html('/ui/deploys')).toContain('No deployment has registered its classes yet.')
    for (const [version, message] of [
      ['a41c07e9', 'a known kind of error'],
      ['88f62d2b', 'a new kind of error'],
    ] as const) {
      const rejects = defineWorker({
        class: 'rejects',
        retry: { max: 0 },
        perform() {
          throw new Error(message)
        },
      })
      const engine = createEngine({ ...site.engineOptions, workers: [rejects], version })
      await engine.tick()
      await engine.jobs.enqueue([{ queue: 'default', class: 'rejects' }])
      await drain(engine, { errors: 'keep' })
    }
    const html = await visitor.html('/ui/deploys')
    expect(html).toMatch(/>[\d.]+ m?s of a41c07e9, [\d.]+ m?s of 88f62d2b</)
    expect(html).toContain('<h1>Deploy of 88f62d2b</h1>')
    expect(html).toMatch(/1 →<\/span> <span[^>]*>1</)
    expect(html).toContain('a new kind of error')
    expect(html).not.toContain('a known kind of error')
    const back = 'npx wrangler rollback'
    expect(html).toMatch(new RegExp(`id="back".*restores a41c07e9.*${back}`, 's'))
    const { deploys } = (await site.engine.deployments.list()).deployments[0]!
    const first = await visitor.html(`/ui/deploys?at=${deploys[1]!.at}`)
    expect(first).toContain('<h1>Deploy of a41c07e9</h1>')
    expect(first).toContain('a known kind of error')
    expect(first).not.toContain(back)
    expect(await visitor.html('/ui/deploys?at=5')).toContain('<h1>Deploys</h1>')
    expect(await visitor.html('/ui')).toContain('deploy of 88f62d2b')
    const since = await visitor.html('/ui/jobs?status=failed&since=deploy')
    expect(since).toContain('Since the deploy of 88f62d2b')
    expect(since).toContain('1 failed job')
    const { id, deploys: known } = (await site.engine.deployments.list()).deployments[0]!
    expect(since).toContain(`<a class="tag new" href="/ui/deploys?of=${id}&amp;at=${known[0]!.at}">`)
    const [newest] = (await site.engine.jobs.list({ limit: 1 })).jobs
    const job = await visitor.html(`/ui/jobs/${newest!.id}?tab=runs`)
    expect(job).toMatch(/Version<\/dt>\s*<dd[^>]*><span class="mono clip">88f62d2b</)
    expect(job).toMatch(/<td[^>]*>88f62d2b<\/td>/)
  } finally {
    await site.close()
  }
})

test('the tree of a job shows a running child', async () => {
  const parent = await pages.make('waits')
  await pages.rest(parent)
  const child = await pages.make('pulled', { parent: String(parent), name: 'pack' })
  await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000, max: 10 })
  expect(await pages.statusOf(child)).toBe('running')
  const html = await reader.html(`/ui/jobs/${parent}`)
  const [, family] = /aria-label="Related jobs and details">([\s\S]*?)<\/aside>/.exec(html)!
  expect(family).toMatch(new RegExp(`running[^<]*<[\\s\\S]*/ui/jobs/${child}"`, 'i'))
})
