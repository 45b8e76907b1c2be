// In Lua, an answer is `reply.made { jobs = …, rings = … }`. The build turns it into a list without names, in the order
// of the fields below. Lua writes `till` instead of `until`, which is one of its keywords.

import type { Status } from '../core/job.ts'
import { decodeQueue, limitSettingsOf, momentOf, type QueueRecord } from './record.ts'

export type Signal = 'quiet' | 'stop'

export function refusalIn(answer: string): { code: string; message: string } | undefined {
  const [, code, message] = /^refused:([A-Z_]+) ([\s\S]*)$/.exec(answer) ?? []
  return code === undefined ? undefined : { code, message: message! }
}

export const rows = {
  ring: { queue: 'text', bell: 'text', at: 'moment' },

  /** If `piece` is set, `document` is the text of this piece (lib/runtime/pieces.lua). */
  claimed: {
    document: 'text',
    inputs: 'input[]',
    side: 'texts',
    children: 'texts',
    steps: 'texts',
    childCount: 'number',
    family: 'endedChild[]',
    wires: 'wiring[]',
    moreSteps: 'flag',
    fault: 'text',
    piece: 'some',
  },
  input: { port: 'text', items: 'texts' },
  endedChild: {
    name: 'text',
    id: 'number',
    class: 'text',
    how: 'finished|cancelled|failed',
    args: 'text|null',
    left: 'text|null',
  },
  /** `child` is '' for a port of the job itself. */
  wiring: {
    child: 'text',
    side: 'text',
    port: 'text',
    size: 'number',
    hasDefault: 'flag',
    wires: 'text',
    oldest: 'some',
    left: 'some',
    passed: 'text',
  },
  stale: { id: 'number', document: 'text', side: 'texts' },
  fault: { job: 'text', what: 'text' },

  waitingJob: { id: 'number', claimed: 'claimed?' },

  made: { first: 'number', status: 'status', existing: 'flag', count: 'number' },

  callbackJob: { document: 'text', error: 'some' },
  listed: { id: 'number', document: 'text', side: 'texts', callback: 'callbackJob?' },
  inspected: {
    id: 'number',
    document: 'text',
    side: 'texts',
    children: 'texts',
    ahead: 'number|null',
    facts: 'facts?',
    childCount: 'number',
    callback: 'callbackJob?',
    whole: 'flag',
  },
  facts: {
    paused: 'flag',
    maxLanes: 'number',
    lanes: 'number',
    mode: 'text',
    now: 'number',
    limitFree: 'number|null',
    ownLimit: 'some',
    limit: 'some',
  },
  member: { id: 'number', parent: 'number|null', name: 'text', class: 'text', status: 'status' },
  waiting: { taken: 'number', items: 'texts', more: 'number' },
  /** `word` is 'later' if the answer would have too many nodes with this flow. */
  flow: {
    word: 'flow|refused|later',
    id: 'number',
    document: 'text',
    side: 'texts',
    children: 'texts',
    ports: 'wiring[]',
    nodes: 'node[]',
    code: 'text',
    message: 'text',
  },
  node: {
    name: 'text',
    queue: 'text',
    ranAt: 'number|null',
    lastRun: 'text',
    limit: 'text|null',
    leaseUntil: 'number|null',
    until: 'number|null',
  },
  limit: {
    key: 'text',
    settings: 'limitSettings',
    running: 'number',
    waiting: 'number',
    fullSince: 'number|null',
    started: 'number',
    starts: 'numbers',
  },
  holder: {
    job: 'number',
    leaseUntil: 'number',
    queue: 'text',
    class: 'text',
    group: 'text|null',
    startedAt: 'number|null',
    process: 'text|null',
  },
  inLine: { job: 'number', queue: 'text', class: 'text', group: 'text|null', priority: 'number', since: 'number' },
  queue: {
    name: 'text',
    settings: 'queueRecord',
    lanes: 'number',
    ready: 'number',
    pull: 'number',
    timers: 'number',
    leases: 'number',
    suspended: 'number',
    completed: 'number',
    failed: 'number',
    terminated: 'number',
    oldest: 'sequence|null',
  },
  lane: { queue: 'text', lane: 'text', until: 'number' },
  process: { name: 'text', record: 'text' },
  run: {
    job: 'number',
    queue: 'text',
    class: 'text',
    token: 'text',
    startedAt: 'number',
    leaseUntil: 'number',
    process: 'text|null',
  },
  claim: { id: 'text', until: 'number', names: 'lines' },
  next: { job: 'number', class: 'text', priority: 'number', since: 'number', group: 'text|null', pull: 'flag' },
  classed: { queue: 'text', texts: 'texts', marks: 'texts', hasHours: 'flag' },
  /** `minutes` counts failures by minute: `minute:count minute:count …`. */
  kind: {
    kind: 'text',
    class: 'text',
    first: 'number',
    last: 'number',
    minutes: 'text',
    count: 'number',
    jobs: 'texts',
    error: 'some',
    redacts: 'some',
  },
  failing: { queue: 'text', failed: 'number', unsorted: 'number', kinds: 'kind[]' },
  /** `what` is a text with the place `%s` for each of `values`. */
  found: { kind: 'text', who: 'text', what: 'text', remedy: 'text', values: 'texts' },
} as const satisfies Record<string, Record<string, string>>

