import type luaparse from 'luaparse'
import { buildScripts, type Editing, editedTexts } from '../../infra/lua-build/index.ts'
import type { Unit } from '../../infra/lua-build/modules.ts'
import type { Library } from '../../infra/lua-build/scripts.ts'
import { children, type Node, read, walk } from '../../infra/lua-build/syntax.ts'

type Scope = Map<string, luaparse.Expression | undefined>
type FunctionNode = Node & { type: 'FunctionDeclaration'; body: Node[]; parameters: Node[] }

type Refused = { file: string; line: number; says: string }

function calleeOf(node: Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression') return ''
  return node.indexer === ':' ? `:${node.identifier.name}` : `${calleeOf(node.base as Node)}.${node.identifier.name}`
}

const isCall = (node: Node): node is Node & luaparse.CallExpression => node.type === 'CallExpression'
const nameOf = (node: Node): string => (isCall(node) ? calleeOf(node.base as Node) : '')

/** The syntax tree has no parentheses, so this searches the text after the last element. */
function isInParentheses(last: Node, list: Node, text: string): boolean {
  const between = text.slice(last.range![1], list.range![1]).replace(/\s/g, '')
  return isCall(list) ? between.startsWith('))') : between.startsWith(')')
}

const maybeNothing = new Set([':match', ':gsub', ':find', 'string.match', 'string.gsub', 'string.find'])

/** In gopher-lua, `match` returns no value if nothing matches, and `gsub` returns two values. */
function bareMatch(node: Node, _: Scope, text: string): string | undefined {
  const values = isCall(node) ? node.arguments : node.type === 'TableConstructorExpression' ? node.fields : []
  let last = values.at(-1) as Node | undefined
  if (last?.type === 'TableValue') last = last.value as Node
  if (!last || !maybeNothing.has(nameOf(last)) || isInParentheses(last, node, text)) return undefined
  return `${nameOf(last)} as the last value of a list: expected parentheses around it, for it may give no value or several`
}

const numeric = new Set(['tonumber', 'math.floor', 'math.ceil', 'math.abs', 'math.max', 'math.min', 'take_int'])
const clocks = new Set(['now', 'micros', 'seq', 'lease', 'minute'])

function isUnbounded(node: Node, known: Scope): boolean {
  if (node.type === 'BinaryExpression' && '+*/^%'.includes(node.operator))
    return [node.left, node.right].some((side) => isUnbounded(side as Node, known))
  if (isCall(node)) return numeric.has(nameOf(node))
  if (node.type !== 'Identifier') return false
  const value = known.get(node.name)
  return clocks.has(node.name) || (value !== undefined && value !== node && isUnbounded(value as Node, new Map()))
}

/** Some engines allocate a list of length n for t[n]: 1.8 GB for a time in minutes. */
function bigIndex(node: Node, known: Scope): string | undefined {
  if (node.type !== 'AssignmentStatement') return undefined
  const found = node.variables.find((to) => to.type === 'IndexExpression' && isUnbounded(to.index as Node, known))
  return found && 'a number without a bound as an index: expected a string, or a place in a list'
}

function cacheByNumber(node: Node): string | undefined {
  if (node.type !== 'FunctionDeclaration' || node.parameters.length !== 1) return undefined
  const given = (node.parameters[0] as { name?: string }).name
  const formats = walk(node).some(
    (one) =>
      isCall(one) &&
      nameOf(one) === 'string.format' &&
      one.arguments.some((value) => value.type === 'Identifier' && value.name === given),
  )
  const keeps = walk(node).some(
    (one) =>
      one.type === 'AssignmentStatement' &&
      one.variables.some((to) => to.type === 'IndexExpression' && (to.index as { name?: string }).name === given),
  )
  return formats && keeps ? 'a number without a bound as an index: expected a string, or 0 - n' : undefined
}

const computed = new Set(['TableConstructorExpression', 'LogicalExpression'])

/** In gopher-lua, an assignment of several calls, tables or choices overwrites other variables. */
function severalValues(node: Node): string | undefined {
  if (node.type !== 'AssignmentStatement' || node.init.length < 2) return undefined
  const isPlain = node.variables.every((to) => to.type === 'Identifier')
  if (!isPlain || !node.init.some((value) => isCall(value as Node) || computed.has(value.type))) return undefined
  return 'calls, tables or choices among several values for existing variables: expected one assignment each, or new locals'
}

