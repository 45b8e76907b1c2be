import * as z from 'zod'
import {
  backfilled,
  closed,
  enqueued,
  flag,
  jobInput,
  jobPatch,
  page,
  runAnswer,
  scheduleView,
  time,
} from '../core/schemas.ts'
import { reply, route } from './route.ts'

const repeating = jobInput.refine(({ repeat }) => repeat !== undefined, { error: 'is missing', path: ['repeat'] })

const until = time.describe(
  'returns all slots until this time instead of the next five: at most 1,000 slots, or 50 per schedule in a list',
)

/** Response if the job already exists. Only PATCH changes an existing job. */
const existing = enqueued.extend({
  repeat: closed.nullable().describe('repeat rule of the existing job. The request does not change this rule'),
})

export const schedules = {
  list: route('GET /v1/schedules', {
    scope: 'read',
    summary: 'List schedules',
    description: 'Returns the schedules ordered by their next runs.',
    query: z.strictObject({
      ...page,
      until: until.optional(),
      failing: flag
        .optional()
        .describe(
          'only schedules whose last run failed or was lost. Schedules with a muted kind of error are not included',
        ),
      muted: flag.optional().describe('true to include schedules with a muted kind of error. Applies if failing=true'),
    }),
    answers: { 200: z.object({ schedules: z.array(scheduleView), cursor: z.string().nullable() }) },
    handle: ({ engine, query }) => engine.schedules.list(query),
  }),

  add: route('POST /v1/schedules', {
    scope: 'write',
    summary: 'Create a schedule',
    description: 'Creates the schedule unless it already exists.',
    body: repeating,
    answers: { 201: enqueued, 200: existing },
    named: { 200: 'The schedule already exists' },
    handle: async ({ engine, body, call }) => {
      const [job] = (await engine.jobs.enqueue([body], call)).jobs
      if (!job!.existing) return reply(201, job!)
      return { ...job!, repeat: (await engine.jobs.get(String(job!.id))).repeat }
    },
  }),

  set: route('PUT /v1/schedules/:alias', {
    scope: 'write',
    summary: 'Create or update a schedule by name',
    description: 'Creates the schedule, or updates it if the request has changed.',
    body: repeating,
    answers: { 200: scheduleView },
    handle: ({ engine, params, body, call }) => engine.schedules.set(params.alias, body, call),
  }),

  get: route('GET /v1/schedules/:job', {
    scope: 'read',
    summary: 'Get a schedule',
    description: 'Returns the next five runs of the schedule, or all runs until a given time.',
    query: z.strictObject({ until: until.optional() }),
    answers: { 200: scheduleView },
    handle: ({ engine, params, query }) => engine.schedules.get(params.job, query),
  }),

  patch: route('PATCH /v1/schedules/:job', {
    scope: 'write',
    summary: 'Update a schedule',
    description: 'Changes the rule, args or options. Omitted members stay unchanged.',
    body: jobPatch,
    answers: { 200: scheduleView },
    handle: ({ engine, params, body, call }) => engine.schedules.update(params.job, body, call),
  }),

  remove: route('DELETE /v1/schedules/:job', {
    scope: 'write',
    summary: 'Delete a schedule',
    description: 'The job remains, but no longer repeats. The names of the schedule can be used again.',
    handle: ({ engine, params, call }) => engine.schedules.end(params.job, call),
  }),

  pause: route('POST /v1/schedules/:job/pause', {
    scope: 'write',
    summary: 'Pause a schedule',
    description: 'All slots are skipped until the schedule is resumed.',
    answers: { 200: scheduleView },
    handle: ({ engine, params, call }) => engine.schedules.pause(params.job, call),
  }),

  resume: route('POST /v1/schedules/:job/resume', {
    scope: 'write',
    summary: 'Resume a schedule',
    description: 'The schedule continues with the next slot.',
    answers: { 200: scheduleView },
    handle: ({ engine, params, call }) => engine.schedules.resume(params.job, call),
  }),

  backfill: route('POST /v1/schedules/:job/backfill', {
    scope: 'write',
    summary: 'Backfill a schedule',
    description: 'Creates one job for each slot in a period, at most 1,000 per call.',
    body: z
      .strictObject({ from: time, to: time })
      .refine(({ from, to }) => from < to, { error: 'must be after "from"', path: ['to'] }),
    answers: { 201: backfilled },
    handle: async ({ engine, params, body, call }) =>
      reply(201, await engine.schedules.backfill(params.job, body, call)),
  }),

  run: route('POST /v1/schedules/:job/run', {
    scope: 'write',
    summary: 'Run a schedule now',
    description: 'The schedule itself does not change.',
    answers: { 200: runAnswer },
    handle: ({ engine, params, call }) => engine.jobs.run(params.job, {}, call),
  }),
}
