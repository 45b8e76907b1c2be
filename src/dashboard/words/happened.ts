import { ended } from '../../core/job.ts'
import type { JobRow, Reason } from '../../engine/engine.ts'
import { shareOf } from './job.ts'
import { percent, plain } from './text.ts'
import { lineOf } from './why.ts'

type Happened = { text: string; at?: { of: 'since' | 'until'; moment: number }; after?: string }

export type HappenedRow = Pick<JobRow, 'status' | 'progress' | 'ranAt' | 'message' | 'reason' | 'queue'>

/** Stored reasons do not mention pauses of the queue, so a pause replaces the stored reason. */
const firstOf = ({ reason, queue }: HappenedRow, paused: ReadonlySet<string>): Reason | null =>
  reason !== null && (reason.code === 'QUEUED' || reason.code === 'PULL') && paused.has(queue)
    ? { code: 'PAUSED', message: `queue ${queue} is paused`, data: { queue }, since: reason.since }
    : reason

export function happened(row: HappenedRow, paused: ReadonlySet<string> = new Set()): Happened {
  const { status, progress, ranAt } = row
  const message = row.message === null ? undefined : plain(row.message)
  const reason = firstOf(row, paused)
  if (reason === null) {
    const share = shareOf(progress)
    const text = share === undefined ? 'running for' : `${percent(share)} done, running for`
    return { text, ...(ranAt === null ? {} : { at: { of: 'since', moment: ranAt } }) }
  }
  if (ended.has(status))
    return {
      text: message ?? (status !== 'completed' ? lineOf(reason).text : ranAt === null ? 'completed without a run' : ''),
    }
  if (status === 'terminating' && reason.code === 'QUEUED') return { text: 'ends after its shutdown run' }
  const { text, until } = lineOf(reason)
  return {
    text,
    ...(until === undefined ? {} : { at: { of: 'until', moment: until } }),
    after: message,
  }
}
