// Downloader's API in its own words: submit, callback, retry, stats. Each is mapped onto jobs, groups and callbacks.

import type { Context } from 'hono'
import * as z from 'zod'
import { CALLBACKS, isCallbackGroup } from '../../core/callback.ts'
import { decodeValue, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { askedAtOf, type Downloads, keyOf } from '../../core/files.ts'
import { mimePatterns } from '../../core/mime.ts'
import { topic } from '../../core/schemas.ts'
import { callable, type Use } from '../../core/url.ts'
import type { Callback, Engine, GroupView, JobInput, JobView, QueueView } from '../../engine/engine.ts'
import type { Payload } from '../../engine/remote/callbacks.ts'
import { reply, route } from '../../http/route.ts'

const QUEUE = 'downloader'
const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000]

// What is asked for

const text = z.string()

const attempted = (what: (given: string) => unknown) => (given: string, ctx: z.RefinementCtx) => {
  try {
    what(given)
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as Error).message })
  }
}

const isObjectText = (given: string): boolean => {
  try {
    const value: unknown = JSON.parse(given)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const fault = (ctx: z.RefinementCtx, field: string, message: string) =>
  ctx.addIssue({ code: 'custom', message, path: [field] })

type Both = {
  callback_url?: string
  callback_type?: string
  callback_dst?: string
  s3_bucket?: string
  s3_region?: string
  extra?: string
}

function checkTogether(
  { callback_url, callback_type, callback_dst, s3_bucket, s3_region, extra }: Both,
  ctx: z.RefinementCtx,
) {
  if (s3_region !== undefined && s3_bucket === undefined)
    fault(ctx, 's3_region', 's3_region provided without an s3_bucket')
  if (s3_bucket !== undefined && s3_region === undefined)
    fault(ctx, 's3_bucket', 's3_bucket provided without an s3_region')
  if (s3_bucket !== undefined && extra && !isObjectText(extra))
    fault(ctx, 'extra', 'with s3_bucket, extra must be a JSON object')
  if (callback_url !== undefined || (s3_bucket !== undefined && callback_dst === undefined)) return
  if (callback_type === undefined || callback_dst === undefined)
    fault(
      ctx,
      callback_type === undefined ? 'callback_type' : 'callback_dst',
      'both callback_type and callback_dst are needed',
    )
}

// 14 minutes: below what the platform gives a run.
const LONGEST = 840

/** What is no text is taken for absent. */
const ifText = (schema: z.ZodType<string, string>) =>
  z
    .unknown()
    .transform((given) => (typeof given === 'string' ? given : undefined))
    .pipe(schema.optional())
    .optional()

/** Members that nobody knows are ignored, as the original does. */
const submission = z
  .object({
    url: text,
    aggr_id: text
      .min(1, 'aggr_id cannot be empty')
      .max(200)
      .refine((id) => !isCallbackGroup(id), 'expected no aggregation that begins with callback:')
      .refine((id) => !/\p{Cc}/u.test(id), 'expected no control characters'),
    s3_bucket: ifText(text.regex(/^[\w.-]{3,63}$/, 'expected a bucket')),
    s3_region: ifText(text.regex(/^[\w-]{1,50}$/, 'expected a region')),
    callback_url: ifText(text),
    callback_type: z.enum(['http', 'kafka']).optional(),
    callback_dst: text.min(1).max(2_000).optional(),
    extra: text.max(65_536).optional(),
    mime_type: text.max(1_000).superRefine(attempted(mimePatterns)).optional(),
    max_retries: z.number().min(0).max(100).transform(Math.trunc).optional(),
    extract_image_size: z.boolean().optional(),
    download_timeout: z.number().transform(Math.trunc).pipe(z.int().min(1).max(LONGEST)).optional(),
    request_headers: z
      .record(z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/), z.union([text.max(2_000), z.int()]).transform(String))
      .optional(),
    aggr_limit: z.int().min(1).max(10_000),
    aggr_proxy: text.refine((proxy) => proxy === '', 'proxies are not supported here').optional(),
  })
  .superRefine(checkTogether)

type Submission = z.output<typeof submission>

/** An address that we would call; the field is named when not. */
function address(field: string, url: string, { allowHosts }: Downloads, use: Use = 'callbacks'): string {
  try {
    return callable(url, allowHosts, use).href
  } catch (error) {
    throw new SidejobError('BAD_REQUEST', `${field}: ${(error as Error).message}`, { path: [field] })
  }
}

function topicOf(given: string): string {
  const { success, data } = topic.safeParse(given)
  if (success) return data
  throw new SidejobError('BAD_REQUEST', 'callback_dst: expected a topic: letters, digits, ., _ and -', {
    path: ['callback_dst'],
  })
}

function destination(
  { callback_url, callback_type, callback_dst }: Submission,
  downloads: Downloads,
): Callback | undefined {
  if (callback_url !== undefined) return { url: address('callback_url', callback_url, downloads) }
  if (callback_dst === undefined) return undefined
  if (callback_type === 'http') return { url: address('callback_dst', callback_dst, downloads) }
  if (downloads.kafka) return { kafka: { url: downloads.kafka, topic: topicOf(callback_dst) } }
  throw new SidejobError('BAD_REQUEST', 'callback_type: kafka is not configured here', { path: ['callback_type'] })
}

// The second try comes after 2 minutes, the third after 4 more, …
const delays = Array.from({ length: 100 }, (_, i) => (i + 1) * 2 * MINUTE)

const metadataOf = (extra = '{}'): Record<string, string> =>
  Object.fromEntries(
    Object.entries(JSON.parse(extra || '{}') as object)
      .map(([name, value]) => [name, typeof value === 'number' ? Math.trunc(value) : value])
      .filter(([, value]) => typeof value !== 'object' && typeof value !== 'boolean')
      .map(([name, value]) => [name, String(value)]),
  )

function jobOf(asked: Submission, downloads: Downloads, askedAt: number): JobInput {
  const { url, extra = '', max_retries: max = 2, s3_bucket: bucket, s3_region: region, download_timeout } = asked
  const to = destination(asked, downloads)
  const callback: Callback | undefined = to && {
    ...to,
    payload: { as: QUEUE, with: { extra, resource_url: url, askedAt } },
    ...(bucket ? {} : { afterwards: { queue: 'files', class: 'reap', wait: downloads.keep, args: { askedAt } } }),
  }
  const { host } = new URL(address('url', url, downloads, 'downloads'))
  return {
    queue: QUEUE,
    class: 'download',
    args: encodeValue({
      url,
      host,
      askedAt,
      ...(asked.request_headers ? { headers: asked.request_headers } : {}),
      ...(asked.mime_type ? { mimeType: asked.mime_type } : {}),
      ...(asked.extract_image_size ? { imageSize: true } : {}),
      ...(bucket ? { bucket: { name: bucket, region, metadata: metadataOf(extra) } } : {}),
    }),
    group: { id: asked.aggr_id, concurrency: asked.aggr_limit },
    retry: { max, backoff: { delays: delays.slice(0, Math.max(1, max)), jitter: 0 } },
    ...(download_timeout ? { timeout: download_timeout * SECOND } : {}),
    keepResult: DAY,
    createdBy: QUEUE,
    ...(callback ? { callback } : {}),
  }
}

// What is answered

type Detail = { status?: number; code?: string } | null
type Kept = { status?: number; image?: string }

const WEEK = 7 * DAY

/** By the id alone where the deployment says so, else signed for longer than a file is kept: the same on every try. */
const addressOf = async ({ base, files }: Downloads, id: string, since: number): Promise<string> =>
  base === undefined ? (await files.sign(id, WEEK, since)).url : `${base}/${keyOf(id)}`

/** The ten keys of a callback, always all of them. */
const payload = async (
  downloads: Downloads,
  id: string,
  since: number,
  given: Record<string, unknown>,
  result: Kept | undefined,
  refused?: { message: string; detail: Detail },
) => ({
  success: result !== undefined,
  error: refused?.message ?? '',
  extra: given.extra,
  image_size: result?.image ?? '',
  resource_url: given.resource_url,
  download_url: result ? await addressOf(downloads, id, since) : '',
  job_id: id,
  response_code: result?.status ?? refused?.detail?.status ?? 0,
  delivered: true,
  delivery_error: '',
})

/**
 * The body of a callback as Downloader's callers expect it.
 *
 * @example createEngine({ payloads: { downloader: downloaderPayload(downloads) } })
 */
export const downloaderPayload =
  (downloads: Downloads): Payload =>
  async (ended, given) => {
    const id = await downloads.files.idOf(ended.job, given.askedAt as number | undefined)
    if (ended.type === 'success')
      return JSON.stringify(await payload(downloads, id, ended.finishedAt, given, decodeValue(ended.result) as Kept))
    const detail = ended.error === null ? null : (decodeValue(ended.error) as Detail)
    return JSON.stringify(
      await payload(downloads, id, ended.finishedAt, given, undefined, { message: ended.message, detail }),
    )
  }

const downloadStates: Partial<Record<JobView['status'], string>> = {
  running: 'InProgress',
  completed: 'Success',
  failed: 'Failed',
  terminating: 'Failed',
  terminated: 'Failed',
}

const callbackStates: Record<string, string> = {
  PENDING: 'Pending',
  IN_PROGRESS: 'InProgress',
  DELIVERED: 'Success',
  FAILED: 'Failed',
}

const jobState = z.object({
  job_id: z.string(),
  url: z.string(),
  aggr_id: z.string(),
  download_state: z.string(),
  download_count: z.int(),
  response_code: z.int(),
  error: z.string(),
  progress: z.unknown(),
  callback_state: z.string(),
  callback_count: z.int(),
  callback_error: z.string(),
})

const argsOf = ({ args }: JobView) => (args === null ? {} : decodeValue(args)) as { url?: string; askedAt?: number }

function stateOf(id: string, view: JobView): z.output<typeof jobState> {
  // What the last attempt said is forgotten when the next begins.
  const said = view.error !== null && view.status !== 'running' ? view.error : null
  const error = said && (decodeValue(said) as { message: string; detail?: Detail })
  return {
    job_id: id,
    url: argsOf(view).url ?? '',
    aggr_id: view.group ?? '',
    download_state: downloadStates[view.status] ?? 'Pending',
    download_count: view.attempt,
    response_code: error?.detail?.status ?? (view.status === 'completed' ? 200 : 0),
    error: error?.message ?? '',
    progress: view.progress === null ? null : decodeValue(view.progress),
    callback_state: callbackStates[view.callback?.state ?? ''] ?? '',
    callback_count: view.callback?.attempts ?? 0,
    callback_error: view.callback?.lastError ?? '',
  }
}

/** Errors as the original's callers get them, in JSON; the body is never echoed. */
const statuses: Record<number, number> = { 422: 400, 415: 400 }

const failure = z.object({ error: z.string(), field: z.string().optional() })

const fail = (_: Context, error: SidejobError): Response => {
  const field = error.path?.join('.')
  const headers = error.retryAfter === undefined ? undefined : { 'retry-after': String(Math.ceil(error.retryAfter)) }
  return Response.json(
    { error: error.message, ...(field ? { field } : {}) },
    { status: statuses[error.status] ?? error.status, headers },
  )
}

/** How a wrong method on one of our paths is answered. */
export const wrongMethod = (path: string, error: SidejobError): Response | undefined =>
  path.startsWith('/downloader/') && error.code === 'WRONG_METHOD'
    ? new Response('Invalid request method', { status: 405 })
    : undefined

const facade = { facade: { failure, fail, json: true }, only: 'downloads' } as const
const open = { 'access-control-allow-origin': '*' }

/** The job of an id of ours. */
async function find(engine: Engine, { files }: Downloads, id: string): Promise<JobView> {
  const missing = () => new SidejobError('NOT_FOUND', 'there is no such job')
  const job = await files.jobOf(id)
  if (job === undefined) throw missing()
  const view = await engine.get(String(job)).catch((error) => {
    throw error instanceof SidejobError && error.code === 'NOT_FOUND' ? missing() : error
  })
  if (view.queue !== QUEUE || (await files.idOf(job, askedAtOf(view, argsOf(view)))) !== id) throw missing()
  return view
}

const responses = ['200', 'tls', 'mime', 'body', 'image-size']

const aggregations = async (engine: Engine): Promise<GroupView[]> =>
  (await engine.groups()).groups.filter(({ id }) => !isCallbackGroup(id))

/** What is ready is taken up in seconds; a tick finds within two minutes what was not. */
const STUCK = 3 * MINUTE

const isAlive = (queue: QueueView | undefined): boolean => !queue?.oldestReady || Date.now() - queue.oldestReady < STUCK

/** The numbers of a component under the original's names; counters are those of the day. */
const components: Record<string, (engine: Engine) => Promise<Record<string, number> | undefined>> = {
  async processor(engine) {
    const [{ today, queues }, groups] = await Promise.all([engine.stats(), aggregations(engine)])
    const { downloader = {}, files = {} } = today
    const own = queues.find(({ name }) => name === QUEUE)
    if (!isAlive(own)) return undefined
    const workers = own?.counts.running ?? 0
    const pools = groups.filter(({ running }) => running > 0).length
    const codes = Object.entries(downloader).filter(([name]) => name.startsWith('download.response.'))
    return {
      alive: 1,
      workers,
      maxWorkers: groups.reduce((sum, { concurrency }) => sum + (concurrency ?? 0), 0),
      workerPools: pools,
      maxWorkerPools: groups.length,
      spawnedWorkers: downloader.runs ?? 0,
      spawnedWorkerPools: pools,
      failures: downloader.lost ?? 0,
      invalidProxies: 0,
      reaperFailures: files.failed ?? 0,
      reaperSuccessfulDeletions: files.reaperSuccessfulDeletions ?? 0,
      ...Object.fromEntries(responses.map((name) => [`download.response.${name}`, 0])),
      ...Object.fromEntries(codes),
    }
  },
  async notifier(engine) {
    const { today, queues } = await engine.stats()
    if (!isAlive(queues.find(({ name }) => name === CALLBACKS.queue))) return undefined
    return {
      alive: 1,
      successfulCallbacks: today[CALLBACKS.queue]?.completed ?? 0,
      failedCallbacks: today[CALLBACKS.queue]?.failed ?? 0,
      undefinedBackendWithCallback: 0,
      unknownTopicOrPartition: 0,
    }
  },
}

const DRAINED = 'downloader.drained'
const empty = z.null()

export const downloader = {
  download: route(
    {
      ...facade,
      method: 'POST',
      path: '/downloader/download',
      scope: 'write',
      summary: 'Downloads a URL within its aggregation, and calls back',
      body: submission,
      answers: { 201: z.object({ id: z.string() }) },
    },
    async ({ engine, deps, body, call }) => {
      const downloads = deps.downloads!
      const now = Date.now()
      const { jobs, existing } = await engine.enqueue([jobOf(body, downloads, now)], call)
      const { id } = jobs[0]!
      // Asked for twice with one key: the moment is that of the first time.
      const askedAt = existing ? argsOf(await engine.get(String(id))).askedAt : now
      return reply(201, { id: await downloads.files.idOf(id, askedAt) })
    },
  ),

  retry: route(
    {
      ...facade,
      method: 'POST',
      path: '/downloader/retry/:file',
      scope: 'write',
      summary: 'Sends the callback of a job again that could not be delivered',
      answers: { 204: empty },
    },
    async ({ engine, deps, params, call }) => {
      const view = await find(engine, deps.downloads!, params.file)
      const state = callbackStates[view.callback?.state ?? ''] ?? ''
      if (state !== 'Failed') throw new SidejobError('BAD_REQUEST', `Error with callback state of the job: ${state}`)
      await engine.resend(String(view.id), call)
      return reply(204, null)
    },
  ),

  job: route(
    {
      ...facade,
      method: 'GET',
      path: '/downloader/jobs/:file',
      scope: 'read',
      summary: 'Shows how a download and its callback go',
      answers: { 200: jobState },
    },
    async ({ engine, deps, params }) => stateOf(params.file, await find(engine, deps.downloads!, params.file)),
  ),

  cancel: route(
    {
      ...facade,
      method: 'DELETE',
      path: '/downloader/jobs/:file',
      scope: 'write',
      summary: 'Cancels a download',
      answers: { 204: empty },
    },
    async ({ engine, deps, params, call }) => {
      const { id } = await find(engine, deps.downloads!, params.file)
      await engine.cancel(String(id), call)
      return reply(204, null)
    },
  ),

  again: route(
    {
      ...facade,
      method: 'POST',
      path: '/downloader/jobs/:file/download',
      scope: 'write',
      summary: 'Downloads now what waits for its next try, and once more what has ended, with another callback',
      answers: { 204: empty },
    },
    async ({ engine, deps, params, call }) => {
      const { id } = await find(engine, deps.downloads!, params.file)
      await engine.run(String(id), { force: true }, call)
      return reply(204, null)
    },
  ),

  stats: route(
    {
      ...facade,
      method: 'GET',
      path: '/downloader/stats/:component',
      scope: 'read',
      summary: 'Shows the numbers of a component: processor or notifier',
      answers: { 200: z.record(z.string(), z.number()) },
    },
    async ({ engine, params }) => {
      const { component } = params
      const stats = Object.hasOwn(components, component) ? await components[component]!(engine) : undefined
      if (!stats) throw new SidejobError('NOT_FOUND', `Could not find stats for entity ${component}`)
      return Response.json(stats, { headers: open })
    },
  ),

  aggregations: route(
    {
      ...facade,
      method: 'GET',
      path: '/downloader/dashboard/aggregations',
      scope: 'read',
      summary: 'Lists aggregations with how many downloads wait in each',
      answers: { 200: z.array(z.object({ name: z.string(), size: z.int() })) },
    },
    async ({ engine }) => {
      const groups = await aggregations(engine)
      const rows = groups.map(({ id, jobs, running }) => ({ name: `jobs:${id}`, size: jobs - running }))
      return Response.json(
        rows.filter(({ size }) => size > 0),
        { headers: open },
      )
    },
  ),

  heartbeat: route(
    {
      ...facade,
      method: 'GET',
      path: '/downloader/hb',
      scope: 'open',
      summary: 'Says whether a load balancer should send requests here',
      answers: { 200: z.string(), 503: z.string() },
      media: 'text/html',
    },
    async ({ engine }) =>
      (await engine.flag(DRAINED))
        ? new Response('Service disabled', { status: 503, headers: { 'content-type': 'text/plain' } })
        : new Response('OK', { headers: { 'content-type': 'text/plain' } }),
  ),

  drain: route(
    {
      ...facade,
      method: 'PUT',
      path: '/downloader/hb',
      scope: 'admin',
      summary: 'Takes this service from its load balancer, or gives it back; jobs are taken all the same',
      body: z.object({ enabled: z.boolean() }),
      answers: { 204: empty },
    },
    async ({ engine, body }) => {
      await engine.setFlag(DRAINED, !body.enabled)
      return reply(204, null)
    },
  ),
}
