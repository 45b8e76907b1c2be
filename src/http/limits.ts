import * as z from 'zod'
import { constraint } from '../core/constraint.ts'
import {
  changedGroup,
  changedLimit,
  count,
  flag,
  groupSettings,
  groupView,
  holder,
  limitInput,
  limitRow,
  limitView,
  limitWaiter,
  preview,
  roomView,
  shownOnly,
  shownRate,
} from '../core/schemas.ts'
import { route } from './route.ts'

const page = z.strictObject({ limit: count(1, 200).optional() })

export const limits = {
  list: route('GET /v1/limits', {
    scope: 'read',
    summary: 'List limits',
    description: 'Returns each limit with its used slots and its number of waiting jobs.',
    query: z.strictObject({ details: flag.optional() }),
    answers: { 200: z.object({ limits: z.array(limitRow) }) },
    handle: ({ engine, query }) => engine.limits.list(query),
  }),

  get: route('GET /v1/limits/:key', {
    scope: 'read',
    summary: 'Get a limit',
    description: 'Returns the settings, used slots and number of waiting jobs of the limit.',
    answers: { 200: limitView },
    handle: ({ engine, params }) => engine.limits.get(params.key),
  }),

  holders: route('GET /v1/limits/:key/holders', {
    scope: 'read',
    summary: 'List the runs that hold slots of a limit',
    description: 'Returns the runs, ordered by lease expiry, and the time at which the next slot becomes free.',
    query: page,
    answers: { 200: z.object({ limit: roomView, holders: z.array(holder) }) },
    handle: async ({ engine, params, query: { limit = 50 } }) => {
      const { limit: seen, holders } = await engine.limits.usage(params.key, { holders: limit })
      return { limit: seen, holders }
    },
  }),

  waiting: route('GET /v1/limits/:key/waiting', {
    scope: 'read',
    summary: 'List the jobs that wait for a limit',
    description:
      'Returns the jobs in the order in which they will run, and the time at which the next slot becomes free.',
    query: page,
    answers: { 200: z.object({ limit: roomView, waiting: z.array(limitWaiter) }) },
    handle: async ({ engine, params, query: { limit = 50 } }) => {
      const { limit: seen, waiting } = await engine.limits.usage(params.key, { waiting: limit })
      return { limit: seen, waiting }
    },
  }),

  set: route('PUT /v1/limits/:key', {
    scope: 'admin',
    summary: 'Create or update a limit',
    description:
      'Omitted settings stay unchanged, and null removes a setting. Waiting jobs that fit the new limit become ready. `preview=true` is a dry run: it returns these jobs.',
    query: preview,
    body: limitInput,
    answers: { 200: changedLimit },
    handle: ({ engine, params, query, body: { concurrency, rate, paused } }) =>
      engine.limits.set(params.key, { concurrency, rate, paused }, query),
  }),

  remove: route('DELETE /v1/limits/:key', {
    scope: 'admin',
    summary: 'Delete a limit',
    description: 'Jobs that wait for the limit become ready.',
    handle: ({ engine, params }) => engine.limits.remove(params.key),
  }),
}

const constraintView = constraint.extend({ name: z.string(), rate: shownRate.optional() })

export const constraints = {
  list: route('GET /v1/constraints', {
    scope: 'read',
    summary: 'List constraints',
    description: 'Returns each constraint: a limit for the jobs that its matcher selects.',
    answers: { 200: z.object({ constraints: z.array(constraintView) }) },
    handle: ({ engine }) => engine.constraints.list(),
  }),

  get: route('GET /v1/constraints/:key', {
    scope: 'read',
    summary: 'Get a constraint',
    description: 'Returns the matcher, rate and concurrency of the constraint.',
    answers: { 200: constraintView },
    handle: ({ engine, params }) => engine.constraints.get(params.key),
  }),

  set: route('PUT /v1/constraints/:key', {
    scope: 'admin',
    summary: 'Create or replace a constraint',
    description: 'Waiting jobs are matched again.',
    body: constraint.extend({ name: shownOnly }),
    answers: { 200: constraintView },
    handle: ({ engine, params, body: { name: _, ...settings } }) => engine.constraints.set(params.key, settings),
  }),

  remove: route('DELETE /v1/constraints/:key', {
    scope: 'admin',
    summary: 'Delete a constraint',
    description: 'Jobs that wait because of the constraint become ready.',
    handle: ({ engine, params }) => engine.constraints.remove(params.key),
  }),
}

export const groups = {
  list: route('GET /v1/groups', {
    scope: 'read',
    summary: 'List groups with active jobs',
    description: 'Returns the settings of each group, and the numbers of its running and waiting jobs.',
    answers: { 200: z.object({ groups: z.array(groupView) }) },
    handle: ({ engine }) => engine.groups.list(),
  }),

  get: route('GET /v1/groups/:key', {
    scope: 'read',
    summary: 'Get a group',
    description: 'Returns the settings of the group, and the numbers of its running and waiting jobs.',
    answers: { 200: groupView },
    handle: ({ engine, params }) => engine.groups.get(params.key),
  }),

  patch: route('PATCH /v1/groups/:key', {
    scope: 'admin',
    summary: 'Update, pause or resume a group',
    description: '`preview=true` is a dry run: it returns the jobs that would start.',
    query: preview,
    body: groupSettings,
    answers: { 200: changedGroup },
    handle: ({ engine, params, query, body }) => engine.groups.set(params.key, body, query),
  }),
}
