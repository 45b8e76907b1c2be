// A fake of the APIs of Cloudflare and Upstash. An unknown request fails the test.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VERSION } from '../../../src/engine/index.ts'
import { type Answer, type Call, createCloudflareApi, type OnDeployed, refused } from './cloudflare.ts'
import { answerUpstash, createQstashApi } from './upstash.ts'

export type { FakeWorker } from './cloudflare.ts'

export type Fault = {
  at: RegExp
  status?: number
  code?: number
  message?: string
  breaks?: 'before' | 'after' | 'never'
  times?: number
}

const near = {
  database_id: 'db1',
  database_name: 'jobs',
  endpoint: 'near.upstash.test',
  region: 'global',
  primary_region: 'us-east-1',
  read_regions: [] as string[],
  eviction: false,
  type: 'paid',
  budget: 0,
}

const html = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end(text)

const busy: Answer = { ...refused(429, 10429, 'Too many requests'), headers: { 'retry-after': '0' } }

export async function startCloud({ onDeployed }: { onDeployed?: OnDeployed } = {}) {
  const state = {
    accounts: [{ id: 'acc1', name: 'One' }],
    pageSize: 2,
    subdomain: 'acme' as string | undefined,
    r2: true,
    /** Permission of the token for D1. */
    d1: true,
    databases: [near],
    mount: '',
    tick: undefined as string | undefined,
    bot: false,
    health: { ok: true, redis: true, version: VERSION } as { ok: boolean; redis?: boolean; version?: string },
    delivery: 'DELIVERED',
    late: 2,
    busyEvery: 29,
    faults: [] as Fault[],
    seen: [] as string[],
    unknown: [] as string[],
  }
  const cloudflare = createCloudflareApi(state, onDeployed)
  const { workers, buckets, databases } = cloudflare

  function takes(destination: string): boolean {
    const { hostname, pathname } = new URL(destination)
    const [, first = '', rest = ''] = /^\/([^/]+)(\/.*)$/.exec(pathname) ?? []
    const [name, path] = hostname === '127.0.0.1' ? [first, rest] : [hostname.split('.')[0]!, pathname]
    return workers.has(name) && path === `${state.mount}/tick`
  }
  const qstash = createQstashApi(state, takes)

  /** Only paths below `mount` belong to sidejob. All other paths belong to the user's app, which has no /health. */
  function worker(response: ServerResponse, name: string, path: string, authorization?: string): unknown {
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (state.bot) return html(response, 403, '<html>Just a moment...</html>')
    const [, found] = [...workers].find(([one]) => one.toLowerCase() === name) ?? []
    if (!found) return html(response, 404, '<html>error 1042</html>')
    const { mount, tick } = state
    if (mount && path === '/.well-known/sidejob') return json(200, { mount, ...(tick && { cron: tick }) })
    if (!path.startsWith(`${mount}/`)) return html(response, 404, 'my own app')
    const own = path.slice(mount.length)
    if (own === '/tick') return json(401, { error: { code: 'UNAUTHENTICATED', message: 'the signature is missing' } })
    if (own !== '/health') return json(404, { error: { code: 'NOT_FOUND', message: path } })
    response.setHeader('server-timing', 'redis;desc="a round trip to Redis";dur=7')
    const { version, ...open } = state.health
    // An unknown key counts as no key.
    const hasKey = authorization === `Bearer ${found.secrets.SIDEJOB_API_KEY}`
    return json(200, hasKey ? { version, ...open } : open)
  }

  async function answerOf(vendor: string, call: Call): Promise<Answer | undefined> {
    if (vendor === 'cloudflare') return cloudflare.answer(call)
    if (vendor === 'qstash') return qstash.answer(call)
    return answerUpstash(call, state.databases)
  }

  let asked = 0
  const isBusy = () => state.busyEvery > 0 && ++asked % state.busyEvery === 0

  function faultAt(line: string): Fault | undefined {
    const fault = state.faults.find(({ at, times = 1 }) => times > 0 && at.test(line))
    if (fault) fault.times = (fault.times ?? 1) - 1
    return fault
  }

  async function vendorAnswers(vendor: string, call: Call, line: string, fault?: Fault): Promise<Answer> {
    if (!fault && isBusy()) return busy
    const answer = await answerOf(vendor, call)
    if (answer) return answer
    state.unknown.push(line)
    return refused(404, 7003, `Could not route to ${call.path}, perhaps your object identifier is invalid?`)
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(request.url!, 'http://cloud')
    const [, where = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(pathname) ?? []
    const line = `${request.method} ${pathname}`
    state.seen.push(line)
    const fault = faultAt(line)
    if (fault?.breaks === 'before') return request.socket.destroy()
    if (fault?.breaks === 'never') return undefined
    const send = ({ status, json, headers }: Answer) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json))
    if (fault?.status === 429) return send(busy)
    if (fault?.code) return send(refused(fault.status ?? 400, fault.code, fault.message!))
    if (!['cloudflare', 'qstash', 'upstash'].includes(where))
      return worker(response, where, path, request.headers.authorization)
    const headers = request.headers as Record<string, string>
    const call = { method: request.method!, path, query: searchParams, headers, body: Buffer.concat(chunks) }
    const answer = await vendorAnswers(where, call, line, fault)
    if (fault?.breaks === 'after') return request.socket.destroy()
    return send(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    workers,
    buckets,
    databases,
    schedules: qstash.schedules,
    state,
    base,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      CLOUDFLARE_API_TOKEN: 'a-token-of-the-test',
      CLOUDFLARE_API_BASE_URL: `${base}/cloudflare`,
      UPSTASH_API_URL: `${base}/upstash`,
      UPSTASH_EMAIL: 'me@example.test',
      UPSTASH_API_KEY: 'upstash-key',
      UPSTASH_REDIS_REST_URL: 'https://near.upstash.test',
      UPSTASH_REDIS_REST_TOKEN: 'redis-token',
      QSTASH_URL: `${base}/qstash`,
      QSTASH_TOKEN: 'qstash-token',
      QSTASH_CURRENT_SIGNING_KEY: 'sig_1',
      QSTASH_NEXT_SIGNING_KEY: 'sig_2',
    } as Record<string, string | undefined>,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (state.unknown.length) throw new Error(`The fake cloud does not know ${state.unknown.join(', ')}`)
    },
  }
}

export type Cloud = Awaited<ReturnType<typeof startCloud>>
