import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { SidejobError, type Skew } from '../../core/errors.ts'
import { dotted } from '../../core/issues.ts'
import { type Check, checkOf, type Fault } from '../../core/json-schema/index.ts'
import { most, type Path } from '../../core/json-schema/schema.ts'
import { jsonSchemaOf, zodCheck } from '../../core/json-schema/zod.ts'
import { ownProperty } from '../../core/own.ts'
import type { Changes, Op } from '../../core/run.ts'
import { hashOfFunction, schemaHash } from '../../core/schema-hash.ts'
import { callable, type Use } from '../../core/url.ts'
import type { Ports, Worker } from '../../core/worker.ts'
import type { Call, Dir, WorkerDefinition } from '../engine.ts'

type Described = { local?: Worker; definition: WorkerDefinition }

type Inputs = Record<string, { values: { data: Encoded }[]; default?: { data: Encoded } }>

const DEFAULT = 'default'

type Part = 'args' | 'result' | { dir: Dir; port: string }

const nameOf = (part: Part): string => (typeof part === 'string' ? part : `${part.dir}put port "${part.port}"`)

const portOf = <P>(ports: Record<string, P> | undefined, port: string): P | undefined =>
  ports && (ownProperty(ports, port) ?? ports['*'])

function schemaOf(worker: Worker, part: Part): Worker['args'] {
  return typeof part === 'string' ? worker[part] : portOf(worker[part.dir], part.port)?.schema
}

function textOf(definition: WorkerDefinition, part: Part): Encoded | undefined {
  return typeof part === 'string' ? definition[part] : portOf(definition[part.dir], part.port)?.schema
}

function make({ local, definition }: Described, part: Part): Check | undefined {
  if (local?.checked === 'run') return undefined
  const schema = local && schemaOf(local, part)
  if (local) return schema && zodCheck(schema)
  const text = textOf(definition, part)
  return text === undefined ? undefined : checkOf(decodeValue(text), { lenient: true })
}

/** A function would not receive members that its class does not define, so they are refused. */
function makeStrict(found: Described, part: Part): Check | undefined {
  const usual = checkFor(found, part)
  const text = textOf(announcedDefinition(found), part)
  if (text === undefined) return usual
  const strict = checkOf(decodeValue(text), { lenient: true, strict: true })
  return (value, bytes) => usual?.(value, bytes) ?? strict(value, bytes)
}

const made = new WeakMap<Described, Map<string, Check | undefined>>()

function checkFor(found: Described, part: Part, isStrict = false): Check | undefined {
  const checks = made.get(found) ?? new Map<string, Check | undefined>()
  made.set(found, checks)
  const name = `${isStrict ? 'strict ' : ''}${nameOf(part)}`
  if (!checks.has(name)) checks.set(name, isStrict ? makeStrict(found, part) : make(found, part))
  return checks.get(name)
}

export function faultIn(found: Described | undefined, part: Part, value: Encoded, isStrict = false): Fault | undefined {
  return found && checkFor(found, part, isStrict)?.(decodeValue(value), value.length)
}

const differs = (found: Described, other: Described | undefined, part: Part): boolean =>
  other !== found &&
  (!other ||
    schemaHash({ args: textOf(found.definition, part) }) !== schemaHash({ args: textOf(other.definition, part) }))

function faultInInputs(found: Described, inputs: Inputs, written: Described | undefined): Fault | undefined {
  for (const [port, { values, default: fallback }] of Object.entries(inputs)) {
    const part: Part = { dir: 'in', port }
    const isStrict = differs(found, written, part)
    const all = [...values.entries(), ...(fallback ? [[DEFAULT, fallback] as const] : [])]
    if (all.length && portOf(written?.definition.in, port) && !portOf(found.definition.in, port))
      return { path: ['inputs', port], message: 'unknown port' }
    for (const [i, { data }] of all) {
      const fault = faultIn(found, part, data, isStrict)
      if (fault) return { ...fault, path: ['inputs', port, i, ...fault.path] }
    }
  }
  return undefined
}

/** `written` is the definition at the time when the inputs were written. */
export function faultInJob(
  found: Described,
  { args = 'null', schema }: { args?: string; schema?: string },
  inputs: Inputs,
  written: Described | undefined,
): Fault | undefined {
  const fault = schema === schemaOfClass(found) ? undefined : faultIn(found, 'args', args, true)
  return fault ? { ...fault, path: ['args', ...fault.path] } : faultInInputs(found, inputs, written)
}

const hashes = new WeakMap<Described, string | undefined>()

export function schemaOfClass(found: Described | undefined): string | undefined {
  if (!found) return undefined
  if (!hashes.has(found)) hashes.set(found, found.local ? hashOfFunction(found.local) : schemaHash(found.definition))
  return hashes.get(found)
}

export function skewOf(found: Described | undefined, name: string, built: string | undefined): Skew | undefined {
  if (built === undefined) return undefined
  const current = schemaOfClass(found)
  return current === undefined || current === built ? undefined : { class: name, current, built }
}

export const skewed = (schema: Skew, who: 'caller' | 'worker', what: string, path?: Path): SidejobError =>
  new SidejobError(
    'SCHEMA_CHANGED',
    `${what}. Class ${schema.class} has schema ${schema.current}, and the ${who} was built against ${schema.built}: build and deploy the ${who} again`,
    { path, schema },
  )

