// If a batch fails, its halves are committed separately, until only the failing run is left.

import { BUDGET, excessOf, unitsOf } from '../core/budget.ts'
import { writeJson } from '../core/codec/json-writer.ts'
import { encodedSize } from '../core/codec/value.ts'
import { hasCode, SidejobError } from '../core/errors.ts'
import { idIn } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { RunOutcome } from './changes.ts'
import { reasonOf } from './faults.ts'
import { sizeFault, tooLarge } from './largest.ts'
import { ops, setRun, type Words } from './ops.ts'
import { sumOfOps } from './sums.ts'
import type { CommitAnswer, CommitRequest, Once, Ring } from './types.ts'
import { type Sealed, sizeBefore } from './vault.ts'

type Commit = (request: CommitRequest) => Promise<CommitAnswer>
type Keep = (job: string, words: Words[], once: Once) => Promise<unknown>

const sizeOf = (word: string): number => (word.length < 1_000 ? word.length : encodedSize(word))

const bytesOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + sizeOf(word), 0)

type Weighed = { run: RunOutcome; bytes: number; units: number }

const weighed = (run: RunOutcome): Weighed => ({
  run,
  bytes: bytesOf(run.words),
  units: run.words.length > 0 ? unitsOf(sumOfOps(run.words)) : 0,
})

function excess({ run: { words, largest }, bytes: total, units }: Weighed): string | undefined {
  if (words.length > limits.runWords.most)
    return `expected at most ${limits.runWords.most} encoded ops and values, got ${words.length}`
  if (total > limits.runBytes.most) return sizeFault(total, largest?.())
  if (units > BUDGET) return excessOf(sumOfOps(words))
  if (total <= limits.valueBytes.most) return undefined
  const bytes = words.reduce((most, word) => Math.max(most, Math.min(sizeOf(word), sizeBefore(word))), 0)
  // The context and channel of an item do not count as part of the value.
  if (bytes <= limits.valueBytes.most + BESIDE) return undefined
  const part = largest?.() ?? { name: 'a value', bytes }
  return `${part.name}: expected at most ${limits.valueBytes.most} bytes, got ${part.bytes}`
}
const BESIDE = 4_096

/** If its changes are too large, a job fails without retries, because a retry would make the same changes. */
const isFinal = (code: string): boolean => code === 'TOO_LARGE'

const failed = ({ token, n, again, logs, slotWords = [] }: RunOutcome, code: string, message: string): RunOutcome => ({
  token,
  n,
  end: 'failed',
  words: [
    ...setRun.error({ error: JSON.stringify({ message, reason: 'other', code }) }),
    ...(isFinal(code) ? [] : (again?.() ?? [])),
    ...slotWords,
    ...(logs?.().flat() ?? []),
  ],
})

function checked(run: RunOutcome): Weighed {
  // Functions without types can pass undefined, which would fail the whole batch.
  if (run.words.some((word) => typeof word !== 'string'))
    return weighed(failed({ ...run, words: [] }, 'REFUSED', 'a change of this run lacks a required argument'))
  const own = weighed(run)
  const why = run.end === 'failed' ? undefined : excess(own)
  return why === undefined ? own : weighed(failed(run, 'TOO_LARGE', tooLarge(why)))
}

const HEAD = 32

const RUN = 10

function pieces(runs: readonly Weighed[]): RunOutcome[][] {
  const cut: RunOutcome[][] = [[]]
  let [bytes, units] = [0, 0]
  for (const one of runs) {
    const size = one.run.token.length + HEAD + one.bytes
    const cost = RUN + one.units
    if (bytes > 0 && (bytes + size > limits.commitBytes.most || units + cost > BUDGET)) {
      cut.push([])
      bytes = units = 0
    }
    bytes += size
    units += cost
    cut.at(-1)!.push(one.run)
  }
  return cut
}

const blamed: ReadonlySet<string> = new Set(['INTERNAL', 'TOO_LARGE'])

const isBlamed = (error: unknown): error is SidejobError => error instanceof SidejobError && blamed.has(error.code)

