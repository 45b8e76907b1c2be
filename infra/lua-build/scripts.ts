// Builds a script from the statements that it needs. Its functions are in the table `F`, by number. A loader creates
// each function on its first use, together with its group.

import { hash } from 'node:crypto'
import { type File, type Given, handy, linked, nameEdits, type Unit, type Use, usesIn } from './modules.ts'
import type { Header } from './sources.ts'
import { nameOfShared, type Piece, print } from './syntax.ts'

/** `end`: index of the last member in `F`, plus 1. */
type Group = { units: Unit[]; end: number }

type Part = Piece & { file?: string }

type Param = { name: string; int: boolean }
type Call = { base?: { base?: { name?: string }; identifier?: { name: string } } }

export type Built = Header & {
  params: Param[]
  file: string
  text: string
  places: string[]
  sha: string
  units: Unit[]
}

/** Every script takes these arguments before its own. */
const COMMON = ['ns', 'clock', 'seed']
/** Modules use these names without a declaration. `at` is the position of the last argument that was taken. */
const KNOWN = [...COMMON, 'at']

/** @example paramsOf(read('local name, most = args.take(), args.take_int()').body)[1] // { name: 'most', int: true } */
function paramsOf(body: readonly Unit['node'][]): Param[] {
  const params: Param[] = []
  for (const statement of body) {
    const { variables = [], init = [] } = statement as never as { variables?: { name: string }[]; init?: Call[] }
    const verbs = init.map(({ base }) => (base?.base?.name === 'args' ? base.identifier!.name : ''))
    if (!verbs.length || !verbs.every((verb) => verb === 'take' || verb === 'take_int')) break
    params.push(...variables.map(({ name }, i) => ({ name, int: verbs[i] === 'take_int' })))
  }
  return params
}

export class Library {
  readonly modules
  readonly scripts
  readonly unitOf = new Map<Given, Unit>()
  readonly added: Map<Given, Unit[]>
  readonly eager: ReadonlySet<Unit>
  readonly groups: Group[]
  readonly #names = new Map<Given, string>()
  readonly #inner = new Map<Unit, Given[]>()
  readonly #pieces = new Map<Unit, Piece>()
  readonly known = new Map([['ns', nameOfShared(0)]])
  #count = 1

  constructor(texts: ReadonlyMap<string, string>) {
    const { modules, scripts } = linked(texts)
    this.modules = modules
    this.scripts = scripts
    const units = [...modules.values()].flatMap((module) => module.units)
    for (const unit of units) for (const symbol of unit.gives) this.unitOf.set(symbol, unit)
    this.added = Map.groupBy(
      units.filter(({ adds }) => adds),
      ({ adds }) => adds!,
    )
    this.eager = eagerOf(units, this.unitOf, this.#assigned(scripts))
    const late = units.filter((unit) => !this.eager.has(unit))
    this.groups = [...Map.groupBy(late, (unit) => (isValue(unit) ? '' : unit.module.path)).values()].map((units) => ({
      units,
      end: 0,
    }))
    this.#giveNames(units)
  }

  /** Units whose members a script assigns. A loader that created such a unit later would reset them. */
  #assigned(scripts: Iterable<File>): Unit[] {
    const uses = [...scripts].flatMap((script) => usesIn(script.body, script, new Map(), this.modules))
    return uses.flatMap(({ symbol, isTarget }) => (isTarget ? (this.unitOf.get(symbol) ?? []) : []))
  }

