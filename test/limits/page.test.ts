// The page of limits says what the code does: a row for each, made from the one list of them.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Limit, limits } from '../../src/core/limits.ts'

const row = ([name, { most, unit, of, above }]: [string, Limit]): string =>
  `| \`${name}\` | ${of} | ${most.toLocaleString('en')} ${unit} | ${above} |`

test('docs/limits.md has a row for every limit, and no other', () => {
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toEqual(Object.entries(limits).map(row))
})
