import { Buffer } from 'node:buffer'
import { type Encoded, encodeValue } from '../core/codec/value.ts'
import { limits } from '../core/limits.ts'
import { mapValues } from '../core/map-values.ts'
import type { Changes, JobRef, Op, PortOptions, PortRef } from '../core/run.ts'
import { itemText } from './item.ts'
import { jobArguments, type NewJob } from './new-job.ts'
import { ops, type Words } from './ops.ts'
import { stateField, type Vault } from './vault.ts'

export type RunOutcome = {
  token: string
  n: number
  end: Changes['end'] | 'released' | 'skipped'
  words: Words
  slot?: number
  slotWords?: Words
  error?: string
  failsIn?: string
  again?: () => Words
  logs?: () => Words[]
  largest?: () => Part | undefined
  /** Milliseconds from the claim to the start of the run, or more if a run with limits was slow. */
  late?: number
}

export type Part = { name: string; bytes: number }

export type SentOutcome = Omit<RunOutcome, 'again' | 'logs' | 'largest'> & {
  again?: Words
  logs?: Words[]
  largest?: Part
}

export const outcomeToSend = ({ again, logs, largest, ...run }: RunOutcome): SentOutcome => ({
  ...run,
  ...(again && { again: again() }),
  ...(logs && { logs: logs() }),
  ...(largest && { largest: largest() }),
})

export const outcomeSent = ({ again, logs, largest, ...run }: SentOutcome): RunOutcome => ({
  ...run,
  ...(again && { again: () => again }),
  ...(logs && { logs: () => logs }),
  ...(largest && { largest: () => largest }),
})

type Writing = { values: Encoded[]; context?: Encoded; notify?: boolean; log?: boolean; setDefault?: boolean }

export const writeWords = (to: PortRef, { values, context, notify, log, setDefault }: Writing, vault: Vault): Words =>
  ops.write({
    to,
    how: { quiet: notify === false, setDefault },
    items: values.map((data) => vault.sealItem(itemText({ data, context, log: log === false ? false : undefined }))),
  })

const sealedSpecs = (specs: PortOptions, { seal }: Vault): PortOptions =>
  mapValues(specs, (spec) => ({ ...spec, default: spec.default && seal(spec.default, 'value') }))

const amendWords = (
  side: 'in' | 'out',
  { of, drop = {}, ...specs }: Extract<Op, { op: 'amend' }>,
  vault: Vault,
): Words =>
  specs[side] || drop[side]
    ? ops.amend({ of, side, specs: sealedSpecs(specs[side] ?? {}, vault), drop: drop[side] })
    : []

const publishedItem = (channel: string, data: Encoded, vault: Vault, context?: Encoded): string =>
  vault.sealItem(itemText({ data, context, channel }))

/** The op `keep` comes first, so that the script reads the stored message together with the listeners. */
export function publishedWords(
  channel: string,
  data: Encoded,
  vault: Vault,
  { context, keep }: { context?: Encoded; keep?: 0 | 1 } = {},
): Words[] {
  const item = publishedItem(channel, data, vault, context)
  const size = keep ? Buffer.byteLength(item) : 0
  const kept = keep && size <= limits.keptMessage.most ? item : ''
  return [...(keep === undefined ? [] : [ops.keep({ channel, size, item: kept })]), ops.publish({ channel, item })]
}

export const defineWords = (side: 'in' | 'out', specs: PortOptions, vault: Vault, of?: JobRef): Words =>
  ops.ports({ of, side, specs: sealedSpecs(specs, vault) })

// An oversized log entry must not fail a run, so only its size is stored.
const keptEntry = (entry: Encoded): Encoded =>
  entry.length <= limits.logBytes.most
    ? entry
    : encodeValue({
        message: `a log entry of ${entry.length} characters: only its size is stored`,
        $size: entry.length,
      })

export const logWords = (entry: Encoded, vault: Vault): Words =>
  ops.log({ level: 'info', entry: vault.seal(keptEntry(entry), 'log') })

type Encoder = { [K in Op['op']]: (op: Extract<Op, { op: K }>, vault: Vault, context: Encoded | undefined) => Words }

const encoders: Omit<Encoder, 'spawn'> = {
  write: (op, vault, context) => writeWords(op.to, { ...op, context: op.context ?? context }, vault),
  read: ({ from, cursor, count }) => ops.consume({ from, cursor, count }),
  default: (op, vault) =>
    ops.default({ of: op.of, value: 'value' in op ? `=${vault.seal(op.value, 'value')}` : undefined }),
  connect: ({ from, to }) => ops.connect({ from, to }),
  publish: ({ channel, message, ...op }, vault, context) =>
    ops.publish({ channel, item: publishedItem(channel, message, vault, op.context ?? context) }),
  log: (op, vault) => logWords(op.entry, vault),
  entry: ({ reads, defaults, context }) => ops.entry({ reads, defaults, context }),
  run: (op) => ops.run({ ...op, of: op }),
  terminate: (op) => ops.terminate({ ...op, of: op }),
  delete: (op) => ops.delete({ ...op, of: op }),
  adopt: (op) => ops.adopt({ job: String(op.job), name: op.name }),
  disown: ({ child }) => ops.disown({ child }),
  alias: (op) => ('add' in op ? ops.alias({ name: op.add }) : ops.unalias({ name: op.remove })),
  ports: (op, vault) => [
    ...(op.in ? defineWords('in', op.in, vault, op.of) : []),
    ...(op.out ? defineWords('out', op.out, vault, op.of) : []),
  ],
  wire: (op) =>
    'to' in op ? ops.wire({ from: op.from, to: op.to }) : ops.wire({ from: op.from, calls: true, to: [] }),
  amend: (op, vault) => [...amendWords('in', op, vault), ...amendWords('out', op, vault)],
  expect: (op, vault) => ops.expect_state({ field: op.state, values: vault.sealedAs(op.value, stateField(op.state)) }),
  channels: ({ of, set }) => ops.channels({ of, set }),
  step: (op, vault) =>
    'value' in op
      ? ops.step({ name: op.name, value: vault.seal(op.value, 'step'), took: op.ms === undefined ? '' : String(op.ms) })
      : ops.unstep({ name: op.name }),
  inherit: ({ child }) => ops.inherit({ child }),
}

export const opWords = (op: Exclude<Op, { op: 'spawn' }>, vault: Vault, context?: Encoded): Words =>
  (encoders[op.op] as (op: Op, vault: Vault, context?: Encoded) => Words)(op, vault, context)

export const spawnWords = (name: string, job: NewJob, vault: Vault): Words =>
  ops.spawn({ name, job: jobArguments(job, vault) })

export const readWords = (reads: NonNullable<Changes['reads']>): Words =>
  Object.entries(reads).flatMap(([port, { cursor, count }]) => ops.consume({ from: { in: port }, cursor, count }))

export const stateWords = ({ set = {}, unset = [] }: NonNullable<Changes['state']>, vault: Vault): Words => [
  ...Object.entries(set).flatMap(([field, value]) =>
    ops.set({ field, value: vault.sealSame(value, stateField(field)) }),
  ),
  ...unset.flatMap((field) => ops.unset({ field })),
]

export const runArguments = ({ token, n, end, words, late = 0 }: RunOutcome): string[] => [
  token,
  String(n),
  end,
  String(late),
  String(words.length),
  ...words,
]
