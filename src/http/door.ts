// Who may come in: API keys and their scopes, signatures of QStash, and the keys that make asking twice safe.

import { SidejobError } from '../core/errors.ts'
import type { Call, Scope } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import { utf8 } from './format.ts'
import type { Route } from './route.ts'

/** Lets a request in that may ask for this route, and says which key it came with; throws otherwise. */
export const admit = async (route: Route, request: Request, deps: Deps): Promise<string | undefined> => {
  if (route.scope === 'open' || route.scope === 'signed') return undefined
  const token = route.byToken && tokenOf(request)
  const key = token ? undefined : bearer(request)
  const scopes = token ? await scopesOfToken(token, request, deps) : await scopesOf(key!, deps)
  if (!scopes) throw new SidejobError('UNAUTHENTICATED', token ? BAD_TOKEN : 'this API key is not known')
  const needed = scopeOf(route, request) as Scope
  if (!scopes.includes(needed) && !scopes.includes('admin')) {
    const has = scopes.length > 0 ? scopes.join(', ') : 'none'
    throw new SidejobError(
      'FORBIDDEN',
      `${route.method} ${route.path} needs the scope "${needed}", this key has ${has}`,
    )
  }
  return key
}

/** Throws unless QStash signed this body for this address; which address is ours is configuration, never the request's word. */
export const admitSigned = async (request: Request, bytes: Uint8Array, { verify, publicUrl }: Deps): Promise<void> => {
  const { pathname, search } = new URL(request.url)
  const signature = request.headers.get('upstash-signature') ?? undefined
  if (signature && (await verify({ signature, body: utf8(bytes), url: `${publicUrl}${pathname}${search}` }))) return
  const came = signature ? 'one that does not fit this body, address and time' : 'none'
  throw new SidejobError('UNAUTHENTICATED', `expected a valid Upstash-Signature, got ${came}`)
}

/**
 * Under which key an answer is kept: bound to what is asked, by whom, and to the body. The API key goes in as a piece
 * of its hash, so that it is not readable in Redis.
 */
export const callOf = async (request: Request, apiKey: string | undefined, bytes: Uint8Array): Promise<Call> => {
  const given = request.headers.get('idempotency-key')
  if (given === null) return {}
  if (!/^[\x20-\x7e]{1,255}$/.test(given)) {
    throw new SidejobError('BAD_REQUEST', 'Idempotency-Key: expected 1 to 255 printable ASCII characters', {
      path: ['Idempotency-Key'],
    })
  }
  const who = (await sha256(encoder.encode(apiKey ?? ''))).slice(0, 16)
  return {
    key: `${request.method} ${new URL(request.url).pathname}:${who}:${given}`,
    fingerprint: await sha256(bytes),
  }
}

const bearer = (request: Request): string => {
  const header = request.headers.get('authorization')
  const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (key) return key
  const came = header === null ? 'none' : 'another form'
  throw new SidejobError('UNAUTHENTICATED', `expected the header "Authorization: Bearer <API key>", got ${came}`)
}

const BAD_TOKEN = 'this token is not for this address, or its minute is over'

/** A token in the query counts where there is no header. */
const tokenOf = ({ headers, url }: Request): string | undefined =>
  headers.has('authorization') ? undefined : (new URL(url).searchParams.get('token') ?? undefined)

const scopesOfToken = async (
  token: string,
  { url }: Request,
  { engine }: Deps,
): Promise<readonly Scope[] | undefined> => (await engine.authenticateStream(token, new URL(url).pathname))?.scopes

const scopesOf = async (key: string, { apiKey, engine }: Deps): Promise<readonly Scope[] | undefined> => {
  if (apiKey && (await isSame(key, apiKey))) return ['admin']
  return (await engine.authenticate(key))?.scopes
}

const scopeOf = ({ scope, forced }: Route, request: Request) => {
  const force = forced && new URL(request.url).searchParams.get('force')
  return forced && typeof force === 'string' && !['false', '0'].includes(force) ? forced : scope
}

// Hashes have one length and tell nothing of the key when their comparison is timed; all of it is compared anyway.
const isSame = async (a: string, b: string): Promise<boolean> => {
  const [left, right] = await Promise.all([sha256(encoder.encode(a)), sha256(encoder.encode(b))])
  let different = 0
  for (let at = 0; at < left.length; at++) different |= left.charCodeAt(at) ^ right.charCodeAt(at)
  return different === 0
}

const encoder = new TextEncoder()

export const sha256 = async (bytes: Uint8Array): Promise<string> => {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as BufferSource))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
