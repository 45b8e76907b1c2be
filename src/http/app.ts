import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { readUpTo } from '../core/bytes.ts'
import { errorBody, SidejobError } from '../core/errors.ts'
import { check } from '../core/issues.ts'
import { requestLimits } from '../core/limits.ts'
import { present } from '../core/present.ts'
import { closedIn, places } from '../core/schemas.ts'
import { splitPath } from '../core/tenant.ts'
import type { AuditEntry } from '../engine/engine.ts'
import { audited, changeIn, formerIn, isAudited, reasonIn } from './audited.ts'
import { sharedWith } from './cors.ts'
import type { Dashboard } from './dashboard.ts'
import type { Deps } from './deps.ts'
import { type Admit, admitSigned, callOf, createDoor, expectSignature, expectVersion } from './door.ts'
import type { Facade } from './facade.ts'
import { formatOf, readBody, respond, retryHeaders, wanted } from './format.ts'
import { createGate, type Gate } from './gate.ts'
import { createHono } from './hono.ts'
import { llms } from './llms.ts'
import { type Listed, namesIn, openapi } from './openapi.ts'
import type { OpenApi } from './openapi-types.ts'
import type { Caller, Place } from './places.ts'
import { type Asked, isSigned, type Method, pathParams, Reply, type Route } from './route.ts'
import { list, listed } from './routes.ts'

type AppOptions = {
  facades?: readonly Facade[]
  dashboard?: Dashboard
}

const MAX_BODY = 10 * 1024 * 1024
/** A body that is too large is read up to this multiple of the limit before the error is sent. */
const READ_ON = 3

export const createApp = ({ facades = [], dashboard, ...deps }: Deps & AppOptions): Hono => {
  // The path may begin with the name of a tenant.
  const app = createHono({ getPath: ({ url }) => splitPath(new URL(url).pathname).path.replace(/^\/ui\/$/, '/ui') })
  const gate = createGate(deps)
  const admit = createDoor(deps, gate)
  app.use(guarded)
  app.use(sharedWith(deps.origins ?? []))
  const routes = [...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))]
  const served = routes.filter(({ only }) => !only || deps[only])
  let document: OpenApi | undefined
  const describe = () => (document ??= openapi(served, deps.publicUrl))
  const about: About = { document: describe, guide: () => llms(served, deps.publicUrl) }
  const mount = (on: Hono, routes: readonly Listed[], door: Admit): Hono => {
    for (const route of routes)
      on.on(route.method, route.pattern ?? pattern(route.path), serve(route, deps, door, gate, about))
    return on
  }
  mount(app, served, admit)
  if (dashboard) {
    const api = (door: Admit) =>
      mount(createHono(), served.filter(isOfApi), door).onError((error, c) => failed(c, error, deps))
    app.route('/ui', dashboard({ deps, gate, api }))
    app.get('/', (c) => c.redirect(`${new URL(deps.publicUrl).pathname.replace(/\/$/, '')}/ui`))
  }
  app.notFound((c) => {
    const taken = taking(c, app)
    const error = unknown(c, taken, deps.publicUrl)
    const [answer = failed(c, error, deps)] = facades.flatMap((facade) => facade.unknown?.(c.req.path, error) ?? [])
    if (taken.length > 0) answer.headers.set('allow', taken.join(', '))
    return answer
  })
  app.onError((error, c) => failed(c, error, deps))
  return app
}

const isOfApi = (route: Listed): boolean => route.path.startsWith('/v1/') && !isSigned(route) && !route.facade

// A channel may contain slashes.
const pattern = (path: string): string => path.replace(':dir', ':dir{in|out}').replace(':channel', ':channel{.+}')

const readerOf = (path: string) => list.find((one) => one.method === 'GET' && one.path === path)

const nothing = z.strictObject({})
const anything = z.looseObject({})

type About = Pick<Asked<string, undefined, undefined>, 'document' | 'guide'>

