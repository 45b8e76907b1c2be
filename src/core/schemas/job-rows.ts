// Lists of jobs: what may be asked for, and a row.

import * as z from 'zod'
import { ended, type Status } from '../job.ts'
import { atMost } from './at-most.ts'
import { waits } from './job-options.ts'
import { jobView, runUnderWay } from './job-views.ts'
import { alias, callbackState, className, errorKind, jobId, label, pathRef, queueName, status } from './names.ts'
import { count, cursor, duration, endedCursor, flag, moment, time } from './values.ts'
import { reasonView } from './why.ts'

/** One status, or several with commas. */
export const statusList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(status).min(1).max(7))
  .meta({ description: 'one status, or several with commas' })

const text = z.string().min(1).max(200).meta({
  description: 'whose args, error or aliases hold this, whatever its case: of the newest 2,000 jobs that fit else',
})

const PATHS = 10
const argsFilter = z
  .record(z.string().min(1).max(255), z.string().max(1_000))
  .refine(...atMost(PATHS, 'paths'))
  .meta({
    description:
      'written args.<path>=<value>: in whose args this text, number, true, false or null stands at a path, of the newest 2,000 jobs that fit else',
  })

const apart = ['text', 'args', 'error', 'parent', 'alias'] as const

type Sorted = { sort?: string; status?: Status[]; cursor?: string } & { [Name in (typeof apart)[number]]?: unknown }

/** By their ends are sorted those that have ended, as far as their queues' indexes tell. */
function checkSort(query: Sorted, { addIssue }: z.RefinementCtx): void {
  const refuse = (name: string, message: string) => addIssue({ code: 'custom', message, path: [name] })
  const isEnded = query.sort === 'ended'
  if (query.cursor !== undefined && query.cursor.includes('.') !== isEnded)
    refuse('cursor', 'expected a cursor of a list that is sorted in the same way')
  if (!isEnded) return
  if (query.status?.some((one) => !ended.has(one))) refuse('status', 'expected statuses of jobs that have ended')
  for (const name of apart) if (query[name] !== undefined) refuse(name, `expected no "${name}" beside sort=ended`)
}

export const jobQuery = z
  .strictObject({
    status: statusList.optional(),
    queue: queueName.optional(),
    class: className.optional(),
    group: label.optional(),
    tag: label.optional(),
    callback: callbackState.exclude(['IN_PROGRESS']).optional().meta({ description: 'how its callback goes' }),
    error: errorKind.optional().meta({ description: 'failed with an error of this kind, as GET /v1/errors names it' }),
    since: time.optional().meta({ description: 'made from this moment on' }),
    until: time.optional().meta({ description: 'made before this moment' }),
    longer: duration.optional().meta({ description: 'whose run takes longer than this, or took, if it has ended' }),
    waits: waits.optional(),
    text: text.optional(),
    args: argsFilter.optional(),
    parent: pathRef.optional(),
    alias: alias.optional(),
    fields: z
      .enum(['all', 'row'])
      .optional()
      .meta({ description: 'row: each job in short, with the first reason why it does not run' }),
    sort: z
      .enum(['made', 'ended'])
      .optional()
      .meta({ description: 'ended: those that have ended, the newest end first' }),
    limit: count(1, 1_000).optional(),
    cursor: z.union([cursor, endedCursor]).optional(),
  })
  .superRefine(checkSort)
  .refine(({ text, error }) => text === undefined || error === undefined, {
    error: 'expected "text" or "error", got both',
    path: ['text'],
  })
  .refine(({ args, error }) => args === undefined || error === undefined, {
    error: 'expected "args" or "error", got both',
    path: ['args'],
  })
export type JobQuery = z.output<typeof jobQuery>

const { id, queue, class: name, status: is, name: child, parent, aliases, priority, group, attempt } = jobView.shape
const { createdAt, ranAt, endedAt, runAt, progress, tag } = jobView.shape

