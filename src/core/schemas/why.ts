// Why a job is not running, as it is told.

import * as z from 'zod'
import { runUnderWay } from './job-views.ts'
import { jobId, status } from './names.ts'
import { holder, roomView } from './queues.ts'
import { moment } from './values.ts'

export const reasonView = z.object({
  code: z.string(),
  message: z.string().meta({ description: 'in words what data has as numbers, names and ids' }),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string()), z.array(z.number())])),
  since: moment,
  until: moment.optional(),
  job: jobId.optional().meta({ description: 'the one other job that it is about' }),
  key: z.string().optional().meta({ description: 'the port, channel, child or limit' }),
})

export type Reason = z.output<typeof reasonView>

const link = z.object({
  job: jobId,
  class: z.string(),
  queue: z.string(),
  status,
  running: z.boolean(),
  run: runUnderWay.nullable(),
  reasons: z.array(reasonView),
  limit: roomView
    .extend({ holders: z.array(holder) })
    .optional()
    .meta({ description: 'the limit that it waits at, where the chain ends with it, and who holds its slots' }),
})

export const why = link.extend({
  chain: z
    .array(link)
    .optional()
    .meta({ description: 'with deep=n: the jobs behind it, each the cause of the one before' }),
})
