// A Lua file may use any module by its name, without `require`. This code finds the names that each statement uses.

import { basename } from 'node:path'
import { marks } from '../../src/redis/marks.ts'
import { declaredIn, fieldEdits, shared } from './fields.ts'
import { type Edit, type Node, nameOfLocal, type Place, read, refuse, type Source } from './syntax.ts'

/** A declared name. `module`: '' for a name of Lua. */
export type Given = { module: string; name: string; isMember: boolean; at: number; constant?: string }

export type Use = { symbol: Given; start: number; end: number; isTarget: boolean }

export type Unit = {
  module: Module
  node: Node
  gives: Given[]
  adds?: Given
  uses: Use[]
  isFunction: boolean
}

export type File = {
  file: string
  source: Source
  /** Name of a module → path. */
  requires: ReadonlyMap<string, string>
  own: string
  body: readonly Node[]
  edits: readonly Edit[]
}

type Module = File & { path: string; members: Map<string, Given>; names: Map<string, Given>; units: Unit[] }
type Modules = ReadonlyMap<string, Module>

/** These names are used often, so each gets a short local. */
export const handy: ReadonlyMap<string, Given> = new Map(
  'redis.call cjson.encode cjson.decode math.min math.max math.floor table.concat string.format tonumber ipairs pairs unpack'
    .split(' ')
    .map((name) => [name, { module: '', name, isMember: false, at: 0 }]),
)

const globals = new Set(
  'redis cjson string math table tonumber tostring ipairs pairs next pcall error unpack select type setmetatable rawget KEYS ARGV ns clock seed at'
    .split(' ')
    .concat(Object.keys(marks), Object.keys(shared))
    .concat('reply row_of fields queue_fields limit_fields lane_fields day_fields'.split(' ')),
)

type Local = { range: [number, number]; variables: (Node & { name: string })[]; init: (Node & { raw?: string })[] }
type Target = Node & { name: string; base: { name: string }; identifier: { name: string } }

const isModule = (file: string): boolean => file.startsWith('lib/')

/** @throws if two modules have the same name */
function pathsOf(files: Iterable<string>): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const file of [...files].filter(isModule)) {
    const name = basename(file, '.lua')
    if (paths.has(name)) refuse(file, 1, `expected another name, because ${paths.get(name)} has this name`)
    paths.set(name, file.slice('lib/'.length, -'.lua'.length))
  }
  return paths
}

function open(file: string, source: Source, paths: ReadonlyMap<string, string>, declared: ReadonlySet<string>): File {
  const own = isModule(file) ? basename(file, '.lua') : ''
  const names = source.places.flatMap(({ name, binding }) => (binding ? [] : [name])).sort()
  const requires = new Map(
    names.flatMap((name) => (name !== own && paths.has(name) ? [[name, paths.get(name)!] as const] : [])),
  )
  const modules = new Set([...requires.keys(), own])
  const edits = fieldEdits(source, { file, declared, modules })
  return { file, source, requires, own, body: source.body, edits }
}

function targetsOf(node: Node): Target[] {
  const { variables = [], identifier } = node as never as { variables?: Target[]; identifier?: Target }
  if (node.type === 'LocalStatement' || node.type === 'AssignmentStatement') return variables
  return node.type === 'FunctionDeclaration' && identifier ? [identifier] : []
}

function addUnit(module: Module, node: Node): void {
  const { file, own, path, members, names, requires } = module
  const line = node.loc.start.line
  const targets = targetsOf(node)
  const { init = [] } = node as never as Partial<Local>
  if (targets.length > 1 && init.length) {
    const areNumbers = init.length === targets.length && init.every(({ type }) => type === 'NumericLiteral')
    if (!areNumbers && init.length > 1) refuse(file, line, 'expected one value in a statement at the top of a module')
  }
  const unit: Unit = { module, node, gives: [], uses: [], isFunction: node.type === 'FunctionDeclaration' }
  for (const [i, target] of targets.entries()) {
    const isMember = target.type === ('MemberExpression' as string) && target.base.name === own
    if (!isMember && target.type === ('MemberExpression' as string)) {
      unit.adds = names.get(target.base.name)
      continue
    }
    const name = isMember ? target.identifier.name : target.name
    const taken = isMember ? members : names
    if (taken.has(name) || (!isMember && requires.has(name)))
      refuse(file, line, `expected one ${name} in a module, got another`)
    const literal = /^(Numeric|String)Literal$/.test(init[i]?.type ?? '') ? init[i]!.raw : undefined
    const symbol = { module: path, name, isMember, at: target.range[0], constant: literal }
    taken.set(name, symbol)
    unit.gives.push(symbol)
  }
  if (unit.gives.length === 0 && !unit.adds)
    refuse(file, line, 'expected a local, a function or a member of the module at the top of a file')
  module.units.push(unit)
}

