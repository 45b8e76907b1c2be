// Performs a run at somebody else's address: posts the snapshot, signed, and reads the changes from the answer.

import { CLOSED, type Closed, parseJson, writeJson } from '../core/json.ts'
import { present } from '../core/present.ts'
import { type Changes, changes as changesSchema, type Snapshot, snapshot as snapshotSchema } from '../core/run.ts'
import { closedIn, places } from '../core/schemas.ts'
import { callable } from '../core/url.ts'
import type { Wire } from '../core/value.ts'
import type { WorkerDefinition } from './engine.ts'
import { webhookHeaders } from './sign.ts'

export type PushOptions = {
  fetch: typeof fetch
  /** Secrets for workers without one of their own. */
  secrets: readonly string[]
  /** Hosts inside our own network that may be called. */
  allowHosts: readonly string[]
  now: () => number
}

const snapshotPlaces = places(snapshotSchema)
const closedChanges = closedIn(changesSchema)
const closedResultMap: Closed = { result: CLOSED, error: CLOSED }

/** A snapshot as it is sent: closed values as they came. */
export const snapshotJson = (snapshot: Snapshot): string => writeJson(present(snapshotPlaces, snapshot))

const failed = (message: string, more: Partial<NonNullable<Changes['error']>> = {}): Changes => ({
  end: 'failed',
  error: { message, reason: 'other', ...more },
})

/** Refusals that may pass: everything else below 500 is final. */
const passing = new Set([408, 425, 429])

/** Retry-After in milliseconds: seconds or a date. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : undefined
}

type ResultMap = {
  type: 'success' | 'failure'
  result?: Wire
  reason?: 'other' | 'timeout'
  should_retry?: boolean
  error?: Wire
  message?: string
}

/** JQ's result map is a short form of changes (jq.md JQ-25 to JQ-32). */
function fromResultMap({ type, result, reason, should_retry, error, message = '' }: ResultMap): Changes {
  if (type === 'success') return { end: 'completed', ...(result === undefined ? {} : { result }) }
  return failed(message, {
    ...(reason ? { reason } : {}),
    ...(should_retry === false ? { retry: false } : {}),
    ...(error === undefined ? {} : { detail: error }),
  })
}

/** What the worker's answer says; an empty one means: completed. */
function changesOf(text: string): Changes {
  if (text.trim() === '') return { end: 'completed' }
  const { type } = JSON.parse(text) as { type?: unknown }
  if (type === 'success' || type === 'failure') return fromResultMap(parseJson(text, closedResultMap) as ResultMap)
  const checked = changesSchema.safeParse(parseJson(text, closedChanges))
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  return failed(`the worker's answer is not changes: ${issue?.path.join('.') || 'body'}: ${issue?.message}`)
}

function refusal(response: Response, now: number): Changes {
  const { status } = response
  const final = status < 500 && !passing.has(status)
  const after = retryAfter(response.headers.get('retry-after'), now)
  return failed(`the worker answered ${status}`, {
    ...(final ? { retry: false } : {}),
    ...(after === undefined ? {} : { after }),
  })
}

async function post(
  url: URL,
  snapshot: Snapshot,
  secrets: readonly string[],
  { fetch, now }: PushOptions,
): Promise<Response> {
  const body = new TextEncoder().encode(snapshotJson(snapshot))
  const headers = await webhookHeaders(snapshot.run.token, body, secrets, now())
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    signal: AbortSignal.timeout(snapshot.run.timeout),
  })
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/**
 * The changes of a run at a push worker, or 'later' when it will commit by itself with the token.
 *
 * @example const changes = await push({ url: 'https://w.example.com/zip' }, snapshot, options)
 */
export async function push(
  { url, secret }: NonNullable<WorkerDefinition['push']>,
  snapshot: Snapshot,
  options: PushOptions,
): Promise<Changes | 'later'> {
  try {
    const target = callable(url, options.allowHosts)
    const response = await post(target, snapshot, secret ? [secret] : options.secrets, options)
    if (response.status === 202) return 'later'
    if (!response.ok) return refusal(response, options.now())
    return changesOf(await response.text())
  } catch (error) {
    if (isTimeout(error))
      return failed(`the worker did not answer within ${snapshot.run.timeout} ms`, { reason: 'timeout' })
    return failed(`the worker could not be reached: ${error instanceof Error ? error.message : String(error)}`)
  }
}
