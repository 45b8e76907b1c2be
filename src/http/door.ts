import { hashOf, hashOfBytes } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import { HOOK_KEPT_MS, HOOK_PREFIX, RETRY_KEPT_MS, RETRY_PREFIX } from '../core/idempotency.ts'
import { quotas } from '../core/limits.ts'
import { splitPath, tenantOfKey } from '../core/tenant.ts'
import { readTraceparent } from '../core/trace.ts'
import type { Call, Scope } from '../engine/engine.ts'
import type { Deps } from './deps.ts'
import { utf8 } from './format.ts'
import type { Gate } from './gate.ts'
import type { Caller, Place } from './places.ts'
import { isSigned, type Route } from './route.ts'

type Admitted = { place: Place; caller?: Caller }

const refusals: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'])

export type Admit = (route: Route, request: Request) => Promise<Admitted>

export function createDoor(deps: Deps, gate: Gate): Admit {
  const homeOf = async (tenant: string | undefined): Promise<Place | undefined> =>
    tenant === undefined ? deps : deps.tenants?.open(tenant)

  async function opened(tenant: string, find: () => Promise<Place | undefined>): Promise<Place> {
    const place = await find()
    if (!place) throw new SidejobError('NOT_FOUND', `there is no tenant ${tenant}`)
    return place
  }

  async function byKey(request: Request, tenant: string | undefined): Promise<Admitted> {
    const key = bearer(request)
    const own = tenantOfKey(key)
    const hash = await hashOf(key)
    const found = await gate.lookUp(request, `key ${hash}`, async () => {
      const home = await homeOf(own)
      const known = await home?.engine.keys.authenticate(key, hash)
      return home && known && { home, known }
    })
    if (!found) throw new SidejobError('UNAUTHENTICATED', 'this API key is unknown')
    const { home, known } = found
    return placed({ ...known, key, home: home.engine }, own, home, tenant)
  }

  async function byToken(request: Request, token: string, tenant: string | undefined): Promise<Admitted> {
    const own = token.includes('~') ? token.slice(0, token.indexOf('~')) : undefined
    const found = await gate.lookUp(request, `token ${token.split('.', 1)[0]}`, async () => {
      const home = await homeOf(own)
      const known = await home?.engine.streamTokens.authenticate(token, tokenPath(request.url))
      return home && known && { home, known }
    })
    if (!found)
      throw new SidejobError('UNAUTHENTICATED', 'this stream token is invalid or has expired: request a new one')
    const { home, known } = found
    return placed({ ...known, home: home.engine }, own, home, tenant)
  }

  /** A tenant's key works only in its tenant. A deployment's key needs the scope `admin` to enter a tenant. */
  async function placed(caller: Caller, own: string | undefined, home: Place, tenant = own): Promise<Admitted> {
    if (tenant === own) return { place: home, caller: { ...caller, ...ofTenant(own, home) } }
    if (own !== undefined) throw new SidejobError('NOT_FOUND', `there is no tenant ${tenant}`)
    if (!caller.scopes.includes('admin'))
      throw new SidejobError(
        'FORBIDDEN',
        'expected a key of the tenant, or a key of the deployment with the scope "admin"',
      )
    const place = await opened(tenant!, () => homeOf(tenant))
    return { place, caller: { ...caller, ...ofTenant(tenant, place) } }
  }

  async function byAddress(request: Request, tenant: string | undefined): Promise<Admitted> {
    if (tenant === undefined) return { place: deps }
    return { place: await opened(tenant, () => gate.lookUp(request, `tenant ${tenant}`, () => homeOf(tenant))) }
  }

  /** An invalid key, or a key of another tenant, counts as no key. */
  async function greeted(request: Request, tenant: string | undefined): Promise<Admitted> {
    const { place } = await byAddress(request, tenant)
    if (!request.headers.has('authorization')) return { place }
    try {
      const { caller } = await byKey(request, tenant)
      return { place, caller }
    } catch (error) {
      if (error instanceof SidejobError && refusals.has(error.code)) return { place }
      throw error
    }
  }

  return async (route, request) => {
    const { tenant } = splitPath(new URL(request.url).pathname)
    if (route.greets) return greeted(request, tenant)
    if (route.scope === 'open' || isSigned(route)) return byAddress(request, tenant)
    const token = route.byToken && tokenOf(request)
    const admitted = token ? await byToken(request, token, tenant) : await byKey(request, tenant)
    checkScope(route, request, admitted.caller!.scopes)
    gate.count(admitted.caller!)
    return admitted
  }
}

