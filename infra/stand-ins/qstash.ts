import http from 'node:http'
import { buffer } from 'node:stream/consumers'
import { development } from '../../src/development.ts'
import { listen } from './listen.ts'
import { refusedHost } from './local-host.ts'
import { type PlanName, planOf, plans } from './plan.ts'
import { createBroker } from './qstash/broker.ts'
import { createClock } from './qstash/clock.ts'
import { createFaults } from './qstash/faults.ts'
import { openJournal } from './qstash/journal.ts'
import { createQuota } from './qstash/plans.ts'
import { type Answer, createRoutes, errorAnswer, type Request } from './qstash/routes.ts'
import { createSchedules } from './qstash/schedules.ts'
import { createSender } from './qstash/send.ts'

export { development }

type Options = {
  port?: number
  host?: string
  token?: string
  currentSigningKey?: string
  nextSigningKey?: string
  /** If the function returns a constant, only `advance()` moves the clock. */
  now?: () => number
  file?: string
  plan?: PlanName
  parallelism?: number
  /** Serves POST /test/clock {"advance": milliseconds} without authentication. */
  control?: boolean
}
export type Qstash = Awaited<ReturnType<typeof startQstash>>

export async function startQstash({
  port = 0,
  host = '127.0.0.1',
  token = development.token,
  currentSigningKey = development.currentSigningKey,
  nextSigningKey = development.nextSigningKey,
  now = Date.now,
  file,
  plan = planOf(),
  parallelism = plans[plan].qstash.parallelism,
  control = false,
}: Options = {}) {
  const clock = createClock(now)
  const journal = openJournal(file)
  const faults = createFaults()
  const sender = createSender()
  const keys = { current: currentSigningKey, next: nextSigningKey }
  const broker = createBroker({
    clock,
    faults,
    journal,
    sender,
    keys,
    parallelism,
    quota: createQuota(plan, clock.now),
  })
  const schedules = createSchedules({ clock, broker, journal })
  const routes = createRoutes({ broker, schedules, faults, token, now: clock.now })

  const server = http.createServer(async (incoming, outgoing) => {
    const end = clock.begin()
    outgoing.once('close', end)
    const answer = await answerTo(incoming)
    // Store the message before the response, so that a later crash does not lose it.
    journal.flush()
    if (answer.drop) incoming.socket.resetAndDestroy()
    else write(outgoing, answer)
  })
  // Long, so that clients close idle connections first: a close by the server would look like a lost response.
  server.keepAliveTimeout = 65_000
  const bound = await listen(server, 'the stand-in of QStash', host, port)

  return {
    url: `http://${host}:${bound}`,
    port: bound,
    token,
    faults,
    counts: broker.counts,
    now: clock.now,
    advance: clock.advance,

    async close(): Promise<void> {
      clock.stop()
      broker.close()
      journal.flush()
      sender.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answerTo(incoming: http.IncomingMessage): Promise<Answer> {
    try {
      const host = refusedHost(incoming)
      if (host !== undefined) return { status: 403, json: { error: host } }
      const request = await read(incoming)
      if (control && request.method === 'POST' && request.target === '/test/clock') return moveClock(request.body)
      return routes.answer(request)
    } catch (error) {
      return errorAnswer(error)
    }
  }

  function moveClock(body: Buffer): Answer {
    clock.jump(Number(JSON.parse(body.toString()).advance))
    return { status: 200, json: { now: clock.now(), moved: clock.moved() } }
  }
}

async function read(incoming: http.IncomingMessage): Promise<Request> {
  return {
    method: incoming.method!,
    target: incoming.url!,
    headers: incoming.headers as Record<string, string>,
    body: await buffer(incoming),
    callerIP: (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
  }
}

function write(outgoing: http.ServerResponse, { status, json, headers }: Answer) {
  const body = json === undefined ? '' : JSON.stringify(json)
  const type = json === undefined ? {} : { 'Content-Type': 'application/json' }
  outgoing.writeHead(status, { ...headers, ...type, 'Content-Length': Buffer.byteLength(body) }).end(body)
}
