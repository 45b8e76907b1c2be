import { type Encoded, encodedSize } from '../core/codec/value.ts'
import { limits } from '../core/limits.ts'
import type { Changes, Op, PortRef } from '../core/run.ts'
import type { Part } from './changes.ts'

export const tooLarge = (why: string): string => `the changes of this run are too large: ${why}`

export function sizeFault(bytes: number, largest: Part | undefined): string {
  const part = largest ? `; the largest is ${largest.name} with ${largest.bytes}` : ''
  return `expected changes of at most ${limits.runBytes.most} bytes in all, got ${bytes}${part}`
}

const portName = (port: PortRef): string => {
  const own = 'in' in port ? `input port "${port.in}"` : `output port "${port.out}"`
  if ('child' in port) return `${own} of child "${port.child}"`
  return 'job' in port ? `${own} of job ${port.job}` : own
}

type Value = [name: string, value: Encoded | undefined]

function valuesOf(op: Op): Value[] {
  switch (op.op) {
    case 'write':
      return op.values.map((value) => [portName(op.to), value])
    case 'publish':
      return [[`the message to ${op.channel}`, op.message]]
    case 'step':
      return 'value' in op ? [[`step "${op.name}"`, op.value]] : []
    case 'default':
      return 'value' in op ? [[`the default of ${portName(op.of)}`, op.value]] : []
    case 'spawn':
      return [
        [`args of child "${op.name}"`, op.args],
        ...Object.entries(op.inputs ?? {}).flatMap(([port, values]) =>
          values.map((value): Value => [`input port "${port}" of child "${op.name}"`, value]),
        ),
      ]
    default:
      return []
  }
}

export function largestPart({ result, progress, state, ops = [] }: Changes): Part | undefined {
  const values: Value[] = [
    ['the result', result],
    ['progress', progress],
    ...Object.entries(state?.set ?? {}).map(([field, value]): Value => [`state field "${field}"`, value]),
    ...ops.flatMap(valuesOf),
  ]
  let largest: Part | undefined
  for (const [name, value] of values) {
    if (value === undefined || value.length <= (largest?.bytes ?? -1) / 3) continue
    const bytes = encodedSize(value)
    if (bytes > (largest?.bytes ?? -1)) largest = { name, bytes }
  }
  return largest
}
