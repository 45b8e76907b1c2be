import { excessOf, sumOfLists } from '../../core/budget.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import { type Encoded, encodeValue, raw } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { dotted } from '../../core/issues.ts'
import { idIn } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { missedSlotsOf, missedSlotsText, parseMissedSlots } from '../../core/repeat/passed.ts'
import { isMissed, nextSlot } from '../../core/repeat.ts'
import { type Retry, retryDefaults, retryDelay } from '../../core/retry.ts'
import type { Changes, RunError } from '../../core/run.ts'
import type { Reach } from '../../core/worker.ts'
import { logWords, opWords, type RunOutcome, readWords, spawnWords, stateWords } from '../../redis/changes.ts'
import { largestPart, tooLarge } from '../../redis/largest.ts'
import { setRun, type Words } from '../../redis/ops.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import { createVault, type Vault } from '../../redis/vault.ts'
import { checkRootOfRun, faultOfRun, skewed, skewOf } from './checks.ts'
import { kindOfFailed } from './kind.ts'
import { spawnedJob } from './new-job.ts'
import { type Registered, type Registry, withSchema } from './registry.ts'
import { ruleOf } from './slot.ts'

/** Number of the last commit of a run, larger than the number of every checkpoint. */
export const LAST_ATTEMPT = 1_000_000_000

/** A job that this deployment cannot run is released for this time. */
export const RELEASE_MS = 10_000

export const failedWith = (error: RunError): Changes => ({ end: 'failed', n: LAST_ATTEMPT, error })

type Deciding = {
  document: JobRecord
  vault: Vault
  retry?: Retry
  registry: Registry
  random: () => number
  now: number
  unreached?: boolean
  by?: string
  found?: Registered
  reach?: Reach
  /** New children store this header. Present only if they cannot derive the trace from the id of their root. */
  traceparent?: string
  writer?: string
  pinsTo?: string
}

const plain = createVault()

const cut = (text: string): string => text.slice(0, limits.errorText.most)

/** The message, the detail and the stack may contain users' data, so they are encrypted. */
const errorText = ({ message, reason = 'other', detail, stack, retry }: RunError, { sealInJson }: Vault): string =>
  writeJson({
    message: raw(sealInJson(encodeValue(cut(message)), 'error')),
    reason,
    // The log expects the stack before `detail`.
    ...(stack ? { stack: raw(sealInJson(encodeValue(cut(stack)), 'error')) } : {}),
    ...(detail === undefined ? {} : { detail: raw(sealInJson(detail, 'error')) }),
    ...(retry === false ? { retry } : {}),
  })

const delayWords = ({ document, retry = {}, registry, unreached, random }: Deciding, floor = 0): Words => {
  const own = document.retry ? (JSON.parse(document.retry) as Retry) : retry
  const least = unreached ? { max: retryDefaults.unreached } : {}
  const delay = retryDelay({ ...least, ...registry.retry, ...own }, (document.failures ?? 0) + 1, random(), floor)
  return delay === undefined ? [] : setRun.retry({ after: String(delay) })
}

/** A run that started before the current slot did not use the slot. */
function nextSlotOf(
  { document, now }: Pick<Deciding, 'document' | 'now'>,
  isSkipped = false,
): { slot?: number; slotWords: Words } {
  if (!document.repeats || !document.nextSlot) return { slotWords: [] }
  const scheduled = document.nextSlot
  const started = document.ranAt ?? now
  if (scheduled > started) return { slotWords: [] }
  const repeat = ruleOf(document)
  const slot = nextSlot(repeat, { scheduled, started, finished: now }, now)
  // Only a repeat that counts from the scheduled time can miss slots.
  const catchesUp = repeat.base === 'scheduled' && slot > scheduled && slot <= now
  const catchingUp = document.catchUpAt && document.passedSlots ? parseMissedSlots(document.passedSlots) : undefined
  const passed = missedSlotsOf(repeat, { scheduled, started, slot, now, isSkipped, catchingUp })
  return {
    slot,
    slotWords: [
      ...setRun.slot({ moment: String(slot), from: String(scheduled) }),
      ...(catchesUp ? setRun.catchup() : []),
      ...(passed ? setRun.passed({ slots: missedSlotsText(passed) }) : []),
    ],
  }
}

export const released = ({ document }: ClaimedJob, words: Words = []): RunOutcome => ({
  token: document.token!,
  n: LAST_ATTEMPT,
  end: 'released',
  words,
})

export const returned = (claimed: ClaimedJob, wait: number, message: string, more: object = {}): RunOutcome =>
  released(claimed, [
    ...setRun.wait({ ms: Math.ceil(wait) }),
    ...setRun.error({ error: JSON.stringify({ message, reason: 'other', ...more }) }),
  ])

