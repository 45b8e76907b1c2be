import { hexHash } from './hash.ts'

export type Failure = { message?: unknown; stack?: unknown }

export type Kind = {
  fingerprint: string
  message: string
  /** The topmost stack frame in the user's code, without the line number. */
  frame: string | null
}

const LONGEST = 1_000

const VARYING: [RegExp, string][] = [
  [/\bhttps?:\/\/[^\s"'`)\]]+/g, '<url>'],
  [/"[^"\n]{0,500}"|'[^'\n]{0,500}'|`[^`\n]{0,500}`/g, '<text>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*Z?/g, '<time>'],
  [/(?:\.{0,2}\/)[\w.-]+(?:\/[\w.-]+)*/g, '<path>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<id>'],
  [/\d+(?:[.,]\d+)*/g, '#'],
]

const messageKind = (message: string): string =>
  VARYING.reduce((text, [varying, name]) => text.replace(varying, name), message.slice(0, LONGEST)).trim()

const FRAME = /^\s*at (?:async )?(?:(.+?) \()?(.+?):\d+(?::\d+)?\)?$/
const FOREIGN = /node_modules|^node:|<anonymous>|native|^library$/

const partsOf = (line: string): string[] => FRAME.exec(line.slice(0, 500)) ?? []

export function isForeign(line: string): boolean {
  const [, , file] = partsOf(line)
  return file !== undefined && FOREIGN.test(file)
}

function frameOf(stack: string): string | null {
  for (const line of stack.split('\n', 50)) {
    const [, name, file] = partsOf(line)
    if (file === undefined || FOREIGN.test(file)) continue
    const base = file.slice(file.lastIndexOf('/') + 1).replace(/\?.*$/, '')
    return name === undefined ? base : `${name} (${base})`
  }
  return null
}

export function kindOf(className: string, { message, stack }: Failure): Kind {
  const said = messageKind(typeof message === 'string' ? message : '')
  const frame = typeof stack === 'string' ? frameOf(stack) : null
  return { fingerprint: hexHash(`${className}\n${said}\n${frame ?? ''}`, 2), message: said, frame }
}
