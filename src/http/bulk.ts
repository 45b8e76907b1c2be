import * as z from 'zod'
import { bulkInput, bulkPreview, cursor, enqueued, flag } from '../core/schemas.ts'
import { reply, route } from './route.ts'

export const bulk = {
  start: route('POST /v1/bulk', {
    scope: 'admin',
    summary: 'Retry, requeue, terminate, delete or move many jobs',
    description:
      'Creates a job that applies the action to all existing jobs that match a filter, or to at most 10,000 ids. `move` continues pinned jobs on another version, and skips running jobs.',
    query: z.strictObject({
      preview: flag.optional().describe('true for a dry run, which only counts the jobs that the action would change'),
      cursor: cursor.optional().describe('cursor from the previous preview. Applies if preview=true'),
    }),
    body: bulkInput,
    answers: { 200: bulkPreview, 201: enqueued },
    handle: async ({ engine, query, body, call }) =>
      query.preview
        ? engine.bulk.preview(body, { cursor: query.cursor })
        : reply(201, await engine.bulk.start(body, call)),
  }),
}
