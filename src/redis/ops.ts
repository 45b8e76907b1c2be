// Arguments of each verb, in order. The build reads this table, and passes the arguments by name to the functions in
// lua/lib/run/ops.

import { mapValues } from '../core/map-values.ts'
import type { JobRef, PortOptions, PortRef } from '../core/run.ts'
import { jobFields } from './keys.ts'
import { type LimitKey, limitWords } from './new-job.ts'
import type { Sealed } from './vault.ts'

export type Words = string[]

type FieldName = keyof typeof jobFields | `state:${string}`

export type Fields = { [F in FieldName]?: F extends 'args' ? Sealed | '' : string }

export const priorityText = (priority: number): string => (priority === 0 ? '' : String(priority))

type Target = JobRef | PortRef | Record<never, never>

const targetOf = (of: Target): string => {
  if ('child' in of) return `>${of.child}`
  return 'job' in of ? String(of.job) : ''
}

const shortOf = (field: FieldName): string =>
  field.startsWith('state:') ? `s:${field.slice('state:'.length)}` : jobFields[field as keyof typeof jobFields][0]

const counted = <T>(list: readonly T[], wordsOf: (one: T) => Words): Words => [
  String(list.length),
  ...list.flatMap(wordsOf),
]

const portWords = (of: PortRef): Words => ('in' in of ? [targetOf(of), 'i', of.in] : [targetOf(of), 'o', of.out])

export const kinds = {
  text: (value: string): Words => [value],
  value: (value: Sealed): Words => [value],
  values: (value: readonly Sealed[]): Words => counted(value, (one) => [one]),
  flag: (value?: boolean): Words => [value ? '1' : ''],
  number: (value: number): Words => [String(value)],
  moment: (value?: number): Words => [value === undefined ? '' : String(value)],
  some: (value?: string): Words => [value ?? ''],
  maybe: (value?: string): Words => (value === undefined ? ['0', ''] : ['1', value]),
  list: (value: readonly string[] = []): Words => counted(value, (one) => [one]),
  counts: (value: Record<string, number> = {}): Words =>
    counted(Object.entries(value), ([name, n]) => [name, String(n)]),
  target: (value?: number | string | Target): Words => [
    typeof value === 'object' ? targetOf(value) : value === undefined ? '' : String(value),
  ],
  port: portWords,
  ports: (value: readonly PortRef[] = []): Words => counted(value, portWords),
  side: (value: 'in' | 'out'): Words => [value === 'in' ? 'i' : 'o'],
  specs: (value: PortOptions = {}): Words =>
    counted(Object.entries(value), ([port, { default: given, channels }]) => [
      port,
      ...kinds.maybe(given && `=${given}`),
      ...kinds.list(channels),
    ]),
  writing: ({ quiet, setDefault }: { quiet?: boolean; setDefault?: boolean }): Words => [
    `${quiet ? 'q' : ''}${setDefault ? 'd' : ''}`,
  ],
  limits: (value: readonly LimitKey[]): Words => counted(value, limitWords),
  field: (value: FieldName): Words => [shortOf(value)],
  fields: (value: Fields): Words =>
    counted(Object.entries(value), ([field, text = '']) => [shortOf(field as FieldName), text]),
  job: (value: Words): Words => value,
}

export type Kind = keyof typeof kinds
type Table = Record<string, Record<string, Kind>>

export const runFields = {
  retry: { after: 'text' },
  error: { error: 'text', kind: 'some' },
  at: { moment: 'number' },
  wait: { ms: 'number' },
  slot: { moment: 'text', from: 'some' },
  catchup: {},
  passed: { slots: 'text' },
  result: { value: 'value' },
  progress: { value: 'value' },
  values: { recorded: 'value' },
  count: { name: 'text', n: 'number' },
  waitfor: { how: 'text', names: 'list' },
  pause: { till: 'some', names: 'list' },
  pin: { version: 'text' },
  said: { moment: 'text' },
  reach: { reach: 'text' },
  by: { process: 'text' },
  version: { version: 'text' },
  unknown: {},
  deaf: {},
} as const satisfies Table

