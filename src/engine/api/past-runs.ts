import { FAILURES_KEPT, type Spent } from '../../core/cost.ts'
import { SidejobError } from '../../core/errors.ts'
import { redacted } from '../../core/redact.ts'
import type { PastRun } from '../../core/run.ts'
import { effectsOf, type JobRecord, pastRunOf, redactedPathsOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { Inspection } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Ref } from '../engine.ts'
import type { Log } from './log.ts'

const LINES = 200

function shown(run: PastRun, document: JobRecord): PastRun {
  if (run.error === undefined) return run
  return { ...run, error: redacted(run.error, redactedPathsOf(document), 'error') }
}

export const storedRunsOf = async (store: Store, { id, document }: Pick<Inspection, 'id' | 'document'>) =>
  document.historyKept ? store.runs(id) : []

export const runLines = ({ lastRun }: JobRecord, kept: readonly string[]): readonly string[] =>
  lastRun === undefined || kept.some((line) => line.startsWith(`${lastRun},`)) ? kept : [lastRun, ...kept]

export const pastRunsOf = (document: JobRecord, kept: readonly string[]): PastRun[] =>
  runLines(document, kept).map((text) => shown(pastRunOf(text), document))

const succeeded: ReadonlySet<string> = new Set(['completed', 'suspended', 'follow', 'again'])

/** Estimates the number of runs, because a counter of all runs would make each run more expensive. */
function spentOf(doc: JobRecord, kept: readonly string[], runs: readonly PastRun[]): Spent {
  const took = runs.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0)
  const commitCounts = runs.flatMap(({ commits }) => commits ?? [])
  const commits = commitCounts.length < runs.length ? null : commitCounts.reduce((sum, n) => sum + n, 0)
  const well = runs.filter(({ outcome }) => succeeded.has(outcome)).length
  const all = (doc.runNumber ?? 1) - 1
  const whole = well >= all && kept.length < (doc.history ?? FAILURES_KEPT)
  const lost = runs.filter(({ outcome }) => outcome === 'lost').length
  const missing = Math.max(0, all - well) + Math.max(0, (doc.lostRuns ?? 0) - lost)
  const total = Math.max(doc.runsNoted ?? 0, runs.length + missing)
  return { runs: runs.length, total, took, commits, whole }
}

export function spentAndRuns(document: JobRecord, kept: readonly string[]) {
  const past = pastRunsOf(document, kept)
  const spent = spentOf(document, kept, past)
  const isWhole = spent.total === past.length
  const runs = past.map((run, i) => ({ ...run, number: run.n ?? (i === 0 || isWhole ? spent.total - i : undefined) }))
  return { spent, runs }
}

/** Omits the first millisecond, because the previous run may have ended in it. */
const during = ({ startedAt, endedAt }: PastRun) => ({
  since: endedAt > startedAt ? startedAt + 1 : startedAt,
  until: endedAt,
})

export function createPastRuns({ store, viewWithRuns }: Context, { read: readLog }: Pick<Log, 'read'>) {
  async function kept(id: number, n: number, noted: number): Promise<string> {
    for (let behind = noted - n; behind >= 0; ) {
      const text = await store.runBehind(id, behind)
      const found = text === null ? undefined : pastRunOf(text).n
      if (found === n) return text!
      if (found === undefined || found < n) break
      behind += found - n
    }
    throw new SidejobError('NOT_FOUND', `job ${id} has no record of run ${n}: ${noted} runs are recorded`)
  }

  return {
    withRuns: viewWithRuns,

    async runs(job: Ref, { details = false }: { details?: boolean } = {}): Promise<{ runs: PastRun[] }> {
      const found = await store.inspect(job)
      const runs = pastRunsOf(found.document, await storedRunsOf(store, found))
      return { runs: details ? runs : runs.map(({ n, readyAt, commits, ...run }) => run) }
    },

    async pastRun(job: Ref, n: number) {
      const { id, document } = await store.inspect(job)
      const text = await kept(id, n, document.runsNoted ?? 0)
      const run = pastRunOf(text)
      const log = await readLog({ job: String(id), limit: LINES, ...during(run) })
      return { ...shown(run, document), ...effectsOf(text), log }
    },
  }
}
