import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pagesIn } from '../../infra/docs/pages.ts'
import { buildSite, targetOf } from '../../infra/docs/site.ts'
import { program, startBrowser } from '../dashboard/browser.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'sidejob-docs-'))
let pages: string[] = []
beforeAll(async () => {
  pages = await buildSite(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (page: string) => readFileSync(join(folder, page), 'utf8')
const anchorsOf = (page: string) => [...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)

function isDead(page: string, href: string): boolean {
  const [path = '', anchor] = href.split('#')
  const file = path ? normalize(join(dirname(page), path)) : page
  if (!existsSync(join(folder, file))) return true
  return anchor !== undefined && !anchorsOf(file).includes(decodeURIComponent(anchor))
}

test('every page of the manual is a page of the site', () => {
  const wanted = pagesIn(join(root, 'docs')).map((page) => targetOf(`docs/${page}`))
  expect(wanted.filter((page) => !pages.includes(page))).toEqual([])
})

test('no link, picture or script of the site is broken', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, href]) => ({ page, href: href! })),
  )
  const own = links.filter(({ href }) => !/^(https?|mailto):/.test(href))
  expect(own.length).toBeGreaterThan(2_000)
  expect(own.filter(({ page, href }) => isDead(page, href)).map(({ page, href }) => `${page}: ${href}`)).toEqual([])
})

test('the list next to each page has all pages of the index, and marks the open one', () => {
  const listed = [
    ...read('index.html')
      .split('<main>')[0]!
      .matchAll(/<li><a href="([^"]+)"/g),
  ].map(([, href]) => href)
  const manual = pagesIn(join(root, 'docs')).filter((page) => page !== 'README.md' && !/^decisions\/\d/.test(page))
  expect(listed.filter((href) => !href?.startsWith('..')).sort()).toEqual(
    manual.map((page) => targetOf(`docs/${page}`)).sort(),
  )
  expect(read('waits.html')).toContain('<a href="waits.html" aria-current="page">')
})

test('the manual has five parts, and older systems come last', () => {
  const parts = [
    ...read('index.html')
      .split('<main>')[0]!
      .matchAll(/<h2>([^<]+)<\/h2>/g),
  ].map(([, name]) => name)
  expect(parts).toEqual(['Get started', 'Guides', 'Concepts', 'Reference', 'Operate', 'Older systems'])
})

test('every page exists as Markdown, and its links lead to Markdown pages', () => {
  const isPage = (href: string) => /\.(md|html)(#|$)/.test(href) && !/^[a-z]+:/.test(href)
  const linked = pages.flatMap((page) => {
    const file = page.replace(/\.html$/, '.md')
    expect(read(page)).toContain(`type="text/markdown" href="${basename(file)}"`)
    const text = read(file)
      .replace(/^```[\s\S]*?^```/gm, '')
      .replace(/`[^`\n]*`/g, '')
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => ({ file, href: href! }))
  })
  const own = linked.filter(({ href }) => isPage(href))
  expect(own.length).toBeGreaterThan(400)
  const isMissing = ({ file, href }: { file: string; href: string }) =>
    !existsSync(join(folder, dirname(file), href.split('#')[0]!))
  expect(own.filter(isMissing).map(({ file, href }) => `${file}: ${href}`)).toEqual([])
})

test('llms.txt lists each page of the index with a sentence', () => {
  const lines = read('llms.txt')
    .split('\n')
    .filter((line) => line.startsWith('- '))
  const listed = lines.map((line) => /^- \[.+\]\((\S+\.md)\): \S.+$/.exec(line)?.[1])
  const manual = pagesIn(join(root, 'docs')).filter((page) => page !== 'README.md' && !/^decisions\/\d/.test(page))
  expect(listed.toSorted()).toEqual(manual.toSorted())
})

test.skipIf(!program())('a search finds a section by its words, from a file and without a network', async () => {
  const browser = await startBrowser()
  const context = await browser.newContext({ offline: true })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.goto(pathToFileURL(join(folder, 'compat/jq.html')).href)
  await page.keyboard.press('/')
  await page.keyboard.type('debounc')
  const first = page.locator('#results a').first()
  await first.waitFor()
  expect(await page.locator('#results a').allTextContents()).toContain('Unique jobs, throttle, debounce: Debounce')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/unique\.html#|\/recipes\.html#/)
  expect(faults).toEqual([])
  await browser.close()
})