export const replies = {
  /** `wait` is in seconds. `which` is the index of the refused job. */
  refused: { code: 'text', message: 'text', wait: 'some', which: 'some', member: 'some' },
  none: {},

  /**
   * `word` is 'ok', 'empty' (the lane ended), 'warm' (the lane waits for new jobs), 'more' (ask again), 'full' (the
   * queue has no room for the lane) or 'stale'. The next claim may skip the first `seen` entries of the index.
   */
  committed: {
    word: 'ok|empty|warm|more|full|stale',
    answers: 'texts',
    claimed: 'claimed[]',
    rings: 'ring[]',
    nextDue: 'text',
    stale: 'stale[]',
    version: 'text',
    failed: 'number',
    seen: 'moment',
    faults: 'fault[]',
    signal: 'signal',
  },
  made: { jobs: 'made[]', rings: 'ring[]', claimed: 'claimed[]' },
  again: { jobs: 'made[]', rings: 'ring[]', claimed: 'claimed[]' },
  outdated: { constraints: 'text' },
  done: { answer: 'texts', rings: 'ring[]', id: 'text', receivers: 'texts' },
  repeated: { answer: 'texts' },
  /** `ends`: the new end of each lease, with `!` if the job must end, or '' if the run is lost. */
  extended: { ends: 'texts', signal: 'signal' },
  ticked: { rings: 'ring[]', more: 'flag', faults: 'fault[]' },
  set: { rings: 'ring[]', constraints: 'text' },
  settled: { rings: 'ring[]', lanes: 'number', batch: 'number', paused: 'flag', mode: 'push|pull', ageing: 'number' },
  registered: { rings: 'ring[]', changed: 'flag' },
  overtaken: { definition: 'text' },
  repaired: { rings: 'ring[]' },
  sent: {},
  breaker: { state: 'closed|open|probe', until: 'moment', failures: 'number' },

  job: { job: 'inspected?', items: 'texts', hasKin: 'flag', kin: 'listed[]', chain: 'inspected[]' },
  jobs: { jobs: 'listed[]', ids: 'texts', cursor: 'text|null', total: 'moment', newest: 'moment' },
  tree: { members: 'member[]', more: 'flag' },
  ports: { ports: 'waiting?[]' },
  snapshots: { jobs: 'waitingJob[]', seen: 'number' },
  flows: { flows: 'flow[]', now: 'number' },
  limits: { limits: 'limit[]', cursor: 'text' },
  room: {
    settings: 'limitSettings',
    running: 'number',
    started: 'number',
    waiting: 'number',
    nextRoom: 'number|null',
    now: 'number',
    holders: 'holder[]',
    line: 'inLine[]',
  },
  queues: { queues: 'queue[]', now: 'number' },
  queue: { document: 'text', lanes: 'lane[]', runs: 'run[]', claims: 'claim[]', next: 'next[]', now: 'number' },
  atWork: { lanes: 'lane[]', processes: 'process[]', runs: 'run[]', more: 'flag', now: 'number' },
  glance: {
    texts: 'texts',
    queues: 'queue[]',
    limits: 'limit[]',
    lanes: 'lane[]',
    processes: 'process[]',
    runs: 'run[]',
    moreRuns: 'flag',
    there: 'number',
    now: 'number',
  },
  classes: { queues: 'classed[]', more: 'flag', now: 'number' },
  errors: { queues: 'failing[]' },
  /** `from` is 0 if there is no history. */
  outbox: { from: 'number', till: 'number', bytes: 'number', seen: 'number', texts: 'texts' },
  verified: { faults: 'found[]', phase: 'some', from: 'number', seen: 'number' },
} as const satisfies Record<string, Record<string, string>>

