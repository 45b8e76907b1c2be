// The REST API of the vendor: one row per method and path, each a few lines over the broker.
import { randomUUID } from 'node:crypto'
import { plans } from '../plan.ts'
import { type Broker, deadView } from './broker.ts'
import type { Faults } from './faults.ts'
import { type Headers, isHttp, keptHeaders, messageView, Refusal } from './message.ts'
import { quotaHeaders } from './plans.ts'
import type { Schedules } from './schedules.ts'

export type Request = {
  method: string
  /** As it came, with the query. */
  target: string
  headers: Headers
  body: Buffer
  callerIP: string
}
export type Answer = { status: number; json?: unknown; headers?: Headers; drop?: boolean }
type Call = {
  request: Request
  /** The variable part of the path, empty where there is none. */
  name: string
  query: URLSearchParams
}
type Handler = (call: Call) => Answer
type Services = { broker: Broker; schedules: Schedules; faults: Faults; token: string; now: () => number }

const PAGE = 100
const ok = (json?: unknown): Answer => ({ status: 200, json })

export function createRoutes({ broker, schedules, faults, token, now }: Services) {
  const table: [method: string, path: string, handler: Handler][] = [
    ['POST', '/v2/publish/*', sending(publish)],
    ['POST', '/v2/enqueue/:queue/*', sending(enqueue)],
    ['POST', '/v2/batch', sending(batch)],

    ['GET', '/v2/messages/:id', ({ name }) => ok(messageView(found(broker.message(name), `message ${name}`)))],
    [
      'DELETE',
      '/v2/messages/:id',
      ({ name }) => ok({ cancelled: broker.cancel(name) ? 1 : missing(`message ${name}`) }),
    ],
    ['DELETE', '/v2/messages', cancelMany],

    // The client sends PATCH, the reference says POST: both are served.
    ['PATCH|POST', '/v2/schedules/:id/pause', done(({ name }) => schedules.setPaused(name, true))],
    ['PATCH|POST', '/v2/schedules/:id/resume', done(({ name }) => schedules.setPaused(name, false))],
    ['POST', '/v2/schedules/*', createSchedule],
    ['GET', '/v2/schedules', () => ok(schedules.list())],
    ['GET', '/v2/schedules/:id', ({ name }) => ok(schedules.get(name))],
    ['DELETE', '/v2/schedules/:id', done(({ name }) => schedules.drop(name))],

    ['GET', '/v2/dlq', ({ query }) => ok(page('messages', deadLike(query).map(deadView), query))],
    ['DELETE', '/v2/dlq', dropManyDead],
    ['POST', '/v2/dlq/retry', retryManyDead],
    ['POST', '/v2/dlq/retry/:id', ({ request, name }) => ({ status: 201, json: retryDead(name, request) })],
    ['GET', '/v2/dlq/:id', ({ name }) => ok(deadView(findDead(name)))],
    ['DELETE', '/v2/dlq/:id', done(({ name }) => broker.dropDead(findDead(name).dlqId))],

    ['GET', '/v2/queues', () => ok(broker.queues().map(({ name }) => queueView(name)))],
    ['POST', '/v2/queues', done(upsertQueue)],
    ['GET', '/v2/queues/:name', ({ name }) => ok(queueView(name))],
    ['DELETE', '/v2/queues/:name', done(({ name }) => broker.dropQueue(name))],
    ['POST', '/v2/queues/:name/pause', done(({ name }) => broker.upsertQueue(name, { paused: true }))],
    ['POST', '/v2/queues/:name/resume', done(({ name }) => broker.upsertQueue(name, { paused: false }))],

    ['GET', '/v2/flowControl', () => ok([...broker.flows.values()].map((flow) => flow.view()))],
    ['GET', '/v2/flowControl/:key', ({ name }) => ok(found(broker.flows.get(name), `flow control key ${name}`).view())],
    ['POST', '/v2/flowControl/:key/pause', done(({ name }) => broker.changeFlow(name, (flow) => (flow.paused = true)))],
    [
      'POST',
      '/v2/flowControl/:key/resume',
      done(({ name }) => broker.changeFlow(name, (flow) => (flow.paused = false))),
    ],
    ['POST', '/v2/flowControl/:key/pin', done(pin)],
    ['POST', '/v2/flowControl/:key/unpin', done(unpin)],
    ['POST', '/v2/flowControl/:key/resetRate', done(resetRate)],
    [
      'GET',
      '/v2/globalParallelism',
      () => ok({ parallelismMax: broker.account.max, parallelismCount: broker.account.active() }),
    ],

    ['GET', '/v2/topics', () => ok([...broker.topics.values()])],
    ['GET', '/v2/topics/:name', ({ name }) => ok(found(broker.topics.get(name), `topic ${name}`))],
    ['DELETE', '/v2/topics/:name', done(({ name }) => broker.dropTopic(name) || missing(`topic ${name}`))],
    ['POST', '/v2/topics/:name/endpoints', done(addEndpoints)],
    ['DELETE', '/v2/topics/:name/endpoints', done(removeEndpoints)],

    ['GET', '/v2/keys', () => ok(broker.keys)],
    ['POST', '/v2/keys/rotate', rotateKeys],
    ['GET', '/v2/events', ({ query }) => ok(page('events', logsLike(query), query))],
    ['GET', '/v2/logs', ({ query }) => ok(page('logs', logsLike(query), query))],
  ]
  const routes = table.map(([method, path, handler]) => ({
    methods: method.split('|'),
    pattern: toPattern(path),
    handler,
  }))

  return {
    answer(request: Request): Answer {
      const cut = request.target.indexOf('?')
      const path = cut < 0 ? request.target : request.target.slice(0, cut)
      const query = new URLSearchParams(cut < 0 ? '' : request.target.slice(cut + 1))
      if (query.get('qstash_token') !== token && request.headers.authorization !== `Bearer ${token}`) {
        throw new Refusal(401, 'unauthorized: the token is missing or wrong')
      }
      for (const { methods, pattern, handler } of routes) {
        const match = methods.includes(request.method) && pattern.exec(path)
        if (match) return handler({ request, name: decodeURIComponent(match[1] ?? ''), query })
      }
      throw new Refusal(404, `${request.method} ${path} is not part of the API`)
    },
  }

  // ── Sending ──

  function publish({ request }: Call): Answer {
    const { destination, headers } = addressed(request, '/v2/publish/')
    return receipt(
      broker.publish(destination, headers, request.body, { kind: 'published', callerIP: request.callerIP }),
    )
  }

  function enqueue({ request, name }: Call): Answer {
    const { destination, headers } = addressed(request, `/v2/enqueue/${request.target.split('/')[3]}/`)
    const origin = { kind: 'published', callerIP: request.callerIP, queueName: name } as const
    return receipt(broker.publish(destination, headers, request.body, origin))
  }

  function batch({ request }: Call): Answer {
    const items = readJson<{ destination: string; headers?: object; body?: string; queue?: string }[]>(request.body)
    if (!Array.isArray(items)) throw new Refusal(400, 'the body of a batch must be an array')
    const answers = items.map(({ destination, headers = {}, body = '', queue }) => {
      const origin = { kind: 'published', callerIP: request.callerIP, queueName: queue } as const
      return orError(() =>
        receiptOf(broker.publish(destination, keptHeaders({ ...headers }), Buffer.from(body), origin)),
      )
    })
    return ok(answers)
  }

  /** A publish that may be refused or lose its answer, when a fault says so. */
  function sending(handler: Handler): Handler {
    return (call) => {
      const refused = faults.take('refuse')
      broker.quota.admit()
      if (refused === 429)
        throw new Refusal(
          429,
          'quota exceeded: the daily limit of messages is reached',
          quotaHeaders(plans.free.qstash.daily, now()),
        )
      if (refused) throw new Refusal(refused, 'internal error')
      const answer = handler(call)
      return faults.take('drop') ? { ...answer, drop: true } : answer
    }
  }

  function createSchedule({ request }: Call): Answer {
    const { destination, headers } = addressed(request, '/v2/schedules/')
    const { 'upstash-cron': cron, 'upstash-schedule-id': id, 'upstash-queue-name': queueName } = request.headers
    const { body, callerIP } = request
    return ok({ scheduleId: schedules.create({ id, cron, queueName, destination, headers, body, callerIP }) })
  }

  // ── Many at once ──

  function cancelMany({ query }: Call): Answer {
    const ids = query.getAll('messageIds')
    const chosen = ids.length
      ? ids
      : broker
          .messages()
          .filter(matches(query, messageView))
          .map(({ id }) => id)
    return ok({ cancelled: chosen.filter((id) => broker.cancel(id)).length })
  }

  function dropManyDead({ query }: Call): Answer {
    const { rows, cursor } = cutPage(deadLike(query), query)
    for (const { dlqId } of rows) broker.dropDead(dlqId)
    // What was deleted is gone from the list, so the next page starts at its beginning.
    return ok({ deleted: rows.length, cursor: cursor && '0' })
  }

  function retryManyDead({ request, query }: Call): Answer {
    const { rows, cursor } = cutPage(deadLike(query), query)
    const responses = rows.map(({ dlqId }) => retryDead(dlqId, request))
    return { status: 201, json: { cursor: cursor && '0', responses } }
  }

  function retryDead(dlqId: string, { headers, callerIP }: Request) {
    const { 'content-type': _, ...overrides } = keptHeaders(headers)
    return broker.retryDead(findDead(dlqId), overrides, callerIP)
  }

  function deadLike(query: URLSearchParams) {
    const ids = query.getAll('dlqIds')
    if (ids.length) return ids.map(findDead)
    return [...broker.dead.values()].filter(matches(query, deadView))
  }

  function findDead(dlqId: string) {
    return found(broker.dead.get(dlqId), `dlq message ${dlqId}`)
  }

  function logsLike(query: URLSearchParams) {
    return broker.logbook.newestFirst().filter(matches(query, (entry) => entry))
  }

  // ── Queues, flow control, topics, keys ──

  function queueView(name: string) {
    const queue = found(broker.queue(name), `queue ${name}`)
    return { ...queue, lag: broker.messages().filter(({ queueName }) => queueName === name).length }
  }

  function upsertQueue({ request }: Call) {
    const {
      queueName,
      parallelism = 1,
      paused = false,
    } = readJson<{ queueName?: string; parallelism?: number; paused?: boolean }>(request.body)
    if (!queueName) throw new Refusal(400, 'queueName is missing')
    if (!Number.isInteger(parallelism) || parallelism < 1)
      throw new Refusal(400, `parallelism is ${parallelism}; it must be 1 or more`)
    broker.upsertQueue(queueName, { parallelism, paused })
  }

  function pin({ name, query }: Call) {
    const count = (name: string) => (query.has(name) ? { [name]: positive(name, query.get(name)!) } : {})
    broker.changeFlow(name, (flow) => {
      Object.assign(flow.pinned, count('parallelism'), count('rate'), count('period'))
      Object.assign(flow, { count: 0, periodStart: now() })
    })
  }

  function unpin({ name, query }: Call) {
    broker.changeFlow(name, ({ pinned }) => {
      if (query.get('parallelism') === 'true') delete pinned.parallelism
      if (query.get('rate') === 'true') for (const name of ['rate', 'period'] as const) delete pinned[name]
    })
  }

  function resetRate({ name }: Call) {
    broker.changeFlow(name, (flow) => Object.assign(flow, { count: 0, periodStart: now() }))
  }

  function addEndpoints({ name, request }: Call) {
    const { endpoints } = readJson<{ endpoints: { name?: string; url: string }[] }>(request.body)
    for (const { url } of endpoints)
      if (!isHttp(url)) throw new Refusal(400, `endpoint "${url}" must start with http:// or https://`)
    const others = (broker.topics.get(name)?.endpoints ?? []).filter(
      (old) => !endpoints.some(({ url }) => url === old.url),
    )
    broker.upsertTopic(name, [...others, ...endpoints])
  }

  function removeEndpoints({ name, request }: Call) {
    const { endpoints: gone } = readJson<{ endpoints: { name?: string; url?: string }[] }>(request.body)
    const { endpoints } = found(broker.topics.get(name), `topic ${name}`)
    const isGone = (old: { name?: string; url: string }) =>
      gone.some(({ name, url }) => (url ? url === old.url : name === old.name))
    broker.upsertTopic(
      name,
      endpoints.filter((old) => !isGone(old)),
    )
  }

  function rotateKeys(): Answer {
    Object.assign(broker.keys, { current: broker.keys.next, next: `sig_${randomUUID().replaceAll('-', '')}` })
    return ok(broker.keys)
  }
}

