// Builds src/redis/lua into src/redis/scripts.generated.ts: joins what a script reaches of the files that it includes,
// gives its arguments their names, removes comments and computes the sha. It refuses what some engine would not take.
// `--check` fails when the committed file is not what would be built.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { shortenFields } from './lua-records.ts'
import { refusedIn } from './lua-rules.ts'
import { moveNames, reached, type Unit, unitsOf } from './lua-units.ts'
import { remember } from './remember.ts'

const root = join(import.meta.dirname, '../src/redis/lua')
const target = join(import.meta.dirname, '../src/redis/scripts.generated.ts')

type Source = {
  name: string
  text: string
  args: { name: string; int: boolean }[]
  includes: string[]
  note: string[]
  /** Which parts of sidejob call it, and the first words of the keys that it may touch. */
  access: { by: string[]; reads: string[]; writes: string[] }
}

/** A part that scripts include: its units, of which a script has those that it reaches, and the names that it gives to others. */
type Part = { exported: string[]; units: Unit[] }

const read = (path: string): string => readFileSync(path, 'utf8')
const names = (text: string): string[] => text.split(',').map((n) => n.trim())
/** The Lua files below a folder, by their paths from `root`. */
const luaFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => join(folder, file))
    .sort()
/** Those that are sent to Redis, in the order of their names. */
const scriptFiles = (): string[] =>
  [...luaFiles('scripts'), ...luaFiles('queries')].sort((a, b) => (basename(a) < basename(b) ? -1 : 1))

/** A line of a header that lists something. */
function listed(file: string, header: string, line: string): string[] {
  const found = new RegExp(`^-- ${line}: (.*)$`, 'm').exec(header)?.[1]
  if (!found) throw new Error(`${file}: the header has no "-- ${line}:" line`)
  return found === 'none' ? [] : names(found)
}

/** The header of a script is its signature: `-- args: ns, seq:int, ...`. */
function parse(file: string, text: string): Source {
  const header = /^(--.*\n)+/.exec(text)?.[0] ?? ''
  const list = (line: string) => listed(file, header, line)
  return {
    name: basename(file, '.lua'),
    text: text.slice(header.length),
    args: list('args')
      .filter((name) => name !== '...')
      .map((name) => ({ name: name.replace(':int', ''), int: name.endsWith(':int') })),
    access: { by: list('by'), reads: list('reads'), writes: list('writes') },
    includes: [...text.matchAll(/^-- @include lib\/([\w/]+)$/gm)].map((found) => found[1]!),
    note: header
      .trim()
      .split('\n')
      .map((line) => line.replace(/^-- ?/, '')),
  }
}

const uncomment = (text: string): string => text.replace(/^\s*--.*$/gm, '').replace(/\s--\s.*$/gm, '')
const tighten = (text: string): string => text.replace(/^\s+/gm, '').replace(/\n{2,}/g, '\n')

const topNames = (text: string): string[] =>
  [...text.matchAll(/^local (?:function (\w+)|([\w, ]+?)(?: =.*)?$)/gm)].flatMap((found) =>
    found[1] ? [found[1]] : names(found[2]!),
  )

/** How often a text says each name, as a name of its own: not as a field, nor as a text. */
const namesIn = remember((text) => {
  const found = new Map<string, number>()
  for (const [name] of text.matchAll(/(?<![.\w'])[A-Za-z_]\w*(?![\w'])/g)) found.set(name, (found.get(name) ?? 0) + 1)
  return found
})
const timesIn = (texts: readonly string[], name: string): number =>
  texts.reduce((sum, text) => sum + (namesIn(text).get(name) ?? 0), 0)
const uses = (text: string, name: string): boolean => namesIn(text).has(name)

/** The tables that get fields in a text. */
const tablesIn = remember(
  (text) => new Set([...text.matchAll(/^(?:function (\w+)\.|(\w+)\.\w+ = )/gm)].map(([, a, b]) => (a ?? b)!)),
)

// Lua allows 200 locals in a chunk: each part is a block of its own, and only what others use is declared outside.
function makePart(part: string, others: readonly string[]): { exported: string[]; text: string } {
  const exported = topNames(part).filter((name) => others.some((other) => uses(other, name)))
  let text = part
  for (const name of exported) text = text.replace(new RegExp(`^local function ${name}\\b`, 'm'), `function ${name}`)
  text = text.replace(/^local ([\w, ]+?)( =.*)?$/gm, (line, list: string, value = '') => {
    const all = names(list)
    if (!all.some((name) => exported.includes(name))) return line
    const inner = all.filter((name) => !exported.includes(name))
    if (value && inner.length) return `local ${inner.join(', ')}\n${list}${value}`
    return value ? `${list}${value}` : inner.length ? `local ${inner.join(', ')}` : ''
  })
  return { exported, text: tighten(`${text}\n`) }
}

