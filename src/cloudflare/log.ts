import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../engine/engine.ts'
import type { RunHook, RunReport, RunStart } from '../engine/run/report.ts'
import type { LogLevel } from '../environment.ts'

const levels = ['log', 'debug', 'info', 'warn', 'error'] as const

const running = new AsyncLocalStorage<RunStart>()

const isLogged = ({ outcome, error }: RunReport, level: LogLevel): boolean =>
  level === 'all' ? outcome !== 'released' : level === 'failed' && error !== undefined

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value instanceof Error) return value.stack ?? value.message
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}

let marks = false

export function markConsole(): void {
  if (marks) return
  marks = true
  for (const level of levels) {
    const print = console[level].bind(console)
    console[level] = (...values: unknown[]) => {
      const run = running.getStore()
      if (!run) return print(...values)
      const { job, class: name, trace, span } = run
      print(
        JSON.stringify({
          sidejob: 'console',
          job,
          class: name,
          trace,
          span,
          level,
          text: values.map(textOf).join(' '),
        }),
      )
    }
  }
}

let listens = false

/** In development, the console also prints the job that created the promise. */
export function printRejections(): void {
  const { addEventListener } = globalThis as { addEventListener?: Listen }
  if (listens || !addEventListener) return
  listens = true
  addEventListener('unhandledrejection', ({ reason }) =>
    console.error('A promise that no code awaits was rejected:', reason),
  )
}
type Listen = (type: 'unhandledrejection', listener: (event: { reason: unknown }) => void) => void

const logReport = (report: RunReport): void => {
  const line = JSON.stringify({ sidejob: 'run', ...report })
  if (report.error) console.error(line)
  else console.log(line)
}

/** Redis keeps only the newest audit entries, and no API key can change the platform's log. */
export const tellAudit = (entry: AuditEntry & { url: string }): void =>
  console.log(JSON.stringify({ sidejob: 'audit', ...entry }))

export type Hooks = {
  /** Called after each run of a function or push worker, before its commit. */
  onRun?: (report: RunReport) => unknown
  /** Called after a run that fails its job: no retries are left. */
  onFailed?: (report: RunReport) => unknown
}

/** `sidejob dev` defines this function, to find a run that never ends. */
const ANNOUNCE = Symbol.for('sidejob.announce')
type Announce = (run: RunStart & { token: string }) => () => void
const announced = globalThis as { [ANNOUNCE]?: Announce }

export function runHook(options: Hooks & { level: LogLevel; keep: (work: Promise<unknown>) => void }): RunHook {
  const { level, onRun, onFailed, keep } = options
  const call = (hook: Hooks['onRun'], report: RunReport) => {
    if (!hook) return
    // An error of the hook must not fail the run.
    keep(
      Promise.resolve()
        .then(() => hook(report))
        .catch((error) => console.error(error)),
    )
  }
  return async (start, perform, token) => {
    const ended = token === undefined ? undefined : announced[ANNOUNCE]?.({ ...start, token })
    let report: RunReport | undefined
    try {
      report = await (marks ? running.run(start, perform) : perform())
    } finally {
      ended?.()
    }
    if (!report) return
    if (isLogged(report, level)) logReport(report)
    call(onRun, report)
    if (report.outcome === 'failed') call(onFailed, report)
  }
}
