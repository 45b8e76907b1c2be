// Builds src/redis/lua into src/redis/scripts.generated.ts: joins what a script reaches of the modules that it requires, gives
// its arguments their names, makes it small and computes the sha. It refuses what some engine would not take.
// `--check` fails when the committed file is not what would be built.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { listAnswers } from './lua-answers.ts'
import { callsIn, circlesIn } from './lua-depth.ts'
import { type Group, isField, type Library, libraryOf, reached, shortened } from './lua-library.ts'
import { inMakers, innerOf, type Kept, makersOf } from './lua-makers.ts'
import { type Given, headOf, type Module, type Unit, type Use, usesOfScript } from './lua-modules.ts'
import type { Place } from './lua-names.ts'
import { shortenFields } from './lua-records.ts'
import { refusedIn } from './lua-rules.ts'
import { edited, type Piece, squeeze } from './lua-squeeze.ts'
import { readArguments } from './lua-words.ts'

const root = join(import.meta.dirname, '../src/redis/lua')
const target = join(import.meta.dirname, '../src/redis/scripts.generated.ts')

/** A script as it is written, and what its header says. */
type Source = {
  name: string
  file: string
  text: string
  args: { name: string; int: boolean }[]
  note: string[]
  /** Which parts of sidejob call it, and the first words of the keys that it may touch. */
  access: { by: string[]; reads: string[]; writes: string[] }
  /** Which modules, and members of them, it leaves to another script of the same text. */
  left?: { to: string; what: string[] }
}

const read = (path: string): string => readFileSync(path, 'utf8')
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
  return found === 'none' ? [] : found.split(',').map((name) => name.trim())
}

/** `-- left to commit_verbs: run/ops, run/retry.release`: what the other script has, and this one never comes to. */
function leftIn(file: string, header: string): Source['left'] {
  const to = /^-- left to (\w+): /m.exec(header)?.[1]
  return to ? { to, what: listed(file, header, `left to ${to}`) } : undefined
}

/** Without comments, with short fields, and with verbs that read what they take; every line stays where it is. */
const cleaned = (file: string, text: string): string =>
  shortenFields(
    file,
    listAnswers(file, readArguments(file, text))
      .replace(/^\s*--.*$/gm, (line) => line.replace(/\S.*/, ''))
      .replace(/\s--\s.*$/gm, ''),
  )

/** The header of a script is its signature: `-- args: ns, seq:int, ...`. */
function parse(file: string, text: string): Source {
  const header = /^(--.*\n)+/.exec(text)?.[0] ?? ''
  const list = (line: string) => listed(file, header, line)
  return {
    name: basename(file, '.lua'),
    file,
    text: cleaned(file, text),
    args: list('args')
      .filter((name) => name !== '...')
      .map((name) => ({ name: name.replace(':int', ''), int: name.endsWith(':int') })),
    access: { by: list('by'), reads: list('reads'), writes: list('writes') },
    left: leftIn(file, header),
    note: header
      .trim()
      .split('\n')
      .map((line) => line.replace(/^-- ?/, '')),
  }
}

/** A script that leaves something to another one, and that: the same, with everything. */
const bothOf = ({ left, ...source }: Source): Source[] =>
  left
    ? [
        { ...source, left },
        { ...source, name: left.to },
      ]
    : [source]

// ---- one script --------------------------------------------------------------------------------------------------------

/** A text of the builder, the script's own, or statements of a module. */
type Part = string | { text: string; lines: number[] } | { module: string; units: Unit[] }

/** A built script; `closures` are made at each call, before anything is done, and `locals` are those of all of it. */
export type Built = { source: Source; parts: Part[]; text: string; sha: string; closures: number; locals: number }

