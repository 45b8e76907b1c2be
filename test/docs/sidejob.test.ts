import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { all, named, read, titles } from './pages.ts'

const ROWS = 265
const page = read('docs/compat/sidejob.md')
const names = named(page)

test('docs/compat/sidejob.md mentions every row once, in order', () => {
  const [, list] = /^Rows ([\d, ]+) are faults/m.exec(page)!
  const faults = list!.split(', ').map(Number)
  const ids = [...page.matchAll(/^\| (\d+) \| .+ \| (?:`.+`|differs: .+) \|$/gm)].map(([, id]) => Number(id))
  const rows = Array.from({ length: ROWS }, (_, i) => i + 1)
  expect(ids).toEqual(rows.filter((id) => !faults.includes(id)))
})

test('docs/compat/sidejob.md mentions every race once, in order', () => {
  const ids = [...page.matchAll(/^\| (R\d+) \|/gm)].map(([, id]) => id)
  expect(ids).toEqual(Array.from({ length: 28 }, (_, i) => `R${i + 1}`))
})

test('docs/compat/sidejob.md mentions every scenario once, in order', () => {
  const ids = [...page.matchAll(/^\| (S\d+) \| `\1:? .+` \|$/gm)].map(([, id]) => id)
  const odd = Array.from({ length: 21 }, (_, i) => `S${String(2 * i + 1).padStart(2, '0')}`)
  expect(ids).toEqual([...odd, 'S42', 'S43'])
})

test('every test that docs/compat/sidejob.md names exists', () => {
  expect(names.length).toBeGreaterThan(200)
  expect(names.filter((one) => !all.has(one))).toEqual([])
})

test('every test that a difference names exists', () => {
  const differences = [...page.matchAll(/^\| \d+ \| .+ \| differs: (.+) \|$/gm)].map(([, why]) => why!)
  const tests = differences.flatMap((why) => [...why.matchAll(/`([a-z][^`/]+ [^`/]+ [^`/]+)`/g)].map(([, one]) => one!))
  expect(tests.filter((one) => !all.has(one))).toEqual([])
})

test('every test of SideJob’s behaviour is named in docs/compat/sidejob.md', () => {
  const folder = join(import.meta.dirname, '../facades/sidejob')
  const own = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  const unnamed = own.flatMap((file) => titles(`test/facades/sidejob/${file}`)).filter((title) => !page.includes(title))
  expect(unnamed).toEqual([])
})
