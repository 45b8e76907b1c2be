import type { Context } from 'hono'
import * as z from 'zod'
import { raw } from '../../core/codec/value.ts'
import { missing, SidejobError } from '../../core/errors.ts'
import { check } from '../../core/issues.ts'
import { isId } from '../../core/job.ts'
import { readResultMap, resultMap } from '../../core/jq.ts'
import { closedIn } from '../../core/schemas.ts'
import { iso } from '../../core/time.ts'
import type { JobView, Result } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { type Format, formatOf, mediaTypes, readBody, respond, retryHeaders, wanted } from '../../http/format.ts'
import { route } from '../../http/route.ts'
import { pusherDocument, workerDocument } from './documents.ts'
import { constraint, failure, made, pending, pushed, timeoutOf, worker } from './shapes.ts'

const QUEUE = 'jq'

// The answer is MessagePack, unless the client accepts or sends JSON.
const answerFormat = (c: Context): Format => {
  const accept = c.req.header('accept') ?? ''
  const names = Object.keys(mediaTypes).some((type) => accept.toLowerCase().includes(type))
  if (names) return wanted(accept)
  return /json/i.test(c.req.header('content-type') ?? '') ? 'json' : 'msgpack'
}

const answer = (c: Context, status: number, tree: unknown, headers?: Record<string, string>): Response =>
  respond(tree, answerFormat(c), status, headers)

const facade = {
  failure,
  fail: (c: Context, error: SidejobError): Response =>
    answer(c, error.status, { error: error.code, message: error.message }, retryHeaders(error)),
}

/** Ignores unknown members, like the original service. */
function bodyOf<Schema extends z.ZodType>(c: Context, bytes: Uint8Array, schema: Schema): z.output<Schema> {
  const format = formatOf(c.req.header('content-type') ?? 'application/vnd.msgpack')
  return check(schema, readBody(bytes, format, closedIn(schema)))
}

const unknownJob = (id: string) => new SidejobError('NOT_FOUND', `no job has the id ${id.slice(0, 60)}`)

async function jobOf(engine: Engine, id: string): Promise<JobView | undefined> {
  if (!isId(id)) throw unknownJob(id)
  const found = await engine.jobs.get(id).catch(missing)
  if (found ? found.queue !== QUEUE : !(await engine.jobs.existed(id))) throw unknownJob(id)
  return found
}

function mapOf(result: Result): Record<string, unknown> {
  const finished_at = result.saidAt ?? iso(result.finishedAt)
  if (result.type === 'success') return { type: 'success', finished_at, result: raw(result.result) }
  return {
    type: 'failure',
    reason: result.reason,
    finished_at,
    should_retry: result.retry !== false,
    error: result.error === null ? null : raw(result.error),
    message: result.message,
  }
}

const shownConstraint = z.object({ name: z.string() })

export const jq = {
  worker: route('PUT /jq/workers/:name', {
    scope: 'admin',
    summary: 'Register or replace a worker',
    description: 'Jobs with this name are sent to the URL of the worker.',
    body: worker,
    answers: { 200: z.object({ name: z.string(), url: z.string() }) },
    facade,
    handle: async ({ engine, params, bytes, c }) => {
      const { url, secret } = bodyOf(c, bytes, worker)
      await engine.workers.register(QUEUE, params.name, { push: { url, ...(secret ? { secret } : {}), format: 'jq' } })
      return answer(c, 200, { name: params.name, url })
    },
  }),

  push: route('POST /jq/jobs', {
    scope: 'write',
    summary: 'Create a job',
    description: 'The job is sent to the worker that is registered under its name.',
    body: pushed,
    answers: { 201: made },
    facade,
    handle: async ({ engine, bytes, call, c }) => {
      const { name, argument, priority, max_retry, keep_result, timeout } = bodyOf(c, bytes, pushed)
      const job = { queue: QUEUE, class: name, args: argument, priority, keepResult: keep_result ?? false }
      const retry = { max: max_retry ?? 0 }
      const { jobs } = await engine.jobs.enqueue([{ ...job, retry, timeout: timeoutOf(timeout) }], call)
      return answer(c, 201, { id: String(jobs[0]!.id) })
    },
  }),

  result: route('GET /jq/jobs/:id/result', {
    scope: 'write',
    summary: 'Take the result map',
    description: 'Returns the result map once. Returns nil if the result was already taken or was not kept.',
    answers: { 200: resultMap.nullable(), 202: pending },
    facade,
    handle: async ({ engine, params, call, c }) => {
      if (!(await jobOf(engine, params.id))) return answer(c, 200, null)
      const found = await engine.jobs.result(params.id, { take: c.req.raw.method === 'GET' }, call)
      if (!found.ended) return answer(c, 202, { state: found.status })
      return answer(c, 200, found.result && mapOf(found.result))
    },
  }),

  settle: route('POST /jq/jobs/:id/result', {
    scope: 'work',
    summary: 'Submit the result map of an attempt',
    description: 'Needed if the worker answered with 202. The header `webhook-id` identifies the attempt.',
    body: resultMap,
    answers: { 200: z.object({ state: z.string() }) },
    facade,
    handle: async ({ engine, params, bytes, c }) => {
      await jobOf(engine, params.id)
      const token = c.req.header('webhook-id') ?? ''
      if (!token.startsWith(`${params.id}.`))
        throw new SidejobError(
          'BAD_REQUEST',
          `webhook-id: expected the webhook-id of the request that started this attempt, got ${token || 'none'}`,
        )
      const format = formatOf(c.req.header('content-type') ?? 'application/vnd.msgpack')
      const changes = readResultMap((closed) => readBody(bytes, format, closed))
      const { status } = await engine.runs.commit(token, changes)
      return answer(c, 200, { state: status })
    },
  }),

  constraint: route('PUT /jq/constraints/:name', {
    scope: 'admin',
    summary: 'Create or replace a constraint',
    description: 'Limits the rate or the concurrency (or both) of the jobs that its matcher selects.',
    body: constraint,
    answers: { 200: shownConstraint },
    facade,
    handle: async ({ engine, params, bytes, c }) => {
      const { match, rate, concurrency } = bodyOf(c, bytes, constraint)
      await engine.constraints.set(constraintName(params.name), {
        match: {
          queue: QUEUE,
          class: match.name,
          args: match.argument ?? match.parameter ?? {},
        },
        ...(rate ? { rate: { limit: rate.limit, period: Math.round(rate.period * 1000) } } : {}),
        concurrency,
      })
      return answer(c, 200, { name: params.name, match, rate, concurrency })
    },
  }),

  removeConstraint: route('DELETE /jq/constraints/:name', {
    scope: 'admin',
    summary: 'Delete a constraint',
    description: 'Jobs that wait only because of the constraint become ready.',
    answers: { 200: shownConstraint },
    facade,
    handle: async ({ engine, params, c }) => {
      await engine.constraints.remove(constraintName(params.name))
      return answer(c, 200, { name: params.name })
    },
  }),

  openapi: route('GET /jq/openapi.json', {
    scope: 'read',
    summary: 'Get the OpenAPI document for clients',
    description: 'Describes the routes below `/jq`.',
    answers: { 200: z.record(z.string(), z.unknown()) },
    handle: async ({ document }) => pusherDocument(document()),
  }),

  workerOpenapi: route('GET /jq/worker.openapi.json', {
    scope: 'read',
    summary: 'Get the OpenAPI document for workers',
    description: 'Describes the requests that a worker receives and the responses that it must send.',
    answers: { 200: z.record(z.string(), z.unknown()) },
    handle: async () => workerDocument(),
  }),
}

const constraintName = (name: string): string => `jq:${name}`
