import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export const named = (page: string): string[] =>
  [...page.matchAll(/^\|.*\| *`((?:[^`\\]|\\`)+)` *\|$/gm)].map(([, name]) => name!.replaceAll('\\`', '`'))

const starts = [
  /\b(?:test|scenario)(?:\.each\(\w+\)|\.skipIf\([^)]*\))?\(\s*'((?:[^'\\]|\\.)*)'/g,
  /^ {2}async '((?:[^'\\]|\\.)*)'\((?:world|order)\)/gm,
  /^ {4}says: '((?:[^'\\]|\\.)*)',$/gm,
]

export const titles = (path: string): string[] =>
  starts.flatMap((start) => [...read(path).matchAll(start)].map(([, title]) => title!))

export const all = new Set(
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => titles(join('test', file))),
)
