// Who may come in, and where to: API keys with their scopes and tenants, signatures of QStash, and the keys that make
// asking twice safe.

import { buckets, type Pace } from '../core/bucket.ts'
import { hashOf, hashOfBytes, sameHash } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import { HOOK, HOOK_FOR, RETRY, RETRY_FOR } from '../core/idempotency.ts'
import { doors, quotas } from '../core/limits.ts'
import { splitPath, tenantOfKey } from '../core/tenant.ts'
import type { Call, KnownKey, Scope } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import { utf8 } from './format.ts'
import type { Caller, Place } from './places.ts'
import type { Route } from './route.ts'

export type Admitted = { place: Place; caller?: Caller }

/** Says where a request is served, and for whom; throws where it may not ask for this route. */
export type Admit = (route: Route, request: Request) => Promise<Admitted>

/**
 * The door of an app: lets a request in that may ask for its route, and says where it is served; throws otherwise.
 *
 * @example const admit = createDoor(deps); const { place, caller } = await admit(route, request)
 */
export function createDoor(deps: Deps): Admit {
  const take = buckets(doors.remembered, Date.now)
  const pass = createPass()
  let ownHash: string | undefined

  /** Whose key this is, of those that may ask there. */
  async function knownBy(key: string, { engine }: Place): Promise<KnownKey | undefined> {
    if (engine !== deps.engine || !deps.apiKey) return engine.authenticate(key)
    // Hashes have one length and tell nothing of the key when their comparison is timed.
    const hash = await hashOf(key)
    ownHash ??= await hashOf(deps.apiKey)
    if (!sameHash(hash, ownHash)) return engine.authenticate(key)
    return { id: hash.slice(0, 16), name: 'deployment', scopes: ['admin'], unlimited: true }
  }

  /** Who keeps coming with wrong keys from one address is not looked up any more for a while. */
  const strike = (request: Request, isWrong: boolean): void => {
    const address = request.headers.get('cf-connecting-ip')
    if (address === null) return
    limited(
      take(`address ${address}`, doors.wrongKeys, isWrong ? 1 : 0),
      'wrong API keys from this address',
      doors.wrongKeys,
    )
  }

  async function opened(tenant: string): Promise<Place> {
    const place = await deps.tenants?.open(tenant)
    if (!place) throw new SidejobError('NOT_FOUND', `there is no tenant ${tenant}`)
    return place
  }

  const wrong = (request: Request, message: string): SidejobError => {
    strike(request, true)
    return new SidejobError('UNAUTHENTICATED', message)
  }

  async function byKey(request: Request, tenant: string | undefined): Promise<Admitted> {
    const key = bearer(request)
    const own = tenantOfKey(key)
    const home = own === undefined ? deps : await deps.tenants?.open(own)
    const known = home && (await knownBy(key, home))
    if (!known) throw wrong(request, 'this API key is not known')
    return placed({ ...known, key, home: home.engine }, own, home, tenant)
  }

  async function byToken(request: Request, token: string, tenant: string | undefined): Promise<Admitted> {
    const own = token.includes('~') ? token.slice(0, token.indexOf('~')) : undefined
    const home = own === undefined ? deps : await deps.tenants?.open(own)
    const known = await home?.engine.authenticateStream(token, tokenPath(request.url))
    if (!home || !known) throw wrong(request, 'this token is not for this address, or its minute is over')
    return placed({ ...known, home: home.engine }, own, home, tenant)
  }

  /** A tenant's key is served in its tenant, wherever it asks; one of the deployment enters a tenant as an admin only. */
  async function placed(caller: Caller, own: string | undefined, home: Place, tenant = own): Promise<Admitted> {
    if (tenant === own) return { place: home, caller: { ...caller, ...(own === undefined ? {} : { tenant: own }) } }
    if (own !== undefined) throw new SidejobError('NOT_FOUND', `there is no tenant ${tenant}`)
    if (!caller.scopes.includes('admin'))
      throw new SidejobError(
        'FORBIDDEN',
        'a tenant is entered with a key of its own, or one of the deployment with the scope "admin"',
      )
    return { place: await opened(tenant!), caller: { ...caller, tenant: tenant! } }
  }

  return async (route, request) => {
    const { tenant } = splitPath(new URL(request.url).pathname)
    if (route.scope === 'open' || route.scope === 'signed')
      return { place: tenant === undefined ? deps : await opened(tenant) }
    strike(request, false)
    const token = route.byToken && tokenOf(request)
    const admitted = token ? await byToken(request, token, tenant) : await byKey(request, tenant)
    pass(route, request, admitted.caller!)
    return admitted
  }
}

/**
 * What holds for a caller who is known: the scope of the route, and how often a key may ask.
 *
 * @example const pass = createPass(); pass(route, request, caller)
 */
