import type { Context } from 'hono'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const SENT =
  'authorization, content-type, accept, idempotency-key, if-match, last-event-id, sidejob-reason, traceparent'
const SHOWN = 'retry-after, server-timing, allow, etag'
/** Seconds for which a browser may cache the response. */
const REMEMBERED = '7200'

export const sharedWith =
  (origins: readonly string[]) =>
  async (c: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const origin = c.req.header('origin')
    const isAllowed = origin !== undefined && (origins.includes(origin) || origins.includes('*'))
    if (isAllowed && c.req.method === 'OPTIONS' && c.req.header('access-control-request-method'))
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': SENT,
          'access-control-max-age': REMEMBERED,
          vary: 'origin',
        },
      })
    await next()
    const { headers } = c.res
    if (origins.length > 0) headers.append('vary', 'origin')
    if (!isAllowed || headers.has('access-control-allow-origin')) return
    headers.set('access-control-allow-origin', origin)
    headers.set('access-control-expose-headers', SHOWN)
  }