/** Of two functions of one name, in parts that a script includes, one would take the place of the other without a word. */
function refuseTwins(script: string, parts: { name: string; exported: string[]; text: string }[]): void {
  const declared = parts.flatMap(({ name: part, exported, text }) =>
    exported.filter((name) => text.includes(`function ${name}(`)).map((name) => ({ name, part: `lib/${part}.lua` })),
  )
  for (const [name, twins] of Map.groupBy(declared, (one) => one.name))
    if (twins.length > 1)
      throw new Error(
        `${script}.lua: expected one function ${name}, got those of ${twins.map((one) => one.part).join(' and ')}`,
      )
}

// A function has 200 registers in some Luas, for its locals and for what it computes; a third of them stays free.
const NEAR = 90

/** The names that share one table, because there are too many of them for locals: those that are used least, and no tables. */
function farNames(parts: { exported: string[]; text: string }[], bodies: string[]): Set<string> {
  const code = [...parts.map(({ text }) => text), ...bodies]
  const often = (name: string): number => timesIn(code, name)
  const isTable = (name: string): boolean => code.some((text) => tablesIn(text).has(name))
  const all = parts
    .flatMap(({ exported }) => exported)
    .map((name) => ({ name, often: isTable(name) ? Number.POSITIVE_INFINITY : often(name) }))
  return new Set(
    all
      .sort((a, b) => b.often - a.often)
      .slice(NEAR)
      .map(({ name }) => name),
  )
}

/** What a script reaches of one part. */
type Piece = { part: string; exported: string[]; units: number[]; text: string }

/** What a script reaches of the parts that it includes. */
function piecesOf({ text, includes }: Source, parts: Map<string, Part>): Piece[] {
  const all = includes.map((part) => ({ part, ...parts.get(part)! }))
  const live = reached(
    all.flatMap(({ units }) => units),
    text,
  )
  return all.map(({ part, exported, units }) => {
    const kept = [...units.keys()].filter((at) => live.has(units[at]!))
    const text = kept.map((at) => units[at]!.text).join('')
    return { part, exported: exported.filter((one) => uses(text, one)), units: kept, text }
  })
}

/** The names that the pieces of one script share: of those that some script wants, the ones that are used in this one. */
function sharedIn({ name, text }: Source, pieces: Piece[]): Set<string> {
  const usedBeside = (part: string, one: string): boolean =>
    [text, ...pieces.filter((other) => other.part !== part).map((other) => other.text)].some((by) => uses(by, one))
  const shared = pieces.flatMap(({ part, exported }) => exported.filter((one) => usedBeside(part, one)))
  const twice = shared.find((one, at) => shared.indexOf(one) !== at)
  if (twice) throw new Error(`${name}: two of its parts share the name ${twice}: rename one`)
  if (shared.length > 180) throw new Error(`${name}: ${shared.length} shared names; Lua allows 200 locals`)
  // Lua looks a captured local up from the last one declared: those that most functions use come last.
  const code = [text, ...pieces.map((piece) => piece.text)]
  const often = new Map(shared.map((one) => [one, timesIn(code, one)]))
  return new Set(shared.toSorted((a, b) => often.get(a)! - often.get(b)!))
}

// A function has 200 locals of its own, but may use only 60 names from outside; a block shares the 200 of its chunk.
const OUTSIDE = 60

/** What stands around a part: a function where it may be one, else a block. What nobody else uses stays inside. */
function scopeOf({ exported, text }: Piece, { args }: Source, shared: Set<string>): Scope {
  const inner = exported.filter((name) => !shared.has(name))
  const outside = ['at', 'far', ...args.map(({ name }) => name), ...shared].filter((name) => uses(text, name))
  const [open, end] = outside.length > OUTSIDE ? ['do', 'end'] : [';(function()', 'end)()']
  return { open: `${open}\n${inner.length ? `local ${inner.join(', ')}\n` : ''}`, end: `${end}\n` }
}

function headOf({ args }: Source, shared: Set<string>): string {
  const declared = args.map((arg) => arg.name).join(', ')
  const values = args.map(({ int }, i) => (int ? `tonumber(ARGV[${i + 1}])` : `ARGV[${i + 1}]`)).join(', ')
  const names = shared.size > 0 ? [`local ${[...shared].join(', ')}`] : []
  return [`local ${declared} = ${values}`, `local at = ${args.length}`, ...names, 'local far = {}', ''].join('\n')
}

type Scope = { open: string; end: string }

/** A built script: what is sent to Redis is `head`, its parts, each in a scope of its own, and `body`. */
export type Built = {
  source: Source
  head: string
  pieces: Piece[]
  scopes: Scope[]
  body: string
  text: string
  sha: string
}

/**
 * Builds all scripts. `edit` may change a file's text before: that is how tests take a rule out.
 *
 * @example buildScripts((file, text) => text).scripts.get('commit').sha
 */
