// The modules of the Lua sources: what each requires and gives, statement by statement. A file says
// `local places = require 'job/places'` and `places.move(…)`; what it gives are the members of the table that it returns.
// In the scripts there are no such tables: every member is a name of its own.

import { type Node, type Place, placesOf } from './lua-names.ts'
import { parseLua } from './lua-parse.ts'
import { remember } from './remember.ts'

/** A name that a module has for itself, or gives to others as a member; or one of Lua's own, of no module. */
export type Given = {
  module: string
  name: string
  isMember: boolean
  /** Where it is declared. */
  at: number
  /** The text of a number that never changes. */
  constant?: string
}

/** A place that means a symbol, and where that ends. */
export type Use = { symbol: Given; place: Place; end: number }

/** A statement at the top of a module: what it gives, and what it uses. */
export type Unit = {
  module: string
  node: Node
  text: string
  line: number
  gives: Given[]
  /** The table whose member it sets, where that is no module. */
  adds?: Given
  uses: Use[]
  places: Place[]
  isFunction: boolean
}

export type Module = {
  path: string
  file: string
  requires: string[]
  members: Map<string, Given>
  units: Unit[]
}

/** What a file has at its top, and the statements behind that. */
export type Head = {
  /** Its modules: how it calls them → path. */
  aliases: Map<string, string>
  /** Members of them that it calls by names of their own. */
  imports: Map<string, [path: string, member: string]>
  /** The table that it returns. */
  own: string
  rest: Node[]
}

/** Of Lua's own, what is used so often that scripts have a short name for it. */
const handy: ReadonlyMap<string, Given> = new Map(
  'redis.call cjson.encode cjson.decode math.min math.max math.floor table.concat string.format tonumber ipairs pairs unpack'
    .split(' ')
    .map((name) => [name, { module: '', name, isMember: false, at: 0 }]),
)
export const handyNames = (): Iterable<Given> => handy.values()

/** What nobody declares: Lua's own, Redis', and what every script has first. */
const known = new Set(
  [
    'redis cjson string math table tonumber tostring ipairs pairs next pcall error unpack select type setmetatable rawget',
    'KEYS ARGV ns clock seed at',
  ]
    .join(' ')
    .split(' '),
)

const refuse = (file: string, line: number, says: string): never => {
  throw new Error(`${file}:${line}: ${says}`)
}

const statementsOf = remember((text): Node[] => (parseLua(text) as never as { body: Node[] }).body)

// ---- the top of a file ---------------------------------------------------------------------------------------------

type Local = { variables: { name: string }[]; init: Node[] }
type Member = { type: string; base: { type: string; name: string }; identifier: { name: string } }
type Target = { type: string; name: string; range: [number, number] } & Member

/** `require 'a/b'`: its path. */
function required(node: Node | undefined): string | undefined {
  const call = node as never as { type: string; base: { name?: string }; argument: { raw: string } } | undefined
  return call?.type === 'StringCallExpression' && call.base.name === 'require'
    ? call.argument.raw.slice(1, -1)
    : undefined
}

/** The name of what a file returns at its end. */
function returned(statements: readonly Node[]): string {
  const last = statements.at(-1) as never as { type: string; arguments: { name?: string }[] } | undefined
  return last?.type === 'ReturnStatement' && last.arguments.length === 1 ? (last.arguments[0]!.name ?? '') : ''
}

/**
 * The top of a file.
 *
 * @example headOf("local time = require 'runtime/time'\nlocal now = time.now").imports.get('now') // ['runtime/time', 'now']
 */
export const headOf = remember((text): Head => {
  const statements = statementsOf(text)
  const head: Head = { aliases: new Map(), imports: new Map(), own: returned(statements), rest: [] }
  for (const node of statements) {
    const { variables, init } = node as never as Local
    const path = node.type === 'LocalStatement' ? required(init[0]) : undefined
    const members = (node.type === 'LocalStatement' ? init : []) as never as Member[]
    if (path) head.aliases.set(variables[0]!.name, path)
    else if (
      members.length &&
      members.every(({ type, base }) => type === 'MemberExpression' && head.aliases.has(base.name))
    )
      for (const [i, { base, identifier }] of members.entries())
        head.imports.set(variables[i]!.name, [head.aliases.get(base.name)!, identifier.name])
    else head.rest.push(node)
  }
  return head
})

const isOwnTable = (node: Node, own: string): boolean =>
  node.type === 'LocalStatement' &&
  (node as never as Local).variables[0]!.name === own &&
  (node as never as Local).init[0]?.type === 'TableConstructorExpression'

// ---- statements ----------------------------------------------------------------------------------------------------

const placesIn = new WeakMap<Node, Place[]>()

/** The places of a statement, found once. */
function placesOfOne(node: Node): Place[] {
  const found = placesIn.get(node) ?? placesOf([node])
  placesIn.set(node, found)
  return found
}

/** The numbers that a statement gives its names, as text; none where one of them is something else. */
function constantsOf(node: Node): string[] {
  const { init = [], variables = [] } = node as never as { init?: { type: string; raw: string }[]; variables?: Node[] }
  const areNumbers = init.length === variables.length && init.every(({ type }) => type === 'NumericLiteral')
  return areNumbers ? init.map(({ raw }) => raw) : []
}

/** The names and members that a statement gives. */
function targetsOf(node: Node): Target[] {
  const { variables = [], identifier } = node as never as { variables?: Target[]; identifier?: Target }
  if (node.type === 'LocalStatement' || node.type === 'AssignmentStatement') return variables
  return node.type === 'FunctionDeclaration' && identifier ? [identifier] : []
}

