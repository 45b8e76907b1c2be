import { AwsClient } from 'aws4fetch'
import type { Sink, StoreOptions } from '../src/index.ts'

export type S3 = {
  bucket: string
  region: string
  endpoint: URL
  accessKeyId: string
  secretAccessKey: string
  fetch: typeof fetch
  signal?: AbortSignal
}

const headersOf = ({ type, metadata = {} }: StoreOptions): Record<string, string> => ({
  ...(type ? { 'content-type': type } : {}),
  ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
})

const xml = (text: string): string => text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`)

export function s3Sink({ bucket, endpoint, region, accessKeyId, secretAccessKey, fetch, signal }: S3): Sink {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' })
  const addressOf = (key: string, query = ''): string => {
    const url = new URL(endpoint.origin)
    url.pathname = [bucket, ...key.split('/')].map(encodeURIComponent).join('/')
    url.search = query
    return url.href
  }

  async function ask(method: string, url: string, body?: Uint8Array | string, headers: Record<string, string> = {}) {
    // The signature does not cover the body, because hashing 8 MiB would take CPU time.
    const signed = await client.sign(url, { method, headers })
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      body: body as BodyInit,
      redirect: 'manual',
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`S3 answered ${response.status} to ${method}`)
    }
    return response
  }

  async function upload(key: string, options: StoreOptions) {
    const begun = await ask('POST', addressOf(key, '?uploads='), '', headersOf(options))
    const id = /<UploadId>([^<]+)<\/UploadId>/.exec(await begun.text())?.[1]
    if (!id) throw new Error('S3 returned no UploadId')
    const query = `uploadId=${encodeURIComponent(id)}`
    const parts: { n: number; etag: string }[] = []
    return {
      async part(n: number, bytes: Uint8Array) {
        const response = await ask('PUT', addressOf(key, `?partNumber=${n}&${query}`), bytes)
        await response.body?.cancel()
        parts.push({ n, etag: response.headers.get('etag') ?? '' })
      },
      async complete() {
        const rows = parts.map(({ n, etag }) => `<Part><PartNumber>${n}</PartNumber><ETag>${xml(etag)}</ETag></Part>`)
        const body = `<CompleteMultipartUpload>${rows.join('')}</CompleteMultipartUpload>`
        const text = await (await ask('POST', addressOf(key, `?${query}`), body)).text()
        // S3 may answer 200 first and report the failure in the body.
        if (text.includes('<Error>')) throw new Error('S3 could not complete the upload')
      },
      async abort() {
        await ask('DELETE', addressOf(key, `?${query}`))
      },
    }
  }

  return {
    async put(key, bytes, options) {
      const response = await ask('PUT', addressOf(key), bytes, headersOf(options))
      await response.body?.cancel()
    },
    upload,
  }
}
