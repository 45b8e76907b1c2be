// The names and values of ports: their types, and the check of a value against the schema of its port.

import { type Port, type Ports, Terminal, type ValueOf, type Worker } from '../../core/worker.ts'

/** The names that the ports of one side can have: any, where there is a `*`. */
export type Name<P extends Ports> = '*' extends keyof P ? string : keyof P & string
/** The values of one of them; `any` where the job's ports are not known (a plain `Job`). */
// biome-ignore lint/suspicious/noExplicitAny: a port of an unknown worker holds anything
export type Value<P extends Ports, K> = 0 extends 1 & P ? any : ValueOf<K extends keyof P ? P[K] : P['*']>

/** What a worker says of the values of its jobs. */
export type Shapes = Pick<Worker, 'in' | 'out' | 'args' | 'result' | 'onCodeChange'>

// A port may be called like what every object has: `constructor`.
export const ownOf = <T>(ports: Record<string, T>, port: string): T | undefined =>
  Object.hasOwn(ports, port) ? ports[port] : undefined

/** A value as its schema has it; what the schema does not take fails the run, for good. */
export function checkedBy(schema: Port['schema'], value: unknown, of: string): unknown {
  if (!schema) return value
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : ''
  throw new Terminal(`${of}${where}: ${issue?.message}`)
}

/** The same for a port: `of` says whose it is. */
export function checkedValue(shapes: Shapes, dir: 'in' | 'out', port: string, value: unknown, of: string): unknown {
  const ports = shapes[dir] ?? {}
  const { schema }: Port = ownOf(ports, port) ?? ports['*'] ?? {}
  return checkedBy(schema, value, `${dir} port ${port} of ${of}`)
}
