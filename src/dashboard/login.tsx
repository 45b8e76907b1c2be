import type { Context, Hono } from 'hono'
import { SidejobError } from '../core/errors.ts'
import { audited } from '../http/audited.ts'
import type { Deps } from '../http/deps.ts'
import { createDoor } from '../http/door.ts'
import type { Gate } from '../http/gate.ts'
import { createHono } from '../http/hono.ts'
import type { Caller, Place } from '../http/places.ts'
import { list } from '../http/routes.ts'
import { dropSession, keepSession, preferencesOf, SESSION_MS, sessionOf } from './cookies.ts'
import { formOf } from './form.ts'
import { entries } from './nav.ts'
import { Icon } from './parts/layout.tsx'
import { Document, Logo } from './parts/shell.tsx'
import { authenticate, checkCsrf, placeOfSession } from './session.ts'
import { title } from './words/text.ts'

const FORM_BYTES = 65_536

/** Milliseconds. */
const LINK_LIFE = 3_600_000

type Identity = Pick<Caller, 'id' | 'name' | 'scopes' | 'tenant'>
type Found = { place: Place; who: Identity }

const meRoute = list.find(({ path }) => path === '/v1/me')!

export const ownPath = (given: string | null | undefined): string =>
  given && /^\/(?![/\\])\S*$/.test(given) && !given.startsWith('/login') ? given : '/'

/** @example sectionOf('/jobs/7') // 'Jobs' */
const sectionOf = (to: string): string =>
  entries.find(({ path }) => path.split('/')[1] === to.split(/[/?]/)[1])?.title ?? 'the page'

type PageProps = { base: string; c: Context; to: string; wrong?: string; host: string }

function EntryPage({ base, c, children }: Pick<PageProps, 'base' | 'c'> & { children: unknown }) {
  return (
    <Document look={{ base, csrf: '', ...preferencesOf(c) }} title="Log in · sidejob" kind="enter">
      <main class="login card">
        <h1 class="row">
          <Logo /> sidejob
        </h1>
        {children as string}
      </main>
    </Document>
  )
}

function LoginPage({ base, c, to, wrong, host }: PageProps) {
  return (
    <EntryPage base={base} c={c}>
      {c.req.query('ended') && (
        <p role="status">
          <b>Your session has ended.</b> Log in to return to {sectionOf(to)}.
        </p>
      )}
      <p class="dim">
        Log in to <b>{host}</b> with an API key. Only a hash of the key is stored. The session lasts 12 hours.
      </p>
      <form method="post" action={`${base}/login`}>
        <input type="hidden" name="to" value={to} />
        <label for="key">API key</label>
        <input
          class="field mono"
          id="key"
          name="key"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          aria-invalid={wrong && 'true'}
          aria-describedby={wrong && 'wrong'}
        />
        {wrong && (
          <p class="err" id="wrong" role="alert">
            <Icon name="alert" size={12} />
            {title(wrong)}
          </p>
        )}
        <button class="btn primary" type="submit">
          Log in
        </button>
      </form>
      <p class="note">
        No key at hand? In the folder of your project, <code>npx sidejob open</code> logs you in, and{' '}
        <code>npx sidejob key</code> prints the key. <code>npm start</code> and <code>sidejob dev</code> print a login
        link.
      </p>
    </EntryPage>
  )
}

/** Only the button uses up the link, because previews, scanners and other sites may open it. */
function LinkPage({ base, c, to, host, once, who }: PageProps & { once: string; who: Identity }) {
  return (
    <EntryPage base={base} c={c}>
      <p class="dim">
        This link logs in to <b>{host}</b> once, as the API key <b>{who.name}</b>
        {who.tenant === undefined ? '' : ` of the tenant ${who.tenant}`} (scopes: {who.scopes.join(', ')}).
      </p>
      <form method="post" action={`${base}/login`}>
        <input type="hidden" name="to" value={to} />
        <input type="hidden" name="once" value={once} />
        <button class="btn primary" type="submit" autofocus>
          Log in as {who.name}
        </button>
      </form>
    </EntryPage>
  )
}

/** Browsers omit the session cookie (`SameSite=Strict`) if a link on another site opens the page. */
export const comesFromElsewhere = (request: Request): boolean =>
  request.method === 'GET' && request.headers.get('sec-fetch-site') === 'cross-site'

export const AGAIN =
  '<!doctype html><html lang="en"><head><title>sidejob</title><meta http-equiv="refresh" content="0"></head><body></body></html>'

type Parts = { deps: Deps; gate: Gate }

function createFinder({ deps, gate }: Parts) {
  const admit = createDoor(deps, gate)
  return {
    async byKey(key: string, request: Request): Promise<Found> {
      const headers = new Headers({ authorization: `Bearer ${key}` })
      const address = request.headers.get('cf-connecting-ip')
      if (address) headers.set('cf-connecting-ip', address)
      const { place, caller } = await admit(meRoute, new Request(request.url, { headers }))
      return { place, who: caller! }
    },
    byLink: (once: string, request: Request): Promise<Found | undefined> =>
      gate.lookUp(request, undefined, async () => {
        const { place, tenant } = await placeOfSession(once, deps)
        const known = await place?.engine.sessions.peek(once)
        return place && known && { place, who: { ...known, ...(tenant === undefined ? {} : { tenant }) } }
      }),
  }
}

