import type { RunError } from '../../core/run.ts'
import { refusalIn } from '../../redis/answers.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Vault } from '../../redis/vault.ts'
import type { RunTrace } from '../trace/tracer.ts'

export type RunStart = {
  job: number
  queue: string
  class: string
  attempt: number
  version?: string
  trace?: string
  span?: string
}

/** Describes the end of a run before its commit. If Redis refuses the commit, a second report contains the error. */
export type RunReport = RunStart & {
  outcome: 'completed' | 'suspended' | 'follow' | 'again' | 'retry' | 'failed' | 'released'
  /** In milliseconds. */
  ms: number
  retryIn?: number
  error?: Pick<RunError, 'message' | 'reason' | 'stack'>
}

export type ReportedOutcome = RunOutcome & { report?: RunReport; trace?: RunTrace }

export const startOf = ({ id, document }: ClaimedJob, version?: string, trace?: RunTrace): RunStart => ({
  job: id,
  queue: document.queue,
  class: document.class,
  attempt: (document.failures ?? 0) + 1,
  ...(version && { version }),
  ...(trace && { trace: trace.traceId, span: trace.runSpan }),
})

export function reportOf(start: RunStart, { end, words }: RunOutcome, ms: number, { show }: Vault): RunReport {
  const report = { ...start, ms: Math.round(ms) }
  if (end !== 'failed') return { ...report, outcome: end as RunReport['outcome'] }
  const [, text = '{}', _kind, again, delay] = words
  const { message, reason, stack } = JSON.parse(show.error(text)) as RunError
  const error = { message, reason, ...(stack ? { stack } : {}) }
  return again === 'retry'
    ? { ...report, outcome: 'retry', retryIn: Number(delay), error }
    : { ...report, outcome: 'failed', error }
}

const passing = new Set(['TAKEN', 'NOT_FOUND', 'INTERNAL'])

export function refusedReport(report: RunReport, { again }: RunOutcome, answer: string): RunReport {
  const { code, message } = refusalIn(answer) ?? { code: '', message: answer }
  const error = { message, reason: 'other' as const }
  const delay = passing.has(code) ? again?.()[1] : undefined
  return { ...report, error, ...(delay ? { outcome: 'retry', retryIn: Number(delay) } : { outcome: 'failed' }) }
}

/**
 * Wraps every run. The hook must call `perform` once and return its result.
 *
 * @example const hook: RunHook = async (start, perform) => { console.log(start.job); return perform() }
 */
export type RunHook = (
  start: RunStart,
  perform: () => Promise<RunReport | undefined>,
  token?: string,
) => Promise<unknown>
