import * as z from 'zod'
import { ended, type Status } from '../job.ts'
import { atMost } from './at-most.ts'
import { waits } from './job-options.ts'
import { jobSummary, jobView, runUnderWay } from './job-views.ts'
import { alias, callbackState, errorKind, jobId, jobMatch, labelsFilter, ofClass, pathRef, status } from './names.ts'
import { count, cursor, duration, endedCursor, flag, moment, time } from './values.ts'
import { reasonView } from './why.ts'

export const statusList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(status).min(1).max(7))
  .describe('one status, or several separated by commas')

const SEARCHED = '; each call searches at most 2,000 jobs that match the other conditions'

export const searchText = z.string().min(1).max(200)

const PATHS = 10
export const pathsFilter = z.record(z.string().min(1).max(255), z.string().max(1_000)).refine(...atMost(PATHS, 'paths'))

const searches = ['text', 'args', 'labels'] as const
const apart = [...searches, 'error', 'parent', 'alias'] as const

type Sorted = { sort?: string; status?: Status[]; cursor?: string } & { [Name in (typeof apart)[number]]?: unknown }

function checkTogether(query: Sorted, { addIssue }: z.RefinementCtx): void {
  const refuse = (name: string, message: string) => addIssue({ code: 'custom', message, path: [name] })
  const isEnded = query.sort === 'ended'
  for (const name of searches)
    if (query.error !== undefined && query[name] !== undefined) refuse(name, `expected "${name}" or "error", got both`)
  if (query.cursor !== undefined && query.cursor.includes('.') !== isEnded)
    refuse('cursor', 'expected a cursor from a list with the same "sort"')
  if (!isEnded) return
  const open = query.status?.find((one) => !ended.has(one))
  if (open) refuse('status', `expected only statuses of ended jobs, got "${open}"`)
  for (const name of apart) if (query[name] !== undefined) refuse(name, 'is not allowed with sort=ended')
}

export const jobQuery = z
  .strictObject({
    status: statusList.optional(),
    ...jobMatch,
    callback: callbackState.exclude(['IN_PROGRESS']).optional().describe('only jobs whose callback is in this state'),
    error: errorKind.optional().describe('kind of error, as listed by GET /v1/errors'),
    since: time.optional().describe('only jobs created at or after this time'),
    until: time.optional().describe('only jobs created before this time'),
    longer: duration.optional().describe('only jobs whose current or last run took longer than this'),
    waits: waits.optional(),
    text: searchText
      .describe(`only jobs with this text in args, error, labels or aliases, ignoring case${SEARCHED}`)
      .optional(),
    args: pathsFilter
      .describe(`args.<path>=<value> finds jobs with this value at a path in their args${SEARCHED}`)
      .optional(),
    labels: labelsFilter.describe(`labels.<name>=<value> finds jobs with this label${SEARCHED}`).optional(),
    parent: pathRef.optional(),
    alias: alias.optional(),
    fields: z
      .enum(['all', 'row'])
      .optional()
      .describe('`row` returns a summary of each job, with the first reason why it is not running'),
    sort: z.enum(['made', 'ended']).optional().describe('`ended` lists only ended jobs, most recently ended first'),
    limit: count(1, 1_000).optional(),
    cursor: z.union([cursor, endedCursor]).optional(),
  })
  .superRefine(checkTogether)
export type JobQuery = z.output<typeof jobQuery>

export const jobRow = z.object({
  ...jobSummary,
  run: runUnderWay.nullable(),
  message: z.string().nullable().describe('first 200 characters of the error message'),
  reason: reasonView
    .nullable()
    .describe('first reason why the job is not running, without the number of jobs ahead of it'),
  callback: callbackState.nullable(),
})
export type JobRow = z.output<typeof jobRow>

const paged = {
  looked: z
    .int()
    .optional()
    .describe(
      'number of jobs searched; the cursor continues with the next job. Present if the request has `text`, `args` or `labels`',
    ),
  cursor: z.string().nullable(),
  total: z
    .int()
    .optional()
    .describe(
      'number of all matches. Present for ended or suspended jobs, if only `status` and `queue` are set. Also present on the first page of the failed jobs of one class or of one kind of error',
    ),
  newest: z
    .int()
    .optional()
    .describe(
      'newest id of all jobs. This call and the calls before it have searched from there down to the cursor. Present if the list is ordered by id and has more pages',
    ),
}

