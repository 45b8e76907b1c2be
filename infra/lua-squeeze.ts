// Makes Lua small: locals get names of one letter, locals that follow each other are declared at once, and what nobody needs
// between two words goes. A line of the source stays a line, so that an error can be told where it happened.

import { type Binding, children, type Node, type Place, placesOf } from './lua-names.ts'
import { parseLua } from './lua-parse.ts'
import { remember } from './remember.ts'

/** A text, and for each of its lines the line that it had in its source. */
export type Piece = { text: string; lines: number[] }

/** A piece of a text that becomes another one. */
export type Edit = { start: number; end: number; text: string }

/** The text with its edits, which do not overlap. */
export const edited = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, { start, end, text: by }) => now.slice(0, start) + by + now.slice(end), text)

/** Small letters are for locals, capitals for what a whole script knows and uses most. */
const SMALL = 'etaoinsrhldcumfpgwybvkxjqz'
const LETTERS = `${SMALL}${SMALL.toUpperCase()}`
/** Those that the builder itself does not use: of `F` see lua-library.ts. */
const CAPITALS = [...SMALL.toUpperCase()].filter((letter) => letter !== 'F')
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const DIGITS = `${LETTERS}_0123456789`

/** The n-th way in which a name may go on: a letter or digit, or two of them. */
const letterOrDigit = (n: number): string =>
  n < DIGITS.length ? DIGITS[n]! : DIGITS[Math.floor(n / DIGITS.length) - 1]! + DIGITS[n % DIGITS.length]!

/** The n-th name of what a whole script knows, in the order of how often it is used: capitals, then two letters. */
export const nameOfShared = (n: number): string => CAPITALS[n] ?? nameOfTwo(n - CAPITALS.length)

/** The n-th name of two letters. */
export function nameOfTwo(n: number): string {
  for (let at = 0, left = n; ; at++) {
    const name = LETTERS[Math.floor(at / DIGITS.length)]! + DIGITS[at % DIGITS.length]!
    if (KEYWORDS.has(name)) continue
    if (left-- === 0) return name
  }
}

const short = ({ depth }: Binding): string => SMALL[depth] ?? `_${letterOrDigit(depth - SMALL.length)}`

/** Locals by their letters: none has that of another that can be seen beside it. */
export const shortLocals = (places: readonly Place[]): Edit[] =>
  places.flatMap(({ start, name, binding }) =>
    binding ? [{ start, end: start + name.length, text: short(binding) }] : [],
  )

const TOKEN =
  /\s+|--[^\n]*|'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|\[\[[\s\S]*?\]\]|0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\.\.\.|\.\.|[=~<>]=|[^\s]/g

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character)

/** Whether two tokens would be another one without anything between them. */
const wouldJoin = (before: string, after: string): boolean =>
  (isWord(before.at(-1)) && isWord(after[0])) ||
  (/\d$/.test(before) && after.startsWith('.')) ||
  (before.endsWith('-') && after.startsWith('-')) ||
  (before.endsWith('[') && after.startsWith('[')) ||
  (before.endsWith('.') && /^[.\d]/.test(after))

/** Tokens with where they stand, but what stands between them. */
type Token = { text: string; line: number }

function tokensOf(source: string, first: number): Token[] {
  let line = first
  return [...source.matchAll(TOKEN)].flatMap(([text]) => {
    const at = line
    line += text.split('\n').length - 1
    return /^\s|^--/.test(text) ? [] : [{ text, line: at }]
  })
}

/** A call of nothing but one text needs no parentheses: `f('a')`. */
function withoutParentheses(tokens: readonly Token[]): Token[] {
  const isCalled = ({ text }: Token): boolean => (isWord(text[0]) && !KEYWORDS.has(text)) || /^[)\]]$/.test(text)
  const isOpen = (at: number): boolean =>
    tokens[at]?.text === '(' &&
    /^['"]/.test(tokens[at + 1]?.text ?? '') &&
    tokens[at + 2]?.text === ')' &&
    isCalled(tokens[at - 1]!)
  return tokens.filter((_, at) => !(at > 0 && isOpen(at)) && !(at > 2 && isOpen(at - 2)))
}

/** Nothing can go wrong in such a line, so that nobody asks where it stands: `end)`, `return nil`. */
function isSafe([first, ...others]: readonly Token[]): boolean {
  if (first!.text === 'end') return others.every(({ text }) => /^[)},]$/.test(text))
  return (
    /^(else|return|break)$/.test(first!.text) && others.length < 2 && others.every(({ text }) => !/^\W$/.test(text))
  )
}

