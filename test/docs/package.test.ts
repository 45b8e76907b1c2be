import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandbox } from '../../src/testing/index.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/package.md')

const sources: Record<string, string> = {
  sidejob: 'src/index.ts',
  'sidejob/cloudflare': 'src/cloudflare/index.ts',
  'sidejob/client': 'src/client/index.ts',
  'sidejob/testing': 'src/testing/index.ts',
  'sidejob/dashboard': 'src/dashboard/index.ts',
  'sidejob/dev': 'src/dev/index.ts',
  'sidejob/alerts': 'src/alerts/index.ts',
  'sidejob/facades': 'src/facades/index.ts',
  'sidejob/history': 'src/history/sqlite.ts',
  'sidejob/functions': 'functions/core.ts',
  'sidejob/functions/download': 'functions/download.ts',
}

function exportsOf(path: string): string[] {
  const text = read(path)
  const declared = [...text.matchAll(/^export (?:abstract )?(?:async )?(?:const|function|class|type) (\w+)/gm)]
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list!.split(','))
  const handed = lists
    .map(
      (one) =>
        one
          .trim()
          .replace(/^type /, '')
          .split(' as ')
          .at(-1)!,
    )
    .filter(Boolean)
  const whole = [...text.matchAll(/^export \* from '(.+)'/gm)].flatMap(([, from]) => exportsOf(join(path, '..', from!)))
  return [...declared.map(([, name]) => name!), ...handed, ...whole]
}

function toldOf(module: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`\`${module}\`\n`))
  const rows = section
    ? [...section.matchAll(/^\| (?!name|-)(.+?) \|/gm)]
    : [...page.matchAll(new RegExp(`^\\| \`${module}\` \\| (.+?) \\|`, 'gm'))]
  return rows.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
}

test.each(Object.entries(sources))('docs/package.md names what %s exports', (module, path) => {
  const known = exportsOf(path)
  expect(known.length).toBeGreaterThan(0)
  expect([...new Set(toldOf(module))].sort()).toEqual([...new Set(known)].sort())
})

test('every module that package.json exports is in the page', () => {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> }
  const modules = Object.keys(exports).map((name) => name.replace(/^\./, 'sidejob').replace('/*', ''))
  expect(modules.filter((name) => name !== 'sidejob/package.json' && !page.includes(`\`${name}\``))).toEqual([])
})

test('docs/testing.md has exactly the members of a sandbox', () => {
  const members = Object.keys(sandbox({ class: 'one', perform: () => undefined }))
  const [, part] = read('docs/testing.md').split('| member of a sandbox | does |')
  const rows = [...part!.split('\n\n')[0]!.matchAll(/^\| (`.+?`) \|/gm)]
  const told = rows.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)/g)].map(([, name]) => name!))
  expect(told.sort()).toEqual(members.sort())
})
