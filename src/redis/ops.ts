// What can be asked of a job, verb by verb, as the words that redis/lua/lib/run/ops/*.lua read: this table is the one place
// that says what a verb takes, in which order, and how each of it is written. `ops.run({ force: true })` are its words.

import type { Words } from './changes.ts'
import { jobFields } from './keys.ts'
import type { Sealed } from './vault.ts'

/** A field of a job's record by its long name, or one of its state: `state:graph`. */
export type FieldName = keyof typeof jobFields | `state:${string}`

/** Fields with what they are to be, as texts; '' clears one. */
export type Fields = { [F in FieldName]?: F extends 'args' ? Sealed | '' : string }

/** How each kind of argument is written. */
const kinds = {
  text: (value: string): Words => [value],
  /** A value as it is kept. */
  value: (value: Sealed): Words => [value],
  values: (values: readonly Sealed[]): Words => [String(values.length), ...values],
  flag: (value?: boolean): Words => [value ? '1' : ''],
  number: (value: number): Words => [String(value)],
  /** Milliseconds, or nothing. */
  moment: (value?: number): Words => [value === undefined ? '' : String(value)],
  list: (value: readonly string[]): Words => [String(value.length), ...value],
  /** The job itself, unless another is named. */
  target: (value?: number | string): Words => [value === undefined ? '' : String(value)],
  field: (value: FieldName): Words => [shortOf(value)],
  fields: (value: Fields): Words => {
    const entries = Object.entries(value)
    return [String(entries.length), ...entries.flatMap(([field, text = '']) => [shortOf(field as FieldName), text])]
  },
}

type Kind = keyof typeof kinds

const shortOf = (field: FieldName): string =>
  field.startsWith('state:') ? `s:${field.slice('state:'.length)}` : jobFields[field as keyof typeof jobFields][0]

/** What each verb takes, in the order in which Lua reads it. */
export const verbs = {
  run: { of: 'target', force: 'flag', at: 'moment', wait: 'moment', parent: 'flag' },
  terminate: { of: 'target', recursive: 'flag' },
  cancel: { of: 'target' },
  retry: { of: 'target' },
  resend: { of: 'target' },
  requeue: { of: 'target', forgiven: 'flag' },
  delete: { of: 'target', force: 'flag' },
  bulk: { act: 'text', jobs: 'list' },
  result: { job: 'text', look: 'flag', wait: 'number' },
  deadline: { token: 'text', until: 'number' },
  lock: { ms: 'number', token: 'text' },
  refresh: { token: 'text', ms: 'number' },
  unlock: { token: 'text' },
  expect: { statuses: 'list' },
  was: { field: 'field', values: 'values' },
  set: { field: 'text', value: 'value' },
  unset: { field: 'text' },
  patch: { fields: 'fields' },
  rename: { class: 'text' },
  adopt: { job: 'text', name: 'text' },
  disown: { child: 'text' },
  record: { keep: 'moment' },
  forget: {},
  apikey: { id: 'text', about: 'text', known: 'text', chance: 'text' },
} as const satisfies Record<string, Record<string, Kind>>

type Verb = keyof typeof verbs
type Value<K extends Kind> = Parameters<(typeof kinds)[K]>[0]
type Optional<T> = { [N in keyof T as undefined extends T[N] ? N : never]?: T[N] } & {
  [N in keyof T as undefined extends T[N] ? never : N]: T[N]
}
/** What a verb is given: all that it takes, but flags, moments and targets only where they are meant. */
type Given<V extends Verb> = Optional<{ -readonly [N in keyof (typeof verbs)[V]]: Value<(typeof verbs)[V][N] & Kind> }>
type Encoder<V extends Verb> =
  Record<never, never> extends Given<V> ? (given?: Given<V>) => Words : (given: Given<V>) => Words

const encode = (verb: Verb, given: Record<string, unknown>): Words => [
  verb,
  ...Object.entries(verbs[verb]).flatMap(([name, kind]) =>
    (kinds[kind as Kind] as (value: unknown) => Words)(given[name]),
  ),
]

/**
 * The words of each verb.
 *
 * @example ops.patch({ fields: { priority: '5' } }) // ['patch', '1', 'p', '5']
 */
export const ops = Object.fromEntries(
  (Object.keys(verbs) as Verb[]).map((verb) => [verb, (given: Record<string, unknown> = {}) => encode(verb, given)]),
) as unknown as { [V in Verb]: Encoder<V> }