  #giveNames(units: readonly Unit[]): void {
    const groupOf = new Map<Unit, Group>(
      this.groups.flatMap((group) => group.units.map((unit) => [unit, group] as const)),
    )
    const shared = new Set<Given>()
    for (const unit of units)
      for (const { symbol } of unit.uses)
        if (this.unitOf.has(symbol) && groupOf.get(unit) !== groupOf.get(this.unitOf.get(symbol)!)) shared.add(symbol)
    const uses = usesOf(units)
    const often = (symbol: Given): number => uses.get(symbol) ?? 0
    const locals = [...handy.values(), ...[...this.eager].flatMap(({ gives }) => gives)]
    for (const symbol of locals.sort((a, b) => often(b) - often(a)))
      this.#names.set(symbol, nameOfShared(this.#count++))
    for (const name of KNOWN) if (!this.known.has(name)) this.known.set(name, nameOfShared(this.#count++))
    const shares = ({ units }: Group): number =>
      units.flatMap(({ gives }) => gives).reduce((sum, one) => sum + often(one), 0) / units.length
    this.groups.sort((a, b) => shares(b) - shares(a))
    let field = 0
    for (const group of this.groups) {
      for (const unit of group.units)
        for (const symbol of unit.gives) {
          if (symbol.constant !== undefined) continue
          const isField = symbol.isMember || shared.has(symbol)
          this.#names.set(symbol, isField ? `F[${++field}]` : nameOfShared(this.#count++))
          if (!isField) this.#inner.set(unit, [...(this.#inner.get(unit) ?? []), symbol])
        }
      group.end = field + 1
    }
  }

  nameOf = (symbol: Given): string => this.#names.get(symbol)!

  innerOf = (unit: Unit): string[] => (this.#inner.get(unit) ?? []).map(this.nameOf)

  pieceOf(unit: Unit): Piece {
    const known = this.#pieces.get(unit)
    if (known) return known
    const { node, module, uses } = unit
    const { identifier, init } = node as never as { identifier?: Unit['node']; init?: [] }
    const [from, end] = node.range
    const edits = nameEdits(module, node.range, uses, this.nameOf, this.known)
    if (unit.isFunction) {
      const start = identifier!.range[0]
      edits.push(
        { start: from, end: start, text: '' },
        { start: identifier!.range[1], end: identifier!.range[1] + 1, text: '=function(' },
      )
    } else if (node.type === 'LocalStatement') edits.push({ start: from, end: from + 'local'.length, text: '' })
    const isNothing =
      (node.type === 'LocalStatement' && !init?.length) ||
      (unit.gives.length > 0 && unit.gives.every((one) => one.constant !== undefined))
    const piece = isNothing ? { text: '', lines: [] } : print(module.source.text, [from, end], edits)
    this.#pieces.set(unit, piece)
    return piece
  }

  reached(uses: readonly Use[]): Set<Unit> {
    const live = new Set<Unit>()
    const add = (unit: Unit | undefined): void => {
      if (!unit || live.has(unit)) return
      live.add(unit)
      for (const { symbol } of unit.uses) add(this.unitOf.get(symbol))
      for (const symbol of unit.gives) for (const one of this.added.get(symbol) ?? []) add(one)
    }
    for (const { symbol } of uses) add(this.unitOf.get(symbol))
    return live
  }
}

function usesOf(units: readonly Unit[]): Map<Given, number> {
  const uses = new Map<Given, number>()
  for (const { symbol } of units.flatMap((unit) => unit.uses)) uses.set(symbol, (uses.get(symbol) ?? 0) + 1)
  return uses
}

/** Lua allows 60 upvalues per function, and the loader needs some for `F`, names of Lua and common arguments. */
const MAX_EAGER = 43

/** The most used units, which a script creates at its start, and not on their first use. */
function eagerOf(units: readonly Unit[], unitOf: ReadonlyMap<Given, Unit>, always: readonly Unit[]): Set<Unit> {
  const uses = [...usesOf(units)].filter(([symbol]) => symbol.constant === undefined && unitOf.has(symbol))
  const eager = new Set<Unit>(always)
  let count = [...eager].flatMap(({ gives }) => gives).length
  for (const [symbol] of uses.sort((a, b) => b[1] - a[1])) {
    const more = new Set<Unit>()
    const add = (unit: Unit): void => {
      if (eager.has(unit) || more.has(unit)) return
      more.add(unit)
      for (const use of unit.uses) {
        const used = unitOf.get(use.symbol)
        if (used && used.module === unit.module && !used.isFunction && use.symbol.constant === undefined) add(used)
      }
    }
    add(unitOf.get(symbol)!)
    if (!more.size) continue
    const names = [...more].flatMap(({ gives }) => gives).length
    if (count + names > MAX_EAGER) continue
    count += names
    for (const unit of more) eager.add(unit)
  }
  return new Set(units.filter((unit) => eager.has(unit)))
}

/** Values have a separate group: reading a value must not create the functions of its module. */
const isValue = ({ isFunction, gives }: Unit): boolean => !isFunction && gives.some(({ isMember }) => isMember)

const local = (names: readonly string[], values = ''): string =>
  names.length ? `local ${names.join(',')}${values && `=${values}`}\n` : ''

const made = (text: string): Part => ({ text, lines: Array(text.split('\n').length - 1).fill(1) })

/** Up to this length, a chain of comparisons is fast enough, and shorter than a tree. */
const MAX_CHAIN = 8

function tree(groups: readonly (readonly [Group, Part[]])[]): Part[] {
  if (groups.length === 1) return groups[0]![1]
  if (groups.length <= MAX_CHAIN) {
    const chain = groups
      .slice(0, -1)
      .flatMap(([{ end }, parts], i) => [made(`${i ? 'else' : ''}if t<${end} then\n`), ...parts])
    return [...chain, made('else\n'), ...groups.at(-1)![1], made('end\n')]
  }
  const middle = groups.length >> 1
  const [low, high] = [groups.slice(0, middle), groups.slice(middle)]
  return [made(`if t<${low.at(-1)![0].end} then\n`), ...tree(low), made('else\n'), ...tree(high), made('end\n')]
}

function partsOf(group: Group, live: ReadonlySet<Unit>, library: Library): Part[] {
  const units = group.units.filter((unit) => live.has(unit))
  const inner = local(units.flatMap((unit) => library.innerOf(unit)))
  const parts = units.map((unit): Part => {
    const piece = library.pieceOf(unit)
    return piece.text ? { ...piece, text: `${piece.text}\n`, file: unit.module.file } : made('')
  })
  return [...(inner ? [made(inner)] : []), ...parts.filter(({ text }) => text)]
}

export function build(script: File, header: Header, library: Library): Built {
  const uses = usesIn(script.body, script, new Map(), library.modules)
  const live = library.reached(uses)
  const groups = library.groups
    .map((group) => [group, partsOf(group, live, library)] as const)
    .filter(([, parts]) => parts.length)
  const eager = [...live].filter(
    (unit) => library.eager.has(unit) && unit.gives.some(({ constant }) => constant === undefined),
  )
  const symbols = new Set([...uses, ...[...live].flatMap((unit) => unit.uses)].map(({ symbol }) => symbol))
  const ofLua = [...symbols].filter(({ module }) => module === '')
  const head = [
    local(
      KNOWN.map((name) => library.known.get(name)!),
      [...COMMON.map((_, i) => `ARGV[${i + 1}]`), COMMON.length].join(),
    ),
    local(ofLua.map(library.nameOf), ofLua.map((one) => one.name).join(',')),
    local([...(groups.length ? ['F'] : []), ...eager.flatMap(({ gives }) => gives.map(library.nameOf))]),
  ]
  const range = [script.body[0]!.range[0], script.body.at(-1)!.range[1]] as const
  const own = print(script.source.text, range, nameEdits(script, range, uses, library.nameOf, library.known))
  // Creates the table `F` with its final size, so that Lua stores its members in an array instead of a hash.
  const room = `unpack({},1,${groups.at(-1)?.[0].end})`
  const parts = [
    made(head.join('')),
    ...(groups.length
      ? [made(`F=setmetatable({${room}},{__index=function(_,t)\n`), ...tree(groups), made('return F[t]end})\n')]
      : []),
    ...partsOf({ units: [...library.eager], end: 0 }, live, library),
    made('return(function()\n'),
    { ...own, text: `${own.text}\n`, file: script.file },
    made('end)()\n'),
  ]
  const text = parts.map((part) => part.text).join('')
  const sha = hash('sha1', text)
  return {
    ...header,
    params: paramsOf(script.body),
    file: script.file,
    text,
    places: placesOf(parts),
    sha,
    units: [...live],
  }
}

const placesOf = (parts: readonly Part[]): string[] => [
  ...parts.flatMap(({ file, lines }) => lines.map((line) => (file ? `${file}:${line}` : ''))),
  '',
]
