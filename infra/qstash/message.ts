// What a message is: how the headers of a publish are read, and how a message is shown by the API.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { compileExpression, parseDuration } from './rules.ts'

export type Headers = Record<string, string>

/** The facts that are kept: the settings can be read from the headers again. */
export type Letter = {
  id: string
  order: number
  url: string
  topicName?: string | undefined
  endpointName?: string | undefined
  queueName?: string | undefined
  scheduleId?: string | undefined
  callerIP: string
  headers: Headers
  body: Buffer
  createdAt: number
  notBefore: number
  /** When the next attempt is made. */
  dueAt: number
  retried: number
}
export type Message = Letter & { settings: Settings }
export type Settings = ReturnType<typeof readSettings>
export type FlowControl = { key: string; parallelism?: number; rate?: number; period: number }

/** Limits of the pay-as-you-go plan. */
export const limits = {
  message: 10 * 2 ** 20,
  timeout: 2 * 3_600_000,
  delay: 365 * 86_400_000,
  schedules: 1_000,
  queues: 100,
} as const

/** An answer that is an error: `{ "error": text }` with the status of the vendor. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Headers
  constructor(status: 400 | 401 | 404 | 412 | 429 | 500, text: string, headers: Headers = {}) {
    super(text)
    this.status = status
    this.headers = headers
  }
}

export function readSettings(headers: Headers) {
  const labels = headers['upstash-label']
  return {
    method: readMethod(headers['upstash-method']),
    header: readForwarded(headers),
    maxRetries: readCount(headers, 'upstash-retries') ?? 3,
    retryDelay: readExpression(headers),
    timeout: Math.min(readDuration(headers, 'upstash-timeout') ?? limits.timeout, limits.timeout),
    delay: readDelay(headers),
    notBefore: readCount(headers, 'upstash-not-before'),
    deduplicationId: headers['upstash-deduplication-id'],
    contentBased: headers['upstash-content-based-deduplication'] === 'true',
    callback: readCallback(headers, 'upstash-callback'),
    failureCallback: readCallback(headers, 'upstash-failure-callback'),
    labels: labels ? labels.split(',').map((label) => label.trim()) : [],
    flowControl: readFlowControl(headers),
    redact: new Set((headers['upstash-redact-fields'] ?? '').toLowerCase().split(/\s*,\s*/)),
  }
}

const NOT_KEPT = /^upstash-(telemetry-|cron$|schedule-id$|queue-name$)/

/** The headers that say how a message is delivered, out of all those of a request. */
export function keptHeaders(headers: Record<string, unknown>): Headers {
  const kept: Headers = {}
  for (const name in headers) {
    const key = name.toLowerCase()
    if (key === 'content-type' || (key.startsWith('upstash-') && !NOT_KEPT.test(key))) kept[key] = String(headers[name])
  }
  return kept
}

const ONCE = ['upstash-delay', 'upstash-not-before', 'upstash-deduplication-id', 'upstash-content-based-deduplication']

/** The headers of a message that is made again from the dead letter queue: its first wait is over. */
export const headersAgain = (headers: Headers, overrides: Headers): Headers => ({
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => !ONCE.includes(name))),
  ...overrides,
})

/** What is delivered is the same when this is the same. */
export function contentHash(url: string, { header }: Settings, body: Buffer): string {
  return createHash('sha256')
    .update(JSON.stringify([url, header]))
    .update(body)
    .digest('hex')
}

export const toJournal = ({ settings: _, body, ...facts }: Message) => ({ ...facts, body: body.toString('base64') })

export function fromJournal(value: unknown): Message {
  const kept = value as Omit<Letter, 'body'> & { body: string }
  return { ...kept, body: Buffer.from(kept.body, 'base64'), settings: readSettings(kept.headers) }
}

export function messageView(message: Message) {
  const { settings } = message
  return {
    messageId: message.id,
    url: message.url,
    topicName: message.topicName,
    endpointName: message.endpointName,
    ...settingsView(settings, message.body),
    maxRetries: settings.maxRetries,
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    queueName: message.queueName,
    scheduleId: message.scheduleId,
    callerIP: message.callerIP,
  }
}

/** The part that a message and a schedule show alike. */
export function settingsView(settings: Settings, body: Buffer) {
  return {
    method: settings.method,
    header: redactedHeader(settings),
    ...(settings.redact.has('body') ? { body: redacted(body) } : bodyView('body', body)),
    retryDelayExpression: settings.retryDelay,
    callback: settings.callback?.url,
    failureCallback: settings.failureCallback?.url,
    label: settings.labels[0],
    labels: settings.labels.length ? settings.labels : undefined,
    flowControlKey: settings.flowControl?.key,
    parallelism: settings.flowControl?.parallelism,
    rate: settings.flowControl?.rate,
    period: settings.flowControl?.period,
  }
}

