import { SidejobError } from '../../core/errors.ts'
import { redacted } from '../../core/redact.ts'
import type { PastRun } from '../../core/run.ts'
import type { PastRunView } from '../../core/schemas.ts'
import { deedsOf, type JobRecord, pastRunOf, redactedPathsOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { Inspection } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Ref } from '../engine.ts'
import { runLines } from '../run/job-facts.ts'
import type { Log } from './log.ts'

const LINES = 200

function shown(run: PastRun, document: JobRecord): PastRun {
  if (run.error === undefined) return run
  return { ...run, error: redacted(run.error, redactedPathsOf(document), 'error') }
}

export const keptRunsOf = async (
  store: Store,
  { id, document }: Pick<Inspection, 'id' | 'document'>,
): Promise<string[]> => (document.historyKept ? store.runs(id) : [])

export const pastRunsOf = (document: JobRecord, kept: readonly string[]): PastRun[] =>
  runLines(document, kept).map((text) => shown(pastRunOf(text), document))

/** The previous run may have ended in the millisecond in which this run began. */
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
    throw new SidejobError('NOT_FOUND', `job ${id} has no record of run ${n}: ${noted} runs have been recorded so far`)
  }

  return {
    withRuns: viewWithRuns,

    async runs(job: Ref, { details = false }: { details?: boolean } = {}): Promise<{ runs: PastRun[] }> {
      const found = await store.inspect(job)
      const runs = pastRunsOf(found.document, await keptRunsOf(store, found))
      return { runs: details ? runs : runs.map(({ n, readyAt, commits, ...run }) => run) }
    },

    async pastRun(job: Ref, n: number): Promise<PastRunView> {
      const { id, document } = await store.inspect(job)
      const text = await kept(id, n, document.runsNoted ?? 0)
      const run = pastRunOf(text)
      const log = await readLog({ job: String(id), limit: LINES, ...during(run) })
      return { ...shown(run, document), ...deedsOf(text), log }
    },
  }
}
