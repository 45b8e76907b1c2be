// JSON stays text, so that no digit is lost.

import { CLOSED, each, parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import { type Encoded, encodedToJson, raw } from '../../core/codec/value.ts'
import { isObject } from '../../core/is-object.ts'
import { mapValues } from '../../core/map-values.ts'
import { FOREVER_MS } from '../../core/schemas.ts'
import { exactDuration } from '../../core/time.ts'
import type { WorkerDefinition, WorkerUnfit } from '../../engine/engine.ts'
import { numberIn, objectOf, typedJson, unexpected } from './form.ts'
import { count, many } from './text.ts'

export const workerFields = [
  ...(['served', 'url', 'concurrency', 'retries', 'backoff', 'timeout', 'retain', 'history', 'description'] as const),
  ...(['in', 'out', 'args', 'result', 'limits'] as const),
] as const
export type WorkerField = (typeof workerFields)[number]
export type WorkerTexts = Record<WorkerField, string>

export const jsonFields: readonly WorkerField[] = ['in', 'out', 'args', 'result', 'limits']

type Port = NonNullable<WorkerDefinition['in']>[string]

const valueText = (value: Encoded | undefined): string => (value === undefined ? '' : encodedToJson(value))

const portText = ({ default: value, schema, channels }: Port): string =>
  objectOf({
    default: value === undefined ? undefined : encodedToJson(value),
    schema: schema === undefined ? undefined : encodedToJson(schema),
    channels: channels && JSON.stringify(channels),
  })

function portsText(ports: Record<string, Port> = {}): string {
  const lines = Object.entries(ports).map(([name, port]) => `  ${JSON.stringify(name)}:${portText(port)}`)
  return lines.length === 0 ? '' : `{\n${lines.join(',\n')}\n}`
}

const limitsText = (limits: WorkerDefinition['limits']): string =>
  limits?.length
    ? JSON.stringify(
        limits.map(({ rate, ...limit }) => ({
          ...limit,
          ...(rate ? { rate: { ...rate, period: exactDuration(rate.period) } } : {}),
        })),
      )
    : ''

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value))
const lengthText = (ms: number | undefined): string => (ms === undefined ? '' : exactDuration(ms))

/** A list of one delay ends with a comma, because a number without a comma means a first delay. */
function backoffText({ base, delays }: { base?: number; delays?: number[] } = {}): string {
  if (!delays?.length) return lengthText(base)
  return `${delays.map(exactDuration).join(', ')}${delays.length === 1 ? ',' : ''}`
}

export function workerTexts(worker: WorkerDefinition): WorkerTexts {
  const { push, concurrency, retry, timeout, retain, history, description = '' } = worker
  return {
    served: push ? 'push' : 'pull',
    url: push?.url ?? '',
    concurrency: numberText(concurrency),
    retries: numberText(retry?.max),
    backoff: backoffText(retry?.backoff),
    timeout: lengthText(timeout),
    retain: retain === FOREVER_MS ? 'forever' : lengthText(retain),
    history: numberText(history),
    description,
    in: portsText(worker.in),
    out: portsText(worker.out),
    args: valueText(worker.args),
    result: valueText(worker.result),
    limits: limitsText(worker.limits),
  }
}

export const textsIn = (typed: { get: (name: string) => unknown }, is: WorkerTexts): WorkerTexts =>
  Object.fromEntries(
    workerFields.map((name) => {
      const text = typed.get(name)
      return [name, typeof text === 'string' ? text.trim().replaceAll('\r\n', '\n') : is[name]]
    }),
  ) as WorkerTexts

type Tree = Record<string, unknown>
type Members = Record<string, string | undefined>

function portsIn(text: string, name: WorkerField): Tree {
  if (text === '') return {}
  const tree = parseJson(typedJson(text, name), each({ default: CLOSED, schema: CLOSED }))
  if (isObject(tree)) return tree
  throw unexpected(name, `an object, got ${text.slice(0, 60)}`)
}

const membersOf = (port: Tree): Members =>
  mapValues(port, (value, name) => writeJson(name === 'default' || name === 'schema' ? raw(value as Encoded) : value))

