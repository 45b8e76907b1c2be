import * as z from 'zod'
import { isCallbackGroup } from '../../core/callback.ts'
import { encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Downloads } from '../../core/files.ts'
import { isObject } from '../../core/is-object.ts'
import { check } from '../../core/issues.ts'
import { mimePatterns } from '../../core/mime.ts'
import { headerName, topic } from '../../core/schemas.ts'
import { DAY, MINUTE, SECOND } from '../../core/units.ts'
import { callable, type Use } from '../../core/url.ts'
import type { Callback, JobInput } from '../../engine/engine.ts'

export const QUEUE = 'downloader'

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
    return isObject(JSON.parse(given))
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
      'callback_type and callback_dst are required together',
    )
}

// In seconds, less than the platform allows for a run.
const MAX_TIMEOUT_S = 840

const ifText = (schema: z.ZodType<string, string>) =>
  z
    .unknown()
    .transform((given) => (typeof given === 'string' ? given : undefined))
    .pipe(schema.optional())
    .optional()

/** Ignores unknown members, like the original service. */
export const submission = z
  .object({
    url: text,
    aggr_id: text
      .min(1, 'aggr_id cannot be empty')
      .max(200)
      .refine((id) => !isCallbackGroup(id), 'expected an aggregation that does not begin with "callback:"')
      .refine((id) => !/\p{Cc}/u.test(id), 'expected no control characters'),
    s3_bucket: ifText(
      text.regex(/^[\w.-]{3,63}$/, 'expected a bucket name: 3 to 63 characters from a-z, A-Z, 0-9, "_", "." and "-"'),
    ),
    s3_region: ifText(
      text.regex(/^[\w-]{1,50}$/, 'expected a region: 1 to 50 characters from a-z, A-Z, 0-9, "_" and "-"'),
    ),
    callback_url: ifText(text),
    callback_type: z.enum(['http', 'kafka']).optional(),
    callback_dst: text.min(1).max(2_000).optional(),
    extra: text.max(65_536).optional(),
    mime_type: text.max(1_000).superRefine(attempted(mimePatterns)).optional(),
    max_retries: z.number().min(0).max(100).transform(Math.trunc).optional(),
    extract_image_size: z.boolean().optional(),
    download_timeout: z.number().transform(Math.trunc).pipe(z.int().min(1).max(MAX_TIMEOUT_S)).optional(),
    request_headers: z.record(headerName, z.union([text.max(2_000), z.int()]).transform(String)).optional(),
    aggr_limit: z.int().min(1).max(10_000),
    aggr_proxy: text.refine((proxy) => proxy === '', 'proxies are not supported').optional(),
  })
  .superRefine(checkTogether)

type Submission = z.output<typeof submission>

function address(field: string, url: string, { allowHosts }: Downloads, use: Use = 'callbacks'): string {
  try {
    return callable(url, allowHosts, use).href
  } catch (error) {
    throw new SidejobError('BAD_REQUEST', `${field}: ${(error as Error).message}`, { path: [field] })
  }
}

function topicOf(given: string): string {
  return check(z.object({ callback_dst: topic }), { callback_dst: given }).callback_dst
}

function destination(
  { callback_url, callback_type, callback_dst }: Submission,
  downloads: Downloads,
): Callback | undefined {
  if (callback_url !== undefined) return { url: address('callback_url', callback_url, downloads) }
  if (callback_dst === undefined) return undefined
  if (callback_type === 'http') return { url: address('callback_dst', callback_dst, downloads) }
  if (downloads.kafka) return { kafka: { url: downloads.kafka, topic: topicOf(callback_dst) } }
  throw new SidejobError('BAD_REQUEST', 'callback_type: kafka is not configured in this deployment', {
    path: ['callback_type'],
  })
}

const delays = Array.from({ length: 100 }, (_, i) => (i + 1) * 2 * MINUTE)

const metadataOf = (extra = '{}'): Record<string, string> =>
  Object.fromEntries(
    Object.entries(JSON.parse(extra || '{}') as object)
      .map(([name, value]) => [name, typeof value === 'number' ? Math.trunc(value) : value])
      .filter(([, value]) => typeof value !== 'object' && typeof value !== 'boolean')
      .map(([name, value]) => [name, String(value)]),
  )

export function jobOf(asked: Submission, downloads: Downloads, askedAt: number): JobInput {
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
      headers: asked.request_headers,
      ...(asked.mime_type ? { mimeType: asked.mime_type } : {}),
      ...(asked.extract_image_size ? { imageSize: true } : {}),
      ...(bucket ? { bucket: { name: bucket, region, metadata: metadataOf(extra) } } : {}),
    }),
    group: { id: asked.aggr_id, concurrency: asked.aggr_limit },
    retry: { max, backoff: { delays: delays.slice(0, Math.max(1, max)), jitter: 0 } },
    ...(download_timeout ? { timeout: download_timeout * SECOND } : {}),
    keepResult: DAY,
    createdBy: QUEUE,
    callback,
  }
}
