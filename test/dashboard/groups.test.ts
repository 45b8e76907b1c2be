import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages, type Visitor } from './kit.ts'

const GROUP = 'shop/7 & co'
const PAGE = `/ui/groups/${encodeURIComponent(GROUP)}`

let pages: Awaited<ReturnType<typeof startPages>>
let admin: Visitor
const ids: number[] = []

beforeAll(async () => {
  pages = await startPages()
  await pages.engine.workers.register('default', 'pulled', { pull: true })
  for (let n = 0; n < 4; n++) ids.push(await pages.make('pulled', { group: { id: GROUP, concurrency: 2 } }))
  ids.push(await pages.make('pulled', { group: { id: 'free' } }))
  await pages.engine.runs.claim('default', { names: ['pulled'], lease: 3_600_000, max: 10 })
  admin = await pages.enter(['admin'])
})
afterAll(() => pages.close())

const part = (html: string, from: string, to: string): string => {
  const start = html.indexOf(from)
  expect(start).toBeGreaterThan(0)
  return html.slice(start, html.indexOf(to, start))
}
const jobsIn = (html: string): number[] => [...html.matchAll(/href="\/ui\/jobs\/(\d+)"/g)].map(([, id]) => Number(id))

test('the page of a group shows its limit, the holders of its slots, its waiting jobs in order, and its jobs', async () => {
  const html = await admin.html(PAGE)
  expect(html).toContain('2 jobs are running, 2 wait for this limit')
  expect(html).toContain('max 2 running')
  const listed = (caption: string) => [...new Set(jobsIn(part(html, `${caption}</caption>`, '</table>')))]
  expect(listed('Waiting jobs')).toEqual(ids.slice(2, 4))
  expect(listed('Holders of slots')).toEqual(ids.slice(0, 2))
  expect([...new Set(jobsIn(part(html, 'Newest jobs</caption>', '</table>')))]).toEqual(ids.slice(0, 4).reverse())
})

test('jobs of a group that waited for another limit were counted nowhere', async () => {
  await pages.engine.workers.register('default', 'narrow', { pull: true, concurrency: 1 })
  for (let n = 0; n < 3; n++) await pages.make('narrow', { group: { id: 'held', concurrency: 9 } })
  await pages.engine.runs.claim('default', { names: ['narrow'], lease: 3_600_000, max: 10 })
  const text = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
  expect(text(await admin.html('/ui/groups/held'))).toContain(
    '1 job is running, 0 wait for this limit, 2 wait elsewhere',
  )
  expect(text(part(await admin.html('/ui/limits'), 'Groups</caption>', '</table>'))).toContain('held 1 of 9 0 2')
})

test('a group without a limit shows its runs, and no waiting jobs', async () => {
  const html = await admin.html('/ui/groups/free')
  expect(html).toContain('1 job is running, 0 wait for this limit')
  expect(html).toContain('unlimited')
  expect(jobsIn(part(html, 'Newest jobs</caption>', '</table>'))).toContain(ids[4])
})

test('a group without jobs has a page with an explanation', async () => {
  const html = await admin.html('/ui/groups/never')
  expect(html).toContain('no unfinished job')
  expect(html).toContain('No jobs.')
})

test('Limits, the page of a job and the search link to the page of a group', async () => {
  const link = `href="${PAGE.replace('&', '&amp;')}"`
  expect(await admin.html('/ui/limits')).toContain(link)
  const rail = part(await admin.html(`/ui/jobs/${ids[0]}`), 'Related jobs and details', '</aside>')
  expect(rail.split(link)).toHaveLength(2)
  expect(rail).not.toContain('group:')
  expect(await admin.html(`/ui/jobs/${ids[3]}`)).toMatch(new RegExp(`${link}[^>]*>\\s*Show holders`))
  expect(await admin.html('/ui/find?q=shop')).toContain(link)
})

test('the search finds jobs by the beginning of an alias, and opens the job with exactly this alias', async () => {
  const id = await pages.make('pulled', { alias: ['order-9917'] })
  await pages.make('pulled', { alias: ['order-9918'] })
  const html = await admin.html('/ui/find?q=order-99')
  expect(html).toContain(`href="/ui/jobs/${id}"`)
  expect(html).toContain('order-99</mark>18')
  expect((await admin.get('/ui/find?q=order-9917')).headers.get('location')).toBe(`/ui/jobs/${id}`)
})

test('a group is paused and resumed on its page', async () => {
  const answer = await admin.act(PAGE, { act: 'pause', key: `group:${GROUP}` })
  expect(answer.status).toBe(200)
  expect((await pages.engine.groups.get(GROUP)).paused).toBe(true)
  expect(await admin.html(PAGE)).toMatch(/>\s*Resume\s*</)
  await admin.act(PAGE, { act: 'resume', key: `group:${GROUP}` })
  expect((await pages.engine.groups.get(GROUP)).paused).toBe(false)
})
