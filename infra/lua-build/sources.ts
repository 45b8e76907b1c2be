import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { camel } from './syntax.ts'

export type Header = ReturnType<typeof headerOf>

const root = join(import.meta.dirname, '../../src/redis/lua')

export const readLua = (file: string): string => readFileSync(join(root, file), 'utf8')

export const luaFiles = (): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .sort()

/**
 * `access`: the first words of the keys that the script may use. Updated keys are in `reads` and in `writes`.
 *
 * @example headerOf('scripts/signal.lua', '-- by: API\n…').access.by // ['API']
 */
export function headerOf(file: string, text: string) {
  const header = /^(--.*\n)+/.exec(text)?.[0] ?? ''
  const list = (line: string): string[] => {
    const found = new RegExp(`^-- ${line}: (.*(?:\\n--   .*)*)$`, 'm').exec(header)?.[1]
    if (!found && line === 'by') throw new Error(`${file}: the header has no "-- ${line}:" line`)
    return (found ?? '').split(/,\s*(?:--\s*)?/).flatMap((name) => name.trim() || [])
  }
  const updates = list('updates')
  return {
    name: basename(file, '.lua'),
    answers: [...new Set(Array.from(text.matchAll(/\breply\.(\w+) \{/g), ([, answer]) => camel(answer!)))],
    access: { by: list('by'), reads: [...list('reads'), ...updates], writes: [...list('writes'), ...updates] },
    note: header
      .trim()
      .split('\n')
      .map((line) => line.replace(/^-- ?/, '')),
  }
}
