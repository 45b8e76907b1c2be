import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { figureRows, withCells } from '../heavy/bench/figures.ts'
import { HEAD, pageOf, placed } from '../heavy/bench/speed.ts'
import { root } from './blocks.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/speed.md')

const heads = (text: string): string[][] =>
  [...text.matchAll(/^\| (.+) \|\n\|[-| ]+\|$/gm)].map(([, head]) => head!.split(' | '))

test('the commands of docs/speed.md exist, with their options', () => {
  const shown = [...page.matchAll(/npm run ([\w:]+)(?: -- ([^`]+))?/g)]
  expect(shown.length).toBeGreaterThan(3)
  const scripts = JSON.parse(read('package.json')).scripts as Record<string, string>
  for (const [, script, options = ''] of shown) {
    const program = read(scripts[script!]!.replace('node ', ''))
    for (const [, option] of options.matchAll(/--(\w+)/g))
      expect(program).toMatch(new RegExp(`^ {4}${option}: \\{ type`, 'm'))
  }
})

test('docs/speed.md explains exactly the columns of its tables', () => {
  const [explained] = page.split('## On one machine')
  const rows = [...explained!.matchAll(/^\| (.+?) \| /gm)].map(([, name]) => name).slice(1)
  expect(rows).toEqual([...new Set(HEAD)])
  for (const head of heads(page).slice(1)) expect(head).toEqual(HEAD)
})

test('new figures replace the old figures of the same place, local or remote', () => {
  const ours = [{ took: [1, 2], billed: 21, messages: 1 }]
  const row = { name: 'lone', jobs: 2, ours, theirs: [{ took: [3, 4] }], direct: [{ took: [5, 6] }] }
  const alone = { ...row, theirs: [], direct: [] }
  const once = placed(placed(page, pageOf([row]), false), pageOf([alone]), true)
  expect(heads(once).filter((head) => head[0] === 'workload')).toEqual([HEAD, HEAD])
  expect(once).toContain('| lone | 2.0 | 2.0 | 4.0 | 4.0 | 6.0 | 6.0 | 21 | 1 |')
  expect(once).toContain('| lone | 2.0 | 2.0 | – | – | – | – | 21 | 1 |')
  expect(placed(placed(once, pageOf([row]), false), pageOf([alone]), true)).toBe(once)
  expect(once.replace(/(<!-- workloads: \w+ -->)[\s\S]*?(<!-- end -->)/g, '$1$2')).toBe(
    page.replace(/(<!-- workloads: \w+ -->)[\s\S]*?(<!-- end -->)/g, '$1$2'),
  )
})

test('README.md has a row for each figure that `npm run bench -- --write` replaces', () => {
  const cells = Object.fromEntries(Object.values(figureRows).map((name, n) => [name, `figure ${n}`]))
  const written = withCells(read('README.md'), { column: 'strict', printed: '', cells })
  for (const [name, cell] of Object.entries(cells))
    expect(written.split('\n').find((line) => line.startsWith(`| ${name} |`))).toMatch(new RegExp(`\\| ${cell} \\|$`))
})
