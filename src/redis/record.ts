import type { Encoded } from '../core/codec/value.ts'
import type { Status } from '../core/job.ts'
import { mapValues } from '../core/map-values.ts'
import { readList } from '../core/readable.ts'
import { redactable } from '../core/redact.ts'
import type { PastRun, RunEffects } from '../core/run.ts'
import { shownItem } from './item.ts'
import { dayFields, jobFields, limitFields, queueFields } from './keys.ts'
import { AT_REST, PLACE } from './marks.ts'
import { isSealed, type Opening, stateField } from './vault.ts'

type Fields = typeof jobFields
type Always = 'sequence' | 'queue' | 'class'
type ValueOf<F extends keyof Fields> = Fields[F] extends readonly [string, string, 'number'] ? number : string

/** An absent field means false, none or the default. */
export type JobRecord = { [F in Always]: ValueOf<F> } & { [F in Exclude<keyof Fields, Always>]?: ValueOf<F> } & {
  [named: `${string}:${string}`]: string
}

type Stored = Record<string, unknown>

function naming(fields: Readonly<Record<string, readonly [short: string, note: string, kind?: string]>>) {
  const byShort = new Map(Object.entries(fields).map(([name, [short, , kind]]) => [short, { name, kind }]))
  return (record: Stored, short: string, value: unknown): void => {
    const field = byShort.get(short)
    record[field?.name ?? short] = field?.kind === 'number' ? Number(value) : value
  }
}

const nameJob = naming(jobFields)
const nameQueue = naming(queueFields)
const nameLimit = naming(limitFields)

function renamed(name: ReturnType<typeof naming>, stored: Stored): Stored {
  const record: Stored = {}
  for (const short in stored) name(record, short, stored[short])
  return record
}

const sealedFields: Record<string, (text: string, opening: Opening) => string> = {
  args: (text, { value }) => value(text, 'args'),
  progress: (text, { value }) => value(text, 'progress'),
  lastValues: (text, { value }) => value(text, 'run'),
  callback: (text, { value }) => value(text, 'callback'),
  lastError: (text, { error }) => error(text),
  lastRun: (text, { error }) => error(text),
  // A result is encrypted as a whole, but each member of an error is encrypted separately.
  callbackResult: (text, { value, error }) => (text.startsWith('{') ? error(text) : value(text, 'result')),
}

export function openedField(name: string, text: string, opening: Opening): string {
  if (!isSealed(text)) return text
  const { value, item } = opening
  if (/^[lv][io]:/.test(name)) return JSON.stringify(readList(text).map(item))
  if (/^d[io]:/.test(name)) return item(text)
  if (name.startsWith('s:')) return value(text, stateField(name.slice(2)))
  return Object.hasOwn(sealedFields, name) ? sealedFields[name]!(text, opening) : text
}

export const recordOf = (stored: Stored): JobRecord => renamed(nameJob, stored) as JobRecord

/** `apart` is a flat list of the fields that have their own keys: name, value, name, value. */
export function decodeRecord(text: string, apart: string[] = [], opening?: Opening): JobRecord {
  const record = renamed(nameJob, JSON.parse(text) as Stored)
  for (let i = 0; i < apart.length; i += 2) nameJob(record, apart[i]!, apart[i + 1]!)
  if (!opening || !(isSealed(text) || apart.some(isSealed))) return record as JobRecord
  return openedRecord(record as JobRecord, opening)
}

export function openedRecord(record: JobRecord, opening: Opening): JobRecord {
  const opened: Stored = { ...record }
  for (const [name, value] of Object.entries(record))
    if (typeof value === 'string') opened[name] = openedField(name, value, opening)
  return opened as JobRecord
}

export const leftOut = (record: JobRecord): [name: string, short: string][] =>
  Object.entries(record)
    .filter(([, value]) => value === '^')
    .map(([name]) => [name, name in jobFields ? jobFields[name as keyof Fields] : [name]] as const)
    .flatMap(([name, [short, , kind]]) => (kind === 'text' ? [] : [[name, short]]))

