// Splits JSON into coloured pieces without parsing it, so that long numbers keep their digits.

import { type Encoded, encodedToJson } from '../../core/codec/value.ts'
import { bytes, plain } from './text.ts'

export type Piece = { kind: 'p' | 'm' | 's' | 'o' | 'n' | ''; text: string }

const token = /"(?:[^"\\]|\\.)*"|‹[^›]*›|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g
const SECRET = '"[^"]*(?:password|passwd|secret|token|authorization|api_?key)[^"]*"'
const secret = new RegExp(`^${SECRET}$`, 'i')
const covered = new RegExp(String.raw`(${SECRET}\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*)`, 'gi')

const kindOf = (text: string): Piece['kind'] => {
  if (text.startsWith('"')) return 's'
  if (/^[-\d]/.test(text)) return 'n'
  return /^[\w‹]/.test(text) ? 'o' : 'p'
}

/** JSON without whitespace between its values. Numbers keep their digits. */
export const compact = (json: string): string => json.match(token)?.join('') ?? ''

const binary = /\{"\$bin":"([\w+/]*)={0,2}"\}/g

export const shownJson = (value: Encoded): string => {
  // A raw line break is never part of a JSON string.
  const json = encodedToJson(value).replace(/\s*[\r\n]\s*/g, ' ')
  return json.includes('"$bin"') && value.startsWith('~')
    ? json.replace(binary, (_, text: string) => `‹binary, ${bytes(Math.floor((text.length * 3) / 4))}›`)
    : json
}

export const cover = (json: string): string => json.replace(covered, '$1"•••"')

export const coveredText = (json: string, most: number): string => plain(cover(json.slice(0, most)))

export const isSecretName = (name: string): boolean => secret.test(JSON.stringify(name))

/** Hides members whose name suggests a secret. */
export function textOf(value: Encoded, most = 200): { text: string; length: number; isCut: boolean } {
  const whole = shownJson(value)
  return { text: coveredText(whole, most), length: whole.length, isCut: whole.length > most }
}

type Line = { indent: number; pieces: Piece[] }

export function pretty(json: string): Piece[] {
  const tokens = json.match(token) ?? []
  const lines: Line[] = [{ indent: 0, pieces: [] }]
  const open = () => lines.at(-1)!
  const next = (indent: number) => lines.push({ indent, pieces: [] })
  let depth = 0
  tokens.forEach((text, i) => {
    const isName = tokens[i + 1] === ':' && text.startsWith('"')
    if (text === '{' || text === '[') {
      open().pieces.push({ kind: 'p', text })
      const isEmpty = tokens[i + 1] === '}' || tokens[i + 1] === ']'
      if (!isEmpty) next(++depth)
    } else if (text === '}' || text === ']') {
      const isEmpty = tokens[i - 1] === '{' || tokens[i - 1] === '['
      if (!isEmpty) next(--depth)
      open().pieces.push({ kind: 'p', text })
    } else if (text === ',') {
      open().pieces.push({ kind: 'p', text })
      next(depth)
    } else if (text === ':') open().pieces.push({ kind: 'p', text }, { kind: '', text: ' ' })
    else open().pieces.push({ kind: isName ? 'm' : kindOf(text), text: plain(text) })
  })
  return lines.flatMap(({ indent, pieces }, i) => [
    ...(i > 0 ? [{ kind: '' as const, text: `\n${'  '.repeat(indent)}` }] : []),
    ...pieces,
  ])
}

export const formatJson = (json: string): string =>
  pretty(json)
    .map(({ text }) => text)
    .join('')

export const isSecret = (pieces: readonly Piece[], at: number): boolean =>
  (pieces[at]!.kind === 's' || pieces[at]!.kind === 'n') &&
  pieces[at - 3]?.kind === 'm' &&
  secret.test(pieces[at - 3]!.text)
