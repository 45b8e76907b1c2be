import * as z from 'zod'
import { statuses } from '../job.ts'
import { catchUpModes } from '../repeat/passed.ts'
import { runUnderWay } from './job-views.ts'
import { jobId, ofJob, status } from './names.ts'
import { pastRun } from './past-runs.ts'
import { closed, concurrency, MAX_AGEING, moment, positive, rate, span, within } from './values.ts'
import { shownRate } from './workers.ts'

const ageing = positive
  .refine(...within(1, MAX_AGEING, 'a duration of at most 1 hour, in seconds or like "30m"'))
  .describe('time after which a waiting job’s priority number falls by one, at most 1 hour; null for strict priorities')

const mode = z.enum(['push', 'pull'])

export const queuePatch = z.strictObject({
  lanes: z.int().min(1).max(1_000).nullable().optional().describe('maximum number of lanes; null restores the default'),
  batch: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .optional()
    .describe('number of jobs that a lane claims at once; null restores the default'),
  paused: z.boolean().optional(),
  mode: mode.optional(),
  ageing: ageing.nullable().optional(),
})

export type QueuePatch = z.output<typeof queuePatch>

export const queueView = z.object({
  name: z.string(),
  paused: z.boolean(),
  mode,
  lanes: z.int(),
  maxLanes: z.int(),
  batch: z.int(),
  ageing: span.nullable(),
  counts: z
    .record(z.enum([...statuses, 'scheduled', 'limited', 'pull']), z.int())
    .describe(
      'jobs by status; `queued` includes jobs that wait for a time (`scheduled`), a limit (`limited`) or a pull worker (`pull`); `queued` and `running` include `terminating` jobs',
    ),
  oldestReady: moment.nullable(),
})
export type QueueView = z.output<typeof queueView>

export const patchedQueue = queueView.extend({
  was: queuePatch
    .extend({ ageing: span.nullable().optional() })
    .strip()
    .optional()
    .describe('previous settings; send them as a patch to undo the change. Present if details=true'),
})
export type PatchedQueue = z.output<typeof patchedQueue>

const underWay = runUnderWay.extend({ job: jobId, class: z.string() })

export const queueDetail = queueView.extend({
  open: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(['lane', 'bell']),
        since: moment.nullable().describe('time at which the lane opened; null for a bell'),
        until: moment,
      }),
    )
    .describe('lanes of the queue, and bells that QStash has not delivered, each with its expiry'),
  runs: z.array(underWay).describe('current runs, ordered by lease expiry'),
  claims: z
    .array(z.object({ id: z.string(), names: z.array(z.string()), until: moment }))
    .describe('waiting claims of pull workers, each with its classes; an empty list means all classes'),
  next: z
    .array(
      z.object({
        job: jobId,
        class: z.string(),
        priority: z.int(),
        since: moment,
        group: z.string().nullable(),
        pull: z.boolean(),
      }),
    )
    .describe('next jobs in order: first the jobs for lanes, then the jobs for pull workers'),
})
export type QueueDetail = z.output<typeof queueDetail>

/** null removes a setting. */
const limitSettings = z.strictObject({
  concurrency: concurrency.nullable().optional(),
  rate: rate.nullable().optional(),
  paused: z.boolean().optional(),
})
export type LimitSettings = z.output<typeof limitSettings>

export const groupSettings = limitSettings.omit({ rate: true })

const inUse = { paused: z.boolean(), running: z.int(), waiting: z.int() }

export const scheduleView = z.object({
  ...ofJob,
  status,
  aliases: z.array(z.string()),
  repeat: closed,
  paused: z.boolean(),
  failing: z.boolean().describe('true if the last run of the schedule failed or was lost'),
  error: closed.nullable(),
  lastRun: pastRun.nullable(),
  next: z.array(moment),
  nextAt: moment
    .nullable()
    .describe(
      'next slot, even if it is after the requested period; null if the schedule is paused or has no next slot',
    ),
  missed: z
    .object({
      from: moment,
      to: moment,
      made: z
        .enum(catchUpModes)
        .describe(
          'runs for the missed slots: `each` is one run per slot, `one` is one run for all slots, `none` is no run',
        ),
      count: z.int(),
      more: z.boolean().describe('true if more than 100 slots were missed'),
    })
    .nullable()
    .describe('most recent slots that were missed'),
  catchingUp: z.boolean().describe('true while the schedule catches up on missed slots'),
  moved: z
    .object({ at: moment, wall: z.string() })
    .nullable()
    .describe(
      'next slot, within a year, that daylight saving time skips. `wall` is the skipped local time; `at` is the time of the run, at the end of the skipped hour',
    ),
})
export type ScheduleView = z.output<typeof scheduleView>

export const backfilled = z.object({
  jobs: z.array(z.object({ id: jobId, scheduledFor: moment })),
  next: moment
    .nullable()
    .describe('value of `from` for the next call, if there were more slots than one call can handle'),
})

export const limitView = z.object({
  key: z.string(),
  concurrency: z.int().nullable(),
  rate: shownRate.nullable(),
  shutUntil: moment
    .nullable()
    .describe('time before which no job starts, because the circuit breaker of a host is open'),
  ...inUse,
})
export type LimitView = z.output<typeof limitView>

export const limitRow = limitView.extend({
  fullSince: moment
    .nullable()
    .optional()
    .describe('time at which the first job in line began to wait. Present if details=true'),
  started: z
    .int()
    .optional()
    .describe(
      'number of jobs that started within the current period of the rate. Present if details=true and the limit has a rate',
    ),
  starts: z
    .array(moment)
    .optional()
    .describe(
      'start times in the current period of the rate, newest first, at most 100. Present if details=true and the limit has a rate',
    ),
})
export type LimitRow = z.output<typeof limitRow>

export const roomView = limitView.extend({
  started: z.int().describe('number of jobs that started within the current period of the rate'),
  fullSince: moment.nullable().describe('time at which the first job in line began to wait'),
  nextRoom: moment
    .nullable()
    .describe('expected time at which the limit has room again; null if it is paused or if no jobs are waiting'),
})
export type RoomView = z.output<typeof roomView>

const atLimit = { ...ofJob, group: z.string().nullable() }

export const holder = z.object({
  ...atLimit,
  startedAt: moment.nullable(),
  leaseUntil: moment,
  process: z.string().nullable().describe('name of the pull worker that performs the run, if the worker has a name'),
})
export type Holder = z.output<typeof holder>

export const limitWaiter = z.object({ ...atLimit, priority: z.int(), since: moment })
export type LimitWaiter = z.output<typeof limitWaiter>

const limitPreview = z
  .object({
    wouldStart: z.int().describe('number of jobs that wait for this limit and would start immediately'),
    first: z.array(limitWaiter).describe('first 20 jobs that would start immediately, in order'),
  })
  .describe('jobs that the new limit would start. Present if preview=true')
export type LimitPreview = z.output<typeof limitPreview>

const previewed = { preview: limitPreview.optional() }
export const changedLimit = limitView.extend(previewed)

/** For settings that a client sends back as it received them. */
export const shownOnly = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'present in responses; ignored in requests' })

export const limitInput = limitSettings.extend({
  key: shownOnly,
  running: shownOnly,
  waiting: shownOnly,
  shutUntil: shownOnly,
  started: shownOnly,
  fullSince: shownOnly,
  nextRoom: shownOnly,
})

export const groupView = z.object({ id: z.string(), concurrency: z.int().nullable(), ...inUse, jobs: z.int() })
export type GroupView = z.output<typeof groupView>
export const changedGroup = groupView.extend(previewed)
export type Previewed<View> = View & { preview?: LimitPreview }
