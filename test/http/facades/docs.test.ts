// The pages of the facades name the tests that show what they say; those tests exist, and none is left out.

import { expect, test } from 'vitest'
import { all, named, read, titles } from '../../docs/pages.ts'

/** The files whose tests a page is about. */
const pages = {
  bedrock: ['http/facades/bedrock.test.ts'],
  jq: ['http/facades/jq.test.ts'],
  downloader: ['downloads/downloader.test.ts', 'downloads/download.test.ts', 'engine/callbacks.test.ts'],
}

test.each(Object.keys(pages))('every test that docs/%s.md names is there', (name) => {
  const names = named(read(`docs/${name}.md`))
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((one) => !all.has(one))).toEqual([])
})

test.each(Object.entries(pages))('every test of the facade is named in docs/%s.md', (name, files) => {
  const names = new Set(named(read(`docs/${name}.md`)))
  const own = files.flatMap((file) => titles(`test/${file}`))
  expect(own.filter((title) => !names.has(title))).toEqual([])
})

test('docs/jq.md speaks of every requirement, in order', () => {
  const ids = [...read('docs/jq.md').matchAll(/^\| (JQ-\d\d) /gm)].map(([, id]) => id)
  expect(ids).toEqual(Array.from({ length: 75 }, (_, i) => `JQ-${String(i + 1).padStart(2, '0')}`))
})

test('docs/downloader.md speaks of every row, in order', () => {
  const ids = [...read('docs/downloader.md').matchAll(/^\| (\d+) /gm)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: 138 }, (_, i) => i + 1))
})