export const jobRow = z.object({
  ...{ id, queue, class: name, status: is, name: child, parent, aliases, priority, group, tag, attempt },
  ...{ createdAt, ranAt, endedAt, runAt, progress },
  run: runUnderWay.nullable(),
  message: z.string().nullable().meta({ description: 'of its error, the first 200 characters' }),
  reason: reasonView
    .nullable()
    .meta({ description: 'why it does not run, as far as its record tells: not how many are before it' }),
  callback: callbackState.nullable(),
})
export type JobRow = z.output<typeof jobRow>

const paged = {
  looked: z
    .int()
    .optional()
    .meta({ description: 'with text or args: how many jobs were looked through; the cursor goes on behind them' }),
  cursor: z.string().nullable(),
  total: z.int().optional().meta({
    description: 'how many there are: told where an index says it, of one queue and statuses at rest and nothing else',
  }),
}

export const jobPage = z.object({ jobs: z.array(jobView), ...paged })
export const jobRows = z.object({ jobs: z.array(jobRow), ...paged })

/** Failed jobs by kinds of errors. */
export const errorQuery = z.strictObject({
  queue: queueName.optional(),
  class: className.optional(),
  since: time.optional().meta({ description: 'of jobs made from this moment on' }),
  cursor: cursor.optional(),
  details: flag.optional().meta({ description: 'in which minutes they failed, too' }),
  muted: flag.optional().meta({ description: 'kinds that are muted, too, each with who has muted it' }),
})

const errorMute = z.object({
  by: z.string().meta({ description: 'the name of the key' }),
  at: moment,
  until: moment.nullable().meta({ description: 'null: until it is unmuted' }),
})
export type ErrorMute = z.output<typeof errorMute>

export const errorKindInput = z
  .strictObject({
    muted: z.boolean(),
    until: time.optional().meta({ description: 'for how long it is muted; without this until it is unmuted' }),
  })
  .refine(({ muted, until }) => muted || until === undefined, {
    path: ['until'],
    message: 'expected none where a kind is unmuted',
  })

export const errorKindMuted = z.object({
  kind: z.string(),
  muted: errorMute.nullable(),
  was: errorMute.nullable().meta({ description: 'as it was before: asked for again, that brings it back' }),
})
export type MutedKind = z.output<typeof errorKindMuted>

export const errorKindView = z.object({
  error: z.string().meta({ description: 'the kind, as lists and bulk take it' }),
  class: z.string(),
  queues: z.array(z.string()),
  message: z.string().meta({ description: 'without numbers, ids, texts in quotes, times, paths and addresses' }),
  example: z.string(),
  frame: z.string().nullable().meta({ description: "the innermost function of the stack that is not a library's" }),
  count: z.int(),
  firstAt: moment,
  lastAt: moment,
  jobs: z.array(jobId).meta({ description: 'the newest three' }),
  minutes: z
    .array(z.object({ at: moment, count: z.int() }))
    .optional()
    .meta({ description: 'how many failed in which minute, oldest first: with details=true' }),
  muted: errorMute.optional().meta({ description: 'who has muted it, where somebody has: with muted=true' }),
})
export type ErrorKind = z.output<typeof errorKindView>

export const errorPage = z.object({
  errors: z.array(errorKindView).meta({ description: 'the most frequent first' }),
  looked: z.int().meta({ description: 'how many failed jobs were looked at: up to 1,000' }),
  cursor: z.string().nullable(),
  muted: z
    .array(errorMute.extend({ error: z.string(), class: z.string().nullable() }))
    .meta({ description: 'all kinds that are muted, with or without failed jobs, the newest mute first' }),
})
export type ErrorPage = z.output<typeof errorPage>

export const bulkPreview = z.object({
  fits: z.int(),
  looked: z.int(),
  more: z.boolean().meta({ description: 'only the newest 10,000 or so were looked at' }),
})

export const found = z.object({
  jobs: z.array(z.object({ id: jobId, class: z.string(), queue: z.string(), status, alias: z.string().nullable() })),
  queues: z.array(z.string()),
  limits: z.array(z.string()),
  groups: z.array(z.string()),
  channels: z.array(z.string()),
})
export type Found = z.output<typeof found>
