import { type Ended, webhookId } from '../../core/callback.ts'
import { REDACTED, redacted } from '../../core/redact.ts'
import { type JobRecord, redactedPathsOf } from '../../redis/record.ts'
import type { Callback, CallbackSent } from '../engine.ts'
import { bodyOf, endedOf, headersOf, type Payloads, typeOf } from './callbacks.ts'

const secret = /auth|cookie|token|secret|key|password|signature/

function shown(ended: Ended, of: JobRecord): Ended {
  const paths = redactedPathsOf(of)
  if (ended.type === 'success') return { ...ended, result: redacted(ended.result, paths, 'result') }
  const hidesMessage = paths.includes('error') || paths.includes('error.message')
  return {
    ...ended,
    message: hidesMessage ? REDACTED : ended.message,
    error: redacted(ended.error, paths, 'error'),
  }
}

/** Null if the ended job is no longer stored, or if this deployment does not know the format of the body. */
export async function sentOf(callbackJob: JobRecord, of: JobRecord, payloads: Payloads): Promise<CallbackSent | null> {
  if (callbackJob.callbackResult === undefined || !callbackJob.args) return null
  const spec = JSON.parse(callbackJob.callback!) as Callback
  const ended = endedOf(callbackJob)
  const headers = headersOf(spec.headers, { 'webhook-id': webhookId(ended), 'content-type': typeOf(spec) })
  const body = await bodyOf(spec, shown(ended, of), payloads).catch(() => null)
  if (body === null) return null
  const shownHeaders = [...headers].map(([name, value]) => [name, secret.test(name) ? REDACTED : value] as const)
  return { headers: Object.fromEntries(shownHeaders), body }
}