type Named = { module: Module; head: Head; names: Map<string, Given> }

function addUnit({ module, head, names }: Named, node: Node, text: string): void {
  const unit: Unit = {
    module: module.path,
    node,
    text: text.slice(...node.range),
    line: node.loc.start.line,
    gives: [],
    uses: [],
    places: placesOfOne(node),
    isFunction: node.type === 'FunctionDeclaration',
  }
  const constants = constantsOf(node)
  for (const [i, target] of targetsOf(node).entries()) {
    const isMember = target.type === 'MemberExpression' && target.base.name === head.own
    if (!isMember && target.type === 'MemberExpression') {
      unit.adds = names.get(target.base.name)
      continue
    }
    const name = isMember ? target.identifier.name : target.name
    const taken = isMember ? module.members : names
    if (taken.has(name) || (!isMember && (head.aliases.has(name) || head.imports.has(name))))
      refuse(module.file, unit.line, `expected one ${name} in a module, got another`)
    const symbol = { module: module.path, name, isMember, at: target.range[0], constant: constants[i] }
    taken.set(name, symbol)
    unit.gives.push(symbol)
  }
  if (unit.gives.length === 0 && !unit.adds)
    refuse(module.file, unit.line, 'expected a local, a function or a member of the module at the top of a file')
  module.units.push(unit)
}

// ---- what places mean ----------------------------------------------------------------------------------------------

type Modules = ReadonlyMap<string, Module>
type Where = { file: string; path: string; head: Head; names: ReadonlyMap<string, Given>; isScript: boolean }

function meaning({ name, field, line, end }: Place, where: Where, modules: Modules): [Given, number] | undefined {
  const { head, names, file, path: self, isScript } = where
  const member = (path: string, of: string): Given =>
    modules.get(path)?.members.get(of) ?? refuse(file, line, `expected something that ${path} gives, got ${of}`)
  const path = head.aliases.get(name) ?? (name === head.own && name !== '' ? self : undefined)
  if (path && !field) refuse(file, line, `expected a member of ${path}, got all of it`)
  if (path) return [member(path, field!.name), field!.end]
  const imported = head.imports.get(name)
  if (imported) return [member(...imported), end]
  const own = names.get(name)
  if (own) return [own, end]
  if (!known.has(name) && !isScript) refuse(file, line, `expected a name that is declared, got ${name}`)
  const ofLua = handy.get(field ? `${name}.${field.name}` : name)
  return ofLua && [ofLua, field?.end ?? end]
}

/** What places mean outside of their code: its own locals mean nothing there. */
const usesOf = (places: readonly Place[], where: Where, modules: Modules): Use[] =>
  places.flatMap((place): Use[] => {
    if (place.binding && where.names.get(place.name)?.at !== place.binding.at) return []
    const found = meaning(place, where, modules)
    return found ? [{ symbol: found[0], place, end: found[1] }] : []
  })

/** The places of a script, and what they mean. */
export function usesOfScript(file: string, text: string, modules: Modules): { places: Place[]; uses: Use[] } {
  const head = { ...headOf(text), own: '' }
  const places = placesOf(head.rest)
  return { places, uses: usesOf(places, { file, path: '', head, names: new Map(), isScript: true }, modules) }
}

// ---- all of them ---------------------------------------------------------------------------------------------------

/** What is assigned anywhere is no constant. */
function keepConstants(modules: Iterable<Module>): void {
  for (const { units } of modules)
    for (const { gives, uses } of units)
      for (const { symbol, place } of uses) if (place.isTarget && !gives.includes(symbol)) symbol.constant = undefined
}

/** Modules, each behind those that it requires. Those that require each other are refused. */
function inOrder(modules: Modules): Module[] {
  const done = new Set<string>()
  const order: Module[] = []
  const visit = (path: string, by: Module | undefined, way: string[]): void => {
    const module = modules.get(path) ?? refuse(by!.file, 1, `expected a module of lib, got ${path}`)
    if (way.includes(path))
      throw new Error(`modules require each other: ${[...way.slice(way.indexOf(path)), path].join(' → ')}`)
    if (done.has(path)) return
    for (const one of module.requires) visit(one, module, [...way, path])
    done.add(path)
    order.push(module)
  }
  for (const path of modules.keys()) visit(path, undefined, [])
  return order
}

/**
 * The modules of the files of lib, each behind those that it requires.
 *
 * @example modulesOf(new Map([['lib/runtime/time.lua', 'local time = {}\nreturn time']]))[0].path // 'runtime/time'
 */
export function modulesOf(files: ReadonlyMap<string, string>): Module[] {
  const modules = new Map<string, Module>()
  const named: Named[] = []
  for (const [file, text] of files) {
    const head = headOf(text)
    const path = file.slice('lib/'.length, -'.lua'.length)
    const module: Module = { path, file, requires: [...head.aliases.values()], members: new Map(), units: [] }
    const one: Named = { module, head, names: new Map() }
    if (!head.rest.some((node) => isOwnTable(node, head.own)))
      refuse(file, 1, 'expected a module: a table of its members, which it returns')
    for (const node of head.rest)
      if (!isOwnTable(node, head.own) && node.type !== 'ReturnStatement') addUnit(one, node, text)
    modules.set(path, module)
    named.push(one)
  }
  const order = inOrder(modules)
  for (const { module, head, names } of named)
    for (const unit of module.units)
      unit.uses = usesOf(unit.places, { file: module.file, path: module.path, head, names, isScript: false }, modules)
  keepConstants(order)
  return order
}
