import { defineWorker, port } from 'sidejob'
import * as z from 'zod'

/** Waits up to three days for a decision. Nothing runs while it waits. */
export const approval = defineWorker({
  class: 'approval',
  in: { decision: port(z.object({ approved: z.boolean(), by: z.string() })) },
  async perform(job) {
    // A decision that arrives after the end calls the function again. The first outcome is final.
    const earlier = job.get<{ approved: boolean; by: string }>('outcome')
    if (earlier) return earlier
    const decision = await job.waitFor('decision', { timeout: '3 days' })
    const outcome = decision ?? { approved: false, by: 'timeout' }
    job.set({ outcome })
    return outcome
  },
})
