// Waits for a person to decide, and continues without a decision after three days.

import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'

export const refund = defineWorker({
  class: 'refund',
  args: z.object({ order: z.string(), amount: z.number() }),
  in: { decision: port(z.object({ approved: z.boolean(), by: z.string() })) },
  result: z.string(),
  async perform(job) {
    const decision = await job.waitFor('decision', { timeout: '3 days' })
    if (!decision) return 'nobody has decided'
    if (!decision.approved) return `refused by ${decision.by}`
    await job.step('pay', () => ({ paid: job.args.amount, key: job.effectKey('pay') }))
    return `paid, approved by ${decision.by}`
  },
})
