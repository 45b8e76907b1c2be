// Makes Lua small: locals get names of one letter, and what nobody needs between two words goes. A line of the source stays a
// line, so that an error can be told where it happened.

import type { Binding, Place } from './lua-names.ts'

/** A text, and for each of its lines the line that it had in its source. */
export type Piece = { text: string; lines: number[] }

/** A piece of a text that becomes another one. */
export type Edit = { start: number; end: number; text: string }

/** The text with its edits, which do not overlap. */
export const edited = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, { start, end, text: by }) => now.slice(0, start) + by + now.slice(end), text)

const LETTERS = 'etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ_'
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const DIGITS = `${LETTERS}0123456789`

/** The n-th way in which a name may go on: a letter or digit, or two of them. */
export const letterOrDigit = (n: number): string =>
  n < DIGITS.length ? DIGITS[n]! : DIGITS[Math.floor(n / DIGITS.length) - 1]! + DIGITS[n % DIGITS.length]!

/** The names of one letter and what they go on with. */
export function* namesEndingIn(last: string): Generator<string, never> {
  for (const first of LETTERS) if (!KEYWORDS.has(first + last)) yield first + last
  throw new Error(`expected at most ${LETTERS.length} functions in a group, got more`)
}

/** The n-th name of two letters: for what the whole script knows. */
export function nameOfTwo(n: number): string {
  for (let at = 0, left = n; ; at++) {
    const name = LETTERS[Math.floor(at / DIGITS.length)]! + DIGITS[at % DIGITS.length]!
    if (KEYWORDS.has(name)) continue
    if (left-- === 0) return name
  }
}

const short = ({ depth }: Binding): string => LETTERS[depth] ?? `_${DIGITS[depth % 63]}${Math.floor(depth / 63)}`

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

/**
 * A text without what nobody needs.
 *
 * @example squeeze('local a = 1 -- one\n\nreturn  a', 5) // { text: 'local a=1\nreturn a', lines: [5, 7] }
 */
export function squeeze(source: string, first: number): Piece {
  const lines = [first]
  let text = ''
  let before = ''
  let line = first
  let written = first
  for (const [token] of source.matchAll(TOKEN)) {
    const breaks = token.split('\n').length - 1
    if (/^\s|^--/.test(token)) {
      line += breaks
      continue
    }
    if (before && line > written) {
      text += '\n'
      lines.push(line)
    } else if (wouldJoin(before, token)) text += ' '
    if (!before) lines[0] = line
    written = line
    text += token
    before = token
    line += breaks
  }
  return { text, lines }
}