/** What is used outside of its group, and not a field: the more often, the later it is declared, for Lua looks from there. */
function sharedIn(body: readonly Use[], kept: readonly Kept[], { groupOf, nameOf }: Library): Given[] {
  const often = new Map<Given, number>()
  const note = ({ symbol }: Use, from?: Group): void => {
    if (symbol.constant !== undefined || symbol.module === '' || isField(nameOf.get(symbol)!)) return
    if (groupOf.get(symbol) !== from) often.set(symbol, (often.get(symbol) ?? 0) + 1)
  }
  for (const use of body) note(use)
  for (const { group, units } of kept) for (const unit of units) for (const use of unit.uses) note(use, group)
  return [...often].sort((a, b) => a[1] - b[1]).map(([symbol]) => symbol)
}

const declare = (names: readonly string[], values: readonly string[] = []): string =>
  names.length ? `local ${names.join(',')}${values.length ? `=${values.join(',')}` : ''}\n` : ''

/** Fields are made by groups when the first of them is wanted, by the maker of that group: `L[group](group)`. */
const FIELDS = 'local L\nlocal F=setmetatable({},{__index=function(e,t)local a=t:sub(2)L[a](a)return rawget(e,t)end})\n'

type Making = { shared: ReadonlySet<Given>; library: Library }

/** The statements of a group, behind what it declares for itself. */
function bodyOf(kept: Kept, { shared, library }: Making): Part[] {
  const units = kept.units.filter((unit) => library.pieces.get(unit)!.text)
  const inner = declare(innerOf(kept, shared, library).map((symbol) => library.nameOf.get(symbol)!))
  return [inner, ...(units.length ? [{ module: units[0]!.module, units }] : [])]
}

/** The letter of a group as a key of a table. */
const keyOf = ({ letter }: Group): string => (/^[A-Za-z]$/.test(letter) ? letter : `['${letter}']`)

/** The makers of the groups that are not always made, and the table of who makes which. */
function late(groups: readonly Kept[], making: Making): Part[] {
  const makers = makersOf(groups, making.shared, making.library)
  // No name that is shared begins so.
  const nameOfMaker = (n: number): string => `_${n}`
  const made = makers.flatMap((kept, n): Part[] => [
    `local function ${nameOfMaker(n)}(e)\n`,
    ...kept.flatMap((one, i): Part[] => [
      `${i > 0 ? 'else' : ''}if e=='${one.group.letter}'then\n`,
      ...bodyOf(one, making),
    ]),
    'end\nend\n',
  ])
  const rows = makers.flatMap((kept, n) => kept.map(({ group }) => `${keyOf(group)}=${nameOfMaker(n)}`))
  return ['do\n', ...made, `L={${rows.join(',')}}\n`, 'end\n']
}

/** What each call makes. */
const always = (groups: readonly Kept[], making: Making): Part[] =>
  inMakers(groups, making.shared, making.library).flatMap((kept) => [
    ';(function()\n',
    ...kept.flatMap((one) => bodyOf(one, making)),
    'end)()\n',
  ])

/** The statements that a script leaves to another one. */
function leftBy({ file, left }: Source, { modules }: Library): Set<Unit> {
  const units = modules.flatMap((module) => module.units)
  const found = (left?.what ?? []).flatMap((what) => {
    const [path, member] = what.split('.')
    const of = units.filter(
      ({ module, gives }) => module === path && (!member || gives.some(({ name }) => name === member)),
    )
    if (of.length === 0) throw new Error(`${file}: expected a module of lib, or what it gives, got ${what}`)
    return of
  })
  return new Set(found)
}

/** What a script has of the library: the groups with the statements that it reaches. */
function keptOf(source: Source, uses: readonly Use[], library: Library): Kept[] {
  const live = reached(uses, library, leftBy(source, library))
  return library.groups
    .map((group) => ({ group, units: group.units.filter((unit) => live.has(unit) && library.pieces.has(unit)) }))
    .filter(({ units }) => units.length > 0)
}

