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
    title: 'JQ worker: what the master calls',
    version: '1',
    description:
      'The master posts a job to the URL with which its name is registered, signed by Standard Webhooks; webhook-id is ' +
      'the token of the attempt. The worker answers 200 with a result map, or 202 and posts the result map later to ' +
      '/jq/jobs/{id}/result with that webhook-id. Any other status, and any other body, is a failure that is retried; ' +
      '410, or 489 with Upstash-NonRetryable-Error: true, is not retried.',
  },
  paths: {
    '/': {
      post: {
        operationId: 'perform',
        summary: 'Perform one attempt of a job',
        description: 'The id is the same for every attempt.',
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
