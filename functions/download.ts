// Downloads: a URL's body, streamed into a bucket with constant memory, looked at on its way.

import { createHash, type Hash } from 'node:crypto'
import { fileTypeFromBuffer } from 'file-type/core'
import { imageDimensionsFromData } from 'image-dimensions'
import { z } from 'zod'
import {
  askedAtOf,
  callable,
  defineWorker,
  type Files,
  fitsGlob,
  type Job,
  keyOf,
  Later,
  mimeFault,
  requestHeaders,
  retryAfter,
  type Sink,
  type StoreOptions,
  Terminal,
  type Upload,
} from '../src/index.ts'
import { s3Sink } from './s3.ts'

/** What a deployment gives its downloads. */
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

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000]

/** What says where a request goes and how long it is, we say ourselves. */
const FRAMING = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i

const downloadArgs = z.strictObject({
  url: z.string(),
  /** The host of the URL: for constraints, which can look at args and not into a URL. */
  host: z.string().optional(),
  /** When it was asked for, by the clock of who tells the file's id at once. */
  askedAt: z.number().optional(),
  headers: requestHeaders
    .refine(
      (headers) => !Object.keys(headers).some((name) => FRAMING.test(name)),
      'expected no header of the connection',
    )
    .optional(),
  /** Largest body, in bytes. */
  maxSize: z.int().min(1).optional(),
  /** Which types are wanted; see mimeFault. */
  mimeType: z.string().max(1_000).optional(),
  imageSize: z.boolean().optional(),
  /** Ask only for what has changed since the same URL was stored; what has not is not stored again. */
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

type Args = z.infer<typeof downloadArgs>

/** What a download answers. */
export type Downloaded = {
  /** The id of the file. */
  file: string
  /** Where it came from, after all redirects. */
  url: string
  status: number
  size: number
  type: string
  sha256: string
  md5: string
  /** Width and height of a jpeg, png, gif or webp, when they were asked for. */
  image?: string
  etag?: string
  lastModified?: string
  /** The file of an earlier download that has not changed since. */
  reused?: true
}

// Failures

type Phase =
  | 'performing request'
  | 'processing response'
  | 'downloading file'
  | 'validating mime type'
  | 'extracting image-size'
  | 'storing file'

type Fault = { phase: Phase; cause: string; code: string; status?: number; after?: number; retriable: boolean }

/** Fails the run in the words that callers know, with a code for machines. */
function fail({ phase, cause, code, status = 0, after, retriable }: Fault, error?: unknown): never {
  const internal = phase === 'storing file'
  const text = `Error while ${phase}, ${cause}, retriable: ${retriable}, internal: ${internal}`
  const detail = { code, phase, status }
  throw retriable ? new Later(text, { after, detail, cause: error }) : new Terminal(text, { detail, cause: error })
}

const isOurs = (error: unknown): boolean => error instanceof Later || error instanceof Terminal

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

const causeOf = (error: unknown): { message: string; code: string } => {
  const { message, code, cause } = error as Error & { code?: string; cause?: Error & { code?: string } }
  return { message: cause?.message ?? message, code: cause?.code ?? code ?? '' }
}

// 408, 425 and 429 pass; every other refusal is final. 5xx may pass.
const passing = new Set([408, 425, 429])
/** No host may make us wait for longer. */
const LONGEST_AFTER = DAY

/** Cloudflare's own words for what another platform throws: no handshake, no certificate that can be trusted. */
const tlsStatuses: Record<number, string> = { 525: 'the TLS handshake failed', 526: 'the certificate is not trusted' }

function checkStatus(response: Response): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  const tls = tlsStatuses[status]
  if (tls) fail({ phase: 'performing request', cause: tls, code: 'TLS', retriable: false })
  const after = Math.min(LONGEST_AFTER, retryAfter(response.headers.get('retry-after'), Date.now()) ?? 0)
  const cause = `Received status code ${status} ${response.statusText}`.trim()
  const retriable = status >= 500 || passing.has(status)
  fail({ phase: 'processing response', cause, code: `HTTP_${status}`, status, after, retriable })
}

// Asking

const MAX_REDIRECTS = 5
// Stored as it is; a server that compresses all the same is stored decoded.
const PLAIN = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'sidejob' }
const redirects = new Set([301, 302, 303, 307, 308])

