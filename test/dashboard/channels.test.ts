import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPages, type Visitor } from './kit.ts'
import { waits } from './seed-jobs.ts'

let pages: Awaited<ReturnType<typeof startPages>>
let reader: Visitor
const hear = (channels: string[]) =>
  pages.engine.jobs.enqueue([{ queue: 'default', class: 'waits', in: { n: { channels } } }] as never)

beforeAll(async () => {
  pages = await startPages({ workers: [waits] })
  reader = await pages.enter(['read'])
})
afterAll(() => pages.close())

const rowsIn = (html: string): string[] =>
  [...html.slice(html.indexOf('<tbody>')).matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    row!
      .split('</td>')
      .map((cell) => cell.replace(/<[^>]*>/g, ''))
      .slice(0, 3)
      .join('|')
      .trimEnd(),
  )

const preview = async (channel: string) =>
  /id="preview"[^>]*>([^<]*)</.exec(await reader.html(`/ui/channels?channel=${channel}`))![1]!.trim()

test('channels are shown as a tree, and each channel counts only its own ports', async () => {
  for (const channels of [['/shop/7/paid', '/shop/7'], ['/shop/7/paid'], ['/shop/8/a/b'], ['/shop-b']])
    await hear(channels)
  const html = await reader.html('/ui/channels')
  expect(rowsIn(html)).toEqual([
    '/shop||3 channels below it',
    '/shop/7|1|#1 n',
    '/shop/7/paid|2|#1 n #2 n',
    '/shop/8/a/b|1|#3 n',
    '/shop-b|1|#4 n',
  ])
  expect(html).toContain('aria-label="Listen to /shop/7/paid"')
  expect(html).not.toContain('More channels')
  await hear(['/'])
  expect(await preview('/shop/7/paid')).toBe('3 ports would receive it.')
  expect(rowsIn(await reader.html('/ui/channels')).slice(0, 2)).toEqual(['/|1|#5 n', '/shop||3 channels below it'])
})

test('a channel to which only a class publishes was not listed', async () => {
  await pages.engine.workers.register('shop', 'till', { pull: true, out: { sold: { channels: ['/sales/till'] } } })
  const rows = rowsIn(await reader.html('/ui/channels'))
  expect(rows).toContain('/sales/till|0|')
  expect(await reader.html('/ui/channels')).toMatch(/sales\/till.*href="\/ui\/workers\/shop\/till">till<.*sold/s)
  await pages.engine.workers.unregister('shop', 'till')
})

test('each of 2,000 channels is on exactly one page, and a page has about 300 rows', async () => {
  for (let i = 0; i < 20; i++) await hear(Array.from({ length: 100 }, (_, n) => `/many/${i}/${n}`))
  const found: string[] = []
  let at = '/ui/channels'
  for (let looks = 0; at !== ''; looks++) {
    expect(looks).toBeLessThan(20)
    const html = await reader.html(at)
    const rows = rowsIn(html)
    expect(rows.length).toBeLessThan(400)
    found.push(...[...html.matchAll(/aria-label="Listen to (\/many\/\d+\/\d+)"/g)].map(([, name]) => name!))
    at = /href="(\/ui\/channels[^"]*)">More channels/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  }
  expect(found).toHaveLength(2_000)
  expect(new Set(found).size).toBe(2_000)
})

test('the ports of the first page were counted as all ports that would receive a message', async () => {
  const [, shown] = /aria-label="Listen to (\/many\/\d+\/\d+)"/.exec(await reader.html('/ui/channels'))!
  expect(await preview(shown!)).toMatch(/^At least [12] ports? would receive it/)
})

test('an unreadable cursor shows the first page', async () => {
  expect(await reader.html('/ui/channels?cursor=x')).toContain('Listen to /')
})