export function skipped(document: JobRecord, now: number): RunOutcome | undefined {
  if (!document.slotMissed || !document.repeats || !document.nextSlot) return undefined
  const isLost = document.slotMissed === 'l'
  if (!isLost && !isMissed(ruleOf(document), document.nextSlot, document.ranAt ?? now)) return undefined
  const next = nextSlotOf({ document, now }, !isLost)
  return { token: document.token!, n: 0, end: 'skipped', words: next.slotWords, ...next }
}

const MAX_FAILED_LOG_ENTRIES = 1_000

function logsOf({ ops = [] }: Changes, { vault }: Deciding): Words[] {
  const entries = ops.flatMap((op) => (op.op === 'log' ? [op.entry] : []))
  let from = entries.length
  let bytes = 0
  while (from > 0 && entries.length - from < MAX_FAILED_LOG_ENTRIES) {
    bytes += Math.min(entries[from - 1]!.length, limits.logBytes.most)
    if (bytes > limits.valueBytes.most) break
    from--
  }
  const dropped = from ? [encodeValue({ message: `${from} earlier log entries of this run were dropped` })] : []
  return [...dropped, ...entries.slice(from)].map((entry) => logWords(entry, vault))
}

const kindOfError = ({ message, stack }: RunError, document: JobRecord): string =>
  kindOfFailed({ ...document, lastError: errorText({ message, stack }, plain) }).fingerprint

function failed(changes: Changes, deciding: Deciding, slot: Words): Pick<RunOutcome, 'error' | 'words' | 'failsIn'> {
  const said = changes.error ?? { message: 'failed without a message' }
  const again = said.retry === false ? [] : delayWords(deciding, said.after)
  const error = errorText(said, deciding.vault)
  const { document } = deciding
  const kind = again.length > 0 ? undefined : kindOfError(said, document)
  const words = [
    ...setRun.error({ error, kind }),
    ...again,
    ...countWords(changes),
    ...slot,
    ...(deciding.by === undefined ? [] : setRun.by({ process: deciding.by })),
    ...versionWords(changes),
    ...endTimeWords(changes),
    ...logsOf(changes, deciding).flat(),
  ]
  return { error, words, ...(kind === undefined ? {} : { failsIn: document.queue }) }
}

const countWords = ({ counts = {} }: Changes): Words =>
  Object.entries(counts).flatMap(([name, n]) => setRun.count({ name, n }))

const expectWords = ({ ops = [] }: Changes, { vault }: Deciding): Words =>
  ops.flatMap((op) => (op.op === 'expect' ? opWords(op, vault) : []))

async function opsWords({ ops = [] }: Changes, deciding: Deciding): Promise<Words> {
  if (ops.length === 0) return []
  const { document, registry, vault, writer, traceparent = document.traceparent } = deciding
  const id = Number(idIn(document.token!))
  const context: Encoded = JSON.stringify({ job: id, traceparent: writer })
  const words: Words = []
  for (const op of ops)
    if (op.op !== 'expect')
      words.push(
        ...(op.op === 'spawn'
          ? spawnWords(op.name, await spawnedJob(registry, op, { by: id, traceparent }), vault)
          : opWords(op, vault, context)),
      )
  return words
}

const waitWords = ({ waitFor }: Changes): Words =>
  waitFor === undefined
    ? []
    : waitFor === 'children'
      ? setRun.waitfor({ how: '*', names: [] })
      : setRun.waitfor({ how: 'n', names: waitFor })

const pauseWords = ({ pause }: Changes): Words => {
  if (!pause) return []
  const { until, children } = pause
  return setRun.pause({ till: until === undefined ? '' : String(Math.ceil(until)), names: children })
}

const pinWords = ({ end, pause }: Changes, { pinsTo, found }: Deciding): Words =>
  pinsTo !== undefined && end === 'suspended' && (pause || !found?.local) ? setRun.pin({ version: pinsTo }) : []

const endTimeWords = ({ saidAt }: Changes): Words =>
  saidAt === undefined ? [] : setRun.said({ moment: String(saidAt) })

const timeWords = ({ progress, at, wait }: Changes, { seal }: Vault): Words => [
  ...(progress === undefined ? [] : setRun.progress({ value: seal(progress, 'progress') })),
  ...(at === undefined ? [] : setRun.at({ moment: at })),
  ...(wait === undefined ? [] : setRun.wait({ ms: wait })),
]

const versionWords = ({ version }: Changes): Words => (version === undefined ? [] : setRun.version({ version }))

