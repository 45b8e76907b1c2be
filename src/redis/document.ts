// A job's document as TypeScript reads and writes it.

import { isAlikeBut } from '../core/alike.ts'
import type { Encoded } from '../core/codec/value.ts'
import type { Status } from '../core/job.ts'
import type { PastRun } from '../core/run.ts'
import { shownItem } from './item.ts'

/** A flat map of strings; its names are in keys.ts. */
export type Document = Record<string, string>

export type PortSpec = { default?: Encoded; channels?: string[] }
export type PortSpecs = Record<string, PortSpec>

/** A limit that a job counts against; `first`: the first to name it sets it, `set`: every time, absent: set elsewhere. */
export type LimitKey = {
  key: string
  how?: 'first' | 'set'
  concurrency?: number
  rate?: { limit: number; period: number }
}

/** A job as it is to be made: everything that the worker's definition says is already in it. */
export type NewJob = {
  queue: string
  class: string
  /** The class is one that the caller knows to be registered. */
  known: boolean
  args?: Encoded
  at?: number
  wait?: number
  priority?: number
  parent?: string
  name?: string
  in?: PortSpecs
  out?: PortSpecs
  /** Items per input port. */
  inputs?: Record<string, string[]>
  retry?: Encoded
  timeout?: number
  keepResult?: number
  retain?: number
  /** How many of its runs it keeps. */
  history?: number
  /** `held`: until deleted, not only until ended; `hit` says what a job that holds it does to this one. */
  unique?: {
    key: string
    period?: number
    held?: 'deleted' | 'started'
    hit?: 'same parent' | 'ignored'
    /** A hit while it waits moves it to `wait` from then, with the newest args; at most to so long after it was made. */
    debounce?: { max?: number }
  }
  /** A child for the run that its parent is in: it is held until that run has ended. */
  joins?: boolean
  /** To whom it goes when nobody answers: after so long to somebody else, so often until it fails. */
  redeliver?: { after: string; ms?: number; max?: number }
  tag?: string
  group?: string
  limits?: LimitKey[]
  /** The version of the constraints that the limits come from. */
  constraints?: string
  repeat?: Encoded
  slot?: number
  aliases?: string[]
  createdBy?: string
  /** The key of the API that asked for it. */
  by?: string
  /** The slot of a schedule that it is made for. */
  scheduledFor?: number
  callback?: { spec: string; host: string }
  shutdown?: boolean
  quiet?: boolean
}

const BIG = 512
const isBig = (value: string): boolean => value.length > BIG / 3 && new TextEncoder().encode(value).length > BIG

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

type Parts = { document: Document; options: string[]; count: number }

function put(parts: Parts, field: string, value: string | undefined): void {
  if (value === undefined || value === '') return
  if (isBig(value)) add(parts, 'value', field, value)
  else parts.document[field] = value
}

function add(parts: Parts, ...words: string[]): void {
  parts.options.push(...words)
  parts.count++
}

function putPorts(parts: Parts, dir: 'i' | 'o', specs: PortSpecs = {}): void {
  for (const [port, spec] of Object.entries(specs)) {
    parts.document[`${dir}:${port}`] = '0,0'
    put(parts, `d${dir}:${port}`, spec.default === undefined ? undefined : `=${spec.default}`)
    if (spec.channels?.length && dir === 'i')
      add(parts, 'listen', dir, port, String(spec.channels.length), ...spec.channels)
    else if (spec.channels?.length) put(parts, `c${dir}:${port}`, JSON.stringify(spec.channels))
  }
}

const hits = { 'same parent': 'p', ignored: 'c' } as const

const uniqueHow = ({ held, hit }: NonNullable<NewJob['unique']>): string =>
  `${held ? held[0] : ''}${hit ? hits[hit] : ''}`

/** A limit's key, how it is set, and to what. */
export const limitWords = ({ key, how, concurrency, rate }: LimitKey): string[] => [
  key,
  how ?? '',
  text(concurrency),
  text(rate?.limit),
  text(rate?.period),
]

/** Fields of a job that runs, and then is done: nobody is told, and nothing is kept but itself. */
const plain = new Set(['q', 'c', 'p', 'b', 'by', 'rt', 'to', 'rd', 'sh', 'np'])

