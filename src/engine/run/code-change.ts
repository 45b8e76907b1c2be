// Finds differences between the steps and waits that a function asks for and the kept ones of earlier runs.

import type { CodeChange } from '../../core/code-change.ts'
import { durationText } from '../../core/time.ts'
import { Terminal } from '../../core/worker.ts'

/** The class option: a run fails, writes a log entry, or does neither. */
export type OnCodeChange = 'fail' | 'warn' | 'ignore'

/** The record of a wait. `on`: the port or channel; `ms`: the length or timeout; `class`: the class that was called. */
export type Waited = {
  kind: 'sleep' | 'waitFor' | 'callWorker' | 'each'
  until?: number
  on?: string
  ms?: number
  class?: string
  done?: true | { result?: unknown; error?: { message?: string; detail?: unknown } }
  value?: unknown
  next?: number
}

/** The members of a record that have to be the same when a function asks for it again. */
export type Asked = Pick<Waited, 'kind' | 'on' | 'ms' | 'class'>

/** Why a function that keeps records may take another path than before: it then is not required to ask for all of them. */
export const FREE = '~~free'

const NESTED = /\[\d+\]\//

/** True for a record of a scope itself, false for records of branches and turns inside. */
export function isOf(scope: string, key: string): boolean {
  if (key === FREE || !key.startsWith(scope)) return false
  return (scope === '' && !key.startsWith('~')) || !NESTED.test(key.slice(scope.length))
}

/** A key as its author knows it: `step "charge"`, `sleep#1 in parallel#1[0]`. */
function placed(key: string): { name: string; where: string } {
  const at = [...key.matchAll(/\[\d+\]\//g)].at(-1)
  const end = at ? at.index + at[0].length : 0
  const name = key.slice(end).replace(/^~/, '')
  return { name, where: end > 0 ? ` in ${key.slice(1, end - 1)}` : '' }
}

const quoted = (text: string): string => JSON.stringify(text)

export const stepText = (key: string): string => {
  const { name, where } = placed(key)
  return `step ${quoted(name)}${where}`
}

/** A wait in words. @example waitText('~sleep#1', { kind: 'sleep', ms: 3_600_000 }) // 'sleep#1 (sleep of 1h)' */
export function waitText(key: string, { kind, on, ms, class: name }: Asked): string {
  const place = placed(key)
  const length = ms === undefined ? '' : durationText(ms)
  const what = {
    sleep: length ? `sleep of ${length}` : 'sleep until a date',
    waitFor: `waitFor ${quoted(on ?? '')}${length && `, timeout ${length}`}`,
    callWorker: `callWorker ${quoted(name ?? '')}`,
    each: 'each',
  }
  return `${place.name}${place.where} (${what[kind]})`
}

const members = ['kind', 'on', 'ms', 'class'] as const

/** True if the kept wait differs. */
export const differs = (kept: Waited, asked: Asked): boolean => members.some((member) => kept[member] !== asked[member])

const REMEDY =
  'if its code changed while the job waited, restore it and retry the job, or set onCodeChange of the class; ' +
  'otherwise compute in a step whatever its path and the lengths of its waits depend on'

/** The function of a job took another path than the steps and waits that the job keeps. */
export class CodeChanged extends Terminal {
  constructor(job: number, { kept, asked }: CodeChange) {
    const now = asked === null ? 'ended without asking for it' : `now asks for ${asked}`
    super(`job ${job} keeps ${kept}, and its function ${now}: ${REMEDY}`, { detail: { codeChange: { kept, asked } } })
    this.name = 'CodeChanged'
  }
}

type Around = {
  mode: OnCodeChange
  job: number
  /** Fails the run, whatever its function catches. */
  refuse: (why: Error) => void
  log: (entry: string) => void
}

/**
 * Reports code changes of one run as its class asks for.
 *
 * @example await watch.report({ kept: 'step "price"', asked: 'step "price in cents"' })
 */
export class CodeWatch {
  readonly #around: Around
  readonly #reported = new Set<string>()

  constructor(around: Around) {
    this.#around = around
  }

  get isOn(): boolean {
    return this.#around.mode !== 'ignore'
  }

  /** Never settles if the run fails: a function that catches errors must not continue. */
  async report(change: CodeChange): Promise<void> {
    const { mode, job, refuse, log } = this.#around
    if (mode === 'ignore' || this.#reported.has(change.kept)) return
    this.#reported.add(change.kept)
    const error = new CodeChanged(job, change)
    if (mode === 'warn') return log(error.message)
    refuse(error)
    await new Promise(() => undefined)
  }

  /** @throws if the function ended without asking for a record. */
  end(kept: string): void {
    const { mode, job, log } = this.#around
    if (mode === 'ignore' || this.#reported.has(kept)) return
    this.#reported.add(kept)
    const error = new CodeChanged(job, { kept, asked: null })
    if (mode === 'fail') throw error
    log(error.message)
  }
}
