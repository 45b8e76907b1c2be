import { expect, test } from 'vitest'
import { all, named, read, titles } from '../docs/pages.ts'

const pages = {
  bedrock: ['facades/bedrock.test.ts', 'facades/bedrock-commands.test.ts'],
  jq: ['facades/jq.test.ts'],
  downloader: [
    'facades/downloader/downloader.test.ts',
    'facades/downloader/download.test.ts',
    'engine/callbacks.test.ts',
  ],
}

test.each(Object.keys(pages))('every test that docs/compat/%s.md names exists', (name) => {
  const names = named(read(`docs/compat/${name}.md`))
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((one) => !all.has(one))).toEqual([])
})

test.each(Object.entries(pages))('every test of the facade is named in docs/compat/%s.md', (name, files) => {
  const names = new Set(named(read(`docs/compat/${name}.md`)))
  const own = files.flatMap((file) => titles(`test/${file}`))
  expect(own.filter((title) => !names.has(title))).toEqual([])
})

test('docs/compat/jq.md mentions every requirement, in order', () => {
  const ids = [...read('docs/compat/jq.md').matchAll(/^\| (JQ-\d\d) /gm)].map(([, id]) => id)
  expect(ids).toEqual(Array.from({ length: 75 }, (_, i) => `JQ-${String(i + 1).padStart(2, '0')}`))
})

test('docs/compat/jq.md names a test for every requirement', () => {
  const rows = read('docs/compat/jq.md').match(/^\| JQ-.*$/gm) ?? []
  expect(rows.filter((row) => named(row).length !== 1)).toEqual([])
})

test('docs/compat/downloader.md mentions every row, in order', () => {
  const ids = [...read('docs/compat/downloader.md').matchAll(/^\| (\d+) /gm)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: 138 }, (_, i) => i + 1))
})

test('docs/compat/bedrock.md mentions every row, in order', () => {
  const ids = [...read('docs/compat/bedrock.md').matchAll(/^\| (\d+) /gm)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: 188 }, (_, i) => i + 1))
})

const scenarios: Record<string, string[]> = {
  bedrock: [
    'S1',
    'S3',
    'S5',
    'S7',
    'S9',
    'S11',
    'S13',
    'S15',
    'S17',
    'S19',
    'S21',
    'S23',
    'S25',
    'S27',
    'S29',
    'S31',
    'S33',
    'S35',
    'S37',
    'S39',
    'S41',
    'S43',
    'S45',
    'S47',
    'S49',
    'S51',
    'S53',
    'S55',
    'S57',
    'S59',
    'S61',
    'S63',
  ],
  jq: ['Q1', 'Q3', 'Q5', 'Q7', 'Q9', 'Q11', 'Q13', 'Q15', 'Q17', 'Q19'],
}

test.each(Object.entries(scenarios))('every scenario of %s has a test with its number', (name, ids) => {
  const own = pages[name as keyof typeof pages].flatMap((file) => titles(`test/${file}`))
  expect(ids.filter((id) => !own.some((title) => title.startsWith(`${id} `)))).toEqual([])
})