export type QueueRecord = {
  mostLanes?: number
  calledClasses?: Record<string, true>
  batch?: number
  paused?: boolean
  mode?: string
  ageing?: number
  counts?: Record<string, number>
  earlierCounts?: Record<string, number>
  day?: number
  atLimits?: number
  ending?: number
  dayWaits?: number[]
} & { [F in keyof typeof queueFields]?: unknown }

export const decodeQueue = (text: string): QueueRecord => renamed(nameQueue, JSON.parse(text) as Stored)

export type LimitRecord = { [F in keyof typeof limitFields]?: number }

export const decodeLimit = (text: string): LimitRecord => renamed(nameLimit, JSON.parse(text) as Stored) as LimitRecord

export function limitSettingsOf(text: string) {
  const { concurrency = null, rate, period, paused, shut = null, promised = 0, jobs = null } = decodeLimit(text)
  return {
    concurrency,
    rate: rate === undefined ? null : { limit: rate, period: period! },
    paused: paused === 1,
    shutUntil: shut,
    reserved: promised,
    jobs,
  }
}

export type DayRecord = { counts: Record<string, number>; waits?: number[] }

const nameDay = naming(dayFields)

export const decodeDay = (text: string): Record<string, DayRecord> =>
  mapValues(JSON.parse(text) as Record<string, Stored>, (day) => renamed(nameDay, day) as DayRecord)

const resting: Record<string, Status> = AT_REST

export const statusOf = (record: JobRecord): Status =>
  resting[record.place ?? ''] ??
  (record.terminating ? 'terminating' : record.place === PLACE.leased ? 'running' : 'queued')

export function hasNamed(record: JobRecord): boolean {
  for (const name in record) if (name.includes(':')) return true
  return false
}

export const dirOf = (side: string): 'in' | 'out' => (side === 'i' ? 'in' : 'out')
export const sideOf = (dir: 'in' | 'out'): 'i' | 'o' => (dir === 'in' ? 'i' : 'o')

const namedOf = (record: JobRecord, kind: string): `${string}:${string}`[] =>
  Object.keys(record).filter((name): name is `${string}:${string}` => name.startsWith(`${kind}:`))

type PortRecord = { port: string; pushed: number; taken: number }

export function portsOf(record: JobRecord, dir: 'i' | 'o'): PortRecord[] {
  const ports: PortRecord[] = []
  for (const field of namedOf(record, dir)) {
    if (field[2] === '*') continue
    const [pushed, taken, dropped] = record[field]!.split(',')
    if (!dropped) ports.push({ port: field.slice(2), pushed: Number(pushed), taken: Number(taken) })
  }
  return ports
}

export function ownInputsOf(record: JobRecord): Record<string, string[]> {
  const inputs: Record<string, string[]> = {}
  for (const field of namedOf(record, 'vi')) inputs[field.slice(3)] = readList(record[field])
  return inputs
}

export const defaultOf = (
  record: JobRecord,
  dir: 'i' | 'o',
  port: string,
): { data: Encoded; context?: Encoded } | undefined => {
  const item = record[`d${dir}:${port}`]
  return item === undefined ? undefined : shownItem(item)
}

export const channelsOf = (record: JobRecord, dir: 'i' | 'o', port: string): string[] =>
  readList(record[`c${dir}:${port}`])

export function stateOf(record: JobRecord): Record<string, Encoded> {
  const state: Record<string, Encoded> = Object.create(null)
  for (const field of namedOf(record, 's')) state[field.slice(2)] = record[field] as Encoded
  return state
}

/** Matches the last line of a run, which has its details. The error before this line may have several lines. */
const DETAILS = /\n\+(\d+),(\d+),(\d+)(\{.*\})?$/

const uncommitted: ReadonlySet<string> = new Set(['lost', 'conflict', 'released', 'requeued'])