function guarded(url: string, allowHosts: readonly string[]): URL {
  try {
    return callable(url, allowHosts, 'downloads')
  } catch (error) {
    return fail(
      { phase: 'performing request', cause: (error as Error).message, code: 'REFUSED', retriable: false },
      error,
    )
  }
}

const drop = (response: Response) => response.body?.cancel().catch(() => undefined)

/** Follows redirects itself: each address goes through the guard, and what the caller sends goes to one origin only. */
async function request(url: string, given: Headers, { fetch = globalThis.fetch, allowHosts }: Resources, job: Job) {
  let target = guarded(url, allowHosts)
  let headers = given
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await ask(fetch, target, headers, job.signal)
    const to = redirects.has(response.status) ? response.headers.get('location') : null
    if (to === null || !URL.canParse(to, target)) return { response, url: target.href }
    await drop(response)
    const next = guarded(new URL(to, target).href, allowHosts)
    if (next.origin !== target.origin) headers = new Headers(PLAIN)
    target = next
  }
  const cause = `stopped after ${MAX_REDIRECTS} redirects`
  return fail({ phase: 'performing request', cause, code: 'REDIRECTS', retriable: false })
}

async function ask(fetch: typeof globalThis.fetch, url: URL, headers: Headers, signal: AbortSignal) {
  try {
    return await fetch(url, { headers, redirect: 'manual', signal })
  } catch (error) {
    const { message, code } = causeOf(error)
    const tls = TLS.test(code)
    return fail({ phase: 'performing request', cause: message, code: tls ? 'TLS' : 'NETWORK', retriable: !tls }, error)
  }
}

// Looking

/** How much of a file tells its type. */
const HEAD = 1_024

const isText = (bytes: Uint8Array): boolean => {
  try {
    // The last character may be cut.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return !/\p{Cc}/u.test(text.replace(/\s/g, ''))
  } catch {
    return false
  }
}

/** By the signature in the first bytes, whatever the server says. */
async function typeOf(start: Uint8Array): Promise<string> {
  if (start.length === 0) return 'application/x-empty'
  const found = await fileTypeFromBuffer(start).catch(() => undefined)
  if (found) return found.mime
  if (!isText(start)) return 'application/octet-stream'
  const text = new TextDecoder().decode(start).trimStart().toLowerCase()
  return /^<(!doctype html|html|head|body)/.test(text) ? 'text/html' : 'text/plain'
}

const images = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function imageSize(start: Uint8Array, type: string, status: number): string | undefined {
  if (!images.has(type)) return undefined
  let found: { width: number; height: number } | undefined
  try {
    found = imageDimensionsFromData(start)
  } catch {
    found = undefined
  }
  if (found) return `${found.width}x${found.height}`
  const cause = `the header of the ${type} cannot be read`
  return fail({ phase: 'extracting image-size', cause, code: 'IMAGE_SIZE', status, retriable: false })
}

// Storing

/** R2 and S3 want parts of one size, of at least 5 MiB; 10,000 of these are 80 GB. */
const PART = 8 * 1024 * 1024

/** Where the deployment says nothing else: 1 GiB. */
const LARGEST = 1_073_741_824

type Looked = { size: number; type: string; image?: string; sha256: string; md5: string }

type Source = { response: Response; args: Args; job: Job; sink: Sink; key: string; maxSize: number }

/**
 * Takes a body through one buffer, into which the stream itself writes: at no time is there more of it than that, and
 * nothing of it is left for the garbage collector (1 GiB in pieces of their own: a peak of 388 MiB, with this 160).
 */
