import * as z from 'zod'
import { auditPage, count, logCursor } from '../core/schemas.ts'
import { route } from './route.ts'

export const audit = {
  read: route('GET /v1/audit', {
    scope: 'admin',
    summary: 'List the audit log',
    description:
      'Changes by keys with write or admin, recorded before they are carried out, except what creates jobs and moves data. Keeps about the last 10,000.',
    query: z.strictObject({ limit: count(1, 1_000).optional(), cursor: logCursor.optional() }),
    answers: { 200: auditPage },
    handle: ({ engine, query }) => engine.audit.read(query),
  }),
}
