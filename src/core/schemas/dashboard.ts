// Data of the dashboard besides jobs: shared views of the list of jobs, and breakers of hosts.

import * as z from 'zod'
import { moment } from './values.ts'

const VIEW_QUERY = 2_000

export const viewInput = z.strictObject({
  query: z
    .string()
    .max(VIEW_QUERY)
    .refine(
      (text) => !text.startsWith('?'),
      'expected a query without its question mark, such as status=failed&queue=media',
    )
    .meta({ description: 'query of the jobs page, such as status=failed&queue=media' }),
})

export const viewList = z.object({
  views: z.array(z.object({ name: z.string(), query: z.string(), by: z.string(), at: moment })),
})

export const breakerOf = z.enum(['callbacks', 'workers'])

export const breakerList = z.object({
  breakers: z.array(
    z.object({
      host: z.string(),
      of: breakerOf.meta({ description: 'kind of calls: callbacks, or runs of push workers' }),
      failures: z.int().meta({ description: 'consecutive failures' }),
      // Then one call may try the host; in the past, the next call may.
      until: moment,
    }),
  ),
})
