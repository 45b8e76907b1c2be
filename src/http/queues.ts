import * as z from 'zod'
import { orders } from '../core/process.ts'
import { snapshot } from '../core/run.ts'
import { claimOptions, count, flag, patchedQueue, queueDetail, queuePatch, queueView } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const queues = {
  list: route('GET /v1/queues', {
    scope: 'read',
    summary: 'List queues',
    description: 'Returns the counts and settings of each queue.',
    answers: { 200: z.object({ queues: z.array(queueView) }) },
    handle: ({ engine }) => engine.queues.list(),
  }),

  get: route('GET /v1/queues/:queue', {
    scope: 'read',
    summary: 'Get a queue',
    description: 'Returns the lanes, current runs, waiting claims and next jobs of the queue.',
    query: z.strictObject({ limit: count(1, 200).optional() }),
    answers: { 200: queueDetail },
    handle: ({ engine, params, query }) => engine.queues.get(params.queue, query),
  }),

  patch: route('PATCH /v1/queues/:queue', {
    scope: 'admin',
    summary: 'Update the settings of a queue',
    description: 'Omitted settings stay unchanged.',
    query: z.strictObject({
      details: flag.optional().describe('true to return the previous settings in `was`'),
    }),
    body: queuePatch,
    answers: { 200: patchedQueue },
    handle: ({ engine, params, query, body }) => engine.queues.update(params.queue, body, query),
  }),

  claim: route('POST /v1/queues/:queue/claim', {
    scope: 'work',
    summary: 'Claim runs for a pull worker',
    description: 'Returns claimed jobs, or 204 if there is no work. `wait` is the maximum time to wait for work.',
    body: claimOptions,
    answers: { 200: z.object({ runs: z.array(snapshot), signal: orders.optional() }), 204: z.null() },
    named: { 204: 'No work is available' },
    listens: true,
    handle: async ({ engine, params, body, call, c }) => {
      let signal: z.output<typeof orders> | undefined
      const onSignal = (word: typeof signal) => {
        signal = word
      }
      const runs = await engine.runs.claim(params.queue, body, { ...call, signal: c.req.raw.signal, onSignal })
      return runs.length > 0 || signal ? { runs, signal } : reply(204, null)
    },
  }),
}
