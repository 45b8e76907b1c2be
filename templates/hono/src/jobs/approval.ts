import { defineWorker, port } from 'sidejob'
import * as z from 'zod'

/** Waits up to three days for a decision. Nothing runs while it waits. */
export const approval = defineWorker({
  class: 'approval',
  in: { decision: port(z.object({ approved: z.boolean(), by: z.string() })) },
  async perform(job) {
    const decision = await job.waitFor('decision', { timeout: '3 days' })
    return { approved: decision?.approved ?? false, by: decision?.by ?? 'timeout' }
  },
})
