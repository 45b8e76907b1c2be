import * as z from 'zod'
import { count, flag, moment, queueName, queueView, time } from './schemas.ts'
import { events, gauges, keptSteps } from './series.ts'

const counts = z.record(z.string(), z.int()).describe('number of events by name')
const waits = z
  .array(z.int())
  .describe(
    'numbers of runs by the time from ready to start: up to 10 ms, 100 ms, 1 s, 5 s, 30 s, 1 min, 10 min, 1 h, or longer; absent if there were no runs',
  )

export const statsQuery = z.strictObject({
  days: count(1, 1_826)
    .optional()
    .describe('number of days to return, including today; counts are kept for five years'),
})

const someQueue = queueName.optional().describe('name of the queue; by default all queues')
const isCut = z.boolean().describe('true if only the first 50 queues, by name, are included')

export const stats = z.object({
  queues: z.array(queueView),
  processed: z.int().describe('total number of runs that have ended'),
  failed: z.int().describe('total number of runs that failed'),
  today: z.record(z.string(), counts).describe('counts per queue since midnight UTC'),
  total: z.record(z.string(), counts).describe('total counts per queue'),
  waits: z.record(z.string(), waits).describe('waiting times per queue since midnight UTC'),
  days: z
    .array(
      z.object({
        day: z.string(),
        counts,
        queues: z.record(z.string(), z.object({ counts, waits: waits.optional() })),
      }),
    )
    .optional()
    .describe('counts of each day, today first; days without events are omitted. Present if the request has `days`'),
  bells: z.object({ refused: z.int(), why: z.string() }).optional(),
})
export type Stats = z.output<typeof stats>

export const seriesQuery = z
  .strictObject({
    queue: someQueue,
    step: z.enum(['minute', 'hour']).optional(),
    from: time.optional().describe('the series starts with the minute or hour of this time'),
    to: time.optional().describe('only minutes or hours that start before this time'),
    details: flag.optional().describe('true to add the counts of each queue'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ['to'],
    message: 'must be after "from"',
  })

export type SeriesQuery = z.output<typeof seriesQuery>

const ms = z.int().describe('milliseconds')
const spread = z
  .object({
    mean: ms,
    p50: z.int().describe('median in milliseconds, rounded up to the bound of its bucket'),
    p95: z.int().describe('95th percentile in milliseconds, rounded up to the bound of its bucket'),
    buckets: z
      .array(z.int())
      .describe(
        'numbers of runs that took up to 10 ms, 30 ms, 100 ms, 300 ms, 1 s, 3 s, 10 s, 30 s, 100 s, 10 min, 1 h, or longer',
      ),
  })
  .nullable()

export const classesQuery = z.strictObject({
  queue: someQueue,
  day: z.enum(['today', 'yesterday']).optional().describe('`today` (since midnight UTC, the default) or `yesterday`'),
  hours: flag.optional().describe('true to add the counts of each hour of the day, within the last 24 hours'),
})

export type ClassesQuery = z.output<typeof classesQuery>

type Named<Names extends readonly string[]> = Record<Names[number], z.ZodInt>
const point = Object.fromEntries(events.map((name) => [name, z.int()])) as Named<typeof events>

export const classCounts = z.object({
  queue: queueName,
  class: z
    .string()
    .nullable()
    .describe(
      'name of the class. Only the first 100 classes of a queue are counted separately each day. null is the total of all further classes',
    ),
  counts: z.object(point),
  waited: spread.describe('time from ready to start, for runs of the class; null if there were no runs'),
  took: spread.describe('duration of the runs of the class; null if there were no runs'),
})

export const classes = z.object({
  day: z.string().describe('day in UTC, such as 2026-11-22'),
  classes: z
    .array(
      classCounts.extend({
        hours: z
          .array(z.object({ at: moment, ...point }))
          .optional()
          .describe(
            'counts for each hour of this day that had events and is within the last 24 hours. Present if hours=true, unless the stored counts of the queue exceed 4 MiB',
          ),
      }),
    )
    .describe('classes with events, ordered by queue and name'),
  more: isCut,
})

const stood = Object.fromEntries(
  gauges.map((name) => [
    name,
    z.int().describe(`number of ${name} jobs when the first event of this minute or hour occurred`),
  ]),
) as Named<typeof gauges>

const pointView = z.object({
  at: moment,
  longestWait: z.int().describe('longest waiting time, in milliseconds'),
  ...point,
  ...stood,
  oldestReady: moment.nullable(),
})

export const series = z.object({
  step: z.enum(['minute', 'hour']),
  points: z
    .array(pointView)
    .describe(
      `counts of the last ${keptSteps.minute} minutes or ${keptSteps.hour} hours, oldest first; minutes and hours without events are omitted`,
    ),
  more: isCut,
  queues: z.record(z.string(), z.array(pointView)).optional().describe('counts of each queue. Present if details=true'),
})
export type Series = z.output<typeof series>