/** Any error as the vendor words it. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof Refusal) return { status: error.status, json: { error: error.message }, headers: error.headers }
  return { status: 500, json: { error: (error as Error).message } }
}

// ── The raw destination ──

/** Splits the tail of a path into the destination and the settings, which may also stand in its query. */
function addressed({ target, headers }: Request, prefix: string): { destination: string; headers: Headers } {
  const raw = target.slice(prefix.length)
  const decoded = /^https?%3a/i.test(raw) ? decodeURIComponent(raw) : raw
  const [base, ...rest] = decoded.split('?')
  const settings: Headers = {}
  const kept = rest
    .join('?')
    .split('&')
    .filter((part) => !takeSetting(part, settings))
  const query = kept.join('&')
  return {
    destination: query ? `${base}?${query}` : base!,
    headers: { ...keptHeaders(settings), ...keptHeaders(headers) },
  }
}

function takeSetting(part: string, settings: Headers): boolean {
  const [[name, value] = ['', '']] = new URLSearchParams(part)
  const isSetting = /^upstash-/i.test(name)
  if (isSetting) settings[name.toLowerCase()] = value
  return isSetting || name === 'qstash_token'
}

// ── Filters and pages ──

/** A row passes when, for each filter, its value is one of those asked for. */
function matches<T>(query: URLSearchParams, view: (row: T) => object) {
  const wanted = new Map<string, string[]>()
  for (const [name, value] of query) {
    if (name in filters) wanted.set(name, [...(wanted.get(name) ?? []), ...value.split(',')])
  }
  return (row: T) => {
    if (!wanted.size) return true
    const shown = view(row) as Row
    return [...wanted].every(([name, values]) => filters[name]!(shown, values))
  }
}

