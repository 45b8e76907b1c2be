import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  commandFromJson,
  commandFromPath,
  MAX_BYTES,
  type Parsed,
  pipelineFromJson,
  type Refused,
  refusal,
  tooLarge,
} from './gateway-commands.ts'
import { createFaults } from './gateway-faults.ts'
import { type Encoding, manyResults, oneResult } from './gateway-json.ts'
import { listen } from './listen.ts'
import { refusedHost } from './local-host.ts'
import {
  type Address,
  type Command,
  type Connection,
  connect,
  decode,
  elements,
  lineOf,
  MINUS,
  type Reply,
} from './resp.ts'

type GatewayOptions = {
  redis: Address
  token: string
  readOnlyToken?: string
  port?: number
  host?: string
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>

export async function startGateway({ redis, token, readOnlyToken, port = 0, host = '127.0.0.1' }: GatewayOptions) {
  const link = createLink(redis)
  const faults = createFaults()
  /** `bytes` counts requests and responses, but not streams. */
  const counters = { requests: 0, commands: 0, bytes: 0 }
  const streams = new Set<Connection>()

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => {
      if (!response.headersSent) return refuse(response, 503, `ERR ${error.message}`)
      response.destroy()
    })
  })
  // By default, Node closes idle connections after 5 s, which clients report as a network fault.
  server.keepAliveTimeout = 75_000
  server.requestTimeout = 0
  const bound = await listen(server, 'the gateway', host, port)

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { body, size } = await readBody(request)
    const url = new URL(`http://gateway${request.url}`)
    counters.requests++
    response.once('finish', () => (counters.bytes += size + Number(response.getHeader('content-length') ?? 0)))
    response.setHeader('upstash-sync-token', `local:${counters.requests}`)

    const host = refusedHost(request)
    if (host !== undefined) return refuse(response, 403, `ERR ${host}`)
    const access = accessOf(request, url)
    if (!access) return refuse(response, 401, 'WRONGPASS invalid or missing auth token')
    if (!methods.has(request.method ?? '')) return refuse(response, 405, `ERR method ${request.method} is not allowed`)
    if (size > MAX_BYTES) return refuse(response, 400, tooLarge(size))

    const path = segments(url.pathname)
    if (!path) return refuse(response, 400, 'ERR failed to parse command')
    const verb = path[0]!.toLowerCase()
    if (streaming.has(verb)) return stream(response, verb, path.slice(1))

    const format = formatOf(request, verb)
    if ('error' in format) return refuse(response, 400, format.error)
    const asked = batched.has(verb)
      ? pipelineFromJson(body)
      : [body.length > 0 && !verb ? commandFromJson(body) : commandFromPath(path, body, url)]
    if ('error' in asked) return refuse(response, 400, asked.error)
    const parsed = asked.map((one) => ('error' in one ? one : permitted(one, access)))
    return answer(response, parsed, verb, format)
  }

  async function answer(response: ServerResponse, parsed: Parsed[], verb: string, format: Format) {
    const commands = parsed.filter((one) => Array.isArray(one))
    const struck = faults.strike(commands)
    for (const fault of struck) {
      if (fault.kind === 'delay') await sleep(fault.ms)
      if (fault.kind === 'lose') return void response.socket?.resetAndDestroy()
      if (fault.kind === 'refuse') return refuse(response, fault.status, fault.error)
    }
    counters.commands += commands.length
    const replies = verb === 'multi-exec' ? await transaction(parsed) : await pipeline(parsed)
    if (struck.some((fault) => fault.kind === 'drop')) return void response.socket?.resetAndDestroy()
    if ('error' in replies) return refuse(response, 400, replies.error)
    send(response, replies.map(withinLimit), batched.has(verb), format)
  }

  async function pipeline(parsed: Parsed[]): Promise<Buffer[]> {
    const replies = await link.batch(parsed.filter((one) => Array.isArray(one)))
    let next = 0
    return parsed.map((one) => ('error' in one ? Buffer.from(`-${one.error}\r\n`) : replies[next++]!))
  }

  /** If one command is refused, no command runs. */
  async function transaction(parsed: Parsed[]): Promise<Buffer[] | Refused> {
    const refused = parsed.find((one) => 'error' in one)
    if (refused) return refused
    const replies = await link.batch([['MULTI'], ...(parsed as Command[]), ['EXEC']])
    const rejected = replies.find((reply) => reply[0] === MINUS)
    if (rejected) return { error: lineOf(rejected) }
    return elements(replies.at(-1)!)
  }

  async function stream(response: ServerResponse, verb: string, channels: string[]) {
    if (channels.length === 0 && verb !== 'monitor') {
      return refuse(response, 400, `ERR wrong number of arguments for '${verb}' command`)
    }
    const connection = await connect(redis)
    if (response.destroyed) return void connection.close()
    streams.add(connection)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.on('close', () => {
      streams.delete(connection)
      connection.close()
    })
    connection.closed.then(() => response.end())
    connection.stream([verb, ...channels], (reply) => response.write(`data: ${eventText(decode(reply))}\n\n`))
  }

  function accessOf(request: IncomingMessage, url: URL): Access | undefined {
    const given = /^Bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? url.searchParams.get('_token')
    if (given === token) return 'full'
    return given && given === readOnlyToken ? 'read' : undefined
  }

  return {
    url: `http://${host}:${bound}`,
    port: bound,
    token,
    faults,
    counters,
    get requests() {
      return counters.requests
    },
    async close() {
      const ended = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await Promise.all([ended, link.close(), ...[...streams].map((one) => one.close())])
    },
  }
}

