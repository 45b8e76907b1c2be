import { validateHeaderName, validateHeaderValue } from 'node:http'
import { parseDuration } from './rules.ts'

export type Headers = Record<string, string>

type Letter = {
  id: string
  order: number
  url: string
  scheduleId?: string
  callerIP: string
  headers: Headers
  body: Buffer
  createdAt: number
  dueAt: number
  retried: number
}
export type Message = Letter & { settings: Settings }
export type Settings = ReturnType<typeof readSettings>

export const limits = {
  message: 10 * 2 ** 20,
  timeout: 2 * 3_600_000,
  delay: 365 * 86_400_000,
  schedules: 1_000,
} as const

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
  checkNames(headers)
  return {
    method: readMethod(headers['upstash-method']),
    header: readForwarded(headers),
    maxRetries: readCount(headers, 'upstash-retries') ?? 3,
    timeout: Math.min(readDuration(headers, 'upstash-timeout') ?? limits.timeout, limits.timeout),
    delay: readDelay(headers),
    notBefore: readCount(headers, 'upstash-not-before'),
  }
}

const FORWARD = 'upstash-forward-'
const KNOWN = ['method', 'retries', 'timeout', 'delay', 'not-before'].map((name) => `upstash-${name}`)
const NOT_KEPT = /^upstash-(telemetry-|cron$|schedule-id$)/

export function keptHeaders(headers: Record<string, unknown>): Headers {
  const kept: Headers = {}
  for (const name in headers) {
    const key = name.toLowerCase()
    if (key === 'content-type' || (key.startsWith('upstash-') && !NOT_KEPT.test(key))) kept[key] = String(headers[name])
  }
  return kept
}

/** Refuses headers of QStash that this stand-in does not support. */
function checkNames(headers: Headers) {
  for (const name in headers) {
    if (!name.startsWith('upstash-') || name.startsWith(FORWARD) || KNOWN.includes(name)) continue
    throw new Refusal(400, `${name}: this stand-in supports only ${KNOWN.join(', ')} and ${FORWARD}*`)
  }
}

export const toJournal = ({ settings: _, body, ...facts }: Message) => ({ ...facts, body: body.toString('base64') })

export function fromJournal(value: unknown): Message {
  const kept = value as Omit<Letter, 'body'> & { body: string }
  return { ...kept, body: Buffer.from(kept.body, 'base64'), settings: readSettings(kept.headers) }
}

export const listed = (header: Headers): Record<string, string[]> =>
  Object.fromEntries(Object.entries(header).map(([name, value]) => [canonical(name), [value]]))

const canonical = (name: string) => name.replace(/(^|-)([a-z])/g, (_, dash, letter) => dash + letter.toUpperCase())

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function readMethod(text = 'POST'): string {
  const method = text.toUpperCase()
  if (METHODS.includes(method)) return method
  throw new Refusal(400, `Upstash-Method: expected one of ${METHODS.join(', ')}, got "${text}"`)
}

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
  throw new Refusal(400, `${name}: expected a whole number, got "${text}"`)
}

function readDuration(headers: Headers, name: string): number | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw new Refusal(400, `${name}: expected a duration like 50s, 2m or 1d10h30m, got "${text}"`)
}

function readDelay(headers: Headers): number | undefined {
  const delay = readDuration(headers, 'upstash-delay')
  if (delay === undefined || delay <= limits.delay) return delay
  throw new Refusal(412, `upstash-delay: expected at most one year, got "${headers['upstash-delay']}"`)
}

export const isHttp = (url: string) => /^https?:\/\/[^/]/i.test(url) && URL.canParse(url)
