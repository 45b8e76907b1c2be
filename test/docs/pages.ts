// Pages that cite tests: the cited names, and the existing ones.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The last column of the tables of a page: each a test between backticks, or a reason. */
export const named = (page: string): string[] =>
  [...page.matchAll(/^\|.*\| *`((?:[^`\\]|\\`)+)` *\|$/gm)].map(([, name]) => name!.replaceAll('\\`', '`'))

const starts = [
  /\b(?:test|scenario)(?:\.each\(\w+\)|\.skipIf\([^)]*\))?\(\s*'((?:[^'\\]|\\.)*)'/g,
  // Facts of a rule of the protocol, and what flows do in every order.
  /^ {2}async '((?:[^'\\]|\\.)*)'\((?:world|order)\)/gm,
  // Windows of races.
  /^ {4}says: '((?:[^'\\]|\\.)*)',$/gm,
]

/** The titles of a file's tests. */
export const titles = (path: string): string[] =>
  starts.flatMap((start) => [...read(path).matchAll(start)].map(([, title]) => title!))

export const all = new Set(
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => titles(join('test', file))),
)
