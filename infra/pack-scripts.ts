// Makes the scripts of the package small: in the repository they are text that can be read; in `dist` they are compressed,
// all together, because they share most of what they say. A text is wanted only when Redis does not know its script yet,
// so an isolate that begins unpacks nothing. Maps of what a program has written say nothing, and are left out.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Script } from '../src/redis/script.ts'

const dist = join(import.meta.dirname, '../dist')
const target = join(dist, 'src/redis/scripts.generated.js')

/** The window is larger than all texts, so that what a script shares with the first is found. */
const WINDOW = 24

function compressed(text: string): string {
  const params = { [constants.BROTLI_PARAM_LGWIN]: WINDOW, [constants.BROTLI_PARAM_LARGE_WINDOW]: 0 }
  return brotliCompressSync(text, { params }).toString('base64')
}

/**
 * A module that exports the same scripts as those given.
 *
 * @example packedModule(Object.values(await import('../src/redis/scripts.generated.ts')))
 */
export function packedModule(scripts: readonly Script<never>[]): string {
  // What the largest says the others say too, and texts are like texts only: so less is left to say.
  const sorted = scripts.toSorted((a, b) => b.text.length - a.text.length)
  const packed = compressed(JSON.stringify([sorted.map(({ text }) => text), sorted.map(({ lines }) => lines)]))
  return [
    "import { Buffer } from 'node:buffer'",
    "import { brotliDecompressSync } from 'node:zlib'",
    `const packed = '${packed}'`,
    'let unpacked',
    "const of = (what, at) => (unpacked ??= JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()))[what][at]",
    ...sorted.map(
      ({ name, sha, args }, at) =>
        `export const ${name} = { name: '${name}', sha: '${sha}', args: '${args.join(' ')}'.split(' '), get text() { return of(0, ${at}) }, get lines() { return of(1, ${at}) } }`,
    ),
    '',
  ].join('\n')
}

const TABLES = 'export const jobFields'

/**
 * The tables of fields without what each field says: docs/keys.md has that, and no program reads it.
 *
 * @example withoutNotes("export const jobFields = {\n  queue: ['q', 'its queue'],\n}") // … queue: ['q', ''],
 */
export function withoutNotes(text: string): string {
  const from = text.indexOf(TABLES)
  if (from < 0) throw new Error(`keys.js: expected "${TABLES}"`)
  const note = /(\w+: \[\s*'\w+',\s*)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)/g
  return text.slice(0, from) + text.slice(from).replace(note, "$1''")
}

const generatedIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.generated.js'))
    .map((file) => join(folder, file))

function dropMap(file: string): void {
  rmSync(`${file}.map`, { force: true })
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
}

if (import.meta.main) {
  const scripts = Object.values((await import(target)) as Record<string, Script<never>>)
  const text = packedModule(scripts)
  writeFileSync(target, text)
  const keys = join(dist, 'src/redis/keys.js')
  writeFileSync(keys, withoutNotes(readFileSync(keys, 'utf8')))
  for (const file of [...generatedIn(dist), keys]) dropMap(file)
  console.log(`${Math.round(text.length / 1024)} KiB of scripts, compressed`)
}
