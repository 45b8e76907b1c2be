// What a lane has begun of what it was lent without asking: it comes with a call, and with the next answer where the lane has
// not told of the call yet; either may come first, or twice.

import { createGathering } from '../../core/gathering.ts'
import { sleep } from '../../core/sleep.ts'
import type { ClaimedJob } from '../../redis/types.ts'

/** Where calls come often a lane waits for so long, in milliseconds, before it commits: so one commit is for several runs. */
const GATHERING = 10

/**
 * @example const lent = createLent(); flight.add(lent.byCall(jobs, elapsed()), elapsed()); const heard = lent.heard()
 */
export function createLent() {
  const begun = new Set<string>()
  let heard: string[] = []
  const gathering = createGathering(GATHERING, 0)

  /** Those that are new here. What a lane has claimed is marked as begun, and comes once. */
  const fresh = (jobs: readonly ClaimedJob[]): ClaimedJob[] =>
    jobs.filter(({ document }) => {
      if (document.begun) return true
      if (begun.has(document.token!)) return false
      begun.add(document.token!)
      return true
    })

  return {
    byAnswer: fresh,
    byCall(jobs: readonly ClaimedJob[], at: number): ClaimedJob[] {
      gathering.note(at, jobs.length)
      const own = fresh(jobs)
      heard.push(...own.map(({ document }) => document.token!))
      return own
    },
    /** The tokens of what came with calls, and Redis has not been told of. A copy: more may come before it has been told. */
    heard: (): readonly string[] => [...heard],
    /** So many of them Redis knows of now. */
    told(n: number): void {
      heard = heard.slice(n)
      if (n > 1) gathering.brought(n - 1)
    },
    /** Waits for more runs to end before they are committed, where that is worth while. */
    async gather(): Promise<void> {
      const ms = gathering.wait()
      if (ms === 0) return
      const before = heard.length
      await sleep(ms)
      gathering.brought(heard.length - before)
    },
  }
}