export function checkScope(route: Route, request: Request, scopes: readonly Scope[]): void {
  const needed = neededScope(route, request)
  if (needed === 'any' || scopes.includes(needed) || scopes.includes('admin')) return
  const has = scopes.length > 0 ? scopes.join(', ') : 'none'
  throw new SidejobError('FORBIDDEN', `${route.method} ${route.path} needs the scope "${needed}"; this key has ${has}`)
}

export const admitSigned = async (request: Request, bytes: Uint8Array, { verify, publicUrl }: Deps): Promise<void> => {
  const { pathname, search } = new URL(request.url)
  const signature = signatureOf(request)
  if (signature && (await verify({ signature, body: utf8(bytes), url: `${publicUrl}${pathname}${search}` }))) return
  throw unsigned(signature)
}

/** `admitSigned` verifies the signature after reading the body. */
export const expectSignature = (request: Request): void => {
  if (!signatureOf(request)) throw unsigned(undefined)
}

/** `versions.received` verifies the signature after reading the body. */
export const expectVersion = (request: Request): void => {
  if (request.headers.has('webhook-signature')) return
  throw new SidejobError(
    'UNAUTHENTICATED',
    'expected the header webhook-signature, got none: only other versions of this deployment send it',
  )
}

const signatureOf = (request: Request) => request.headers.get('upstash-signature') ?? undefined

const unsigned = (signature: string | undefined): SidejobError => {
  const received = signature
    ? 'a signature that does not match the body, the address or the time of the request'
    : 'none'
  return new SidejobError('UNAUTHENTICATED', `expected a valid Upstash-Signature, got ${received}`)
}

/** A part of the key's hash names the caller, so that Redis does not contain the key. */
export const callOf = async (request: Request, caller: Caller | undefined, bytes: Uint8Array): Promise<Call> => {
  const traceparent = request.headers.get('traceparent') ?? undefined
  const by = {
    ...(caller && { by: `key:${caller.id}`, quota: quotaOf(caller), rootless: rootOf(caller) }),
    ...(readTraceparent(traceparent) && { traceparent }),
  }
  const given = request.headers.get('idempotency-key')
  if (given === null) return by
  if (!/^[\x20-\x7e]{1,255}$/.test(given)) {
    throw new SidejobError('BAD_REQUEST', 'Idempotency-Key: expected 1 to 255 printable ASCII characters', {
      path: ['Idempotency-Key'],
    })
  }
  const key = `${request.method} ${new URL(request.url).pathname}:${caller?.id ?? ''}:${given}`
  // A hook may return another body for the same event.
  if (given.startsWith(HOOK_PREFIX) && caller?.unlimited) return { ...by, key, keep: HOOK_KEPT_MS }
  const fingerprint = await hashOfBytes(bytes)
  return { ...by, key, fingerprint, ...(given.startsWith(RETRY_PREFIX) ? { keep: RETRY_KEPT_MS } : {}) }
}

const rootOf = ({ scopes }: Caller): Call['rootless'] => (scopes.includes('admin') ? undefined : true)

const quotaOf = ({ unlimited, limits, tenantLimits }: Caller): Call['quota'] => {
  if (unlimited) return undefined
  const quota = { jobs: limits?.jobs ?? quotas.jobs, bytes: limits?.bytes ?? quotas.bytes }
  return tenantLimits ? { ...quota, tenant: { jobs: tenantLimits.jobs, bytes: tenantLimits.bytes } } : quota
}

export const ofTenant = (tenant: string | undefined, { tenantLimits }: Place) =>
  tenant === undefined ? {} : { tenant, ...(tenantLimits && { tenantLimits }) }

const bearer = (request: Request): string => {
  const header = request.headers.get('authorization')
  const key = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (key) return key
  const received = header === null ? 'none' : 'a different form'
  throw new SidejobError('UNAUTHENTICATED', `expected the header "Authorization: Bearer <API key>", got ${received}`)
}

export const tokenPath = (url: string): string => {
  const { tenant, path } = splitPath(new URL(url).pathname)
  return `${tenant === undefined ? '' : `/t/${tenant}`}${path.slice(Math.max(0, path.indexOf('/v1/')))}`
}

const tokenOf = ({ headers, url }: Request): string | undefined =>
  headers.has('authorization') ? undefined : (new URL(url).searchParams.get('token') ?? undefined)

export const isForced = ({ forced }: Route, request: Request): boolean => {
  const force = forced && new URL(request.url).searchParams.get('force')
  return typeof force === 'string' && !['false', '0'].includes(force)
}

const neededScope = (route: Route, request: Request): Scope | 'any' =>
  (isForced(route, request) ? route.forced : route.scope) as Scope | 'any'
