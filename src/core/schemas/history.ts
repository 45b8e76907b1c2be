import * as z from 'zod'
import { pathsFilter, searchText, statusList } from './job-rows.ts'
import { errorKind, jobHead, jobMatch, label, labelsFilter, parentRef } from './names.ts'
import { closed, count, duration, moment, span, time } from './values.ts'

const historyCursor = z.string().regex(/^\d{1,15}\.\d{1,16}$/, 'expected a cursor from GET /v1/history')

export const historyQuery = z.strictObject({
  status: statusList.optional(),
  ...jobMatch,
  error: errorKind.optional().describe('id of the kind of error'),
  parent: count(1, 1e15).optional().describe('id of the parent'),
  version: label.optional().describe('version of the code that performed the last run'),
  labels: labelsFilter.optional().describe('labels.<name>=<value> finds jobs with this label'),
  args: pathsFilter.optional().describe('args.<path>=<value> finds jobs with this value at a path in their args'),
  text: searchText
    .optional()
    .describe('only jobs with this text in the error message or the args, ignoring the case of a to z'),
  since: time.optional().describe('only jobs that ended at or after this time'),
  until: time.optional().describe('only jobs that ended before this time'),
  longer: duration.optional().describe('only jobs whose last run took at least this long'),
  limit: count(1, 1_000).optional(),
  cursor: historyCursor.optional(),
})
export type HistoryQuery = z.output<typeof historyQuery>

export const historyJob = z.object({
  ...jobHead,
  status: z.enum(['completed', 'failed', 'terminated']),
  args: closed.nullable(),
  result: closed.nullable(),
  error: closed.nullable(),
  kind: z.string().nullable().describe('id of the kind of error'),
  labels: z.record(z.string(), z.string()),
  group: z.string().nullable(),
  tag: z.string().nullable(),
  priority: z.int(),
  parent: parentRef,
  createdAt: moment,
  startedAt: moment.nullable().describe('start of the last run'),
  endedAt: moment,
  took: span.nullable().describe('duration of the last run'),
  waited: span.nullable().describe('time from the creation of the job to the start of its last run'),
  attempts: z.int(),
  lost: z.int(),
  version: z.string().nullable(),
  createdBy: z.string(),
  by: z.string().optional().describe('API key that created the job, as key:<id>'),
})
export type HistoryJob = z.output<typeof historyJob>

export const historyRun = z.object({
  startedAt: moment,
  endedAt: moment,
  outcome: z.string(),
  attempt: z.int(),
  version: z.string().nullable(),
  by: z.string().nullable(),
  error: closed.nullable(),
})
export type HistoryRun = z.output<typeof historyRun>

export const historyPage = z.object({
  jobs: z.array(historyJob),
  searchedTo: moment
    .nullable()
    .describe('end time of the oldest job that was searched; null if all jobs were searched'),
  cursor: z.string().nullable(),
})

export const historyDetail = z.object({
  ends: z.array(historyJob).describe('one entry for each time the job ended, newest first'),
  runs: z.array(historyRun).describe('failed and lost runs of the job; all runs if the job has `history`'),
})

export const historySql = z.strictObject({
  sql: z.string().min(1).max(10_000).describe('one statement: SELECT, WITH, VALUES or EXPLAIN QUERY PLAN'),
  limit: z.int().min(1).max(1_000).default(100).describe('maximum number of rows'),
})
export type HistorySql = z.output<typeof historySql>

export const historyRows = z.object({
  rows: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
  more: z.boolean().describe('true if rows are missing because of the limit, or because they exceed 1 MiB in total'),
})

export const historyStatus = z.object({
  on: z.boolean().describe('true if this deployment has a history'),
  waiting: z.int().describe('bytes of ended jobs that the history has not yet stored'),
  full: z
    .boolean()
    .describe('true if too many ended jobs are waiting to be stored. Until they are stored, no jobs are claimed'),
  storedAt: moment.nullable().describe('time at which a deployment last read ended jobs in order to store them'),
  error: z.string().nullable().describe('last error of the database in this isolate'),
  keptDays: z.int().nullable().describe('number of days for which ended jobs are kept'),
})
