import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const src = join(root, 'src')

test('files named on the map exist', () => {
  const page = readFileSync(join(src, 'README.md'), 'utf8')
  const table = page.slice(page.indexOf('## Map'), page.indexOf('`functions/` has the standard library'))
  const missing = table
    .split('\n')
    .map((line) => /^\| `([\w/]+\/)` \|(.*)/.exec(line))
    .filter((row) => row !== null)
    .flatMap(([, folder, rest]) => {
      const names = [...rest!.matchAll(/`([\w/.-]+)`/g)].map(([, name]) => name!)
      const isThere = (name: string) =>
        [name, `${name}.ts`, `${name}.tsx`].some((one) => existsSync(join(src, folder!, one)))
      return names.filter((name) => !isThere(name)).map((name) => folder + name)
    })
  expect(missing).toEqual([])
})

test('the walks name existing files, each once', () => {
  const page = readFileSync(join(src, 'README.md'), 'utf8')
  const walks = page
    .slice(page.indexOf('## How requests pass through the files'), page.indexOf('## Words'))
    .split(/^### |^In Redis:/m)
    .slice(1)
    .map((walk) => [...walk.matchAll(/^\d+\. `([\w/.-]+)`/gm)].map(([, file]) => file!))
  expect(walks.map((walk) => walk.length)).toEqual([12, 10, 13, 9])
  for (const walk of walks) expect(walk).toEqual([...new Set(walk)])
  expect(walks.flat().filter((file) => !existsSync(join(src, file)))).toEqual([])
})
