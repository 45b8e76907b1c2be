// What the modules become, whatever script they are part of: the short names of what they give, and their statements with
// those. What every call needs is a local of the script, or a field of one table, `F`, where few places use it. What few
// calls need are fields of `F` too: asked for one that it has not, it makes all functions of its group, which the last letter
// of the name tells.

import { type Given, handyNames, type Module, modulesOf, type Unit, type Use } from './lua-modules.ts'
import type { Place } from './lua-names.ts'
import {
  type Edit,
  edited,
  letterOrDigit,
  nameOfShared,
  namesEndingIn,
  type Piece,
  shortLocals,
  squeeze,
} from './lua-squeeze.ts'

/** Functions that are made together: at each call, or when the first of them is called. */
export type Group = { isAlways: boolean; letter: string; units: Unit[] }

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

export const isField = (name: string): boolean => name.startsWith('F.')

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

function groupsOf(modules: readonly Module[], always: ReadonlySet<string>, units: Units): Group[] {
  const groups = modules.flatMap((module): Group[] => {
    if (always.has(module.path)) return [{ isAlways: true, letter: '', units: module.units }]
    const early = earlyIn(module, units)
    const first = module.units.filter((unit) => early.has(unit))
    const rest = parted(module.units.filter((unit) => !early.has(unit)))
    const made = rest.map((part) => ({ isAlways: false, letter: '', units: part }))
    return first.length ? [{ isAlways: true, letter: '', units: first }, ...made] : made
  })
  for (const [i, group] of byUse(groups).entries()) group.letter = letterOrDigit(i)
  return groups
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

/** Fields for what a late group gives to others and for what is seldom used, locals for everything else. */
function namesOf(groups: readonly Group[], units: readonly Unit[]): Map<Given, string> {
  const names = lateNames(groups, units)
  const often = usesOf(units)
  const others = [...handyNames(), ...symbolsOf(units)].filter((symbol) => !names.has(symbol))
  others.sort((a, b) => (often.get(b) ?? 0) - (often.get(a) ?? 0))
  const fields = new Set(units.filter(mayBeField).flatMap(({ gives }) => gives))
  const isSeldom = (symbol: Given): boolean => fields.has(symbol) && (often.get(symbol) ?? 0) <= SELDOM
  // No field of a late group begins so.
  for (const [i, symbol] of others.filter(isSeldom).entries()) names.set(symbol, `F._${letterOrDigit(i)}`)
  for (const [i, symbol] of others.filter((one) => !isSeldom(one)).entries()) names.set(symbol, nameOfShared(i + OFTEN))
  return names
}

function lateNames(groups: readonly Group[], units: readonly Unit[]): Map<Given, string> {
  const names = new Map<Given, string>()
  for (const group of groups.filter(({ isAlways }) => !isAlways)) {
    const own = new Set(group.units)
    const wanted = new Set(
      units.filter((unit) => !own.has(unit)).flatMap(({ uses }) => uses.map(({ symbol }) => symbol)),
    )
    const free = namesEndingIn(group.letter)
    for (const symbol of symbolsOf(group.units))
      if (symbol.isMember || wanted.has(symbol)) names.set(symbol, `F.${free.next().value}`)
  }
  return names
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
  if (node.type === 'LocalStatement' || (node as { isLocal?: boolean }).isLocal)
    edits.push({ start: 0, end: 'local'.length, text: '' })
  return squeeze(edited(text, edits), line)
}

const isConstant = ({ gives }: Unit): boolean =>
  gives.length > 0 && gives.every(({ constant }) => constant !== undefined)

/**
 * The library of all scripts. `always` are the modules whose functions are made at each call.
 *
 * @example libraryOf(files, new Set(['runtime/time'])).nameOf.get(symbol) // 'eT'
 */
export function libraryOf(files: ReadonlyMap<string, string>, always: ReadonlySet<string>): Library {
  const modules = modulesOf(files)
  const units = modules.flatMap((module) => module.units)
  const unitOf = new Map(units.flatMap((unit) => unit.gives.map((symbol) => [symbol, unit] as const)))
  const added = Map.groupBy(
    units.filter(({ adds }) => adds),
    ({ adds }) => adds!,
  )
  const groups = groupsOf(modules, always, { unitOf, added })
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
