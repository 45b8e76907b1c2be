import { fromBase64Url, toBase64Url } from './core/codec/base64.ts'
import {
  type Bucket,
  type Files,
  fileId,
  isSameFile,
  keyOf,
  numberIn,
  type Range,
  type Stored,
  type StoreOptions,
} from './core/files.ts'

type R2Object = {
  size: number
  httpEtag: string
  uploaded: Date
  httpMetadata?: { contentType?: string }
  customMetadata?: Record<string, string>
}
type R2Part = { partNumber: number; etag: string }
export type R2 = {
  head: (key: string) => Promise<R2Object | null>
  get: (key: string, options?: { range?: Range }) => Promise<(R2Object & { body: ReadableStream<Uint8Array> }) | null>
  put: (key: string, value: Uint8Array, options?: object) => Promise<unknown>
  delete: (key: string) => Promise<void>
  list: (options: {
    limit: number
    cursor?: string
    prefix?: string
    include?: readonly 'httpMetadata'[]
  }) => Promise<{ objects: (R2Object & { key: string })[]; truncated: boolean; cursor?: string }>
  createMultipartUpload: (
    key: string,
    options?: object,
  ) => Promise<{
    uploadPart: (n: number, value: Uint8Array) => Promise<R2Part>
    complete: (parts: R2Part[]) => Promise<unknown>
    abort: () => Promise<void>
  }>
}

const optionsOf = ({ type, metadata }: StoreOptions) => ({
  ...(type ? { httpMetadata: { contentType: type } } : {}),
  ...(metadata ? { customMetadata: metadata } : {}),
})

const storedOf = ({ size, httpEtag, uploaded, httpMetadata, customMetadata }: R2Object): Stored => ({
  size,
  type: httpMetadata?.contentType,
  etag: httpEtag,
  storedAt: Number(uploaded),
  metadata: customMetadata ?? {},
})

export const r2Bucket = (r2: R2): Bucket => ({
  async head(key) {
    const found = await r2.head(key)
    return found && storedOf(found)
  },
  async get(key, range) {
    const found = await r2.get(key, range ? { range } : undefined)
    return found && { ...storedOf(found), body: found.body }
  },
  async put(key, bytes, options) {
    await r2.put(key, bytes, optionsOf(options))
  },
  async upload(key, options) {
    const upload = await r2.createMultipartUpload(key, optionsOf(options))
    const parts: R2Part[] = []
    return {
      part: async (n, bytes) => void parts.push(await upload.uploadPart(n, bytes)),
      complete: async () => void (await upload.complete(parts)),
      abort: () => upload.abort(),
    }
  },
  delete: (key) => r2.delete(key),
  async list(page) {
    const { objects, truncated, cursor } = await r2.list({ ...page, include: ['httpMetadata'] })
    const kept = objects.map(({ key, size, uploaded, httpMetadata }) => ({
      key,
      size,
      storedAt: Number(uploaded),
      type: httpMetadata?.contentType,
    }))
    return { objects: kept, ...(truncated ? { cursor } : {}) }
  },
})

const encoder = new TextEncoder()

/**
 * Stores files in an R2 bucket. The secret signs ids and addresses.
 *
 * @example const files = createFiles({ bucket: r2Bucket(env.FILES), secret, publicUrl, now: Date.now })
 */
export function createFiles(options: { bucket: Bucket; secret: string; publicUrl: string; now: () => number }): Files {
  const { bucket, secret, publicUrl, now } = options

  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = () => crypto.subtle.importKey('raw', encoder.encode(`files:${secret}`), hmac, false, ['sign', 'verify'])
  const mac = async (text: string) =>
    new Uint8Array(await crypto.subtle.sign('HMAC', await key(), encoder.encode(text)))

  const idOf = async (job: number, askedAt?: number): Promise<string> =>
    fileId(job, await mac(`job:${job}`), askedAt === undefined ? undefined : await mac(`job:${job}:${askedAt}`))

  return {
    bucket,
    idOf,
    async jobOf(id) {
      const job = numberIn(id)
      return job !== undefined && isSameFile(await idOf(job), id) ? job : undefined
    },
    async sign(id, length, since) {
      const expires = Math.ceil(((since ?? now()) + length) / 1000)
      const signature = toBase64Url(await mac(`${keyOf(id)}?${expires}`))
      const url = `${publicUrl}/files/${id}?expires=${expires}&signature=${signature}`
      return { url, expiresAt: expires * 1000 }
    },
    async verify(id, { expires = '', signature = '' }) {
      if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 < now() || !/^[\w-]{43}$/.test(signature)) return false
      const given = fromBase64Url(signature) as BufferSource
      // crypto.subtle.verify compares in constant time.
      return crypto.subtle.verify('HMAC', await key(), given, encoder.encode(`${keyOf(id)}?${expires}`))
    },
  }
}
