// Errors by kind.

import { errorPage, errorQuery } from '../core/schemas.ts'
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
}
