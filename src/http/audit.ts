import * as z from 'zod'
import { auditPage, logPaging } from '../core/schemas.ts'
import { route } from './route.ts'

export const audit = {
  read: route('GET /v1/audit', {
    scope: 'admin',
    summary: 'List the audit log',
    description:
      'Returns the changes that keys with the scope write or admin made, newest first. About 10,000 are kept. Not included are requests that create jobs, write or read values, set aliases or locks, publish or log. Requests to routes of other systems are included only if they need the scope admin. Changes are recorded before they are made.',
    query: z.strictObject(logPaging),
    answers: { 200: auditPage },
    handle: ({ engine, query }) => engine.audit.read(query),
  }),
}
