import * as z from 'zod'
import { runUnderWay } from './job-views.ts'
import { jobId, status } from './names.ts'
import { holder, roomView } from './queues.ts'
import { moment } from './values.ts'

export const reasonView = z.object({
  code: z.string(),
  message: z.string().describe('reason as a sentence that contains the values of `data`'),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string()), z.array(z.number())])),
  since: moment,
  until: moment.optional(),
  job: jobId.optional().describe('other job that the reason refers to'),
  key: z.string().optional().describe('port, channel, child or limit that the reason refers to'),
})

export type Reason = z.output<typeof reasonView>

const limit = roomView.extend({ holders: z.array(holder) })
export type WhyLimit = z.output<typeof limit>

const link = z.object({
  job: jobId,
  class: z.string(),
  queue: z.string(),
  status,
  running: z.boolean(),
  run: runUnderWay.nullable(),
  reasons: z.array(reasonView),
  limit: limit.optional().describe('limit at the end of the chain, and the jobs that hold its slots'),
})

export type WhyLink = z.output<typeof link>

export const why = link.extend({
  chain: z
    .array(link)
    .optional()
    .describe('chain of jobs, where each job blocks the previous job. Present if `deep` is set'),
})
export type Why = z.output<typeof why>
