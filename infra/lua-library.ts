// What the modules become, whatever script they are part of: the short names of what they give, and their statements with
// those. What every call needs is a local of the script, or a field of one table, `F`, where few places use it. What few
// calls need are fields of `F` too: asked for one that it has not, it makes all functions of its group. Fields are numbers,
// and those of a group follow each other: in the vendor's Lua to set a field by a number takes a tenth of what a name takes.

import { type Given, handyNames, type Module, modulesOf, type Unit, type Use } from './lua-modules.ts'
import type { Node, Place } from './lua-names.ts'
import { type Edit, edited, nameOfShared, type Piece, shortLocals, squeeze } from './lua-squeeze.ts'

/**
 * Functions that are made together: at each call, or when the first of them is called; apart are those that few calls need of
 * what they need of a module. Their fields are below `end`.
 */
export type Group = { isAlways: boolean; isApart: boolean; end: number; units: Unit[] }

export type Library = {
  modules: Module[]
  /** Of each symbol of a module, the statement that gives it. */
  unitOf: ReadonlyMap<Given, Unit>
  /** Of each table, the statements that set members of it. */
  added: ReadonlyMap<Given, Unit[]>
  groups: Group[]
  groupOf: ReadonlyMap<Given, Group>
  nameOf: ReadonlyMap<Given, string>
  /** The short names of a script's arguments. */
  argNames: (args: readonly { name: string }[]) => Map<string, string>
  pieces: ReadonlyMap<Unit, Piece>
}

// A function may use 60 names from outside, of which some are free for the script.
const OUTSIDE = 50

const BASIC = ['ns', 'clock', 'seed', 'at']
/** Of those the first is used everywhere, the others in one or two places. */
const OFTEN = 1

export const isField = (name: string): boolean => name.startsWith('F[')

type Units = Pick<Library, 'unitOf' | 'added'>

/** Values that must be there from the beginning: those that others use, and what they are made of. */
function earlyIn(module: Module, { unitOf, added }: Units): Set<Unit> {
  const found = new Set<Unit>()
  const add = (unit: Unit | undefined): void => {
    if (!unit || found.has(unit) || unit.module !== module.path || unit.isFunction) return
    found.add(unit)
    for (const { symbol } of unit.uses) add(unitOf.get(symbol))
    for (const symbol of unit.gives) for (const one of added.get(symbol) ?? []) found.add(one)
  }
  for (const unit of module.units) if (unit.gives.some(({ isMember }) => isMember)) add(unit)
  return found
}

const usedFromOutside = ({ uses, module }: Unit): Given[] =>
  uses.map(({ symbol }) => symbol).filter((one) => one.module !== module || one.isMember)

/** Some statements in as few parts as functions allow that make them. */
function parted(units: readonly Unit[]): Unit[][] {
  const parts: { units: Unit[]; outside: Set<Given> }[] = []
  for (const unit of units) {
    const last = parts.at(-1)
    const outside = new Set([...(last?.outside ?? []), ...usedFromOutside(unit)])
    if (last && outside.size <= OUTSIDE) {
      last.units.push(unit)
      last.outside = outside
    } else parts.push({ units: [unit], outside: new Set(usedFromOutside(unit)) })
  }
  return parts.map((part) => part.units)
}

/** What headers say of modules, by their paths: whether each call makes them, and which of their functions are made apart. */
export type Headers = ReadonlyMap<string, { isAlways: boolean; isOften?: boolean; apart: readonly string[] }>

