// Commits so that a fault of one run is that run's: what cannot be carried out is looked for by halves and fails as a
// run does, with its attempts; what is too much for one request is sent in several.

import { type Encoded, wireSize } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import type { RunOutcome } from './changes.ts'
import type { CommitAnswer, CommitRequest, Ring } from './types.ts'
import { sizeBefore } from './vault.ts'

type Commit = (request: CommitRequest) => Promise<CommitAnswer>

// A short word is not counted to the byte: most are, and there are many.
const sizeOf = (word: string): number => (word.length < 1_000 ? word.length : wireSize(word as Encoded))

const bytesOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + sizeOf(word), 0)

/** What one run brought that no commit will ever take; nothing when it may be sent. */
function excess({ words }: RunOutcome): string | undefined {
  if (words.length === 0) return undefined
  if (words.length > limits.runWords.most)
    return `expected at most ${limits.runWords.most} words of ops and values, got ${words.length}`
  const total = bytesOf(words)
  if (total > limits.runBytes.most)
    return `expected changes of at most ${limits.runBytes.most} bytes in all, got ${total}`
  if (total <= limits.valueBytes.most) return undefined
  const largest = words.reduce((most, word) => Math.max(most, Math.min(sizeOf(word), sizeBefore(word))), 0)
  // What travels beside a value (its context, a channel) is not counted against it.
  if (largest <= limits.valueBytes.most + BESIDE) return undefined
  return `expected values of at most ${limits.valueBytes.most} bytes each, got one of ${largest}`
}
const BESIDE = 4_096

const failed = ({ token, n, again }: RunOutcome, code: string, message: string): RunOutcome => ({
  token,
  n,
  end: 'failed',
  words: ['error', JSON.stringify({ message, reason: 'other', code }), ...(again?.() ?? [])],
})

const checked = (run: RunOutcome): RunOutcome => {
  const why = run.end === 'failed' ? undefined : excess(run)
  return why === undefined ? run : failed(run, 'TOO_LARGE', `this run brought too much: ${why}`)
}

/** What stands before the words of a run in a commit, about: its number, its end and the like. */
const HEAD = 32

/** Cuts a batch where it would be too large for one request; a run is never cut. */
function pieces(runs: readonly RunOutcome[]): RunOutcome[][] {
  const cut: RunOutcome[][] = [[]]
  let bytes = 0
  for (const run of runs) {
    const size = run.token.length + HEAD + bytesOf(run.words)
    if (bytes > 0 && bytes + size > limits.commitBytes.most) {
      cut.push([])
      bytes = 0
    }
    bytes += size
    cut.at(-1)!.push(run)
  }
  return cut
}

const blamed: ReadonlySet<string> = new Set(['INTERNAL', 'TOO_LARGE'])

/**
 * A commit that isolates faults, over one that does not.
 *
 * @example const commit = isolating(plain); const { answers } = await commit({ queue: '', runs })
 */
export function isolating(commit: Commit): Commit {
  /** By their tokens alone, without a lane: one by one, or together, they have the same effect. */
  async function alone(runs: RunOutcome[]): Promise<CommitAnswer> {
    try {
      return await commit({ queue: '', runs })
    } catch (error) {
      if (!(error instanceof SidejobError) || !blamed.has(error.code)) throw error
      if (runs.length > 1) return halves(runs)
      const [run] = runs as [RunOutcome]
      if (run.end === 'failed') throw error
      return commit({ queue: '', runs: [failed(run, error.code, error.message)] })
    }
  }

  async function halves(runs: RunOutcome[]): Promise<CommitAnswer> {
    const middle = Math.ceil(runs.length / 2)
    const first = await alone(runs.slice(0, middle))
    const second = await alone(runs.slice(middle))
    return joined(first, second)
  }

  /** Some did not fit into what one script does: they are committed with the next, until none is left. */
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
      if (!(error instanceof SidejobError) || !blamed.has(error.code) || runs.length === 0) throw error
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
    return before.reduceRight((answer, one) => behind(one, answer), last)
  }
}

/** Two commits of runs, as if they had been one. */
const joined = (first: CommitAnswer, second: CommitAnswer): CommitAnswer => ({
  ...behind(first, second),
  lent: [...first.lent, ...second.lent],
})

/** What was committed before a request, and what that answered. */
const behind = (done: { answers: string[]; rings: Ring[] }, answer: CommitAnswer): CommitAnswer => ({
  ...answer,
  answers: [...done.answers, ...answer.answers],
  rings: [...done.rings, ...answer.rings],
})
