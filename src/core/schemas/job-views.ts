import * as z from 'zod'
import { callbackState, jobHead, jobId, parentRef, status } from './names.ts'
import { closed, moment, span } from './values.ts'
import { shownRetry } from './workers.ts'

export const enqueued = z.object({ id: jobId, status, existing: z.literal(true).optional() })
export type Enqueued = z.output<typeof enqueued>
export const stepped = z.object({ id: jobId, status })

/** The answer to a request for a run. */
export const runAnswer = stepped.extend({ ran: z.literal(false).optional() })

export const portView = z.object({
  size: z.int(),
  taken: z.int(),
  default: closed.optional(),
  channels: z.array(z.string()),
  schema: closed.optional().describe('JSON Schema of the values. Present if schemas=true'),
})
export type PortView = z.output<typeof portView>

const callbackProgress = z.object({
  state: callbackState.nullable(),
  attempts: z.int(),
  lastError: z.string().nullable(),
  job: jobId.nullable(),
})
export type CallbackProgress = z.output<typeof callbackProgress>

export const callbackView = callbackProgress.extend({
  state: callbackState,
  job: jobId,
  of: jobId,
  end: z.int(),
  maxAttempts: z.int(),
  url: z.string(),
  host: z.string().optional().describe('for the filter `host`'),
  createdAt: moment,
  nextAt: moment.nullable(),
  endedAt: moment.nullable(),
})
export type CallbackView = z.output<typeof callbackView>

export const callbackTry = z.object({
  at: moment,
  took: span,
  outcome: z.enum(['delivered', 'failed', 'lost']),
  attempt: z.int(),
  again: z.boolean().describe('true if another attempt follows this one'),
  answer: z.string().nullable().describe('error of the attempt; null if the callback was delivered'),
})
export type CallbackTry = z.output<typeof callbackTry>

export const runUnderWay = z
  .object({
    startedAt: moment,
    leaseUntil: moment,
    process: z.string().nullable().describe('name of the pull worker that performs the run'),
    lane: z.string().nullable().describe('first characters of the id of the lane that performs the run'),
  })
  .describe('current run')
export type RunFacts = z.output<typeof runUnderWay>

export const childList = z.record(z.string(), z.object({ id: jobId, class: z.string(), status }))

/** Members of rows and views of jobs. */
export const jobSummary = {
  ...jobHead,
  status,
  name: z.string().nullable(),
  parent: parentRef,
  aliases: z.array(z.string()),
  priority: z.int(),
  group: z.string().nullable(),
  attempt: z.int().describe('failures in a row, plus 1 if the job is running'),
  labels: z.record(z.string(), z.string()),
  tag: z.string().nullable(),
  createdAt: moment,
  ranAt: moment.nullable(),
  endedAt: moment.nullable(),
  runAt: moment.nullable(),
  progress: closed.nullable(),
}

export const jobView = z.object({
  ...jobSummary,
  args: closed.nullable(),
  lost: z.int(),
  createdBy: z.string(),
  by: z.string().optional().describe('API key that created the job, as key:<id>'),
  waitingFor: z.union([z.enum(['children', 'parent']), z.array(z.string())]).nullable(),
  error: closed.nullable(),
  repeat: closed.nullable(),
  callback: callbackProgress.nullable(),
  in: z.record(z.string(), portView),
  out: z.record(z.string(), portView),
  children: childList,
  limits: z.array(z.string()).describe('limit keys of the job; GET /v1/jobs/:job also returns the key of its class'),
  waitingAt: z.string().nullable().describe('limit that the job is waiting for'),
  retry: shownRetry.nullable(),
  timeout: span.nullable(),
  retain: span.nullable(),
  keepResult: span.nullable(),
  history: z.int(),
  unique: z
    .object({ key: z.string(), until: z.enum(['started', 'ended', 'deleted', 'time']) })
    .nullable()
    .describe('unique key of the job, and the event or time that releases the key'),
  lockedUntil: moment.nullable(),
  run: runUnderWay.nullable(),
  version: z.string().nullable().describe('version of the code that performed the last run; null if unknown'),
  pinnedTo: z
    .string()
    .nullable()
    .describe(
      'version of the code, or address of a push worker, that must continue the job; null if the job is not pinned',
    ),
  keptUntil: moment
    .nullable()
    .describe(
      'time at which the retention of the ended job ends; null if the job has not ended, if new input can wake it, or if it is never removed because it listens to a channel',
    ),
  cost: z
    .object({
      runs: z.int().describe('number of known runs: the last run and the recorded runs'),
      total: z.int().describe('number of ended runs, excluding failed runs that are no longer stored'),
      took: span.describe('total duration of the known runs'),
      commits: z.int().nullable().describe('number of commits of the known runs; null if the job has no history'),
      whole: z.boolean().describe('true if all completed, failed and lost runs of the job are known'),
      price: z
        .number()
        .nullable()
        .describe('cost of the known runs according to SIDEJOB_PRICES; null if SIDEJOB_PRICES is not set'),
    })
    .optional()
    .describe('cost of the runs. Present if details=true'),
  moreChildren: z.int().optional(),
})
export type JobView = z.output<typeof jobView>

const saidAt = z.string().describe('time at which the run ended, by the clock of the worker')

export const result = z.union([
  z.object({ type: z.literal('success'), finishedAt: moment, saidAt: saidAt.optional(), result: closed }),
  z.object({
    type: z.literal('failure'),
    finishedAt: moment,
    saidAt: saidAt.optional(),
    reason: z.enum(['other', 'timeout']),
    message: z.string(),
    error: closed.nullable(),
    retry: z.literal(false).optional().describe('false if the worker asked not to retry'),
  }),
])
export type Result = z.output<typeof result>

export const keptStep = z.object({
  name: z.string(),
  at: moment.nullable(),
  took: span.nullable(),
  run: z.int().nullable(),
  bytes: z.int(),
})
export const keptWait = keptStep.extend({ kind: z.string() })
export type KeptStep = z.output<typeof keptStep>
export type KeptWait = z.output<typeof keptWait>

export const keptPatch = z.object({
  name: z.string(),
  patched: z
    .boolean()
    .describe(
      'false if the job had passed this code before the patch was deployed; such a job continues on the old path',
    ),
  at: moment.nullable(),
})
export type KeptPatch = z.output<typeof keptPatch>

export const tree = z.object({
  id: jobId,
  class: z.string(),
  status,
  children: z.record(z.string(), z.unknown()),
  more: z.literal(true).optional().describe('true if some descendants are not shown'),
})

export const done = z.object({}) as unknown as z.ZodType<void, Record<string, never>>
