// Makes the scripts of the package small: in the repository they are text that can be read; in `dist` they are compressed,
// all together, and each piece of theirs once, because they share most of them. A text is wanted only when Redis does not know its script yet,
// so an isolate that begins unpacks nothing. Maps of generated modules have no use, and maps of the dashboard are an eighth
// of the package; both are left out.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Script } from '../src/redis/script.ts'

const dist = join(import.meta.dirname, '../dist')
const target = join(dist, 'src/redis/scripts.generated.js')

/** The window is larger than all texts, so that what they share is found. */
const WINDOW = 24

function compressed(text: string): string {
  const params = { [constants.BROTLI_PARAM_LGWIN]: WINDOW, [constants.BROTLI_PARAM_LARGE_WINDOW]: 0 }
  return brotliCompressSync(text, { params }).toString('base64')
}

type Text = { text: string; lines: string }

/** A script's pieces: each its text and, behind it, where its lines stand. */
function piecesOf({ text, lines }: Text): Text[] {
  const rows = text.match(/.*\n/g) ?? []
  return lines.split('\n').map((spot) => {
    const [, , steps = ''] = spot.split(' ')
    return { text: rows.splice(0, steps.length + 1).join(''), lines: spot }
  })
}

/** Where lines stand, each told from those before it: `-` is no file. */
function relative(spots: string[]): string[] {
  let [before, line] = ['', 0]
  return spots.map((spot) => {
    const [file = '', first, steps = ''] = spot.split(' ')
    const told = `${file === before ? '' : file || '-'} ${Number(first) - line} ${steps}`
    before = file
    line = [...steps].reduce((sum, step) => sum + Number.parseInt(step, 36), Number(first))
    return told
  })
}

/** Places that follow one another, in short: `0-3 5`. */
function inRuns(places: number[]): string {
  const runs: [number, number][] = []
  for (const place of places) {
    const last = runs.at(-1)
    if (last?.[1] === place - 1) last[1] = place
    else runs.push([place, place])
  }
  return runs.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(' ')
}

/** Every piece once, where its lines stand, and which of them each script has. */
function folded(scripts: readonly Text[]): string {
  const pieces = new Map<string, Text & { place: number }>()
  const places = scripts.map((script) =>
    piecesOf(script).map((piece) => {
      const key = `${piece.lines}\n${piece.text}`
      if (!pieces.has(key)) pieces.set(key, { ...piece, place: pieces.size })
      return pieces.get(key)!.place
    }),
  )
  const once = [...pieces.values()]
  const columns = [once.map(({ text }) => text), relative(once.map(({ lines }) => lines)), places.map(inRuns)]
  return columns.map((column) => column.join('\x01')).join('\x02')
}

/** Tells text and lines of a script that `folded` was given. It goes into the package as it stands, and needs nothing else. */
function unfolded(told: string): (at: number) => string[] {
  const [texts, spots, places] = told.split('\x02').map((column) => column.split('\x01'))
  let [file, line] = ['', 0]
  const pieces = spots!.map((spot, at) => {
    const [name, ahead, steps] = spot.split(' ')
    if (name) file = name === '-' ? '' : name
    const first = line + Number(ahead)
    line = [...steps!].reduce((sum, step) => sum + Number.parseInt(step, 36), first)
    return [texts![at]!, `${file} ${first} ${steps}`]
  })
  return (at) => {
    const own = places![at]!.split(' ').flatMap((run) => {
      const [from, to = from] = run.split('-').map(Number)
      return pieces.slice(from, to! + 1)
    })
    return [own.map(([text]) => text).join(''), own.map(([, lines]) => lines).join('\n')]
  }
}

/**
 * A module that exports the same scripts as those given.
 *
 * @example packedModule(Object.values(await import('../src/redis/scripts.generated.ts')))
 */
export function packedModule(scripts: readonly Script<never>[]): string {
  // The pieces of the largest come first, in its order: most scripts have long rows of them.
  const sorted = scripts.toSorted((a, b) => b.text.length - a.text.length)
  return [
    "import { Buffer } from 'node:buffer'",
    "import { brotliDecompressSync } from 'node:zlib'",
    `const packed = '${compressed(folded(sorted))}'`,
    unfolded.toString(),
    'let tell',
    "const of = (at) => (tell ??= unfolded(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()))(at)",
    ...sorted.map(
      ({ name, sha, args }, at) =>
        `export const ${name} = { name: '${name}', sha: '${sha}', args: '${args.join(' ')}'.split(' '), get text() { return of(${at})[0] }, get lines() { return of(${at})[1] } }`,
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

/** Modules whose maps stay out of the package. */
const unmappedIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.generated\.js$|^src\/dashboard\/.*\.js$/.test(file))
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
  for (const file of [...unmappedIn(dist), keys]) dropMap(file)
  console.log(`${Math.round(text.length / 1024)} KiB of scripts, compressed`)
}
