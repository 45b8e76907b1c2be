// A Cloudflare, an Upstash and a QStash for deployments to be tried on: they answer what the vendors answer, with their
// error codes, and keep what they were told. A Worker that is deployed answers as ours does.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VERSION } from '../../../src/engine/index.ts'

type Binding = { type: string; name: string; text?: string; bucket_name?: string }
export type FakeWorker = { secrets: Record<string, string>; buckets: string[]; crons: string[]; placement?: object }

/** What goes wrong, once or always, at requests that fit. */
export type Fault = {
  at: RegExp
  status?: number
  code?: number
  message?: string
  /** The connection breaks: before anything is done, or after. */
  breaks?: 'before' | 'after'
  times?: number
}

type Call = { request: IncomingMessage; response: ServerResponse; path: string; method: string; body: Buffer }

const headersOf = (request: IncomingMessage) => ({ 'content-type': request.headers['content-type'] ?? '' })

async function uploadOf(request: IncomingMessage, body: Buffer): Promise<FakeWorker> {
  const form = await new Response(new Uint8Array(body), { headers: headersOf(request) }).formData()
  const metadata = JSON.parse(String(form.get('metadata'))) as { bindings: Binding[]; placement?: object }
  return {
    secrets: Object.fromEntries(
      metadata.bindings.flatMap(({ type, name, text }) => (type === 'secret_text' ? [[name, text!]] : [])),
    ),
    buckets: metadata.bindings.flatMap(({ bucket_name }) => (bucket_name ? [bucket_name] : [])),
    crons: [],
    ...(metadata.placement ? { placement: metadata.placement } : {}),
  }
}

/**
 * Starts them all on one port.
 *
 * @example const cloud = await startCloud(); await deploy({ env: cloud.env })
 */
