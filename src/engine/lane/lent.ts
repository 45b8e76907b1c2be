// What a lane has begun of what it was lent without asking: it comes with a call, and with the next answer where the lane has
// not told of the call yet; either may come first, or twice.

import { createPace } from '../../core/pace.ts'
import type { ClaimedJob } from '../../redis/types.ts'

/** Where calls come often a lane waits for so long, in milliseconds, before it commits: so one commit is for several runs. */
const GATHERING = 15

/**
 * @example const lent = createLent(); flight.add(lent.byCall(jobs, elapsed()), elapsed()); const heard = lent.heard()
 */
export function createLent() {
  const begun = new Set<string>()
  let heard: string[] = []
  const pace = createPace(0)

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
      pace.note(at, jobs.length)
      const own = fresh(jobs)
      heard.push(...own.map(({ document }) => document.token!))
      return own
    },
    /** The tokens of what came with calls, and Redis has not been told of. A copy: more may come before it has been told. */
    heard: (): readonly string[] => [...heard],
    /** So many of them Redis knows of now. */
    told(n: number): void {
      heard = heard.slice(n)
    },
    /** For how long it is worth while to wait for more runs to end, before they are committed. */
    gathering: (): number => (pace.isOften() ? GATHERING : 0),
  }
}
