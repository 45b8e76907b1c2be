// How much a function takes in gopher-lua, which has 200 registers for each and 256 calls within each other: what comes near
// is refused when the scripts are built.

import type { Library } from './lua-library.ts'
import type { Unit } from './lua-modules.ts'
import { type Node, walk } from './lua-names.ts'

type Block = Node & {
  body?: Node[]
  clauses?: Block[]
  variables?: unknown[]
  parameters?: unknown[]
  isLocal?: boolean
}

const MOST_LOCALS = 60
const MOST_CALLS = 100

/** What a loop keeps for itself. */
const ofLoop = ({ type, variables }: Block): number =>
  type === 'ForNumericStatement' ? 4 : type === 'ForGenericStatement' ? 3 + variables!.length : 0

/** How many locals a block has at once, with those that are there when it begins. */
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

/** Locals are registers, and so is whatever is being computed. */
export function tooManyLocals(node: Node): string | undefined {
  if (node.type !== 'FunctionDeclaration') return undefined
  const { body, parameters } = node as Block
  const locals = localsAtOnce(body!, parameters!.length)
  return locals > MOST_LOCALS ? `${locals} locals at once: expected at most ${MOST_LOCALS} in a function` : undefined
}

type Named = { type: string; name?: string; base?: Named; identifier?: Named }

const textOf = ({ type, name, base, identifier }: Named): string =>
  type === 'MemberExpression' ? `${textOf(base!)}.${textOf(identifier!)}` : (name ?? '')

/** A loop has no depth. */
export function callsItself(node: Node): string | undefined {
  const { identifier } = node as unknown as Named
  if (node.type !== 'FunctionDeclaration' || !identifier) return undefined
  const own = textOf(identifier)
  const calls = walk(node).some(
    (one) => one.type === 'CallExpression' && textOf((one as unknown as { base: Named }).base) === own,
  )
  return calls ? `${own} calls itself: expected a loop` : undefined
}

// ---- functions that call each other ------------------------------------------------------------------------------------

/** A function of a module, and which of all it calls. */
export type Calling = { module: string; name: string; line: number; calls: readonly Calling[] }

/** The functions of all modules, those that are members of tables too, and which of them they call. */
export function callsIn({ modules, unitOf, added }: Library): Calling[] {
  const units = modules.flatMap((module) => module.units.filter(({ isFunction }) => isFunction))
  const calls = new Map<Unit, Calling[]>(units.map((unit) => [unit, []]))
  const nameOf = ({ module, gives, adds }: Unit): string =>
    `${module.slice(module.lastIndexOf('/') + 1)}.${gives[0]?.name ?? adds!.name}`
  const callings = new Map(
    units.map((unit) => [unit, { module: unit.module, name: nameOf(unit), line: unit.line, calls: calls.get(unit)! }]),
  )
  for (const unit of units)
    for (const { symbol, place } of unit.uses)
      for (const one of [unitOf.get(symbol), ...(added.get(symbol) ?? [])])
        if (one && !place.isTarget && callings.has(one)) calls.get(unit)!.push(callings.get(one)!)
  return [...callings.values()]
}

/** Those that lead from one function back to it; none where it does not come back. */
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

/** What the header of a module says of those of its functions that come back to themselves. */
const saidDepth = (header: string): number | undefined => {
  const found = /^-- Within itself at most (\d+) calls deep: ./m.exec(header)?.[1]
  return found === undefined ? undefined : Number(found)
}

/**
 * Functions that come back to themselves by way of others, in modules that do not say how deep that goes.
 *
 * @example circlesIn(callsIn(library), (module) => read(`lib/${module}.lua`))
 */
export function circlesIn(functions: readonly Calling[], headerOf: (module: string) => string) {
  return functions.flatMap((one) => {
    const way = wayBack(one)
    if (way.length === 0) return []
    const depth = saidDepth(headerOf(one.module))
    if (depth !== undefined && depth <= MOST_CALLS) return []
    const expected = `"-- Within itself at most N calls deep: why." in its header, with N up to ${MOST_CALLS}`
    const says = `${[one, ...way].map(({ name }) => name).join(' → ')}: expected a loop, or ${expected}`
    return [
      { file: `lib/${one.module}.lua`, line: one.line, says: depth === undefined ? says : `${says}, got ${depth}` },
    ]
  })
}
