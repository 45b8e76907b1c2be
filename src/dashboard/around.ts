import type { Asked } from './page.ts'
import { seenKinds } from './pages/jobs/seen-kinds.ts'
import type { Signs } from './parts/shell.tsx'
import { countsOf, sumOf } from './words/counts.ts'
import { failedSign, signOf } from './words/failed.ts'
import { isFull } from './words/limit.ts'
import { isSlow } from './words/needs.ts'
import { waitingIn } from './words/queue.ts'
import { many } from './words/text.ts'

export type Around = { signs: Signs; foot: { ok: boolean; text: string } }

const amber = signOf('warn')

async function countAround({ cache, look }: Asked): Promise<Around> {
  const { stats, limits, moreLimits, hasMutes } = await cache.glance()
  const { queues } = stats
  const counts = countsOf(queues, null)
  const { failed = 0 } = counts
  const failures = failedSign({ failed, hasMutes, now: look.now }, hasMutes ? await seenKinds(cache) : undefined)
  const jobs = sumOf(counts)
  const full = limits.filter(isFull).length
  const held = queues.filter((queue) => isSlow(queue, look.now) || (queue.paused && waitingIn(queue) > 0)).length
  return {
    signs: {
      jobs: failures,
      queues: amber(held, 'paused or slow queues with waiting jobs'),
      limits: amber(full, 'full limits with waiting jobs', moreLimits),
    },
    foot: { ok: true, text: `Redis is up; ${many(jobs, 'job')}` },
  }
}

/** Shared within a request: the side bar and the page `more` show the same counts. */
export const around = (asked: Asked): Promise<Around> => asked.cache.get('around', 0, () => countAround(asked))
