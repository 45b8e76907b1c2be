// A job that is to be made, as the scripts take it: the fields of its record, and what else is asked for it.

import { isAlikeBut } from '../core/alike.ts'
import type { Encoded } from '../core/codec/value.ts'
import { jobFields } from './keys.ts'
import { isBig, ownOfAlike, ownWords, withWaiting } from './packed-jobs.ts'
import type { Sealed, Vault } from './vault.ts'

export type PortSpec = { default?: Encoded; channels?: string[] }
export type PortSpecs = Record<string, PortSpec>

/** A limit that a job counts against; `first`: the first to name it sets it, `set`: every time, absent: set elsewhere. */
export type LimitKey = {
  key: string
  how?: 'first' | 'set'
  concurrency?: number
  rate?: { limit: number; period: number }
}

/** What an API key (`key:<id>`) may have waiting: jobs that have not ended, and their bytes. */
export type Quota = { by: string; jobs: number; bytes: number }

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
  /** What of its values is shown as a mark. */
  redact?: readonly string[]
  /** After so many runs in a row that were lost it fails. */
  maxLost?: number
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
  /** What that key may have waiting. */
  quota?: Quota
  /** The slot of a schedule that it is made for. */
  scheduledFor?: number
  /** `host`: whom its calls share a breaker and slots with. */
  callback?: { spec: string; host: string }
  shutdown?: boolean
  quiet?: boolean
}

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** What is in the record itself, by the names of fields in Redis, and what the script is to do beside that. */
type Parts = { fields: Record<string, string>; options: string[]; count: number }

type Field = keyof typeof jobFields

function put(parts: Parts, name: Field, value: string | undefined): void {
  putField(parts, jobFields[name][0], value)
}

function putField(parts: Parts, field: string, value: string | undefined): void {
  if (value === undefined || value === '') return
  if (isBig(value)) add(parts, 'value', field, value)
  else parts.fields[field] = value
}

function add(parts: Parts, ...words: string[]): void {
  parts.options.push(...words)
  parts.count++
}