export async function startCloud() {
  const workers = new Map<string, FakeWorker>()
  const buckets = new Set<string>()
  const schedules = new Map<string, { destination: string; cron: string }>()
  const state = {
    accounts: [{ id: 'acc1', name: 'One' }],
    subdomain: 'acme' as string | undefined,
    r2: true,
    /** What stands before the Worker and answers in its place. */
    bot: false,
    health: { ok: true, redis: true, version: VERSION } as object,
    /** How QStash's message ends. */
    delivery: 'DELIVERED',
    faults: [] as Fault[],
    seen: [] as string[],
  }

  const json = ({ response }: Call, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const ok = (call: Call, result: unknown = {}) => json(call, 200, { success: true, errors: [], messages: [], result })
  const no = (call: Call, status: number, code: number, message: string) =>
    json(call, status, { success: false, errors: [{ code, message }], messages: [], result: null })
  const noWorker = (call: Call) => no(call, 404, 10007, 'This Worker does not exist on your account.')

  async function script(call: Call, name: string, rest: string): Promise<unknown> {
    const worker = workers.get(name)
    const { method, body, request } = call
    if (method === 'PUT' && rest === '') {
      const { secrets, ...uploaded } = await uploadOf(request, body)
      workers.set(name, { ...uploaded, secrets: { ...worker?.secrets, ...secrets } })
      return ok(call, { id: name, tag: 't', etag: 'e', startup_time_ms: 5, deployment_id: 'd', entry_point: 'w.js' })
    }
    if (!worker) return noWorker(call)
    // One that is there already gets a version, which is then deployed.
    if (method === 'POST' && rest === '/versions') {
      const { secrets, ...uploaded } = await uploadOf(request, body)
      workers.set(name, { ...uploaded, secrets: { ...worker.secrets, ...secrets }, crons: worker.crons })
      const resources = { script: { etag: 'e', handlers: ['fetch'] }, bindings: [], script_runtime: {} }
      return ok(call, { id: 'v', number: 2, metadata: {}, resources, startup_time_ms: 5 })
    }
    if (method === 'DELETE' && rest === '') return workers.delete(name) && ok(call)
    if (rest === '/secrets' && method === 'PUT') {
      const { name: secret, text } = JSON.parse(body.toString()) as { name: string; text: string }
      worker.secrets[secret] = text
      return ok(call, { name: secret, type: 'secret_text' })
    }
    if (rest === '/secrets')
      return ok(
        call,
        Object.keys(worker.secrets).map((secret) => ({ name: secret, type: 'secret_text' })),
      )
    if (rest === '/schedules' && method === 'PUT') {
      worker.crons = (JSON.parse(body.toString()) as { cron: string }[]).map(({ cron }) => cron)
      return ok(call, { schedules: worker.crons.map((cron) => ({ cron })) })
    }
    if (rest === '/subdomain') return ok(call, { enabled: true, previews_enabled: false })
    if (rest === '/versions') return ok(call, { items: [] })
    if (rest === '/deployments') return ok(call, { deployments: [], items: [] })
    return ok(call, { bindings: [], schedules: [] })
  }

  /** A Worker as wrangler asks for one that it has deployed before. */
  function serviceView(call: Call, name: string, part: string): unknown {
    const worker = workers.get(name)
    if (!worker) return no(call, 404, 10090, 'workers.api.error.service_not_found')
    if (part.endsWith('/bindings') || part.endsWith('/routes')) return ok(call, [])
    const script = { id: name, tag: 't', last_deployed_from: 'wrangler' }
    const environment = { environment: 'production', script }
    const subdomain = { enabled: true, previews_enabled: false }
    return ok(call, { id: name, ...environment, ...subdomain, default_environment: environment, subdomain })
  }

  async function cloudflare(call: Call, path: string): Promise<unknown> {
    if (path === '/accounts') return ok(call, state.accounts)
    const [, , rest] = /^\/accounts\/([^/]+)(\/.*)$/.exec(path) ?? []
    const [, name, more] = /^\/workers\/scripts\/([^/]+)(.*)$/.exec(rest ?? '') ?? []
    if (name) return script(call, name, more!)
    const [, service, part = ''] = /^\/workers\/(?:services|workers)\/([^/]+)(\/.*)?$/.exec(rest ?? '') ?? []
    if (service) return serviceView(call, service, part)
    if (rest === '/workers/subdomain')
      return state.subdomain
        ? ok(call, { subdomain: state.subdomain })
        : no(call, 404, 10007, 'workers.api.error.subdomain_not_found')
    if (rest === '/r2/buckets' && call.method === 'POST') {
      if (!state.r2) return no(call, 403, 10042, 'Please enable R2 through the Cloudflare Dashboard.')
      const bucket = (JSON.parse(call.body.toString()) as { name: string }).name
      if (buckets.has(bucket))
        return no(call, 409, 10004, 'The bucket you tried to create already exists, and you own it.')
      buckets.add(bucket)
      return ok(call, { name: bucket })
    }
    return ok(call)
  }

  function qstash(call: Call, path: string): unknown {
    const [, id = ''] = /^\/v2\/schedules\/([^/]+)$/.exec(path) ?? []
    if (call.method === 'POST' && path.startsWith('/v2/schedules/')) {
      const name = String(call.request.headers['upstash-schedule-id'])
      const destination = decodeURIComponent(path.slice('/v2/schedules/'.length))
      schedules.set(name, { destination, cron: String(call.request.headers['upstash-cron']) })
      return json(call, 201, { scheduleId: name })
    }
    if (id) {
      const known = schedules.get(id)
      if (!known) return json(call, 404, { error: `schedule ${id} not found` })
      if (call.method === 'DELETE') schedules.delete(id)
      return json(call, 200, { scheduleId: id, ...known })
    }
    if (path === '/v2/schedules')
      return json(
        call,
        200,
        [...schedules].map(([scheduleId, schedule]) => ({ scheduleId, ...schedule })),
      )
    if (path.startsWith('/v2/publish/')) return json(call, 201, { messageId: 'msg_1' })
    return json(call, 200, {
      logs: [{ messageId: 'msg_1', state: state.delivery, time: 1 }],
      events: [{ messageId: 'msg_1', state: state.delivery, time: 1 }],
      cursor: '',
    })
  }

  function worker(call: Call, name: string, path: string): unknown {
    if (state.bot)
      return call.response.writeHead(403, { 'content-type': 'text/html' }).end('<html>Just a moment...</html>')
    if (!workers.has(name))
      return call.response.writeHead(404, { 'content-type': 'text/html' }).end('<html>error 1042</html>')
    if (path === '/health') {
      call.response.setHeader('server-timing', 'redis;desc="a round trip to Redis";dur=7')
      return json(call, 200, state.health)
    }
    return json(call, 401, { error: { code: 'UNAUTHENTICATED', message: 'the signature is missing' } })
  }

  async function answer(call: Call): Promise<unknown> {
    const line = `${call.method} ${call.path}`
    state.seen.push(line)
    const fault = state.faults.find(({ at, times = 1 }) => times > 0 && at.test(line))
    if (fault) fault.times = (fault.times ?? 1) - 1
    if (fault?.breaks === 'before') return call.request.socket.destroy()
    if (fault?.code) return no(call, fault.status ?? 400, fault.code, fault.message!)
    const [, where, rest] = /^\/([^/]+)(\/.*)$/.exec(call.path) ?? []
    if (fault?.breaks === 'after') {
      const held = { ...call, response: { writeHead: () => ({ end: () => undefined }) } as unknown as ServerResponse }
      await cloudflare(held, rest!)
      return call.request.socket.destroy()
    }
    if (where === 'cloudflare') return cloudflare(call, rest!)
    if (where === 'qstash') return qstash(call, rest!)
    if (where === 'upstash')
      return json(call, 200, [{ endpoint: 'near.upstash.test', region: 'global', primary_region: 'us-east-1' }])
    return worker(call, where!, rest!)
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url!.split('?')[0]!
    await answer({ request, response, path, method: request.method!, body: Buffer.concat(chunks) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    ...{ workers, buckets, schedules, state, base },
    /** What a deployment is told to come here. */
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
    },
  }
}

export type Cloud = Awaited<ReturnType<typeof startCloud>>