/** See lib/plain.lua. */
const isPlain = ({ document, count }: Parts): boolean =>
  count === 0 && Object.keys(document).every((field) => plain.has(field))

/** What jobs that differ only in their args have in common, as lib/create.lua takes it. */
function specWords(job: NewJob): string[] {
  const parts: Parts = { document: { q: job.queue, c: job.class }, options: [], count: 0 }
  if (job.args !== undefined && isBig(job.args)) add(parts, 'value', 'a', job.args)
  put(parts, 'p', job.priority ? String(job.priority) : undefined)
  put(parts, 'b', job.createdBy)
  put(parts, 'by', job.by)
  put(parts, 'rt', job.retry)
  put(parts, 'cb', job.callback?.spec)
  put(parts, 'cd', job.callback?.host)
  put(parts, 'to', text(job.timeout))
  put(parts, 'kr', text(job.keepResult))
  put(parts, 'rd', text(job.retain))
  put(parts, 'hn', job.history ? String(job.history) : undefined)
  put(parts, 'rp', job.repeat)
  put(parts, 'ns', text(job.slot))
  put(parts, 'sh', job.shutdown ? '1' : '')
  put(parts, 'np', job.quiet ? '1' : '')
  put(parts, 'g', job.group)
  put(parts, 'cv', job.constraints)
  put(parts, 'tg', job.tag)
  put(parts, 'sf', text(job.scheduledFor))
  put(parts, 'rv', job.redeliver?.after)
  put(parts, 'rm', text(job.redeliver?.ms))
  put(parts, 'rx', text(job.redeliver?.max))
  putPorts(parts, 'i', job.in)
  putPorts(parts, 'o', job.out)
  if (job.parent !== undefined) add(parts, 'parent', job.parent, job.name ?? '')
  if (job.joins) add(parts, 'joining')
  if (job.unique) add(parts, 'unique', job.unique.key, text(job.unique.period), uniqueHow(job.unique))
  if (job.unique?.debounce) add(parts, 'debounce', text(job.unique.debounce.max))
  for (const limit of job.limits ?? []) add(parts, 'limit', ...limitWords(limit))
  for (const alias of job.aliases ?? []) add(parts, 'alias', alias)
  for (const [port, items] of Object.entries(job.inputs ?? {}))
    add(parts, 'input', port, String(items.length), ...items)
  // A repeat's first slot is a timer, and a tag says who is to be asked: only the long way sees them.
  if (job.slot !== undefined && parts.count === 0) add(parts, 'value', 'ns', String(job.slot))
  if (job.tag !== undefined && parts.count === 0) add(parts, 'value', 'tg', job.tag)
  return [
    job.queue,
    job.class,
    job.known ? '1' : '',
    text(job.at),
    text(job.wait),
    String(job.priority ?? 0),
    (isPlain(parts) ? ' ' : '') + JSON.stringify(parts.document),
    String(parts.count),
    ...parts.options,
  ]
}

/** Args that are part of the document; '' where there are none, or they stand beside it. */
const ownArgs = ({ args = '' }: NewJob): string => (isBig(args) ? '' : args)

/** The arguments of one new job. */
export const jobArguments = (job: NewJob): string[] => [...specWords(job), ownArgs(job)]

const PLAIN = '0'
const OPTIONS = 7

const isLike = (one: NewJob, other: NewJob): boolean => isAlikeBut('args', one, other) && !isBig(other.args ?? '')

/** The arguments of many: jobs in a row that differ only in their args say once what they share. */
export function jobsArguments(jobs: readonly NewJob[]): string[] {
  const words: string[] = []
  let groups = 0
  for (let from = 0; from < jobs.length; ) {
    const first = jobs[from]!
    const spec = specWords(first)
    let to = from + 1
    if (spec[OPTIONS] === PLAIN) while (to < jobs.length && isLike(first, jobs[to]!)) to++
    words.push(...spec, String(to - from))
    for (; from < to; from++) words.push(ownArgs(jobs[from]!))
    groups++
  }
  return [String(groups), ...words]
}

