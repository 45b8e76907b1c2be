import { readUpTo } from '../../core/bytes.ts'
import {
  CALLBACK_GROUP,
  callbackGroup,
  callbackRetry,
  type Ended,
  envelope,
  kafkaBody,
  totalDelay,
  webhookId,
} from '../../core/callback.ts'
import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { groupKey } from '../../core/constraint.ts'
import { isOutage, isTimeout } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import { retryAfter } from '../../core/retry.ts'
import type { Changes, Op } from '../../core/run.ts'
import { callable } from '../../core/url.ts'
import type { RunOutcome } from '../../redis/changes.ts'
import { PLACE } from '../../redis/marks.ts'
import { createdAtOf, type JobRecord, statusOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { CallbackJob, ClaimedJob, Ring } from '../../redis/types.ts'
import type { Callback, CallbackProgress, CallbackState, CallbackView } from '../engine.ts'
import { addressOf } from '../jobs/callback-spec.ts'
import { outcomeOf } from '../jobs/outcome.ts'
import type { Registry } from '../jobs/registry.ts'
import type { RunTrace } from '../trace/tracer.ts'
import { createCircuitBreakers, type HostReport, waitForHost } from './circuit-breaker.ts'
import { type Signer, webhookHeaders } from './sign.ts'

export type Payload = (ended: Ended, given: Record<string, unknown>) => string | Promise<string>

export type Payloads = Readonly<Record<string, Payload>>

type CallbackOptions = {
  store: Store
  registry: Registry
  fetch: typeof fetch
  signer: Signer
  allowHosts: readonly string[]
  payloads?: Payloads
  ring: (rings: Ring[]) => Promise<void>
  random: () => number
  now: () => number
}

const TIMEOUT = 30_000
/** In milliseconds. */
const LONGEST = 86_400_000

export function endedOf(document: JobRecord): Ended {
  const { job, end, ...rest } = JSON.parse(document.args!) as Ended
  const value = document.callbackResult as Encoded
  if (rest.status === 'completed') return { ...rest, job, end, type: 'success', result: value } as Ended
  const { message = '', reason = 'other', detail } = JSON.parse(value) as Record<string, string>
  return {
    ...rest,
    job,
    end,
    type: 'failure',
    message,
    reason,
    error: detail === undefined ? null : encodeValue(detail),
  } as Ended
}

export function headersOf(given: Record<string, string> = {}, own: Record<string, string>): Headers {
  const headers = new Headers({ 'user-agent': 'sidejob' })
  for (const [name, value] of [...Object.entries(given), ...Object.entries(own)]) headers.set(name, value)
  return headers
}

export const typeOf = ({ kafka }: Callback): string =>
  kafka ? 'application/vnd.kafka.json.v2+json' : 'application/json'

export async function bodyOf({ payload, kafka }: Callback, ended: Ended, payloads: Payloads): Promise<string> {
  const form = payload && payloads[payload.as]
  if (payload && !form) throw new Error(`this deployment has no payload format named ${payload.as}`)
  const body = form ? await form(ended, payload.with) : envelope(ended)
  return kafka ? kafkaBody(body) : body
}

type Message = { spec: Callback; ended: Ended; body: string; traceparent?: string }

type Sent = { ok: true } | { ok: false; message: string; final?: boolean; outcome: HostReport }

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error & { cause?: { code?: string } }
  if (isTimeout(error)) return 'it did not answer in time'
  return cause?.code ? `${message}: ${cause.code}` : message
}

const isDown = (status: number): boolean => status >= 500 || status === 408 || status === 429

type KafkaAnswer = { offsets?: { error_code?: number | null; error?: string | null }[] }

const KAFKA_ANSWER = 65_536

/** A Kafka REST proxy answers 200 even if the broker refused the record. */
async function kafkaFault({ body }: Response): Promise<string | undefined> {
  const bytes = await readUpTo(body, KAFKA_ANSWER).catch(() => undefined)
  const { offsets } = readObject<KafkaAnswer>(new TextDecoder().decode(bytes)) ?? {}
  if (!Array.isArray(offsets) || offsets.length === 0)
    return 'expected the response of a Kafka REST proxy, got one without offsets'
  const refused = offsets.find(({ error_code }) => error_code !== null && error_code !== undefined)
  return refused && (refused.error ?? `the broker answered ${refused.error_code}`)
}

