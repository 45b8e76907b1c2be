import { type Port, type Ports, Terminal, type ValueOf, type Worker } from '../../core/worker.ts'

export type Name<P extends Ports> = '*' extends keyof P ? string : keyof P & string
// biome-ignore lint/suspicious/noExplicitAny: a port of an unknown worker holds anything
export type Value<P extends Ports, K> = 0 extends 1 & P ? any : ValueOf<K extends keyof P ? P[K] : P['*']>

export type Shapes = Pick<Worker, 'in' | 'out' | 'args' | 'result' | 'onCodeChange'>

export const ownOf = <T>(ports: Record<string, T>, port: string): T | undefined =>
  Object.hasOwn(ports, port) ? ports[port] : undefined

export function checkedBy(schema: Port['schema'], value: unknown, of: string): unknown {
  if (!schema) return value
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue?.path.length ? ` at ${issue.path.join('.')}` : ''
  throw new Terminal(`${of}${where}: ${issue?.message}`)
}

export function checkedValue(shapes: Shapes, dir: 'in' | 'out', port: string, value: unknown, of: string): unknown {
  const ports = shapes[dir] ?? {}
  const { schema }: Port = ownOf(ports, port) ?? ports['*'] ?? {}
  return checkedBy(schema, value, `${dir}put port "${port}" of ${of}`)
}
