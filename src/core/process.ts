import * as z from 'zod'
import { jobId, moment } from './schemas.ts'

export const orders = z.enum(['quiet', 'stop']).meta({
  description: '`quiet`: the worker gets no new jobs; `stop`: it also exits after its current runs',
})

export const processSignal = z.strictObject({
  signal: orders.nullable().meta({
    description: '`quiet`: get no new jobs; `stop`: finish the current runs and exit; null: claim jobs again',
  }),
})

const runUnderWay = z.object({
  job: jobId,
  queue: z.string(),
  class: z.string(),
  startedAt: moment,
  leaseUntil: moment,
  by: z
    .string()
    .meta({ description: 'worker that performs the run: `function`, `pull`, or the host of the push worker' }),
})
const atWork = { id: z.string(), queues: z.array(z.string()), runs: z.array(runUnderWay) }

export const processList = z.object({
  processes: z.array(
    z.union([
      z.object({
        kind: z.literal('lane'),
        ...atWork,
        /** Time at which the process counts as dead if it sends no request. */
        until: moment,
      }),
      z.object({
        kind: z.literal('pull'),
        ...atWork,
        startedAt: moment,
        /** Accurate to five seconds. */
        seenAt: moment,
        live: z
          .boolean()
          .meta({ description: 'true if the worker sent a request within the last minute, or has a run' }),
        signal: orders.nullable(),
      }),
    ]),
  ),
  others: z.array(runUnderWay).meta({ description: 'runs claimed by pull workers without a name' }),
  more: z.boolean().meta({ description: 'true if there are more runs than the 1,000 shown' }),
})
