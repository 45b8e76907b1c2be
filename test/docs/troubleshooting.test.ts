import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reasons } from '../../src/core/reasons.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const rows = Object.entries(reasons).map(([code, { means, remedy }]) => `| \`${code}\` | ${means} | ${remedy} |`)

test('docs/troubleshooting.md has the reasons of reasons.ts', () => {
  const told = [...read('docs/troubleshooting.md').matchAll(/^\| `[A-Z_]+` \|.*$/gm)].map(([row]) => row)
  expect(told).toEqual(rows)
})

test('every reason that `why` can report is in the table', () => {
  const told = ['why.ts', 'why-chain.ts'].flatMap((file) => [
    ...read(`src/engine/api/${file}`).matchAll(/'([A-Z]{3,}(?:_[A-Z]+)*)'/g),
  ])
  const codes = [...new Set(told.map(([, code]) => code!))].filter((code) => code !== 'NOT_FOUND').sort()
  expect(codes).toEqual(Object.keys(reasons).sort())
})

test('every route that the page names exists', () => {
  const page = read('docs/troubleshooting.md')
  const named = [...page.matchAll(/`(GET|POST|PATCH) (\/[\w/:]+)/g)].map(([, method, path]) => `${method} ${path}`)
  const table = read('src/client/table.generated.ts').replaceAll(':dir/:port', 'in/:port')
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((route) => !table.includes(`"${route}"`))).toEqual([])
})
