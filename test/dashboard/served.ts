import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Deps } from '../../src/http/deps.ts'
import type { Kit, KitOptions } from '../kit/index.ts'
import { startPages } from './kit.ts'

export async function serve(options: KitOptions = {}, more?: (kit: Kit) => Partial<Deps>) {
  const pages = await startPages(options, more)
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', headers, url } = incoming
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      ),
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit)
    const answer = await pages.app.fetch(request)
    for (const [name, value] of answer.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value)
    outgoing.setHeader('set-cookie', answer.headers.getSetCookie())
    outgoing.writeHead(answer.status)
    if (!answer.body) return outgoing.end()
    const body = Readable.fromWeb(answer.body as never)
    body.on('error', () => outgoing.end()).pipe(outgoing)
    outgoing.on('close', () => body.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...pages,
    url,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await pages.close()
    },
  }
}
