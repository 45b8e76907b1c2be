import type { Context, Hono } from 'hono'
import { codes, errorBody, SidejobError } from '../core/errors.ts'
import type { Given } from '../http/dashboard.ts'
import { createHono } from '../http/hono.ts'
import { createActs } from './acts.tsx'
import { assets } from './assets.ts'
import { sessionOf } from './cookies.ts'
import { createDraw, hereIn } from './draw.tsx'
import { AGAIN, comesFromElsewhere, createLogin } from './login.tsx'
import { Elsewhere } from './page.ts'
import { pages } from './pages/index.ts'
import { withPolicy } from './policy.ts'
import { authenticate, checkCsrf, createSessionDoor, type Env } from './session.ts'
import { queryWith } from './words/query.ts'

export type DashboardOptions = {
  name?: string
}

const FOR_EVER = 'public, max-age=31536000, immutable'

function serveAsset(c: Context): Response {
  const asset = assets.find(({ name }) => name === c.req.param('name'))
  if (!asset) throw new SidejobError('NOT_FOUND', `there is no asset ${c.req.param('name')}`)
  return new Response(asset.body() as BodyInit, { headers: { 'content-type': asset.type, 'cache-control': FOR_EVER } })
}

export function createPages({ deps, gate, api }: Given, { name }: DashboardOptions): Hono {
  const base = `${new URL(deps.publicUrl).pathname.replace(/\/+$/, '')}/ui`
  const app = createHono<Env>()
  const sessionDoor = createSessionDoor()
  const inner = api(sessionDoor.admit)
  const draw = createDraw({
    deps,
    base,
    name,
    pages,
    ask: (request, seen) => inner.fetch(sessionDoor.let(request, seen)),
  })
  const acts = createActs({ base, draw })

  app.use(withPolicy)
  app.get('/assets/:name', serveAsset)
  app.route('/', createLogin({ deps, gate, base }) as unknown as Hono<Env>)
  app.use(async (c, next) => {
    const seen = await authenticate(c, { deps, gate })
    if (!seen) return refuse(c, base)
    const { method } = c.req
    const isOfApi = c.req.path.includes('/ui/v1/')
    if (isOfApi && method !== 'GET') checkCsrf(c.req.raw, c.req.header('x-csrf') ?? null, seen.csrf)
    c.set('seen', seen)
    gate.count(seen.caller)
    sessionDoor.let(c.req.raw, seen)
    await next()
  })
  app.route('/', inner as unknown as Hono<Env>)
  for (const page of pages) {
    app.get(page.path, (c) => draw.show(c, page))
    if (page.acts) app.post(page.path, (c) => acts(c, page))
  }
  app.all('*', (c) => draw.error(c, new SidejobError('NOT_FOUND', 'there is no such page')))
  app.onError((error, c) => {
    if (error instanceof Elsewhere) return c.redirect(error.to.startsWith('/') ? `${base}${error.to}` : error.to, 303)
    if (!(error instanceof SidejobError) || codes[error.code] === 500) (deps.report ?? console.error)(error)
    const shown =
      error instanceof SidejobError
        ? error
        : new SidejobError('INTERNAL', 'the dashboard had an internal error; the log of the deployment has the cause')
    return draw.error(c as Context<Env>, shown)
  })
  return app as unknown as Hono
}

function refuse(c: Context, base: string): Response {
  if (c.req.path.includes('/ui/v1/') || c.req.header('x-live') || c.req.method !== 'GET')
    return c.json(
      errorBody(new SidejobError('UNAUTHENTICATED', 'the session has ended: log in again'), base.replace(/\/ui$/, '')),
      401,
    )
  const hadSession = sessionOf(c) !== undefined
  if (!hadSession && comesFromElsewhere(c.req.raw)) return c.html(AGAIN)
  const to = hereIn(c).replace(/^\/$/, '')
  return c.redirect(`${base}/login${queryWith('', { ended: hadSession ? '1' : '', to })}`, 303)
}
