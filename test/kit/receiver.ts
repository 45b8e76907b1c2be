import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Came = {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  at: number
}

export type Handler = (came: Came, response: ServerResponse, request: IncomingMessage) => unknown

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Tests may replace `answer` at any time. */
export async function startReceiver(answer: Handler = (_, response) => response.end('ok'), now = Date.now) {
  const came: Came[] = []
  const self = { answer }
  let open = 0
  let most = 0
  const server = createServer(async (request, response) => {
    open++
    most = Math.max(most, open)
    response.once('close', () => open--)
    const one = {
      method: request.method!,
      path: request.url!,
      headers: request.headers as Record<string, string>,
      body: await bodyOf(request).catch(() => ''),
      at: now(),
    }
    came.push(one)
    await self.answer(one, response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    came,
    most: () => most,
    set answer(handler: Handler) {
      self.answer = handler
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
