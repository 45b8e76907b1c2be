// Makes `dist` smaller: removes notes about fields, and the source maps of generated modules and of the dashboard.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const dist = join(import.meta.dirname, '../dist')

const TABLES = 'export const jobFields'

/**
 * Removes the notes, because docs/keys.md has them.
 *
 * @example withoutNotes("export const jobFields = {\n  queue: ['q', 'its queue'],\n}") // … queue: ['q', ''],
 */
export function withoutNotes(text: string): string {
  const from = text.indexOf(TABLES)
  if (from < 0) throw new Error(`keys.js: expected "${TABLES}"`)
  const note = /(\w+: \[\s*'\w+',\s*)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)/g
  return text.slice(0, from) + text.slice(from).replace(note, "$1''")
}

function dropMap(file: string): void {
  rmSync(`${file}.map`, { force: true })
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
}

if (import.meta.main) {
  const keys = join(dist, 'src/redis/keys.js')
  writeFileSync(keys, withoutNotes(readFileSync(keys, 'utf8')))
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (/\.generated\.js$|^src\/(dashboard\/.*|redis\/keys)\.js$/.test(file)) dropMap(join(dist, file))
}
