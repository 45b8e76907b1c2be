import { maps, parseJson } from './codec/json.ts'
import { writeJson } from './codec/json-writer.ts'
import { type Encoded, encodedToJson, raw } from './codec/value.ts'

export const redactable = ['args', 'state', 'in', 'out', 'result', 'error', 'progress'] as const
type Part = (typeof redactable)[number]

/** Examples: `args.card.number`, `in.orders.address`. */
export const REDACT_PATH = new RegExp(`^(?:${redactable.join('|')})(?:\\.[^.]+)*$`)

export const REDACTED = '[redacted]' as const
const MARK = JSON.stringify(REDACTED)

const digits = { builder: maps, number: (text: string) => raw(text) }

function mark(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.map((item) => mark(item, [name!, ...rest])).includes(true)
  if (!(value instanceof Map) || !value.has(name)) return false
  if (rest.length > 0) return mark(value.get(name), rest)
  value.set(name, REDACTED)
  return true
}

export function redacted<T extends Encoded | null>(value: T, paths: readonly string[], part: Part, name?: string): T {
  if (value === null || paths.length === 0) return value
  const at = name === undefined ? [part] : [part, name]
  const inside: string[][] = []
  // A stack begins with the message of its error, so it is redacted together with the message.
  const all = part === 'error' && paths.includes('error.message') ? [...paths, 'error.stack'] : paths
  for (const path of all) {
    const steps = path.split('.')
    if (!steps.every((step, i) => i >= at.length || step === at[i])) continue
    if (steps.length <= at.length) return MARK as T
    inside.push(steps.slice(at.length))
  }
  if (inside.length === 0) return value
  const tree = parseJson(encodedToJson(value), undefined, digits)
  return inside.map((steps) => mark(tree, steps)).includes(true) ? (writeJson(tree) as T) : value
}
