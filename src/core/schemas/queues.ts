// Queues, limits, groups and schedules.

import * as z from 'zod'
import { statuses } from '../job.ts'
import { madeUps } from '../repeat/passed.ts'
import { runUnderWay } from './job-views.ts'
import { jobId, status } from './names.ts'
import { pastRun } from './past-runs.ts'
import { closed, concurrency, MAX_AGEING, moment, positive, rate, span } from './values.ts'
import { shownRate } from './workers.ts'

const ageing = positive
  .refine((ms) => Number.isInteger(ms) && ms <= MAX_AGEING, 'expected whole milliseconds, at most 1 hour')
  .meta({
    description:
      'so long a wait is worth one step of priority, up to 1 hour: who waits for n times as long goes before those who come then with a priority smaller by less than n; null: priorities are strict',
  })

export const queuePatch = z.strictObject({
  lanes: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .optional()
    .meta({ description: 'how many lanes may serve it; null: as usual' }),
  batch: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .optional()
    .meta({ description: 'how many jobs a lane takes; null: as usual' }),
  paused: z.boolean().optional(),
  mode: z.enum(['push', 'pull']).optional(),
  ageing: ageing.nullable().optional(),
})

export type QueuePatch = z.output<typeof queuePatch>

export const queueView = z.object({
  name: z.string(),
  paused: z.boolean(),
  mode: z.enum(['push', 'pull']),
  lanes: z.int(),
  maxLanes: z.int(),
  batch: z.int(),
  ageing: span.nullable(),
  counts: z.record(z.enum([...statuses, 'scheduled', 'limited']), z.int()).meta({
    description:
      'those that are scheduled (wait for a time) or limited (wait at a limit) are among the queued, those that terminate among the queued and running',
  }),
  oldestReady: moment.nullable(),
})
export type QueueView = z.output<typeof queueView>

/** A queue that was changed; `was` goes back as it came. */
export const patchedQueue = queueView.extend({
  was: z
    .object({
      lanes: z.int().nullable().optional(),
      batch: z.int().nullable().optional(),
      paused: z.boolean().optional(),
      mode: z.enum(['push', 'pull']).optional(),
      ageing: span.nullable().optional(),
    })
    .optional()
    .meta({ description: 'with details=true: what was set is this no more; sent as a patch it takes the change back' }),
})
export type PatchedQueue = z.output<typeof patchedQueue>

const underWay = runUnderWay.extend({ job: jobId, class: z.string() })

/** A queue from near. */
export const queueDetail = queueView.extend({
  open: z
    .array(
      z.object({
        ...{ id: z.string(), kind: z.enum(['lane', 'bell']) },
        since: moment.nullable().meta({ description: 'since when a lane is open; null of a bell' }),
        until: moment,
      }),
    )
    .meta({ description: 'lanes that serve it, and bells that are on their way; each ends then unless it is renewed' }),
  runs: z.array(underWay).meta({ description: 'runs under way, soonest end of a lease first' }),
  claims: z
    .array(z.object({ id: z.string(), names: z.array(z.string()), until: moment }))
    .meta({ description: 'claims of pull workers that wait, and for which classes (none: all)' }),
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
    .meta({ description: 'who is next: those for lanes in order, then those for pull workers' }),
})
export type QueueDetail = z.output<typeof queueDetail>

/** null removes a setting, one that is left out stays. */
export const limitSettings = z.strictObject({
  concurrency: concurrency.nullable().optional(),
  rate: rate.nullable().optional(),
  paused: z.boolean().optional(),
})
export type LimitSettings = z.output<typeof limitSettings>

export const groupSettings = limitSettings.omit({ rate: true })

const inUse = { paused: z.boolean(), running: z.int(), waiting: z.int() }

