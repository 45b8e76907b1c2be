import { shortForm } from '../core/jq.ts'
import { changes, heartbeat, snapshot } from '../core/run.ts'
import { data, describer, keyScheme } from './openapi.ts'
import type { Content, Schema } from './openapi-types.ts'

const about =
  'We post a snapshot of the job to the URL with which its class is registered (PUT /v1/workers/{queue}/{class}), and ' +
  'commit the changes that the worker answers: all of them, or none. A call is made at least once for a run; the same ' +
  'webhook-id is the same run. Redirects are not followed. An answer may have 10 MiB, and comes within run.timeout.'

const answered =
  'Committed, in JSON or MessagePack by its Content-Type. An empty body means: completed. A body that is neither changes nor ' +
  'the short form fails the run without a retry.'

const ends = changes.shape.end.options.filter((end) => end !== 'checkpoint')

const header = (name: string, description: string, schema: Schema = { type: 'string' }) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

const signed = [
  header('webhook-id', 'The token of the run: for commits and heartbeats, and to know a call that comes twice.'),
  header('webhook-timestamp', 'Seconds since 1970. Refuse calls that are more than five minutes off.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  header(
    'webhook-signature',
    'Standard Webhooks: v1, and the base64 of HMAC-SHA256 over "<id>.<timestamp>.<body>". Two, separated by a space, during a rotation; one valid signature is enough.',
  ),
]

const retryAfter = {
  'Retry-After': { description: 'Earliest time of the retry: seconds, or a date.', schema: { type: 'string' } },
}
const retried = {
  description:
    'Failed; retried by the retry policy of the job. Also counts as a failure of the host: after five in a row the host is not called for a while, and its jobs wait without using an attempt.',
  headers: retryAfter,
}
const final = { description: 'Failed without a retry; the beginning of the body is kept in the error of the job.' }

const json = (schema: Schema): Content => ({ 'application/json': { schema } })

const later = (verb: 'commit' | 'heartbeat', publicUrl: string, summary: string, body: Schema) => ({
  [`${publicUrl}/v1/runs/{$request.header.webhook-id}/${verb}`]: {
    post: {
      summary,
      security: [{ key: ['work'] }],
      requestBody: { required: verb === 'commit', content: data(body) },
      responses: {
        200: { description: 'Accepted' },
        410: { description: 'The run is lost: its lease expired, or it was already committed. Nothing was changed.' },
        default: { description: 'Error; the request had no effect' },
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
        'The worker commits later, by the run’s token; until then it sends a heartbeat at least once a minute, or the run is lost and repeated.',
    },
    '3XX': final,
    408: retried,
    425: retried,
    429: retried,
    '4XX': final,
    '5XX': retried,
    default: {
      description: 'A missing answer is retried; an answer later than run.timeout fails with the reason timeout.',
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
    info: { title: 'sidejob: what a push worker answers', version: '1', description: about },
    paths: { '/': { post: { ...perform, callbacks } } },
    components: { schemas, securitySchemes: { key: keyScheme } },
  }
}