export function createLogin({ deps, gate, base }: Parts & { base: string }): Hono {
  const app = createHono()
  const find = createFinder({ deps, gate })
  const host = new URL(deps.publicUrl).host

  const html = (c: Context, page: { toString: () => string }, status: 200 | 401 | 429) =>
    c.html(`<!doctype html>${page.toString()}`, status)
  const draw = (c: Context, to: string, wrong?: string, status: 200 | 401 | 429 = 200) =>
    html(c, <LoginPage base={base} c={c} to={to} wrong={wrong} host={host} />, status)
  const usedUp = (c: Context) => draw(c, '/', 'this login link was already used, or is older than an hour', 401)

  /** A session has all rights of its key, so the audit log records each login and logout. */
  const recorded = ({ place, who }: Found, verb: string, path: string): Promise<void> =>
    audited(place, { by: `key:${who.id}`, name: who.name, verb: `sessions.${verb}`, method: 'POST', path }, deps)

  function enter(c: Context, name: string, to: string): Response {
    keepSession(c, base, name)
    return c.redirect(`${base}${to}`, 303)
  }

  async function enterByLink(c: Context, once: string, to: string): Promise<Response> {
    const found = await find.byLink(once, c.req.raw)
    if (!found) return usedUp(c)
    await recorded(found, 'redeem', '/ui/login')
    const name = await found.place.engine.sessions.redeem(once, SESSION_MS)
    return name ? enter(c, name, to) : usedUp(c)
  }

  async function enterByKey(c: Context, key: string, to: string): Promise<Response> {
    if (!/^\S{1,500}$/.test(key)) return draw(c, to, 'expected an API key, got none', 401)
    const found = await find.byKey(key, c.req.raw)
    await recorded(found, 'open', '/ui/login')
    const name = await found.place.engine.sessions.open(key, { life: SESSION_MS })
    return name ? enter(c, name, to) : draw(c, to, 'this API key is unknown', 401)
  }

  async function shown(c: Context, to: string, entering: () => Promise<Response>): Promise<Response> {
    try {
      return await entering()
    } catch (error) {
      if (!(error instanceof SidejobError)) throw error
      if (error.code === 'LIMITED') return draw(c, to, error.message, 429)
      if (error.code !== 'UNAUTHENTICATED' && error.code !== 'NOT_FOUND') throw error
      return draw(c, to, 'this API key is unknown', 401)
    }
  }

  app.get('/login', async (c) => {
    const once = c.req.query('once')
    const to = ownPath(c.req.query('to'))
    return shown(c, to, async () => {
      if (once) {
        const found = await find.byLink(once, c.req.raw)
        if (!found) return usedUp(c)
        return html(c, <LinkPage {...{ base, c, to, host, once }} who={found.who} />, 200)
      }
      // Pages send `again` to get a new session before their session ends.
      const isIn = c.req.query('again') === undefined && (await authenticate(c, { deps, gate }))
      return isIn ? c.redirect(`${base}${to}`, 303) : draw(c, to)
    })
  })

  app.post('/login', async (c) => {
    if (c.req.header('sec-fetch-site') !== 'same-origin')
      throw new SidejobError('FORBIDDEN', 'expected a request from the login page of this dashboard')
    const form = await formOf(c.req.raw, FORM_BYTES)
    const to = ownPath(String(form.get('to') ?? ''))
    const once = form.get('once')
    const key = String(form.get('key') ?? '').trim()
    return shown(c, to, () => (typeof once === 'string' ? enterByLink(c, once, to) : enterByKey(c, key, to)))
  })

  app.post('/logout', async (c) => {
    const seen = await authenticate(c, { deps, gate })
    if (seen) {
      checkCsrf(c.req.raw, String((await formOf(c.req.raw, FORM_BYTES)).get('csrf') ?? ''), seen.csrf)
      await recorded({ place: seen.place, who: seen.caller }, 'end', '/ui/logout')
      await seen.place.engine.sessions.end(sessionOf(c)!)
    }
    dropSession(c, base)
    return c.redirect(`${base}/login`, 303)
  })

  app.post('/login-links', async (c) => {
    const key = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (!key)
      throw new SidejobError('UNAUTHENTICATED', 'expected the header "Authorization: Bearer <API key>", got none')
    const found = await find.byKey(key, c.req.raw)
    await recorded(found, 'link', '/ui/login-links')
    const once = await found.place.engine.sessions.open(key, { life: LINK_LIFE, once: true })
    return c.json({ url: `${deps.publicUrl}/ui/login?once=${once}`, expiresAt: Date.now() + LINK_LIFE }, 201)
  })

  return app
}
