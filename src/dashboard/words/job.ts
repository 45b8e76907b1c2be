// What is said of a job in one line: what it waits for, how its run goes, what went wrong.

import type { Encoded } from '../../core/codec/value.ts'
import { ended } from '../../core/job.ts'
import type { JobView } from '../../engine/engine.ts'
import { plain } from './json.ts'
import { count, percent } from './number.ts'
import { cut, listed } from './text.ts'

/** The message of an error as it is kept: that of an object with one, or the value itself. */
export function messageOf(error: Encoded, most = 300): string {
  const parsed = opened(error)
  const text =
    typeof parsed === 'object' && parsed !== null && 'message' in parsed
      ? String((parsed as { message: unknown }).message)
      : typeof parsed === 'string'
        ? parsed
        : error
  return plain(text.slice(0, most)) + (text.length > most ? '…' : '')
}

/** The stack of an error, where it has one. */
export function stackOf(error: Encoded): string | undefined {
  const parsed = opened(error) as { stack?: unknown } | null
  return typeof parsed === 'object' && typeof parsed?.stack === 'string' ? parsed.stack : undefined
}

const opened = (value: Encoded): unknown => {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** How far a run is, where it says so: a share of one. */
export function shareOf(progress: Encoded | null): number | undefined {
  const parsed = progress === null ? undefined : opened(progress)
  const share =
    typeof parsed === 'number'
      ? parsed
      : typeof parsed === 'object' && parsed !== null
        ? (parsed as { progress?: unknown; share?: unknown }).progress
        : undefined
  if (typeof share !== 'number' || !Number.isFinite(share) || share < 0) return undefined
  return share <= 1 ? share : share <= 100 ? share / 100 : undefined
}

/** What happened last, or what is waited for; `at` is the moment that the sentence ends with. */
export type Happened = { text: string; at?: { of: 'since' | 'until'; moment: number } }

const waitsFor = (waitingFor: JobView['waitingFor'], children: JobView['children']): string => {
  if (waitingFor === 'parent') return 'waits for its parent'
  if (waitingFor === 'children') {
    const open = Object.entries(children).filter(([, { status }]) => !ended.has(status))
    const names = open.slice(0, 3).map(([name]) => name)
    if (names.length === 0) return 'waits for its children'
    return `waits for ${listed(open.length > 3 ? [...names, `${count(open.length - 3)} more`] : names)}`
  }
  if (waitingFor && waitingFor.length > 0) return `waits for a value on ${listed(waitingFor.slice(0, 4))}`
  return 'rests until somebody asks for a run'
}

/** @example happened(job, now) // { text: 'no answer within 30 s' } */
export function happened(job: JobView, now: number): Happened {
  const { status, error, progress, ranAt, runAt, waitingFor, waitingAt, children, attempt } = job
  if (status === 'running') {
    const share = shareOf(progress)
    const text = share === undefined ? 'runs for' : `${percent(share)} done, runs for`
    return { text, ...(ranAt === null ? {} : { at: { of: 'since', moment: ranAt } }) }
  }
  if (error !== null) {
    const again = status === 'queued' && attempt > 0 ? `tries again after: ` : ''
    return { text: `${again}${messageOf(error)}` }
  }
  if (status === 'queued') {
    if (runAt !== null && runAt > now) return { text: 'waits for its time,', at: { of: 'until', moment: runAt } }
    return { text: waitingAt ? `waits at limit ${cut(waitingAt, 40)}` : 'ready' }
  }
  if (status === 'suspended') return { text: waitsFor(waitingFor, children) }
  if (status === 'terminating') return { text: 'ends, after its shutdown run' }
  return { text: '' }
}
