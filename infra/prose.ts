// node infra/prose.ts src/http docs   print every hit in these paths
// node infra/prose.ts --update        lower the bounds

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { longLines, readProse } from './prose/prose.ts'

const boundsFile = join(import.meta.dirname, 'prose/bounds.json')

type Counts = { hits: number; long: number; sentences: number }
type Bounds = Record<string, { hits: number; long: number }>

/** The rules are not checked, because they quote the patterns that they forbid. */
const isProse = (path: string): boolean =>
  /\.(ts|tsx|lua|mjs|css|go|md)$/.test(path) && !/\.generated\.|\/fixtures?\/|^(infra|test\/infra)\/prose/.test(path)

function folderOf(path: string): string {
  const parts = path.split('/')
  if (parts.length === 1) return '.'
  return parts[0] === 'src' && parts.length > 2 ? parts.slice(0, 2).join('/') : parts[0]!
}

const filesIn = (paths: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => isProse(path) && existsSync(path))

function countFolders(): Map<string, Counts> {
  const folders = new Map<string, Counts>()
  for (const path of filesIn([])) {
    const text = readFileSync(path, 'utf8')
    const { sentences, hits } = readProse(path, text)
    const counts = folders.get(folderOf(path)) ?? { hits: 0, long: 0, sentences: 0 }
    counts.hits += hits.length
    counts.long += path.endsWith('.md') ? longLines(text).length : 0
    counts.sentences += sentences
    folders.set(folderOf(path), counts)
  }
  return folders
}

function printHits(paths: string[]): void {
  for (const path of filesIn(paths)) {
    const text = readFileSync(path, 'utf8')
    for (const { line, rule, sentence, advice } of readProse(path, text).hits) {
      console.log(`${path}:${line}  ${rule}  ${sentence.slice(0, 160)}\n    ${advice}`)
    }
    if (path.endsWith('.md')) for (const line of longLines(text)) console.log(`${path}:${line}  long-line`)
  }
}

function check(bounds: Bounds): string[] {
  return [...countFolders()].flatMap(([folder, { hits, long }]) => {
    const bound = bounds[folder] ?? { hits: 0, long: 0 }
    return [
      ...(hits > bound.hits ? [`${folder}: ${hits} hard sentences, expected at most ${bound.hits}`] : []),
      ...(long > bound.long
        ? [`${folder}: ${long} Markdown lines over 120 characters, expected at most ${bound.long}`]
        : []),
    ]
  })
}

function update(bounds: Bounds): void {
  const rows = [...countFolders()].map(([folder, { hits, long }]) => {
    const bound = bounds[folder] ?? { hits: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY }
    return [folder, { hits: Math.min(hits, bound.hits), long: Math.min(long, bound.long) }] as const
  })
  writeFileSync(
    boundsFile,
    `${JSON.stringify(Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`,
  )
}

const args = process.argv.slice(2)
const bounds: Bounds = existsSync(boundsFile) ? JSON.parse(readFileSync(boundsFile, 'utf8')) : {}
if (args[0] === '--update') {
  update(bounds)
} else if (args.length) {
  printHits(args)
} else {
  const problems = check(bounds)
  const all = [...countFolders().values()]
  const sum = (of: (counts: Counts) => number) => all.reduce((total, counts) => total + of(counts), 0)
  console.log(`${sum((one) => one.hits)} of ${sum((one) => one.sentences)} sentences are hard to read`)
  if (problems.length) {
    console.error([...problems, 'Run `node infra/prose.ts <path>` to see each one, and rewrite it.'].join('\n'))
    process.exit(1)
  }
}
