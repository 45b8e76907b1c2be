import { createHmac, hash, randomUUID } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import { limits, type Message } from './message.ts'

export type Outcome = { status: number; headers: http.IncomingHttpHeaders; body: Buffer; error?: string }
export type Flight = { abort(reason: string): void }
export type Sender = ReturnType<typeof createSender>

// Closes idle connections before servers do (usually after 5 s), so that every reset is a fault of the receiver.
const KEEP_ALIVE = { keepAlive: true, timeout: 2_000 }

export function createSender() {
  const transports = {
    'http:': { request: http.request, agent: new http.Agent(KEEP_ALIVE) },
    'https:': { request: https.request, agent: new https.Agent(KEEP_ALIVE) },
  }

  return {
    send(message: Message, { key, now }: { key: string; now: number }, done: (outcome: Outcome) => void): Flight {
      const url = new URL(message.url)
      const { request, agent } = transports[url.protocol as keyof typeof transports]
      const { method } = message.settings
      const finish = once(done)
      const outgoing = request(url, { method, agent, headers: deliveryHeaders(message, key, now) }, (answer) =>
        collect(answer, finish),
      )
      outgoing.on('error', (error: NodeJS.ErrnoException) => finish(failed(error.message || String(error.code))))
      outgoing.end(message.body.length ? message.body : undefined)
      return {
        abort(reason) {
          finish(failed(reason))
          outgoing.destroy()
        },
      }
    },

    close(): void {
      for (const { agent } of Object.values(transports)) agent.destroy()
    },
  }
}

/** The receiver accepts the signature for five minutes. */
function sign({ url, body, key, now }: { url: string; body: Buffer; key: string; now: number }): string {
  const issued = Math.floor(now / 1_000)
  const claims = {
    iss: 'Upstash',
    sub: url,
    exp: issued + 300,
    nbf: 0,
    iat: issued,
    jti: `jwt_${randomUUID().replaceAll('-', '')}`,
    // Node's base64url would omit the padding that QStash keeps.
    body: hash('sha256', body, 'base64').replaceAll('+', '-').replaceAll('/', '_'),
  }
  const text = `${JWT_HEADER}.${base64url(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const JWT_HEADER = base64url({ alg: 'HS256', typ: 'JWT' })

function deliveryHeaders(message: Message, key: string, now: number): Record<string, string> {
  const headers: Record<string, string> = {
    ...message.settings.header,
    'User-Agent': 'Upstash-QStash',
    'Upstash-Signature': sign({ url: message.url, body: message.body, key, now }),
    'Upstash-Message-Id': message.id,
    'Upstash-Retried': String(message.retried),
    'Upstash-Caller-Ip': message.callerIP,
    'Upstash-Region': 'EU-CENTRAL-1',
  }
  if (message.scheduleId) headers['Upstash-Schedule-Id'] = message.scheduleId
  if (message.body.length || message.settings.method !== 'GET') headers['Content-Length'] = String(message.body.length)
  return headers
}

function collect(answer: http.IncomingMessage, finish: (outcome: Outcome) => void) {
  const chunks: Buffer[] = []
  answer.on('data', (chunk) => chunks.push(chunk))
  answer.on('error', (error) => finish(failed(error.message)))
  answer.on('end', () => {
    const body = Buffer.concat(chunks).subarray(0, limits.message)
    finish({ status: answer.statusCode!, headers: answer.headers, body })
  })
}

const failed = (error: string): Outcome => ({ status: 0, headers: {}, body: Buffer.from(error), error })

function once(done: (outcome: Outcome) => void) {
  let open = true
  return (outcome: Outcome) => {
    if (!open) return
    open = false
    done(outcome)
  }
}
