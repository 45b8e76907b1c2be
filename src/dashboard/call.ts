import type { Context } from 'hono'
import { type Code, SidejobError } from '../core/errors.ts'
import { RETRY_PREFIX } from '../core/idempotency.ts'
import type { CallApi } from './page.ts'
import type { Env, Seen } from './session.ts'

export type AskApi = (request: Request, seen: Seen) => Response | Promise<Response>

type Refused = { code: Code; message: string; path?: (string | number)[] }

/** Each call has an idempotency key, so that a button pressed twice acts only once. */
export function callerOf(ask: AskApi, c: Context<Env>): CallApi {
  const seen = c.get('seen')
  const key = c.req.header('idempotency-key')
  let calls = 0
  return async <Answer>(...[method, path, body, reason]: Parameters<CallApi>) => {
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' })
    if (key && method !== 'GET') headers.set('idempotency-key', `${RETRY_PREFIX}${key}-${calls++}`)
    if (reason) headers.set('sidejob-reason', encodeURIComponent(reason.slice(0, 200)))
    const url = new URL(path, new URL(c.req.url).origin)
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {})
    const sent = method === 'GET' || method === 'DELETE' ? undefined : text
    const answer = await ask(new Request(url, { method, headers, body: sent }), seen)
    const answered = (await answer.json().catch(() => ({}))) as { error?: Refused }
    if (answered.error)
      throw new SidejobError(answered.error.code, answered.error.message, { path: answered.error.path })
    return answered as Answer
  }
}
