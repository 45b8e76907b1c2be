// Minifies Lua 5.1. Each printed line belongs to one source line, so that errors can be traced.

import luaparse from 'luaparse'

type At = { range: [number, number]; loc: { start: { line: number } } }
export type Node = luaparse.Node & At
export type Identifier = luaparse.Identifier & At

/** `at`: offset of the declaration. `depth`: number of other locals that are visible at `at`. */
type Binding = { depth: number; at: number }

export type Place = {
  name: string
  start: number
  end: number
  line: number
  binding?: Binding
  field?: { name: string; end: number }
  isTarget: boolean
}

export type Edit = { start: number; end: number; text: string }

export type Piece = { text: string; lines: number[] }

/** `nodes`: all nodes of the body, parents first. */
export type Source = { text: string; body: readonly Node[]; nodes: readonly Node[]; places: readonly Place[] }

export const children = (node: object): Node[] =>
  Object.entries(node)
    .filter(([name]) => name !== 'loc' && name !== 'range')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== null && typeof value === 'object' && 'type' in value)

export const walk = (node: Node): Node[] => [node, ...children(node).flatMap(walk)]

/** In Lua, `until` is a keyword. */
export const snake = (name: string): string =>
  name === 'until' ? 'till' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const refuse = (file: string, line: number, says: string): never => {
  throw new Error(`${file}:${line}: ${says}`)
}

const remembered = new Map<string, Source>()

/** Tests build hundreds of versions that differ in one file, so the result is cached. */
export function read(text: string): Source {
  const known = remembered.get(text)
  if (known) return known
  const parsed = luaparse.parse(text, { luaVersion: '5.1', locations: true, ranges: true, comments: false })
  const body = parsed.body as Node[]
  const source = { text, body, nodes: body.flatMap(walk), places: placesOf(body) }
  remembered.set(text, source)
  return source
}

type Scope = { names: ReadonlyMap<string, Binding>; count: number }
type Parts = Record<'init' | 'variables' | 'parameters' | 'iterators' | 'body', Node[]> &
  Record<'base' | 'identifier' | 'value' | 'variable' | 'start' | 'end' | 'step' | 'condition', Node | null>

function placesOf(statements: readonly Node[]): Place[] {
  const places: Place[] = []
  const note = ({ name, range: [start, end], loc }: Identifier, scope: Scope, isTarget: boolean, field?: Identifier) =>
    places.push({
      name,
      start,
      end,
      line: loc.start.line,
      isTarget,
      binding: scope.names.get(name),
      ...(field && { field: { name: field.name, end: field.range[1] } }),
    })
  const declare = (nodes: readonly (Node | null)[], scope: Scope): Scope => {
    const names = nodes.filter((node) => node?.type === 'Identifier') as Identifier[]
    const bindings = names.map(({ name, range: [at] }, i) => [name, { depth: scope.count + i, at }] as const)
    const inner = { names: new Map([...scope.names, ...bindings]), count: scope.count + names.length }
    for (const one of names) note(one, inner, true)
    return inner
  }
  const all = (nodes: readonly (Node | null)[], scope: Scope): void => {
    for (const node of nodes) if (node) see(node, scope)
  }
  const block = (body: readonly Node[], scope: Scope): Scope => body.reduce((now, node) => see(node, now), scope)
  const see = (node: Node, scope: Scope, isTarget = false): Scope => {
    const at = node as never as Parts
    switch (node.type) {
      case 'Identifier':
        note(node as Identifier, scope, isTarget)
        break
      case 'MemberExpression':
        if (at.base!.type === 'Identifier') note(at.base as Identifier, scope, isTarget, at.identifier as Identifier)
        else see(at.base!, scope)
        break
      case 'TableKeyString':
        see(at.value!, scope)
        break
      case 'LocalStatement':
        all(at.init, scope)
        return declare(at.variables, scope)
      case 'AssignmentStatement':
        for (const one of at.variables) see(one, scope, true)
        all(at.init, scope)
        break
      case 'FunctionDeclaration': {
        const own = node.isLocal ? declare([at.identifier], scope) : scope
        if (!node.isLocal && at.identifier) see(at.identifier, scope, true)
        block(at.body, declare(at.parameters, own))
        return own
      }
      case 'ForNumericStatement':
        all([at.start, at.end, at.step], scope)
        block(at.body, declare([at.variable], scope))
        break
      case 'ForGenericStatement':
        all(at.iterators, scope)
        block(at.body, declare(at.variables, scope))
        break
      case 'RepeatStatement':
        see(at.condition!, block(at.body, scope))
        break
      case 'DoStatement':
      case 'WhileStatement':
      case 'IfClause':
      case 'ElseifClause':
      case 'ElseClause':
        if (at.condition) see(at.condition, scope)
        block(at.body, scope)
        break
      default:
        all(children(node), scope)
    }
    return scope
  }
  block(statements, { names: new Map(), count: 0 })
  return places.sort((a, b) => a.start - b.start)
}

