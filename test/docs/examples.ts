import type { Hono } from 'hono'
import { array } from '../../functions/array.ts'
import { download } from '../../functions/download.ts'
import { flow } from '../../functions/flow.ts'
import type { Example } from '../../infra/docs/openapi.ts'
import type { Bucket, Downloads, Stored } from '../../src/core/files.ts'
import { createEngine } from '../../src/engine/index.ts'
import { signedRun } from '../../src/engine/remote/versions.ts'
import { downloaderPayload } from '../../src/facades/downloader/shown.ts'
import { facades } from '../../src/facades/index.ts'
import { createFiles } from '../../src/files.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { createApp } from '../../src/http/app.ts'
import { createPlaces } from '../../src/http/places.ts'
import { list, listed } from '../../src/http/routes.ts'
import type { ClaimedJob } from '../../src/redis/types.ts'
import { startKit } from '../kit/index.ts'
import { startReceiver } from '../kit/receiver.ts'

export const operations = [...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))]

type Values = { body?: unknown } & Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: answers are read by name.
type Body = any

const VERSIONS = 'the secret of all versions'
const NOW = Date.UTC(2027, 0, 15, 8)
const PUBLIC_URL = 'https://jobs.example.com'
const KEY = 'dev'
const HOUR = 3_600_000

function memoryBucket(): Bucket {
  const objects = new Map<string, Stored & { bytes: Uint8Array }>()
  const put: Bucket['put'] = async (key, bytes, { type, metadata = {} } = {}) => {
    objects.set(key, { bytes, size: bytes.length, type, metadata, etag: '"5f2b"', storedAt: NOW })
  }
  return {
    put,
    head: async (key) => objects.get(key) ?? null,
    get: async (key) => {
      const found = objects.get(key)
      return found ? { ...found, body: new Response(found.bytes as BodyInit).body! } : null
    },
    upload: async (key, options) => {
      const parts: Uint8Array[] = []
      return {
        part: async (_, bytes) => void parts.push(bytes),
        complete: () => put(key, Buffer.concat(parts), options),
        abort: async () => undefined,
      }
    },
    delete: async (key) => void objects.delete(key),
    list: async () => ({ objects: [...objects].map(([key, stored]) => ({ key, ...stored })) }),
  }
}

async function startShop() {
  const receiver = await startReceiver((came, response) => {
    const status = { '/broken': 500, '/gone': 410, '/thumbnail': 202 }[came.path] ?? 200
    response.writeHead(status, { 'content-type': 'image/png' }).end(status === 200 ? 'thanks' : '')
  })
  const files = createFiles({
    bucket: memoryBucket(),
    secret: 'files of the examples',
    publicUrl: PUBLIC_URL,
    now: () => NOW,
  })
  const allowHosts = ['127.0.0.1', 'localhost']
  const downloads: Downloads = { files, allowHosts, base: `${PUBLIC_URL}/files`, keep: 3 * HOUR }
  let passed = 0
  const kit = await startKit({
    hold: true,
    apiKey: KEY,
    clock: () => NOW + passed - Date.now(),
    workers: [array, flow, download({ files, allowHosts, now: () => NOW })],
    random: () => 0.5,
    allowHosts,
    payloads: { downloader: downloaderPayload(downloads) },
    historyStore: { store: createHistoryStore(sqliteDatabase(':memory:')), days: 90 },
  })
  const version = createEngine({ ...kit.engineOptions, version: 'v1', tokenSecret: VERSIONS })
  const app = createApp({
    facades,
    engine: { ...kit.engine, performPinned: version.performPinned },
    verify: async () => true,
    publicUrl: PUBLIC_URL,
    report: console.error,
    downloads,
    clock: { advance: (ms) => kit.advance(ms) },
    tenants: createPlaces(kit.engine, (tenant) => ({
      engine: createEngine({ ...kit.engineOptions, tenant, apiKey: undefined }),
      publicUrl: `${PUBLIC_URL}/t/${tenant}`,
    })),
  })
  return {
    app,
    kit,
    files,
    receiver,
    pass(ms: number) {
      passed += ms
    },
    async close() {
      await kit.close()
      await receiver.close()
    },
  }
}

