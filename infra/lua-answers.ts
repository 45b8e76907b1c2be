// Scripts answer lists, whose places src/redis/answers.ts names: `reply.made { jobs = … }` becomes `{ 'made', … }`, and
// `row_of.ring { queue = q }` becomes `{ q }`. Names that no such answer has, or in another order, are refused.

import { replies, rows } from '../src/redis/answers.ts'
import { type Node, snake, walk } from './lua-names.ts'
import { parseLua } from './lua-parse.ts'
import { type Edit, edited } from './lua-squeeze.ts'

type Shape = Readonly<Record<string, string>>
type Named = { type: string; name: string }
type Ranged = { range: [number, number] }
type Call = Ranged & {
  base: { type: string; base: Named; identifier: Named }
  arguments: Ranged & { fields: (Ranged & { key: Named & Ranged; type: string })[] }
}

const tables: Record<string, Readonly<Record<string, Shape>>> = { reply: replies, row_of: rows }

/** What stands where nothing was given. */
const nothing = (kind: string): string => (kind === 'texts' || /[\]?]$/.test(kind) ? '{}' : "''")

const callsIn = (node: Node): Call[] => walk(node).filter(({ type }) => type === 'TableCallExpression') as never

function editsOf(call: Call, text: string, refuse: (says: string) => never): Edit[] {
  const { base, identifier } = call.base
  const shape = tables[base.name]![identifier.name] ?? tables[base.name]![camel(identifier.name)]
  if (!shape) return refuse(`expected an answer (src/redis/answers.ts), got ${base.name}.${identifier.name}`)
  const places = Object.entries(shape).map(([name, kind]) => [snake(name), kind] as const)
  const word = base.name === 'reply' ? `'${camel(identifier.name)}'${call.arguments.fields.length ? ',' : ''}` : ''
  let at = 0
  const edits = call.arguments.fields.map((field): Edit => {
    const left = places.slice(at)
    const skipped = left.findIndex(([name]) => name === field.key?.name)
    if (field.type !== 'TableKeyString' || skipped < 0)
      return refuse(
        `expected one of ${left.map(([name]) => name).join(', ')} in ${identifier.name}, got ${field.key?.name}`,
      )
    at += skipped + 1
    const given = left.slice(0, skipped).map(([, kind]) => `${nothing(kind)},`)
    return { start: field.range[0], end: text.indexOf('=', field.key.range[1]) + 1, text: given.join('') }
  })
  const open = call.arguments.range[0] + 1
  return [{ start: call.range[0], end: open, text: `{${word}` }, ...edits]
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * The source of a script or module with its answers as lists; every line stays where it is.
 *
 * @example listAnswers('scripts/limit.lua', 'return reply.set { rings = bells.rings }') // "return {'set', bells.rings }"
 */
export function listAnswers(file: string, text: string): string {
  if (!/\b(reply|row_of)\./.test(text)) return text
  const calls = callsIn(parseLua(text) as Node).filter(
    ({ base }) => base.type === 'MemberExpression' && base.base.name in tables,
  )
  // The inner ones first: what they become is part of the outer ones' text.
  return calls
    .toSorted((a, b) => b.range[0] - a.range[0])
    .reduce((now, { range: [start] }) => {
      const call = callsIn(parseLua(now) as Node).find(({ range }) => range[0] === start)!
      const refuse = (says: string): never => {
        throw new Error(`${file}:${now.slice(0, start).split('\n').length}: ${says}`)
      }
      return edited(now, editsOf(call, now, refuse))
    }, text)
}
