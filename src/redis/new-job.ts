import { isAlikeBut } from '../core/alike.ts'
import type { Encoded } from '../core/codec/value.ts'
import type { PortOptions } from '../core/run.ts'
import { jobFields } from './keys.ts'
import { isBig, ownOfAlike, ownWords, withWaiting } from './packed-jobs.ts'
import type { Sealed, Vault } from './vault.ts'

/** `how`: the first job of the key sets the limit ('first'), every job sets it ('set'), or only the API (undefined). */
export type LimitKey = {
  key: string
  how?: 'first' | 'set'
  concurrency?: number
  rate?: { limit: number; period: number }
}

export type Quota = { by: string; jobs: number; bytes: number; tenant?: { jobs?: number; bytes?: number } }

export type NewJob = {
  queue: string
  class: string
  known: boolean
  args?: Encoded
  at?: number
  wait?: number
  priority?: number
  parent?: string
  name?: string
  in?: PortOptions
  out?: PortOptions
  inputs?: Record<string, string[]>
  retry?: Encoded
  timeout?: number
  keepResult?: number
  retain?: number
  history?: number
  /** `hit` is the effect if another job holds the key. */
  unique?: {
    key: string
    period?: number
    held?: 'deleted' | 'started'
    hit?: 'same parent' | 'ignored'
    /** If another job holds the key, that job is delayed and gets the new args. */
    debounce?: { max?: number }
  }
  joins?: boolean
  redeliver?: { after: string; ms?: number; max?: number }
  redact?: readonly string[]
  maxLost?: number
  tag?: string
  group?: string
  limits?: LimitKey[]
  constraints?: string
  repeat?: Encoded
  slot?: number
  aliases?: string[]
  createdBy?: string
  labels?: string
  by?: string
  traceparent?: string
  quota?: Quota
  scheduledFor?: number
  callback?: { spec: string; host: string }
  shutdown?: boolean
  quiet?: boolean
  schema?: string
}

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

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

function putPorts(parts: Parts, dir: 'i' | 'o', specs: PortOptions = {}, { seal }: Vault): void {
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

export const limitWords = ({ key, how, concurrency, rate }: LimitKey): string[] => [
  key,
  how ?? '',
  text(concurrency),
  text(rate?.limit),
  text(rate?.period),
]

const recordFields: readonly (readonly [Field, (job: NewJob, vault: Vault) => string | undefined, 'plain'?])[] = [
  ['queue', (job) => job.queue, 'plain'],
  ['class', (job) => job.class, 'plain'],
  ['priority', (job) => (job.priority ? String(job.priority) : undefined), 'plain'],
  ['createdBy', (job) => job.createdBy, 'plain'],
  ['labels', (job) => job.labels, 'plain'],
  ['apiKey', (job) => job.by, 'plain'],
  ['traceparent', (job) => job.traceparent, 'plain'],
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
  ['schema', (job) => job.schema, 'plain'],
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

const plain = new Set<string>(recordFields.filter(([, , way]) => way).map(([name]) => jobFields[name][0]))

const isPort = (field: string): boolean => /^d?[io]:\w+$/.test(field)

/** Plain jobs can be packed: see lib/runtime/pieces.lua. */
const isPlain = ({ fields, count }: Parts): boolean =>
  count === 0 && Object.keys(fields).every((field) => plain.has(field) || isPort(field))

function addOptions(parts: Parts, job: NewJob, vault: Vault): void {
  putPorts(parts, 'i', job.in, vault)
  putPorts(parts, 'o', job.out, vault)
  if (job.parent !== undefined) add(parts, 'parent', job.parent, job.name ?? '')
  if (job.joins) add(parts, 'joining')
  if (job.unique) add(parts, 'unique', job.unique.key, text(job.unique.period), uniqueHow(job.unique))
  if (job.unique?.debounce) add(parts, 'debounce', text(job.unique.debounce.max))
  for (const limit of job.limits ?? []) add(parts, 'limit', ...limitWords(limit))
  for (const alias of job.aliases ?? []) add(parts, 'alias', alias)
  // A job with a slot (a timer) or a tag (which may add limits) gets an option, so that it is not packed.
  if (job.slot !== undefined && parts.count === 0) add(parts, 'value', jobFields.nextSlot[0], String(job.slot))
  if (job.tag !== undefined && parts.count === 0) add(parts, 'value', jobFields.tag[0], job.tag)
}

function addOwn(parts: Parts, args: Sealed | '', { inputs = {} }: NewJob, { sealItem }: Vault): void {
  if (isBig(args)) add(parts, 'value', jobFields.args[0], args)
  for (const [port, items] of Object.entries(inputs))
    add(parts, 'input', port, String(items.length), ...items.map(sealItem))
}

function partsOf(job: NewJob, vault: Vault): Parts {
  const parts: Parts = { fields: {}, options: [], count: 0 }
  for (const [name, of] of recordFields) put(parts, name, of(job, vault))
  addOptions(parts, job, vault)
  return parts
}

const specWords = (job: NewJob, { fields, options, count }: Parts): string[] => [
  job.queue,
  job.class,
  job.known ? '1' : '',
  text(job.at),
  text(job.wait),
  String(job.priority ?? 0),
  JSON.stringify(fields),
  String(count),
  ...options,
]

const sealedArgs = ({ args }: NewJob, { sealSame }: Vault): Sealed | '' =>
  args === undefined ? '' : sealSame(args, 'args')

const ownArgs = (args: Sealed | ''): string => (isBig(args) ? '' : args)

export function jobArguments(job: NewJob, vault: Vault): string[] {
  const args = sealedArgs(job, vault)
  const parts = partsOf(job, vault)
  addOwn(parts, args, job, vault)
  return [...specWords(job, parts), ownArgs(args)]
}

function endOfAlike(jobs: readonly NewJob[], args: readonly string[], from: number): number {
  let to = from
  while (to < jobs.length && isAlikeBut(['args'], jobs[from]!, jobs[to]!) && !isBig(args[to]!)) to++
  return to
}

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

/** Consecutive jobs that differ only in args or values share one description. */
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

const OPTIONS = 8

export const isSimple = (jobs: readonly NewJob[], words: readonly string[]): boolean =>
  jobs.length === 1 && words[OPTIONS] === '0'
