// Who looks: a session in the place of an API key, for the pages and for the API below them.

import type { Context } from 'hono'
import { hashOf, sameHash } from '../core/crypto.ts'
import { SidejobError } from '../core/errors.ts'
import type { Deps } from '../http/deps.ts'
import { type Admit, createPass } from '../http/door.ts'
import type { Caller, Place } from '../http/places.ts'
import { sessionOf } from './cookies.ts'

/** What handlers of the pages know. */
export type Env = { Variables: { seen: Seen } }

export type Seen = { place: Place; caller: Caller; csrf: string }

const TENANT = /^([a-z0-9-]+)~/

/** Which header, or which member of a form, proves that a page of ours asks for a change. */
const proofOf = (session: string): Promise<string> => hashOf(`csrf ${session}`)

/**
 * Finds out whose session a request comes with; undefined for none.
 *
 * @example const seen = await whoLooks(c, deps)
 */
export async function whoLooks(c: Context, deps: Deps): Promise<Seen | undefined> {
  const name = sessionOf(c)
  if (!name) return undefined
  const tenant = TENANT.exec(name)?.[1]
  const place = tenant === undefined ? deps : await deps.tenants?.open(tenant)
  const known = await place?.engine.session(name)
  if (!place || !known) return undefined
  return { place, caller: { ...known, home: place.engine, ...(tenant ? { tenant } : {}) }, csrf: await proofOf(name) }
}

/** Throws unless a page of ours asks: by its proof, and by what the browser says of where the request comes from. */
export function expectOurs(request: Request, proof: string | null, csrf: string): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== 'same-origin')
    throw new SidejobError('FORBIDDEN', `expected a request of our own pages, got Sec-Fetch-Site: ${site ?? 'none'}`)
  if (!proof || !sameHash(proof, csrf))
    throw new SidejobError('FORBIDDEN', 'expected the x-csrf of this session, got another: load the page again')
}

/** The door of the API below the pages: those come in of whom the pages have found out who they are. */
export function createSessionDoor(): { admit: Admit; let: (request: Request, seen: Seen) => Request } {
  const known = new WeakMap<Request, Seen>()
  const pass = createPass()
  return {
    async admit(route, request) {
      const seen = known.get(request)
      if (!seen) throw new SidejobError('UNAUTHENTICATED', 'expected a session, got none: log in')
      if (route.scope !== 'open') pass(route, request, seen.caller)
      return { place: seen.place, caller: seen.caller }
    },
    let(request, seen) {
      known.set(request, seen)
      return request
    },
  }
}
