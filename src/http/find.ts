// Finding things by their names.

import * as z from 'zod'
import { found, label } from '../core/schemas.ts'
import { route } from './route.ts'

export const find = {
  find: route(
    {
      method: 'GET',
      path: '/v1/find',
      scope: 'read',
      summary:
        'Finds a job by its id or the beginning of an alias, and queues, limits, groups and channels by a part of their names',
      query: z.strictObject({ q: label }),
      answers: { 200: found },
    },
    ({ engine, query }) => engine.search(query.q),
  ),
}
