// Replaces QStash's Receiver (qstash 2.12.0), which adds `jose` to the bundle. If QSTASH_DEV is set, the Receiver
// accepts the published development keys even in production.

import { fromBase64Url, toBase64Url } from '../core/codec/base64.ts'
import { sha256 } from '../core/crypto.ts'

export type Signed = { signature: string | undefined; body: string; url: string }

type SigningKeys = { current: string; next: string; now: () => number }

/** `jti` values are not stored, because a repeated bell does no harm. */
export const verifier =
  ({ current, next, now }: SigningKeys) =>
  async ({ signature, body, url }: Signed): Promise<boolean> => {
    const token = parts(signature)
    if (!token || !((await isSignedWith(current, token)) || (await isSignedWith(next, token)))) return false
    return isAbout(token.claims, { url, body: toBase64Url(await sha256(encoder.encode(body))), seconds: now() / 1000 })
  }

type Token = { signed: string; mac: Uint8Array; claims: Record<string, unknown> }

const parts = (signature = ''): Token | undefined => {
  const [header, payload, mac, ...more] = signature.split('.')
  if (!header || !payload || !mac || more.length > 0) return undefined
  try {
    const { alg, crit } = json(header)
    const token = { signed: `${header}.${payload}`, mac: bytes(mac), claims: json(payload) }
    return alg === 'HS256' && crit === undefined ? token : undefined
  } catch {
    return undefined
  }
}

// crypto.subtle.verify compares in constant time.
const isSignedWith = async (key: string, { mac, signed }: Token): Promise<boolean> => {
  if (!key) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', imported, mac as BufferSource, encoder.encode(signed))
}

/** The clocks of QStash and the Worker may differ by this many seconds. */
const TOLERANCE_S = 5

type About = { url: string; body: string; seconds: number }

const isAbout = (claims: Record<string, unknown>, { url, body, seconds }: About): boolean => {
  const { iss, sub, exp, nbf = 0 } = claims
  if (iss !== 'Upstash' || sub !== url) return false
  if (typeof exp !== 'number' || typeof nbf !== 'number' || exp + TOLERANCE_S <= seconds) return false
  if (nbf - TOLERANCE_S > seconds) return false
  return typeof claims.body === 'string' && claims.body.replace(/=+$/, '') === body
}

const encoder = new TextEncoder()

const bytes = (base64url: string): Uint8Array => {
  if (!/^[\w-]*$/.test(base64url)) throw new TypeError('expected base64url')
  return fromBase64Url(base64url)
}

const json = (base64url: string): Record<string, unknown> => JSON.parse(new TextDecoder().decode(bytes(base64url)))
