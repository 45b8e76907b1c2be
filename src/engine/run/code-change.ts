import type { CodeChange } from '../../core/code-change.ts'
import { durationText } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import { Terminal } from '../../core/worker.ts'

type OnCodeChange = 'fail' | 'warn' | 'ignore'

/** `on` is the port or channel, and `ms` is the duration or timeout. */
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

export type Asked = Pick<Waited, 'kind' | 'on' | 'ms' | 'class'>

export const FREE = '~~free'

const NESTED = /\[\d+\]\//g

export type Patch = { kind: 'patched'; is: boolean; at: number }

const PATCH = /^~(?:.*\[\d+\]\/)?~patched:/s

export const patchKey = (scope: string, id: string): string => `${scope || '~'}~patched:${id}`

export const patchIn = (key: string): string | undefined => (PATCH.test(key) ? key.replace(PATCH, '') : undefined)

export function patchText(key: string): string | undefined {
  const id = patchIn(key)
  return id === undefined ? undefined : id + placed(key.slice(0, -id.length)).where
}

export const isRecord = (key: string): boolean => key !== FREE && !PATCH.test(key)

export function isSameIteration(scope: string, key: string): boolean {
  for (const { index, 0: own } of scope.matchAll(NESTED))
    if (key.startsWith(`${scope.slice(0, index)}[`) && !key.startsWith(scope.slice(0, index + own.length))) return false
  return true
}

export function isWithin(scope: string, key: string): boolean {
  if (!isRecord(key) || !key.startsWith(scope)) return false
  return (scope === '' && !key.startsWith('~')) || key.slice(scope.length).search(NESTED) < 0
}

function placed(key: string): { name: string; where: string } {
  const at = [...key.matchAll(NESTED)].at(-1)
  const end = at ? at.index + at[0].length : 0
  const name = key.slice(end).replace(/^~/, '')
  return { name, where: end > 0 ? ` in ${key.slice(1, end - 1)}` : '' }
}

const quoted = (text: string): string => JSON.stringify(text)

export const stepText = (key: string): string => {
  const { name, where } = placed(key)
  return `step ${quoted(name)}${where}`
}

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

export function isUnnamed(key: string, { kind, on, class: called }: Asked): boolean {
  const position = placed(key).name.match(/^(.*)#\d+$/s)
  return position !== null && position[1] === (kind === 'waitFor' ? on : kind === 'callWorker' ? called : kind)
}

const members = ['kind', 'on', 'ms', 'class'] as const

export const differs = (kept: Waited, asked: Asked): boolean => members.some((member) => kept[member] !== asked[member])

export const changeOf = (key: string, kept: Waited, asked: Asked): CodeChange => ({
  kept: waitText(key, kept),
  asked: waitText(key, asked),
  ...(kept.ms === undefined || asked.ms === undefined ? {} : { longer: asked.ms - kept.ms }),
})

const REMEDY =
  'If the code changed while the job waited, restore it or put the change behind job.patched, then retry the job. ' +
  'Otherwise, the path of the function or the length of a wait depends on a value that changes: compute it in a step'

class CodeChanged extends Terminal {
  constructor(job: number, { kept, asked }: CodeChange) {
    const now = asked === null ? 'ended without requesting it' : `now requests ${asked}`
    super(`job ${job} has stored ${kept}, but its function ${now}. ${REMEDY}`, {
      detail: { codeChange: { kept, asked } },
    })
    this.name = 'CodeChanged'
  }
}

/** The wait until another version may perform the run: an eighth of the time since the first attempt. */
export const waitSince = (ms: number): number => Math.min(Math.max(ms / 8, 10_000), 600_000)

/** Gives the run back without using an attempt, so that newer code performs it. */
export class OlderCode extends Error {
  readonly after: number

  constructor(job: number, { kept, asked }: CodeChange, { id, age }: NewerPatch) {
    const now = asked === null ? 'ended without it' : `requested ${asked}`
    super(
      `job ${job} has stored patch ${quoted(id)} and ${kept}, but this deployment lacks the patch: its function ${now}. ` +
        'A newer deployment has to run the job. Otherwise, the run fails one day after the patch was stored',
    )
    this.name = 'OlderCode'
    this.after = waitSince(age)
  }
}

export type NewerPatch = { id: string; age: number }

type Around = {
  mode: OnCodeChange
  job: number
  refuse: (why: Error) => void
  log: (entry: string) => void
  noted?: (change: CodeChange) => void
}

export class CodeWatch {
  readonly #around: Around
  readonly #reported = new Set<string>()

  constructor(around: Around) {
    this.#around = around
  }

  get isOn(): boolean {
    return this.#around.mode !== 'ignore' || this.#around.noted !== undefined
  }

  /** Never settles if the run fails, because a function that catches errors must not continue. */
  async report(change: CodeChange, newer?: NewerPatch): Promise<void> {
    const error = this.#errorOf(change, newer)
    if (!error) return
    this.#around.refuse(error)
    await new Promise(() => undefined)
  }

  end(kept: string, newer?: NewerPatch): void {
    const error = this.#errorOf({ kept, asked: null }, newer)
    if (error) throw error
  }

  #errorOf(change: CodeChange, newer?: NewerPatch): Error | undefined {
    const { mode, job, log } = this.#around
    if (!this.#isNew(change)) return undefined
    if (mode === 'fail' && newer && newer.age < DAY) return new OlderCode(job, change, newer)
    const error = new CodeChanged(job, change)
    if (mode === 'fail') return error
    log(error.message)
    return undefined
  }
  #isNew(change: CodeChange): boolean {
    const { mode, noted } = this.#around
    if (this.#reported.has(change.kept)) return false
    this.#reported.add(change.kept)
    noted?.(change)
    return mode !== 'ignore'
  }
}
