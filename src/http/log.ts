import * as z from 'zod'
import { className, closed, label, logPage, logPaging, pathRef, time } from '../core/schemas.ts'
import { route } from './route.ts'

export const log = {
  write: route('POST /v1/log', {
    scope: 'write',
    summary: 'Create a log entry',
    description: 'An entry is any JSON value. Above 16 KiB, only its size is stored.',
    body: z.strictObject({ entry: closed }),
    handle: ({ engine, body, call }) => engine.log.write(body.entry, call),
  }),

  read: route('GET /v1/log', {
    scope: 'read',
    summary: 'List the log',
    description: 'Returns the newest entries first.',
    query: z.strictObject({
      job: pathRef.optional(),
      class: className.optional().describe('only entries of jobs of this class'),
      level: label.optional(),
      text: z.string().min(1).max(200).optional().describe('only entries whose JSON contains this text, ignoring case'),
      since: time.optional().describe('only entries at or after this time'),
      ...logPaging,
    }),
    answers: { 200: logPage },
    handle: ({ engine, query }) => engine.log.read(query),
  }),
}