export function buildScripts(edit: (file: string, text: string) => string = (_, text) => text) {
  const sources = scriptFiles().map((file) => {
    const source = parse(file, edit(file, read(join(root, file))))
    return { ...source, text: shortenFields(file, uncomment(source.text)) }
  })
  const libs = luaFiles('lib').map((file) => ({
    name: file.slice('lib/'.length, -'.lua'.length),
    text: shortenFields(file, uncomment(edit(file, read(join(root, file))))),
  }))
  const whole = libs.map(({ name, text }) => {
    const others = [...libs.filter((lib) => lib.name !== name), ...sources].map((one) => one.text)
    return { name, ...makePart(text, others) }
  })
  for (const { name, includes } of sources)
    refuseTwins(
      name,
      whole.filter((part) => includes.includes(part.name)),
    )
  const bodies = sources.map(({ text }) => text)
  const far = farNames(whole, bodies)
  for (const [i, source] of sources.entries()) source.text = moveNames(bodies[i]!, far, 'far')
  const parts = new Map<string, Part>()
  for (const { name, exported, text } of whole)
    parts.set(name, {
      exported: exported.filter((one) => !far.has(one)),
      units: unitsOf(moveNames(text, far, 'far')),
    })
  const scripts = new Map<string, Built>()
  for (const source of sources) {
    const pieces = piecesOf(source, parts).filter((piece) => piece.text)
    const shared = sharedIn(source, pieces)
    const head = headOf(source, shared)
    const scopes = pieces.map((piece) => scopeOf(piece, source, shared))
    // A function of its own: the 200 locals of the chunk are the shared names'.
    const body = tighten(`return (function()\n${source.text}\nend)()\n`)
    const blocks = pieces.map(({ text }, i) => `${scopes[i]!.open}${text}${scopes[i]!.end}`)
    const text = [head, ...blocks, body].join('')
    const sha = createHash('sha1').update(text).digest('hex')
    scripts.set(source.name, { source, head, pieces, scopes, body, text, sha })
  }
  return { parts, scripts }
}

function emit({ source, head, pieces, scopes, body, sha }: Built): string {
  const type = source.args.map(({ name, int }) => `${name}: ${int ? 'number' : 'string'}`).join('; ')
  const blocks = pieces.map(({ part, units }, i) => {
    const { open, end } = scopes[i]!
    return `${JSON.stringify(open)}, of('${part}', '${ranges(units)}'), ${JSON.stringify(end)}`
  })
  const note = source.note.map((line) => ` * ${line}`.trimEnd()).join('\n')
  return [
    `/**\n${note}\n */`,
    `export const ${source.name}: Script<{ ${type} }> = {`,
    `  name: '${source.name}',`,
    `  sha: '${sha}',`,
    `  args: [${source.args.map(({ name }) => `'${name}'`).join(', ')}],`,
    `  text: [${[JSON.stringify(head), ...blocks, JSON.stringify(body)].join(', ')}].join(''),`,
    '}',
  ].join('\n')
}

/** Places as text, those that follow each other as from-to: `0-3 5`. */
function ranges(places: number[]): string {
  const runs: [number, number][] = []
  for (const at of places) {
    const last = runs.at(-1)
    if (last?.[1] === at - 1) last[1] = at
    else runs.push([at, at])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ')
}

/** How the generated module picks the units of a part. */
const picking = `const of = (part: keyof typeof lib, places: string): string =>
  places
    .split(' ')
    .flatMap((run) => {
      const [from, to = from] = run.split('-').map(Number)
      return lib[part].slice(from, to! + 1)
    })
    .join('')
`

function moduleText(): string {
  const { parts, scripts } = buildScripts()
  return [
    '// Built from src/redis/lua by `npm run lua`. Do not edit.',
    '',
    "import type { Script } from './script.ts'",
    '',
    'const lib = {',
    ...[...parts].map(([name, { units }]) => `  '${name}': ${JSON.stringify(units.map(({ text }) => text))},`),
    '}',
    '',
    picking,
    [...scripts.values()].map(emit).join('\n\n'),
    '',
  ].join('\n')
}

/** Every place of the scripts that some engine would not take, with its line. */
export const refusedScripts = (): string[] =>
  luaFiles('.')
    .flatMap((file) => refusedIn(file, read(join(root, file))))
    .map(({ file, line, says }) => `src/redis/lua/${file}:${line}: ${says}`)

function main(): void {
  const refused = refusedScripts()
  if (refused.length) {
    console.error(refused.join('\n'))
    process.exit(1)
  }
  const output = moduleText()
  if (!process.argv.includes('--check')) {
    writeFileSync(target, output)
    console.log(`${Math.round(output.length / 1024)} KiB of scripts`)
  } else if (read(target) !== output) {
    console.error('src/redis/scripts.generated.ts is not what src/redis/lua says: run `npm run lua` and commit it')
    process.exit(1)
  }
}

if (import.meta.main) main()