/** What is declared at the beginning of a script: its arguments, what it has of Lua's own, what its parts share. */
function headOfScript({ args }: Source, shared: readonly Given[], ofLua: readonly Given[], library: Library): string {
  const { nameOf } = library
  const argNames = library.argNames(args)
  const values = args.map(({ int }, i) => (int ? `tonumber(ARGV[${i + 1}])` : `ARGV[${i + 1}]`))
  const names = (symbols: readonly Given[]): string[] => symbols.map((symbol) => nameOf.get(symbol)!)
  return [
    declare(
      args.map(({ name }) => argNames.get(name)!),
      values,
    ),
    declare([argNames.get('at')!], [`${args.length}`]),
    declare(
      names(ofLua),
      ofLua.map(({ name }) => name),
    ),
    declare(names(shared)),
  ].join('')
}

/** The script's own statements; what it requires is known by its uses. */
function ownOf({ text, args }: Source, places: readonly Place[], uses: readonly Use[], library: Library): Piece {
  const requires = text.slice(0, headOf(text).rest[0]!.range[0])
  const edits = shortened(places, uses, library.nameOf, library.argNames(args))
  return squeeze(edited(text, [...edits, { start: 0, end: requires.length, text: requires.replace(/.+/g, '') }]), 1)
}

function buildScript(source: Source, library: Library): Built {
  const { places, uses } = usesOfScript(source.file, source.text, membersOf(library))
  const kept = keptOf(source, uses, library)
  const shared = sharedIn(uses, kept, library)
  const all = [uses, ...kept.flatMap(({ units }) => units.map((unit) => unit.uses))].flat()
  const ofLua = [...new Set(all.map(({ symbol }) => symbol))].filter(({ module }) => module === '')
  const head = headOfScript(source, shared, ofLua, library)
  const making = { shared: new Set(shared), library }
  const [first, later] = [kept.filter(({ group }) => group.isAlways), kept.filter(({ group }) => !group.isAlways)]
  const hasFields = all.some(({ symbol }) => isField(library.nameOf.get(symbol) ?? ''))
  const blocks = [
    ...(hasFields ? [FIELDS] : []),
    ...(later.length ? late(later, making) : []),
    ...always(first, making),
  ]
  const own = ownOf(source, places, uses, library)
  // A function of its own: the 200 locals of the chunk are the shared names'.
  const parts = joined([head, ...blocks, 'return(function()\n', { ...own, text: `${own.text}\n` }, 'end)()\n'])
  const text = parts.map((part) => textOf(part, library)).join('')
  const functions = first.flatMap(({ units }) => units.filter(({ isFunction }) => isFunction)).length
  const makers = makersOf(later, making.shared, library).length + inMakers(first, making.shared, library).length
  return {
    source,
    parts,
    text,
    sha: createHash('sha1').update(text).digest('hex'),
    closures: functions + makers + 2,
    locals: source.args.length + ofLua.length + shared.length + 3,
  }
}

/** Texts of the builder that follow each other as one. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (typeof part === 'string' && typeof last === 'string') all[all.length - 1] = last + part
    else if (part !== '') all.push(part)
  }
  return all
}

const membersOf = ({ modules }: Library): Map<string, Module> => new Map(modules.map((module) => [module.path, module]))

function textOf(part: Part, { pieces }: Library): string {
  if (typeof part === 'string') return part
  return 'units' in part ? part.units.map((unit) => `${pieces.get(unit)!.text}\n`).join('') : part.text
}

/**
 * Builds all scripts. `edit` may change a file's text before: that is how tests take a rule out.
 *
 * @example buildScripts((file, text) => text).scripts.get('commit').sha
 */
export function buildScripts(edit: (file: string, text: string) => string = (_, text) => text) {
  const files = new Map<string, string>()
  const always = new Set<string>()
  for (const file of luaFiles('lib')) {
    const text = edit(file, read(join(root, file)))
    if (!/^-- Made when first called\.$/m.test(text)) always.add(file.slice('lib/'.length, -'.lua'.length))
    files.set(file, cleaned(file, text))
  }
  const sources = scriptFiles()
    .map((file) => parse(file, edit(file, read(join(root, file)))))
    .flatMap(bothOf)
  const library = libraryOf(files, always)
  return { library, scripts: new Map(sources.map((source) => [source.name, buildScript(source, library)])) }
}