type Row = Record<string, unknown>
type Filter = (row: Row, values: string[]) => boolean

const is =
  (field: string): Filter =>
  (row, values) =>
    values.includes(String(row[field]))
const time = (row: Row) => Number(row.time ?? row.createdAt)
const states: Record<string, string[]> = { IN_PROGRESS: ['ACTIVE', 'RETRY', 'ERROR'] }

const filters: Record<string, Filter> = {
  messageId: is('messageId'),
  messageIds: is('messageId'),
  url: is('url'),
  host: (row, values) => values.includes(new URL(String(row.url)).host),
  topicName: is('topicName'),
  queueName: is('queueName'),
  scheduleId: is('scheduleId'),
  callerIp: is('callerIP'),
  flowControlKey: is('flowControlKey'),
  responseStatus: is('responseStatus'),
  state: (row, values) => values.flatMap((value) => states[value] ?? value).includes(String(row.state)),
  label: ({ labels = [] }, values) => values.some((value) => (labels as string[]).includes(value)),
  fromDate: (row, [from]) => time(row) >= Number(from),
  toDate: (row, [to]) => time(row) <= Number(to),
}

function cutPage<T>(all: T[], query: URLSearchParams): { rows: T[]; cursor: string } {
  const from = Number(query.get('cursor') ?? 0)
  const to = from + Number(query.get('count') ?? PAGE)
  return { rows: all.slice(from, to), cursor: to < all.length ? String(to) : '' }
}

