// A push worker that counts concurrent calls. A call stays open even if its caller has died.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

type Snapshot = { job: { id: number; args: { key?: string } | null } }

export type Arrival = { id: number; key: string; at: number }

export async function startTarget(holdMs: () => number) {
  const arrivals: Arrival[] = []
  const open = new Map<string, number>()
  const most = new Map<string, number>()

  const server = createServer(async (request, response) => {
    const at = performance.now()
    let body = ''
    for await (const chunk of request) body += chunk
    const { job } = JSON.parse(body) as Snapshot
    const key = job.args?.key ?? ''
    arrivals.push({ id: job.id, key, at })
    const now = (open.get(key) ?? 0) + 1
    open.set(key, now)
    most.set(key, Math.max(most.get(key) ?? 0, now))
    await sleep(holdMs())
    open.set(key, open.get(key)! - 1)
    response.end('{"end":"completed"}')
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    most,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