const SMALL = 'etaoinsrhldcumfpgwybvkxjqz'
const CAPITALS = [...SMALL.toUpperCase()].filter((letter) => letter !== 'F')
const DIGITS = `${SMALL}${SMALL.toUpperCase()}_0123456789`
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const PAIRS = [...SMALL].flatMap((a) => [...DIGITS].map((b) => a + b)).filter((name) => !KEYWORDS.has(name))

/** No shared name is `F`, because the table of the loader has this name. */
export const nameOfShared = (n: number): string => CAPITALS[n] ?? PAIRS[n - CAPITALS.length]!

/** Two locals that are visible together have different depths, so they get different names. */
export const nameOfLocal = (depth: number): string => SMALL[depth] ?? `_${DIGITS[depth - SMALL.length]}`

const TOKEN =
  /\s+|--[^\n]*|'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|\[\[[\s\S]*?\]\]|0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\.\.\.|\.\.|[=~<>]=|[^\s]/g

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character)

/** True if Lua would read the two tokens as one. */
const wouldJoin = (before: string, after: string): boolean =>
  (isWord(before.at(-1)) && isWord(after[0])) ||
  (/\d$/.test(before) && after.startsWith('.')) ||
  (before.endsWith('-') && after.startsWith('-')) ||
  (before.endsWith('[') && after.startsWith('[')) ||
  (before.endsWith('.') && /^[.\d]/.test(after))

type Token = { text: string; line: number }

function tokensOf(source: string, [from, to]: readonly [number, number], edits: readonly Edit[]): Token[] {
  const sorted = edits.filter(({ start }) => start >= from && start < to).sort((a, b) => a.start - b.start)
  let line = source.slice(0, from).split('\n').length
  let next = 0
  const tokens: Token[] = []
  for (const { 0: text, index } of source.slice(from, to).matchAll(TOKEN)) {
    const [at, start] = [line, from + index]
    line += text.split('\n').length - 1
    while (sorted[next] && sorted[next]!.end <= start) next++
    const edit = sorted[next]
    const isIn = edit && edit.start <= start
    if (isIn ? start !== edit.start || edit.text === '' : /^\s|^--/.test(text)) continue
    tokens.push({ text: isIn ? edit.text : text, line: at })
  }
  return tokens
}

/** These tokens cannot cause an error, so their line number does not matter. */
const isCloser = ({ text }: Token): boolean => /^(end|else|[)}\],])$/.test(text)

/** The head of a function cannot cause an error, so its line number does not matter. */
const HEAD = /\bfunction\b[^()\n]*\([^()\n]*\)$/

/** @example print('local a = 1 -- one', [0, 18], []).text // 'local a=1' */
export function print(source: string, range: readonly [number, number], edits: readonly Edit[]): Piece {
  const lines: number[] = []
  let [text, last, line] = ['', '', 0]
  for (const token of tokensOf(source, range, edits)) {
    const breaks = token.line > line && !(lines.length && isCloser(token))
    if (breaks) {
      if (HEAD.test(text.slice(-200))) lines.pop()
      else if (lines.length) text += '\n'
      lines.push(token.line)
      line = token.line
    } else if (wouldJoin(last, token.text)) text += ' '
    text += token.text
    last = token.text
  }
  return { text, lines }
}
