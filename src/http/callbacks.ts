// Callbacks: how telling of ends goes, and once more for those that failed.

import * as z from 'zod'
import { callbackState, callbackView, count, cursor, stepped } from '../core/schemas.ts'
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
        limit: count(1, 1_000).optional(),
        cursor: cursor.optional(),
      }),
      answers: { 200: z.object({ callbacks: z.array(callbackView), cursor: z.string().nullable() }) },
    },
    ({ engine, query }) => engine.callbacks(query),
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
