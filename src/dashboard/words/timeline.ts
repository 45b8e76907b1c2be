import { ended } from '../../core/job.ts'
import type { PastRun } from '../../core/run.ts'
import type { KeptWait } from '../../core/schemas.ts'
import type { JobView, Reason } from '../../engine/engine.ts'
import { cut, listed, many, percent, span } from './text.ts'

/** `unstored`: runs and waits without records. `waiting` includes `queued` if the job's ready time is unknown. */
export type StretchKind = 'queued' | 'waiting' | 'unstored' | 'done' | 'failed' | 'running'

export type Stretch = { kind: StretchKind; from: number; to: number; text?: string; run?: number }

export const isBusy = ({ kind }: Stretch): boolean => kind === 'done' || kind === 'failed' || kind === 'running'

export type Row = {
  name: string
  note: string
  depth: number
  status?: JobView['status']
  job?: number
  stretches: Stretch[]
  took: number | null
}

/** `place` is a percentage. `breaks`: parts that the drawing shortens. `edges`: ends of busy times. */
export type Scale = {
  from: number
  to: number
  place: (at: number) => number
  breaks: { at: number; length: number }[]
  edges: number[]
}

const END = 96.4
/** The drawing shortens parts that last more than this many times as long as a short run (the first quartile). */
const FOLD = 10

const shortOf = (lengths: readonly number[]): number =>
  lengths.toSorted((a, b) => a - b)[Math.floor((lengths.length - 1) / 4)] ?? 1

function joined(busy: readonly (readonly [number, number])[]): [number, number][] {
  const out: [number, number][] = []
  for (const [from, to] of busy.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else out.push([from, to])
  }
  return out
}

type Part = { from: number; to: number; weight: number; isFolded: boolean }

function partsOf(from: number, to: number, busy: readonly (readonly [number, number])[]): Part[] {
  const unit = Math.max(1, shortOf(busy.map(([a, b]) => b - a).filter((length) => length > 0)))
  const parts: Part[] = []
  const add = (a: number, b: number, isBusy: boolean) => {
    if (b <= a) return
    const length = (b - a) / unit
    const isFolded = length > FOLD
    const folded = isBusy ? FOLD + Math.log2(length / FOLD) : 3
    parts.push({ from: a, to: b, isFolded, weight: isFolded ? folded : length })
  }
  let at = from
  for (const [a, b] of joined(busy)) {
    add(at, Math.min(a, to), false)
    add(Math.max(at, a), Math.min(b, to), true)
    at = Math.max(at, b)
  }
  add(at, to, false)
  return parts
}

export function scaleOf(from: number, to: number, busy: readonly (readonly [number, number])[]): Scale {
  const parts = partsOf(from, Math.max(to, from + 1), busy)
  const whole = parts.reduce((sum, { weight }) => sum + weight, 0) || 1
  const starts: number[] = []
  let sum = 0
  for (const { weight } of parts) {
    starts.push((sum / whole) * END)
    sum += weight
  }
  const place = (at: number): number => {
    const i = parts.findIndex((part) => at <= part.to)
    const part = parts[i]
    if (!part) return END
    const share = Math.max(0, (at - part.from) / (part.to - part.from))
    return starts[i]! + ((share * part.weight) / whole) * END
  }
  const breaks = parts.flatMap((part, i) =>
    part.isFolded ? [{ at: starts[i]! + (part.weight / whole / 2) * END, length: part.to - part.from }] : [],
  )
  return { from, to, place, breaks, edges: parts.slice(1).map((part) => part.from) }
}

const badly = new Set(['failed', 'lost', 'conflict'])

const endOf = ({ endedAt, status }: JobView, now: number): number =>
  endedAt !== null && ended.has(status) ? endedAt : now

const runName = (number: number | undefined): string => (number === undefined ? 'run' : `run ${number}`)

function waitText({ waitingAt, waitingFor, runAt }: JobView, now: number): string | undefined {
  if (waitingAt !== null) return `limit ${waitingAt}`
  if (Array.isArray(waitingFor)) return `for ${listed(waitingFor)}`
  if (runAt !== null && runAt > now) return `next run in ${span(runAt - now)}`
  return waitingFor === null ? undefined : waitingFor === 'children' ? 'for children' : 'for its parent'
}