/** The functions of a module that its header names, and the values that they alone use. */
function apartIn({ path, file, units }: Module, headers: Headers): Set<Unit> {
  const apart = new Set<Unit>()
  for (const name of headers.get(path)?.apart ?? []) {
    const unit = units.find(({ isFunction, gives }) => isFunction && gives.some((one) => one.name === name))
    if (!unit) throw new Error(`${file}: expected a function of the module that is made apart, got ${name}`)
    apart.add(unit)
  }
  const usersOf = (unit: Unit): Unit[] =>
    units.filter((one) => one !== unit && one.uses.some(({ symbol }) => unit.gives.includes(symbol)))
  for (const unit of units.filter(({ isFunction }) => !isFunction).toReversed()) {
    const users = usersOf(unit)
    const isTheirs = users.length > 0 && users.every((one) => apart.has(one))
    if (isTheirs && !unit.gives.some(({ isMember }) => isMember)) apart.add(unit)
  }
  // Its group would be made later, and set it to what it was at first.
  for (const { line, uses, gives } of apart)
    for (const { symbol, place } of uses)
      if (
        place.isTarget &&
        !place.field &&
        !gives.includes(symbol) &&
        ![...apart].some((one) => one.gives.includes(symbol))
      )
        throw new Error(`${file}:${line}: expected that what is made apart sets no ${symbol.name} of the others`)
  return apart
}

function groupsOf(modules: readonly Module[], headers: Headers, units: Units): Group[] {
  const groups = modules.flatMap((module): Group[] => {
    const apart = apartIn(module, headers)
    const early = headers.get(module.path)?.isAlways ? new Set(module.units) : earlyIn(module, units)
    const those = (is: (unit: Unit) => boolean): Unit[] => module.units.filter(is)
    const first = those((unit) => early.has(unit) && !apart.has(unit))
    const late = (list: Unit[], isApart: boolean): Group[] =>
      parted(list).map((part) => ({ isAlways: false, isApart, end: 0, units: part }))
    return [
      ...(first.length ? [{ isAlways: true, isApart: false, end: 0, units: first }] : []),
      ...late(
        those((unit) => !early.has(unit) && !apart.has(unit)),
        false,
      ),
      ...late(
        those((unit) => apart.has(unit)),
        true,
      ),
    ]
  })
  const often = ({ units }: Group): boolean => headers.get(units[0]!.module)?.isOften === true
  // Who makes a group is found by going through those before it.
  const wanted = byUse(groups).sort((a, b) => Number(often(b)) - Number(often(a)))
  return [
    ...groups.filter(({ isAlways }) => isAlways),
    ...wanted.filter(({ isApart }) => !isApart),
    ...wanted.filter(({ isApart }) => isApart),
  ]
}

/** Groups that are made when they are wanted, those first that are used most from outside. */
function byUse(groups: readonly Group[]): Group[] {
  const groupOf = new Map(
    groups.flatMap((group) => group.units.flatMap(({ gives }) => gives.map((one) => [one, group]))),
  )
  const often = new Map<Group, number>()
  for (const group of groups)
    for (const { symbol } of group.units.flatMap(({ uses }) => uses)) {
      const of = groupOf.get(symbol)
      if (of && of !== group) often.set(of, (often.get(of) ?? 0) + 1)
    }
  return groups.filter(({ isAlways }) => !isAlways).sort((a, b) => (often.get(b) ?? 0) - (often.get(a) ?? 0))
}

const symbolsOf = (units: readonly Unit[]): Given[] =>
  units.flatMap(({ gives }) => gives).filter(({ constant }) => constant === undefined)

/** How often each symbol is used, in all modules. */
function usesOf(units: readonly Unit[]): Map<Given, number> {
  const often = new Map<Given, number>()
  for (const { symbol } of units.flatMap(({ uses }) => uses)) often.set(symbol, (often.get(symbol) ?? 0) + 1)
  return often
}

/** What is used in no more places than this is a field, for whoever uses a local has to find it at each call. */
const SELDOM = 8

/** Functions, and tables that are there from the beginning: what is nothing at first cannot be a field, for it would be made. */
function mayBeField({ gives, isFunction, node }: Unit): boolean {
  const { init = [] } = node as never as { init?: { type: string }[] }
  const areTables = init.length === gives.length && init.every(({ type }) => type === 'TableConstructorExpression')
  return gives.some(({ isMember }) => isMember) && (isFunction || areTables)
}

