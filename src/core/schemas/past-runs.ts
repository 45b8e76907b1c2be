// Runs that have ended, as they are told.

import * as z from 'zod'
import { dir, jobId } from './names.ts'
import { logPage } from './ports.ts'
import { closed, moment } from './values.ts'

/** Newest first; `token` to `error` of jobs that keep their runs. */
export const pastRun = z.object({
  startedAt: moment,
  endedAt: moment,
  outcome: z.string().meta({
    description: 'completed, suspended, follow, again, failed, lost, conflict, released (given back) or requeued',
  }),
  attempt: z.int(),
  token: z.string().optional(),
  retried: z.boolean().optional().meta({ description: 'whether it was tried again for this end' }),
  by: z
    .string()
    .optional()
    .meta({ description: 'function, pull, or the host of the push worker; absent where that is not known' }),
  error: closed.optional(),
  n: z.int().optional().meta({ description: 'which of its runs it was, of a job with a history' }),
  readyAt: moment.optional().meta({ description: 'since when the job had been ready; of a job with a history' }),
  commits: z.int().optional().meta({ description: 'how often it has committed; of a job with a history' }),
})

const portDeed = z.object({ job: jobId, dir, port: z.string(), values: z.int() })

/** One run of a job with a history, whole. */
export const pastRunView = pastRun.extend({
  reads: z.array(portDeed).meta({ description: 'how many values it has taken from which ports' }),
  writes: z.array(portDeed).meta({ description: 'how many values it has written to which ports' }),
  published: z.array(z.object({ channel: z.string(), messages: z.int() })),
  made: z.array(z.object({ id: jobId, name: z.string() })).meta({ description: 'the jobs that it has made' }),
  more: z.int().meta({ description: 'how much else it did, of which nothing more is kept' }),
  log: logPage.meta({ description: 'what it has logged, newest first' }),
})
export type PastRunView = z.output<typeof pastRunView>

export const pastRuns = z.object({ runs: z.array(pastRun) })
