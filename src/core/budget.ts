// Each list of a call has its own maximum. This budget limits the sum of all lists.

import { SidejobError } from './errors.ts'
import type { Op } from './run.ts'

/** Microseconds of CPU time of redis-server 7.0. test/limits/sums.slow.test.ts checks these numbers. */
export const parts = {
  jobs: { weight: 11, name: 'jobs' },
  packed: { weight: 4, name: 'equal jobs' },
  parents: { weight: 10, name: 'jobs with a parent' },
  keys: { weight: 7, name: 'unique keys' },
  limits: { weight: 10, name: 'groups and limits' },
  channels: { weight: 8, name: 'channels' },
  aliases: { weight: 4, name: 'aliases' },
  ports: { weight: 2, name: 'ports' },
  filled: { weight: 5, name: 'ports with values' },
  values: { weight: 1, name: 'values' },
  large: { weight: 4, name: 'values over 512 bytes' },
  spawns: { weight: 8, name: 'spawned jobs' },
  messages: { weight: 3, name: 'messages' },
  levels: { weight: 1.6, name: 'parts of channel names' },
  steps: { weight: 3, name: 'steps' },
  entries: { weight: 3, name: 'log entries' },
  writes: { weight: 8, name: 'writes' },
  acts: { weight: 12, name: 'operations on jobs' },
  ops: { weight: 2, name: 'ops' },
  targets: { weight: 1, name: 'port targets' },
  names: { weight: 0.5, name: 'names' },
  bytes: { weight: 1 / 1_024, name: 'bytes' },
} as const satisfies Record<string, { weight: number; name: string }>

export type Part = keyof typeof parts

export type Sum = Map<Part, number>

export const BUDGET = 32_000

export function add(sum: Sum, part: Part, n: number): void {
  if (n > 0) sum.set(part, (sum.get(part) ?? 0) + n)
}

const cost = (part: Part, n: number): number => n * parts[part].weight

export function unitsOf(sum: Sum): number {
  let units = 0
  for (const [part, n] of sum) units += cost(part, n)
  return units
}

export function excessOf(sum: Sum): string | undefined {
  const units = unitsOf(sum)
  if (units <= BUDGET) return undefined
  const [[part, n]] = [...sum].sort((one, other) => cost(...other) - cost(...one)) as [[Part, number]]
  const most = Math.floor((n * BUDGET) / units).toLocaleString('en')
  return `expected at most ${most} ${parts[part].name} in one call, got ${n.toLocaleString('en')}. Send several smaller calls`
}

type Lists = {
  in?: Record<string, { channels?: readonly string[] }>
  out?: Record<string, { channels?: readonly string[] }>
  inputs?: Record<string, readonly unknown[]>
  aliases?: readonly string[]
}

/** Counts values before they are encrypted and encoded, so that refusing a large call costs little. */
export function addLists(sum: Sum, { in: ins = {}, out = {}, inputs, aliases }: Lists): void {
  for (const port in ins) add(sum, 'channels', ins[port]!.channels?.length ?? 0)
  for (const port in out) add(sum, 'names', out[port]!.channels?.length ?? 0)
  for (const port in inputs) add(sum, 'values', inputs[port]!.length)
  add(sum, 'aliases', aliases?.length ?? 0)
}

export function sumOfLists(ops: readonly Op[]): Sum {
  const sum: Sum = new Map()
  for (const op of ops) {
    if (op.op === 'write') add(sum, 'values', op.values.length)
    else if (op.op === 'spawn') addLists(sum, { in: op.inports, out: op.outports, inputs: op.inputs })
    else if (op.op === 'ports' || op.op === 'amend') addLists(sum, { in: op.in, out: op.out })
    else if (op.op === 'channels') add(sum, 'channels', op.set.length)
    else if (op.op === 'connect') add(sum, 'targets', op.to.length)
  }
  return sum
}

export function checkSum(sum: Sum): void {
  const excess = excessOf(sum)
  if (excess !== undefined) throw new SidejobError('TOO_LARGE', excess)
}
