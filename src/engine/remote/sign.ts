// Signs what we send to others, as Standard Webhooks has it: HMAC-SHA256 over id, timestamp and body.

import { fromBase64, toBase64 } from '../../core/codec/base64.ts'
import { SidejobError } from '../../core/errors.ts'

const encoder = new TextEncoder()

/** HMAC-SHA256 with a secret as Standard Webhooks writes it, in base64. */
async function hmac(secret: string, content: Uint8Array): Promise<string> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', bytes as BufferSource, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content as BufferSource)))
}

const sign = async (secret: string, content: Uint8Array): Promise<string> => `v1,${await hmac(secret, content)}`

/** An endpoint is where a call goes, without what stands in its query. */
const endpointOf = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

export type SignerOptions = {
  /** The deployment's own; two during a rotation. */
  roots: readonly string[]
  /** Whether calls are signed with the roots too, for receivers that know those. */
  shared?: boolean
  /** A tenant's endpoints have other secrets than the deployment's at the same address. */
  tenant?: string
}

/** During rotation there are two, comma separated: both signatures are sent. */
const listed = (secrets: string): string[] => secrets.split(',').map((one) => one.trim())

/**
 * Says with which secrets a call is signed: those that its receiver was given, or else one that is derived from the
 * deployment's for this endpoint, so that no receiver can sign for another.
 *
 * @example const { secretsFor } = createSigner({ roots: ['whsec_…'] }); await secretsFor('https://a.example.com/hook')
 */
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
        'nothing is sent unsigned: set SIDEJOB_WEBHOOK_SECRET, or give it a secret of its own',
      )
    return [...(shared ? roots : []), ...(await endpointSecrets(url))]
  }

  return { endpointSecrets, secretsFor }
}

export type Signer = ReturnType<typeof createSigner>

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