/** Fields for what is seldom used and for what a late group gives to others, locals for everything else. */
function namesOf(groups: readonly Group[], units: readonly Unit[]): Map<Given, string> {
  const late = lateFields(groups, units)
  const often = usesOf(units)
  const others = [...handyNames(), ...symbolsOf(units)].filter((symbol) => !late.has(symbol))
  others.sort((a, b) => (often.get(b) ?? 0) - (often.get(a) ?? 0))
  const fields = new Set(units.filter(mayBeField).flatMap(({ gives }) => gives))
  const isSeldom = (symbol: Given): boolean => fields.has(symbol) && (often.get(symbol) ?? 0) <= SELDOM
  const locals = others.filter((one) => !isSeldom(one))
  const names = new Map(locals.map((symbol, i) => [symbol, nameOfShared(i + OFTEN)]))
  // Those that each call makes are first: what has a gap in it is no list.
  for (const [i, symbol] of [...others.filter(isSeldom), ...late.keys()].entries()) {
    names.set(symbol, `F[${i + 1}]`)
    const group = late.get(symbol)
    if (group) group.end = i + 2
  }
  return names
}

/** What late groups give to others, by those groups. */
function lateFields(groups: readonly Group[], units: readonly Unit[]): Map<Given, Group> {
  const fields = new Map<Given, Group>()
  for (const group of groups.filter(({ isAlways }) => !isAlways)) {
    const own = new Set(group.units)
    const wanted = new Set(
      units.filter((unit) => !own.has(unit)).flatMap(({ uses }) => uses.map(({ symbol }) => symbol)),
    )
    for (const symbol of symbolsOf(group.units)) if (symbol.isMember || wanted.has(symbol)) fields.set(symbol, group)
  }
  return fields
}

/** What a text says instead of its places: short names, and numbers. */
export function shortened(
  places: readonly Place[],
  uses: readonly Use[],
  nameOf: Library['nameOf'],
  args: ReadonlyMap<string, string>,
): Edit[] {
  const used = new Set(uses.map(({ place }) => place))
  const own = places.filter((place) => !used.has(place))
  const ofArgs = own.filter(({ binding, name }) => !binding && args.has(name))
  return [
    ...uses.map(({ symbol, place, end }) => ({
      start: place.start,
      end,
      text: symbol.constant ?? nameOf.get(symbol)!,
    })),
    ...ofArgs.map(({ start, end, name }) => ({ start, end, text: args.get(name)! })),
    ...shortLocals(own),
  ]
}

/** Where the values of a statement stand, one behind the other, with what stands around them: `(f())`. */
function valuesIn(text: string, from: number, init: readonly { range: [number, number] }[]): [number, number][] {
  const ends = init.slice(1).map(({ range }, i) => {
    const [, end] = init[i]!.range
    return end + text.slice(end - from, range[0] - from).indexOf(',')
  })
  const starts = [from + text.indexOf('=') + 1, ...ends.map((end) => end + 1)]
  return starts.map((start, i) => [start, ends[i] ?? from + text.length])
}

type Local = { variables: { range: [number, number] }[]; init: { range: [number, number] }[] }

/**
 * A statement as scripts have it: what it gives is declared elsewhere, and each name gets its value alone, for some engine
 * overwrites others where several are assigned at once.
 */
