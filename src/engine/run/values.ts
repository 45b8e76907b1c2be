import { dotted, parsedBy } from '../../core/issues.ts'
import { ownProperty } from '../../core/own.ts'
import { type Port, type Ports, Terminal, type ValueOf, type Worker } from '../../core/worker.ts'

export type Name<P extends Ports> = '*' extends keyof P ? string : keyof P & string
// biome-ignore lint/suspicious/noExplicitAny: a port of an unknown worker holds anything
export type Value<P extends Ports, K> = 0 extends 1 & P ? any : ValueOf<K extends keyof P ? P[K] : P['*']>

export type Shapes = Pick<Worker, 'in' | 'out' | 'args' | 'result' | 'redact' | 'onCodeChange'>

type Part = 'args' | 'result' | 'in' | 'out'

/** The error is stored. So if any path in `part` is redacted, the message shows no values. */
export function checkedBy({ redact = [] }: Shapes, part: Part, schema: Port['schema'], value: unknown, of: string) {
  if (!schema) return value
  const isSecret = redact.some((path) => path.startsWith(part))
  const { data, fault } = parsedBy(schema, value, isSecret)
  if (!fault) return data
  throw new Terminal(`${of}${fault.path.length > 0 ? ` at ${dotted(fault.path)}` : ''}: ${fault.message}`)
}

export function checkedValue(shapes: Shapes, dir: 'in' | 'out', port: string, value: unknown, of: string): unknown {
  const ports = shapes[dir] ?? {}
  const { schema }: Port = ownProperty(ports, port) ?? ports['*'] ?? {}
  return checkedBy(shapes, dir, schema, value, `${dir}put port "${port}" of ${of}`)
}
