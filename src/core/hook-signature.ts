import { joined } from './bytes.ts'
import { fromBase64 } from './codec/base64.ts'
import { hashOfBytes, hmac } from './crypto.ts'
import { SidejobError } from './errors.ts'

/** `standard` means the specification Standard Webhooks. */
export type Dialect = 'standard' | 'stripe' | 'github'

type Signed = {
  headers: Headers
  body: () => Promise<Uint8Array>
  secrets: readonly string[]
  now: number
}

type Claim = { header: string; id?: string; prefix: string; signatures: Uint8Array[] }

/** In seconds. */
const TOLERANCE = 300
/** A sender adds one signature for each of its secrets. */
const MAX_SIGNATURES = 10

const encoder = new TextEncoder()

const unhex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))

const readSignatures = (texts: readonly string[], form: RegExp, read: (text: string) => Uint8Array): Uint8Array[] =>
  texts
    .filter((text) => form.test(text))
    .slice(0, MAX_SIGNATURES)
    .map(read)

const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[\w+/]{43}=$/

function standardKey(secret: string): Uint8Array {
  try {
    const key = fromBase64(secret.replace(/^whsec_/, ''))
    if (key.length > 0) return key
  } catch {}
  throw new SidejobError('MISCONFIGURED', 'the secret of a hook: expected base64, which may follow "whsec_"')
}

const refused = (message: string) => new SidejobError('UNAUTHENTICATED', message)

const unsigned = (header: string) =>
  refused(`${header}: expected a signature of this body made with the secret of this hook, got a different one`)

function headerOf(headers: Headers, name: string): string {
  const value = headers.get(name)
  if (value) return value
  throw refused(`expected the header ${name}, got none`)
}

function checkTime(header: string, seconds: string, now: number): void {
  const apart = Math.abs(now / 1_000 - Number(seconds))
  if (apart <= TOLERANCE) return
  throw refused(`${header}: expected a time within ${TOLERANCE} seconds of now, got ${seconds.slice(0, 40)}`)
}

const claims: Record<Dialect, (headers: Headers, now: number) => Claim> = {
  standard(headers, now) {
    const [id, seconds] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-timestamp')]
    const header = 'webhook-signature'
    const listed = headerOf(headers, header).split(' ')
    checkTime('webhook-timestamp', seconds, now)
    const texts = listed.filter((one) => one.startsWith('v1,')).map((one) => one.slice(3))
    return { header, id, prefix: `${id}.${seconds}.`, signatures: readSignatures(texts, BASE64, fromBase64) }
  },

  stripe(headers, now) {
    const header = 'stripe-signature'
    const pairs = headerOf(headers, header)
      .split(',')
      .map((pair) => pair.trim().split('=', 2) as [string, string?])
    const seconds = pairs.find(([name]) => name === 't')?.[1] ?? ''
    checkTime(`${header}, t`, seconds, now)
    const texts = pairs.filter(([name]) => name === 'v1').map(([, text = '']) => text)
    return { header, prefix: `${seconds}.`, signatures: readSignatures(texts, HEX, unhex) }
  },

  github(headers) {
    const header = 'x-hub-signature-256'
    const [, text = ''] = /^sha256=(.*)$/.exec(headerOf(headers, header)) ?? []
    return { header, prefix: '', signatures: readSignatures([text], HEX, unhex) }
  },
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.reduce((difference, byte, at) => difference | (byte ^ b[at]!), 0) === 0

/**
 * Reads the body only if the headers are valid. GitHub does not sign its delivery id, so the id is the hash of the
 * body.
 */
export async function checkSignature(dialect: Dialect, { headers, body, secrets, now }: Signed) {
  const { header, id, prefix, signatures } = claims[dialect](headers, now)
  if (signatures.length === 0) throw unsigned(header)
  const keys = secrets.map((secret) => (dialect === 'standard' ? standardKey(secret) : encoder.encode(secret)))
  const bytes = await body()
  const content = joined([encoder.encode(prefix), bytes])
  const expected = await Promise.all(keys.map((key) => hmac(key, content)))
  const matches = expected.flatMap((own) => signatures.map((signature) => isSame(own, signature)))
  if (!matches.includes(true)) throw unsigned(header)
  if (dialect === 'github') return { id: await hashOfBytes(bytes), bytes }
  return { id, bytes }
}
