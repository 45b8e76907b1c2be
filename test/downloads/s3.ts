// The little of S3 that storing needs, on a port of the test's own: objects in memory, signatures looked at.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Kept = { body: Buffer; headers: Record<string, string> }

/** @example const s3 = await startS3() */
export async function startS3() {
  const objects = new Map<string, Kept>()
  const uploads = new Map<string, { key: string; headers: Record<string, string>; parts: Buffer[] }>()
  const unsigned: string[] = []
  const self = { broken: false }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const url = new URL(request.url!, 'http://s3')
    const headers = request.headers as Record<string, string>
    const id = url.searchParams.get('uploadId') ?? ''
    if (!/^AWS4-HMAC-SHA256 Credential=key\/\d+\/eu-west-1\/s3\//.test(headers.authorization ?? ''))
      unsigned.push(url.pathname)
    if (self.broken) return response.writeHead(503).end()
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      uploads.set('u/1', { key: url.pathname, headers, parts: [] })
      return response.end('<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>')
    }
    if (request.method === 'PUT' && id) {
      uploads.get(id)!.parts[Number(url.searchParams.get('partNumber')) - 1] = body
      return response.writeHead(200, { etag: `"${body.length}"` }).end()
    }
    if (request.method === 'POST' && id) {
      const upload = uploads.get(id)!
      const named = [...body.toString().matchAll(/<ETag>"(\d+)"<\/ETag>/g)].map((found) => Number(found[1]))
      const fits = named.every((size, i) => size === upload.parts[i]?.length) && named.length === upload.parts.length
      if (fits) objects.set(upload.key, { body: Buffer.concat(upload.parts), headers: upload.headers })
      uploads.delete(id)
      return response.end(fits ? '<CompleteMultipartUploadResult/>' : '<Error><Code>InvalidPart</Code></Error>')
    }
    if (request.method === 'DELETE' && id) uploads.delete(id)
    if (request.method === 'PUT') objects.set(url.pathname, { body, headers })
    return response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    unsigned,
    self,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