class Taking {
  readonly #source: Source
  #part = new Uint8Array(PART)
  readonly #hashes: { sha256: Hash; md5: Hash } = { sha256: createHash('sha256'), md5: createHash('md5') }
  #filled = 0
  #size = 0
  #type = ''
  #image: string | undefined
  #upload: Upload | undefined
  #parts = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** Takes what has come meanwhile; false when that was all. */
  async more(reader: ReadableStreamBYOBReader): Promise<boolean> {
    const { response, job } = this.#source
    const { done, value } = await reader.read(this.#part.subarray(this.#filled))
    // The buffer went into the stream and has come back.
    if (value) this.#part = new Uint8Array(value.buffer)
    if (done || !value) return false
    this.#hashes.sha256.update(value)
    this.#hashes.md5.update(value)
    this.#size += value.length
    this.#filled += value.length
    checkSize(this.#source, this.#size)
    if (this.#type === '' && this.#filled >= HEAD) await this.#lookAtType()
    if (this.#filled === PART) await this.#flush()
    const total = Number(response.headers.get('content-length')) || null
    job.progress({ bytes: this.#size, total })
    return true
  }

  /** All has come: what is left is stored, and the file is there. */
  async end(): Promise<Looked> {
    this.#checkLength()
    if (this.#type === '') await this.#lookAtType()
    if (this.#parts === 0) this.#lookAtImage()
    await this.#store(async ({ sink, key }) => {
      if (!this.#upload) return sink.put(key, this.#part.subarray(0, this.#filled), this.#options())
      if (this.#filled > 0) await this.#upload.part(++this.#parts, this.#part.subarray(0, this.#filled))
      await this.#upload.complete()
    })
    return {
      size: this.#size,
      type: this.#type,
      ...(this.#image ? { image: this.#image } : {}),
      sha256: this.#hashes.sha256.digest('hex'),
      md5: this.#hashes.md5.digest('hex'),
    }
  }

  abort(): Promise<void> {
    return this.#upload?.abort().catch(() => undefined) ?? Promise.resolve()
  }

  async #flush(): Promise<void> {
    if (this.#parts === 0) this.#lookAtImage()
    await this.#store(async ({ sink, key }) => {
      this.#upload ??= await sink.upload(key, this.#options())
      await this.#upload.part(++this.#parts, this.#part)
    })
    this.#filled = 0
  }

  #options(): StoreOptions {
    return { type: this.#type, metadata: this.#source.args.bucket?.metadata }
  }

  async #store(work: (source: Source) => Promise<unknown>): Promise<void> {
    try {
      await work(this.#source)
    } catch (error) {
      fail({ phase: 'storing file', cause: causeOf(error).message, code: 'STORAGE', retriable: true }, error)
    }
  }

  async #lookAtType(): Promise<void> {
    const { args, response } = this.#source
    this.#type = await typeOf(this.#part.subarray(0, Math.min(HEAD, this.#filled)))
    const cause = args.mimeType ? mimeFault(args.mimeType, this.#type) : undefined
    if (cause) fail({ phase: 'validating mime type', cause, code: 'MIME', status: response.status, retriable: false })
  }

  #lookAtImage(): void {
    const { args, response } = this.#source
    if (args.imageSize) this.#image = imageSize(this.#part.subarray(0, this.#filled), this.#type, response.status)
  }

  /** A body that came decoded has another length than what was sent. */
  #checkLength(): void {
    const { headers, status } = this.#source.response
    const declared = headers.get('content-encoding') ? null : headers.get('content-length')
    if (declared === null || Number(declared) === this.#size) return
    const cause = `unexpected EOF: ${this.#size} of ${declared} bytes came`
    fail({ phase: 'downloading file', cause, code: 'BODY', status, retriable: true })
  }
}

/** What is longer than this may not be so many times as long as what was sent for it. */
const [FREE, MOST_TIMES] = [1_048_576, 200]

/** Bytes that a body may unfold to that was sent compressed. */
function unfolded({ headers }: Response): number {
  const sent = headers.get('content-encoding') ? headers.get('content-length') : null
  return sent === null ? Number.POSITIVE_INFINITY : Math.max(FREE, MOST_TIMES * Number(sent))
}

function checkSize({ response, maxSize }: Source, size: number): void {
  const most = Math.min(maxSize, unfolded(response))
  if (size <= most) return
  const cause =
    most === maxSize ? `the body is larger than ${most} bytes` : `the body unfolds to more than ${most} bytes`
  fail({ phase: 'downloading file', cause, code: 'TOO_LARGE', status: response.status, retriable: false })
}

async function store(source: Source): Promise<Looked> {
  const { response, job } = source
  const taking = new Taking(source)
  const reader = response.body?.getReader({ mode: 'byob' })
  try {
    checkSize(source, Number(response.headers.get('content-length') ?? 0))
    while (reader && (await taking.more(reader))) job.signal.throwIfAborted()
    return await taking.end()
  } catch (error) {
    await taking.abort()
    await reader?.cancel().catch(() => undefined)
    if (isOurs(error)) throw error
    const cause = `unexpected EOF: ${causeOf(error).message}`
    return fail({ phase: 'downloading file', cause, code: 'BODY', status: response.status, retriable: true }, error)
  }
}

// The same again

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Headers that say nothing of who asks. All others may: what they were answered is for nobody else. */
const COMMON = new Set(['accept', 'accept-language', 'cache-control', 'referer', 'user-agent'])

/** Where it is kept what a URL answered to these headers; undefined where that is not to be shared. */
function recordOf({ url, headers = {}, dedup, bucket }: Args): string | undefined {
  const asked = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  if (!dedup || bucket || asked.some(([name]) => !COMMON.has(name))) return undefined
  return `by-url/${hex(JSON.stringify([url, ...asked.sort(([a], [b]) => (a < b ? -1 : 1))]))}`
}

type Known = Downloaded & { until: number }

async function read(files: Files, key: string): Promise<Known | undefined> {
  const found = await files.bucket.get(key)
  return found ? ((await new Response(found.body).json()) as Known) : undefined
}

/** What is known of a URL, as long as its file is still there. */
async function knownOf({ files }: Resources, record: string | undefined): Promise<Known | undefined> {
  const known = record && (await read(files, record))
  return known && (await files.bucket.head(keyOf(known.file))) ? known : undefined
}

async function remember({ files }: Resources, record: string, known: Known): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(known))
  await files.bucket.put(record, bytes, { type: 'application/json' })
}

const headersFor = ({ headers }: Args, known: Known | undefined): Headers => {
  const made = new Headers(PLAIN)
  for (const [name, value] of Object.entries(headers ?? {})) made.set(name, value)
  if (known?.etag) made.set('if-none-match', known.etag)
  else if (known?.lastModified) made.set('if-modified-since', known.lastModified)
  return made
}

// The jobs

/** Where the bucket is: a place that the deployment has allowed, and nothing of the address but its origin. */
function endpointOf(
  bucket: NonNullable<Args['bucket']>,
  allowed: readonly string[],
  allowHosts: readonly string[],
): URL {
  const given = bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`
  const { href, origin } = guarded(given, allowHosts)
  if (href !== `${origin}/`) throw new Terminal(`bucket.endpoint: expected an origin like ${origin}, got ${href}`)
  const name = bucket.endpoint ? `${origin}/${bucket.name}` : bucket.name
  if (!allowed.some((one) => fitsGlob(one, name)))
    throw new Terminal(`bucket ${name} is not among those of this deployment; SIDEJOB_S3_BUCKETS can allow it`)
  return new URL(origin)
}

function sinkOf({ files, s3, allowHosts, fetch = globalThis.fetch }: Resources, { bucket }: Args, job: Job): Sink {
  if (!bucket) return files.bucket
  if (!s3) throw new Terminal('this deployment has no credentials for buckets of others')
  const endpoint = endpointOf(bucket, s3.buckets, allowHosts)
  return s3Sink({ ...s3, bucket: bucket.name, region: bucket.region, endpoint, fetch, signal: job.signal })
}

const KEEP = 30 * DAY

/** The file goes by a job of its own, which outlives this one. */
function keepUntil(job: Job, file: string, record: string | undefined, keep: number): void {
  job.spawn('reap', { queue: 'files', class: 'reap' }, { args: { file, ...(record ? { record } : {}) }, wait: keep })
  job.op({ op: 'disown', child: 'reap' })
}

/** Why a download ended, as it is counted. */
const countOf = (error: unknown): string => {
  const { code = '', status = 0 } = (error as { detail?: { code?: string; status?: number } }).detail ?? {}
  const names: Record<string, string> = { TLS: 'tls', MIME: 'mime', BODY: 'body', IMAGE_SIZE: 'image-size' }
  return `download.response.${names[code] ?? status}`
}

async function perform(resources: Resources, job: Job): Promise<Downloaded> {
  const { now = Date.now } = resources
  const parsed = downloadArgs.safeParse(job.args)
  if (!parsed.success) throw new Terminal(`args: ${z.prettifyError(parsed.error)}`)
  const args = parsed.data
  const { keep = KEEP } = args
  const record = recordOf(args)
  const known = await knownOf(resources, record)
  const { response, url } = await request(args.url, headersFor(args, known), resources, job)
  if (record && known && response.status === 304) {
    await drop(response)
    const { until, ...file } = known
    await remember(resources, record, { ...known, until: Math.max(until, now() + keep) })
    return { ...file, reused: true }
  }
  try {
    checkStatus(response)
  } catch (error) {
    await drop(response)
    throw error
  }
  const file = await resources.files.idOf(job.id, askedAtOf(job, args))
  const sink = sinkOf(resources, args, job)
  const maxSize = Math.min(args.maxSize ?? LARGEST, resources.maxSize ?? LARGEST)
  const looked = await store({ response, args, job, sink, key: keyOf(file), maxSize })
  const [etag, lastModified] = ['etag', 'last-modified'].map((name) => response.headers.get(name) ?? undefined)
  const downloaded: Downloaded = {
    file,
    url,
    status: response.status,
    ...looked,
    ...(etag ? { etag } : {}),
    ...(lastModified ? { lastModified } : {}),
  }
  if (record) await remember(resources, record, { ...downloaded, until: now() + keep })
  if (!args.bucket) keepUntil(job, file, record, keep)
  return downloaded
}

// 2, 4, 6, … minutes; the last holds for all after it.
const delays = Array.from({ length: 30 }, (_, i) => (i + 1) * 2 * MINUTE)

/**
 * Downloads a URL and answers what came: `{ queue: 'downloader', class: 'download', args: { url } }`.
 *
 * @example workers: [download({ files, allowHosts: [] })]
 */
export const download = (resources: Resources) =>
  defineWorker({
    queue: 'downloader',
    class: 'download',
    description: 'Stores what a URL answers, in our bucket or another, with its type, size and checksums.',
    isolate: true,
    timeout: 5 * MINUTE,
    retry: { max: 2, backoff: { delays, jitter: 0 } },
    async perform(job) {
      try {
        const downloaded = await perform(resources, job)
        job.count(`download.response.${downloaded.status}`)
        return downloaded
      } catch (error) {
        job.count(countOf(error))
        throw error
      }
    },
  })

type Reaped = { file?: string; job?: number; askedAt?: number; record?: string }

/** Removes a file, named or by the job that stored it, unless the same was asked for again meanwhile. */
export const reap = ({ files, now = Date.now }: Pick<Resources, 'files' | 'now'>) =>
  defineWorker({
    queue: 'files',
    class: 'reap',
    description: 'Removes a stored file.',
    retry: { max: 20, backoff: { base: 10 * SECOND } },
    retain: 0,
    async perform(job) {
      const { job: of, askedAt, record, ...given } = job.args as Reaped
      const file = given.file ?? (await files.idOf(of!, askedAt))
      const known = record ? await read(files, record) : undefined
      const isWanted = known?.file === file
      if (isWanted && known.until > now() + MINUTE) return job.again({ at: known.until })
      await files.bucket.delete(keyOf(file))
      if (isWanted) await files.bucket.delete(record!)
      job.count('reaperSuccessfulDeletions')
    },
  })