const detailsOf = ([, n, readyAt, checkpoints]: RegExpExecArray, run: PastRun) => ({
  n: Number(n),
  readyAt: Math.min(Number(readyAt), run.startedAt),
  commits: Number(checkpoints) + (uncommitted.has(run.outcome) ? 0 : 1),
})

export function pastRunOf(text: string): PastRun {
  const match = DETAILS.exec(text)
  const own = match ? text.slice(0, match.index) : text
  const [line] = own.split('\n', 1) as [string]
  const error = own.slice(line.length + 1)
  const [startedAt, endedAt, outcome, attempts, token, retried, ...by] = line.split(',')
  const [attempt, version] = attempts!.split(' ')
  const run = {
    startedAt: Number(startedAt),
    endedAt: Number(endedAt),
    outcome: outcome!,
    attempt: Number(attempt),
    ...(version && { version }),
  }
  if (token === undefined) return run
  return {
    ...run,
    token,
    retried: retried === '1',
    ...(by.join(',') && { by: by.join(',') }),
    ...(error && { error: error }),
    ...(match && detailsOf(match, run)),
  }
}

export function effectsOf(text: string): RunEffects {
  const did = DETAILS.exec(text)?.[4]
  const effects: RunEffects = { reads: [], writes: [], published: [], made: [], more: 0 }
  if (did === undefined) return effects
  const { of, more } = JSON.parse(did) as { of: Record<string, number>; more: number }
  for (const [what, values] of Object.entries(of)) {
    const [, job, dir, port] = /^[rw](\d+)([io]):(\w+)$/.exec(what) ?? []
    const [, id, name] = /^m(\d+) (.*)$/s.exec(what) ?? []
    if (id !== undefined) effects.made.push({ id: Number(id), name: name! })
    else if (job === undefined) effects.published.push({ channel: what.slice(1), messages: values })
    else
      effects[what.startsWith('r') ? 'reads' : 'writes'].push({
        job: Number(job),
        dir: dirOf(dir!),
        port: port!,
        values,
      })
  }
  effects.made.sort((a, b) => a.id - b.id)
  return { ...effects, more }
}

export type Child = { id: number; status: Status; class: string }

export function childrenOf(flat: string[]): Record<string, Child> {
  const children: Record<string, Child> = Object.create(null)
  for (let i = 0; i < flat.length; i += 2) {
    const [, id, status, className] = /^(\d+),(\w+),([\s\S]*)$/.exec(flat[i + 1]!)!
    children[flat[i]!] = { id: Number(id), status: status as Status, class: className! }
  }
  return children
}

export const momentOf = (sequence: string): number => Math.floor(Number.parseInt(sequence, 16) / 1000)

export const createdAtOf = ({ createdAt, sequence }: JobRecord): number => createdAt ?? momentOf(sequence)

export const parentOf = (record: JobRecord): { id: number; name: string } | null =>
  record.parent === undefined ? null : { id: Number(record.parent), name: record.childName ?? '' }

export const aliasesOf = (record: JobRecord): string[] => readList(record.aliases)

/** The paths are '' if their key was deleted while the job was read. Then everything is redacted. */
export const redactedPathsOf = ({ redacts }: Pick<JobRecord, 'redacts'>): readonly string[] =>
  redacts === '' ? redactable : readList(redacts)

export const waitingOf = (record: JobRecord): 'children' | 'parent' | string[] | null =>
  record.held
    ? 'parent'
    : record.waitsFor === undefined
      ? null
      : record.waitsFor === '*'
        ? 'children'
        : readList(record.waitsFor)

export const stateFieldOf = (record: JobRecord, field: string): Encoded | undefined =>
  record[`s:${field}`] as Encoded | undefined

export function countsOf(
  record: JobRecord,
  dir: 'i' | 'o',
  port: string,
): { pushed: number; taken: number } | undefined {
  const counts = record[`${dir}:${port}`]
  if (counts === undefined) return undefined
  const [pushed, taken] = counts.split(',')
  return { pushed: Number(pushed), taken: Number(taken) }
}
