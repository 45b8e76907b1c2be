// Verifies that a call comes from sidejob, with Standard Webhooks: HMAC-SHA256 over id, timestamp and body.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Maximum age of a signature, in seconds, including clock differences. */
const TOLERANCE = 5 * 60

function signatureOf(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Returns true if a call was recently signed with this secret for this body. During a rotation, a call has two
 * signatures.
 *
 * @example if (!isFromSidejob(request.headers, body, secret)) return response.writeHead(401).end()
 */
export function isFromSidejob(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  now: number = Date.now(),
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') return false
  if (!/^\d+$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE) return false
  const expected = signatureOf(secret, id, timestamp, body)
  return given.split(' ').some((one) => isSame(one, expected))
}
