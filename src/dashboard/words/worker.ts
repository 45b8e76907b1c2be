// A registered class as fields of a form, and as the patch that such fields say.

import { encodedToJson } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { WorkerDefinition } from '../../engine/engine.ts'
import { jsonText, numberIn, objectOf } from './form.ts'

export const workerFields = [
  ...(['served', 'url', 'concurrency', 'retries', 'timeout', 'description', 'in', 'args'] as const),
] as const
export type WorkerField = (typeof workerFields)[number]
export type WorkerTexts = Record<WorkerField, string>

type Port = NonNullable<WorkerDefinition['in']>[string]

const portText = ({ default: value, schema, channels }: Port): string =>
  objectOf({
    default: value === undefined ? undefined : encodedToJson(value),
    schema: schema === undefined ? undefined : encodedToJson(schema),
    channels: channels && JSON.stringify(channels),
  })

const textOf = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** What stands in the fields of a class. */
export function workerTexts(worker: WorkerDefinition): WorkerTexts {
  const { push, concurrency, retry, timeout, description = '', in: inputs = {}, args } = worker
  const ports = Object.entries(inputs).map(([name, port]) => [name, portText(port)] as const)
  return {
    served: push ? 'push' : 'pull',
    url: push?.url ?? '',
    concurrency: textOf(concurrency),
    retries: textOf(retry?.max),
    timeout: timeout === undefined ? '' : `${timeout / 1_000}s`,
    description,
    in: ports.length === 0 ? '' : objectOf(Object.fromEntries(ports)),
    args: args === undefined ? '' : encodedToJson(args),
  }
}

type Tree = Record<string, unknown>

function treeIn(text: string, name: string): Tree {
  if (text === '') return {}
  const tree: unknown = JSON.parse(jsonText(text, name))
  if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) return tree as Tree
  throw new SidejobError('BAD_REQUEST', `${name}: expected an object, got ${text.slice(0, 60)}`, { path: [name] })
}

const nothingOf = (tree: unknown): Tree =>
  Object.fromEntries(Object.keys((tree ?? {}) as Tree).map((name) => [name, null]))

/** Ports that are another now, each whole, and null for those that are there no more; the others are not said. */
function portsPatch(was: string, is: string): Tree {
  const [before, after] = [treeIn(was, 'in'), treeIn(is, 'in')]
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name])
  return Object.fromEntries([
    ...Object.keys(before).flatMap((name) => (Object.hasOwn(after, name) ? [] : [[name, null] as const])),
    ...Object.entries(after).flatMap(([name, port]) => {
      if (Object.hasOwn(before, name) && isSame(name)) return []
      const isObject = typeof port === 'object' && port !== null
      return [[name, isObject ? { ...nothingOf(before[name]), ...port } : port] as const]
    }),
  ])
}

/** What a class is to be, of which these fields were changed. */
export function workerPatchOf(is: WorkerTexts, was: WorkerTexts): Tree {
  const changed = new Set(workerFields.filter((name) => is[name] !== was[name]))
  const numbered = (name: 'concurrency' | 'retries') => (is[name] === '' ? null : numberIn(is[name], name))
  const isPush = is.served === 'push'
  return {
    ...(changed.has('served') ? { pull: isPush ? null : true, push: isPush ? { url: is.url } : null } : {}),
    ...(changed.has('url') && isPush ? { push: { url: is.url } } : {}),
    ...(changed.has('concurrency') ? { concurrency: numbered('concurrency') } : {}),
    ...(changed.has('retries') ? { retry: { max: numbered('retries') } } : {}),
    ...(changed.has('timeout') ? { timeout: is.timeout || null } : {}),
    ...(changed.has('description') ? { description: is.description || null } : {}),
    ...(changed.has('in') ? { in: portsPatch(was.in, is.in) } : {}),
    ...(changed.has('args') ? { args: is.args === '' ? null : JSON.parse(jsonText(is.args, 'args')) } : {}),
  }
}
