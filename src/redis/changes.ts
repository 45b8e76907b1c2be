// What a run did, as the arguments that lib/run/finish.lua and lib/run/ops/*.lua take.

import { type Encoded, encodeValue } from '../core/codec/value.ts'
import { limits } from '../core/limits.ts'
import type { Changes, JobRef, Op, PortOptions, PortRef } from '../core/run.ts'
import { itemText } from './item.ts'
import { jobArguments, type NewJob } from './new-job.ts'
import { purposes, type Vault } from './vault.ts'

/** Words of one op: its name, then its arguments. */
export type Words = string[]

/** A run's end as the engine has decided it: what the worker said, with times and retries worked out. */
export type RunOutcome = {
  token: string
  n: number
  end: Changes['end'] | 'released' | 'skipped'
  words: Words
  /** What is said beside its error where it cannot be committed: when it is tried again. */
  again?: Words
  /** Milliseconds from the request that lent the run to its beginning, by the clock of the lane. */
  late?: number
}

const targetOf = (ref: JobRef | PortRef): string => {
  if ('child' in ref) return `>${ref.child}`
  return 'job' in ref ? String(ref.job) : ''
}

export const portWords = (ref: PortRef): Words =>
  'in' in ref ? [targetOf(ref), 'i', ref.in] : [targetOf(ref), 'o', ref.out]

const listWords = (list: readonly string[]): Words => [String(list.length), ...list]

const specWords = (specs: PortOptions, vault: Vault): Words => {
  const entries = Object.entries(specs)
  const words = [String(entries.length)]
  for (const [port, { default: value, channels = [] }] of entries)
    words.push(
      port,
      value === undefined ? '0' : '1',
      value === undefined ? '' : `=${vault.seal(value)}`,
      ...listWords(channels),
    )
  return words
}

const countWords = (counts: Record<string, number> = {}): Words => {
  const rows = Object.entries(counts)
  return [String(rows.length), ...rows.flatMap(([port, n]) => [port, String(n)])]
}

const flag = (on: boolean | undefined): string => (on ? '1' : '')
const text = (n: number | undefined): string => (n === undefined ? '' : String(n))

type Writing = { values: Encoded[]; context?: Encoded; notify?: boolean; log?: boolean; setDefault?: boolean }

export const writeWords = (to: PortRef, { values, context, notify, log, setDefault }: Writing, vault: Vault): Words => [
  'write',
  ...portWords(to),
  `${notify === false ? 'q' : ''}${setDefault ? 'd' : ''}`,
  ...listWords(
    values.map((data) => vault.sealItem(itemText({ data, context, log: log === false ? false : undefined }))),
  ),
]

const amendWords = (
  dir: 'i' | 'o',
  { of, in: ins, out, drop = {} }: Extract<Op, { op: 'amend' }>,
  vault: Vault,
): Words => {
  const [specs, gone] = dir === 'i' ? [ins, drop.in] : [out, drop.out]
  return specs || gone
    ? ['amend', of ? targetOf(of) : '', dir, ...specWords(specs ?? {}, vault), ...listWords(gone ?? [])]
    : []
}

export const publishWords = (channel: string, data: Encoded, vault: Vault, context?: Encoded): Words => [
  'publish',
  channel,
  vault.sealItem(itemText({ data, context, channel })),
]

export const defineWords = (dir: 'i' | 'o', specs: PortOptions, vault: Vault, of?: JobRef): Words => [
  'ports',
  of ? targetOf(of) : '',
  dir,
  ...specWords(specs, vault),
]

// Of an entry that is too large only its size is sent, so that a run does not fail for what it logs.
const keptEntry = (entry: Encoded): Encoded =>
  entry.length <= limits.logBytes.most
    ? entry
    : encodeValue({
        message: `an entry of ${entry.length} characters, of which only its size is kept`,
        $size: entry.length,
      })

/** A line of the log. */
export const logWords = (entry: Encoded, vault: Vault): Words => ['log', 'info', vault.seal(keptEntry(entry))]

type Encoder = { [K in Op['op']]: (op: Extract<Op, { op: K }>, vault: Vault, context: Encoded | undefined) => Words }

const encoders: Omit<Encoder, 'spawn'> = {
  write: (op, vault, context) => writeWords(op.to, { ...op, context: op.context ?? context }, vault),
  read: (op) => ['consume', ...portWords(op.from), String(op.cursor), String(op.count)],
  default: (op, vault) => [
    'default',
    ...portWords(op.of),
    ...('value' in op ? ['1', `=${vault.seal(op.value)}`] : ['0', '']),
  ],
  connect: (op) => ['connect', ...portWords(op.from), String(op.to.length), ...op.to.flatMap(portWords)],
  publish: (op, vault, context) => publishWords(op.channel, op.message, vault, op.context ?? context),
  log: (op, vault) => logWords(op.entry, vault),
  entry: ({ reads, defaults, context = '' }) => ['entry', context, ...countWords(reads), ...countWords(defaults)],
  run: (op) => ['run', targetOf(op), flag(op.force), text(op.at), text(op.wait), ''],
  terminate: (op) => ['terminate', targetOf(op), flag(op.recursive)],
  delete: (op) => ['delete', targetOf(op), flag(op.force)],
  adopt: (op) => ['adopt', String(op.job), op.name],
  disown: (op) => ['disown', op.child],
  alias: (op) => ('add' in op ? ['alias', op.add] : ['unalias', op.remove]),
  ports: (op, vault) => [
    ...(op.in ? defineWords('i', op.in, vault, op.of) : []),
    ...(op.out ? defineWords('o', op.out, vault, op.of) : []),
  ],
  wire: (op) => [
    'wire',
    ...portWords(op.from),
    ...('to' in op ? ['', String(op.to.length), ...op.to.flatMap(portWords)] : ['1', '0']),
  ],
  amend: (op, vault) => [...amendWords('i', op, vault), ...amendWords('o', op, vault)],
  expect: (op, vault) => ['expect_state', op.state, ...listWords(vault.sealedAs(op.value, purposes.state(op.state)))],
  channels: (op) => ['channels', ...portWords(op.of), ...listWords(op.set)],
  step: (op, vault) =>
    'value' in op
      ? ['step', op.name, vault.seal(op.value), op.ms === undefined ? '' : String(op.ms)]
      : ['unstep', op.name],
  inherit: (op) => ['inherit', op.child],
}

/** One op as words; a spawn needs its class looked up first, so it comes as a NewJob. */
export const opWords = (op: Exclude<Op, { op: 'spawn' }>, vault: Vault, context?: Encoded): Words =>
  (encoders[op.op] as (op: Op, vault: Vault, context?: Encoded) => Words)(op, vault, context)

export const spawnWords = (name: string, job: NewJob, vault: Vault): Words => [
  'spawn',
  name,
  ...jobArguments(job, vault),
]

export const readWords = (reads: NonNullable<Changes['reads']>): Words =>
  Object.entries(reads).flatMap(([port, { cursor, count }]) => [
    'consume',
    '',
    'i',
    port,
    String(cursor),
    String(count),
  ])

export const stateWords = ({ set = {}, unset = [] }: NonNullable<Changes['state']>, vault: Vault): Words => [
  ...Object.entries(set).flatMap(([field, value]) => ['set', field, vault.sealSame(value, purposes.state(field))]),
  ...unset.flatMap((field) => ['unset', field]),
]

/** The arguments of one run in a commit. */
export const runArguments = ({ token, n, end, words, late = 0 }: RunOutcome): string[] => [
  token,
  String(n),
  end,
  String(late),
  String(words.length),
  ...words,
]
