import * as z from 'zod'
import { type Files, requestHeaders } from '../../src/index.ts'

/** Resources that a deployment provides for downloads. */
export type Resources = {
  files: Files
  /** Hosts inside our own network that may be asked. */
  allowHosts: readonly string[]
  /** Credentials for buckets that jobs name, and which these may be: `name` at AWS, or `https://host/name`; with `*`. */
  s3?: { accessKeyId: string; secretAccessKey: string; buckets: readonly string[] }
  /** No body may be larger, in bytes; 1 GiB. */
  maxSize?: number
  fetch?: typeof fetch
  now?: () => number
}

/** Headers for routing and framing are set by us. */
const FRAMING = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i

export const downloadArgs = z.strictObject({
  url: z.string(),
  /** The host of the URL: for constraints, which can look at args and not into a URL. */
  host: z.string().optional(),
  /** Time of the request, by the clock of the caller that returned the file's id. */
  askedAt: z.number().optional(),
  headers: requestHeaders
    .refine((headers) => !Object.keys(headers).some((name) => FRAMING.test(name)), 'expected no connection header')
    .optional(),
  /** Largest body, in bytes. */
  maxSize: z.int().min(1).optional(),
  /** Which types are wanted; see mimeFault. */
  mimeType: z.string().max(1_000).optional(),
  imageSize: z.boolean().optional(),
  /** Ask only for changes since the same URL was stored; an unchanged file is not stored again. */
  dedup: z.boolean().optional(),
  /** Milliseconds for which the file is kept; 30 days. */
  keep: z.number().min(0).optional(),
  /** A bucket of the caller's own, at anything that speaks S3. The file in it is never removed by us. */
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
  /** Final URL, after all redirects. */
  url: string
  status: number
  size: number
  type: string
  sha256: string
  md5: string
  /** Width and height of a jpeg, png, gif or webp, if requested. */
  image?: string
  etag?: string
  lastModified?: string
  /** The file of an earlier download that has not changed since. */
  reused?: true
}
