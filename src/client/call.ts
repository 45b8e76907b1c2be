import type { Skew } from '../core/errors.ts'
import type { RetryKey } from '../core/idempotency.ts'
import { inQuery } from './table.generated.ts'

export type CallOptions = {
  signal?: AbortSignal
  idempotencyKey?: string
  /** Reason for the audit log. */
  reason?: string
  /** W3C Trace Context of the trace to which the created jobs belong. */
  traceparent?: string
  /** Hash of the graph that the change is based on. If the graph has changed, the call fails with 412. */
  ifMatch?: string
  /** Query parameters of a call that also has a body. */
  query?: Record<string, string | number | boolean>
}

export type ClientOptions = {
  url: string
  key: string
  fetch?: (request: Request) => Promise<Response>
  traceparent?: () => string | undefined
  /** Reason for the audit log. */
  reason?: string
  /** Maximum attempts of a call (default: 3). Only network failures and 503 responses are repeated. */
  attempts?: number
  /**
   * Output of `npx sidejob schemas`. If a schema has changed, jobs that do not match it fail with 409 SCHEMA_CHANGED.
   */
  schemas?: Readonly<Record<string, string>>
}

/** Error response. `path` is the position of the fault in the input. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly path?: (string | number)[]
  readonly retryAfter?: number
  readonly docUrl?: string
  /** For SCHEMA_CHANGED: the current hash and the hash of this program. */
  readonly schema?: Skew

  constructor(status: number, { code, message, path, retryAfter, schema, doc_url }: Failure) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.path = path
    this.retryAfter = retryAfter
    this.docUrl = doc_url
    this.schema = schema
  }
}

type Failure = {
  code: string
  message: string
  schema?: Skew
  path?: (string | number)[]
  retryAfter?: number
  doc_url?: string
}

export const isInQuery = (address: string): boolean => /^(GET|DELETE) /.test(address) || inQuery.has(address)

export const call = async (client: ClientOptions, address: string, args: unknown[]): Promise<unknown> => {
  const [method, pattern] = address.split(' ') as [string, string]
  const rest = [...args]
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encoded(name, String(rest.shift())))
  const [input, options = {}] = rest as [object?, CallOptions?]
  const isQuery = isInQuery(address)
  const traceparent = options.traceparent ?? client.traceparent?.()
  const reason = options.reason ?? client.reason
  const request = (): Request =>
    new Request(`${client.url}${path}${queryOf({ ...(isQuery ? input : {}), ...options.query })}`, {
      method,
      headers: {
        ...headers,
        ...(client.key && { authorization: `Bearer ${client.key}` }),
        'idempotency-key': key,
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(reason === undefined ? {} : { 'sidejob-reason': encodeURIComponent(reason) }),
        ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
      },
      body: isQuery ? undefined : JSON.stringify(input ?? {}),
      signal: options.signal,
    })
  // Some calls delete the result that they return. With a key, a repeated call returns this result again.
  const key = options.idempotencyKey ?? ownKey()
  return persist(client, request)
}

const headers = { accept: 'application/json', 'content-type': 'application/json' }

// The slashes of a channel are not encoded. The path already contains the first slash.
const encoded = (name: string, value: string): string =>
  name === 'channel' ? value.replace(/^\//, '').split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

const queryOf = (input: object = {}): string => {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const words = given.flatMap(([name, value]) =>
    isMap(value)
      ? Object.entries(value).map(([path, one]) => [`${name}.${path}`, String(one)])
      : [value].flat().map((one) => [name, String(one)]),
  )
  return words.length > 0 ? `?${new URLSearchParams(words)}` : ''
}

/** The server stores answers to these keys for only ten minutes. */
const ownKey = (): RetryKey => `retry:${crypto.randomUUID()}`

const persist = async (
  { fetch = (request) => globalThis.fetch(request), attempts = 3 }: ClientOptions,
  request: () => Request,
): Promise<unknown> => {
  for (let attempt = 1; ; attempt++) {
    const asked = request()
    try {
      // An interrupted response counts as no response.
      return await opened(await fetch(asked))
    } catch (error) {
      if (attempt >= attempts || asked.signal.aborted || isFinal(error)) throw error
      await pause(attempt, error)
    }
  }
}

const isFinal = (error: unknown): boolean => error instanceof ApiError && error.status !== 503

// `retryAfter` is in seconds.
const pause = (attempt: number, error: unknown): Promise<void> => {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
  const ms = Math.min(5_000, Math.max(asked, 50 * 2 ** attempt * (1 + Math.random())))
  return new Promise((resolve) => setTimeout(resolve, ms))
}

const opened = async (answer: Response): Promise<unknown> => {
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.ok) throw new ApiError(answer.status, await failureOf(answer))
  if (answer.status === 204) return null
  if (type.startsWith('text/event-stream')) return events(answer.body!)
  return type.startsWith('application/json') ? answer.json() : answer.text()
}

const failureOf = async (answer: Response): Promise<Failure> => {
  const text = await answer.text().catch(() => '')
  const body = jsonOf(text) as { error?: Failure | string } | undefined
  const unknown = { code: 'UNKNOWN', retryAfter: Number(answer.headers.get('retry-after') ?? 0) }
  if (typeof body?.error === 'string') return { ...unknown, message: body.error }
  return body?.error ?? { ...unknown, message: foreignText(text, answer) }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

const SHOWN = 300

const foreignText = (text: string, { url, headers }: Response): string => {
  const from = url ? ` from ${url.replace(/\?.*$/, '')}` : ''
  const isPage = /html/.test(headers.get('content-type') ?? '')
  const line = isPage ? 'an HTML page' : text.trim().split('\n')[0]!.slice(0, SHOWN)
  return `Expected an answer of sidejob${from}, got ${line || 'an empty body'}`
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const whole = (text + chunk).split('\n\n')
    text = whole.pop()!
    for (const event of whole) {
      const data = event.split('\n').filter((line) => line.startsWith('data: '))
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(6)).join('\n'))
    }
  }
}
