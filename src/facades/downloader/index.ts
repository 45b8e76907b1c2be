import type { Context } from 'hono'
import * as z from 'zod'
import { missing, SidejobError } from '../../core/errors.ts'
import { askedAtOf, type Downloads } from '../../core/files.ts'
import type { JobView } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { retryHeaders } from '../../http/format.ts'
import { reply, route } from '../../http/route.ts'
import { jobOf, QUEUE, submission } from './given.ts'
import { argsOf, callbackStates, jobState, stateOf } from './shown.ts'
import { aggregations, components } from './stats.ts'

const statuses: Record<number, number> = { 422: 400, 415: 400 }

const failure = z.object({ error: z.string(), field: z.string().optional() })

const fail = (_: Context, error: SidejobError): Response => {
  const field = error.path?.join('.')
  return Response.json(
    { error: error.message, ...(field ? { field } : {}) },
    { status: statuses[error.status] ?? error.status, headers: retryHeaders(error) },
  )
}

export const wrongMethod = (path: string, error: SidejobError): Response | undefined =>
  path.startsWith('/downloader/') && error.code === 'WRONG_METHOD'
    ? new Response('Invalid request method', { status: 405 })
    : undefined

const facade = { facade: { failure, fail, json: true }, only: 'downloads' } as const
const open = { 'access-control-allow-origin': '*' }

async function find(engine: Engine, { files }: Downloads, id: string): Promise<JobView> {
  const job = await files.jobOf(id)
  const view = job && (await engine.jobs.get(String(job)).catch(missing))
  if (!view || view.queue !== QUEUE || (await files.idOf(job, askedAtOf(view, argsOf(view)))) !== id)
    throw new SidejobError('NOT_FOUND', 'there is no such job')
  return view
}

const DRAINED = 'downloader.drained'
const empty = z.null()

export const downloader = {
  download: route('POST /downloader/download', {
    ...facade,
    scope: 'write',
    summary: 'Download a URL',
    description: 'Downloads with the same aggregation share a limit. The callback, if any, reports the result.',
    body: submission,
    answers: { 201: z.object({ id: z.string() }) },
    handle: async ({ engine, deps, body, call }) => {
      const downloads = deps.downloads!
      const now = Date.now()
      const { jobs, existing } = await engine.jobs.enqueue([jobOf(body, downloads, now)], call)
      const { id } = jobs[0]!
      // A repeated request must return the same id, which contains the time of the first request.
      const askedAt = existing ? argsOf(await engine.jobs.get(String(id))).askedAt : now
      return reply(201, { id: await downloads.files.idOf(id, askedAt) })
    },
  }),

  retry: route('POST /downloader/retry/:file', {
    ...facade,
    scope: 'write',
    summary: 'Resend a failed callback',
    description:
      'Sends the callback of an ended download again. Fails with 400 unless the state of the callback is `Failed`.',
    answers: { 204: empty },
    handle: async ({ engine, deps, params, call }) => {
      const view = await find(engine, deps.downloads!, params.file)
      const state = callbackStates[view.callback?.state ?? ''] ?? ''
      // The text of the original service (docs/compat/downloader.md, row 16).
      if (state !== 'Failed') throw new SidejobError('BAD_REQUEST', `Error with callback state of the job: ${state}`)
      await engine.callbacks.resend(String(view.id), call)
      return reply(204, null)
    },
  }),

  job: route('GET /downloader/jobs/:file', {
    ...facade,
    scope: 'read',
    summary: 'Get a download and its callback',
    description: 'Returns the state of the download and of its callback.',
    answers: { 200: jobState },
    handle: async ({ engine, deps, params }) => stateOf(params.file, await find(engine, deps.downloads!, params.file)),
  }),

  cancel: route('DELETE /downloader/jobs/:file', {
    ...facade,
    scope: 'write',
    summary: 'Cancel a download',
    description: 'Fails with 409 if the download has completed or was cancelled.',
    answers: { 204: empty },
    handle: async ({ engine, deps, params, call }) => {
      const { id } = await find(engine, deps.downloads!, params.file)
      await engine.jobs.cancel(String(id), call)
      return reply(204, null)
    },
  }),

  again: route('POST /downloader/jobs/:file/download', {
    ...facade,
    scope: 'write',
    summary: 'Retry a download now',
    description: 'A waiting download starts now. An ended download runs again and sends another callback.',
    answers: { 204: empty },
    handle: async ({ engine, deps, params, call }) => {
      const { id } = await find(engine, deps.downloads!, params.file)
      await engine.jobs.run(String(id), { force: true }, call)
      return reply(204, null)
    },
  }),

  stats: route('GET /downloader/stats/:component', {
    ...facade,
    scope: 'read',
    summary: 'Get statistics of the processor or the notifier',
    description: '`processor` returns today’s downloads, `notifier` today’s callbacks.',
    answers: { 200: z.record(z.string(), z.number()) },
    handle: async ({ engine, params }) => {
      const { component } = params
      const stats = Object.hasOwn(components, component) ? await components[component]!(engine) : undefined
      if (!stats) throw new SidejobError('NOT_FOUND', `Could not find stats for entity ${component}`)
      return Response.json(stats, { headers: open })
    },
  }),

  aggregations: route('GET /downloader/dashboard/aggregations', {
    ...facade,
    scope: 'read',
    summary: 'List aggregations',
    description: 'Returns the number of waiting jobs of each group, except groups of callbacks.',
    answers: { 200: z.array(z.object({ name: z.string(), size: z.int() })) },
    handle: async ({ engine }) => {
      const groups = await aggregations(engine)
      const rows = groups.map(({ id, jobs, running }) => ({ name: `jobs:${id}`, size: jobs - running }))
      return Response.json(
        rows.filter(({ size }) => size > 0),
        { headers: open },
      )
    },
  }),

  heartbeat: route('GET /downloader/hb', {
    ...facade,
    scope: 'open',
    summary: 'Check whether a load balancer should send requests',
    description: 'Returns 503 after `PUT /downloader/hb` with `enabled: false`.',
    answers: { 200: z.string(), 503: z.string() },
    media: 'text/plain',
    handle: async ({ engine }) =>
      (await engine.flags.get(DRAINED))
        ? new Response('Service disabled', { status: 503, headers: { 'content-type': 'text/plain' } })
        : new Response('OK', { headers: { 'content-type': 'text/plain' } }),
  }),

  drain: route('PUT /downloader/hb', {
    ...facade,
    scope: 'admin',
    summary: 'Remove this service from its load balancer, or add it again',
    description: 'The service accepts downloads even while it is removed.',
    body: z.object({ enabled: z.boolean() }),
    answers: { 204: empty },
    handle: async ({ engine, body }) => {
      await engine.flags.set(DRAINED, !body.enabled)
      return reply(204, null)
    },
  }),
}
