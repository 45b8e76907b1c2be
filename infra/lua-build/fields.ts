// Lua uses the field names of TypeScript, and the build shortens these names: `doc.lease_until` becomes `doc.le`,
// `fields.lease_until` becomes 'le', and `PLACE.leased` becomes 'l'. The build refuses undeclared names.

import { replies, rows } from '../../src/redis/answers.ts'
import { dayFields, jobFields, laneFields, limitFields, queueFields } from '../../src/redis/keys.ts'
import { scratch } from '../../src/redis/lua/build.ts'
import { AT_REST, marks } from '../../src/redis/marks.ts'
import { calls, type Kind, runFields, verbs } from '../../src/redis/ops.ts'
import { camel, type Edit, type Identifier, type Node, refuse, type Source, snake } from './syntax.ts'

type Names = ReadonlyMap<string, string>
type Member = { base: Node & { name?: string }; identifier: Identifier; indexer: string }
type Call = { base: Node; arguments: Node & { fields: Field[] }; argument?: Node }
type Field = Node & { key: Identifier; value: Node }

const shortsOf = (fields: Record<string, readonly [short: string, ...unknown[]]>): Names =>
  new Map(Object.entries(fields).map(([name, [short]]) => [snake(name), short]))

const records: Record<string, Names> = {
  fields: new Map([...shortsOf(jobFields), ['gone', 'gone']]),
  queue_fields: shortsOf(queueFields),
  limit_fields: shortsOf(limitFields),
  lane_fields: shortsOf(laneFields),
  day_fields: shortsOf(dayFields),
}

const makers: Record<string, string> = { 'cache.find': 'fields', 'cache.need': 'fields', 'cache.queue': 'queue_fields' }

const KINDS = ['table', 'number']

/** Every script contains this table, so kinds are short numbers. */
const kindsOf = (fields: Record<string, readonly string[]>): string =>
  `{${Object.values(fields).flatMap(([name, , kind]) => (kind ? [`${name}=${KINDS.indexOf(kind) + 1}`] : []))}}`

const ofKind = (kind: string): string[] =>
  Object.values(jobFields).flatMap(([name, , is]: readonly string[]) => (is === kind ? [`${name}=1`] : []))

export const shared: Record<string, string> = {
  number_fields: `{${ofKind('number')}}`,
  text_fields: `{${ofKind('text')}}`,
  kinds_of_fields: `{${KINDS.map((kind) => `'${kind}'`)}}`,
  queue_kinds: kindsOf(queueFields),
  limit_kinds: kindsOf(limitFields),
  AT_REST: `{${Object.entries(AT_REST).map(([place, status]) => `${place}='${status}'`)}}`,
}

const short = new Map(Object.values(records).flatMap((names) => [...names]))

const functionsIn = (nodes: readonly Node[]): Member[] =>
  nodes.flatMap((node) => {
    const { type, identifier } = node as never as { type: string; identifier?: Member & Node }
    return type === 'FunctionDeclaration' && identifier?.type === 'MemberExpression' ? [identifier] : []
  })

export function declaredIn(sources: Iterable<Source>): Set<string> {
  const nodes = [...sources].flatMap(({ nodes }) => nodes)
  const keys = nodes.flatMap((node) => (node.type === 'TableKeyString' ? [node.key.name] : []))
  return new Set([...scratch.split(' '), ...keys, ...functionsIn(nodes).map(({ identifier }) => identifier.name)])
}

function recordOf(node: Node | undefined, initOf: ReadonlyMap<number, Node>, at: ReadonlyMap<number, number>): string {
  if (node?.type === 'LogicalExpression' && node.operator === 'and') return recordOf(node.right as Node, initOf, at)
  if (node?.type === 'Identifier') return recordOf(initOf.get(at.get(node.range[0]) ?? -1), initOf, new Map())
  const base = node?.type === 'CallExpression' ? (node.base as unknown as Member) : undefined
  return makers[`${base?.base?.name}.${base?.identifier?.name}`] ?? ''
}

function markOf(table: string, { name, loc }: Identifier, file: string): string {
  const found = Object.entries(marks[table]!).find(([mark]) => snake(mark) === name)
  return found?.[1] ?? refuse(file, loc.start.line, `expected a mark of ${table} (src/redis/marks.ts), got ${name}`)
}

const LIBRARIES = 'redis cjson string math table'.split(' ')

type Where = { file: string; declared: ReadonlySet<string>; modules: ReadonlySet<string> }