export function createCallbacks(options: CallbackOptions) {
  const { store, registry, fetch, signer, allowHosts, payloads = {}, ring, random, now } = options
  const breakers = createCircuitBreakers({
    store,
    shut: async (host, until) =>
      ring(await store.limit(groupKey(callbackGroup(host)), 'shut', { until: until ?? undefined })),
  })

  async function answerOf(response: Response, { kafka }: Callback): Promise<Sent> {
    const { status, ok } = response
    const fault = ok && kafka ? await kafkaFault(response) : undefined
    await response.body?.cancel().catch(() => undefined)
    if (fault) return { ok: false, message: fault, outcome: { down: false } }
    if (ok) return { ok: true }
    const after = Math.min(LONGEST, retryAfter(response.headers.get('retry-after'), now()) ?? 0)
    return {
      ok: false,
      message: status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`,
      final: status === 410,
      outcome: { down: isDown(status), after },
    }
  }

  async function send(url: URL, { spec, ended, body: text, traceparent }: Message): Promise<Sent> {
    const body = new TextEncoder().encode(text)
    const secrets = await signer.secretsFor(url.href, spec.secret)
    const signed = await webhookHeaders(webhookId(ended), body, secrets, now())
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        body,
        headers: headersOf(spec.headers, {
          ...signed,
          'content-type': typeOf(spec),
          ...(traceparent && { traceparent }),
        }),
        signal: AbortSignal.timeout(spec.timeout ?? TIMEOUT),
      })
      return await answerOf(response, spec)
    } catch (error) {
      return { ok: false, message: reasonOf(error), outcome: { down: true } }
    }
  }

  function keptBack(
    claimed: ClaimedJob,
    spec: Callback,
    host: string,
    until: number,
  ): Promise<RunOutcome> | RunOutcome {
    const since = claimed.document.resentAt ?? createdAtOf(claimed.document)
    if (store.now() - since > totalDelay(spec.retry))
      return commit(claimed, spec, {
        end: 'failed',
        error: { message: `${host} kept failing; no further attempts are made`, retry: false },
      })
    return waitForHost(claimed, host, until, store.now(), random())
  }

  const commit = (claimed: ClaimedJob, spec: Callback, changes: Changes): Promise<RunOutcome> =>
    outcomeOf(claimed.document.token!, changes, {
      document: claimed.document,
      vault: store.vault,
      retry: callbackRetry(spec.retry),
      registry,
      random,
      now: store.now(),
    })

  function delivered({ afterwards }: Callback, { job }: Ended): Changes {
    if (!afterwards) return { end: 'completed' }
    const ops: Op[] = [
      { op: 'spawn', name: 'afterwards', ...afterwards, args: encodeValue({ ...afterwards.args, job }) },
      { op: 'disown', child: 'afterwards' },
    ]
    return { end: 'completed', ops }
  }

  const specOf = ({ document }: ClaimedJob): Callback => JSON.parse(document.callback!)

  const longest = (claimed: ClaimedJob): number => specOf(claimed).timeout ?? TIMEOUT

  async function perform(claimed: ClaimedJob, trace?: RunTrace): Promise<RunOutcome> {
    const spec = specOf(claimed)
    try {
      return await attempt(claimed, spec, trace)
    } catch (error) {
      if (isOutage(error)) throw error
      return commit(claimed, spec, { end: 'failed', error: { message: (error as Error).message } })
    }
  }

  async function attempt(claimed: ClaimedJob, spec: Callback, trace: RunTrace | undefined): Promise<RunOutcome> {
    const ended = endedOf(claimed.document)
    const url = callable(addressOf(spec), allowHosts, 'callbacks')
    const body = await bodyOf(spec, ended, payloads)
    const destination = claimed.document.group?.slice(CALLBACK_GROUP.length) ?? url.host
    const permit = await breakers.enter(destination)
    if (permit.state === 'open') return keptBack(claimed, spec, url.host, permit.until!)
    const call = (traceparent = claimed.document.traceparent) => send(url, { spec, ended, body, traceparent })
    const sent = await (trace ? trace.span(`POST ${url.host}`, call, 'client') : call())
    await breakers.leave(destination, permit, sent.ok ? { down: false } : sent.outcome).catch(() => undefined)
    if (sent.ok) return commit(claimed, spec, delivered(spec, ended))
    const { message, final, outcome } = sent
    const error = { message: `${url.host}: ${message}`, after: outcome.after, ...(final ? { retry: false } : {}) }
    return commit(claimed, spec, { end: 'failed', error })
  }

  return { perform, longest }
}

const states: Partial<Record<string, CallbackState>> = {
  running: 'IN_PROGRESS',
  completed: 'DELIVERED',
  failed: 'FAILED',
  terminated: 'FAILED',
}

const stateOf = (document: JobRecord): CallbackState => states[statusOf(document)] ?? 'PENDING'

function attemptsOf(document: JobRecord): number {
  const [, , outcome, attempt] = (document.lastRun ?? '').split(',')
  if (outcome === 'completed') return Number.parseInt(attempt!, 10)
  return (document.failures ?? 0) + (document.place === PLACE.leased ? 1 : 0)
}

const messageOf = (error: string | undefined): string | null =>
  error === undefined ? null : (JSON.parse(error) as { message: string }).message

export function progressOf(document: JobRecord, callback?: CallbackJob): CallbackProgress | null {
  if (!document.callback || document.callbackOf) return null
  const job = document.callbackJob === undefined ? null : Number(document.callbackJob)
  if (!callback) {
    const state = (document.callbackStatus as CallbackState | undefined) ?? (job === null ? null : 'FAILED')
    return { state, attempts: 0, lastError: null, job }
  }
  return {
    state: stateOf(callback.document),
    attempts: attemptsOf(callback.document),
    lastError: messageOf(callback.error),
    job,
  }
}

export function callbackView(id: number, document: JobRecord): CallbackView {
  const spec = JSON.parse(document.callback!) as Callback
  const address = URL.parse(addressOf(spec))
  return {
    of: Number(document.callbackOf),
    end: document.callbackEnd!,
    job: id,
    state: stateOf(document),
    attempts: attemptsOf(document),
    maxAttempts: 1 + callbackRetry(spec.retry).max!,
    lastError: messageOf(document.lastError),
    // The query is omitted, because it may contain tokens.
    url: address ? address.origin + address.pathname : '',
    host: document.group?.slice(CALLBACK_GROUP.length),
    createdAt: document.createdAt!,
    nextAt: document.place === PLACE.timers ? (document.backoffUntil ?? null) : null,
    endedAt: document.endedAt ?? null,
  }
}
