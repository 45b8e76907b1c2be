import type { Context } from 'hono'
import { hashOf, sameHash } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import { splitPath } from '../core/tenant.ts'
import type { Scope } from '../engine/engine.ts'
import type { Deps } from '../http/deps.ts'
import { type Admit, checkScope, ofTenant } from '../http/door.ts'
import type { Gate } from '../http/gate.ts'
import type { Caller, Place } from '../http/places.ts'
import { sessionOf } from './cookies.ts'
import { type Look, refusalOf } from './look.ts'

export type Env = { Variables: { seen: Seen } }

export type Seen = { place: Place; caller: Caller; csrf: string }

const TENANT = /^([a-z0-9-]+)~/

const proofOf = (session: string): Promise<string> => hashOf(`csrf ${session}`)

export async function placeOfSession(name: string, deps: Deps): Promise<{ place?: Place; tenant?: string }> {
  const tenant = TENANT.exec(name)?.[1]
  return tenant === undefined ? { place: deps } : { place: await deps.tenants?.open(tenant), tenant }
}

/** Throws NOT_FOUND for an address of another tenant. */
export async function authenticate(c: Context, { deps, gate }: { deps: Deps; gate: Gate }): Promise<Seen | undefined> {
  const name = sessionOf(c)
  if (!name) return undefined
  const found = await gate.lookUp(c.req.raw, `session ${await hashOf(name)}`, async () => {
    const { place, tenant } = await placeOfSession(name, deps)
    const known = await place?.engine.sessions.get(name)
    return place && known && { place, tenant, known }
  })
  if (!found) return undefined
  const { place, tenant, known } = found
  const asked = splitPath(new URL(c.req.url).pathname).tenant
  if (asked !== undefined && asked !== tenant) throw new SidejobError('NOT_FOUND', `there is no tenant ${asked}`)
  return { place, caller: { ...known, home: place.engine, ...ofTenant(tenant, place) }, csrf: await proofOf(name) }
}

export function checkCsrf(request: Request, proof: string | null, csrf: string): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== 'same-origin')
    throw new SidejobError('FORBIDDEN', `expected a request from this dashboard, got Sec-Fetch-Site: ${site ?? 'none'}`)
  if (!proof || !sameHash(proof, csrf))
    throw new SidejobError('FORBIDDEN', 'expected the x-csrf value of this session: reload the page')
}

export function expectScope(look: Look, scope: Scope, what: string): void {
  const refusal = refusalOf(look, scope)
  if (refusal) throw new SidejobError('FORBIDDEN', `${what} ${refusal}`)
}

export function createSessionDoor(): { admit: Admit; let: (request: Request, seen: Seen) => Request } {
  const known = new WeakMap<Request, Seen>()
  return {
    async admit(route, request) {
      const seen = known.get(request)
      if (!seen) throw new SidejobError('UNAUTHENTICATED', 'expected a session, got none: log in')
      if (route.scope !== 'open') checkScope(route, request, seen.caller.scopes)
      return { place: seen.place, caller: seen.caller }
    },
    let(request, seen) {
      known.set(request, seen)
      return request
    },
  }
}
