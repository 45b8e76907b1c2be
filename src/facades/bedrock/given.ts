// Members of a JSON body take precedence over headers.

import { CLOSED, each, list, parseJson } from '../../core/codec/json.ts'
import { decodeValue, type Encoded, encodedToJson } from '../../core/codec/value.ts'
import { time } from '../../core/time.ts'
import { formatOf, readBody } from '../../http/format.ts'
import { Refusal, refusals } from './refusal.ts'

export type Given = (name: string) => string | undefined

const textOf = (value: Encoded | undefined): string | undefined => {
  if (value === undefined || value === 'null') return undefined
  const json = encodedToJson(value)
  return json.startsWith('"') ? (decodeValue(json) as string) : json
}

const members = (body: Record<string, Encoded>): Given => {
  const named = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => textOf(named.get(name.toLowerCase()))
}

const decoded = (header: string): string => {
  if (!/[\x80-\xff]/.test(header)) return header
  try {
    const bytes = Uint8Array.from(header, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return header
  }
}

// Proxies remove HTTP's own header Connection, and HTTP's own header Priority has another meaning.
const aliases: Record<string, string> = { connection: 'x-bedrock-connection' }
const isForeign = (name: string, value: string): boolean => name === 'priority' && !/^-?\d+$/.test(value)

const inHeaders =
  (headers: Headers): Given =>
  (name) => {
    const lower = name.toLowerCase()
    const value = headers.get(aliases[lower] ?? lower)
    return value === null || isForeign(lower, value) ? undefined : decoded(value)
  }

const bodyOf = (request: Request, bytes: Uint8Array): Record<string, Encoded> => {
  if (bytes.length === 0) return {}
  const type = request.headers.get('content-type')
  const read = readBody(bytes, type?.includes('msgpack') ? formatOf(type) : 'json', each(CLOSED))
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw refusals.badJson()
  return read as Record<string, Encoded>
}

export const given = (request: Request, bytes: Uint8Array): Given => {
  const [body, headers] = [members(bodyOf(request, bytes)), inHeaders(request.headers)]
  return (name) => body(name) ?? headers(name)
}

export const givenJobs = (text: string | undefined): Given[] => {
  const jobs = listIn(text ?? '')
  if (jobs.length === 0) throw refusals.badJson()
  return jobs.map((job) => {
    const body = job.startsWith('{') ? (parseJson(job, each(CLOSED)) as Record<string, Encoded>) : {}
    if (Object.keys(body).length === 0) throw refusals.badJson()
    return members(body)
  })
}

const listIn = (text: string): Encoded[] => {
  try {
    const { jobs } = parseJson(`{"jobs":${text}\n}`, { jobs: LIST }) as { jobs: unknown }
    return Array.isArray(jobs) ? jobs : []
  } catch {
    return []
  }
}

const LIST = list(CLOSED)

const MOST_NAME = 255
const encoder = new TextEncoder()

export const needText = (from: Given, name: string, most: number): string => {
  const text = from(name)
  if (!text) throw refusals.missing(name)
  if (encoder.encode(text).length > most) throw refusals.malformed(name)
  return text
}

export const needName = (from: Given): string => {
  const name = needText(from, 'name', MOST_NAME)
  if (/\p{Cc}/u.test(name)) throw refusals.malformed('name')
  return name
}

/** Throws "not found" for an id that no job can have. */
export const needJob = (from: Given): string => {
  const text = needText(from, 'jobID', 255)
  if (!/^(0|-?[1-9]\d*)$/.test(text)) throw refusals.malformed('jobID')
  if (!isJob(text)) throw refusals.noJob()
  return text
}

export const isJob = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))

const PRIORITIES = new Set(['0', '250', '500', '750', '850', '1000'])

/** Returns 500 minus Bedrock's priority, because sidejob runs smaller numbers first. */
export const priorityOf = (text: string | undefined): number | undefined => {
  if (!text) return undefined
  if (!PRIORITIES.has(text.trim())) throw refusals.badPriority()
  return 500 - Number(text)
}

/** Reads the leading digits, as C does. Any other text is 0. */
export const leadingNumber = (text: string | undefined): number => Number.parseInt(text ?? '', 10) || 0

export const isSet = (from: Given, name: string): boolean => ![undefined, 'false'].includes(from(name))

export const isOn = (text: string | undefined): boolean => text === 'true' || leadingNumber(text) !== 0

/** Accepts "YYYY-MM-DD [HH:MM[:SS[.mmm]]]" in UTC, and ISO 8601 with a zone. */
export const momentOf = (text: string | undefined, name: string): number | undefined => {
  if (!text) return undefined
  const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?( ?(?:Z|[+-]\d\d:?\d\d))?)?$/.exec(
    text.trim(),
  )
  if (!found) throw refusals.malformed(name)
  const [, day, minute = '00:00', second = ':00', zone = 'Z'] = found
  try {
    return time(`${day}T${minute}${second}${zone.trim()}`)
  } catch {
    throw refusals.malformed(name)
  }
}

export const delayOf = (text: string | undefined): number => {
  const seconds = leadingNumber(text)
  if (seconds < 0) throw new Refusal(402, 'Must specify a non-negative delay when retrying')
  if (seconds >= 100_000_000) throw refusals.malformed('delay')
  return seconds * 1000
}