function pieceOf(unit: Unit, nameOf: Library['nameOf'], args: ReadonlyMap<string, string>): Piece {
  const { node, places, uses, text, line } = unit
  const [from] = node.range
  const edits = shortened(places, uses, nameOf, args).map((edit) => ({
    ...edit,
    start: edit.start - from,
    end: edit.end - from,
  }))
  const { variables, init } = node as never as Local
  if (node.type === 'LocalStatement') {
    if (init.length === 0) return { text: '', lines: [] }
    if (init.length === variables.length && init.length > 1) {
      const slice = ([start, end]: [number, number]): string =>
        edited(
          text.slice(start - from, end - from),
          edits
            .filter((edit) => edit.start >= start - from && edit.end <= end - from)
            .map((edit) => ({ ...edit, start: edit.start - start + from, end: edit.end - start + from })),
        )
      const values = valuesIn(text, from, init)
      return squeeze(variables.map(({ range }, i) => `${slice(range)}=${slice(values[i]!)}`).join(' '), line)
    }
  }
  return squeeze(edited(text, [...edits, ...nameless(unit, edits)]), line)
}

/** What stands before the name of a statement goes; a function that is a field is assigned. */
function nameless({ node, text, isFunction }: Unit, edits: readonly Edit[]): Edit[] {
  const { identifier, isLocal } = node as never as { identifier?: Node; isLocal?: boolean }
  const start = /^(local\s+)?function\s+/.exec(text)?.[0].length ?? 0
  if (isFunction && identifier && edits.some((edit) => edit.start === start && isField(edit.text))) {
    const end = identifier.range[1] - node.range[0]
    return [
      { start: 0, end: start, text: '' },
      { start: end, end, text: '=function' },
    ]
  }
  return node.type === 'LocalStatement' || isLocal ? [{ start: 0, end: 'local'.length, text: '' }] : []
}

const isConstant = ({ gives }: Unit): boolean =>
  gives.length > 0 && gives.every(({ constant }) => constant !== undefined)

/**
 * The library of all scripts.
 *
 * @example libraryOf(files, new Map([['runtime/time', { isAlways: true, apart: [] }]])).nameOf.get(symbol) // 'eT'
 */
export function libraryOf(files: ReadonlyMap<string, string>, headers: Headers): Library {
  const modules = modulesOf(files)
  const units = modules.flatMap((module) => module.units)
  const unitOf = new Map(units.flatMap((unit) => unit.gives.map((symbol) => [symbol, unit] as const)))
  const added = Map.groupBy(
    units.filter(({ adds }) => adds),
    ({ adds }) => adds!,
  )
  const groups = groupsOf(modules, headers, { unitOf, added })
  const groupOf = new Map(
    groups.flatMap((group) => group.units.flatMap(({ gives }) => gives.map((symbol) => [symbol, group] as const))),
  )
  const nameOf = namesOf(groups, units)
  const basic = new Map(BASIC.map((name, i) => [name, nameOfShared(i < OFTEN ? i : nameOf.size + i)]))
  const argNames: Library['argNames'] = (args) => {
    const others = args.filter(({ name }) => !basic.has(name))
    return new Map([
      ...basic,
      ...others.map(({ name }, i) => [name, nameOfShared(BASIC.length + nameOf.size + i)] as const),
    ])
  }
  const pieces = new Map(units.filter((unit) => !isConstant(unit)).map((unit) => [unit, pieceOf(unit, nameOf, basic)]))
  return { modules, unitOf, added, groups, groupOf, nameOf, argNames, pieces }
}

type Without = { left?: ReadonlySet<Unit>; idle?: ReadonlySet<Unit> }

/**
 * Of the statements of all modules, those that a script reaches by what it uses, but for those that it leaves to another;
 * by those that do nothing in it, it reaches nothing.
 */
export function reached(body: readonly Use[], { unitOf, added }: Units, { left, idle }: Without = {}): Set<Unit> {
  const live = new Set<Unit>()
  const add = (unit: Unit | undefined): void => {
    if (!unit || live.has(unit) || left?.has(unit)) return
    live.add(unit)
    if (idle?.has(unit)) return
    for (const { symbol } of unit.uses) add(unitOf.get(symbol))
    for (const symbol of unit.gives) for (const one of added.get(symbol) ?? []) add(one)
  }
  for (const { symbol } of body) add(unitOf.get(symbol))
  return live
}
