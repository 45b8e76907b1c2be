// Standard Webhooks: HMAC-SHA256 over id, timestamp and body.

import { fromBase64, toBase64 } from '../../core/codec/base64.ts'
import { SidejobError } from '../../core/errors.ts'

const encoder = new TextEncoder()

async function hmac(secret: string, content: Uint8Array): Promise<string> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', bytes as BufferSource, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content as BufferSource)))
}

const sign = async (secret: string, content: Uint8Array): Promise<string> => `v1,${await hmac(secret, content)}`

const endpointOf = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

type SignerOptions = {
  roots: readonly string[]
  shared?: boolean
  tenant?: string
}

/** During a rotation, two secrets are separated by a comma, and both sign. */
const listed = (secrets: string): string[] => secrets.split(',').map((one) => one.trim())

/** Each endpoint has its own secret, so that no receiver can forge a signature for another endpoint. */
export function createSigner({ roots, shared = true, tenant = '' }: SignerOptions) {
  async function endpointSecrets(url: string): Promise<string[]> {
    const text = encoder.encode(`endpoint ${tenant} ${endpointOf(url)}`)
    return Promise.all(roots.map(async (root) => `whsec_${await hmac(root, text)}`))
  }

  async function secretsFor(url: string, own?: string): Promise<readonly string[]> {
    if (own) return listed(own)
    if (roots.length === 0)
      throw new SidejobError(
        'REFUSED',
        'requests must be signed: set SIDEJOB_WEBHOOK_SECRET, or set a secret for this address',
      )
    return [...(shared ? roots : []), ...(await endpointSecrets(url))]
  }

  return { endpointSecrets, secretsFor }
}

export type Signer = ReturnType<typeof createSigner>

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
