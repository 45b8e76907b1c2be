import * as z from 'zod'
import { found, label } from '../core/schemas.ts'
import { route } from './route.ts'

export const find = {
  find: route('GET /v1/find', {
    scope: 'read',
    summary: 'Search jobs, queues, limits, groups and channels by name',
    description: 'Finds jobs by id or by the beginning of an alias, and everything else by any part of its name.',
    query: z.strictObject({ q: label }),
    answers: { 200: found },
    handle: ({ engine, query }) => engine.search(query.q),
  }),
}
