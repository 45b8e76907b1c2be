// A call (a message that wakes a warm lane) can contain claimed jobs. Until the lane confirms these jobs, Redis repeats
// them in each answer, but each job must start only once.

import { createGathering } from '../../core/gathering.ts'
import { sleep } from '../../core/sleep.ts'
import type { ClaimedJob } from '../../redis/types.ts'

/** If calls are frequent, waiting this many milliseconds lets one commit cover several runs. */
const GATHERING_MS = 10

export function createCalledJobs() {
  const started = new Set<string>()
  let tokens: string[] = []
  const gathering = createGathering(GATHERING_MS, 0)

  const fresh = (jobs: readonly ClaimedJob[]): ClaimedJob[] =>
    jobs.filter(({ document }) => {
      if (document.begun) return true
      if (started.has(document.token!)) return false
      started.add(document.token!)
      return true
    })

  return {
    byAnswer: fresh,
    byCall(jobs: readonly ClaimedJob[], at: number): ClaimedJob[] {
      gathering.note(at, jobs.length)
      const own = fresh(jobs)
      tokens.push(...own.map(({ document }) => document.token!))
      return own
    },
    /** Calls may add tokens during the commit, so this is a copy. */
    tokens: (): readonly string[] => [...tokens],
    confirmed(n: number): void {
      tokens = tokens.slice(n)
      if (n > 1) gathering.brought(n - 1)
    },
    async gather(): Promise<void> {
      const ms = gathering.wait()
      if (ms === 0) return
      const before = tokens.length
      await sleep(ms)
      gathering.brought(tokens.length - before)
    },
  }
}
