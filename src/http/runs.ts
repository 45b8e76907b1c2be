import * as z from 'zod'
import { orders } from '../core/process.ts'
import { changes, heartbeat, snapshot } from '../core/run.ts'
import { builtAgainst, count, items, status } from '../core/schemas.ts'
import type { Caller } from './places.ts'
import { route } from './route.ts'
import { moreChildren, moreSteps } from './waiting.ts'

/** An admin may commit any changes for any worker. */
const reachOf = (caller?: Caller) => (caller?.scopes.includes('admin') ? { reach: 'all' as const } : {})

export const runs = {
  commit: route('POST /v1/runs/:token/commit', {
    scope: 'work',
    summary: 'Commit a run',
    description: 'Applies all changes of the run, or none of them.',
    body: changes,
    answers: { 200: z.object({ status, snapshot: snapshot.optional() }) },
    handle: ({ engine, params, body, caller }) => engine.runs.commit(params.token, body, reachOf(caller)),
  }),

  heartbeat: route('POST /v1/runs/:token/heartbeat', {
    scope: 'work',
    summary: 'Extend the lease of a run',
    description: 'The request can also report the progress of the run.',
    body: heartbeat,
    answers: { 200: z.object({ leaseUntil: z.number(), signal: orders.optional() }) },
    handle: ({ engine, params, body }) => engine.runs.heartbeat(params.token, body),
  }),

  release: route('POST /v1/runs/:token/release', {
    scope: 'work',
    summary: 'Release a claimed run',
    description: 'The job becomes ready again without using an attempt.',
    answers: { 200: z.object({ status }) },
    handle: ({ engine, params }) => engine.runs.release(params.token),
  }),

  page: route('GET /v1/runs/:token/in/:port', {
    scope: 'work',
    summary: 'List more values of an input port of a run',
    description:
      'Needed for ports with more values than fit into the snapshot. With `schema`, fails if a value does not fit that schema.',
    query: z.strictObject({ after: count(0, Number.MAX_SAFE_INTEGER).optional(), schema: builtAgainst }),
    answers: { 200: z.object({ values: items, more: z.int() }) },
    handle: ({ engine, params, query: { after = 0, schema } }) =>
      engine.runs.values(params.token, params.port, after, schema),
  }),

  children: route('GET /v1/runs/:token/children', {
    scope: 'work',
    summary: "List more children of a run's job",
    ...moreChildren,
    handle: ({ engine, params, query }) => engine.runs.children(params.token, query.cursor),
  }),

  steps: route('GET /v1/runs/:token/steps', {
    scope: 'work',
    summary: "List more stored steps of a run's job",
    ...moreSteps,
    handle: ({ engine, params, query }) => engine.runs.steps(params.token, query.cursor),
  }),
}
