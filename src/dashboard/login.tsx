// Coming in and leaving: an API key becomes a session; a link that is good once does, too.

import { type Context, Hono } from 'hono'
import { SidejobError } from '../core/errors.ts'
import type { Deps } from '../http/deps.ts'
import { createDoor } from '../http/door.ts'
import { list } from '../http/routes.ts'
import { dropSession, keepSession, LIFE, likesOf, sessionOf } from './cookies.ts'
import { Icon } from './parts/icon.tsx'
import { Document } from './parts/shell.tsx'
import { expectOurs, whoLooks } from './session.ts'

/** A link that is good once is good for an hour. */
const LINK_LIFE = 3_600_000

const meRoute = list.find(({ path }) => path === '/v1/me')!

/** Only a path of ours: `//host` would be somebody else's. */
export const ownPath = (given: string | null | undefined): string =>
  given && /^\/(?![/\\])\S*$/.test(given) && !given.startsWith('/login') ? given : '/'

type PageProps = { base: string; c: Context; to: string; wrong?: string; host: string }

function LoginPage({ base, c, to, wrong, host }: PageProps) {
  return (
    <Document look={{ base, csrf: '', ...likesOf(c) }} title="Log in · sidejob" kind="enter">
      <main class="login card">
        <h1>sidejob</h1>
        <p class="dim">
          Log in to <b>{host}</b> with an API key. It is kept in Redis as a hash; this browser gets a session of 12
          hours.
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
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby={wrong ? 'wrong' : undefined}
          />
          {wrong && (
            <p class="err" id="wrong" role="alert">
              <Icon name="alert" size={12} />
              {wrong}
            </p>
          )}
          <button class="btn primary" type="submit">
            Log in
          </button>
        </form>
        <p class="note">
          <code>npm start</code> and <code>sidejob dev</code> print a link that logs in once.
        </p>
      </main>
    </Document>
  )
}

/** A link from elsewhere comes without the cookie, which is strict: asked for by this page itself it comes with it. */
export const comesFromElsewhere = (request: Request): boolean =>
  request.method === 'GET' && request.headers.get('sec-fetch-site') === 'cross-site'

export const AGAIN =
  '<!doctype html><html lang="en"><head><title>sidejob</title><meta http-equiv="refresh" content="0"></head><body></body></html>'

export function createLogin({ deps, base }: { deps: Deps; base: string }): Hono {
  const app = new Hono()
  const admit = createDoor(deps)
  const host = new URL(deps.publicUrl).host

  /** The place of a key that is known; who keeps coming with wrong ones is not looked up any more for a while. */
  async function placeOf(key: string, request: Request) {
    const headers = new Headers({ authorization: `Bearer ${key}` })
    const address = request.headers.get('cf-connecting-ip')
    if (address) headers.set('cf-connecting-ip', address)
    return (await admit(meRoute, new Request(request.url, { headers }))).place
  }

  const draw = (c: Context, to: string, wrong?: string, status: 200 | 401 | 429 = 200) =>
    c.html(`<!doctype html>${(<LoginPage base={base} c={c} to={to} wrong={wrong} host={host} />).toString()}`, status)

  async function enterBy(c: Context, once: string): Promise<Response> {
    const tenant = /^([a-z0-9-]+)~/.exec(once)?.[1]
    const place = tenant === undefined ? deps : await deps.tenants?.open(tenant)
    const name = await place?.engine.redeemSession(once, LIFE)
    if (!name) return draw(c, '/', 'this link was used before, or its hour is over', 401)
    keepSession(c, base, name)
    return c.redirect(`${base}${ownPath(c.req.query('to'))}`, 303)
  }

  app.get('/login', async (c) => {
    const once = c.req.query('once')
    const to = ownPath(c.req.query('to'))
    if (once) return enterBy(c, once)
    // Who asks for it anew has a session that is about to end.
    if (c.req.query('again') === undefined && (await whoLooks(c, deps))) return c.redirect(`${base}${to}`, 303)
    return draw(c, to)
  })

  app.post('/login', async (c) => {
    if (c.req.header('sec-fetch-site') !== 'same-origin')
      throw new SidejobError('FORBIDDEN', 'expected the form of our own page')
    const form = await c.req.formData()
    const to = ownPath(String(form.get('to') ?? ''))
    const key = String(form.get('key') ?? '').trim()
    if (!/^\S{1,500}$/.test(key)) return draw(c, to, 'expected an API key, got none', 401)
    try {
      const place = await placeOf(key, c.req.raw)
      const name = await place.engine.openSession(key, { life: LIFE })
      if (!name) return draw(c, to, 'this API key is not known', 401)
      keepSession(c, base, name)
      return c.redirect(`${base}${to}`, 303)
    } catch (error) {
      if (!(error instanceof SidejobError)) throw error
      if (error.code === 'LIMITED') return draw(c, to, error.message, 429)
      if (error.code === 'UNAUTHENTICATED' || error.code === 'NOT_FOUND')
        return draw(c, to, 'this API key is not known', 401)
      throw error
    }
  })

  app.post('/logout', async (c) => {
    const seen = await whoLooks(c, deps)
    if (seen) {
      expectOurs(c.req.raw, String((await c.req.formData()).get('csrf') ?? ''), seen.csrf)
      await seen.place.engine.endSession(sessionOf(c)!)
    }
    dropSession(c, base)
    return c.redirect(`${base}/login`, 303)
  })

  // For programs with a key: `npm start` prints such a link.
  app.post('/login-links', async (c) => {
    const key = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (!key)
      throw new SidejobError('UNAUTHENTICATED', 'expected the header "Authorization: Bearer <API key>", got none')
    const place = await placeOf(key, c.req.raw)
    const once = await place.engine.openSession(key, { life: LINK_LIFE, once: true })
    return c.json({ url: `${deps.publicUrl}/ui/login?once=${once}`, expiresAt: Date.now() + LINK_LIFE }, 201)
  })

  return app
}
