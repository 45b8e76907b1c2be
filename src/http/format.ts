import { type Closed, JsonError, objects, parseJson } from '../core/codec/json.ts'
import { writeJson } from '../core/codec/json-writer.ts'
import { MsgpackError } from '../core/codec/msgpack.ts'
import { parseMsgpack } from '../core/codec/msgpack-reader.ts'
import { writeMsgpack } from '../core/codec/msgpack-writer.ts'
import { SidejobError } from '../core/errors.ts'

export type Format = 'json' | 'msgpack'

/** Responses use the first media type of each format. */
export const mediaTypes: Record<string, Format> = {
  'application/json': 'json',
  'application/vnd.msgpack': 'msgpack',
  'application/msgpack': 'msgpack',
  'application/x-msgpack': 'msgpack',
}

export const formatOf = (contentType: string | null): Format => {
  const [type, ...parameters] = (contentType ?? 'application/json').toLowerCase().split(';').map(trimmed)
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (!Object.hasOwn(mediaTypes, type!) || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new SidejobError(
      'UNSUPPORTED',
      `Content-Type: expected application/json or application/msgpack in UTF-8, got ${contentType}`,
    )
  }
  return mediaTypes[type!]!
}

export const wanted = (accept = ''): Format => {
  const known = accept.toLowerCase().split(',').map(preference).filter(isKnown)
  const best = known.toSorted((a, b) => b.weight - a.weight)[0]
  return best ? mediaTypes[best.type]! : 'json'
}

type Preference = { type: string; weight: number }

const preference = (entry: string): Preference => {
  const [type, ...parameters] = entry.split(';').map(trimmed)
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  return { type: type!, weight: q ? Number(q.slice(2)) : 1 }
}

const isKnown = ({ type, weight }: Preference) => Object.hasOwn(mediaTypes, type) && weight > 0

const trimmed = (text: string) => text.trim()

export const readBody = (bytes: Uint8Array, format: Format, closed: Closed): unknown => {
  try {
    return format === 'json' ? parseJson(utf8(bytes), closed, { builder }) : parseMsgpack(bytes, closed, { builder })
  } catch (error) {
    const tooDeep = (error instanceof JsonError || error instanceof MsgpackError) && error.fault === 'TOO_DEEP'
    throw tooDeep ? new SidejobError('TOO_LARGE', error.message, { cause: error }) : error
  }
}

const written: Record<Format, { type: string; write: (tree: unknown) => BodyInit }> = {
  json: { type: 'application/json', write: writeJson },
  msgpack: { type: 'application/vnd.msgpack', write: (tree) => writeMsgpack(tree) as BodyInit },
}

export const respond = (
  tree: unknown,
  format: Format,
  status = 200,
  headers: Record<string, string> = {},
): Response => {
  const { type, write } = written[format]
  return new Response(write(tree), {
    status,
    headers: { 'content-type': type, 'cache-control': 'no-store', ...headers },
  })
}

export const retryHeaders = ({ retryAfter }: SidejobError): Record<string, string> =>
  retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new SidejobError('BAD_REQUEST', 'expected valid UTF-8, got other bytes', { cause })
  }
}

// Validation would silently drop a member called __proto__.
const builder: typeof objects = {
  ...objects,
  set: (made, name, value) => {
    if (name === '__proto__') throw new SidejobError('BAD_REQUEST', 'expected a name other than "__proto__"')
    objects.set(made, name, value)
  },
}