function boundless(node: Node): string | undefined {
  if (!isCall(node) || nameOf(node) !== 'unpack' || node.arguments.length === 3) return undefined
  return 'unpack of a list without a bound: expected unpack(list, from, to), or a loop'
}

/** In gopher-lua, a number with a leading 0 is octal. */
function octal(node: Node): string | undefined {
  if (!isCall(node) || nameOf(node) !== 'tonumber' || node.arguments.length !== 1) return undefined
  const given = node.arguments[0] as Node & { value?: unknown; raw?: string }
  return given.type === 'StringLiteral' && /^.0\d/.test(given.raw ?? '')
    ? 'tonumber reads a text that begins with 0 as octal in some engines: expected a base as the second argument'
    : undefined
}

const bodyOf = (node: Node): Node[] =>
  node.type === 'FunctionDeclaration' ? [] : [node, ...children(node).flatMap(bodyOf)]

/** In older versions of gopher-lua, a missing return value leaves the variable unchanged instead of nil. */
function unequalReturns(node: Node, _: Scope, text: string): string | undefined {
  if (node.type !== 'FunctionDeclaration') return undefined
  const returns = (node as FunctionNode).body.flatMap(bodyOf).filter((one) => one.type === 'ReturnStatement')
  const counts = returns.flatMap((one) => {
    const last = one.arguments.at(-1) as Node | undefined
    const isOpen = !last || last.type === 'VarargLiteral' || (isCall(last) && !isInParentheses(last, one, text))
    return isOpen ? [] : [one.arguments.length]
  })
  return new Set(counts).size > 1
    ? `returns of ${[...new Set(counts)].sort().join(' and ')} values: expected equally many`
    : undefined
}

const isConcat = (node: Node | undefined): node is Node & luaparse.BinaryExpression =>
  node?.type === 'BinaryExpression' && node.operator === '..'

/** In gopher-lua, a concatenation of `a` and `(b and c or d .. e)` returns only `a`. */
function concatInChoice(node: Node): string | undefined {
  if (!isConcat(node) || node.right.type !== 'LogicalExpression' || !isConcat(node.right.right as Node))
    return undefined
  return 'a concatenation as the last choice at the end of another: expected a local for the choice'
}

/** In gopher-lua, `a = b and c or f(a)` passes b to f if b is false. */
function choiceOfItself(node: Node): string | undefined {
  if (node.type !== 'AssignmentStatement') return undefined
  const isRead = node.variables.some((variable, i) => {
    const given = node.init[i]
    if (variable.type !== 'Identifier' || given?.type !== 'LogicalExpression' || given.operator !== 'or') return false
    const reads = (one: Node): boolean => one.type === 'Identifier' && one.name === variable.name
    return given.left.type === 'LogicalExpression' && walk(given.right as Node).some(reads)
  })
  return isRead
    ? 'a choice whose last part reads the variable that it is for: expected an if, or a new local'
    : undefined
}

type Rule = (node: Node, known: Scope, text: string) => string | undefined
const rules: Rule[] = [
  concatInChoice,
  choiceOfItself,
  bareMatch,
  bigIndex,
  cacheByNumber,
  severalValues,
  boundless,
  octal,
  unequalReturns,
  ...([callsItself, tooManyLocals] as Rule[]),
]

function localsOf(nodes: readonly Node[]): Scope {
  const known: Scope = new Map()
  for (const node of nodes)
    if (node.type === 'LocalStatement')
      for (const [i, { name }] of node.variables.entries()) known.set(name, node.init[i])
  return known
}

export function refusedIn(file: string, text: string): Refused[] {
  const { nodes } = read(text)
  const known = localsOf(nodes)
  return nodes.flatMap((node) =>
    rules.flatMap((rule) => {
      const says = rule(node, known, text)
      return says ? [{ file, line: node.loc!.start.line, says }] : []
    }),
  )
}

type Block = Node & {
  body?: Node[]
  clauses?: Block[]
  variables?: unknown[]
  parameters?: unknown[]
  isLocal?: boolean
}

const MOST_LOCALS = 60
const MOST_CALLS = 100

const ofLoop = ({ type, variables }: Block): number =>
  type === 'ForNumericStatement' ? 4 : type === 'ForGenericStatement' ? 3 + variables!.length : 0

function localsAtOnce(body: readonly Node[], before: number): number {
  let count = before
  let most = before
  for (const node of body as readonly Block[]) {
    if (node.type === 'LocalStatement') count += node.variables!.length
    if (node.type === 'FunctionDeclaration') count += node.isLocal ? 1 : 0
    else
      for (const block of node.clauses ?? (node.body ? [node] : []))
        most = Math.max(most, localsAtOnce(block.body!, count + ofLoop(node)))
    most = Math.max(most, count)
  }
  return most
}