const serve = (route: Listed, deps: Deps, admit: Admit, gate: Gate, about: About) => {
  const { method, path, scope, handle, facade } = route
  const query = route.query ?? (facade ? anything : nothing)
  const params = z.object(Object.fromEntries(namesIn(path).map((name) => [name, pathParams[name]])))
  const body = route.body ?? nothing
  const closed = closedIn(body)
  const most = scope === 'signed' ? requestLimits.signedBody : MAX_BODY

  const bodyOf = (request: Request, bytes: Uint8Array) => {
    if (facade && !facade.json) return undefined
    if (method === 'GET' || method === 'DELETE' || path === '/tick' || scope === 'version') return undefined
    const read =
      bytes.length > 0 ? readBody(bytes, formatOf(facade ? null : request.headers.get('content-type')), closed) : {}
    return check(body, read)
  }

  const ask = async (c: Context): Promise<Response> => {
    const request = c.req.raw
    const { place, caller } = await admit(route, request)
    const here = place === deps ? deps : insideOf(deps, place)
    if (route.only && !here[route.only])
      throw new SidejobError('NOT_FOUND', `${c.req.path} is not available inside a tenant`)
    if (scope === 'signed') expectSignature(request)
    if (scope === 'version') expectVersion(request)
    const bytes = await bytesOf(request, most)
    if (scope === 'signed') await admitSigned(request, bytes, deps)
    const asks = check(query, queryOf(request, route)) as { preview?: boolean } | undefined
    const asked: Asked<string, undefined, undefined> = {
      engine: place.engine,
      deps: here,
      params: check(params, c.req.param()),
      query: asks as undefined,
      body: bodyOf(request, bytes) as undefined,
      call: await callOf(request, caller, bytes),
      caller,
      hangUp: () => undefined,
      bytes,
      c,
      ...about,
    }
    // In a query without a schema, `preview` is a string and has no effect.
    if (caller && asks?.preview !== true && isAudited(route, request)) {
      const change = changeIn(route, bytes, asked.body)
      const reader = change.change && method !== 'POST' ? readerOf(path) : undefined
      const former = reader && (await formerIn(change, async () => reader.handle({ ...asked, query: {} } as never)))
      await audited(place, { ...entryOf(route, request, caller), ...change, ...former }, deps)
    }
    if (!caller || !isListening(route, asked)) return answer(c, route, await handle(asked))
    const hangUp = gate.listen(caller, channelsOf(asked).includes('/'))
    try {
      return answer(c, route, await handle({ ...asked, hangUp }))
    } catch (error) {
      hangUp()
      throw error
    } finally {
      if (!isStream(route)) hangUp()
    }
  }

  if (!facade) return ask
  return (c: Context) => ask(c).catch((error) => facade.fail(c, known(error, deps.report)))
}

const isStream = ({ media }: Route): boolean => media === 'text/event-stream'

type Waiting = { wait?: number; channel?: string[] } | undefined

const isListening = (route: Route, { query, body }: { query: Waiting; body: Waiting }): boolean =>
  route.listens === true && (isStream(route) || Boolean(query?.wait ?? body?.wait))

const channelsOf = ({ query }: { query: Waiting }): string[] =>
  (query?.channel ?? []).map((name) => `/${name.replace(/^\//, '')}`)

const insideOf = (deps: Deps, { engine, publicUrl, downloads }: Place): Deps => ({
  ...deps,
  engine,
  publicUrl,
  downloads,
  clock: undefined,
  tenants: undefined,
})

const entryOf = ({ resource, verb, method }: Listed, { url, headers }: Request, { id, name }: Caller): AuditEntry => {
  const { pathname, search } = new URL(url)
  const reason = reasonIn(headers)
  return {
    by: `key:${id}`,
    name,
    verb: `${resource}.${verb}`,
    method,
    path: `${pathname}${search}`.slice(0, 1_000),
    ...(reason && { reason }),
  }
}

async function guarded(c: Context, next: () => Promise<void>): Promise<void> {
  await next()
  const { headers } = c.res
  headers.set('x-content-type-options', 'nosniff')
  headers.set('referrer-policy', 'no-referrer')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (c.req.url.startsWith('https:')) headers.set('strict-transport-security', 'max-age=31536000')
}

