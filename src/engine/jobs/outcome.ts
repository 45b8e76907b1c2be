// From what a run said to what is committed: retries, next slots and spawned jobs worked out, everything as words.

import { writeJson } from '../../core/codec/json.ts'
import { type Encoded, encodeValue, raw } from '../../core/codec/value.ts'
import { dotted } from '../../core/issues.ts'
import type { Fault } from '../../core/json-schema/index.ts'
import { limits } from '../../core/limits.ts'
import { isMissed, nextSlot, parseRepeat, type Repeat } from '../../core/repeat.ts'
import { type Retry, retryDefaults, retryDelay } from '../../core/retry.ts'
import type { Changes, RunError } from '../../core/run.ts'
import type { Reach } from '../../core/worker.ts'
import { opWords, type RunOutcome, readWords, spawnWords, stateWords, type Words } from '../../redis/changes.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Vault } from '../../redis/vault.ts'
import { faultOfRun } from './checks.ts'
import { spawnedJob } from './new-job.ts'
import type { Registered, Registry } from './registry.ts'

/** The number of a run's last commit where nobody counts: above every checkpoint's. */
export const LAST = 1_000_000_000

type Deciding = {
  document: JobRecord
  /** Seals what is to be kept. */
  vault: Vault
  retry?: Retry
  registry: Registry
  random: () => number
  now: number
  /** Nobody could be asked to perform it. */
  unreached?: boolean
  /** Who performed the run. */
  by?: string
  /** Its class, where what others answer for it is to be checked: our own functions have checked it. */
  found?: Registered
  /** Which jobs the run may name: those of its own tree, or all. */
  reach?: Reach
}

const cut = (text: string): string => text.slice(0, limits.errorText.most)

/** What an error says is the user's as any value is; why it ended so is ours. */
const errorText = ({ message, reason = 'other', detail, stack, retry }: RunError, { sealInJson }: Vault): string =>
  writeJson({
    message: raw(sealInJson(encodeValue(cut(message)))),
    reason,
    // Before what users gave: the log finds it there.
    ...(stack ? { stack: raw(sealInJson(encodeValue(cut(stack)))) } : {}),
    ...(detail === undefined ? {} : { detail: raw(sealInJson(detail)) }),
    ...(retry === false ? { retry } : {}),
  })

const delayWords = ({ document, retry = {}, registry, unreached, random }: Deciding, floor = 0): Words => {
  const own = document.retry ? (JSON.parse(document.retry) as Retry) : retry
  const least = unreached ? { max: retryDefaults.unreached } : {}
  const delay = retryDelay({ ...least, ...registry.retry, ...own }, (document.failures ?? 0) + 1, random(), floor)
  return delay === undefined ? [] : ['retry', String(delay)]
}

/** A slot that this run has used up gives way to the next; a run before its slot leaves it (protocol: repeats). */
function slotWords({ document, now }: Pick<Deciding, 'document' | 'now'>): Words {
  if (!document.repeats || !document.nextSlot) return []
  const scheduled = document.nextSlot
  const started = document.ranAt ?? now
  if (scheduled > started) return []
  const repeat = parseRepeat(JSON.parse(document.repeats) as Repeat)
  const next = nextSlot(repeat, { scheduled, started, finished: now }, now)
  // A rule that stands still makes up for nothing: the guard stops it.
  const catchesUp = repeat.base === 'scheduled' && next > scheduled && next <= now
  return ['slot', String(next), ...(catchesUp ? ['catchup'] : [])]
}

/**
 * How a run is given back whose slot was missed, where the schedule runs none of those: with the first slot to come.
 * Undefined where it is to be performed.
 */
export function skipped(document: JobRecord, now: number): RunOutcome | undefined {
  if (!document.slotMissed || !document.repeats || !document.nextSlot) return undefined
  const repeat = parseRepeat(JSON.parse(document.repeats) as Repeat)
  if (!isMissed(repeat, document.nextSlot, document.ranAt ?? now)) return undefined
  return { token: document.token!, n: 0, end: 'skipped', words: slotWords({ document, now }) }
}