const resting: Record<string, Status> = { s: 'suspended', c: 'completed', f: 'failed', T: 'terminated' }

/** The status follows from the place, as in lib/status.lua. */
export const statusOf = (doc: Document): Status =>
  resting[doc.z ?? ''] ?? (doc.x ? 'terminating' : doc.z === 'l' ? 'running' : 'queued')

export const number = (value: string | undefined): number | null => (value === undefined ? null : Number(value))

export type PortRecord = { port: string; pushed: number; taken: number }

/** The declared ports of one side, `*` left out. */
export function portsOf(doc: Document, dir: 'i' | 'o'): PortRecord[] {
  const ports: PortRecord[] = []
  for (const field in doc) {
    if (field[1] !== ':' || field[0] !== dir || field[2] === '*') continue
    const [pushed, taken, dropped] = doc[field]!.split(',')
    if (!dropped) ports.push({ port: field.slice(2), pushed: Number(pushed), taken: Number(taken) })
  }
  return ports
}

/** Input port → the items that wait there, of those ports whose values are in the document itself. */
export function ownInputsOf(doc: Document): Record<string, string[]> {
  const inputs: Record<string, string[]> = {}
  for (const field in doc) if (field.startsWith('vi:')) inputs[field.slice(3)] = JSON.parse(doc[field]!) as string[]
  return inputs
}

export const defaultOf = (
  doc: Document,
  dir: 'i' | 'o',
  port: string,
): { data: Encoded; context?: Encoded } | undefined => {
  const item = doc[`d${dir}:${port}`]
  return item === undefined ? undefined : shownItem(item)
}

export const channelsOf = (doc: Document, dir: 'i' | 'o', port: string): string[] =>
  JSON.parse(doc[`c${dir}:${port}`] ?? '[]') as string[]

export function stateOf(doc: Document): Record<string, Encoded> {
  const state: Record<string, Encoded> = {}
  for (const field in doc) if (field.startsWith('s:')) state[field.slice(2)] = doc[field] as Encoded
  return state
}

/** A run as `lr` has it, or one of the list of those that are kept. */
export function pastRunOf(text: string): PastRun {
  const [line, error] = text.split('\n') as [string, string?]
  const [startedAt, endedAt, outcome, attempt, token, retried, ...by] = line.split(',')
  const run = { startedAt: Number(startedAt), endedAt: Number(endedAt), outcome: outcome!, attempt: Number(attempt) }
  if (token === undefined) return run
  return {
    ...run,
    token,
    retried: retried === '1',
    ...(by.join(',') && { by: by.join(',') }),
    ...(error && { error: error as Encoded }),
  }
}

export type Child = { id: number; status: Status; class: string }

/** A children hash, flat as Redis gives it. */
export function childrenOf(flat: string[]): Record<string, Child> {
  // A child may be called `__proto__`.
  const children: Record<string, Child> = Object.create(null)
  for (let i = 0; i < flat.length; i += 2) {
    const [, id, status, className] = /^(\d+),(\w+),([\s\S]*)$/.exec(flat[i + 1]!)!
    children[flat[i]!] = { id: Number(id), status: status as Status, class: className! }
  }
  return children
}

/** Only a job that has lost its first sequence has to keep the time apart. */
export const createdAtOf = (doc: Document): number =>
  doc.t === undefined ? Math.floor(Number.parseInt(doc.n!, 16) / 1000) : Number(doc.t)

export const parentOf = (doc: Document): { id: number; name: string } | null =>
  doc.pa === undefined ? null : { id: Number(doc.pa), name: doc.pn ?? '' }

export const aliasesOf = (doc: Document): string[] => (doc.al === undefined ? [] : (JSON.parse(doc.al) as string[]))

export const waitingOf = (doc: Document): 'children' | 'parent' | string[] | null =>
  doc.hp ? 'parent' : doc.wf === undefined ? null : doc.wf === '*' ? 'children' : (JSON.parse(doc.wf) as string[])

/** Puts the values that live beside the document back into it. */
export function withSideValues(doc: Document, flat: string[] = []): Document {
  for (let i = 0; i < flat.length; i += 2) doc[flat[i]!] = flat[i + 1]!
  return doc
}