/** A body that is text is shown as it is, any other as base64 under its other name. */
export const bodyView = (name: string, body: Buffer): Record<string, string> =>
  isUtf8(body) ? { [name]: body.toString() } : { [`${name}Base64`]: body.toString('base64') }

export const listed = (header: Record<string, string | string[] | undefined>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(header).map(([name, value]) => [canonical(name), [value ?? ''].flat()]))

function redactedHeader({ header, redact }: Settings) {
  const all = redact.has('header') || redact.has('headers')
  return listed(
    Object.fromEntries(
      Object.entries(header).map(([name, value]) =>
        all || redact.has(`header[${name.toLowerCase()}]`) ? [name, redacted(value)] : [name, value],
      ),
    ),
  )
}

const redacted = (value: string | Buffer) => `REDACTED:${createHash('sha256').update(value).digest('hex')}`

const canonical = (name: string) => name.replace(/(^|-)([a-z])/g, (_, dash, letter) => dash + letter.toUpperCase())

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function readMethod(text = 'POST'): string {
  const method = text.toUpperCase()
  if (METHODS.includes(method)) return method
  throw new Refusal(400, `Upstash-Method is "${text}"; use one of ${METHODS.join(', ')}`)
}

const FORWARD = 'upstash-forward-'

function readForwarded(headers: Headers): Headers {
  const header: Headers = {}
  if (headers['content-type']) header['Content-Type'] = headers['content-type']
  for (const name in headers) {
    if (name.startsWith(FORWARD)) header[canonical(name.slice(FORWARD.length))] = headers[name]!
  }
  for (const name in header) checkHeader(name, header[name]!)
  return header
}

function checkHeader(name: string, value: string) {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (error) {
    throw new Refusal(400, (error as Error).message)
  }
}

function readCount(headers: Headers, name: string): number | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  throw new Refusal(400, `${name} is "${text}"; it must be a whole number`)
}

function readDuration(headers: Headers, name: string): number | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw new Refusal(400, `${name} is "${text}"; it must be a duration like 50s, 2m or 1d10h30m`)
}

function readDelay(headers: Headers): number | undefined {
  const delay = readDuration(headers, 'upstash-delay')
  if (delay === undefined || delay <= limits.delay) return delay
  throw new Refusal(412, `upstash-delay is "${headers['upstash-delay']}"; the longest delay is one year`)
}

function readExpression(headers: Headers): string | undefined {
  const text = headers['upstash-retry-delay']
  if (text === undefined) return undefined
  try {
    compileExpression(text)
    return text
  } catch (error) {
    throw new Refusal(400, `upstash-retry-delay: ${(error as Error).message}`)
  }
}

/** The callback is a message of its own; its headers are those behind the prefix. */
function readCallback(headers: Headers, prefix: string): { url: string; headers: Headers } | undefined {
  const url = headers[prefix]
  if (url === undefined) return undefined
  if (!isHttp(url)) throw new Refusal(400, `${prefix} is "${url}"; it must start with http:// or https://`)
  const own: Headers = {}
  for (const name in headers) {
    if (name.startsWith(`${prefix}-`)) own[`upstash-${name.slice(prefix.length + 1)}`] = headers[name]!
  }
  if (own['upstash-delay'] ?? own['upstash-not-before'])
    throw new Refusal(400, `${prefix}: callbacks can not be delayed`)
  readSettings(own)
  return { url, headers: own }
}

function readFlowControl(headers: Headers): FlowControl | undefined {
  const key = headers['upstash-flow-control-key']
  if (!key) return undefined
  const text = headers['upstash-flow-control-value'] ?? ''
  const values = Object.fromEntries(
    text.split(',').map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*=\s*/),
    ),
  )
  const refuse = (why: string) => new Refusal(400, `upstash-flow-control-value is "${text}"; ${why}`)
  const count = (name: string) => {
    const value = values[name]
    if (value === undefined) return {}
    if (!/^[1-9]\d*$/.test(value)) throw refuse(`${name} must be a whole number above 0`)
    return { [name]: Number(value) }
  }
  const period = values.period === undefined ? 1_000 : (parseDuration(values.period) ?? Number(values.period) * 1_000)
  if (!(period > 0)) throw refuse('period must be a duration like 1m')
  const limit: FlowControl = { key, period: period / 1_000, ...count('parallelism'), ...count('rate') }
  if (!limit.parallelism && !limit.rate) throw refuse('give parallelism, rate or both')
  return limit
}

export const isHttp = (url: string) => /^https?:\/\/[^/]/i.test(url) && URL.canParse(url)