/** The first line of a function, in which nothing can go wrong either: `local function f(a, b)`, `F[7]=function(a, b)`. */
function isHead(line: readonly Token[]): boolean {
  const words = line.map(({ text }) => text)
  const from = words[0] === 'F' && words[3] === ']' && words[4] === '=' ? 5 : 0
  return words.slice(from, from + 2).includes('function') && words.indexOf(')') === words.length - 1
}

function joined(tokens: readonly Token[]): Piece {
  const rows = [...Map.groupBy(tokens, ({ line }) => line).values()]
  const lines: number[] = []
  let text = ''
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1]
    const needsNoLine = before && !wouldJoin(text, row[0]!.text) && (isSafe(row) || isHead(before))
    // An error in what follows a head is told where that stands.
    if (needsNoLine && !isSafe(row)) lines.pop()
    if (before && !needsNoLine) text += '\n'
    if (!needsNoLine || !isSafe(row)) lines.push(row[0]!.line)
    for (const [i, token] of row.entries()) {
      if (i > 0 && wouldJoin(row[i - 1]!.text, token.text)) text += ' '
      text += token.text
    }
  }
  return { text, lines: lines.length ? lines : [tokens[0]?.line ?? 1] }
}

/**
 * A text without what nobody needs.
 *
 * @example squeeze('local a = f("1") -- one\n\nreturn  a', 5) // { text: 'local a=f"1"\nreturn a', lines: [5, 7] }
 */
export const squeeze = (source: string, first: number): Piece =>
  joined(withoutParentheses(tokensOf(atOnce(source), first)))

// ---- locals that follow each other ---------------------------------------------------------------------------------------

type Ranged = { range: [number, number] }
type LocalStatement = Omit<Node, 'range'> & Ranged & { variables: (Ranged & { name: string })[]; init: Ranged[] }

/** Whether a later statement may be part of an earlier one: it looks at nothing that is declared there. */
function mayJoin(first: LocalStatement, next: LocalStatement): boolean {
  if (first.init.length !== first.variables.length || next.init.length === 0) return false
  const declared = new Set(first.variables.map(({ name }) => name))
  return placesOf([next as Node]).every(({ name, isTarget, binding }) => (isTarget && binding) || !declared.has(name))
}

/** The statements of one block, those that may be one in one list. */
function runsOf(body: readonly Node[]): LocalStatement[][] {
  const runs: LocalStatement[][] = []
  for (const [at, node] of body.entries()) {
    if (node.type !== 'LocalStatement') continue
    const local = node as never as LocalStatement
    const last = at > 0 && body[at - 1] === (runs.at(-1)?.at(-1) as unknown) ? runs.at(-1)! : undefined
    if (last?.every((one) => mayJoin(one, local))) last.push(local)
    else runs.push([local])
  }
  return runs.filter((run) => run.length > 1)
}

const bodiesOf = (node: Node): Node[][] => [
  ...('body' in node ? [node.body as Node[]] : []),
  ...children(node).flatMap(bodiesOf),
]

/** `local a = 1` and `local b = 2` as `local a, b = 1, 2`; every value stays on its line. */
function editsOf(run: readonly LocalStatement[], text: string): Edit[] {
  const namesOf = ({ variables }: LocalStatement) => text.slice(variables[0]!.range[0], variables.at(-1)!.range[1])
  const [first, ...others] = run as [LocalStatement, ...LocalStatement[]]
  const at = first.variables.at(-1)!.range[1]
  const names = { start: at, end: at, text: others.map((one) => `,${namesOf(one)}`).join('') }
  return [
    names,
    ...others.map((one, i) => {
      const assigned = text.indexOf('=', one.variables.at(-1)!.range[1]) + 1
      const between = text.slice(run[i]!.range[1], one.range[0])
      return { start: run[i]!.range[1], end: assigned, text: `,${between.includes('\n') ? between : ''}` }
    }),
  ]
}

/** A text whose locals that follow each other, and do not look at each other, are declared at once. */
const atOnce = remember((text: string): string => {
  const runs = bodiesOf(parseLua(text) as Node).flatMap(runsOf)
  return edited(
    text,
    runs.flatMap((run) => editsOf(run, text)),
  )
})
