import * as z from 'zod'
import { moment, ofJob } from './schemas.ts'

export const orders = z
  .enum(['quiet', 'stop'])
  .describe('`quiet`: the worker gets no new jobs; `stop`: it also exits after its current runs')

export const processSignal = z.strictObject({
  signal: orders
    .nullable()
    .describe('`quiet`: get no new jobs; `stop`: finish the current runs and exit; null: claim jobs again'),
})

const runUnderWay = z.object({
  ...ofJob,
  startedAt: moment,
  leaseUntil: moment,
  by: z.string().describe('worker that performs the run: `function`, `pull`, or the host of the push worker'),
})
export type CurrentRun = z.output<typeof runUnderWay>
const atWork = { id: z.string(), queues: z.array(z.string()), runs: z.array(runUnderWay) }

export const processList = z.object({
  processes: z.array(
    z.union([
      z.object({
        kind: z.literal('lane'),
        ...atWork,
        until: moment,
      }),
      z.object({
        kind: z.literal('pull'),
        ...atWork,
        startedAt: moment,
        /** Accurate to five seconds. */
        seenAt: moment,
        live: z.boolean().describe('true if the worker sent a request within the last minute, or has a run'),
        signal: orders.nullable(),
      }),
    ]),
  ),
  others: z.array(runUnderWay).describe('runs claimed by pull workers without a name'),
  more: z.boolean().describe('true if not all runs are shown (at most 1,000)'),
})
export type ProcessView = z.output<typeof processList>['processes'][number]
