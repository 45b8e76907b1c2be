// One script: what it reaches of the modules that it requires, joined, with names for its arguments, made small.

import { createHash } from 'node:crypto'
import { type Group, isField, type Library, reached, shortened } from './lua-library.ts'
import { inMakers, innerOf, type Kept, makersOf } from './lua-makers.ts'
import { type Given, headOf, type Module, type Unit, type Use, usesOfScript } from './lua-modules.ts'
import type { Place } from './lua-names.ts'
import type { Source } from './lua-sources.ts'
import { edited, type Piece, squeeze } from './lua-squeeze.ts'

/** A text of the builder, the script's own, or statements of a module. */
type Part = string | { text: string; lines: number[] } | { module: string; units: Unit[]; isIdle?: boolean }

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

type Making = { shared: ReadonlySet<Given>; library: Library }

/** The statements of a group, behind what it declares for itself. */
function bodyOf(kept: Kept, { shared, library }: Making): Part[] {
  const units = kept.units.filter((unit) => library.pieces.get(unit)!.text)
  const inner = declare(innerOf(kept, shared, library).map((symbol) => library.nameOf.get(symbol)!))
  const { idle } = kept
  return [
    inner,
    ...(units.length ? [{ module: units[0]!.module, units }] : []),
    ...(idle.length ? [{ module: idle[0]!.module, units: idle, isIdle: true }] : []),
  ]
}

/**
 * The makers of the groups that are not always made, and who makes which: fields are made by groups when the first of them is
 * wanted, by the maker of that group.
 */
function late(groups: readonly Kept[], making: Making): Part[] {
  const makers = makersOf(groups, making.shared, making.library).map((kept) => kept.toSorted(byEnd))
  const made = makers.flatMap((kept, n): Part[] => [
    `local function ${nameOfMaker(n)}(e)\n`,
    ...kept.flatMap((one, i): Part[] => [`${i > 0 ? 'else' : ''}if e<${one.group.end} then\n`, ...bodyOf(one, making)]),
    'end\nend\n',
  ])
  const maker = whoMakes(groups.toSorted(byEnd), makers)
  return ['do\n', ...made, `setmetatable(F,{__index=function(e,t)(${maker})(t)return rawget(e,t)end})\n`, 'end\n']
}

const byEnd = (a: Kept, b: Kept): number => a.group.end - b.group.end

/** No name that is shared begins so. */
const nameOfMaker = (n: number): string => `_${n}`

/** The maker of the field `t`: `t<20 and _0 or t<31 and _1 or _0`. */
function whoMakes(groups: readonly Kept[], makers: readonly Kept[][]): string {
  const names = groups.map((one) => nameOfMaker(makers.findIndex((kept) => kept.includes(one))))
  const last = names.flatMap((name, i) => (names[i + 1] === name ? [] : [i]))
  return last.map((i) => (i < names.length - 1 ? `t<${groups[i]!.group.end} and ${names[i]}` : names[i])).join(' or ')
}

/** What each call makes. */
const always = (groups: readonly Kept[], making: Making): Part[] =>
  inMakers(groups, making.shared, making.library).flatMap((kept) => [
    ';(function()\n',
    ...kept.flatMap((one) => bodyOf(one, making)),
    'end)()\n',
  ])

/** The statements of these modules and members. */
function named(list: readonly string[], { file }: Source, { modules }: Library): Set<Unit> {
  const units = modules.flatMap((module) => module.units)
  const found = list.flatMap((what) => {
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
  const left = named(source.left?.what ?? [], source, library)
  const idle = named(source.left?.idle ?? [], source, library)
  const live = reached(uses, library, { left, idle })
  return library.groups
    .map((group) => {
      const units = group.units.filter((unit) => live.has(unit) && library.pieces.has(unit))
      return { group, units: units.filter((unit) => !idle.has(unit)), idle: units.filter((unit) => idle.has(unit)) }
    })
    .filter(({ units, idle }) => units.length + idle.length > 0)
}

/** What is declared at the beginning of a script: its arguments, what it has of Lua's own, what its parts share. */
function headOfScript({ args }: Source, shared: readonly Given[], ofLua: readonly Given[], library: Library): string {
  const { nameOf } = library
  const argNames = library.argNames(args)
  const tonumber = ofLua.find(({ name }) => name === 'tonumber')
  const number = tonumber ? nameOf.get(tonumber) : 'tonumber'
  const numbers = args.filter(({ int }) => int).map(({ name }) => argNames.get(name)!)
  const names = (symbols: readonly Given[]): string[] => symbols.map((symbol) => nameOf.get(symbol)!)
  return [
    declare(
      args.map(({ name }) => argNames.get(name)!),
      args.length ? [`unpack(ARGV,1,${args.length})`] : [],
    ),
    declare([argNames.get('at')!], [`${args.length}`]),
    declare(
      names(ofLua),
      ofLua.map(({ name }) => name),
    ),
    ...numbers.map((name) => `${name}=${number}(${name})\n`),
    declare(names(shared)),
  ].join('')
}

/** The script's own statements; what it requires is known by its uses. */
function ownOf({ text, args }: Source, places: readonly Place[], uses: readonly Use[], library: Library): Piece {
  const requires = text.slice(0, headOf(text).rest[0]!.range[0])
  const edits = shortened(places, uses, library.nameOf, library.argNames(args))
  return squeeze(edited(text, [...edits, { start: 0, end: requires.length, text: requires.replace(/.+/g, '') }]), 1)
}

export function buildScript(source: Source, library: Library): Built {
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
    ...(hasFields ? ['local F={}\n'] : []),
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

export const membersOf = ({ modules }: Library): Map<string, Module> =>
  new Map(modules.map((module) => [module.path, module]))

export function textOf(part: Part, { pieces, nameOf }: Library): string {
  if (typeof part === 'string') return part
  if ('units' in part && part.isIdle)
    return part.units.flatMap(({ gives }) => gives.map((symbol) => `${nameOf.get(symbol)}=function()end\n`)).join('')
  return 'units' in part ? part.units.map((unit) => `${pieces.get(unit)!.text}\n`).join('') : part.text
}
