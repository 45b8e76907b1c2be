// Limits and groups: how many jobs may run at once or start in a period, by key.

import * as z from 'zod'
import { constraint } from '../core/constraint.ts'
import {
  changedGroup,
  changedLimit,
  count,
  done,
  flag,
  groupSettings,
  groupView,
  holder,
  limitInput,
  limitRow,
  limitView,
  limitWaiter,
  roomView,
  shownRate,
} from '../core/schemas.ts'
import { route } from './route.ts'

const preview = z.strictObject({ preview: flag.optional() })
const page = z.strictObject({ limit: count(1, 200).optional() })

export const limits = {
  list: route(
    {
      method: 'GET',
      path: '/v1/limits',
      scope: 'read',
      summary: 'Lists the limits, with what is in use and what waits',
      query: z.strictObject({ details: flag.optional() }),
      answers: { 200: z.object({ limits: z.array(limitRow) }) },
    },
    ({ engine, query }) => engine.limits(query),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/limits/:key',
      scope: 'read',
      summary: 'Shows a limit',
      answers: { 200: limitView },
    },
    ({ engine, params }) => engine.limit(params.key),
  ),

  holders: route(
    {
      method: 'GET',
      path: '/v1/limits/:key/holders',
      scope: 'read',
      summary: 'Shows which runs hold the slots of a limit, soonest end first, and when there is room',
      query: page,
      answers: { 200: z.object({ limit: roomView, holders: z.array(holder) }) },
    },
    async ({ engine, params, query: { limit = 50 } }) => {
      const { limit: seen, holders } = await engine.room(params.key, { holders: limit })
      return { limit: seen, holders }
    },
  ),

  waiting: route(
    {
      method: 'GET',
      path: '/v1/limits/:key/waiting',
      scope: 'read',
      summary: 'Shows which jobs wait at a limit, in their order, and when there is room',
      query: page,
      answers: { 200: z.object({ limit: roomView, waiting: z.array(limitWaiter) }) },
    },
    async ({ engine, params, query: { limit = 50 } }) => {
      const { limit: seen, waiting } = await engine.room(params.key, { waiting: limit })
      return { limit: seen, waiting }
    },
  ),

  set: route(
    {
      method: 'PUT',
      path: '/v1/limits/:key',
      scope: 'admin',
      summary: 'Sets a limit; what waits for room is admitted at once; with preview=true only says who would be',
      query: preview,
      body: limitInput,
      answers: { 200: changedLimit },
    },
    ({ engine, params, query, body: { concurrency, rate, paused } }) =>
      engine.setLimit(params.key, { concurrency, rate, paused }, query),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/limits/:key',
      scope: 'admin',
      summary: 'Removes a limit; what waited for it goes on',
      answers: { 200: done },
    },
    ({ engine, params }) => engine.removeLimit(params.key),
  ),
}

const shownName = z.unknown().optional().meta({ readOnly: true, description: 'shown; the path names the constraint' })

const constraintView = constraint.extend({
  name: z.string(),
  rate: shownRate.optional(),
})

export const constraints = {
  list: route(
    {
      method: 'GET',
      path: '/v1/constraints',
      scope: 'read',
      summary: 'Lists the constraints: limits for the jobs that a matcher picks',
      answers: { 200: z.object({ constraints: z.array(constraintView) }) },
    },
    ({ engine }) => engine.constraints(),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/constraints/:key',
      scope: 'read',
      summary: 'Shows a constraint',
      answers: { 200: constraintView },
    },
    ({ engine, params }) => engine.constraint(params.key),
  ),

  set: route(
    {
      method: 'PUT',
      path: '/v1/constraints/:key',
      scope: 'admin',
      summary: 'Sets a constraint; jobs that wait are matched anew',
      body: constraint.extend({ name: shownName }),
      answers: { 200: constraintView },
    },
    ({ engine, params, body: { name: _, ...settings } }) => engine.setConstraint(params.key, settings),
  ),

  remove: route(
    {
      method: 'DELETE',
      path: '/v1/constraints/:key',
      scope: 'admin',
      summary: 'Removes a constraint; what waited by it goes on',
      answers: { 200: done },
    },
    ({ engine, params }) => engine.removeConstraint(params.key),
  ),
}

export const groups = {
  list: route(
    {
      method: 'GET',
      path: '/v1/groups',
      scope: 'read',
      summary: 'Lists the groups that have jobs which are not at rest',
      answers: { 200: z.object({ groups: z.array(groupView) }) },
    },
    ({ engine }) => engine.groups(),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/groups/:key',
      scope: 'read',
      summary: 'Shows a group',
      answers: { 200: groupView },
    },
    ({ engine, params }) => engine.group(params.key),
  ),

  patch: route(
    {
      method: 'PATCH',
      path: '/v1/groups/:key',
      scope: 'admin',
      summary: "Changes a group's limit, pauses or resumes it; with preview=true only says who would start",
      query: preview,
      body: groupSettings,
      answers: { 200: changedGroup },
    },
    ({ engine, params, query, body }) => engine.setGroup(params.key, body, query),
  ),
}
