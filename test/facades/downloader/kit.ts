import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { download, reap } from '../../../functions/download.ts'
import type { Downloads } from '../../../src/core/files.ts'
import { downloaderPayload } from '../../../src/facades/downloader/shown.ts'
import { facades } from '../../../src/facades/index.ts'
import { createFiles } from '../../../src/files.ts'
import { createApp } from '../../../src/http/app.ts'
import { folderBucket } from '../../kit/folder-bucket.ts'
import { startKit } from '../../kit/index.ts'
import { startReceiver } from '../../kit/receiver.ts'

export const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
const MINUTE = 60_000

type Shown = Record<'download_state' | 'callback_state' | 'error', string> & {
  download_count: number
  callback_count: number
}

type Fetch = (request: Request) => Response | Promise<Response>

function requestOf(incoming: IncomingMessage, url: string): Request {
  const body = ['GET', 'HEAD'].includes(incoming.method!) ? undefined : (Readable.toWeb(incoming) as ReadableStream)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
  return new Request(url, { method: incoming.method, headers, body, duplex: 'half' } as RequestInit)
}

async function serve(handler: { fetch: Fetch }) {
  const server: Server = createServer(async (incoming, outgoing) => {
    const response = await handler.fetch(requestOf(incoming, `${url}${incoming.url}`))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing)
    else outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type DownloadOptions = {
  s3?: { accessKeyId: string; secretAccessKey: string; buckets: string[] }
  maxSize?: number
  signed?: boolean
  fetch?: typeof fetch
  kafka?: boolean
}

export async function startDownloads({ s3, fetch: fetching, kafka, maxSize, signed }: DownloadOptions = {}) {
  let offset = 0
  const now = () => Date.now() + offset
  const origin = await startReceiver(undefined, now)
  const caller = await startReceiver(undefined, now)
  const root = await mkdtemp(join(tmpdir(), 'sidejob-files-'))
  const bucket = folderBucket(root)
  const handler: { fetch: Fetch } = { fetch: () => new Response(null, { status: 503 }) }
  const http = await serve(handler)
  const files = createFiles({ bucket, secret: 'files of the test', publicUrl: http.url, now })
  const allowHosts = ['127.0.0.1']
  const downloads: Downloads = {
    files,
    allowHosts,
    ...(signed ? {} : { base: `${http.url}/files` }),
    keep: 180 * MINUTE,
    ...(kafka ? { kafka: caller.url } : {}),
  }
  const kit = await startKit({
    workers: [download({ files, allowHosts, s3, maxSize, now, fetch: fetching }), reap({ files, now })],
    webhookSecrets: [SECRET],
    payloads: { downloader: downloaderPayload(downloads) },
    random: () => 0.5,
  })
  const app = createApp({
    facades,
    engine: kit.engine,
    verify: async () => false,
    publicUrl: http.url,
    downloads,
  })
  handler.fetch = (request) => app.fetch(request)

  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${http.url}${path}`, {
      method,
      headers: { authorization: 'Bearer dev', 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })

  const usual = (more: object = {}) => ({
    aggr_id: 'shop',
    aggr_limit: 1,
    url: `${origin.url}/file`,
    callback_url: `${caller.url}/x`,
    extra: 'foobar',
    ...more,
  })

  return {
    ...kit,
    url: http.url,
    bucket,
    files,
    origin,
    caller,
    ask,
    usual,
    now,
    async submit(more: object = {}): Promise<string> {
      const response = await ask('POST', '/downloader/download', usual(more))
      if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`)
      return ((await response.json()) as { id: string }).id
    },
    stateOf: async (id: string) => (await (await ask('GET', `/downloader/jobs/${id}`)).json()) as Shown,
    advance: async (ms: number) => {
      offset += ms
      await kit.advance(ms)
      await kit.engine.tick()
    },
    calls: (id: string) =>
      caller.came.map(({ body }) => JSON.parse(body) as Record<string, unknown>).filter(({ job_id }) => job_id === id),
    async close() {
      await kit.close()
      await Promise.all([http.close(), origin.close(), caller.close()])
      await rm(root, { recursive: true, force: true })
    },
  }
}

export type DownloadKit = Awaited<ReturnType<typeof startDownloads>>
