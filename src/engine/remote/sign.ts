// Standard Webhooks: HMAC-SHA256 over id, timestamp and body.

import { joined } from '../../core/bytes.ts'
import { fromBase64, toBase64 } from '../../core/codec/base64.ts'
import { hmac } from '../../core/crypto.ts'
import { SidejobError } from '../../core/errors.ts'

const encoder = new TextEncoder()

async function sign(secret: string, content: Uint8Array): Promise<string> {
  return toBase64(await hmac(fromBase64(secret.replace(/^whsec_/, '')), content))
}

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
    return Promise.all(roots.map(async (root) => `whsec_${await sign(root, text)}`))
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
  const content = joined([encoder.encode(`${id}.${timestamp}.`), body])
  const signatures = await Promise.all(secrets.map(async (secret) => `v1,${await sign(secret, content)}`))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