function page<T>(name: string, all: T[], query: URLSearchParams) {
  const { rows, cursor } = cutPage(all, query)
  return { [name]: rows, cursor }
}

// ── Small parts ──

const toPattern = (path: string) =>
  new RegExp(`^${path.replace(/:\w+/g, '([^/]+)').replace(/[^*]$/, '$&/?').replace('*', '.+')}$`)

const done =
  (act: (call: Call) => unknown): Handler =>
  (call) => {
    act(call)
    return { status: 200 }
  }

type Receipts = ReturnType<Broker['publish']>

/** One receipt for a URL, a list for a topic. */
const receiptOf = (sent: Receipts) => (sent.length === 1 && !sent[0]!.url ? sent[0] : sent)

const receipt = (sent: Receipts): Answer => ({
  status: sent.every(({ deduplicated }) => deduplicated) ? 202 : 200,
  json: receiptOf(sent),
})

function orError(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return errorAnswer(error).json
  }
}

function found<T>(value: T | undefined, what: string): T {
  return value ?? missing(what)
}

function missing(what: string): never {
  throw new Refusal(404, `${what} not found`)
}

function positive(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new Refusal(400, `${name} is "${text}"; it must be a whole number above 0`)
}

function readJson<T>(body: Buffer): T {
  try {
    return JSON.parse(body.toString()) as T
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${(error as Error).message}`)
  }
}