/** If even the failure of a run cannot be committed, its lease expires and the run is lost. */
const uncommitted: CommitAnswer = {
  word: 'ok',
  answers: ['lost'],
  version: '',
  failed: 0,
  claimed: [],
  rings: [],
  stale: [],
}

const errorLog = (entry: string): Words => ops.log({ level: 'error', entry: entry as Sealed })

const onceFor = ({ token, n }: RunOutcome): Once => ({ key: `log ${token} ${n}`, period: 60_000, fingerprint: '' })

const report = (error: unknown): void => {
  if (!hasCode(error, 'NOT_FOUND')) console.error('sidejob: a log entry could not be stored:', error)
}

export function isolating(commit: Commit, keep: Keep): Commit {
  const idOf = ({ token }: RunOutcome): string => idIn(token)

  async function keepLogs(runs: readonly RunOutcome[], { answers }: CommitAnswer): Promise<void> {
    for (const [i, answer] of answers.entries()) {
      const logs = answer.startsWith('refused:') ? runs[i]!.logs?.() : undefined
      if (logs?.length) await keep(idOf(runs[i]!), logs, onceFor(runs[i]!)).catch(report)
    }
  }

  async function alone(runs: RunOutcome[]): Promise<CommitAnswer> {
    try {
      return await commit({ runs })
    } catch (error) {
      if (!isBlamed(error)) throw error
      return runs.length > 1 ? halves(runs) : asFailed(runs[0]!, error)
    }
  }

  async function asFailed(run: RunOutcome, error: SidejobError): Promise<CommitAnswer> {
    const reason = reasonOf(error)
    const { again: _, logs: __, error: own, ...bare } = run
    const first = run.end === 'failed' ? { ...bare, logs: () => (own ? [errorLog(own)] : []) } : run
    for (const one of [first, bare]) {
      try {
        return await commit({ runs: [failed(one, error.code, reason)] })
      } catch (refused) {
        if (!isBlamed(refused)) throw refused
      }
    }
    const entry = errorLog(writeJson({ error: `the run could not be committed: ${reason}` }))
    await keep(idOf(run), [entry], onceFor(run)).catch(report)
    return uncommitted
  }

  async function halves(runs: RunOutcome[]): Promise<CommitAnswer> {
    const middle = Math.ceil(runs.length / 2)
    const first = await alone(runs.slice(0, middle))
    const second = await alone(runs.slice(middle))
    return joined(first, second)
  }

  async function finished(runs: RunOutcome[], answer: CommitAnswer): Promise<CommitAnswer> {
    const late = runs.filter((_, i) => answer.answers[i] === 'later')
    if (late.length === 0) return answer
    const rest = await finished(late, await alone(late))
    let at = 0
    const answers = answer.answers.map((word) => (word === 'later' ? rest.answers[at++]! : word))
    return { ...answer, answers, rings: [...answer.rings, ...rest.rings] }
  }

  async function withRequest(request: CommitRequest, runs: RunOutcome[]): Promise<CommitAnswer> {
    try {
      return await finished(runs, await commit({ ...request, runs }))
    } catch (error) {
      if (!isBlamed(error) || runs.length === 0) throw error
      const done = await finished(runs, await alone(runs))
      if (!request.lane && !request.claim) return done
      return behind(done, await commit({ ...request, runs: [] }))
    }
  }

  return async ({ runs = [], ...request }) => {
    const cut = pieces(runs.map(checked))
    const before: CommitAnswer[] = []
    for (const piece of cut.slice(0, -1)) before.push(await finished(piece, await alone(piece)))
    const last = await withRequest(request as CommitRequest, cut.at(-1)!)
    const answer = before.reduceRight((all, one) => behind(one, all), last)
    await keepLogs(runs, answer)
    return answer
  }
}

const joined = (first: CommitAnswer, second: CommitAnswer): CommitAnswer => ({
  ...behind(first, second),
  claimed: [...first.claimed, ...second.claimed],
})

const behind = (done: { answers: string[]; rings: Ring[] }, answer: CommitAnswer): CommitAnswer => ({
  ...answer,
  answers: [...done.answers, ...answer.answers],
  rings: [...done.rings, ...answer.rings],
})
