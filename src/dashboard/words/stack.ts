import { isForeign } from '../../core/fingerprint.ts'
import { plain } from './text.ts'

type StackPart = { isForeign: boolean; lines: string[] }

const MOST = 200

export function stackParts(stack: string): StackPart[] {
  const lines = stack.split('\n', MOST)
  const first = lines.findIndex((line) => /^\s*at /.test(line))
  const parts: StackPart[] = []
  for (const line of lines.slice(Math.max(0, first))) {
    const foreign = isForeign(line)
    const last = parts.at(-1)
    // Lines of source keep their indentation.
    const source = /^ {4}([> ] *\d+ \|.*)$/.exec(line)?.[1]
    const text = plain((source ?? line.trim()).slice(0, 500))
    if (last?.isForeign === foreign) last.lines.push(text)
    else parts.push({ isForeign: foreign, lines: [text] })
  }
  return parts
}