export const verbs = {
  spawn: { name: 'text', job: 'job' },
  forget: {},
  adopt: { job: 'text', name: 'text' },
  disown: { child: 'text' },
  inherit: { child: 'text' },
  family: {},
  run: { of: 'target', force: 'flag', at: 'moment', wait: 'moment', parent: 'flag' },
  terminate: { of: 'target', recursive: 'flag' },
  delete: { of: 'target', force: 'flag' },
  bulk: { act: 'text', jobs: 'list', to: 'some' },
  consume: { from: 'port', cursor: 'number', count: 'number' },
  write: { to: 'port', how: 'writing', items: 'list' },
  default: { of: 'port', value: 'maybe' },
  channels: { of: 'port', set: 'list' },
  connect: { from: 'port', to: 'ports' },
  wire: { from: 'port', calls: 'flag', to: 'ports' },
  amend: { of: 'target', side: 'side', specs: 'specs', drop: 'list' },
  ports: { of: 'target', side: 'side', specs: 'specs' },
  publish: { channel: 'text', item: 'text' },
  relay: {},
  entry: { context: 'some', reads: 'counts', defaults: 'counts' },
  log: { level: 'text', entry: 'value' },
  expect_state: { field: 'text', values: 'values' },
  set: { field: 'text', value: 'value' },
  unset: { field: 'text' },
  patch: { fields: 'fields' },
  rename: { class: 'text' },
  alias: { name: 'text' },
  unalias: { name: 'text' },
  step: { name: 'text', value: 'value', took: 'text' },
  unstep: { name: 'text' },
  record: { keep: 'moment' },
} as const satisfies Table

export const calls = {
  cancel: { of: 'target' },
  retry: { of: 'target' },
  sort: { queue_name: 'text', jobs: 'list' },
  resend: { of: 'target' },
  requeue: { of: 'target', forgiven: 'flag' },
  requeue_all: { queue_name: 'text', forgiven: 'flag', jobs: 'list' },
  result: { job: 'text', look: 'flag', wait: 'number' },
  deadline: { token: 'text', till: 'number' },
  lock: { ms: 'number', token: 'text' },
  refresh: { token: 'text', ms: 'number' },
  unlock: { token: 'text' },
  look: {},
  expect: { statuses: 'list' },
  was: { field: 'field', values: 'values' },
  take: { from: 'port', most: 'number' },
  shift: { from: 'port', to: 'port', most: 'number' },
  listen: { ms: 'number', channels: 'list' },
  keep: { channel: 'text', size: 'number', item: 'text' },
  tag: { of: 'target', version: 'some', limits: 'limits', group: 'some', seen: 'maybe' },
  apikey: { id: 'text', about: 'text', known: 'text', chance: 'text' },
  unring: { name: 'text', bell: 'text' },
  graph: { name: 'text', text: 'some', by: 'some' },
} as const satisfies Table

type Value<K extends Kind> = Parameters<(typeof kinds)[K]>[0]
type Optional<T> = { [N in keyof T as undefined extends T[N] ? N : never]?: T[N] } & {
  [N in keyof T as undefined extends T[N] ? never : N]: T[N]
}
type Given<Args> = Optional<{ -readonly [N in keyof Args]: Value<Args[N] & Kind> }>
type Encoder<Args> =
  Record<never, never> extends Given<Args> ? (given?: Given<Args>) => Words : (given: Given<Args>) => Words
type Encoders<T> = { [V in keyof T]: Encoder<T[V]> }

function encoderOf(verb: string, args: Record<string, Kind>) {
  const parts = Object.entries(args).map(([name, kind]) => [name, kinds[kind] as (value: unknown) => Words] as const)
  return (given: Record<string, unknown> = {}): Words => {
    const words = [verb]
    for (const [name, wordsOf] of parts) words.push(...wordsOf(given[name]))
    return words
  }
}

const encodersOf = <T extends Table>(table: T): Encoders<T> =>
  mapValues(table, (args, verb) => encoderOf(verb, args)) as Encoders<T>

export const setRun = encodersOf(runFields)

export const ops = encodersOf({ ...verbs, ...calls })