const reachWords = ({ ops }: Changes, { reach }: Deciding): Words =>
  ops?.length && reach === 'all' ? setRun.reach({ reach }) : []

const byWords = ({ document, by }: Deciding): Words =>
  document.history && by !== undefined ? setRun.by({ process: by }) : []

/**
 * A result that does not match its schema fails the job. If the worker was built against another schema, the job is
 * retried, because another worker may succeed.
 */
export function checkedChanges(
  changes: Changes,
  name: string,
  found: Registered | undefined,
): { changes: Changes; fault?: SidejobError } {
  const skew = skewOf(found, name, changes.schema)
  const built = skew ? withSchema(found!, skew.built) : found
  const unfit = found && !found.local ? faultOfRun(found, changes, built) : undefined
  if (!unfit) return { changes }
  const message = `${dotted(unfit.path)}: ${unfit.message}`
  const error = skew ? { message: skewed(skew, 'worker', message).message } : { message, retry: false }
  const end = `${message}; the run has failed`
  const fault = skew ? skewed(skew, 'worker', end, unfit.path) : new SidejobError('REFUSED', end, { path: unfit.path })
  return { changes: failedWith(error), fault }
}

const wantsResult = ({ document }: Deciding): boolean => document.keepResult !== 0 || document.callback !== undefined

const isEmpty = (record: object = {}): boolean => {
  for (const _ in record) return false
  return true
}

function didNothing({ end: _, n: __, schema: ___, reads, state, ops = [], counts, ...rest }: Changes): boolean {
  return (
    ops.length === 0 &&
    isEmpty(rest) &&
    isEmpty(reads) &&
    isEmpty(state?.set) &&
    !state?.unset?.length &&
    isEmpty(counts)
  )
}

const isTrusted = ({ found, reach }: Deciding): boolean => found?.local !== undefined || reach === 'all'

const excessWords = (excess: string): Words =>
  setRun.error({ error: JSON.stringify({ message: tooLarge(excess), reason: 'other', code: 'TOO_LARGE' }) })

/** Until the commit, a closure keeps all variables of its function alive. So separate functions make these closures. */
const laterAgain = (deciding: Deciding) => (): Words => delayWords(deciding)

const laterLogs = (changes: Changes, deciding: Deciding): Pick<RunOutcome, 'logs'> =>
  changes.ops?.some(({ op }) => op === 'log') ? { logs: () => logsOf(changes, deciding) } : {}

const laterLargest = (changes: Changes) => () => largestPart(changes)

export async function outcomeOf(token: string, said: Changes, deciding: Deciding): Promise<RunOutcome> {
  const { changes } = checkedChanges(said, deciding.document.class, deciding.found)
  const { end, n = 0 } = changes
  const { slot, slotWords } = nextSlotOf(deciding)
  const run = { token, n, end, slot, slotWords }
  if (end === 'failed') return { ...run, ...failed(changes, deciding, slotWords) }
  const again = laterAgain(deciding)
  const pinned = pinWords(changes, deciding)
  if (didNothing(changes)) return { ...run, words: [...slotWords, ...byWords(deciding), ...pinned], again }
  const refusal = isTrusted(deciding) ? undefined : checkRootOfRun(changes.ops ?? [])
  if (refusal !== undefined) {
    const error = { message: refusal.message, retry: false as const }
    return { ...run, end: 'failed', ...failed({ end: 'failed', error }, deciding, slotWords) }
  }
  const excess = excessOf(sumOfLists(changes.ops ?? []))
  if (excess !== undefined)
    return { ...run, end: 'failed', words: [...excessWords(excess), ...slotWords, ...logsOf(changes, deciding).flat()] }
  const { vault } = deciding
  const { result } = changes
  const ops = await opsWords(changes, deciding)
  const words = reachWords(changes, deciding).concat(
    // If Redis refuses an op, it retries the run, or fails the run and continues the schedule of the job. So it also
    // needs the delay of a retry and the next slot.
    ops.length ? again() : [],
    slotWords,
    byWords(deciding),
    versionWords(changes),
    readWords(changes.reads ?? {}),
    expectWords(changes, deciding),
    stateWords(changes.state ?? {}, vault),
    ops,
    timeWords(changes, vault),
    waitWords(changes),
    pauseWords(changes),
    pinned,
    countWords(changes),
    wantsResult(deciding) && result !== undefined ? setRun.result({ value: vault.seal(result, 'result') }) : [],
    endTimeWords(changes),
  )
  return { ...run, words, again, ...laterLogs(changes, deciding), largest: laterLargest(changes) }
}
