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

/**
 * The places of all names in some statements, in order.
 *
 * @example placesOf(statements).filter(({ binding }) => !binding).map(({ name }) => name) // ['redis', 'tonumber']
 */
export function placesOf(statements: readonly Node[]): Place[] {
  const places: Place[] = []
  const beginnings = new Set<number>()

  const note = (at: Identifier, scope: Scope, isTarget = false, field?: Place['field']) =>
    places.push({
      name: at.name,
      start: at.range[0],
      end: at.range[1],
      line: at.loc.start.line,
      binding: scope.names.get(at.name),
      field,
      isTarget,
      begins: beginnings.has(at.range[0]),
    })

  const declare = (names: readonly Identifier[], scope: Scope): Scope => {
    const inner = new Map(scope.names)
    for (const [i, one] of names.entries())
      inner.set(one.name, { name: one.name, depth: scope.count + i, at: one.range[0] })
    const declared = { names: inner, count: scope.count + names.length }
    for (const one of names) note(one, declared, true)
    return declared
  }

  function expression(node: Node, scope: Scope, isTarget = false): void {
    if (node.type === 'Identifier') note(node as Identifier, scope, isTarget)
    else if (node.type === 'MemberExpression') {
      const { base, identifier } = node as never as { base: Node; identifier: Identifier }
      if (base.type === 'Identifier')
        note(base as Identifier, scope, isTarget, { name: identifier.name, end: identifier.range[1] })
      else expression(base, scope)
    } else if (node.type === 'TableKeyString') expression(node.value as Node, scope)
    else if (node.type === 'FunctionDeclaration') ofFunction(node, scope)
    else for (const child of children(node)) expression(child, scope)
  }

  function ofFunction(node: Node, scope: Scope): void {
    const { parameters, body } = node as never as { parameters: Node[]; body: Node[] }
    block(body, declare(parameters.filter((one) => one.type === 'Identifier') as never, scope))
  }

  function block(body: readonly Node[], outer: Scope, last?: Node): void {
    let scope = outer
    for (const [i, node] of body.entries()) {
      if (i > 0 && node.type === 'CallStatement') beginnings.add(node.range[0])
      scope = statement(node, scope)
    }
    if (last) expression(last, scope)
  }

  /** Answers what can be seen behind it. */
  function statement(node: Node, scope: Scope): Scope {
    const at = node as never as Record<string, Node & Node[]>
    switch (node.type) {
      case 'LocalStatement':
        for (const value of at.init!) expression(value, scope)
        return declare(at.variables as never, scope)
      case 'FunctionDeclaration': {
        const own = (node as { isLocal: boolean }).isLocal ? declare([at.identifier as never], scope) : scope
        if (own === scope && at.identifier) expression(at.identifier, scope, true)
        ofFunction(node, own)
        return own
      }
      case 'AssignmentStatement':
        for (const target of at.variables!) expression(target, scope, true)
        for (const value of at.init!) expression(value, scope)
        return scope
      case 'ForNumericStatement':
        for (const one of [at.start, at.end, at.step]) if (one) expression(one, scope)
        block(at.body!, declare([at.variable as never], scope))
        return scope
      case 'ForGenericStatement':
        for (const one of at.iterators!) expression(one, scope)
        block(at.body!, declare(at.variables as never, scope))
        return scope
      case 'IfStatement':
        for (const clause of at.clauses as never as { condition?: Node; body: Node[] }[]) {
          if (clause.condition) expression(clause.condition, scope)
          block(clause.body, scope)
        }
        return scope
      case 'WhileStatement':
        expression(at.condition!, scope)
        block(at.body!, scope)
        return scope
      case 'RepeatStatement':
        block(at.body!, scope, at.condition)
        return scope
      case 'DoStatement':
        block(at.body!, scope)
        return scope
      default:
        expression(node, scope)
        return scope
    }
  }

  block(statements, { names: new Map(), count: 0 })
  return places.sort((a, b) => a.start - b.start)
}