const bytesOf = async (request: Request, most: number): Promise<Uint8Array> => {
  // Read more than the limit: many clients show a broken pipe instead of a response that comes before the body ends.
  const declared = Number(request.headers.get('content-length') ?? 0) || 0
  const bytes = await readUpTo(request.body, most, { readOn: most * READ_ON, declared })
  if (!bytes) throw new SidejobError('TOO_LARGE', `the body: expected at most ${most} bytes`)
  return bytes
}

type Query = Record<string, string | string[] | Record<string, string>>

function secondOf(names: Iterable<string>, repeated: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name) && !repeated.includes(name)) return name
    seen.add(name)
  }
  return undefined
}

const queryOf = (request: Request, { repeated = [], mapped = [] }: Pick<Route, 'repeated' | 'mapped'>): Query => {
  const given = new URL(request.url).searchParams
  const twice = secondOf(given.keys(), repeated)
  if (twice) throw new SidejobError('BAD_REQUEST', `${twice}: expected one value, got several`, { path: [twice] })
  const lists = repeated.filter((name) => given.has(name)).map((name) => [name, given.getAll(name)] as const)
  const mapOf = (name: string) => mapped.find((map) => name.startsWith(`${map}.`))
  const maps = Map.groupBy(given, ([name]) => mapOf(name))
  return {
    ...Object.fromEntries(maps.get(undefined) ?? []),
    ...Object.fromEntries(lists),
    ...Object.fromEntries(
      mapped
        .filter((map) => maps.has(map))
        .map((map) => [
          map,
          Object.fromEntries(maps.get(map)!.map(([name, value]) => [name.slice(map.length + 1), value])),
        ]),
    ),
  }
}

const answer = (c: Context, { answers }: Route, given: unknown): Response => {
  if (given instanceof Response) return given
  const { status, body, headers } = given instanceof Reply ? given : new Reply(200, given)
  if (status === 204) return new Response(null, { status, headers })
  return send(c, status, present(shapeOf(answers[status]!), body ?? (given === undefined ? {} : null)), headers)
}

const shapes = new WeakMap<z.ZodType, ReturnType<typeof places>>()

const shapeOf = (schema: z.ZodType) => {
  if (!shapes.has(schema)) shapes.set(schema, places(schema))
  return shapes.get(schema)
}

const send = (c: Context, status: number, tree: unknown, headers: Record<string, string> = {}): Response =>
  respond(tree, wanted(c.req.header('accept')), status, headers)

const failed = (c: Context, error: unknown, { report, publicUrl }: Pick<Deps, 'report' | 'publicUrl'>): Response => {
  const shown = known(error, report)
  return send(c, shown.status, errorBody(shown, publicUrl), headersOf(shown))
}

const known = (error: unknown, report: (error: unknown) => void = console.error): SidejobError => {
  if (!(error instanceof SidejobError)) return unexpected(error, report)
  // The operator must also see errors of the code and the settings.
  if (error.status === 500) report(error)
  return error
}

// Only the operator may see details of internal errors.
const unexpected = (error: unknown, report: (error: unknown) => void): SidejobError => {
  report(error)
  return new SidejobError('INTERNAL', 'sidejob had an internal error; the log of the deployment has the cause')
}

const headersOf = (error: SidejobError): Record<string, string> => ({
  ...retryHeaders(error),
  ...(error.code === 'UNAUTHENTICATED' && { 'www-authenticate': 'Bearer' }),
})

const methods: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const taking = ({ req: { path } }: Context, app: Hono): Method[] =>
  methods.filter((other) => app.router.match(other, path)[0].some(([[, { method }]]) => method === other))

const unknown = ({ req: { path, method } }: Context, taken: Method[], publicUrl: string): SidejobError =>
  taken.length === 0
    ? new SidejobError(
        'NOT_FOUND',
        `${path} does not exist; ${new URL('docs', `${publicUrl}/`).pathname} lists all routes`,
      )
    : new SidejobError('WRONG_METHOD', `${path} accepts ${taken.join(', ')}, got ${method}`)
