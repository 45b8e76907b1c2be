import { shortForm } from '../core/jq.ts'
import { changes, heartbeat, snapshot } from '../core/run.ts'
import { data, describer, keyScheme } from './openapi.ts'
import type { Content, Schema } from './openapi-types.ts'

const about =
  'sidejob posts a snapshot of the job to the URL of its class (PUT /v1/workers/{queue}/{class}), and applies all ' +
  'changes in the response, or none. A run can be sent more than once; requests with the same ' +
  'webhook-id belong to the same run. Redirects are not followed. A response has at most 10 MiB and must arrive within run.timeout.'

const answered =
  'Changes of the run or their short form, in JSON or MessagePack according to Content-Type. An empty body completes the run. Any other body ' +
  'fails the run without a retry.'

const ends = changes.shape.end.options.filter((end) => end !== 'checkpoint')

const header = (name: string, description: string, schema: Schema = { type: 'string' }) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

const signed = [
  header('webhook-id', 'Token of the run, for commits and heartbeats. A repeated request has the same token.'),
  header(
    'webhook-timestamp',
    'Time of the request, in seconds since 1970. Refuse requests that are more than five minutes early or late.',
    {
      type: 'string',
      pattern: '^[0-9]+$',
    },
  ),
  header(
    'webhook-signature',
    'Signatures according to Standard Webhooks, separated by spaces; one valid signature is enough. A signature is "v1," and the base64 of HMAC-SHA256 over "<id>.<timestamp>.<body>".',
  ),
]

const retryAfter = {
  'Retry-After': { description: 'Earliest time of the retry, as seconds or a date.', schema: { type: 'string' } },
}
const retried = {
  description:
    'The run failed and is retried according to the retry policy of the job. The failure also counts for the host: after five consecutive failures, sidejob does not call the host for some time, and jobs for the host wait without using an attempt.',
  headers: retryAfter,
}
const final = {
  description: 'The run failed and is not retried. The error of the job contains the beginning of the body.',
}

const json = (schema: Schema): Content => ({ 'application/json': { schema } })

const later = (verb: 'commit' | 'heartbeat', publicUrl: string, summary: string, body: Schema) => ({
  [`${publicUrl}/v1/runs/{$request.header.webhook-id}/${verb}`]: {
    post: {
      summary,
      security: [{ key: ['work'] }],
      requestBody: { required: verb === 'commit', content: data(body) },
      responses: {
        200: { description: 'Accepted' },
        410: {
          description: 'The lease of the run has expired, or the run was already committed. Nothing was changed.',
        },
        default: { description: 'Error. Nothing was changed.' },
      },
    },
  },
})

const performed = (snapshotSchema: Schema, answerSchema: Schema) => ({
  operationId: 'perform',
  summary: 'Perform one run of a job',
  parameters: signed,
  requestBody: { required: true, content: json(snapshotSchema) },
  responses: {
    200: { description: answered, content: data(answerSchema) },
    202: {
      description:
        'The worker commits later with the token of the run. Until then, it must send a heartbeat at least once a minute; otherwise the run is lost and repeated.',
    },
    '3XX': final,
    408: retried,
    425: retried,
    429: retried,
    '4XX': final,
    '5XX': retried,
    default: {
      description:
        'Without a response, the run is retried. A response after run.timeout is too late: the run fails with the reason timeout.',
    },
  },
})

export const workerDocument = (publicUrl: string) => {
  const schemas: Record<string, Schema> = {}
  const schemaOf = describer(schemas)
  const ending = { allOf: [schemaOf(changes), { type: 'object', properties: { end: { enum: ends } } }] }
  const perform = performed(schemaOf(snapshot), { anyOf: [ending, schemaOf(shortForm)] })
  const commit = 'Commit the changes of a run; with `end: checkpoint`, the run continues'
  const callbacks = {
    commit: later('commit', publicUrl, commit, schemaOf(changes)),
    heartbeat: later('heartbeat', publicUrl, 'Extend the lease of the run', schemaOf(heartbeat)),
  }
  return {
    openapi: '3.1.0',
    info: { title: 'sidejob: requests to push workers', version: '1', description: about },
    paths: { '/': { post: { ...perform, callbacks } } },
    components: { schemas, securitySchemes: { key: keyScheme } },
  }
}
