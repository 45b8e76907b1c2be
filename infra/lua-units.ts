// Cuts a file of shared Lua into units, its top-level statements, and finds those that a script can reach. What a unit
// gives are names (`wake`), fields of tables (`flows.count`) and parts of lists (`table.insert(consequences, …)`); a
// script has a unit only when something that it has uses what that unit gives.

import type luaparse from 'luaparse'
import { parseLua } from './lua-rules.ts'
import { remember } from './remember.ts'

type Node = luaparse.Node & { range?: [number, number] }

/** One top-level statement: its text, what it gives to others, and what it uses of them. */
export type Unit = { text: string; gives: string[]; uses: Set<string>; always: boolean }

const children = (node: object): Node[] =>
  Object.entries(node)
    .filter(([name]) => name !== 'loc' && name !== 'range')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== null && typeof value === 'object' && 'type' in value)

type Identifier = luaparse.Identifier & { range?: [number, number] }
/** Told of each outer name that code uses, and of the field where only that is used of it. */
type Found = (name: Identifier, field?: string) => void
type Inner = ReadonlySet<string>

/** Finds the outer names that a piece of code uses. */
function outerNames(node: Node, inner: Inner, found: Found): void {
  if (node.type === 'Identifier') {
    if (!inner.has(node.name)) found(node)
  } else if (node.type === 'MemberExpression') {
    if (node.base.type !== 'Identifier') outerNames(node.base, inner, found)
    else if (!inner.has(node.base.name)) found(node.base, node.identifier.name)
  } else if (node.type === 'TableKeyString') outerNames(node.value, inner, found)
  else if (node.type === 'FunctionDeclaration') ofFunction(node, inner, found)
  else if ('body' in node || 'clauses' in node) ofBlock(node, inner, found)
  else for (const child of children(node)) outerNames(child, inner, found)
}

function ofFunction(
  { identifier, isLocal, parameters, body }: luaparse.FunctionDeclaration,
  inner: Inner,
  found: Found,
) {
  const own = new Set(inner)
  if (identifier && !isLocal) outerNames(identifier, inner, found)
  if (identifier?.type === 'Identifier' && isLocal) own.add(identifier.name)
  for (const parameter of parameters) if (parameter.type === 'Identifier') own.add(parameter.name)
  ofStatements(body, own, found)
}

/** Loops and branches: their heads, their variables, and what is in them. */
function ofBlock(node: Node, inner: Inner, found: Found): void {
  const own = new Set(inner)
  const {
    body,
    variables = [],
    variable,
    clauses = [],
    ...head
  } = node as never as {
    body?: Node[]
    variables?: { name: string }[]
    variable?: { name: string }
    clauses?: Node[]
  }
  for (const child of children(head)) outerNames(child, inner, found)
  for (const one of [...variables, ...(variable ? [variable] : [])]) own.add(one.name)
  for (const clause of clauses) outerNames(clause, inner, found)
  if (body) ofStatements(body, own, found)
}

/** A local is known from its statement on. */
function ofStatements(statements: Node[], inner: Inner, found: Found): void {
  const own = new Set(inner)
  for (const statement of statements) {
    const isLocal = statement.type === 'FunctionDeclaration' && statement.isLocal
    if (isLocal && statement.identifier?.type === 'Identifier') own.add(statement.identifier.name)
    if (statement.type !== 'LocalStatement') {
      outerNames(statement, own, found)
      continue
    }
    for (const value of statement.init) outerNames(value, own, found)
    for (const { name } of statement.variables) own.add(name)
  }
}

const statementsOf = remember((text): Node[] => (parseLua(text) as unknown as { body: Node[] }).body)

/** What statements use: `name`, `table.field`, and `table.*` where a table is used as a whole. */
function usesOf(statements: Node[]): Set<string> {
  const uses = new Set<string>()
  const note: Found = ({ name }, field = '*') => uses.add(name).add(`${name}.${field}`)
  const [only] = statements
  if (statements.length !== 1 || only?.type !== 'AssignmentStatement') {
    ofStatements(statements, new Set(), note)
    return uses
  }
  // What gives a table its name needs that name, and not all of the table.
  for (const one of only.variables) one.type === 'Identifier' ? uses.add(one.name) : outerNames(one, new Set(), note)
  for (const one of only.init) outerNames(one, new Set(), note)
  return uses
}

/**
 * The code with some of its outer names as fields of a table, for a function has room for 200 locals only.
 *
 * @example moveNames('local x = wake(id)', new Set(['wake']), 'far') // local x = far.wake(id)
 */
export function moveNames(text: string, names: ReadonlySet<string>, table: string): string {
  return outerPlaces(text)
    .filter(({ name }) => names.has(name))
    .reduceRight((moved, { at }) => `${moved.slice(0, at)}${table}.${moved.slice(at)}`, text)
}

/** Where a text names something that is not its own, in order. */
const outerPlaces = remember((text) => {
  const places = new Map<number, string>()
  ofStatements(statementsOf(text), new Set(), ({ name, range }) => places.set(range![0], name))
  return [...places].map(([at, name]) => ({ at, name })).sort((a, b) => a.at - b.at)
})

/** What an assignment gives: a name, a field, or any part of a table. */
function givenBy(target: Node): string {
  if (target.type === 'Identifier') return target.name
  if (target.type === 'MemberExpression' && target.base.type === 'Identifier')
    return `${target.base.name}.${target.identifier.name}`
  const base = (target as { base?: Node }).base
  return base?.type === 'Identifier' ? base.name : ''
}

/** The list that a statement adds to, when that is all it does. */
function listOf(node: Node): string | undefined {
  if (node.type !== 'CallStatement' || node.expression.type !== 'CallExpression') return undefined
  const [list] = node.expression.arguments
  const { base } = node.expression
  const isInsert = base.type === 'MemberExpression' && base.identifier.name === 'insert'
  return isInsert && list ? givenBy(list) : undefined
}

function givesOf(node: Node): string[] {
  if (node.type === 'LocalStatement') return node.variables.map(({ name }) => name)
  if (node.type === 'FunctionDeclaration') return node.identifier ? [givenBy(node.identifier)] : []
  if (node.type === 'AssignmentStatement') return node.variables.map(givenBy)
  const list = listOf(node)
  return list ? [list] : []
}

/**
 * The units of a file, in order.
 *
 * @example unitsOf('local function double(n) return 2 * n end')[0].gives // ['double']
 */
export const unitsOf = remember((text): Unit[] =>
  statementsOf(text).map((node) => {
    const gives = givesOf(node)
    const always = gives.every((name) => name === '')
    return { text: `${text.slice(...node.range!)}\n`, gives, uses: usesOf([node]), always }
  }),
)

const usesOfText = remember((text) => usesOf(statementsOf(text)))

/** A field is wanted when it is named, or when its table is used as a whole; a name when it is used at all. */
const isWanted = ({ gives, always }: Unit, used: ReadonlySet<string>): boolean =>
  always ||
  gives.some((name) => used.has(name) || (name.includes('.') && used.has(`${name.slice(0, name.indexOf('.'))}.*`)))

/** Of the units of all parts of a script, those that it reaches. */
export function reached(units: readonly Unit[], body: string): Set<Unit> {
  const used = new Set(usesOfText(body))
  const live = new Set<Unit>()
  for (let before = -1; before < live.size; ) {
    before = live.size
    for (const unit of units) {
      if (live.has(unit) || !isWanted(unit, used)) continue
      live.add(unit)
      for (const name of unit.uses) used.add(name)
    }
  }
  return live
}
