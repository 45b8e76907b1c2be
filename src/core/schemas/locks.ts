import * as z from 'zod'
import { positive } from './values.ts'

export const lockInput = z.strictObject({ ttl: positive })
export const lockToken = z.string().min(1).max(255)

export const failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    path: z.array(z.union([z.string(), z.number()])).optional(),
    retryAfter: z.number().optional(),
    schema: z
      .object({
        class: z.string(),
        current: z.string().describe('hash of the schema of the class'),
        built: z.string().describe('hash of the schema that the caller was built against'),
      })
      .optional()
      .describe('schema hashes that differ. Present if the code is SCHEMA_CHANGED'),
    doc_url: z.string().describe('page that explains the code'),
  }),
})
