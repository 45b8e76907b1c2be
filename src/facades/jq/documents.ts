import * as z from 'zod'
import { resultMap, workerCall } from '../../core/jq.ts'
import type { OpenApi } from '../../http/openapi-types.ts'

const MSGPACK = 'application/vnd.msgpack'

export const pusherDocument = (whole: OpenApi): OpenApi => ({
  ...whole,
  info: { ...whole.info, title: 'JQ master: the API for pushers' },
  paths: Object.fromEntries(Object.entries(whole.paths).filter(([path]) => path.startsWith('/jq/'))),
})

const schema = (shape: z.ZodType): unknown => {
  const { $schema, ...described } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }) as Record<
    string,
    unknown
  >
  return described
}

const content = (shape: z.ZodType) => ({ [MSGPACK]: { schema: schema(shape) } })

export const workerDocument = () => ({
  openapi: '3.1.0',
  info: {
    title: 'JQ worker: requests of the master',
    version: '1',
    description:
      'The master posts each job to the URL that is registered under its name, signed according to Standard Webhooks. ' +
      'The header webhook-id is the token of the attempt. The worker responds with 200 and a result map, or with 202 and ' +
      'later posts the result map to /jq/jobs/{id}/result with the same webhook-id. Any other status or body fails the ' +
      'attempt, which is retried; 410, or 489 with Upstash-NonRetryable-Error: true, fails it without a retry.',
  },
  paths: {
    '/': {
      post: {
        operationId: 'perform',
        summary: 'Perform one attempt of a job',
        description: 'All attempts of a job have the same id.',
        requestBody: { required: true, content: content(workerCall) },
        responses: {
          200: { description: 'The result', content: content(resultMap) },
          202: { description: 'The result will be posted to the master' },
          default: { description: 'The attempt has failed' },
        },
      },
    },
  },
})
