// Every snippet of TypeScript in the README and the manual compiles as a file of a project from the template `worker`, with the
// class of docs/start.md. Names that fragments use without a declaration, such as `client` and `job`, are in snippets/assumed.d.ts.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesIn } from '../../infra/docs/pages.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.sidejob/snippets')
const source = join(folder, 'src')

const pages = ['README.md', ...pagesIn(join(root, 'docs')).map((page) => `docs/${page}`)]

type Snippet = { page: string; line: number; code: string; kind: string }

/** The fences of a page that hold TypeScript, and the line at which each begins. */
function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length,
    kind: found[1]!,
    code: found[2]!,
  }))
}

/** Files of an app of the reader, next to the Worker, keep the paths that their first lines name. */
function fileOf({ page, line, code, kind }: Snippet): string {
  const [, file] = /^\/\/ (\S+\.tsx?)\n/.exec(code) ?? []
  if (file?.startsWith('src/jobs/')) return file.slice('src/'.length)
  if (file && !file.startsWith('src/')) return `web/${file}`
  return `${page.replaceAll('/', '~').replace(/\.md$/, '')}~${line}.${kind}`
}

/** A module with the line numbers of the page, so that errors have the right position. */
const moduleOf = ({ line, code, kind }: Snippet): string =>
  `${kind === 'tsx' ? '/** @jsxImportSource react */' : ''}${'\n'.repeat(line)}${code}${/^(import|export) /m.test(code) ? '' : 'export {}\n'}`

const tsconfig = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    rootDir: '../..',
    paths: {
      sidejob: ['../../src/index.ts'],
      'sidejob/cloudflare': ['../../src/cloudflare/index.ts'],
      'sidejob/client': ['../../src/client/index.ts'],
      'sidejob/testing': ['../../src/testing/index.ts'],
      'sidejob/dashboard': ['../../src/dashboard/index.ts'],
      'sidejob/facades': ['../../src/facades/index.ts'],
      'sidejob/dev': ['../../src/dev/index.ts'],
      'sidejob/functions': ['../../functions/core.ts'],
      'sidejob/functions/*': ['../../functions/*.ts'],
    },
  },
  include: ['./**/*.ts', './**/*.tsx', '../../src/cloudflare.d.ts'],
}

function compile(): string {
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

/** As a person looks for it: the page and its line. */
const placed = (faults: string): string[] =>
  faults
    .split('\n')
    .filter(Boolean)
    .map((line) =>
      line.replace(
        /^(?:src\/)?(\S+?)~(\d+)\.ts\((\d+),/,
        (_, page, _start, at) => `${page.replaceAll('~', '/')}.md:${at} (`,
      ),
    )

// The compiler takes a few seconds, and longer on a loaded machine.
test('every snippet of TypeScript compiles', () => {
  const snippets = pages.flatMap(snippetsOf)
  expect(snippets.length).toBeGreaterThan(25)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'templates/worker/src'), source, { recursive: true })
  for (const file of ['assumed.d.ts', 'cloudflare.d.ts', 'stripe.d.ts'])
    cpSync(join(import.meta.dirname, 'snippets', file), join(source, file))
  for (const snippet of snippets) {
    const file = join(source, fileOf(snippet))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, moduleOf(snippet))
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  expect(placed(compile())).toEqual([])
}, 180_000)