// ---- the generated module ----------------------------------------------------------------------------------------------

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

const LONGEST_STEP = 35

/** Lines as text: the first, and by how much each goes on from the one before, as a digit or a letter. */
function steps([first = 1, ...others]: readonly number[]): string {
  let last = first
  const letters = others.map((line) => {
    const step = Math.min(LONGEST_STEP, line - last)
    last += step
    return step.toString(36)
  })
  return `${first} ${letters.join('')}`
}

const written = (text: string, lines: readonly number[], file?: string): string =>
  `{ text: ${JSON.stringify(text)}, ${file ? `file: '${file}', ` : ''}lines: '${steps(lines)}' }`

const unitsOf = (module: Module, { pieces }: Library): Unit[] => module.units.filter((unit) => pieces.get(unit)?.text)

function emit({ source, parts, sha }: Built, library: Library): string {
  const type = source.args.map(({ name, int }) => `${name}: ${int ? 'number' : 'string'}`).join('; ')
  const modules = membersOf(library)
  const shown = parts.map((part) => {
    if (typeof part === 'string') return `{ text: ${JSON.stringify(part)} }`
    if ('text' in part) return written(part.text, part.lines, source.file)
    const all = unitsOf(modules.get(part.module)!, library)
    return `...of('${part.module}', '${ranges(part.units.map((unit) => all.indexOf(unit)))}')`
  })
  const note = source.note.map((line) => ` * ${line}`.trimEnd()).join('\n')
  return [
    `/**\n${note}\n */`,
    `export const ${source.name}: Script<{ ${type} }> = made({`,
    `  name: '${source.name}',`,
    `  sha: '${sha}',`,
    `  args: [${source.args.map(({ name }) => `'${name}'`).join(', ')}],`,
    `  pieces: [${shown.join(', ')}],`,
    '})',
  ].join('\n')
}

function moduleText(): string {
  const { library, scripts } = buildScripts()
  const row = (module: Module): string => {
    const pieces = unitsOf(module, library).map((unit) => library.pieces.get(unit)!)
    return `  '${module.path}': [${pieces.map(({ text, lines }) => written(`${text}\n`, lines)).join(', ')}],`
  }
  return [
    '// Built from src/redis/lua by `npm run lua`. Do not edit.',
    '',
    "import { made, type Piece, picked, type Script } from './script.ts'",
    '',
    'const lib = {',
    ...library.modules.map(row),
    '}',
    '',
    'const of = (module: keyof typeof lib, places: string): Piece[] => picked(lib[module], module, places)',
    '',
    [...scripts.values()].map((built) => emit(built, library)).join('\n\n'),
    '',
  ].join('\n')
}

/** A script's own function has 200 registers in some Luas. */
const MOST_SHARED = 150

/** Every place of the scripts that some engine would not take, with its line. `edit` is that of `buildScripts`. */
export function refusedScripts(edit: (file: string, text: string) => string = (_, text) => text): string[] {
  const textOf = (file: string): string => edit(file, read(join(root, file)))
  const ofFiles = luaFiles('.').flatMap((file) => refusedIn(file, textOf(file)))
  const { library, scripts } = buildScripts(edit)
  const circles = circlesIn(callsIn(library), (module) => textOf(`lib/${module}.lua`))
  const full = [...scripts.values()].flatMap(({ source: { file }, locals }) =>
    locals > MOST_SHARED
      ? [{ file, line: 1, says: `${locals} names are shared: expected at most ${MOST_SHARED}` }]
      : [],
  )
  return [...ofFiles, ...circles, ...full].map(({ file, line, says }) => `src/redis/lua/${file}:${line}: ${says}`)
}

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