export function fieldEdits({ nodes, places, text }: Source, { file, declared, modules }: Where): Edit[] {
  const at = new Map(places.flatMap(({ start, binding }) => (binding ? [[start, binding.at] as const] : [])))
  const locals = nodes.filter((node) => node.type === 'LocalStatement') as never as {
    variables: Node[]
    init: Node[]
  }[]
  const initOf = new Map(
    locals.flatMap(({ variables, init }) => init.map((value, i) => [variables[i]?.range[0] ?? -1, value] as const)),
  )
  const skipped = new Set([...LIBRARIES, ...modules, ...functionsIn(nodes).map(({ base }) => base.name!)])
  const nameOf = ({ name, loc }: Identifier, record = ''): string => {
    const found = record ? records[record]!.get(name) : short.get(name)
    if (found !== undefined || (!record && declared.has(name))) return found ?? name
    const where = record && ` of ${record} (src/redis/keys.ts)`
    const remedy = record ? '' : ': add it to keys.ts, or to scratch in src/redis/lua/build.ts'
    return refuse(file, loc.start.line, `expected a field${where}, got ${name}${remedy}`)
  }
  const whole = (node: Node, by: string): Edit => ({ start: node.range[0], end: node.range[1], text: by })
  const answers = new Set<Node>()
  return nodes.flatMap((node): Edit[] => {
    if (node.type === 'TableCallExpression') {
      const found = answerEdits(node as never, file, text)
      if (found) for (const field of (node as never as Call).arguments.fields) answers.add(field)
      return found ?? []
    }
    if (node.type === 'Identifier' && shared[node.name]) return [whole(node as Node, shared[node.name]!)]
    if (node.type === 'TableKeyString')
      return answers.has(node) ? [] : [whole(node.key as Node, nameOf(node.key as Identifier))]
    if (node.type === 'TableKey' && marks[(node.key as unknown as Member).base?.name ?? '']) {
      const { base, identifier } = node.key as unknown as Member
      const end = text.indexOf(']', identifier.range[1]) + 1
      const mark = markOf(base.name!, identifier, file)
      return /^[a-zA-Z]/.test(mark) ? [{ start: node.range[0], end, text: mark }] : []
    }
    if (node.type !== 'MemberExpression' || node.indexer === ':') return []
    const { base, identifier } = node as never as Member
    const name = base.type === 'Identifier' && !at.has(base.range[0]) ? base.name : ''
    if (records[name]) return [whole(node, `'${nameOf(identifier, name)}'`)]
    if (marks[name]) return [whole(node, `'${markOf(name, identifier, file)}'`)]
    if (name in answerTables || (base.type === 'Identifier' && skipped.has(base.name))) return []
    return [whole(identifier, nameOf(identifier, recordOf(base, initOf, at)))]
  })
}

const answerTables: Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>> = {
  reply: replies,
  row_of: rows,
}

const nothing = (kind: string): string => (kind === 'texts' || /[\]?]$/.test(kind) ? '{},' : "'',")

/** `reply.made { jobs = … }` becomes `{ 'made', … }`, with its values in the order of src/redis/answers.ts. */
function answerEdits(call: Node & Call, file: string, text: string): Edit[] | undefined {
  const { base, identifier } = call.base as never as Member
  const shapes = base?.type === 'Identifier' ? answerTables[base.name!] : undefined
  if (!shapes) return undefined
  const stop = ({ loc }: Node, says: string): never => refuse(file, loc.start.line, says)
  const word = camel(identifier.name)
  const shape = shapes[word]
  if (!shape) return stop(call, `expected an answer (src/redis/answers.ts), got ${base.name}.${identifier.name}`)
  let left = Object.entries(shape).map(([name, kind]) => [snake(name), kind] as const)
  const fields = call.arguments.fields.map((field): Edit => {
    const skips = left.findIndex(([name]) => name === field.key?.name)
    const names = left.map(([name]) => name).join(', ')
    if (skips < 0) stop(field, `expected one of ${names} in ${word}, got ${field.key?.name}`)
    const by = left.slice(0, skips).map(([, kind]) => nothing(kind))
    left = left.slice(skips + 1)
    return { start: field.range[0], end: text.indexOf('=', field.key.range[1]) + 1, text: by.join('') }
  })
  const open = base.name === 'reply' ? `{'${word}'${fields.length ? ',' : ''}` : '{'
  return [{ start: call.range[0], end: call.arguments.range[0] + 1, text: open }, ...fields]
}

type Args = Readonly<Record<string, Kind>>

const wordTables: Record<string, Readonly<Record<string, Args>>> = { verbs: { ...verbs, ...calls }, set: runFields }

const READ = 'args.take()'

/** Lua code that reads an argument, by kind. Functions of run/ops/given.lua read the other kinds. */
const readers: Partial<Record<Kind, string>> = {
  text: READ,
  value: READ,
  side: READ,
  writing: READ,
  field: READ,
  flag: `${READ} == '1'`,
  number: 'args.take_int()',
  list: 'args.take_list()',
  values: 'args.take_list()',
}

/** Lua variables for kinds that take several arguments or have another name in Lua. */
const called: Partial<Record<Kind, string[]>> = {
  target: ['id', 'doc'],
  job: ['spec', 'job_args'],
  fields: ['patched'],
  values: ['texts'],
}

/**
 * Adds statements that read the arguments of a verb, in the order of src/redis/ops.ts. Adds no lines.
 *
 * @example readArguments('lib/run/ops/on_x.lua', 'function verbs.unset(me, field) end') // '… local field =
 * args.take() end'
 */
export function readArguments(file: string, text: string): string {
  if (!file.startsWith('lib/run/ops/')) return text
  const signature = /^function (verbs|set)\.(\w+)\((\w+)((?:, \w+)*)\)/gm
  return text.replace(signature, (_, table: string, verb: string, me: string, more: string, at: number) => {
    const stop = (says: string): never =>
      refuse(file, text.slice(0, at).split('\n').length, `${says} (src/redis/ops.ts)`)
    const args = Object.entries(wordTables[table]![verb] ?? stop(`expected a verb, got ${verb}`))
    const names = args.map(([name, kind]) => called[kind] ?? [snake(name)])
    const wanted = more.split(', ').slice(1)
    for (const name of wanted) if (!names.flat().includes(name)) stop(`expected an argument of ${verb}, got ${name}`)
    const reading = args.map(([, kind], i) => {
      const locals = names[i]!.map((name) => (wanted.includes(name) ? name : '_'))
      return `local ${locals.join(', ')} = ${readers[kind] ?? `given.${kind}(${me})`}`
    })
    return `function ${table}.${verb}(${me}) ${reading.join(' ')}`
  })
}
