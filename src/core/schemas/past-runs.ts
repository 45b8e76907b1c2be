import * as z from 'zod'
import { dir, jobId } from './names.ts'
import { logPage } from './ports.ts'
import { closed, moment } from './values.ts'

export const pastRun = z.object({
  startedAt: moment,
  endedAt: moment,
  outcome: z
    .string()
    .describe('outcome of the run: completed, suspended, follow, again, failed, lost, conflict, released or requeued'),
  attempt: z.int(),
  token: z.string().optional(),
  retried: z.boolean().optional().describe('true if the job was retried after this run'),
  by: z
    .string()
    .optional()
    .describe('worker that performed the run: `function`, `pull`, or the host of the push worker; absent if unknown'),
  version: z
    .string()
    .optional()
    .describe('version of the code that performed the run, such as a commit; absent if unknown'),
  error: closed.optional(),
  n: z.int().optional().describe('number of the run. Present if the job has a history; in lists, only if details=true'),
  readyAt: moment.optional().describe('time at which the job became ready. Present if `n` is present'),
  commits: z
    .int()
    .optional()
    .describe('number of commits of the run: after steps, and at its end. Present if `n` is present'),
})

/** `number` is absent if the number of earlier runs is unknown. */
export type PastRun = z.output<typeof pastRun> & { number?: number }

const portEffect = z.object({ job: jobId, dir, port: z.string(), values: z.int() })
export type PortEffect = z.output<typeof portEffect>

const effects = z.object({
  reads: z.array(portEffect).describe('number of values read from each port'),
  writes: z.array(portEffect).describe('number of values written to each port'),
  published: z.array(z.object({ channel: z.string(), messages: z.int() })),
  made: z.array(z.object({ id: jobId, name: z.string() })).describe('jobs that the run created'),
  more: z.int().describe('number of further changes that were not recorded'),
})
export type RunEffects = z.output<typeof effects>

export const pastRunView = pastRun.extend({
  ...effects.shape,
  log: logPage.describe('log entries of the run, newest first: at most 200'),
})
export type PastRunView = z.output<typeof pastRunView>

export const pastRuns = z.object({ runs: z.array(pastRun) })
