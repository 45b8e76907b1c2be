import * as z from 'zod'
import { examined } from '../core/examined.ts'
import { done, duration, flag, label, moment } from '../core/schemas.ts'
import type { Engine } from '../engine/index.ts'
import { docs, errors } from './docs.ts'
import { reply, route } from './route.ts'
import { workerDocument } from './worker-document.ts'

/** `lost`: ids of the jobs that a restore of Redis removed. */
const restored = z.object({
  times: z.int(),
  noticedAt: z.int(),
  lost: z.object({ from: z.int(), to: z.int() }),
})

const problem = z.object({
  of: z.enum(['redis', 'qstash', 'data', 'history']),
  code: z.string(),
  message: z.string(),
  remedy: z.string().describe('next step for the operator'),
  inARow: z.int().optional(),
})
const health = z.object({
  ok: z.boolean(),
  redis: z.boolean(),
  ms: z.int().optional().describe('response time of Redis in milliseconds'),
  tickAt: moment
    .nullable()
    .optional()
    .describe('time of the last tick, accurate to two minutes; null before the first tick; absent for tenants'),
  tickBy: z
    .enum(['cron', 'qstash'])
    .nullable()
    .optional()
    .describe("source of the last tick: Cloudflare's cron trigger or QStash's schedule"),
  bellAt: moment.nullable().optional().describe('time at which QStash last started a lane'),
  version: z.string().optional().describe('version of sidejob; shown only to callers with an API key'),
  restored: restored.optional(),
  examined: examined.optional().describe('faults that the doctor has found; absent if the doctor has never run'),
  problems: z.array(problem).optional(),
})

type Health = Awaited<ReturnType<Engine['health']>>

const HEALTH_FRESH_MS = 1_000
const lastHealth = new WeakMap<Engine, { at: number; health: Health }>()

/** Callers without a key may send any number of these requests, so all requests within a second share one command. */
async function healthOf(engine: Engine): Promise<Health> {
  const last = lastHealth.get(engine)
  if (last && Math.abs(Date.now() - last.at) < HEALTH_FRESH_MS) return last.health
  const health = await engine.health()
  lastHealth.set(engine, { at: Date.now(), health })
  return health
}

const MAX_PIN = 2_100

export const system = {
  health: route('GET /health', {
    scope: 'open',
    summary: 'Check the health of the deployment',
    description:
      '`details=true` adds the response time of Redis, the last tick, the last bell and the faults that the doctor found. An API key is optional; requests with an API key also return the version. Each isolate checks Redis at most once per second.',
    greets: true,
    query: z.object({ details: flag.optional() }),
    answers: { 200: health, 503: health },
    named: { 503: 'Unhealthy' },
    handle: async ({ engine, caller, query: { details } }) => {
      const { ms, tickAt, tickBy, bellAt, examined, version, ...found } = await healthOf(engine)
      const answer = {
        ...found,
        ...(caller ? { version } : {}),
        ...(details ? { ms, tickAt, tickBy, bellAt, examined } : {}),
      }
      if (found.ok) return reply(200, answer, { 'server-timing': `redis;desc="a round trip to Redis";dur=${ms}` })
      return reply(503, answer)
    },
  }),

  llms: route('GET /llms.txt', {
    scope: 'open',
    summary: 'Describe this deployment for programs',
    description: 'Returns a short Markdown description of the routes of this API, for language models.',
    answers: { 200: z.string() },
    media: 'text/plain',
    handle: async ({ guide }) => new Response(guide(), { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  }),

  openapi: route('GET /openapi.json', {
    scope: 'open',
    summary: 'Get the OpenAPI document of this API',
    description: 'Returns this document: OpenAPI 3.1, generated from the routes that this deployment serves.',
    answers: { 200: z.record(z.string(), z.unknown()) },
    handle: async ({ document }) => document(),
  }),

  workerOpenapi: route('GET /worker.openapi.json', {
    scope: 'open',
    summary: 'Get the OpenAPI document of push workers',
    description: 'Describes the requests that a push worker receives and the responses that it must send.',
    answers: { 200: z.record(z.string(), z.unknown()) },
    handle: async ({ deps }) => workerDocument(deps.publicUrl),
  }),

  docs: route('GET /docs', {
    scope: 'open',
    summary: 'Get the API reference as HTML',
    description: 'Returns this document as a web page without scripts.',
    answers: { 200: z.string() },
    media: 'text/html',
    handle: async ({ document }) => docs(document()),
  }),

  errors: route('GET /docs/errors', {
    scope: 'open',
    summary: 'Get the list of errors as HTML',
    description: 'The `doc_url` of each error links to this page.',
    answers: { 200: z.string() },
    media: 'text/html',
    handle: async () => errors(),
  }),

  dispatch: route('POST /dispatch/:queue', {
    scope: 'signed',
    summary: 'Serve a queue',
    description: 'QStash calls this route when a queue has work.',
    body: z.strictObject({ bell: label }),
    answers: { 200: z.object({ runs: z.int(), ended: z.string() }) },
    handle: ({ engine, params, body }) => engine.dispatch(params.queue, body.bell),
  }),

  perform: route('POST /perform', {
    scope: 'version',
    summary: 'Perform the run of a pinned job',
    description:
      'Another version of the same deployment calls this route with a claimed job that is pinned to this version.',
    body: z.looseObject({ id: z.int(), document: z.looseObject({ pinnedTo: z.string().max(MAX_PIN).optional() }) }),
    answers: { 200: z.looseObject({}) },
    handle: async ({ engine, bytes, c }) => Response.json(await engine.performPinned(c.req.raw.headers, bytes)),
  }),

  tick: route('POST /tick', {
    scope: 'signed',
    summary: 'Run the tick',
    description:
      'A schedule of QStash calls this route. The cron trigger of Cloudflare runs the tick without this route.',
    answers: {
      200: z.object({
        rung: z.array(z.string()),
        more: z.boolean(),
        faults: z
          .array(z.string())
          .optional()
          .describe(
            'jobs (ids), queues (`q:<name>`) and limits (`k:<key>`) that the tick skipped because their data is damaged',
          ),
      }),
    },
    handle: ({ engine, deps }) => deps.tenants?.tick() ?? engine.tick(),
  }),

  advance: route('POST /v1/test/clock', {
    scope: 'admin',
    summary: 'Advance the test clock',
    description: 'Available in development and tests if `SIDEJOB_TEST_CLOCK=1`.',
    body: z.strictObject({ advance: duration }),
    answers: { 200: done },
    only: 'clock',
    handle: async ({ deps, body }) => deps.clock!.advance(body.advance),
  }),
}
