// Whether everything in Redis is as it must be.

import * as z from 'zod'
import { cursor } from '../core/schemas.ts'
import { route } from './route.ts'

export const doctor = {
  examine: route(
    {
      method: 'GET',
      path: '/v1/doctor',
      scope: 'read',
      summary: 'Looks for what is not as it must be, a slice of the jobs at a time',
      query: z.strictObject({ cursor: cursor.optional() }),
      answers: {
        200: z.object({
          faults: z.array(z.object({ who: z.string(), what: z.string() })),
          jobs: z.int(),
          cursor: z.string().nullable(),
        }),
      },
    },
    ({ engine, query }) => engine.examine(query.cursor),
  ),
}
