// Which name of a piece of Lua means what: every place where a name stands, and the local that it belongs to, if any.

import type luaparse from 'luaparse'

export type Node = luaparse.Node & { range: [number, number]; loc: { start: { line: number } } }

/** A local of a piece of code: where it is declared, and how many others can be seen there. */
export type Binding = { name: string; depth: number; at: number }

/** A place of a name; of `table.field`, where the table is a name, also the field, and where that ends. */
export type Place = {
  name: string
  start: number
  end: number
  line: number
  binding?: Binding
  field?: { name: string; end: number }
  /** It is assigned to here. */
  isTarget: boolean
  /** What is called, or looked into, stands at the beginning of a statement that is not the first of its block. */
  begins: boolean
}

/** What can be seen, and how many were declared on the way here. */
type Scope = { names: ReadonlyMap<string, Binding>; count: number }
type Identifier = { type: 'Identifier'; name: string; range: [number, number]; loc: { start: { line: number } } }

export const children = (node: object): Node[] =>
  Object.entries(node)
    .filter(([name]) => name !== 'loc' && name !== 'range')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== null && typeof value === 'object' && 'type' in value)

/** A node and all below it, each before its own. */
export const walk = (node: Node): Node[] => [node, ...children(node).flatMap(walk)]

/** As names are written in Lua. @example snake('leaseUntil') // 'lease_until' */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Parts = Record<string, Node & Node[]>
type Clause = { condition?: Node; body: Node[] }

/** Goes through statements in their order, with what can be seen where it is. */
class Walk {
  readonly places: Place[] = []
  readonly #beginnings = new Set<number>()

  #note(at: Identifier, scope: Scope, isTarget = false, field?: Place['field']): void {
    this.places.push({
      name: at.name,
      start: at.range[0],
      end: at.range[1],
      line: at.loc.start.line,
      binding: scope.names.get(at.name),
      field,
      isTarget,
      begins: this.#beginnings.has(at.range[0]),
    })
  }

  #declare(names: readonly Identifier[], scope: Scope): Scope {
    const inner = new Map(scope.names)
    for (const [i, one] of names.entries())
      inner.set(one.name, { name: one.name, depth: scope.count + i, at: one.range[0] })
    const declared = { names: inner, count: scope.count + names.length }
    for (const one of names) this.#note(one, declared, true)
    return declared
  }

  #expression(node: Node, scope: Scope, isTarget = false): void {
    if (node.type === 'Identifier') this.#note(node as Identifier, scope, isTarget)
    else if (node.type === 'MemberExpression') {
      const { base, identifier } = node as never as { base: Node; identifier: Identifier }
      if (base.type === 'Identifier')
        this.#note(base as Identifier, scope, isTarget, { name: identifier.name, end: identifier.range[1] })
      else this.#expression(base, scope)
    } else if (node.type === 'TableKeyString') this.#expression(node.value as Node, scope)
    else if (node.type === 'FunctionDeclaration') this.#body(node, scope)
    else for (const child of children(node)) this.#expression(child, scope)
  }

  #body(node: Node, scope: Scope): void {
    const { parameters, body } = node as never as { parameters: Node[]; body: Node[] }
    this.block(body, this.#declare(parameters.filter((one) => one.type === 'Identifier') as never, scope))
  }

  block(body: readonly Node[], outer: Scope, last?: Node): void {
    let scope = outer
    for (const [i, node] of body.entries()) {
      if (i > 0 && node.type === 'CallStatement') this.#beginnings.add(node.range[0])
      scope = this.#statement(node, scope)
    }
    if (last) this.#expression(last, scope)
  }

  /** Answers what can be seen behind it. */
  #statement(node: Node, scope: Scope): Scope {
    const at = node as never as Parts
    switch (node.type) {
      case 'LocalStatement':
        for (const value of at.init!) this.#expression(value, scope)
        return this.#declare(at.variables as never, scope)
      case 'FunctionDeclaration':
        return this.#function(node, scope)
      case 'AssignmentStatement':
        for (const target of at.variables!) this.#expression(target, scope, true)
        for (const value of at.init!) this.#expression(value, scope)
        return scope
      default:
        this.#blockIn(node, at, scope)
        return scope
    }
  }

  #function(node: Node, scope: Scope): Scope {
    const { isLocal, identifier } = node as never as { isLocal: boolean; identifier?: Node }
    const own = isLocal ? this.#declare([identifier as never], scope) : scope
    if (!isLocal && identifier) this.#expression(identifier, scope, true)
    this.#body(node, own)
    return own
  }

  /** Statements behind which nothing more can be seen than before. */
  #blockIn(node: Node, at: Parts, scope: Scope): void {
    switch (node.type) {
      case 'ForNumericStatement':
        for (const one of [at.start, at.end, at.step]) if (one) this.#expression(one, scope)
        this.block(at.body!, this.#declare([at.variable as never], scope))
        break
      case 'ForGenericStatement':
        for (const one of at.iterators!) this.#expression(one, scope)
        this.block(at.body!, this.#declare(at.variables as never, scope))
        break
      case 'IfStatement':
        for (const { condition, body } of at.clauses as never as Clause[]) {
          if (condition) this.#expression(condition, scope)
          this.block(body, scope)
        }
        break
      case 'WhileStatement':
        this.#expression(at.condition!, scope)
        this.block(at.body!, scope)
        break
      case 'RepeatStatement':
        this.block(at.body!, scope, at.condition)
        break
      case 'DoStatement':
        this.block(at.body!, scope)
        break
      default:
        this.#expression(node, scope)
        break
    }
  }
}

/**
 * The places of all names in some statements, in order.
 *
 * @example placesOf(statements).filter(({ binding }) => !binding).map(({ name }) => name) // ['redis', 'tonumber']
 */
export function placesOf(statements: readonly Node[]): Place[] {
  const walk = new Walk()
  walk.block(statements, { names: new Map(), count: 0 })
  return walk.places.sort((a, b) => a.start - b.start)
}
