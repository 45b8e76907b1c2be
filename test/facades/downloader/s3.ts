import { createReadStream } from 'node:fs'
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Kept = { path: string; headers: Record<string, string> }
type Begun = Kept & { key: string; parts: number[] }

/** Clients send parts in order, so each part can be appended to the file. */
async function append(path: string, request: IncomingMessage): Promise<number> {
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    await appendFile(path, chunk)
    size += chunk.length
  }
  return size
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

export async function startS3() {
  const root = await mkdtemp(join(tmpdir(), 'sidejob-s3-'))
  const objects = new Map<string, Kept>()
  const uploads = new Map<string, Begun>()
  const unsigned: string[] = []
  const self = { broken: false, names: 0 }
  const newPath = () => join(root, String(++self.names))

  async function keep(key: string, { path, headers }: Kept): Promise<void> {
    const to = newPath()
    await rename(path, to)
    objects.set(key, { path: to, headers })
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, 'http://s3')
    const headers = request.headers as Record<string, string>
    const id = url.searchParams.get('uploadId') ?? ''
    if (!/^AWS4-HMAC-SHA256 Credential=key\/\d+\/eu-west-1\/s3\//.test(headers.authorization ?? ''))
      unsigned.push(url.pathname)
    if (self.broken) return response.writeHead(503).end()
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      const upload = `u/${++self.names}`
      uploads.set(upload, { key: url.pathname, path: newPath(), headers, parts: [] })
      return response.end(
        `<InitiateMultipartUploadResult><UploadId>${upload}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    if (request.method === 'PUT' && id) {
      const { path, parts } = uploads.get(id)!
      if (parts.push(await append(path, request)) !== Number(url.searchParams.get('partNumber')))
        return response.writeHead(400).end()
      return response.writeHead(200, { etag: `"${parts.at(-1)}"` }).end()
    }
    if (request.method === 'POST' && id) {
      const upload = uploads.get(id)!
      const named = [...(await textOf(request)).matchAll(/<ETag>"(\d+)"<\/ETag>/g)].map((found) => Number(found[1]))
      const fits = JSON.stringify(named) === JSON.stringify(upload.parts)
      if (fits) await keep(upload.key, upload)
      uploads.delete(id)
      return response.end(fits ? '<CompleteMultipartUploadResult/>' : '<Error><Code>InvalidPart</Code></Error>')
    }
    if (request.method === 'DELETE' && id) uploads.delete(id)
    if (request.method === 'PUT') {
      const path = newPath()
      await writeFile(path, '')
      await append(path, request)
      await keep(url.pathname, { path, headers })
    }
    return response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    unsigned,
    self,
    read: (key: string) => createReadStream(objects.get(key)!.path),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      await rm(root, { recursive: true, force: true })
    },
  }
}
