// Schedules: jobs that repeat, with their next slots.

import * as z from 'zod'
import {
  backfilled,
  closed,
  count,
  cursor,
  done,
  enqueued,
  flag,
  jobInput,
  jobPatch,
  scheduleView,
  stepped,
  time,
} from '../core/schemas.ts'
import { reply, route } from './route.ts'

const repeating = jobInput.refine(({ repeat }) => repeat !== undefined, { error: 'is missing', path: ['repeat'] })

const until = time.meta({
  description: 'its slots up to this moment instead of the next five: at most 1,000, and 50 of each in a list',
})

/** What was asked for changes nothing: PATCH does. */
const existing = enqueued.extend({
  repeat: closed.nullable().meta({ description: 'as the job has it: what was asked for is not taken over' }),
})

export const schedules = {
  list: route(
    {
      method: 'GET',
      path: '/v1/schedules',
      scope: 'read',
      summary: 'Lists the jobs that repeat, by their next slot',
      query: z.strictObject({
        limit: count(1, 1_000).optional(),
        cursor: cursor.optional(),
        until: until.optional(),
        failing: flag
          .optional()
          .meta({ description: 'only those whose last run failed or was lost, of kinds of errors that are not muted' }),
        muted: flag.optional().meta({ description: 'with failing=true: of kinds that are muted, too' }),
      }),
      answers: { 200: z.object({ schedules: z.array(scheduleView), cursor: z.string().nullable() }) },
    },
    ({ engine, query }) => engine.schedules(query),
  ),

  add: route(
    {
      method: 'POST',
      path: '/v1/schedules',
      scope: 'write',
      summary: 'Makes a job that repeats; one that exists stays as it is',
      body: repeating,
      answers: { 201: enqueued, 200: existing },
    },
    async ({ engine, body, call }) => {
      const [job] = (await engine.enqueue([body], call)).jobs
      if (!job!.existing) return reply(201, job!)
      return { ...job!, repeat: (await engine.get(String(job!.id))).repeat }
    },
  ),

  set: route(
    {
      method: 'PUT',
      path: '/v1/schedules/:alias',
      scope: 'write',
      summary: 'Makes the schedule of this name, or makes it what is asked for; asked again it changes nothing',
      body: repeating,
      answers: { 200: scheduleView },
    },
    ({ engine, params, body }) => engine.setSchedule(params.alias, body),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/schedules/:job',
      scope: 'read',
      summary: 'Shows a schedule with its next five slots, or those until a moment',
      query: z.strictObject({ until: until.optional() }),
      answers: { 200: scheduleView },
    },
    ({ engine, params, query }) => engine.schedule(params.job, query),
  ),

  patch: route(
    {
      method: 'PATCH',
      path: '/v1/schedules/:job',
      scope: 'write',
      summary: 'Changes a schedule or its job',
      body: jobPatch,
      answers: { 200: scheduleView },
    },
    ({ engine, params, body, call }) => engine.patchSchedule(params.job, body, call),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/schedules/:job',
      scope: 'write',
      summary: 'Stops repeating, and frees the names: the job stays, and runs no more by itself',
      answers: { 200: done },
    },
    ({ engine, params, call }) => engine.endSchedule(params.job, call),
  ),

  pause: route(
    {
      method: 'POST',
      path: '/v1/schedules/:job/pause',
      scope: 'write',
      summary: 'Pauses a schedule',
      answers: { 200: scheduleView },
    },
    ({ engine, params, call }) => engine.pauseSchedule(params.job, call),
  ),

  resume: route(
    {
      method: 'POST',
      path: '/v1/schedules/:job/resume',
      scope: 'write',
      summary: 'Goes on with the first slot after now',
      answers: { 200: scheduleView },
    },
    ({ engine, params, call }) => engine.resumeSchedule(params.job, call),
  ),

  backfill: route(
    {
      method: 'POST',
      path: '/v1/schedules/:job/backfill',
      scope: 'write',
      summary: 'Makes a job for each slot of a stretch of time, up to 1,000 in a call',
      body: z
        .strictObject({ from: time, to: time })
        .refine(({ from, to }) => from < to, { error: 'expected a moment after from', path: ['to'] }),
      answers: { 201: backfilled },
    },
    async ({ engine, params, body, call }) => reply(201, await engine.backfill(params.job, body, call)),
  ),

  run: route(
    {
      method: 'POST',
      path: '/v1/schedules/:job/run',
      scope: 'write',
      summary: 'Runs the job now, and leaves its slots as they are',
      answers: { 200: stepped },
    },
    ({ engine, params, call }) => engine.run(params.job, {}, call),
  ),
}
