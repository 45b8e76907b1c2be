import { readUpTo } from '../../core/bytes.ts'
import { type Closed, parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import { parseMsgpack } from '../../core/codec/msgpack-reader.ts'
import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { isTimeout, messageOf, SidejobError } from '../../core/errors.ts'
import { check } from '../../core/issues.ts'
import { callBody, changesIn, closedResultMap, type ResultMap, readResultMap } from '../../core/jq.ts'
import { present } from '../../core/present.ts'
import { retryAfter } from '../../core/retry.ts'
import {
  type Changes,
  changes as changesSchema,
  type RunError,
  type Snapshot,
  snapshot as snapshotSchema,
} from '../../core/run.ts'
import { closedIn, places } from '../../core/schemas.ts'
import { MAX_TIMER_MS } from '../../core/sleep.ts'
import { callable } from '../../core/url.ts'
import type { WorkerDefinition } from '../engine.ts'
import { failedWith, LAST_ATTEMPT } from '../jobs/outcome.ts'
import type { HostReport } from './circuit-breaker.ts'
import { type Signer, webhookHeaders } from './sign.ts'

export type PushOptions = {
  fetch: typeof fetch
  signer: Signer
  allowHosts: readonly string[]
  now: () => number
  traceparent?: string
}

const snapshotPlaces = places(snapshotSchema)
const closedChanges = closedIn(changesSchema)

const snapshotJson = (snapshot: Snapshot): string => writeJson(present(snapshotPlaces, snapshot))

const failed = (message: string, more: Partial<RunError> = {}): Changes =>
  failedWith({ message, reason: 'other', ...more })

const MAX_ANSWER = 10 * 1024 * 1024
const SHOWN = 1_000

const passing = new Set([408, 425, 429])

/** In milliseconds. */
const MOST_LATER = 86_400_000

type Pushed = HostReport & { changes: Changes | 'later'; unreached?: true; status?: number }

const wrong = (why: string): Changes => failed(`the worker's answer is invalid: ${why}`, { retry: false })

const isMsgpack = (contentType: string | null): boolean => /^application\/(vnd\.|x-)?msgpack\b/i.test(contentType ?? '')

type Read = (closed: Closed) => unknown

const readerOf = (bytes: Uint8Array, contentType: string | null): Read => {
  if (isMsgpack(contentType)) return (closed) => parseMsgpack(bytes, closed)
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  return (closed) => parseJson(text, closed)
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13))

function changesOf(bytes: Uint8Array, contentType: string | null): Changes {
  if (isBlank(bytes)) return { end: 'completed', n: LAST_ATTEMPT }
  const read = readerOf(bytes, contentType)
  const tree = read(closedChanges)
  const { type } = (tree ?? {}) as { type?: unknown }
  if (type === 'success' || type === 'failure')
    return { n: LAST_ATTEMPT, ...changesIn(read(closedResultMap) as ResultMap) }
  const data = check(changesSchema, tree)
  if (data.end === 'checkpoint')
    return wrong('end: expected the end of the run, got a checkpoint. Commit checkpoints with the token of the run')
  return { ...data, n: data.n ?? LAST_ATTEMPT }
}

function readChanges(bytes: Uint8Array, contentType: string | null): Changes {
  try {
    return changesOf(bytes, contentType)
  } catch (error) {
    return wrong(messageOf(error))
  }
}

const saying = (bytes: Uint8Array | undefined): Encoded | undefined =>
  bytes?.length ? encodeValue(new TextDecoder().decode(bytes.subarray(0, SHOWN))) : undefined

function refusal(response: Response, bytes: Uint8Array | undefined, { isFinal }: Dialect, now: number): Pushed {
  const { status, headers } = response
  const final = isFinal(response)
  const after = retryAfter(headers.get('retry-after'), now)
  const detail = saying(bytes)
  const changes = failed(`the worker answered ${status}${status < 400 ? ', and redirects are not followed' : ''}`, {
    ...(final ? { retry: false } : {}),
    ...(after === undefined ? {} : { after: Math.min(after, MOST_LATER) }),
    detail,
  })
  return { changes, down: status >= 500 || passing.has(status), after, status }
}

