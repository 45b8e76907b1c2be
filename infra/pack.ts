// Makes `dist` smaller: removes texts that only the manual needs, and source maps of generated modules.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const dist = join(import.meta.dirname, '../dist')

const TEXT = `(?:'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"|\`[^\`]*\`)`
const TABLES = 'export const jobFields'

/**
 * Removes the notes about fields, because docs/keys.md has these notes.
 *
 * @example withoutNotes("export const jobFields = {\n  queue: ['q', 'its queue'],\n}") // … queue: ['q', ''],
 */
export function withoutNotes(text: string): string {
  const from = text.indexOf(TABLES)
  if (from < 0) throw new Error(`keys.js: expected "${TABLES}"`)
  return text.slice(0, from) + text.slice(from).replace(new RegExp(`(\\w+: \\[\\s*'\\w+',\\s*)${TEXT}`, 'g'), "$1''")
}

/**
 * Leaves only the numbers of the limits, because docs/limits.md has the texts.
 *
 * @example withoutTexts("ops: limit(10_000, 'ops', 'operations of one run', refused),") // 'ops: limit(10_000),'
 */
export const withoutTexts = (text: string): string =>
  text.replace(new RegExp(`(\\blimit\\(\\s*[\\d_]+)(?:,\\s*(?:${TEXT}|\\w+)){3},?\\s*`, 'g'), '$1')

const source = /\n\/\/# sourceMappingURL=.*\n?$/

function dropMap(file: string): void {
  rmSync(`${file}.map`, { force: true })
  writeFileSync(file, readFileSync(file, 'utf8').replace(source, '\n'))
}

const runtime = join(dist, 'src/http/jsx-runtime.js')

function linkRuntime(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('#jsx/jsx-runtime', relative(dirname(file), runtime)))
}

function change(path: string, by: (text: string) => string): void {
  const file = join(dist, path)
  writeFileSync(file, by(readFileSync(file, 'utf8')))
}

if (import.meta.main) {
  change('src/redis/keys.js', withoutNotes)
  change('src/core/limits.js', withoutTexts)
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  for (const file of files) if (file.startsWith('src/dashboard/')) linkRuntime(join(dist, file))
  for (const file of files)
    if (/\.generated\.js$|^src\/(dashboard\/.*|redis\/keys|core\/limits)\.js$/.test(file)) dropMap(join(dist, file))
}
