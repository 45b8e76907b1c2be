import * as z from 'zod'
import { dir, jobId } from './names.ts'
import { logPage } from './ports.ts'
import { closed, moment } from './values.ts'

export const pastRun = z.object({
  startedAt: moment,
  endedAt: moment,
  outcome: z.string().meta({
    description:
      'outcome of the run: completed, suspended, follow, again, failed, lost, conflict, released or requeued',
  }),
  attempt: z.int(),
  token: z.string().optional(),
  retried: z.boolean().optional().meta({ description: 'true if the job was retried after this run' }),
  by: z.string().optional().meta({
    description: 'worker that performed the run: `function`, `pull`, or the host of the push worker; absent if unknown',
  }),
  version: z
    .string()
    .optional()
    .meta({ description: 'version of the code that performed the run, such as a commit; absent if unknown' }),
  error: closed.optional(),
  n: z.int().optional().meta({ description: 'number of the run, for jobs with a history' }),
  readyAt: moment.optional().meta({ description: 'time at which the job became ready, for jobs with a history' }),
  commits: z.int().optional().meta({ description: 'number of commits of the run, for jobs with a history' }),
})

const portDeed = z.object({ job: jobId, dir, port: z.string(), values: z.int() })

export const pastRunView = pastRun.extend({
  reads: z.array(portDeed).meta({ description: 'number of values read from each port' }),
  writes: z.array(portDeed).meta({ description: 'number of values written to each port' }),
  published: z.array(z.object({ channel: z.string(), messages: z.int() })),
  made: z.array(z.object({ id: jobId, name: z.string() })).meta({ description: 'jobs that the run created' }),
  more: z.int().meta({ description: 'number of further changes that were not recorded' }),
  log: logPage.meta({ description: 'log entries of the run, newest first' }),
})
export type PastRunView = z.output<typeof pastRunView>

export const pastRuns = z.object({ runs: z.array(pastRun) })