export const scheduleView = z.object({
  job: jobId,
  queue: z.string(),
  class: z.string(),
  status,
  aliases: z.array(z.string()),
  repeat: closed,
  paused: z.boolean(),
  failing: z.boolean().meta({ description: 'its last run failed or was lost' }),
  error: closed.nullable(),
  lastRun: pastRun.nullable(),
  next: z.array(moment),
  nextAt: moment
    .nullable()
    .meta({ description: 'the next slot, also where it is beyond those that were asked for; null while it is paused' }),
  missed: z
    .object({
      from: moment,
      to: moment,
      made: z.enum(madeUps).meta({ description: 'what stands for them: a run for each, later; one for all; or none' }),
      count: z.int(),
      more: z.boolean().meta({ description: 'there were more than 100' }),
    })
    .nullable()
    .meta({ description: 'the slots that went by last without a run of their own' }),
  catchingUp: z.boolean().meta({ description: 'slots that went by are being made up for' }),
  moved: z.object({ at: moment, wall: z.string() }).nullable().meta({
    description: 'the next slot within a year whose time the clock skips, and that time: it runs as the gap is over',
  }),
})
export type ScheduleView = z.output<typeof scheduleView>

export const backfilled = z.object({
  jobs: z.array(z.object({ id: jobId, scheduledFor: moment })),
  next: moment
    .nullable()
    .meta({ description: 'where to go on, when there were more slots than one call makes jobs for' }),
})

export const limitView = z.object({
  key: z.string(),
  concurrency: z.int().nullable(),
  rate: shownRate.nullable(),
  shutUntil: moment
    .nullable()
    .meta({ description: 'nobody is let through before, as the breaker of a host has set it' }),
  ...inUse,
})
export type LimitView = z.output<typeof limitView>

/** A limit of a list, with what is told of it where that is asked for. */
export const limitRow = limitView.extend({
  fullSince: moment
    .nullable()
    .optional()
    .meta({ description: 'since when the job waits that is next: with details=true' }),
  started: z
    .int()
    .optional()
    .meta({ description: 'how many have started within the period of its rate: with details=true' }),
  starts: z.array(moment).optional().meta({ description: 'when the newest hundred of them did: with details=true' }),
})
export type LimitRow = z.output<typeof limitRow>

/** A limit from near. */
export const roomView = limitView.extend({
  started: z.int().meta({ description: 'how many have started within the period of its rate' }),
  fullSince: moment.nullable().meta({ description: 'since when the job waits that is next' }),
  nextRoom: moment.nullable().meta({ description: 'when room comes by itself at the latest, while somebody waits' }),
})
export type RoomView = z.output<typeof roomView>

const atLimit = { job: jobId, queue: z.string(), class: z.string(), group: z.string().nullable() }

export const holder = z.object({
  ...atLimit,
  startedAt: moment.nullable(),
  leaseUntil: moment,
  process: z.string().nullable().meta({ description: 'the program that has it, where that has a name' }),
})
export type Holder = z.output<typeof holder>

export const limitWaiter = z.object({ ...atLimit, priority: z.int(), since: moment })
export type LimitWaiter = z.output<typeof limitWaiter>

const limitPreview = z
  .object({
    wouldStart: z.int().meta({ description: 'how many of those who wait at this limit would have room at once' }),
    first: z.array(limitWaiter).meta({ description: 'the first 20 of them, in their order' }),
  })
  .meta({ description: 'with preview=true: nothing is changed, and what is shown is the limit as it would be' })
export type LimitPreview = z.output<typeof limitPreview>

const previewed = { preview: limitPreview.optional() }
/** A limit after it was changed, or as it would be. */
export const changedLimit = limitView.extend(previewed)

/** What a limit shows and nobody sets: taken where it comes back, and left as it is. */
const shownOnly = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'shown; what stands here changes nothing' })

/** What PUT takes: the settings, and whatever else GET shows of a limit. */
export const limitInput = limitSettings.extend({
  ...{ key: shownOnly, running: shownOnly, waiting: shownOnly, shutUntil: shownOnly },
  ...{ started: shownOnly, fullSince: shownOnly, nextRoom: shownOnly },
})

export const groupView = z.object({ id: z.string(), concurrency: z.int().nullable(), ...inUse, jobs: z.int() })
export type GroupView = z.output<typeof groupView>
export const changedGroup = groupView.extend(previewed)
export type Previewed<View> = View & { preview?: LimitPreview }
