import type { Encoded } from '../../core/codec/value.ts'
import type { Status } from '../../core/job.ts'
import { tryRead } from '../../core/readable.ts'
import type { JobView } from '../../engine/engine.ts'
import { plain, span, truncated } from './text.ts'

const MOST = 300

export function messageOf(error: Encoded): string {
  const parsed = opened(error) as { message?: unknown } | string | null | undefined
  const text = typeof parsed === 'string' ? parsed : String(parsed?.message ?? error)
  return plain(truncated(text, MOST))
}

export function stackOf(error: Encoded): string | undefined {
  const stack = (opened(error) as { stack?: unknown } | null | undefined)?.stack
  return typeof stack === 'string' ? stack : undefined
}

const opened = (value: Encoded): unknown => tryRead(() => JSON.parse(value))

/** `attempt` includes the current run. */
export const failedRuns = ({ attempt, status }: Pick<JobView, 'attempt' | 'status'>): number =>
  attempt - Number(status === 'running')

type RunAnswer = { status: Status; ran?: false }

/** Undefined if the job runs. */
export const notRun = ({ status, ran }: RunAnswer): string | undefined =>
  ran === false ? `a ${status} job runs only with force` : undefined

export const isBad = (outcome?: string): boolean => outcome === 'failed' || outcome === 'lost'

export const tookText = ({ ranAt, endedAt }: Pick<JobView, 'ranAt' | 'endedAt'>): string =>
  ranAt !== null && endedAt !== null && endedAt >= ranAt ? span(endedAt - ranAt) : '–'

export function shareOf(progress: Encoded | null): number | undefined {
  const parsed = progress === null ? undefined : opened(progress)
  const share = typeof parsed === 'object' ? (parsed as { progress?: unknown } | null)?.progress : parsed
  if (typeof share !== 'number' || share < 0 || share > 100) return undefined
  return share <= 1 ? share : share / 100
}