export function createPass(): (route: Route, request: Request, caller: Caller) => void {
  const take = buckets(doors.remembered, Date.now)
  return (route, request, { id, scopes, limits, unlimited }) => {
    checkScope(route, request, scopes)
    const pace = paceOf(limits?.requestsPerSecond)
    if (!unlimited) limited(take(`key ${id}`, pace), 'requests with this API key', pace)
  }
}

const paceOf = (rate: number | undefined): Pace => (rate === undefined ? doors.requests : { rate, burst: 2 * rate })

function limited(wait: number, what: string, { rate }: Pace): void {
  if (wait === 0) return
  const message = `${what}: expected at most ${rate} a second on average; the next is free in ${Math.ceil(wait)} s`
  throw new SidejobError('LIMITED', message, { retryAfter: wait })
}

function checkScope(route: Route, request: Request, scopes: readonly Scope[]): void {
  const needed = neededScope(route, request)
  if (needed === 'any' || scopes.includes(needed) || scopes.includes('admin')) return
  const has = scopes.length > 0 ? scopes.join(', ') : 'none'
  throw new SidejobError('FORBIDDEN', `${route.method} ${route.path} needs the scope "${needed}", this key has ${has}`)
}

/** Throws unless there is a signature that QStash may have made for this address: before the body is read. */
export const admitSigned = async (request: Request, bytes: Uint8Array, { verify, publicUrl }: Deps): Promise<void> => {
  const { pathname, search } = new URL(request.url)
  const signature = signatureOf(request)
  if (signature && (await verify({ signature, body: utf8(bytes), url: `${publicUrl}${pathname}${search}` }))) return
  throw unsigned(signature)
}

/** Throws where there is no signature at all: nothing of the body is read then. */
export const expectSignature = (request: Request): void => {
  if (!signatureOf(request)) throw unsigned(undefined)
}

const signatureOf = (request: Request) => request.headers.get('upstash-signature') ?? undefined

const unsigned = (signature: string | undefined): SidejobError => {
  const came = signature ? 'one that does not fit this body, address and time' : 'none'
  return new SidejobError('UNAUTHENTICATED', `expected a valid Upstash-Signature, got ${came}`)
}

/**
 * Who asks, and under which key an answer is kept: bound to what is asked, by whom, and to the body. The API key goes in
 * by its id, which is a piece of its hash, so that it is not readable in Redis.
 */
export const callOf = async (request: Request, caller: Caller | undefined, bytes: Uint8Array): Promise<Call> => {
  const by = caller?.id === undefined ? {} : { by: `key:${caller.id}`, ...quotaOf(caller) }
  const given = request.headers.get('idempotency-key')
  if (given === null) return by
  if (!/^[\x20-\x7e]{1,255}$/.test(given)) {
    throw new SidejobError('BAD_REQUEST', 'Idempotency-Key: expected 1 to 255 printable ASCII characters', {
      path: ['Idempotency-Key'],
    })
  }
  return {
    ...by,
    key: `${request.method} ${new URL(request.url).pathname}:${caller?.id ?? ''}:${given}`,
    fingerprint: await hashOfBytes(bytes),
    ...(given.startsWith(RETRY) ? { keep: RETRY_FOR } : {}),
    ...(given.startsWith(HOOK) && caller?.unlimited ? { keep: HOOK_FOR } : {}),
  }
}

/** What a caller may have waiting; the deployment's own key as much as there is room for. */
const quotaOf = ({ unlimited, limits }: Caller): Pick<Call, 'quota'> =>
  unlimited ? {} : { quota: { jobs: limits?.jobs ?? quotas.jobs, bytes: limits?.bytes ?? quotas.bytes } }

const bearer = (request: Request): string => {
  const header = request.headers.get('authorization')
  const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (key) return key
  const came = header === null ? 'none' : 'another form'
  throw new SidejobError('UNAUTHENTICATED', `expected the header "Authorization: Bearer <API key>", got ${came}`)
}

/** What a token is for: a path as it is whatever the API is mounted under, and whose it is. */
export const tokenPath = (url: string): string => {
  const { tenant, path } = splitPath(new URL(url).pathname)
  return `${tenant === undefined ? '' : `/t/${tenant}`}${path.slice(Math.max(0, path.indexOf('/v1/')))}`
}

/** A token in the query counts where there is no header. */
const tokenOf = ({ headers, url }: Request): string | undefined =>
  headers.has('authorization') ? undefined : (new URL(url).searchParams.get('token') ?? undefined)

/** Whether `?force` asks for the scope that force needs. */
export const isForced = ({ forced }: Route, request: Request): boolean => {
  const force = forced && new URL(request.url).searchParams.get('force')
  return typeof force === 'string' && !['false', '0'].includes(force)
}

const neededScope = (route: Route, request: Request): Scope | 'any' =>
  (isForced(route, request) ? route.forced : route.scope) as Scope | 'any'
