import type { PastRun } from '../../core/run.ts'
import type { KeptWait } from '../../core/schemas.ts'
import type { JobView } from '../../engine/engine.ts'

export type Stretch = {
  kind: 'queued' | 'run' | 'fail' | 'completed' | 'failed' | 'running' | 'wait'
  from: number
  to: number
  text?: string
  share?: number
  run?: number
}

export type Row = {
  name: string
  note: string
  depth: number
  status?: JobView['status']
  job?: number
  stretches: Stretch[]
  took: number | null
}

/** `place` is a percentage. `breaks` are waits that are drawn shorter than they were. `edges` are ends of busy times. */
export type Scale = {
  from: number
  to: number
  place: (at: number) => number
  breaks: { at: number; length: number }[]
  edges: number[]
}

/** Position of the current time, in percent. The remaining width is for names of long bars. */
const END = 96.4
/** A wait longer than this many median runs is folded. */
const FOLD = 10

const median = (lengths: readonly number[]): number =>
  lengths.toSorted((a, b) => a - b)[Math.floor(lengths.length / 2)] ?? 1

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

function partsOf(from: number, to: number, busy: readonly (readonly [number, number])[], folds: boolean): Part[] {
  const unit = Math.max(1, median(busy.map(([a, b]) => b - a).filter((length) => length > 0)))
  const weigh = (length: number) => Math.max(0.7, Math.log2(1 + length / unit))
  const parts: Part[] = []
  const add = (a: number, b: number, isBusy: boolean) => {
    if (b <= a) return
    const isFolded = folds && !isBusy && b - a > FOLD * unit
    parts.push({ from: a, to: b, isFolded, weight: folds ? (isFolded ? 3 : weigh(b - a)) : b - a })
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

export function scaleOf(from: number, to: number, busy: readonly (readonly [number, number])[], folds: boolean): Scale {
  const parts = partsOf(from, Math.max(to, from + 1), busy, folds)
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
  endedAt !== null && (status === 'completed' || status === 'failed' || status === 'terminated') ? endedAt : now

const runName = (number: number | undefined): string => (number === undefined ? 'run' : `run ${number}`)

function stretchesOf(job: JobView, past: readonly PastRun[], now: number): Stretch[] {
  const out: Stretch[] = []
  let at = job.createdAt
  past.forEach(({ n, number, readyAt, startedAt, endedAt, outcome }, i) => {
    const from = Math.max(at, readyAt ?? at)
    const isQueued = (i === 0 && number === 1) || readyAt !== undefined
    if (from > at) out.push({ kind: 'wait', from: at, to: from })
    if (startedAt > from) out.push({ kind: isQueued ? 'queued' : 'wait', from, to: startedAt })
    const isBad = badly.has(outcome)
    out.push({
      kind: isBad ? 'fail' : 'run',
      from: startedAt,
      to: endedAt,
      text: runName(number),
      run: n,
    })
    at = endedAt
  })
  if (job.status === 'running' && job.ranAt !== null) {
    if (job.ranAt > at) out.push({ kind: out.length === 0 ? 'queued' : 'wait', from: at, to: job.ranAt })
    out.push({ kind: 'running', from: job.ranAt, to: now, text: runName((past.at(-1)?.number ?? 0) + 1) })
  } else if (endOf(job, now) > at) {
    const kind = out.length === 0 && job.waitingAt === null ? 'queued' : 'wait'
    out.push({ kind, from: at, to: endOf(job, now) })
  }
  return out
}

function childRow(name: string, child: JobView, now: number, share: number | undefined): Row {
  const { createdAt, ranAt, endedAt, status } = child
  const end = endOf(child, now)
  const stretches: Stretch[] = []
  if (ranAt === null)
    stretches.push({
      kind: 'wait',
      from: createdAt,
      to: end,
      ...(child.waitingAt ? { text: `limit ${child.waitingAt}` } : {}),
    })
  else {
    stretches.push({ kind: 'queued', from: createdAt, to: ranAt })
    if (status === 'running') stretches.push({ kind: 'running', from: ranAt, to: now, share })
    else if (endedAt !== null)
      stretches.push({ kind: status === 'failed' ? 'failed' : 'completed', from: ranAt, to: endedAt })
    else stretches.push({ kind: 'wait', from: ranAt, to: end })
  }
  return {
    name,
    note: `#${child.id}`,
    depth: 1,
    status,
    job: child.id,
    stretches,
    took: end - createdAt,
  }
}

function stepRow({ name, kind, at, took }: KeptWait, past: readonly PastRun[]): Row[] {
  if (at === null) return []
  const stretch: Stretch = { kind: kind === 'step' ? 'completed' : 'wait', from: at - (took ?? 0), to: at }
  const number = past.find(({ startedAt, endedAt }) => at >= startedAt && at <= endedAt)?.number
  const note = number === undefined || kind !== 'step' ? kind : `step, ${runName(number)}`
  return [{ name, note, depth: 1, stretches: [stretch], took }]
}

export type Family = { name: string; job: JobView; share?: number }[]

export type Parts = { job: JobView; runs: readonly PastRun[]; steps: readonly KeptWait[]; family: Family }

export const CHILDREN = 20

export function rowsOf({ job, runs, steps, family }: Parts, now: number): Row[] {
  const past = runs.toSorted((a, b) => a.startedAt - b.startedAt)
  const end = endOf(job, now)
  const own: Row = {
    name: job.class,
    note: 'this job',
    depth: 0,
    status: job.status,
    stretches: stretchesOf(job, past, now),
    took: end - job.createdAt,
  }
  const rank = ({ job: { status } }: Family[number]) => Number(status !== 'failed')
  const children = family
    .toSorted((a, b) => rank(a) - rank(b) || a.job.createdAt - b.job.createdAt || a.job.id - b.job.id)
    .slice(0, CHILDREN)
    .map(({ name, job, share }) => childRow(name, job, now, share))
  return [own, ...steps.flatMap((step) => stepRow(step, past)), ...children]
}

export const busyIn = (rows: readonly Row[]): [number, number][] =>
  rows.flatMap(({ stretches }) =>
    stretches
      .filter(({ kind }) => kind !== 'wait' && kind !== 'queued')
      .map(({ from, to }): [number, number] => [from, to]),
  )
