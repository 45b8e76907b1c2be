import * as z from 'zod'
import { callbackState, callbackTry, callbackView, httpUrl, label, page, stepped } from '../core/schemas.ts'
import { route } from './route.ts'

export const callbacks = {
  list: route('GET /v1/callbacks', {
    scope: 'read',
    summary: 'List callbacks',
    description: 'Returns the newest callbacks first. `state` selects the callbacks in one state.',
    query: z.strictObject({
      state: callbackState.optional(),
      host: label.optional().describe('only callbacks to this host'),
      ...page,
    }),
    answers: {
      200: z.object({ callbacks: z.array(callbackView), cursor: z.string().nullable(), newest: z.int().optional() }),
    },
    handle: ({ engine, query }) => engine.callbacks.list(query),
  }),

  counts: route('GET /v1/callbacks/counts', {
    scope: 'read',
    summary: 'Count callbacks by state',
    description: 'Returns the number of callbacks in each state.',
    answers: { 200: z.object({ counts: z.record(callbackState, z.int()) }) },
    handle: async ({ engine }) => ({ counts: await engine.callbacks.counts() }),
  }),

  tries: route('GET /v1/callbacks/:job/tries', {
    scope: 'read',
    summary: "List the deliveries of a job's callback",
    description: 'Returns the last ten attempts, newest first, with the error of each failed attempt.',
    answers: { 200: z.object({ tries: z.array(callbackTry) }) },
    handle: ({ engine, params }) => engine.callbacks.tries(params.job),
  }),

  secret: route('GET /v1/webhooks/secret', {
    scope: 'admin',
    summary: 'Get the signing secret for a URL',
    description:
      'The server at this URL needs the secret to verify our signatures. Share the secret only with that server.',
    query: z.strictObject({ url: httpUrl }),
    answers: { 200: z.object({ secrets: z.array(z.string()) }) },
    handle: ({ engine, query }) => engine.callbacks.secrets(query.url),
  }),

  resend: route('POST /v1/callbacks/:job/resend', {
    scope: 'write',
    summary: 'Resend the callback of a job',
    description: 'The request has the same body and id as the first delivery.',
    answers: { 200: stepped },
    handle: ({ engine, params, call }) => engine.callbacks.resend(params.job, call),
  }),
}
