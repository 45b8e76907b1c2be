import * as z from 'zod'
import { type Files, requestHeaders } from '../../src/index.ts'

export type Resources = {
  files: Files
  /** Hosts inside our own network that downloads may reach. */
  allowHosts: readonly string[]
  /** Credentials for buckets that jobs name: `name` at AWS, or `https://host/name`, also with `*`. */
  s3?: { accessKeyId: string; secretAccessKey: string; buckets: readonly string[] }
  /** Bytes of the largest body; default 1 GiB. */
  maxSize?: number
  fetch?: typeof fetch
  now?: () => number
}

const FRAMING = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i

export const downloadArgs = z.strictObject({
  url: z.string(),
  /** For constraints, which cannot look into a URL. */
  host: z.string().optional(),
  askedAt: z.number().optional(),
  headers: requestHeaders
    .refine(
      (headers) => !Object.keys(headers).some((name) => FRAMING.test(name)),
      'expected no header that controls the connection',
    )
    .optional(),
  /** Bytes of the largest body. */
  maxSize: z.int().min(1).optional(),
  mimeType: z.string().max(1_000).optional(),
  imageSize: z.boolean().optional(),
  /** An unchanged file is not stored again. */
  dedup: z.boolean().optional(),
  /** Milliseconds; default 30 days. */
  keep: z.number().min(0).optional(),
  /** A bucket of the caller, on any S3-compatible server. We never delete the file in it. */
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