type Seen = { job: JobView; runs: readonly PastRun[]; reason?: Reason }

function stretchesOf({ job, runs, reason }: Seen, now: number): Stretch[] {
  const out: Stretch[] = []
  let [at, last] = [job.createdAt, 0]
  function add(kind: StretchKind, to: number, more: Partial<Stretch> = {}) {
    if (to > at) out.push({ kind, from: at, to, ...more })
    at = Math.max(at, to)
  }
  for (const { n, number, readyAt, startedAt, endedAt, outcome } of runs) {
    const missing = number === undefined ? undefined : number - last - 1
    if (missing !== undefined && missing <= 0) add('waiting', readyAt ?? (number === 1 ? at : startedAt))
    else
      add('unstored', readyAt ?? startedAt, {
        text: `${missing === undefined ? 'runs' : many(missing, 'run')} not stored`,
      })
    add('queued', startedAt)
    const kind = badly.has(outcome) ? 'failed' : 'done'
    out.push({ kind, from: startedAt, to: endedAt, text: runName(number), run: n })
    last = number ?? last
    at = endedAt
  }
  const text = reason?.code === 'INPUT' ? `for port ${reason.key}` : waitText(job, now)
  const isReady = job.status === 'queued' && text === undefined
  if (job.status === 'running' && job.ranAt !== null) {
    add(out.length === 0 ? 'queued' : 'waiting', job.ranAt)
    out.push({ kind: 'running', from: job.ranAt, to: now, text: runName(last + 1) })
  } else {
    if (reason?.code === 'QUEUED' || reason?.code === 'PULL') add('waiting', reason.since)
    add(isReady ? 'queued' : 'waiting', endOf(job, now), { text })
  }
  return out
}

const inOrder = (runs: readonly PastRun[]): PastRun[] => runs.toSorted((a, b) => a.startedAt - b.startedAt)

function stepRow({ name, kind, at, took }: KeptWait, past: readonly PastRun[]): Row[] {
  if (at === null) return []
  const stretch: Stretch = { kind: kind === 'step' ? 'done' : 'waiting', from: at - (took ?? 0), to: at }
  const number = past.find(({ startedAt, endedAt }) => at >= startedAt && at <= endedAt)?.number
  const note = number === undefined || kind !== 'step' ? kind : `step, ${runName(number)}`
  return [{ name, note, depth: 1, stretches: [stretch], took }]
}

export type Family = { name: string; job: JobView; runs: readonly PastRun[]; share?: number }[]

export type Parts = Seen & { steps: readonly KeptWait[]; family: Family }

export const CHILDREN = 20

export const idNote = (name: string, { class: of, id }: Pick<JobView, 'class' | 'id'>): string =>
  `${name === of ? '' : `${cut(of, 20)} `}#${id}`

export function rowsOf({ steps, family, ...own }: Parts, now: number): Row[] {
  const rowOf = ({ job, runs, ...seen }: Seen, row: Pick<Row, 'name' | 'note' | 'depth' | 'job'>): Row => ({
    ...row,
    status: job.status,
    stretches: stretchesOf({ job, runs: inOrder(runs), ...seen }, now),
    took: endOf(job, now) - job.createdAt,
  })
  const rank = ({ job: { status } }: Family[number]) => Number(status !== 'failed')
  const children = family
    .toSorted((a, b) => rank(a) - rank(b) || a.job.createdAt - b.job.createdAt || a.job.id - b.job.id)
    .slice(0, CHILDREN)
    .map(({ name, ...child }) => {
      const share = child.share === undefined ? '' : `, ${percent(child.share)}`
      return rowOf(child, { name, note: `${idNote(name, child.job)}${share}`, depth: 1, job: child.job.id })
    })
  return [
    rowOf(own, { name: own.job.class, note: 'this job', depth: 0 }),
    ...steps.flatMap((step) => stepRow(step, own.runs)),
    ...children,
  ]
}

export const busyIn = (rows: readonly Row[]): [number, number][] =>
  rows.flatMap(({ stretches }) => stretches.filter(isBusy).map(({ from, to }): [number, number] => [from, to]))
