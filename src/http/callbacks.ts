// Callbacks: how telling of ends goes, and once more for those that failed.

import * as z from 'zod'
import { callbackState, callbackTry, callbackView, count, cursor, httpUrl, label, stepped } from '../core/schemas.ts'
import { route } from './route.ts'

export const callbacks = {
  list: route(
    {
      method: 'GET',
      path: '/v1/callbacks',
      scope: 'read',
      summary: 'Lists callbacks, newest first; with a state, those that are in it',
      query: z.strictObject({
        state: callbackState.optional(),
        host: label.optional().meta({ description: 'only those that go to this host' }),
        limit: count(1, 1_000).optional(),
        cursor: cursor.optional(),
      }),
      answers: { 200: z.object({ callbacks: z.array(callbackView), cursor: z.string().nullable() }) },
    },
    ({ engine, query }) => engine.callbacks(query),
  ),

  counts: route(
    {
      method: 'GET',
      path: '/v1/callbacks/counts',
      scope: 'read',
      summary: 'Tells how many callbacks are in each state',
      answers: { 200: z.object({ counts: z.record(callbackState, z.int()) }) },
    },
    async ({ engine }) => ({ counts: await engine.callbackCounts() }),
  ),

  tries: route(
    {
      method: 'GET',
      path: '/v1/callbacks/:job/tries',
      scope: 'read',
      summary: "Shows the last ten tries of telling of a job's end, newest first, with what was answered",
      answers: { 200: z.object({ tries: z.array(callbackTry) }) },
    },
    ({ engine, params }) => engine.tries(params.job),
  ),

  secret: route(
    {
      method: 'GET',
      path: '/v1/webhooks/secret',
      scope: 'admin',
      summary:
        'Shows the secret with which calls to an address are signed: for whoever receives them, and for nobody else',
      query: z.strictObject({ url: httpUrl }),
      answers: { 200: z.object({ secrets: z.array(z.string()) }) },
    },
    ({ engine, query }) => engine.endpointSecrets(query.url),
  ),

  resend: route(
    {
      method: 'POST',
      path: '/v1/callbacks/:job/resend',
      scope: 'write',
      summary: 'Sends the callback of a job again, now, with the same body and id',
      answers: { 200: stepped },
    },
    ({ engine, params, call }) => engine.resend(params.job, call),
  ),
}