export function checkValue(
  found: Described | undefined,
  className: string,
  part: Part,
  value: Encoded,
  at: Path,
  built?: string,
): void {
  const skew = skewOf(found, className, built)
  const fault = faultIn(found, part, value, skew !== undefined)
  if (!fault) return
  const path = [...at, ...fault.path]
  const message = `${dotted(path)}: ${fault.message} (${nameOf(part)} of class ${className})`
  throw skew ? skewed(skew, 'caller', message, path) : new SidejobError('REFUSED', message, { path })
}

export function checkValues(
  found: Described | undefined,
  name: string,
  part: Part,
  values: Encoded[],
  at: Path,
  built?: string,
): void {
  for (const [i, value] of values.entries()) checkValue(found, name, part, value, [...at, i], built)
}

export const checkArgs = (found: Described | undefined, name: string, args = 'null', built?: string): void =>
  checkValue(found, name, 'args', args, ['args'], built)

export function faultOfRun(found: Described, changes: Changes, built: Described | undefined): Fault | undefined {
  if (changes.result !== undefined && changes.end === 'completed') {
    const fault = faultIn(found, 'result', changes.result, differs(found, built, 'result'))
    if (fault) return { ...fault, path: ['result', ...fault.path] }
  }
  for (const [i, op] of (changes.ops ?? []).entries()) {
    if (op.op !== 'write' || 'child' in op.to || 'job' in op.to) continue
    const part: Part = 'in' in op.to ? { dir: 'in', port: op.to.in } : { dir: 'out', port: op.to.out }
    const isStrict = differs(found, built, part)
    for (const [n, value] of op.values.entries()) {
      const fault = faultIn(found, part, value, isStrict)
      if (fault) return { ...fault, path: ['ops', i, 'values', n, ...fault.path] }
    }
  }
  return undefined
}

function checkSchema(schema: Encoded | undefined, path: Path): void {
  if (schema === undefined) return
  const refuse = (at: Path, message: string, cause?: unknown) => {
    throw new SidejobError('BAD_REQUEST', `${dotted(at)}: ${message}`, { path: at, cause })
  }
  if (schema.length > most.bytes) refuse(path, `expected a schema of at most ${most.bytes} bytes, got ${schema.length}`)
  try {
    checkOf(decodeValue(schema))
  } catch (error) {
    refuse([...path, ...((error as { path?: Path }).path ?? [])], (error as Error).message, error)
  }
}

export function checkSchemas(definition: WorkerDefinition): void {
  checkSchema(definition.args, ['args'])
  checkSchema(definition.result, ['result'])
  for (const dir of ['in', 'out'] as const)
    for (const [port, { schema }] of Object.entries(definition[dir] ?? {})) checkSchema(schema, [dir, port, 'schema'])
}

const portsWithSchemas = (specs: WorkerDefinition['in'], ports: Ports = {}): WorkerDefinition['in'] =>
  Object.fromEntries(
    Object.entries(specs ?? {}).map(([name, spec]) => {
      const schema = jsonSchemaOf(ports[name]?.schema)
      return [name, schema === undefined ? spec : { ...spec, schema }]
    }),
  )

/** The definition of a function, with the JSON Schemas of its code. */
export function announcedDefinition({ local: worker, definition }: Described): WorkerDefinition {
  if (!worker || worker.checked === 'run') return definition
  const [args, result] = [jsonSchemaOf(worker.args), jsonSchemaOf(worker.result)]
  return {
    ...definition,
    ...(args === undefined ? {} : { args }),
    ...(result === undefined ? {} : { result }),
    in: portsWithSchemas(definition.in, worker.in),
    out: portsWithSchemas(definition.out, worker.out),
  }
}

export function checkedUrl(url: string, allowHosts: readonly string[], use: Use, path: string[]): URL {
  try {
    return callable(url, allowHosts, use)
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    throw new SidejobError(error.code, `${path.join('.')}: ${error.message}`, { path, cause: error })
  }
}

const ROOT = '/'

/** The channel `/` receives every message, so only admins may connect it. */
export function checkRoot(ports: Record<string, { channels?: readonly string[] }> = {}, call: Call | undefined): void {
  if (!call?.rootless) return
  const port = Object.keys(ports).find((name) => ports[name]!.channels?.includes(ROOT))
  if (port !== undefined) throw rootless(port)
}

const rootless = (port: string): SidejobError =>
  new SidejobError(
    'FORBIDDEN',
    `input port "${port}": only the scope "admin" may listen to "/", which receives every message`,
  )

export function checkRootOfRun(ops: readonly Op[]): SidejobError | undefined {
  for (const op of ops) {
    const channels = op.op === 'channels' && 'in' in op.of ? { [op.of.in]: { channels: op.set } } : {}
    const ports = op.op === 'spawn' ? op.inports : op.op === 'ports' || op.op === 'amend' ? op.in : channels
    const port = Object.keys(ports ?? {}).find((name) => ports![name]!.channels?.includes(ROOT))
    if (port !== undefined) return rootless(port)
  }
  return undefined
}