type Rows = typeof rows
export type Replies = typeof replies

type Plain = {
  text: string
  some: string | undefined
  'text|null': string | null
  number: number
  moment: number | undefined
  'number|null': number | null
  flag: boolean
  texts: string[]
  numbers: number[]
  lines: string[]
  /** The time of a sequence. */
  'sequence|null': number | null
  status: Status
  signal: Signal | undefined
  queueRecord: QueueRecord
  limitSettings: ReturnType<typeof limitSettingsOf>
}
type Words<K> = K extends `${infer One}|${infer More}` ? One | Words<More> : K
type Value<K> = K extends keyof Plain
  ? Plain[K]
  : K extends `${string}|${string}`
    ? Words<K>
    : K extends `${infer R extends keyof Rows}?[]`
      ? (Row<R> | undefined)[]
      : K extends `${infer R extends keyof Rows}[]`
        ? Row<R>[]
        : K extends `${infer R extends keyof Rows}?`
          ? Row<R> | undefined
          : never

export type Row<R extends keyof Rows> = { -readonly [N in keyof Rows[R]]: Value<Rows[R][N]> }
export type Reply<A extends keyof Replies> = { is: A } & { -readonly [N in keyof Replies[A]]: Value<Replies[A][N]> }

/** A sequence has 13 digits. In an index, the id follows. */
const SEQUENCE = 13

type Raw = readonly unknown[]
type Read = (value: unknown) => unknown

const text = (value: unknown = ''): string => String(value)

const given =
  <T>(read: (value: unknown) => unknown, otherwise: T): Read =>
  (value) =>
    value === undefined || value === '' ? otherwise : read(value)

const readers: Record<keyof Plain, Read> = {
  text,
  some: given(String, undefined),
  'text|null': given(String, null),
  number: (value) => Number(value ?? 0),
  moment: given(Number, undefined),
  'number|null': given(Number, null),
  flag: (value) => value !== undefined && value !== '',
  texts: (value) => value ?? [],
  numbers: (value) => ((value ?? []) as Raw).map(Number),
  lines: (value) => text(value).split('\n').filter(Boolean),
  'sequence|null': given((value) => momentOf(text(value).slice(0, SEQUENCE)), null),
  status: text,
  signal: given(String, undefined),
  queueRecord: (value) => decodeQueue(text(value)),
  limitSettings: (value) => limitSettingsOf(text(value)),
}

function record(shape: readonly (readonly [string, Read])[], values: Raw, from = 0): Record<string, unknown> {
  const named: Record<string, unknown> = {}
  for (let at = 0; at < shape.length; at++) named[shape[at]![0]] = shape[at]![1](values[from + at])
  return named
}

const shapes = new Map<object, [string, Read][]>()

function shapeOf(names: Record<string, string>): [string, Read][] {
  const known = shapes.get(names)
  if (known) return known
  const shape = Object.entries(names).map(([name, kind]): [string, Read] => [name, readerOf(kind)])
  shapes.set(names, shape)
  return shape
}

function readerOf(kind: string): Read {
  if (kind in readers) return readers[kind as keyof Plain]
  if (kind.includes('|')) return text
  if (kind.endsWith('[]')) {
    const one = readerOf(kind.slice(0, -2))
    return (value) => ((value ?? []) as Raw).map(one)
  }
  const isMaybe = kind.endsWith('?')
  const names = rows[(isMaybe ? kind.slice(0, -1) : kind) as keyof Rows]
  return (value) => (isMaybe && !(value as Raw | undefined)?.length ? undefined : record(shapeOf(names), value as Raw))
}

export function answerOf<A extends keyof Replies>(raw: unknown, ...names: A[]): { [N in A]: Reply<N> }[A] {
  const [is] = raw as [A]
  if (!names.includes(is)) throw new Error(`a script answered ${is}: expected ${names.join(' or ')}`)
  return { is, ...record(shapeOf(replies[is]), raw as Raw, 1) } as { [N in A]: Reply<N> }[A]
}

export const rowOf = <R extends keyof Rows>(name: R, raw: unknown): Row<R> =>
  record(shapeOf(rows[name]), raw as Raw) as Row<R>
