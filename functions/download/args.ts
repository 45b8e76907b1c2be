import * as z from 'zod'
import { type Files, requestHeaders } from '../../src/index.ts'

export type Resources = {
  files: Files
  /** The only hosts in private networks that downloads may reach. */
  allowHosts: readonly string[]
  /** Credentials for buckets that jobs name. A bucket is `name` (at AWS) or `https://host/name`, and may contain `*`. */
  s3?: { accessKeyId: string; secretAccessKey: string; buckets: readonly string[] }
  /** Bytes (default: 1 GiB). */
  maxSize?: number
  fetch?: typeof fetch
  now?: () => number
}

const FRAMING = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i
const framing = (headers: object) => Object.keys(headers).find((name) => FRAMING.test(name))

export const downloadArgs = z.strictObject({
  url: z.string(),
  /** Host of `url`, for constraints: a constraint cannot read the host from a URL. */
  host: z.string().optional(),
  askedAt: z.number().optional(),
  headers: requestHeaders
    .refine((headers) => !framing(headers), {
      error: ({ input }) => `expected no header that controls the connection, got ${framing(input as object)}`,
    })
    .optional(),
  maxSize: z.int().min(1).optional(),
  mimeType: z.string().max(1_000).optional(),
  imageSize: z.boolean().optional(),
  dedup: z.boolean().optional(),
  /** Milliseconds (default 30 days). */
  keep: z.number().min(0).optional(),
  /** sidejob never deletes files in this bucket. */
  bucket: z
    .strictObject({
      name: z.string().regex(/^[\w.-]{3,63}$/),
      region: z.string().regex(/^[\w-]{1,50}$/),
      endpoint: z.string().optional(),
      metadata: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
})

export type Args = z.infer<typeof downloadArgs>

export type Downloaded = {
  file: string
  url: string
  status: number
  size: number
  type: string
  sha256: string
  md5: string
  image?: string
  etag?: string
  lastModified?: string
  reused?: true
}
