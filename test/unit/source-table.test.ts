import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type PluginBuild } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isForeign, kindOf } from '../../src/core/fingerprint.ts'
import { mappedStack } from '../../src/core/source-table.ts'
import { tableOf, tableText } from '../../src/deploy/source-table.ts'

const SHOP = [
  "import { run } from 'lib'",
  '',
  'export function charge(order: { id: number }): never {',
  '  const name: string = String(order.id)',
  "  throw new Error('declined: ' + name)",
  '}',
  '',
  'export const start = () => run(() => charge({ id: 7 }))',
].join('\n')

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'sidejob-sources-'))
  writeFileSync(join(root, 'shop.ts'), SHOP)
})
afterAll(() => rmSync(root, { recursive: true }))

async function failed(minify: boolean) {
  const library = {
    name: 'lib',
    setup(build: PluginBuild) {
      build.onResolve({ filter: /^lib$/ }, () => ({ path: join(root, 'node_modules/lib/index.js') }))
      build.onLoad({ filter: /node_modules/ }, () => ({ contents: 'export const run = (f) => {\n  return f()\n}' }))
    },
  }
  const { outputFiles } = await build({
    entryPoints: { worker: join(root, 'shop.ts') },
    outdir: root,
    bundle: true,
    write: false,
    minify,
    format: 'cjs',
    sourcemap: 'linked',
    plugins: [library],
    absWorkingDir: root,
  })
  const [map, code] = ['.map', '.js'].map((end) => outputFiles.find(({ path }) => path.endsWith(end))!.text)
  const module = { exports: {} as { start: () => void } }
  let stack = ''
  try {
    new Function('module', `${code}\n//# sourceURL=worker.js`)(module)
    module.exports.start()
  } catch (error) {
    // The function around the bundle adds two lines.
    stack = (error as Error).stack!.replace(/worker\.js:(\d+)/g, (_, line) => `worker.js:${Number(line) - 2}`)
  }
  return { stack, table: tableOf(map!, { dir: root, root, bundle: 'worker.js' }) }
}

describe.each([
  ['a bundle', false],
  ['a minified bundle', true],
])('%s', (_, minify) => {
  test('has the place of the error in the project, with five lines of source', async () => {
    const { stack, table } = await failed(minify)
    const lines = mappedStack(stack, table).split('\n')
    expect(lines[0]).toBe('Error: declined: 7')
    expect(lines[1]).toMatch(/^ {4}at .*shop\.ts:5:\d+\)?$/)
    expect(lines.slice(2, 7)).toEqual([
      '      3 | export function charge(order: { id: number }): never {',
      '      4 |   const name: string = String(order.id)',
      "    > 5 |   throw new Error('declined: ' + name)",
      '      6 | }',
      '      7 |',
    ])
    expect(lines[7]).toMatch(/^ {4}at .*shop\.ts:8:\d+\)?$/)
    expect(lines[8]).toMatch(/^ {4}at .*\(library:\d+:\d+\)$/)
    expect([isForeign(lines[1]!), isForeign(lines[8]!)]).toEqual([false, true])
    expect(kindOf('charge', { message: 'no', stack: lines.join('\n') }).frame).toContain('shop.ts')
  })
})

test('frames of other files stay, and a table that is too large loses its source lines', async () => {
  const { table } = await failed(false)
  const other = 'Error: no\n    at f (node:internal/x:1:2)\n    at g (other.js:5:3)'
  expect(mappedStack(other, table)).toBe(other)
  expect(table.files.map(({ name }) => name)).toEqual(['shop.ts'])
  const large = { ...table, files: [{ name: 'shop.ts', lines: ['x'.repeat(1_000_000)] }] }
  expect(JSON.parse(tableText(large)!).files).toEqual([{ name: 'shop.ts', lines: [] }])
  const places = Array.from({ length: 100_000 }, (_, i) => [i, 1_000_000, 0, i, 0] as never)
  expect(tableText({ ...table, places })).toBeUndefined()
})