function tooManyLocals(node: Node): string | undefined {
  if (node.type !== 'FunctionDeclaration') return undefined
  const { body, parameters } = node as Block
  const locals = localsAtOnce(body!, parameters!.length)
  return locals > MOST_LOCALS ? `${locals} locals at once: expected at most ${MOST_LOCALS} in a function` : undefined
}

type Named = { type: string; name?: string; base?: Named; identifier?: Named }

const textOf = ({ type, name, base, identifier }: Named): string =>
  type === 'MemberExpression' ? `${textOf(base!)}.${textOf(identifier!)}` : (name ?? '')

function callsItself(node: Node): string | undefined {
  const { identifier } = node as unknown as Named
  if (node.type !== 'FunctionDeclaration' || !identifier) return undefined
  const own = textOf(identifier)
  const calls = walk(node).some(
    (one) => one.type === 'CallExpression' && textOf((one as unknown as { base: Named }).base) === own,
  )
  return calls ? `${own} calls itself: expected a loop` : undefined
}

type Calling = { file: string; name: string; line: number; calls: readonly Calling[] }

function callsIn({ modules, unitOf, added }: Library): Calling[] {
  const units = [...modules.values()].flatMap((module) => module.units.filter(({ isFunction }) => isFunction))
  const nameOf = ({ module, gives, adds }: Unit): string =>
    `${module.path.slice(module.path.lastIndexOf('/') + 1)}.${gives[0]?.name ?? adds!.name}`
  const callings = new Map(
    units.map((unit) => {
      const calling = {
        file: unit.module.file,
        name: nameOf(unit),
        line: unit.node.loc.start.line,
        calls: [] as Calling[],
      }
      return [unit, calling] as const
    }),
  )
  for (const [unit, { calls }] of callings)
    for (const { symbol, isTarget } of unit.uses)
      for (const one of [unitOf.get(symbol), ...(added.get(symbol) ?? [])])
        if (one && !isTarget && callings.has(one)) calls.push(callings.get(one)!)
  return [...callings.values()]
}

function wayBack(from: Calling): Calling[] {
  const seen = new Map<Calling, Calling | undefined>()
  const todo: [Calling, Calling | undefined][] = from.calls.map((one) => [one, undefined])
  for (let next = todo.shift(); next; next = todo.shift()) {
    const [one, by] = next
    if (seen.has(one)) continue
    seen.set(one, by)
    if (one === from) {
      const way: Calling[] = []
      for (let at = by; at; at = seen.get(at)) way.unshift(at)
      return [...way, from]
    }
    todo.push(...one.calls.map((to): [Calling, Calling] => [to, one]))
  }
  return []
}

const saidDepth = (header: string): number | undefined => {
  const found = /^-- The recursion is at most (\d+) levels deep: ./m.exec(header)?.[1]
  return found === undefined ? undefined : Number(found)
}

function circlesIn(library: Library, textOf: (file: string) => string): Refused[] {
  return callsIn(library).flatMap((one) => {
    const way = wayBack(one)
    if (way.length === 0) return []
    const depth = saidDepth(textOf(one.file))
    if (depth !== undefined && depth <= MOST_CALLS) return []
    const expected = `"-- The recursion is at most N levels deep: why." in its header, with N up to ${MOST_CALLS}`
    const says = `${[one, ...way].map(({ name }) => name).join(' → ')}: expected a loop, or ${expected}`
    return [{ file: one.file, line: one.line, says: depth === undefined ? says : `${says}, got ${depth}` }]
  })
}

/** In some engines, a function has 200 registers. */
const MAX_LOCALS = 150

export function refusedScripts(edit?: Editing): string[] {
  const texts = editedTexts(edit)
  const ofFiles = [...texts].flatMap(([file, text]) => refusedIn(file, text))
  const { library } = buildScripts(edit)
  const circles = circlesIn(library, (file) => texts.get(file)!)
  const full = [...library.modules.values()].flatMap(({ file, names }) => {
    const says = `${names.size} locals: expected at most ${MAX_LOCALS} in a module`
    return names.size > MAX_LOCALS ? [{ file, line: 1, says }] : []
  })
  return [...ofFiles, ...circles, ...full].map(({ file, line, says }) => `src/redis/lua/${file}:${line}: ${says}`)
}
