// Errors by kind.

import { errorKindInput, errorKindMuted, errorPage, errorQuery } from '../core/schemas.ts'
import { route } from './route.ts'

export const errors = {
  list: route(
    {
      method: 'GET',
      path: '/v1/errors',
      scope: 'read',
      summary: 'Shows failed jobs by kinds of errors, the most frequent first: of the newest 1,000 that fit',
      query: errorQuery,
      answers: { 200: errorPage },
    },
    ({ engine, query }) => engine.errors(query),
  ),

  patch: route(
    {
      method: 'PATCH',
      path: '/v1/errors/:kind',
      scope: 'admin',
      summary: 'Mutes a kind of errors, which is then not told of unless it is asked for, or unmutes it',
      body: errorKindInput,
      answers: { 200: errorKindMuted },
    },
    ({ engine, params, body, caller }) => engine.muteError(params.kind, { ...body, by: caller!.name }),
  ),
}
