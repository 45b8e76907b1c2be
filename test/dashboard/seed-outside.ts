import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Call } from './seed.ts'
import { worker } from './seed.ts'

const files: Record<string, { type: string; head: string; bytes: number }> = {
  '/catalogue-2026-11.csv': { type: 'text/csv', head: 'sku,name,left\n', bytes: 48_120 },
  '/labels/9917.pdf': { type: 'application/pdf', head: '%PDF-1.7\n', bytes: 182_440 },
  '/photos/mug-blue.jpg': { type: 'image/jpeg', head: '\xff\xd8\xff\xe0', bytes: 96_300 },
}

export async function startOutside() {
  const server = createServer((request, response) => {
    const file = files[request.url!]
    if (file) {
      const body = Buffer.alloc(file.bytes, 32)
      body.write(file.head, 'latin1')
      return response.writeHead(200, { 'content-type': file.type }).end(body)
    }
    const isDown = request.url!.startsWith('/down')
    request.resume()
    response
      .writeHead(isDown ? 503 : 200, { 'content-type': 'text/plain' })
      .end(isDown ? 'we are moving house' : 'thanks')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export async function seedOutside(call: Call, url: string): Promise<void> {
  for (const path of Object.keys(files))
    await call('POST', '/v1/jobs', { queue: 'downloader', class: 'download', args: { url: `${url}${path}` } })
  const { claim, commit } = worker(call, 'media')
  const told = [
    ...[1, 2, 3].map((n) => ({ url: `${url}/orders/${n}`, retry: [60] })),
    { url: `${url}/down/later`, retry: [3_600] },
    { url: `${url}/down`, retry: [] },
  ]
  for (const callback of told) await call('POST', '/v1/jobs', { queue: 'media', class: 'thumbs', callback })
  for (const run of await claim('thumbs', told.length)) await commit(run, { end: 'completed' })
}