type Dialect = {
  bodyOf: (snapshot: Snapshot) => Uint8Array
  contentType: string
  accept: string
  changesOf: (bytes: Uint8Array, contentType: string | null) => Changes
  isFinal: (response: Response) => boolean
}

const ours: Dialect = {
  bodyOf: (snapshot) => new TextEncoder().encode(snapshotJson(snapshot)),
  contentType: 'application/json',
  accept: 'application/json, application/vnd.msgpack;q=0.9',
  changesOf: readChanges,
  isFinal: ({ status }) => status < 500 && !passing.has(status),
}

const MSGPACK = 'application/vnd.msgpack'

const isText = (contentType: string | null): boolean => /^text\/|json/i.test(contentType ?? '')

// An answer that is not a result map is a temporary failure.
const jq: Dialect = {
  bodyOf: callBody,
  contentType: MSGPACK,
  accept: `${MSGPACK}, application/json;q=0.9`,
  changesOf(bytes, contentType) {
    try {
      return { n: LAST_ATTEMPT, ...readResultMap(readerOf(bytes, isText(contentType) ? contentType : MSGPACK)) }
    } catch (error) {
      return failed(`the worker's answer is not a result map: ${messageOf(error)}`)
    }
  },
  isFinal: ({ status, headers }) =>
    status === 410 || (status === 489 && headers.get('upstash-nonretryable-error') === 'true'),
}

async function signed(snapshot: Snapshot, secrets: readonly string[], dialect: Dialect, now: number) {
  const { bodyOf, contentType, accept } = dialect
  const body = bodyOf(snapshot)
  const headers = await webhookHeaders(snapshot.run.token, body, secrets, now)
  return { body: body as BodyInit, headers: { ...headers, 'content-type': contentType, accept } }
}

const withCause = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : messageOf(error)

function unreached(error: unknown, timeout: number): Pushed {
  if (isTimeout(error))
    return { changes: failed(`the worker did not answer within ${timeout} ms`, { reason: 'timeout' }), down: true }
  return { changes: failed(`the worker could not be reached: ${withCause(error)}`), down: true, unreached: true }
}

/** The call has not reached the host, so the host's circuit breaker must not count it. */
function uncalled(error: unknown): Pushed {
  if (error instanceof SidejobError)
    return { changes: failed(`the worker could not be reached: ${withCause(error)}`, { retry: false }) }
  return {
    changes: failed(
      `the call could not be made: ${withCause(error)}. Expected a secret in base64, which may follow "whsec_"`,
    ),
  }
}

export async function push(
  { url, secret, format }: NonNullable<WorkerDefinition['push']>,
  snapshot: Snapshot,
  options: PushOptions,
): Promise<Pushed> {
  const dialect = format === 'jq' ? jq : ours
  const call = await Promise.resolve()
    .then(async () => ({
      target: callable(url, options.allowHosts, 'workers'),
      ...(await signed(snapshot, await options.signer.secretsFor(url, secret), dialect, options.now())),
    }))
    .catch(uncalled)
  if ('changes' in call) return call
  try {
    const { target, body, headers } = call
    const { traceparent } = options
    const signal = AbortSignal.timeout(Math.min(snapshot.run.timeout, MAX_TIMER_MS))
    const response = await options.fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal,
      body,
      headers: { ...headers, ...(traceparent && { traceparent }) },
    })
    const bytes = await readUpTo(response.body, MAX_ANSWER)
    if (response.status === 202) return { changes: 'later', down: false }
    if (!response.ok) return refusal(response, bytes, dialect, options.now())
    const changes = bytes
      ? dialect.changesOf(bytes, response.headers.get('content-type'))
      : wrong(`it is larger than ${MAX_ANSWER} bytes`)
    return { changes, down: false }
  } catch (error) {
    return unreached(error, snapshot.run.timeout)
  }
}
