import { CALLBACKS } from '../../core/callback.ts'
import type { Point } from '../../core/series.ts'
import { HOUR, MINUTE } from '../../core/units.ts'
import type { ErrorKind } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { sum } from './counts.ts'

export type ClassRow = Awaited<ReturnType<Engine['stats']['classes']>>['classes'][number]

/**
 * A class is failing if at least `least` jobs failed and their share of the ended jobs exceeds `share`. A class with
 * fewer failed jobs is failing if at least `few` jobs failed and their share is at least `half`.
 */
export const FAILURES = { span: 15 * MINUTE, least: 20, share: 0.01, few: 3, half: 0.5 }

export type FailingClass = {
  class: string
  failed: number
  completed: number
  firstAt: number
  kinds: { kind: ErrorKind; n: number }[]
}

type Known = {
  now: number
  kinds: readonly ErrorKind[]
  classes?: readonly ClassRow[]
  points: Readonly<Record<string, readonly Point[]>>
}

export const recentOf = ({ minutes = [] }: ErrorKind, now: number): number =>
  sum(minutes, ({ at, count }) => (at > now - FAILURES.span && at <= now ? count : 0))

function completedByHours(rows: readonly ClassRow[] | undefined, now: number): number {
  if (!rows || rows.length === 0 || rows.some(({ hours }) => !hours)) return Number.POSITIVE_INFINITY
  const from = Math.floor((now - FAILURES.span) / HOUR) * HOUR
  return sum(
    rows.flatMap(({ hours }) => hours!),
    ({ at, completed }) => (at >= from && at <= now ? completed : 0),
  )
}

function completedInQueues(queues: ReadonlySet<string>, { points, now }: Known): number {
  let sum = 0
  for (const name of queues) {
    const own = points[name]
    if (!own) return Number.POSITIVE_INFINITY
    for (const { at, completed } of own) if (at > now - FAILURES.span - MINUTE) sum += completed
  }
  return sum
}

function failuresOf(name: string, own: readonly ErrorKind[], known: Known): FailingClass {
  const { now, classes } = known
  const kinds = own
    .map((kind) => ({ kind, n: recentOf(kind, now) }))
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n)
  const rows = classes?.filter((row) => row.class === name)
  const queues = new Set([...own.flatMap((kind) => kind.queues), ...(rows ?? []).map(({ queue }) => queue)])
  const minutes = kinds.flatMap(({ kind }) => kind.minutes ?? []).filter(({ at }) => at > now - FAILURES.span)
  return {
    class: name,
    failed: sum(kinds, ({ n }) => n),
    completed: Math.min(completedByHours(rows, now), completedInQueues(queues, known)),
    firstAt: Math.min(now, ...minutes.map(({ at }) => at)),
    kinds,
  }
}

const isFailing = ({ failed, completed }: FailingClass): boolean => {
  const share = failed / (failed + completed)
  return failed >= FAILURES.least ? share > FAILURES.share : failed >= FAILURES.few && share >= FAILURES.half
}

export function failingClasses(known: Known): FailingClass[] {
  const byClass = Map.groupBy(known.kinds, (kind) => kind.class)
  // Another rule covers callbacks.
  byClass.delete(CALLBACKS.class)
  return [...byClass]
    .map(([name, own]) => failuresOf(name, own, known))
    .filter(isFailing)
    .sort((a, b) => b.failed - a.failed)
}

/** Redis stores `minutes` for six hours. Assumes that older failures were spread evenly over time. */
function minutesOf({ minutes = [], count, firstAt, lastAt }: ErrorKind) {
  if (minutes.length > 0) return minutes
  return [{ at: lastAt, count: Math.ceil(count / Math.ceil((lastAt - firstAt + 1) / FAILURES.span)) }]
}

/** For failures more than 22 hours ago, the share is unknown: the class was failing if at least `least` jobs failed. */
export function wasFailing(name: string, own: readonly ErrorKind[], known: Known): boolean {
  const kinds = own.map((kind) => ({ ...kind, minutes: minutesOf(kind) }))
  return kinds
    .flatMap(({ minutes }) => minutes)
    .some(({ at }) => {
      const then = failuresOf(name, kinds, { ...known, points: {}, now: at + FAILURES.span - 1 })
      return at < known.now - 22 * HOUR ? then.failed >= FAILURES.least : isFailing(then)
    })
}