const differing = (is: Members, was: Members): string =>
  objectOf(mapValues({ ...was, ...is }, (_, name) => (is[name] === was[name] ? undefined : (is[name] ?? 'null'))))

function portsPatch(name: 'in' | 'out', is: WorkerTexts, was: WorkerTexts): string {
  const [before, after] = [portsIn(was[name], name), portsIn(is[name], name)]
  const changed = mapValues({ ...before, ...after }, (_, port) => {
    if (!Object.hasOwn(after, port)) return 'null'
    const value = after[port]
    if (!isObject(value)) return writeJson(value)
    if (!Object.hasOwn(before, port)) return objectOf(membersOf(value))
    const members = differing(membersOf(value), membersOf(before[port] as Tree))
    return members === '{}' ? undefined : members
  })
  return objectOf(changed)
}

const waitsIn = (text: string): Members =>
  text.includes(',')
    ? { delays: JSON.stringify(text.split(',').flatMap((one) => one.trim() || [])) }
    : { base: JSON.stringify(text) }

/** A stored list of delays overrides a first delay, so a new first delay must remove the list. */
function waitsPatch(text: string): string {
  const waits = text === '' ? {} : waitsIn(text)
  return objectOf(waits.delays === undefined ? { base: 'null', delays: 'null', ...waits } : waits)
}

const asNumber = (text: string, name: WorkerField): string => String(numberIn(text, name))
const asText = (text: string): string => JSON.stringify(text)

const members = {
  concurrency: asNumber,
  timeout: asText,
  retain: asText,
  history: asNumber,
  description: asText,
  args: typedJson,
  result: typedJson,
  limits: typedJson,
}

function bodyMembers(is: WorkerTexts, names: ReadonlySet<WorkerField>, waits: (text: string) => string): Members {
  const jsonValue = (name: WorkerField, json: (text: string, name: WorkerField) => string): string | undefined =>
    names.has(name) ? (is[name] === '' ? 'null' : json(is[name], name)) : undefined
  const [max, backoff] = [jsonValue('retries', asNumber), names.has('backoff') ? waits(is.backoff) : undefined]
  return {
    ...mapValues(members, (json, name) => jsonValue(name as WorkerField, json)),
    retry: (max ?? backoff) === undefined ? undefined : objectOf({ max, backoff }),
  }
}

export function workerBodyOf(is: WorkerTexts): string {
  const filled = new Set(workerFields.filter((name) => is[name] !== ''))
  return objectOf({
    ...(is.served === 'push' ? { push: objectOf({ url: JSON.stringify(is.url) }) } : { pull: 'true' }),
    ...bodyMembers(is, filled, (text) => objectOf(waitsIn(text))),
    in: filled.has('in') ? typedJson(is.in, 'in') : undefined,
    out: filled.has('out') ? typedJson(is.out, 'out') : undefined,
  })
}

export function workerPatchOf(is: WorkerTexts, was: WorkerTexts): string {
  const changed = new Set(workerFields.filter((name) => is[name] !== was[name]))
  const url = objectOf({ url: JSON.stringify(is.url) })
  const [isPush, isServed] = [is.served === 'push', changed.has('served')]
  return objectOf({
    pull: isServed ? (isPush ? 'null' : 'true') : undefined,
    push: isPush && (isServed || changed.has('url')) ? url : isServed ? 'null' : undefined,
    ...bodyMembers(is, changed, waitsPatch),
    in: changed.has('in') ? portsPatch('in', is, was) : undefined,
    out: changed.has('out') ? portsPatch('out', is, was) : undefined,
  })
}

export function unfitWords({ jobs, looked, more, values }: WorkerUnfit): string {
  if (looked === 0)
    return more ? 'None of the newest jobs is a waiting job of this class.' : 'No jobs of this class are waiting.'
  const all = `${more ? 'the newest ' : ''}${many(looked, 'waiting job')}`
  if (jobs === 0) return `Checked ${all}. All match.`
  const [first] = values
  const where = first!.port === null ? 'args' : `port ${first!.port}`
  return `${count(jobs)} of ${all} would not match the new schemas. For example, #${first!.job}, ${where}: ${first!.why}`
}
