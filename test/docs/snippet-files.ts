import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pagesIn } from '../../infra/docs/pages.ts'

const root = join(import.meta.dirname, '../..')

const pages = ['README.md', ...pagesIn(join(root, 'docs')).map((page) => `docs/${page}`)]

type Snippet = { page: string; line: number; code: string; kind: string }

function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(tsx?)\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length,
    kind: found[1]!,
    code: found[2]!,
  }))
}

function fileOf({ page, line, code, kind }: Snippet): string {
  const [, file] = /^\/\/ (\S+\.tsx?)\n/.exec(code) ?? []
  if (file?.startsWith('src/jobs/')) return file
  if (file && !file.startsWith('src/')) return `web/${file}`
  return `src/${page.replaceAll('/', '~').replace(/\.md$/, '')}~${line}.${kind}`
}

/** Errors of the compiler name the lines of the page, because the snippet keeps its line number. */
const moduleOf = ({ line, code, kind }: Snippet): string =>
  `${kind === 'tsx' ? '/** @jsxImportSource react */' : ''}${'\n'.repeat(line)}${code}${/^(import|export) /m.test(code) ? '' : 'export {}\n'}`

export function writeSnippets(folder: string, declarations: string[]): number {
  const snippets = pages.flatMap(snippetsOf)
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'templates/worker/src'), join(folder, 'src'), { recursive: true })
  for (const file of declarations) cpSync(join(import.meta.dirname, 'snippets', file), join(folder, 'src', file))
  for (const snippet of snippets) {
    const file = join(folder, fileOf(snippet))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, moduleOf(snippet))
  }
  return snippets.length
}

export const placed = (faults: string): string[] =>
  faults
    .split('\n')
    .filter(Boolean)
    .map((line) =>
      line.replace(
        /^(?:src\/)?(\S+?)~(\d+)\.tsx?\((\d+),/,
        (_, page, _start, at) => `${page.replaceAll('~', '/')}.md:${at} (`,
      ),
    )
