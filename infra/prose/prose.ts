import { rules } from './rules.ts'

/** Maximum characters, except in tables, code, and lines that consist of one link. */
const MAX_LINE = 120

type Piece = { line: number; text: string }

const sentencesOf = (text: string): string[] =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?;:])\s+(?=[A-Z`*("])/)
    .filter((sentence) => sentence.split(' ').length >= 4)

function* linesOfMarkdown(text: string): Generator<{ line: number; text: string; isTable: boolean }> {
  let isCode = false
  for (const [i, line] of text.split('\n').entries()) {
    const isFence = /^\s*```/.test(line)
    if (isFence) isCode = !isCode
    const isProse = !isFence && !isCode && !/^(#|!\[|<!--)/.test(line)
    yield { line: i + 1, text: isProse ? line : '', isTable: isProse && line.startsWith('|') }
  }
}

function* piecesOfMarkdown(text: string): Generator<Piece> {
  let from = 0
  let buffer = ''
  for (const { line, text: own, isTable } of linesOfMarkdown(text)) {
    const isItem = /^\s*([-*]|\d+\.)\s/.test(own)
    if ((own.trim() === '' || isTable || isItem) && buffer) {
      yield { line: from, text: buffer }
      buffer = ''
    }
    if (isTable) {
      for (const cell of own.split('|')) if (cell.trim().split(' ').length >= 5) yield { line, text: cell.trim() }
    } else if (own.trim()) {
      if (!buffer) from = line
      buffer += ` ${own.replace(/^\s*([-*>]|\d+\.)\s*/, '')}`
    }
  }
  if (buffer) yield { line: from, text: buffer }
}

/** These comments are signatures, or instructions for tools. */
const SIGNATURE = /^(keys|args|reads|writes|returns|@|biome-|eslint|#)/

const isSentence = (literal: string): boolean =>
  literal.split(' ').length >= 4 && /[a-z]{3}/.test(literal) && !/[<>=]{1}\/|=>|;$/.test(literal)

function* piecesOfCode(path: string, text: string): Generator<Piece> {
  const isLua = path.endsWith('.lua')
  const comment = isLua ? /^\s*--\s?(?!\[)(.*)$/ : /^\s*(?:\/\/|\/\*\*?|\*)\s?(.*?)(?:\*\/)?$/
  const trailing = isLua ? /\s--\s(.+)$/ : /[;,{})\]]\s*\/\/\s(.+)$/
  let from = 0
  let buffer = ''
  for (const [i, line] of text.split('\n').entries()) {
    const own = comment.exec(line)?.[1]?.trim()
    if (own && !SIGNATURE.test(own)) {
      if (!buffer) from = i + 1
      buffer += ` ${own}`
      continue
    }
    if (buffer) yield { line: from, text: buffer }
    buffer = ''
    const after = trailing.exec(line)?.[1]
    if (after) yield { line: i + 1, text: after }
    for (const [, , literal = ''] of line.matchAll(/(['"`])((?:(?!\1)[^\\]|\\.){12,}?)\1/g)) {
      if (isSentence(literal)) yield { line: i + 1, text: literal }
    }
    const inner = path.endsWith('.tsx') ? />\s*([A-Z][^<>{}]{18,})\s*</.exec(line)?.[1] : undefined
    if (inner) yield { line: i + 1, text: inner }
  }
  if (buffer) yield { line: from, text: buffer }
}

type Sentence = { line: number; sentence: string }

function sentencesIn(path: string, text: string): Sentence[] {
  const pieces = [...(path.endsWith('.md') ? piecesOfMarkdown(text) : piecesOfCode(path, text))]
  return pieces.flatMap(({ line, text: prose }) => sentencesOf(prose).map((sentence) => ({ line, sentence })))
}

export function readProse(path: string, text: string) {
  const sentences = sentencesIn(path, text)
  const hits = sentences.flatMap(({ line, sentence }) => {
    const rule = rules.find(({ pattern }) => pattern.test(sentence))
    return rule ? [{ line, sentence, rule: rule.name, advice: rule.advice }] : []
  })
  return { sentences: sentences.length, hits }
}

export const longLines = (text: string): number[] =>
  [...linesOfMarkdown(text)]
    .filter(
      ({ text: own, isTable }) => !isTable && own.length > MAX_LINE && !/^\S*\[[^\]]*\]\(\S+\)\S*$/.test(own.trim()),
    )
    .map(({ line }) => line)