type Access = 'full' | 'read'
type Format = { encoding: Encoding; resp: boolean }

const methods = new Set(['HEAD', 'GET', 'POST', 'PUT'])
const streaming = new Set(['subscribe', 'psubscribe', 'monitor'])
const batched = new Set(['pipeline', 'multi-exec'])

function formatOf(request: IncomingMessage, verb: string): Format | Refused {
  const encoding = request.headers['upstash-encoding'] === 'base64' ? 'base64' : 'text'
  const format = verb === 'multi-exec' ? 'json' : (request.headers['upstash-response-format'] ?? 'json')
  if (format !== 'json' && format !== 'resp2') return { error: `ERR unsupported response format: ${format}` }
  if (format === 'resp2' && encoding === 'base64') return { error: 'ERR base64 encoding is not supported with resp2' }
  return { encoding, resp: format === 'resp2' }
}

function permitted(command: Command, access: Access): Parsed {
  const error = refusal(command, access === 'read')
  return error ? { error } : command
}

/** Upstash's maximum size of a request also applies to each response. */
function withinLimit(reply: Buffer) {
  return reply.length > MAX_BYTES ? Buffer.from(`-${tooLarge(reply.length)}\r\n`) : reply
}

function send(response: ServerResponse, replies: Buffer[], many: boolean, { encoding, resp }: Format) {
  const status = !many && replies[0]![0] === MINUS ? 400 : 200
  if (resp) return end(response, status, 'application/octet-stream', Buffer.concat(replies))
  end(response, status, 'application/json', many ? manyResults(replies, encoding) : oneResult(replies[0]!, encoding))
}

function refuse(response: ServerResponse, status: number, error: string) {
  end(response, status, 'application/json', Buffer.from(JSON.stringify({ error })))
}

function end(response: ServerResponse, status: number, type: string, body: Buffer) {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

function eventText(reply: Reply): string {
  if (Array.isArray(reply)) return reply.map(String).join(',')
  return String(reply) === 'OK' ? '"OK"' : String(reply)
}

function segments(pathname: string): string[] | undefined {
  try {
    return pathname.slice(1).split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function createLink(redis: Address) {
  let connection: Promise<Connection> | undefined

  function opened() {
    connection ??= connect(redis).then(
      (open) => {
        open.closed.then(() => (connection = undefined))
        return open
      },
      (error) => {
        connection = undefined
        throw error
      },
    )
    return connection
  }

  return {
    async batch(commands: Command[]): Promise<Buffer[]> {
      if (commands.length === 0) return []
      const open = await opened()
      return open.batch(commands)
    },
    async close() {
      await connection?.then((open) => open.close()).catch(() => {})
    },
  }
}

/** Reads an oversized body to its end, so that the client receives the error. Events are faster than an iterator. */
function readBody(request: IncomingMessage): Promise<{ body: Buffer; size: number }> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BYTES) chunks.push(chunk)
    })
    request.once('end', () => resolve({ body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), size }))
    request.once('error', reject)
  })
}
