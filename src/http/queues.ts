// Queues: their counts and settings, and claiming from them.

import * as z from 'zod'
import { orders } from '../core/process.ts'
import { snapshot } from '../core/run.ts'
import { claimOptions, count, flag, patchedQueue, queueDetail, queuePatch, queueView } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const queues = {
  list: route(
    {
      method: 'GET',
      path: '/v1/queues',
      scope: 'read',
      summary: 'Shows the queues with their counts and settings',
      answers: { 200: z.object({ queues: z.array(queueView) }) },
    },
    ({ engine }) => engine.queues(),
  ),

  get: route(
    {
      method: 'GET',
      path: '/v1/queues/:queue',
      scope: 'read',
      summary: 'Shows a queue from near: its lanes, runs under way, claims that wait, and who is next',
      query: z.strictObject({ limit: count(1, 200).optional() }),
      answers: { 200: queueDetail },
    },
    ({ engine, params, query }) => engine.queue(params.queue, query),
  ),

  patch: route(
    {
      method: 'PATCH',
      path: '/v1/queues/:queue',
      scope: 'admin',
      summary: 'Changes what is said of how a queue is served, and leaves the rest',
      query: z.strictObject({
        details: flag.optional().meta({ description: 'answers in `was` how that was before' }),
      }),
      body: queuePatch,
      answers: { 200: patchedQueue },
    },
    ({ engine, params, query, body }) => engine.setQueue(params.queue, body, query),
  ),

  claim: route(
    {
      method: 'POST',
      path: '/v1/queues/:queue/claim',
      scope: 'work',
      summary: 'Claims runs for a pull worker; with wait, waits for them; 204 when there are none',
      body: claimOptions,
      answers: { 200: z.object({ runs: z.array(snapshot), signal: orders.optional() }), 204: z.null() },
    },
    async ({ engine, params, body, call, c }) => {
      let signal: z.output<typeof orders> | undefined
      const told = (word: typeof signal) => {
        signal = word
      }
      const runs = await engine.claim(params.queue, body, { ...call, signal: c.req.raw.signal, told })
      return runs.length > 0 || signal ? { runs, ...(signal ? { signal } : {}) } : reply(204, null)
    },
  ),
}