const localsOf = (node: Node): Target[] =>
  node.type === 'LocalStatement' || (node.type === 'FunctionDeclaration' && node.isLocal) ? targetsOf(node) : []

const undeclared = (file: string, line: number, name: string): never =>
  refuse(file, line, `expected a name that is declared, got ${name}`)

type Meaning = [symbol: Given, end: number] | undefined

function meaningOf(place: Place, file: File, names: ReadonlyMap<string, Given>, modules: Modules): Meaning {
  const { name, field, line, end } = place
  const path = file.requires.get(name) ?? (name === file.own && name ? (file as Module).path : undefined)
  if (path) {
    if (!field) return refuse(file.file, line, `expected a member of ${path}, got no member`)
    const member = modules.get(path)!.members.get(field.name)
    return [member ?? refuse(file.file, line, `expected a member of ${path}, got ${field.name}`), field.end]
  }
  const own = names.get(name)
  if (own) return [own, end]
  const ofLua = handy.get(field ? `${name}.${field.name}` : name)
  if (ofLua) return [ofLua, field?.end ?? end]
  return !place.binding && file.own && !globals.has(name) ? undeclared(file.file, line, name) : undefined
}

export function usesIn(nodes: readonly Node[], file: File, names: ReadonlyMap<string, Given>, modules: Modules): Use[] {
  const tops = new Set((file.own ? file.body : []).flatMap(localsOf).map(({ range }) => range[0]))
  const isKnown = (name: string): boolean => names.has(name) || file.requires.has(name) || name === file.own
  return nodes.flatMap(({ range: [from, to] }) =>
    file.source.places.flatMap((place): Use[] => {
      if (place.start < from || place.start >= to) return []
      const { binding, start, isTarget } = place
      if (binding && !(tops.has(binding.at) && isKnown(place.name))) return []
      const found = meaningOf(place, file, names, modules)
      return found ? [{ symbol: found[0], start, end: found[1], isTarget }] : []
    }),
  )
}

function inOrder(modules: Modules): Module[] {
  const order = new Set<Module>()
  const visit = (path: string, way: string[]): void => {
    const module = modules.get(path)!
    if (way.includes(path))
      throw new Error(`modules use each other: ${[...way.slice(way.indexOf(path)), path].join(' → ')}`)
    if (order.has(module)) return
    for (const one of module.requires.values()) visit(one, [...way, path])
    order.add(module)
  }
  for (const path of modules.keys()) visit(path, [])
  return [...order]
}

export function linked(texts: ReadonlyMap<string, string>): { modules: Modules; scripts: File[] } {
  const sources = new Map([...texts].map(([file, text]) => [file, read(text)]))
  const declared = declaredIn(sources.values())
  const paths = pathsOf(sources.keys())
  const modules = new Map<string, Module>()
  const scripts: File[] = []
  for (const [file, source] of sources) {
    const opened = open(file, source, paths, declared)
    if (!isModule(file)) {
      scripts.push(opened)
      continue
    }
    const path = paths.get(basename(file, '.lua'))!
    const module: Module = { ...opened, path, members: new Map(), names: new Map(), units: [] }
    modules.set(path, module)
    for (const node of module.body) addUnit(module, node)
  }
  const order = inOrder(modules)
  for (const module of order)
    for (const unit of module.units) unit.uses = usesIn([unit.node], module, module.names, modules)
  for (const { units } of order)
    for (const { gives, uses } of units)
      for (const { symbol, isTarget } of uses) if (isTarget && !gives.includes(symbol)) symbol.constant = undefined
  return { modules: new Map(order.map((module) => [module.path, module])), scripts }
}

export function nameEdits(
  file: File,
  [from, to]: readonly [number, number],
  uses: readonly Use[],
  nameOf: (symbol: Given) => string,
  args: ReadonlyMap<string, string>,
): Edit[] {
  const { source, edits } = file
  const isIn = ({ start }: { start: number }): boolean => start >= from && start < to
  const used = new Set(uses.map(({ start }) => start))
  // `depth` also counts the locals of the file, which get shared names.
  const before = source.body.filter(({ range }) => range[0] < from).flatMap(localsOf).length
  const locals = source.places.filter(isIn).flatMap(({ start, end, line, name, binding }): Edit[] => {
    const text = binding ? nameOfLocal(binding.depth - before) : args.get(name)
    if (used.has(start)) return []
    if (text === undefined && !globals.has(name)) return undeclared(file.file, line, name)
    return text === undefined ? [] : [{ start, end, text }]
  })
  const named = uses.map(({ symbol, start, end }) => ({ start, end, text: symbol.constant ?? nameOf(symbol) }))
  return [...named, ...locals, ...edits.filter(isIn)]
}
