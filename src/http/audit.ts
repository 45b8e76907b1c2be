import * as z from 'zod'
import { auditPage, count, logCursor } from '../core/schemas.ts'
import { route } from './route.ts'

export const audit = {
  read: route('GET /v1/audit', {
    scope: 'admin',
    summary: 'List the audit log',
    description:
      'Lists about the last 10,000 changes by keys with the scope write or admin, except requests that create jobs or move data. A change is recorded before it is carried out.',
    query: z.strictObject({ limit: count(1, 1_000).optional(), cursor: logCursor.optional() }),
    answers: { 200: auditPage },
    handle: ({ engine, query }) => engine.audit.read(query),
  }),
}
