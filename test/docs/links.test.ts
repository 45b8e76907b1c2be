import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesIn, slugger } from '../../infra/docs/pages.ts'

function slugs(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)
  const next = slugger()
  return [...headings].map(([, heading]) => next(heading!))
}

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...['docs', 'src', 'examples', 'templates'].flatMap((folder) =>
    pagesIn(join(root, folder)).map((file) => join(folder, file)),
  ),
]

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

type Link = { page: string; to: string }
const linksOf = (page: string): Link[] =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => ({ page, to: to! }))

function isDead({ page, to }: Link): boolean {
  const [path = '', heading] = to.split('#')
  const file = path ? join(dirname(page), path) : page
  if (!existsSync(join(root, file))) return true
  if (heading === undefined) return false
  return statSync(join(root, file)).isDirectory() || !slugs(read(file)).includes(heading)
}

test('no page for people has a broken link', () => {
  const links = pages.flatMap(linksOf).filter(({ to }) => !/^(https?|mailto):/.test(to))
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter(isDead).map(({ page, to }) => `${page}: ${to}`)).toEqual([])
})

test('the index of the manual links to each page once, and to no missing page', () => {
  const linked = linksOf('docs/README.md').flatMap(({ to }) => (to.startsWith('..') ? [] : [to]))
  // Single decisions are not in this index, but in the index of decisions.
  const there = pagesIn(join(root, 'docs')).filter((file) => file !== 'README.md' && !/^decisions\/\d/.test(file))
  expect(linked.filter((to) => to.endsWith('.md')).sort()).toEqual(there.sort())
})
