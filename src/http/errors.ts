import { errorKindInput, errorKindMuted, errorPage, errorQuery } from '../core/schemas.ts'
import { route } from './route.ts'

export const errors = {
  list: route('GET /v1/errors', {
    scope: 'read',
    summary: 'List failed jobs by kind of error',
    description:
      'Returns the most frequent kind first. With `since`, each call checks up to 1,000 failed jobs, and all numbers are about these jobs.',
    query: errorQuery,
    answers: { 200: errorPage },
    handle: ({ engine, query }) => engine.errors.list(query),
  }),

  patch: route('PATCH /v1/errors/:kind', {
    scope: 'admin',
    summary: 'Mute or unmute a kind of error',
    description: 'Muted kinds are hidden, unless a request includes them.',
    body: errorKindInput,
    answers: { 200: errorKindMuted },
    handle: ({ engine, params, body, caller }) => engine.errors.mute(params.kind, { ...body, by: caller!.name }),
  }),
}
