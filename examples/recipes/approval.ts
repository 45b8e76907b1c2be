// Waits for a person to decide, and continues without a decision after three days.

import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'

export const bank = { pay: async (_amount: number, _key: string): Promise<string> => 'P1' }

export const refund = defineWorker({
  class: 'refund',
  args: z.object({ order: z.string(), amount: z.number() }),
  in: { decision: port(z.object({ approved: z.boolean(), by: z.string() })) },
  result: z.string(),
  async perform(job) {
    // A value that arrives after the end starts the function from its beginning, without its stored steps.
    const earlier = job.get<string>('outcome')
    if (earlier) return earlier
    const decision = await job.waitFor('decision', { timeout: '3 days' })
    if (decision?.approved) await job.step('pay', () => bank.pay(job.args.amount, job.effectKey('pay')))
    const outcome = decision ? `${decision.approved ? 'paid, approved' : 'refused'} by ${decision.by}` : 'no decision'
    // Set the outcome after the last step, because a step also commits the state that was set before it.
    job.set({ outcome })
    return outcome
  },
})
