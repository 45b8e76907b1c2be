import { expect, test } from 'vitest'
import { longLines, readProse } from '../../infra/prose/prose.ts'

test('a hard sentence is found in comments, strings and Markdown, with its line', () => {
  const code = "const a = 1\n// What waits goes on.\nthrow new Error('Nobody else has this job now')\n"
  expect(readProse('a.ts', code).hits.map(({ line, rule }) => [line, rule])).toEqual([
    [2, 'clause-as-noun'],
    [3, 'vague-actor'],
  ])
  expect(readProse('a.md', 'A title\n\nThe job goes on after it.\n').hits.map(({ line }) => line)).toEqual([3])
  expect(readProse('a.lua', '-- The lane goes on with the next job.\n').hits).toHaveLength(1)
})

test('plain sentences, code blocks and signatures are no hits', () => {
  expect(readProse('a.ts', '// The lane continues with the next job.\n')).toEqual({ sentences: 1, hits: [] })
  expect(readProse('a.md', '```sh\necho what waits goes on here\n```\n').hits).toEqual([])
  expect(readProse('a.lua', '-- keys: what waits goes on here\n').hits).toEqual([])
})

test('Markdown lines over 120 characters are found, but not table rows or code', () => {
  const long = 'word '.repeat(30)
  expect(longLines(`${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n`)).toEqual([1])
})
