import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assets } from '../../src/dashboard/assets.ts'
import { startPages } from './kit.ts'

let pages: Awaited<ReturnType<typeof startPages>>

beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())

/** Bytes after compression. Fonts are already compressed. */
function sizeOf(name: string): number {
  const asset = assets.find((one) => one.name.startsWith(`${name}-`))
  if (!asset) throw new Error(`there is no asset ${name}`)
  const body = asset.body()
  return typeof body === 'string' ? gzipSync(body).length : body.length
}

test.each([
  ['app', 16_000],
  ['board', 40_000],
  ['palette', 2_200],
  ['style', 10_500],
  ['flow', 2_750],
  ['limits', 1_100],
  ['schedules', 900],
  ['geist', 17_000],
  ['geist-mono', 14_000],
])('%s has at most %i bytes', (name, most) => expect(sizeOf(name)).toBeLessThan(most))

test('each class of the drawings has a style', () => {
  const drawings = readFileSync(new URL('../../src/dashboard/assets/sprite.svg', import.meta.url), 'utf8')
  const used = [...drawings.matchAll(/class="([^"]*)"/g)].flatMap(([, names]) => names!.split(' '))
  const style = String(assets.find(({ name }) => name.startsWith('style-'))!.body())
  expect(used).toContain('f-sunken')
  expect(used.filter((name) => !new RegExp(`\\.${name}\\b`).test(style))).toEqual([])
})

test('the first page has at most 60 KB, including its assets and fonts', async () => {
  const html = await (await pages.enter(['admin'])).html('/ui')
  const named = [...html.matchAll(/(?:src|href)="\/ui\/assets\/([\w-]+)-[0-9a-f]{10}\.(?:css|js)/g)].map(
    ([, name]) => name!,
  )
  expect(named.toSorted()).toEqual(['app', 'style'])
  const all = [...named, 'geist', 'geist-mono'].reduce((sum, name) => sum + sizeOf(name), gzipSync(html).length)
  expect(all).toBeLessThanOrEqual(60 * 1024)
})
