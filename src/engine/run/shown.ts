// Jobs as viewers see them: redacted values are masked. Runs, and callers that take a value, get the original.

import type { Encoded } from '../../core/codec/value.ts'
import { redacted } from '../../core/redact.ts'
import { type JobRecord, redactedPathsOf } from '../../redis/record.ts'
import type { CallbackJob } from '../../redis/types.ts'
import type { Item, JobBase, PortView } from '../engine.ts'
import { portView, viewOf } from './snapshot.ts'

const sides = { i: 'in', o: 'out' } as const

export function shownPort(record: JobRecord, dir: 'i' | 'o', port: string, view: PortView): PortView {
  if (view.default === undefined) return view
  return { ...view, default: redacted(view.default, redactedPathsOf(record), sides[dir], port) }
}

/** @example shownPortOf(record, 'i', 'orders', 3, 1).size // 2 */
export const shownPortOf = (...[record, dir, port, pushed, taken]: Parameters<typeof portView>): PortView =>
  shownPort(record, dir, port, portView(record, dir, port, pushed, taken))

export function shownValues(record: JobRecord, dir: 'i' | 'o', port: string, items: readonly Item[]): Item[] {
  const paths = redactedPathsOf(record)
  return items.map((item) => ({ ...item, data: redacted(item.data, paths, sides[dir], port) }))
}

export const shownError = (record: JobRecord): Encoded | null =>
  redacted((record.lastError as Encoded | undefined) ?? null, redactedPathsOf(record), 'error')

export function shownState(record: JobRecord, state: Record<string, Encoded>): Record<string, Encoded> {
  const paths = redactedPathsOf(record)
  if (paths.length === 0) return state
  return Object.fromEntries(
    Object.entries(state).map(([field, value]) => [field, redacted(value, paths, 'state', field)]),
  )
}

export function shownJob(
  id: number,
  record: JobRecord,
  beside: { children?: string[]; childCount?: number; callback?: CallbackJob } = {},
): JobBase {
  const view = viewOf(id, record, beside)
  const paths = redactedPathsOf(record)
  if (paths.length === 0) return view
  const ports = (dir: 'i' | 'o', of: Record<string, PortView>) =>
    Object.fromEntries(Object.entries(of).map(([port, one]) => [port, shownPort(record, dir, port, one)]))
  return {
    ...view,
    args: redacted(view.args, paths, 'args'),
    error: shownError(record),
    progress: redacted(view.progress, paths, 'progress'),
    in: ports('i', view.in),
    out: ports('o', view.out),
  }
}
