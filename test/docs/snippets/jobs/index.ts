// A reader's own classes.

import { defineWorker, port } from 'sidejob'
import * as z from 'zod'

export const double = defineWorker({
  class: 'double',
  in: { n: port(z.number()) },
  out: { doubled: port(z.number()) },
  async perform(job) {
    for await (const { n } of job.inputs('n')) job.write('doubled', n * 2)
  },
})

export const approval = defineWorker({
  class: 'approval',
  args: z.object({ amount: z.number() }),
  in: { decision: port(z.object({ ok: z.boolean() })) },
  result: z.object({ approved: z.boolean() }),
  perform: async (job) => ({ approved: (await job.waitFor('decision'))?.ok ?? false }),
})

export const paid = defineWorker({
  class: 'paid',
  args: z.object({ invoice: z.string() }),
  perform: (job) => job.log(`paid: ${job.args.invoice}`),
})

export const functions = [double, approval, paid]
