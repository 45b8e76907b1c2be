// Each list of a call has its own maximum. This budget limits the sum of all lists.

import { SidejobError } from './errors.ts'
import type { Op } from './run.ts'

/** Microseconds of CPU time of redis-server 7.0. test/limits/sums.slow.test.ts checks these numbers. */
export const weights = {
  jobs: 11,
  packed: 4,
  parents: 10,
  keys: 7,
  limits: 10,
  channels: 8,
  aliases: 4,
  ports: 2,
  filled: 5,
  values: 1,
  large: 4,
  spawns: 8,
  messages: 3,
  levels: 1.6,
  steps: 3,
  entries: 3,
  writes: 8,
  acts: 12,
  ops: 2,
  targets: 1,
  names: 0.5,
  bytes: 1 / 1_024,
} as const

export type Part = keyof typeof weights

const names: Partial<Record<Part, string>> = {
  packed: 'equal jobs',
  parents: 'jobs with a parent',
  keys: 'unique keys',
  limits: 'groups and limits',
  filled: 'ports with values',
  large: 'values over 512 bytes',
  spawns: 'spawned jobs',
  levels: 'parts of channel names',
  entries: 'log entries',
  acts: 'operations on jobs',
  targets: 'port targets',
}

export const nameOf = (part: Part): string => names[part] ?? part

export type Sum = Map<Part, number>

export const BUDGET = 32_000

export function add(sum: Sum, part: Part, n: number): void {
  if (n > 0) sum.set(part, (sum.get(part) ?? 0) + n)
}

const cost = (part: Part, n: number): number => n * weights[part]

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
  return `expected at most ${most} ${nameOf(part)} in one call, got ${n.toLocaleString('en')}. Send several smaller calls`
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
