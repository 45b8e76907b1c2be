// Whether a webhook comes from whom it says: HMAC-SHA256 over the body, in the three dialects that most services speak.

import { fromBase64 } from './codec/base64.ts'
import { SidejobError } from './errors.ts'

/** `standard`: Standard Webhooks, which sidejob's own callbacks speak too. */
export type Dialect = 'standard' | 'stripe' | 'github'

type Signed = { headers: Headers; bytes: Uint8Array; secrets: readonly string[]; now: number }

/** For so long a signature with a time in it holds: five minutes before and after. */
const TOLERANCE = 300

const encoder = new TextEncoder()

async function isSignedBy(secret: Uint8Array, content: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret as BufferSource, algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, signature as BufferSource, content as BufferSource)
}

/** Whether one of the signatures is one of the secrets': a rotation has two of each. */
async function isSigned(
  secrets: readonly Uint8Array[],
  content: Uint8Array,
  signatures: readonly Uint8Array[],
): Promise<boolean> {
  const all = secrets.flatMap((secret) => signatures.map((signature) => isSignedBy(secret, content, signature)))
  return (await Promise.all(all)).includes(true)
}

const unhex = (text: string): Uint8Array =>
  /^([0-9a-f]{2})+$/i.test(text)
    ? Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
    : new Uint8Array()

function keyOf(secret: string): Uint8Array {
  const key = unbase64(secret.replace(/^whsec_/, ''))
  if (key.length > 0) return key
  throw new SidejobError('MISCONFIGURED', 'the secret of a hook: expected whsec_ and base64, got something else')
}

function unbase64(text: string): Uint8Array {
  try {
    return fromBase64(text)
  } catch {
    return new Uint8Array()
  }
}

const behind = (head: string, bytes: Uint8Array): Uint8Array => {
  const front = encoder.encode(head)
  const whole = new Uint8Array(front.length + bytes.length)
  whole.set(front)
  whole.set(bytes, front.length)
  return whole
}

const refused = (message: string) => new SidejobError('UNAUTHENTICATED', message)

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

/** What a check answers: the id of the event, where it stands in a header. */
type Checked = { isValid: boolean; header: string; id?: string }

const dialects: Record<Dialect, (signed: Signed) => Promise<Checked>> = {
  async standard({ headers, bytes, secrets, now }) {
    const [id, seconds] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-timestamp')]
    const header = 'webhook-signature'
    checkTime('webhook-timestamp', seconds, now)
    const signatures = headerOf(headers, header)
      .split(' ')
      .filter((one) => one.startsWith('v1,'))
      .map((one) => unbase64(one.slice(3)))
    const content = behind(`${id}.${seconds}.`, bytes)
    return { id, header, isValid: await isSigned(secrets.map(keyOf), content, signatures) }
  },

  async stripe({ headers, bytes, secrets, now }) {
    const header = 'stripe-signature'
    const pairs = headerOf(headers, header)
      .split(',')
      .map((pair) => pair.trim().split('=', 2) as [string, string])
    const seconds = pairs.find(([name]) => name === 't')?.[1] ?? ''
    checkTime(`${header}, t`, seconds, now)
    const signatures = pairs.filter(([name]) => name === 'v1').map(([, text = '']) => unhex(text))
    const keys = secrets.map((secret) => encoder.encode(secret))
    return { header, isValid: await isSigned(keys, behind(`${seconds}.`, bytes), signatures) }
  },

  async github({ headers, bytes, secrets }) {
    const header = 'x-hub-signature-256'
    const [, text = ''] = /^sha256=(.*)$/.exec(headerOf(headers, header)) ?? []
    const keys = secrets.map((secret) => encoder.encode(secret))
    return { header, isValid: await isSigned(keys, bytes, [unhex(text)]), id: headerOf(headers, 'x-github-delivery') }
  },
}

/**
 * Checks who has sent this; answers the event's id where a header says it.
 *
 * @example const { id } = await checkSignature('github', { headers, bytes, secrets: ['…'], now: Date.now() })
 */
export async function checkSignature(dialect: Dialect, signed: Signed): Promise<{ id?: string }> {
  const { isValid, header, id } = await dialects[dialect](signed)
  if (!isValid) throw refused(`${header}: expected a signature of this body with our secret, got another`)
  return id === undefined ? {} : { id }
}
