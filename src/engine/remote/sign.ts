// Signs what we send to others, as Standard Webhooks has it: HMAC-SHA256 over id, timestamp and body.

import { fromBase64, toBase64 } from '../../core/codec/json.ts'

const encoder = new TextEncoder()

async function sign(secret: string, content: Uint8Array): Promise<string> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', bytes as BufferSource, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content as BufferSource)))}`
}

/**
 * The three headers of a signed request. Several secrets, during rotation, give several signatures.
 *
 * @example await webhookHeaders('7.1.x', body, ['whsec_…'], Date.now())
 */
export async function webhookHeaders(
  id: string,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000))
  const head = encoder.encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, content)))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