function putPorts(parts: Parts, dir: 'i' | 'o', specs: PortSpecs = {}, { seal }: Vault): void {
  for (const [port, spec] of Object.entries(specs)) {
    parts.fields[`${dir}:${port}`] = '0,0'
    putField(parts, `d${dir}:${port}`, spec.default === undefined ? undefined : `=${seal(spec.default, 'value')}`)
    if (spec.channels?.length && dir === 'i')
      add(parts, 'listen', dir, port, String(spec.channels.length), ...spec.channels)
    else if (spec.channels?.length) putField(parts, `c${dir}:${port}`, JSON.stringify(spec.channels))
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

/** What stands in the record: a field, what of the job it holds, and whether jobs that have it may wait in pieces. */
const recordFields: readonly (readonly [Field, (job: NewJob, vault: Vault) => string | undefined, 'plain'?])[] = [
  ['queue', (job) => job.queue, 'plain'],
  ['class', (job) => job.class, 'plain'],
  ['priority', (job) => (job.priority ? String(job.priority) : undefined), 'plain'],
  ['createdBy', (job) => job.createdBy, 'plain'],
  ['apiKey', (job) => job.by, 'plain'],
  ['quotaBytes', (job) => (job.quota ? '0' : undefined), 'plain'],
  ['retry', (job) => job.retry, 'plain'],
  ['callback', (job, { seal }) => job.callback && seal(job.callback.spec, 'callback')],
  ['callbackHost', (job) => job.callback?.host],
  ['timeout', (job) => text(job.timeout), 'plain'],
  ['keepResult', (job) => text(job.keepResult)],
  ['retain', (job) => text(job.retain), 'plain'],
  ['history', (job) => text(job.history)],
  ['repeats', (job) => job.repeat],
  ['nextSlot', (job) => text(job.slot)],
  ['hasShutdown', (job) => (job.shutdown ? '1' : ''), 'plain'],
  ['quiet', (job) => (job.quiet ? '1' : ''), 'plain'],
  ['group', (job) => job.group],
  ['constraintsVersion', (job) => job.constraints, 'plain'],
  ['maxLost', (job) => text(job.maxLost)],
  ['tag', (job) => job.tag],
  ['redacts', (job) => job.redact && JSON.stringify(job.redact), 'plain'],
  ['scheduledFor', (job) => text(job.scheduledFor)],
  ['redeliverAfter', (job) => job.redeliver?.after],
  ['redeliverAfterMs', (job) => text(job.redeliver?.ms)],
  ['maxDeliveries', (job) => text(job.redeliver?.max)],
]

/** Fields of a job that runs, and then is done: nobody is told, and nothing is kept but itself. */
const plain = new Set<string>(recordFields.filter(([, , way]) => way).map(([name]) => jobFields[name][0]))

/** Ports that are named and listen to nothing, with their defaults: what waits there is each job's own. */
const isPort = (field: string): boolean => /^d?[io]:\w+$/.test(field)

/** See lib/runtime/pieces.lua. */
const isPlain = ({ fields, count }: Parts): boolean =>
  count === 0 && Object.keys(fields).every((field) => plain.has(field) || isPort(field))

/** What stands beside the record, but for values: ports, keys, limits and names. */
function addOptions(parts: Parts, job: NewJob, vault: Vault): void {
  putPorts(parts, 'i', job.in, vault)
  putPorts(parts, 'o', job.out, vault)
  if (job.parent !== undefined) add(parts, 'parent', job.parent, job.name ?? '')
  if (job.joins) add(parts, 'joining')
  if (job.unique) add(parts, 'unique', job.unique.key, text(job.unique.period), uniqueHow(job.unique))
  if (job.unique?.debounce) add(parts, 'debounce', text(job.unique.debounce.max))
  for (const limit of job.limits ?? []) add(parts, 'limit', ...limitWords(limit))
  for (const alias of job.aliases ?? []) add(parts, 'alias', alias)
  // A repeat's first slot is a timer, and a tag says who is to be asked: only the long way sees them.
  if (job.slot !== undefined && parts.count === 0) add(parts, 'value', jobFields.nextSlot[0], String(job.slot))
  if (job.tag !== undefined && parts.count === 0) add(parts, 'value', jobFields.tag[0], job.tag)
}

/** Args that stand beside the record, and what waits at ports. */
function addOwn(parts: Parts, args: Sealed | '', { inputs = {} }: NewJob, { sealItem }: Vault): void {
  if (isBig(args)) add(parts, 'value', jobFields.args[0], args)
  for (const [port, items] of Object.entries(inputs))
    add(parts, 'input', port, String(items.length), ...items.map(sealItem))
}

/** What jobs that differ only in their args and inputs have in common: what is in their record, and what else is asked for. */
function partsOf(job: NewJob, vault: Vault): Parts {
  const parts: Parts = { fields: {}, options: [], count: 0 }
  for (const [name, of] of recordFields) put(parts, name, of(job, vault))
  addOptions(parts, job, vault)
  return parts
}

/** The same as lib/job/create.lua takes it. */
const specWords = (job: NewJob, { fields, options, count }: Parts): string[] => [
  ...[job.queue, job.class, job.known ? '1' : '', text(job.at), text(job.wait), String(job.priority ?? 0)],
  ...[JSON.stringify(fields), String(count), ...options],
]

/** Args as they are kept, sealed once for all that is asked of them; '' where there are none. */
const sealedArgs = ({ args }: NewJob, { sealSame }: Vault): Sealed | '' =>
  args === undefined ? '' : sealSame(args, 'args')

/** Args that are part of the document; '' where there are none, or they stand beside it. */
const ownArgs = (args: Sealed | ''): string => (isBig(args) ? '' : args)

/** The arguments of one new job. */
export function jobArguments(job: NewJob, vault: Vault): string[] {
  const args = sealedArgs(job, vault)
  const parts = partsOf(job, vault)
  addOwn(parts, args, job, vault)
  return [...specWords(job, parts), ownArgs(args)]
}

/** Where those end that are like the one at `from` but for their args, and whose args are part of the document. */
function endOfAlike(jobs: readonly NewJob[], args: readonly string[], from: number): number {
  let to = from
  while (to < jobs.length && isAlikeBut(['args'], jobs[from]!, jobs[to]!) && !isBig(args[to]!)) to++
  return to
}

/** The jobs from `from` on that wait in pieces, as words; undefined where those are fewer than that. */
function packedWords(
  [jobs, args]: [readonly NewJob[], readonly (Sealed | '')[]],
  from: number,
  parts: Parts,
  vault: Vault,
  fewest: number,
): { words: string[]; n: number } | undefined {
  if (!isPlain(parts)) return undefined
  const all = ownOfAlike(jobs, args, from, vault)
  const [first] = all
  if (!first || all.length < fewest) return undefined
  const fields = withWaiting(parts.fields, first)
  if (!fields) return undefined
  const ports = first.waiting.map(({ port }) => port)
  const spec = { fields, options: ['packed', String(ports.length), ...ports], count: 1 }
  return { words: [...specWords(jobs[from]!, spec), String(all.length), ...ownWords(all)], n: all.length }
}

/**
 * The arguments of many: jobs in a row that differ only in their args, or in what waits at their ports, say once what they
 * share, and wait in pieces where they are `packedFrom` or more.
 */
export function jobsArguments(jobs: readonly NewJob[], vault: Vault, packedFrom: number): string[] {
  const words: string[] = []
  const args = jobs.map((job) => sealedArgs(job, vault))
  let groups = 0
  for (let from = 0; from < jobs.length; groups++) {
    const first = jobs[from]!
    const parts = partsOf(first, vault)
    const packed = packedWords([jobs, args], from, parts, vault, packedFrom)
    if (packed) {
      words.push(...packed.words)
      from += packed.n
      continue
    }
    addOwn(parts, args[from]!, first, vault)
    const to = parts.count === 0 ? endOfAlike(jobs, args, from) : from + 1
    words.push(...specWords(first, parts), String(to - from), ...args.slice(from, to).map(ownArgs))
    from = to
  }
  return [String(groups), ...words]
}

/** Where its words say how much is asked for of a job beside its record. */
const OPTIONS = 8

/** Whether these jobs, in these words, are a single one whose record is all there is of it. */
export const isSlight = (jobs: readonly NewJob[], words: readonly string[]): boolean =>
  jobs.length === 1 && words[OPTIONS] === '0'