function failedWords(changes: Changes, deciding: Deciding): Words {
  const error = changes.error ?? { message: 'failed, and said no more' }
  const again = error.retry === false ? [] : delayWords(deciding, error.after)
  return [
    ...['error', errorText(error, deciding.vault), ...again],
    ...countWords(changes),
    ...slotWords(deciding),
    ...optional('by', deciding.by),
    ...optional('said', changes.saidAt),
  ]
}

const countWords = ({ counts = {} }: Changes): Words =>
  Object.entries(counts).flatMap(([name, n]) => ['count', name, String(n)])

/** What a run expects of the state is asked before the run changes it. */
const expectWords = ({ ops = [] }: Changes, { vault }: Deciding): Words =>
  ops.flatMap((op) => (op.op === 'expect' ? opWords(op, vault) : []))

async function opsWords({ ops = [] }: Changes, { document, registry, vault }: Deciding): Promise<Words> {
  if (ops.length === 0) return []
  const id = Number(document.token!.split('.', 1)[0])
  const context = encodeValue({ job: id }) as Encoded
  const words: Words = []
  for (const op of ops)
    if (op.op !== 'expect')
      words.push(
        ...(op.op === 'spawn'
          ? spawnWords(op.name, await spawnedJob(registry, op, id), vault)
          : opWords(op, vault, context)),
      )
  return words
}

const waitWords = ({ waitFor }: Changes): Words =>
  waitFor === undefined
    ? []
    : waitFor === 'children'
      ? ['waitfor', '*', '0']
      : ['waitfor', 'n', String(waitFor.length), ...waitFor]

const pauseWords = ({ pause }: Changes): Words => {
  if (!pause) return []
  const { until, children = [] } = pause
  return ['pause', until === undefined ? '' : String(Math.ceil(until)), String(children.length), ...children]
}

const optional = (word: string, value: string | number | undefined): Words =>
  value === undefined ? [] : [word, String(value)]

const reachWords = ({ ops }: Changes, { reach }: Deciding): Words =>
  ops?.length && reach === 'all' ? ['reach', reach] : []

const byWords = ({ document, by }: Deciding): Words => (document.history ? optional('by', by) : [])

/** A run of somebody else whose values are not as its class says has failed, and will again. */
export function soundChanges(changes: Changes, found: Registered | undefined): { changes: Changes; fault?: Fault } {
  const fault = found && !found.local ? faultOfRun(found, changes) : undefined
  if (!fault) return { changes }
  const message = `${dotted(fault.path)}: ${fault.message}`
  return { changes: { end: 'failed', n: LAST, error: { message, retry: false } }, fault: { ...fault, message } }
}

/** A result is kept for a day, or as the job says; its callback may want it too. */
const wantsResult = ({ document }: Deciding): boolean => document.keepResult !== 0 || document.callback !== undefined

/** What is sent to Redis for one run. */
export async function outcomeOf(token: string, said: Changes, deciding: Deciding): Promise<RunOutcome> {
  const { changes } = soundChanges(said, deciding.found)
  const { end, n = 0 } = changes
  if (end === 'failed') return { token, n, end, words: failedWords(changes, deciding) }
  const { vault } = deciding
  const sealed = (value: Encoded | undefined) => value && vault.seal(value)
  const ops = await opsWords(changes, deciding)
  const again = delayWords(deciding)
  const words = [
    ...reachWords(changes, deciding),
    // A refusal that may pass (a name taken, a target gone) is retried like any failure, and a final one keeps the
    // repeat going: what they need comes before what may be refused.
    ...(ops.length ? again : []),
    ...slotWords(deciding),
    ...byWords(deciding),
    ...readWords(changes.reads ?? {}),
    ...expectWords(changes, deciding),
    ...stateWords(changes.state ?? {}, vault),
    ...ops,
    ...optional('progress', sealed(changes.progress)),
    ...optional('at', changes.at),
    ...optional('wait', changes.wait),
    ...waitWords(changes),
    ...pauseWords(changes),
    ...countWords(changes),
    ...(wantsResult(deciding) ? optional('result', sealed(changes.result)) : []),
    ...optional('said', changes.saidAt),
  ]
  return { token, n, end, words, again }
}