export const jobPage = z.object({ jobs: z.array(jobView), ...paged })
export const jobRows = z.object({ jobs: z.array(jobRow), ...paged })

export const errorQuery = z.strictObject({
  ...ofClass,
  since: time.optional().describe('only jobs created at or after this time'),
  cursor: cursor.optional(),
  details: flag.optional().describe('true to add the numbers of failures over time'),
  muted: flag.optional().describe('true to include muted kinds, each with the API key that muted it'),
})
export type ErrorFilter = z.output<typeof errorQuery>

const errorMute = z.object({
  by: z.string().describe('name of the API key'),
  at: moment,
  until: moment.nullable().describe('end of the mute; null if it never ends'),
})
export type ErrorMute = z.output<typeof errorMute>

export const errorKindInput = z
  .strictObject({
    muted: z.boolean(),
    until: time.optional().describe('end of the mute; if omitted, it never ends'),
  })
  .refine(({ muted, until }) => muted || until === undefined, {
    path: ['until'],
    message: 'is not allowed if "muted" is false',
  })

export const errorKindMuted = z.object({
  kind: z.string(),
  muted: errorMute.nullable(),
  was: errorMute.nullable().describe('previous mute; null if the kind was not muted'),
})
export type MutedKind = z.output<typeof errorKindMuted>

export const errorKindView = z.object({
  error: z.string().describe('id of the kind; use it to filter lists and bulk actions'),
  class: z.string(),
  queues: z.array(z.string()),
  message: z.string().describe('error message without numbers, ids, quoted text, times, paths and addresses'),
  example: z.string(),
  frame: z.string().nullable().describe('innermost function of the stack, without library code'),
  count: z.int().describe('number of jobs that are failed now'),
  firstAt: moment.describe(
    'time of the first failure of this kind, even if its job has been retried or deleted. With `since`, only the failures of jobs that this call checked count',
  ),
  lastAt: moment,
  jobs: z.array(jobId).describe('ids of the newest three jobs'),
  minutes: z
    .array(z.object({ at: moment, count: z.int() }))
    .optional()
    .describe(
      'numbers of failures in the last six hours, oldest first: per minute in the last half hour, and per quarter of an hour before that. Present if details=true',
    ),
  muted: errorMute
    .optional()
    .describe('the mute of this kind of error: author and end. Present if muted=true and the kind is muted'),
})
export type ErrorKind = z.output<typeof errorKindView>

export const errorPage = z.object({
  errors: z.array(errorKindView).describe('kinds of error, most frequent first'),
  looked: z.int().describe('number of matching failed jobs; with `since`, the number of failed jobs checked'),
  cursor: z
    .string()
    .nullable()
    .describe('cursor for the next call, which counts more jobs; null if the counts are complete'),
  muted: z
    .array(errorMute.extend({ error: z.string(), class: z.string().nullable() }))
    .describe('all muted kinds, with or without failed jobs, newest first'),
})
export type ErrorPage = z.output<typeof errorPage>

export const bulkPreview = z.object({
  fits: z.int().describe('number of jobs that the action would change'),
  looked: z.int().describe('number of jobs examined'),
  more: z.boolean().describe('true if older jobs were not counted; continue with the cursor'),
  ids: z
    .array(jobId)
    .describe('ids of the jobs that the action would change; send them as `ids` to change exactly these jobs'),
  cursor: z.string().nullable(),
  newest: z
    .int()
    .optional()
    .describe(
      'newest id of all jobs. This call and the calls before it have counted from there down to the cursor. Present if `more` is true, except with `ids`',
    ),
})
export type BulkPreview = z.output<typeof bulkPreview>

export const found = z.object({
  jobs: z.array(z.object({ id: jobId, class: z.string(), queue: z.string(), status, alias: z.string().nullable() })),
  queues: z.array(z.string()),
  limits: z.array(z.string()),
  groups: z.array(z.string()),
  channels: z.array(z.string()),
})
export type Found = z.output<typeof found>
