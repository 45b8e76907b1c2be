import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { development, startQstash } from '../../infra/stand-ins/qstash.ts'
import { createClient } from '../../src/client/index.ts'
import { createWorker, type ExecutionContext } from '../../src/cloudflare/node.ts'
import type { Worker } from '../../src/core/worker.ts'
import { facades } from '../../src/facades/index.ts'
import { startState } from '../kit/index.ts'

export const KEY = 'dev'

type Served = { fetch: (request: Request, env: never, context: ExecutionContext) => Response | Promise<Response> }
const served = (functions: Worker[]): Served =>
  createWorker<Record<string, unknown>>({ functions, facades, storing: () => [] })

export async function startSite(work: Worker[] | Served, vars: Record<string, unknown> = {}) {
  const state = await startState()
  const qstash = await startQstash({ control: true })
  const worker = Array.isArray(work) ? served(work) : work
  const running = new Set<Promise<unknown>>()
  const keep = (work: Promise<unknown>): void => {
    const ended: Promise<unknown> = work.catch(() => undefined).then(() => running.delete(ended))
    running.add(ended)
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = ['GET', 'HEAD'].includes(incoming.method!) ? undefined : (Readable.toWeb(incoming) as ReadableStream)
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
    const request = new Request(`${url}${incoming.url}`, {
      method: incoming.method,
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    const answer = await worker.fetch(request, env as never, { waitUntil: keep })
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (!answer.body) return outgoing.end()
    const sent = Readable.fromWeb(answer.body as never)
    sent.on('error', () => outgoing.end()).pipe(outgoing)
    outgoing.on('close', () => sent.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    UPSTASH_REDIS_REST_URL: state.options.url,
    UPSTASH_REDIS_REST_TOKEN: state.options.token,
    QSTASH_URL: qstash.url,
    QSTASH_TOKEN: qstash.token,
    PUBLIC_URL: url,
    SIDEJOB_API_KEY: KEY,
    QSTASH_CURRENT_SIGNING_KEY: development.currentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: development.nextSigningKey,
    SIDEJOB_WEBHOOK_SECRET: 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM=',
    SIDEJOB_ALLOW_HOSTS: '127.0.0.1',
    SIDEJOB_TEST_CLOCK: '1',
    SIDEJOB_LOG: 'none',
    FILES: {},
    ...vars,
  }
  const client = createClient({ url, key: KEY })

  return {
    url,
    client,
    env,
    redis: state.options,
    qstash,
    /** Creates jobs until the next job will get this id. */
    async from(id: number) {
      await client.workers.register('before', 'before', { pull: true })
      if (id > 1)
        await client.jobs.enqueue(Array.from({ length: id - 1 }, () => ({ class: 'before', queue: 'before' })))
    },
    async reaches(id: number, status: string) {
      while ((await client.jobs.get(id)).status !== status) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    async close() {
      await qstash.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await Promise.race([Promise.all(running), new Promise((resolve) => setTimeout(resolve, 100))])
      await state.close()
    },
  }
}

export type Site = Awaited<ReturnType<typeof startSite>>