type Shop = Awaited<ReturnType<typeof startShop>>

const SHOWN_LINES = 6
const shortened = (text: string): string => {
  const lines = text.trimEnd().split('\n')
  return lines.length > SHOWN_LINES ? [...lines.slice(0, SHOWN_LINES), '…'].join('\n') : text.trimEnd()
}

function withOnePath({ openapi, info, servers, paths }: Body): Body {
  const [path, methods] = Object.entries(paths)[0]! as [string, Record<string, Body>]
  const [method, { operationId, summary }] = Object.entries(methods)[0]!
  return { openapi, info, servers, paths: { [path]: { [method]: { operationId, summary } } } }
}

async function firstEvent(response: Response): Promise<string> {
  const reader = response.body!.getReader()
  let text = ''
  while (!/data: .*\n[\s\S]*\n\n/.test(text)) text += new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  return text.slice(text.indexOf('data: ')).trimEnd()
}

const stopped = (at: number): number => (Math.abs(at - Date.now()) < HOUR ? NOW : Math.floor(at / 1_000) * 1_000)

const withoutClock = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) => new Date(stopped(Date.parse(moment))).toISOString())
    .replace(/\b1\d{12}\b/g, (moment) => String(stopped(Number(moment))))

function createCaller({ app, receiver }: { app: Hono; receiver: Shop['receiver'] }) {
  const examples: Record<string, Example> = {}
  const { port } = new URL(receiver.url)
  const fromShop = (text: string): string =>
    text
      .replaceAll(
        new RegExp(`(http://)?127\\.0\\.0\\.1(:${port})?`, 'g'),
        (_, http) => `${http ? 'https://' : ''}shop.example.com`,
      )
      .replaceAll(new RegExp(`localhost(:|%3A)${port}`, 'g'), 'broken.example.com')

  function requestOf(operation: string, { body, ...values }: Values, given: Record<string, string>) {
    const route = operations.find(({ resource, verb }) => `${resource}.${verb}` === operation)
    if (!route) throw new Error(`no operation ${operation}`)
    const path = route.path.replace(/:(\w+)/g, (_, name) => {
      const value = String(values[name])
      delete values[name]
      return name === 'channel' ? value : encodeURIComponent(value)
    })
    const query = Object.entries(values).flatMap(([name, value]) =>
      [value].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`),
    )
    const headers = {
      authorization: `Bearer ${KEY}`,
      accept: 'application/json',
      ...(body === undefined && !route.facade ? {} : { 'content-type': 'application/json' }),
      ...(route.scope === 'signed' ? { 'upstash-signature': 'checked by a test of its own' } : {}),
      ...given,
    }
    const address = query.length > 0 ? `${path}?${query.join('&')}` : path
    const init = { method: route.method, headers, body: body === undefined ? undefined : JSON.stringify(body) }
    return { route, address, init }
  }

  async function answerOf(operation: string, values: Values, headers: Record<string, string> = {}) {
    const { route, address, init } = requestOf(operation, values, headers)
    const answer = await app.request(address, init)
    if (route.media === 'text/event-stream') return { answer, address, body: answer as Body }
    const text = await answer.text()
    if (answer.status >= 400 && answer.status !== 430)
      throw new Error(`${operation}: ${answer.status} ${text} for ${init.method} ${address} ${init.body}`)
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return { answer, address, body: (isJson ? JSON.parse(text) : text) as Body }
  }

  function record(
    operation: string,
    {
      address,
      status,
      body,
      request,
      headers,
    }: { address: string; status: number; body: Body; request: unknown; headers?: Record<string, string> },
  ) {
    if (examples[operation]) throw new Error(`${operation} has an example`)
    const response = typeof body === 'string' ? shortened(body) : body?.paths ? withOnePath(body) : body
    const example: Example = {
      path: address,
      ...(headers ? { headers } : {}),
      ...(request === undefined ? {} : { request }),
      status,
      ...(response === '' ? {} : { response }),
    }
    examples[operation] = JSON.parse(withoutClock(fromShop(JSON.stringify(example))))
  }

  return {
    examples,
    record,
    call: async (operation: string, values: Values = {}, headers?: Record<string, string>): Promise<Body> =>
      (await answerOf(operation, values, headers)).body,
    async show(operation: string, values: Values = {}, headers?: Record<string, string>): Promise<Body> {
      const { answer, address, body } = await answerOf(operation, values, headers)
      if (!(body instanceof Response))
        record(operation, { address, status: answer.status, body, request: values.body, headers })
      return body
    },
    async showStream(operation: string, values: Values, publish: () => Promise<unknown>): Promise<void> {
      const { answer, address, body } = await answerOf(operation, values)
      let isOver = false
      const event = firstEvent(body).finally(() => {
        isOver = true
      })
      while (!isOver) {
        await publish()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      record(operation, { address, status: answer.status, body: await event, request: undefined })
    },
  }
}

type Caller = ReturnType<typeof createCaller>
type Part = (caller: Caller, shop: Shop) => Promise<void>

const picture = (name: string) => `https://shop.example.com/${name}.jpg`

const jobs: Part = async ({ show }) => {
  await show('workers.register', {
    queue: 'images',
    class: 'resize',
    body: {
      description: 'Resizes an image.',
      pull: true,
      timeout: '1m',
      retry: { max: 3, backoff: '10s' },
      history: 10,
      in: { file: { schema: { type: 'string' } } },
      out: { thumbnail: {} },
    },
  })
  await show('jobs.enqueue', {
    body: { queue: 'images', class: 'resize', args: { width: 200 }, inputs: { file: [picture('cat')] } },
  })
  await show('jobs.get', { job: 1 })
  await show('jobs.list', { queue: 'images', status: 'queued', fields: 'row' })
  await show('jobs.why', { job: 1 })
  await show('jobs.patch', { job: 1, body: { priority: -10, timeout: '2m' } })
  await show('jobs.addAlias', { job: 1, alias: 'cat' })
  await show('jobs.setState', { job: 'cat', body: { set: { source: 'upload' } } })
  await show('jobs.state', { job: 'cat' })
  const { token } = await show('jobs.lock', { job: 1, body: { ttl: '30s' } })
  await show('jobs.refresh', { job: 1, body: { token, ttl: '30s' } })
  await show('jobs.unlock', { job: 1, body: { token } })
  await show('jobs.copy', { job: 1, body: { args: { width: 400 }, inputs: { file: [picture('cat')] } } })
  await show('jobs.ports', { job: 2, body: { in: { file: { channels: ['/uploads'] } }, out: { thumbnail: {} } } })
  await show('jobs.cancel', { job: 2 })
  await show('jobs.remove', { job: 2 })
}

const runs: Part = async ({ show, call }, { pass }) => {
  const claimed = await show('queues.claim', { queue: 'images', body: { max: 1, wait: '20s', process: 'resizer-1' } })
  const { token } = claimed.runs[0].run
  await show('runs.heartbeat', { token, body: { progress: { done: 0.5 } } })
  await show('runs.page', { token, port: 'file', after: 0 })
  pass(1_000)
  await call('runs.commit', {
    token,
    body: {
      n: 0,
      end: 'checkpoint',
      ops: [
        { op: 'step', name: 'read size', value: { width: 1200, height: 800 }, ms: 40 },
        { op: 'spawn', name: 'small', queue: 'images', class: 'resize', args: { width: 50 } },
        { op: 'log', entry: { info: 'read cat.jpg' } },
      ],
    },
  })
  await show('runs.steps', { token })
  await show('runs.children', { token })
  await show('jobs.steps', { job: 1 })
  pass(1_000)
  await show('runs.commit', {
    token,
    body: {
      n: 1,
      end: 'completed',
      result: { width: 200, height: 133 },
      reads: { file: { cursor: claimed.runs[0].in.file.cursor, count: 1 } },
      ops: [{ op: 'write', to: { out: 'thumbnail' }, values: [picture('cat-200')] }],
    },
  })
  await show('jobs.result', { job: 1, wait: '5s' })
  await show('jobs.tree', { job: 1 })
  await show('jobs.runs', { job: 1, details: true })
  await show('jobs.pastRun', { job: 1, n: 1 })
  await show('workers.list', {})
  await show('queues.list', {})
  await show('stats.show', {})
  await show('jobs.disown', { job: 1, body: { name: 'small' } })
  await show('jobs.adopt', { job: 1, body: { job: 3, name: 'thumbnail' } })
  await show('jobs.removeAlias', { job: 1, alias: 'cat' })
  const again = await call('queues.claim', { queue: 'images', body: { process: 'resizer-1' } })
  await show('runs.release', { token: again.runs[0].run.token })
  await show('jobs.log', { job: 1, limit: 1 })
}

const ports: Part = async ({ show, call, showStream }) => {
  await call('workers.register', {
    queue: 'orders',
    class: 'approval',
    body: { pull: true, in: { answer: {}, note: {} }, out: { done: {} } },
  })
  const { id } = await call('jobs.enqueue', {
    body: { queue: 'orders', class: 'approval', alias: ['order-42'], args: { order: 42 } },
  })
  await show('ports.write', { job: 'order-42', dir: 'in', port: 'note', body: { values: ['fragile', 'gift'] } })
  await show('ports.look', { job: 'order-42', dir: 'in', port: 'note', limit: 10 })
  await show('ports.setDefault', { job: 'order-42', dir: 'in', port: 'answer', body: { value: 'no answer' } })
  await show('ports.clearDefault', { job: 'order-42', dir: 'in', port: 'answer' })
  await show('ports.setChannels', { job: 'order-42', dir: 'in', port: 'note', body: { channels: ['/orders/notes'] } })
  await call('ports.write', { job: 'order-42', dir: 'out', port: 'done', body: { values: [true, false] } })
  await show('ports.read', { job: 'order-42', dir: 'out', port: 'done', body: { max: 1 } })
  await show('ports.connect', { job: 'order-42', dir: 'out', port: 'done', body: { to: [{ job: id, in: 'note' }] } })
  const { url } = await show('links.make', { job: 'order-42', port: 'answer', body: { for: '1 day' } })
  await show('links.answer', {
    job: id,
    port: 'answer',
    token: new URL(url).searchParams.get('token'),
    body: { value: { ok: true } },
  })
  await show('channels.publish', { body: { channel: '/orders/notes', message: 'paid', keep: 1 } })
  await show('channels.list', { last: true, publishers: true })
  await show('channels.token', { channel: 'orders' })
  const publish = () => call('channels.publish', { body: { channel: '/orders/42', message: { status: 'shipped' } } })
  await showStream('channels.subscribe', { channel: 'orders' }, publish)
  await showStream('channels.listen', { channel: ['/orders', '/uploads'] }, publish)
  await show('log.write', { body: { entry: { warn: 'stock is low', sku: 'A-7' } } })
  await show('log.read', { text: 'stock', limit: 1 })
}

const waiting: Part = async ({ show, call }) => {
  const { runs: claimed } = await call('queues.claim', { queue: 'orders', body: {} })
  const [{ run, job }] = claimed
  const step = { op: 'step', name: 'charge', value: { id: 'ch_1' }, ms: 120 }
  await call('runs.commit', {
    token: run.token,
    body: { n: 0, end: 'suspended', ops: [step], pause: { until: NOW + HOUR } },
  })
  await show('waiting.list', {})
  await show('waiting.steps', { job: job.id })
  await show('waiting.children', { job: job.id })
  await show('recorded.list', {})
  await show('recorded.get', { job: job.id })
}

const limits: Part = async ({ show, call }) => {
  await call('workers.register', {
    queue: 'payments',
    class: 'charge',
    body: { pull: true, limits: [{ key: 'stripe' }] },
  })
  await show('limits.set', { key: 'stripe', body: { concurrency: 1, rate: { limit: 100, period: '1s' } } })
  const group = { id: 'customer-7', concurrency: 2 }
  for (const order of [1, 2])
    await call('jobs.enqueue', { body: { queue: 'payments', class: 'charge', args: { order }, group } })
  await call('queues.claim', { queue: 'payments', body: { max: 2, process: 'payer-1' } })
  await show('limits.get', { key: 'stripe' })
  await show('limits.list', {})
  await show('limits.holders', { key: 'stripe' })
  await show('limits.waiting', { key: 'stripe' })
  await show('groups.list', {})
  await show('groups.get', { key: 'customer-7' })
  await show('groups.patch', { key: 'customer-7', preview: true, body: { concurrency: 5 } })
  await show('constraints.set', {
    key: 'hosts',
    body: { match: { class: 'fetch', args: { host: 'example.com' } }, concurrency: 2 },
  })
  await show('constraints.get', { key: 'hosts' })
  await show('constraints.list', {})
  await show('constraints.remove', { key: 'hosts' })
  await show('processes.list', {})
  await show('processes.signal', { process: 'payer-1', body: { signal: 'quiet' } })
  await show('queues.get', { queue: 'payments', limit: 1 })
  await show('queues.patch', { queue: 'payments', details: true, body: { paused: true } })
  await show('limits.remove', { key: 'stripe' })
}

const failures: Part = async ({ show, call }) => {
  await call('workers.register', { queue: 'mail', class: 'send', body: { pull: true, retry: { max: 0 } } })
  for (const to of ['ann@example.com', 'bob@example.com'])
    await call('jobs.enqueue', { body: { queue: 'mail', class: 'send', args: { to } } })
  const { runs: claimed } = await call('queues.claim', { queue: 'mail', body: { max: 2 } })
  for (const { run } of claimed)
    await call('runs.commit', {
      token: run.token,
      body: { end: 'failed', error: { message: 'smtp.example.com: connection refused' } },
    })
  const { errors } = await show('errors.list', { queue: 'mail' })
  await show('errors.patch', { kind: errors[0].error, body: { muted: true, until: '2027-01-16T08:00:00Z' } })
  await show('jobs.retry', { job: errors[0].jobs[1] })
  await show('bulk.start', { body: { filter: { queue: 'mail', status: 'failed' }, action: 'retry' } })
  await show('jobs.terminate', { job: claimed[1].job.id, body: {} })
  await show('jobs.run', { job: claimed[1].job.id, body: { force: true } })
  await show('find.find', { q: 'mail' })
}

const callbacks: Part = async ({ show, call }, { kit, receiver }) => {
  await call('workers.register', { queue: 'exports', class: 'csv', body: { pull: true, retry: { max: 0 } } })
  const exported = async (url: string) => {
    const { id } = await call('jobs.enqueue', { body: { queue: 'exports', class: 'csv', callback: { url } } })
    const { runs: claimed } = await call('queues.claim', { queue: 'exports', body: {} })
    await call('runs.commit', { token: claimed[0].run.token, body: { end: 'completed', result: { rows: 12 } } })
    await kit.engine.dispatch('sidejob', 'examples')
    return id
  }
  const id = await exported(`${receiver.url}/exported`)
  await show('callbacks.list', { state: 'DELIVERED' })
  await show('callbacks.counts', {})
  await show('callbacks.tries', { job: id })
  await show('callbacks.resend', { job: id })
  await kit.engine.dispatch('sidejob', 'examples')
  await show('callbacks.secret', { url: 'https://shop.example.com/exported' })
  for (let n = 0; n < 5; n++) await exported(`${receiver.url.replace('127.0.0.1', 'localhost')}/broken`)
  const { breakers } = await show('breakers.list', {})
  await show('breakers.reset', { key: breakers[0].host })
}

const schedules: Part = async ({ show }) => {
  const nightly = { queue: 'exports', class: 'csv', repeat: { cron: '0 4 * * *', tz: 'Europe/Paris' } }
  await show('schedules.set', { alias: 'nightly-export', body: nightly })
  await show('schedules.add', { body: { ...nightly, alias: ['weekly-export'], repeat: { cron: '0 4 * * 1' } } })
  await show('schedules.list', { limit: 1 })
  await show('schedules.get', { job: 'nightly-export' })
  await show('schedules.patch', { job: 'nightly-export', body: { repeat: { cron: '30 4 * * *', tz: 'Europe/Paris' } } })
  await show('schedules.pause', { job: 'nightly-export' })
  await show('schedules.resume', { job: 'nightly-export' })
  await show('schedules.run', { job: 'nightly-export' })
  await show('schedules.backfill', {
    job: 'weekly-export',
    body: { from: '2027-01-01T00:00:00Z', to: '2027-01-14T00:00:00Z' },
  })
  await show('schedules.remove', { job: 'weekly-export' })
}

const graph = {
  nodes: {
    resize: { queue: 'images', class: 'resize', args: { width: 200 } },
    publish: { queue: 'images', class: 'resize', args: { width: 50 } },
  },
  edges: [{ from: { node: 'resize', outport: 'thumbnail' }, to: { node: 'publish', inport: 'file' } }],
  inports: { picture: { node: 'resize', inport: 'file' } },
  outports: { done: { node: 'publish', outport: 'thumbnail' } },
}

const flows: Part = async ({ show, call }) => {
  await show('graphs.set', { name: 'catalog', body: graph })
  await show('graphs.get', { name: 'catalog' })
  await show('graphs.list', { details: true })
  const { id: job } = await call('jobs.enqueue', {
    body: { queue: 'core', class: 'flow', alias: ['catalog'], inputs: { __graph: [graph] } },
  })
  await show('system.dispatch', { queue: 'core', body: { bell: 'examples' } })
  await show('flows.record', { job, body: { keep: '2h' } })
  await call('ports.write', { job, dir: 'in', port: 'picture', body: { values: [picture('dog')] } })
  await call('system.dispatch', { queue: 'core', body: { bell: 'examples' } })
  await show('flows.list', {})
  const { wires } = await show('flows.get', { job })
  const [first, second] = wires.map(({ id }: { id: string }) => id)
  await show('flows.wires', { job })
  await show('flows.inject', { job, wire: first, body: { values: [picture('bird')] } })
  await show('flows.try', { job, wire: first, body: { queue: 'core', class: 'array' } })
  await show('flows.move', { job, wire: first, body: { to: second } })
  await show('flows.drain', { job, wire: second, body: { max: 1 } })
  await show('flows.graph', { job })
  const { resize } = graph.nodes
  const shorter = {
    nodes: { resize },
    inports: graph.inports,
    outports: { done: { node: 'resize', outport: 'thumbnail' } },
  }
  await show('flows.setGraph', { job, preview: true, body: shorter })
  await show('flows.postGraph', { job, body: shorter })
  await show('flows.history', { job })
  await show('flows.undo', { job })
  await show('flows.events', { job, limit: 1 })
  await show('flows.forget', { job })
  await show('graphs.remove', { name: 'catalog' })
}

const operating: Part = async ({ show }, { kit }) => {
  await show('jobs.takeResult', { job: 1, body: {} })
  await show('stats.series', { queue: 'images', step: 'hour', from: NOW - HOUR, to: NOW + HOUR })
  await show('stats.classes', { queue: 'images' })
  await show('stats.metrics', {})
  await show('doctor.examine', {})
  await show('doctor.repair', {})
  await show('me.show', {})
  const { id } = await show('keys.add', { body: { name: 'ci', scopes: ['read', 'write'] } })
  await show('keys.list', {})
  await show('keys.rotate', { key: id, body: { overlap: '2h' } })
  await show('keys.remove', { key: id })
  await show('audit.read', { limit: 1 })
  const text = 'A job in queue mail has been ready for 3 min. Lanes are free; 12 jobs wait'
  const link = `${PUBLIC_URL}/ui/queues/mail`
  await kit.engine.alerts.open('slow mail', {
    alert: { rule: 'slow', text, since: NOW, link, isSevere: false, at: NOW, toldAt: NOW },
  })
  await show('alerts.acknowledge', { body: { alert: 'slow mail', reason: 'the mail service is down' } })
  await show('alerts.mute', { body: { alert: 'slow mail', reason: 'the printer is off' } })
  await show('alerts.list', {})
  await show('alerts.unacknowledge', { body: { alert: 'slow mail' } })
  await show('alerts.unmute', { body: { alert: 'slow mail' } })
  await kit.engine.history.drain()
  const { jobs: ended } = await show('history.list', { class: 'resize', limit: 1 })
  await show('history.get', { job: ended[0].id })
  await show('history.sql', {
    body: { sql: "SELECT class, count(*) AS ends FROM ends WHERE class = 'resize' GROUP BY class" },
  })
  await show('history.status', {})
  await show('views.set', { name: 'failed mail', body: { query: 'queue=mail&status=failed' } })
  await show('views.list', {})
  await show('views.remove', { name: 'failed mail' })
  await show('tenants.add', { tenant: 'acme', body: {} })
  await show('tenants.list', {})
  await show('tenants.remove', { tenant: 'acme' })
  await show('workers.patch', { queue: 'images', class: 'resize', body: { timeout: '3m', history: null } })
  await show('workers.unregister', { queue: 'exports', class: 'csv' })
  const { deployments } = await show('deployments.list', {})
  await show('deployments.compare', { deployment: deployments[0].id })
  await show('system.health', { details: true })
  for (const name of ['llms', 'openapi', 'workerOpenapi', 'docs', 'errors', 'tick']) await show(`system.${name}`, {})
  const claimed = {
    id: 12,
    document: { token: '12.1.3f9c', queue: 'default', class: 'contract', pinnedTo: 'v1' },
    ...{ inputs: {}, children: [], steps: [], childCount: 0, family: [], wires: [] },
  } as unknown as ClaimedJob
  const body = new TextEncoder().encode(JSON.stringify(claimed))
  await show('system.perform', { body: claimed }, await signedRun(claimed, body, VERSIONS, NOW))
  await show('system.advance', { body: { advance: '1h' } })
}

const bedrock: Part = async ({ show, call }) => {
  const { jobID } = await show('bedrock.CreateJob', { body: { name: 'send receipt', data: { order: 42 } } })
  await show('bedrock.CreateJobs', {
    body: {
      jobs: [
        { name: 'import', data: {} },
        { name: 'import', data: {} },
      ],
    },
  })
  await show('bedrock.QueryJob', { body: { jobID } })
  await show('bedrock.Query', { body: { query: "SELECT jobID, name, state FROM jobs WHERE name = 'import';" } })
  await show('bedrock.UpdateJob', { body: { jobID, data: { order: 43 } } })
  await show('bedrock.GetJob', { body: { name: 'send receipt' } })
  await show('bedrock.RetryJob', { body: { jobID, delay: 5 } })
  const { jobs: taken } = await show('bedrock.GetJobs', { body: { name: 'import', numResults: 2 } })
  await show('bedrock.FinishJob', { body: { jobID: taken[0].jobID } })
  await show('bedrock.FailJob', { body: { jobID: taken[1].jobID, data: { reason: 'no such file' } } })
  await show('bedrock.RequeueJobs', { body: { jobIDs: String(taken[1].jobID) } })
  const parent = await call('bedrock.CreateJob', { body: { name: 'parent' } })
  await call('bedrock.GetJob', { body: { name: 'parent' } })
  const child = await call('bedrock.CreateJob', { body: { name: 'child', parentJobID: parent.jobID } })
  await show('bedrock.CancelJob', { body: { jobID: child.jobID } })
  await show('bedrock.DeleteJob', { body: { jobID } })
  await show('bedrock.CrashBedrockJob', { body: { names: 'import' } })
  await show('bedrock.ClearCrashedBedrockJobs', { body: {} })
  await show('bedrock.other', { command: 'Unknown' })
}

const jq: Part = async ({ show }, { kit, receiver }) => {
  await show('jq.worker', { name: 'thumbnail', body: { url: `${receiver.url}/thumbnail`, secret: 'c2VjcmV0' } })
  await show('jq.constraint', {
    name: 'wide',
    body: { match: { name: 'thumbnail', argument: { width: 2000 } }, concurrency: 1 },
  })
  const { id } = await show('jq.push', { body: { name: 'thumbnail', argument: { width: 200 }, keep_result: true } })
  await kit.engine.dispatch('jq', 'examples')
  const attempt = receiver.came.findLast(({ path }) => path === '/thumbnail')!.headers['webhook-id']!
  await show(
    'jq.settle',
    { id, body: { type: 'success', finished_at: '2027-01-15T08:00:00Z', result: { size: 4096 } } },
    { 'webhook-id': attempt },
  )
  await show('jq.result', { id })
  await show('jq.removeConstraint', { name: 'wide' })
  await show('jq.openapi', {})
  await show('jq.workerOpenapi', {})
}

const downloader: Part = async ({ show, call }, { kit, receiver }) => {
  const wanted = (path: string) => ({
    url: `${receiver.url}/cat.png`,
    aggr_id: 'shop',
    aggr_limit: 2,
    callback_url: `${receiver.url}${path}`,
  })
  const { id: file } = await show('downloader.download', { body: wanted('/downloaded') })
  await show('downloader.aggregations', {})
  const deliver = async () => {
    for (const queue of ['downloader', 'sidejob']) await kit.engine.dispatch(queue, 'examples')
  }
  await deliver()
  await show('downloader.job', { file })
  await show('files.list', { limit: 1, total: true })
  const { url } = await show('files.show', { file, for: '1h' })
  await show('files.get', { file, ...Object.fromEntries(new URL(url).searchParams) })
  await show('files.getById', { folder: file.slice(0, 3), file })
  await show('downloader.again', { file })
  await deliver()
  const failing = await call('downloader.download', { body: wanted('/gone') })
  await deliver()
  await show('downloader.retry', { file: failing.id })
  const late = await call('downloader.download', { body: wanted('/downloaded') })
  await show('downloader.cancel', { file: late.id })
  await show('downloader.stats', { component: 'notifier' })
  await show('downloader.drain', { body: { enabled: true } })
  await show('downloader.heartbeat', {})
  await show('files.remove', { file })
}

export async function perform(): Promise<Record<string, Example>> {
  const shop = await startShop()
  try {
    const caller = createCaller(shop)
    for (const part of [
      jobs,
      runs,
      ports,
      waiting,
      limits,
      failures,
      callbacks,
      schedules,
      flows,
      operating,
      bedrock,
      jq,
      downloader,
    ])
      await part(caller, shop)
    const names = operations.map(({ resource, verb }) => `${resource}.${verb}`)
    return Object.fromEntries(names.flatMap((name) => (caller.examples[name] ? [[name, caller.examples[name]]] : [])))
  } finally {
    await shop.close()
  }
}
