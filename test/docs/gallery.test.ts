import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../src/dashboard/pages/index.ts'
import { before, gallery, looks, shownPages } from '../dashboard/shown.ts'

const docs = join(import.meta.dirname, '../../docs')
const shown = [...before, ...shownPages(0, 0)]

test('each page is shown', () => {
  expect(pages.map(({ path }) => path).filter((path) => !shown.some((one) => one.page === path))).toEqual([])
})

test('the page of the manual shows each picture', () => {
  expect(readFileSync(join(docs, 'pages.md'), 'utf8')).toBe(gallery())
})

test('each picture exists in each look, and the folder has no other pictures', () => {
  const wanted = shown.flatMap(({ name }) => looks.map((look) => `${name}-${look.name}.webp`))
  expect(wanted.filter((file) => !existsSync(join(docs, 'pictures/pages', file)))).toEqual([])
  expect(readdirSync(join(docs, 'pictures/pages')).filter((file) => !wanted.includes(file))).toEqual([])
})
