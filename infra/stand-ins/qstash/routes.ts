import { randomUUID } from 'node:crypto'
import { plans } from '../plan.ts'
import type { Broker } from './broker.ts'
import type { Faults } from './faults.ts'
import { type Headers, keptHeaders, Refusal } from './message.ts'
import { quotaExceeded } from './plans.ts'
import type { Schedules } from './schedules.ts'

export type Request = {
  method: string
  target: string
  headers: Headers
  body: Buffer
  callerIP: string
}
export type Answer = { status: number; json?: unknown; headers?: Headers; drop?: boolean }
type Call = {
  request: Request
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
    ['POST', '/v2/batch', sending(batch)],

    // QStash's client sends PATCH, but QStash's API reference says POST.
    ['PATCH|POST', '/v2/schedules/:id/pause', done(({ name }) => schedules.setPaused(name, true))],
    ['PATCH|POST', '/v2/schedules/:id/resume', done(({ name }) => schedules.setPaused(name, false))],
    ['POST', '/v2/schedules/*', createSchedule],
    ['GET', '/v2/schedules', () => ok(schedules.list())],
    ['GET', '/v2/schedules/:id', ({ name }) => ok(schedules.get(name))],
    ['DELETE', '/v2/schedules/:id', done(({ name }) => schedules.drop(name))],

    [
      'GET',
      '/v2/globalParallelism',
      () => ok({ parallelismMax: broker.account.max, parallelismCount: broker.account.active() }),
    ],
    ['GET', '/v2/keys', () => ok(broker.keys)],
    ['POST', '/v2/keys/rotate', rotateKeys],
    ['GET', '/v2/events', events],
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
      if (request.headers.authorization !== `Bearer ${token}`)
        throw new Refusal(401, 'unauthorized: the token is missing or wrong')
      for (const { methods, pattern, handler } of routes) {
        const match = methods.includes(request.method) && pattern.exec(path)
        if (match) return handler({ request, name: decodeURIComponent(match[1] ?? ''), query })
      }
      throw new Refusal(404, `${request.method} ${path} is not part of the API that this stand-in supports`)
    },
  }

  function publish({ request }: Call): Answer {
    const { callerIP, body, headers } = request
    const destination = destinationOf(request, '/v2/publish/')
    return ok(broker.publish(destination, keptHeaders(headers), body, { kind: 'published', callerIP }))
  }

  function batch({ request }: Call): Answer {
    const items = readJson<{ destination: string; headers?: object; body?: string }[]>(request.body)
    if (!Array.isArray(items)) throw new Refusal(400, 'the body of a batch must be an array')
    const origin = { kind: 'published', callerIP: request.callerIP } as const
    return ok(
      items.map(({ destination, headers = {}, body = '' }) =>
        orError(() => broker.publish(destination, keptHeaders({ ...headers }), Buffer.from(body), origin)),
      ),
    )
  }

  function sending(handler: Handler): Handler {
    return (call) => {
      const refused = faults.take('refuse')
      broker.quota.admit()
      if (refused === 429) throw quotaExceeded(plans.free.qstash.daily, now())
      if (refused) throw new Refusal(refused, 'internal error')
      const answer = handler(call)
      return faults.take('drop') ? { ...answer, drop: true } : answer
    }
  }

  function createSchedule({ request }: Call): Answer {
    const { 'upstash-cron': cron, 'upstash-schedule-id': id } = request.headers
    const destination = destinationOf(request, '/v2/schedules/')
    const { body, callerIP, headers } = request
    return ok({
      scheduleId: schedules.create({ id, cron, destination, headers: keptHeaders(headers), body, callerIP }),
    })
  }

  function rotateKeys(): Answer {
    Object.assign(broker.keys, { current: broker.keys.next, next: `sig_${randomUUID().replaceAll('-', '')}` })
    return ok(broker.keys)
  }

  function events({ query }: Call): Answer {
    const wanted = (['state', 'messageId'] as const).filter((name) => query.has(name))
    const all = broker.logbook.newestFirst().filter((entry) => wanted.every((name) => entry[name] === query.get(name)))
    const from = Number(query.get('cursor') ?? 0)
    const to = from + Number(query.get('count') ?? PAGE)
    return ok({ events: all.slice(from, to), cursor: to < all.length ? String(to) : '' })
  }
}

export function errorAnswer(error: unknown): Answer {
  if (error instanceof Refusal) return { status: error.status, json: { error: error.message }, headers: error.headers }
  return { status: 500, json: { error: (error as Error).message } }
}

function destinationOf({ target }: Request, prefix: string): string {
  const raw = target.slice(prefix.length)
  return /^https?%3a/i.test(raw) ? decodeURIComponent(raw) : raw
}

const toPattern = (path: string) =>
  new RegExp(`^${path.replace(/:\w+/g, '([^/]+)').replace(/[^*]$/, '$&/?').replace('*', '.+')}$`)

const done =
  (act: (call: Call) => unknown): Handler =>
  (call) => {
    act(call)
    return { status: 200 }
  }

function orError(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return errorAnswer(error).json
  }
}

function readJson<T>(body: Buffer): T {
  try {
    return JSON.parse(body.toString()) as T
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${(error as Error).message}`)
  }
}
