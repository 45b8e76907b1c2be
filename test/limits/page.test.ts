import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BUDGET, nameOf, type Part, weights } from '../../src/core/budget.ts'
import { type Limit, limits } from '../../src/core/limits.ts'

const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')

const row = ([name, { most, unit, of, above }]: [string, Limit]): string =>
  `| \`${name}\` | ${of} | ${most.toLocaleString('en')} ${unit} | ${above} |`

const partRow = ([part, weight]: [string, number]): string => `| ${nameOf(part as Part)} | ${weight} |`

test('docs/limits.md has a row for every part of a call, and states the budget', () => {
  const [, sums = ''] = page.split('## The budget of a call')
  const rows = sums
    .split('## All limits')[0]!
    .split('\n')
    .filter((line) => /^\| [^-]+ \| [\d.]+ \|$/.test(line))
  const { bytes, ...counted } = weights
  expect(bytes).toBe(1 / 1_024)
  expect(rows).toEqual(Object.entries(counted).map(partRow))
  expect(sums).toContain(`a budget of ${BUDGET.toLocaleString('en')} units`)
})

test('docs/limits.md has a row for every limit, and no other rows', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toEqual(Object.entries(limits).map(row))
})
