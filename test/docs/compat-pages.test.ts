import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../src/dashboard/pages/index.ts'

const folder = join(import.meta.dirname, '../../docs/compat')
const namedIn = (page: string): string[] => [
  ...new Set(
    [...readFileSync(join(folder, `${page}.md`), 'utf8').matchAll(/`\/ui(\/[^`]*)`/g)].map(([, path]) => path!),
  ),
]
const paths = new Set(pages.map(({ path }) => path))

test.each([
  ['jq', ['/jobs', '/limits', '/workers']],
  ['downloader', ['/limits', '/jobs', '/callbacks', '/files']],
  ['sidejob', ['/jobs/:job', '/flows/:job', '/queues', '/queues/:queue']],
] as const)('the pages that docs/compat/%s.md names exist', (page, least) => {
  const named = namedIn(page)
  expect(named).toEqual(expect.arrayContaining([...least]))
  expect(named.filter((path) => !paths.has(path))).toEqual([])
})
