import { AsyncLocalStorage } from 'node:async_hooks'
import type { Resources } from '../../functions/download.ts'
import { type Client, createClient } from '../client/index.ts'
import { checkWorkers, readRetry } from '../core/definition.ts'
import { errorBody, isOutage, messageOf, SidejobError } from '../core/errors.ts'
import { currentFake } from '../core/fake.ts'
import type { Downloads } from '../core/files.ts'
import { reportLoaded } from '../core/loading.ts'
import type { RetryOptions, Worker } from '../core/worker.ts'
import { createEngine, type EngineOptions } from '../engine/index.ts'
import type { Payload } from '../engine/remote/callbacks.ts'
import { checkPins, type Deployment, deploymentOf, type Environment } from '../environment.ts'
import { createFiles, type R2, r2Bucket } from '../files.ts'
import { type D1, d1Database } from '../history/d1.ts'
import type { SqlDatabase } from '../history/database.ts'
import { createHistoryStore } from '../history/store.ts'
import type { Alerting } from '../http/alerting.ts'
import { createApp } from '../http/app.ts'
import type { Dashboard } from '../http/dashboard.ts'
import type { Facade } from '../http/facade.ts'
import { createPlaces, type Tenants } from '../http/places.ts'
import { verifier } from '../http/signature.ts'
import type { SentOutcome } from '../redis/changes.ts'
import type { ClaimedJob } from '../redis/types.ts'
import { createClock } from './clock.ts'
import { answerHook, type Hook, hookAt } from './hooks.ts'
import { type Hooks, markConsole, printRejections, runHook, tellAudit } from './log.ts'
import { buildOf, createLocator } from './sources.ts'
import { deploymentFor, folderOf } from './tenants.ts'

export type SidejobEnv = Environment & { FILES?: R2; HISTORY?: D1 | SqlDatabase; SIDEJOB_LIMITER?: RateLimit }

type RateLimit = { limit: (options: { key: string }) => Promise<{ success: boolean }> }

export type ExecutionContext = {
  waitUntil: (work: Promise<unknown>) => void
  /** Each call is a separate invocation. */
  exports?: { Isolate?: { run: (claimed: ClaimedJob, tenant?: string) => Promise<SentOutcome | undefined> } }
}

type Handler = (...given: never[]) => unknown

/** A Hono app, or any object with `fetch`. */
export type OwnWorker = { fetch: Handler; scheduled?: Handler; queue?: Handler; email?: Handler }

export type WorkerSettings<E = unknown> = Hooks & {
  /** The job classes that this Worker serves. */
  functions: readonly Worker[]
  /** Path of sidejob, such as `/_sidejob`. By default, sidejob serves all paths. */
  mount?: string
  /** The cron trigger of sidejob. All other triggers go to your own `scheduled`. */
  cron?: string
  /** Retries of jobs if neither the job nor its class sets `retry` (default: three, after 10, 20 and 40 s). */
  retry?: RetryOptions
  /** Functions that need the bucket `FILES`: `downloads` of `sidejob/functions/download`. */
  storing?: (resources: Resources) => readonly Worker[]
  /** Webhooks at `/hooks/<name>` from Stripe, GitHub, or any service with Standard Webhooks. */
  hooks?: Record<string, Hook<E>>
  /** APIs of other job systems, in addition to sidejob's own: `sidejob/facades`. */
  facades?: readonly Facade[]
  /** The dashboard at `/ui`: `dashboard()` of `sidejob/dashboard`. */
  dashboard?: Dashboard
  /** Reports problems to people: `alerts()` of `sidejob/alerts`. */
  alerts?: Alerting
  /** Additional formats of callback bodies. A format may read stored files. */
  payloads?: (downloads: Downloads) => Record<string, Payload>
}

const WELL_KNOWN = '/.well-known/sidejob'
const TICK = '* * * * *'
const HEARTBEAT_MS = 10_000

type Served = {
  key: string
  engine: ReturnType<typeof createEngine>
  app: { fetch: (request: Request) => Response | Promise<Response> }
  tenants: Tenants<ReturnType<typeof createEngine>>
}

type PerformAlone = (claimed: ClaimedJob, env: SidejobEnv, tenant?: string) => Promise<SentOutcome | undefined>
let performAlone: PerformAlone | undefined

export const performIsolated: PerformAlone = (...given) => {
  if (!performAlone)
    throw new Error('Isolate was called before createWorker: call createWorker in the entry of the Worker')
  return performAlone(...given)
}

/** Resources for programs that only read the classes of a Worker. */
const NO_RESOURCES = { allowHosts: [], keep: 0 } as unknown as Resources

function mountOf(mount = ''): string {
  const path = mount.replace(/\/+$/, '')
  if (path === '' || /^(\/[\w.~-]+)+$/.test(path)) return path
  throw new Error(`mount: expected a path like "/_sidejob", got ${JSON.stringify(mount)}`)
}

function mounted<E extends SidejobEnv>(env: E, mount: string): E {
  const url = env.PUBLIC_URL?.replace(/\/+$/, '')
  if (url && !URL.canParse(url))
    throw new SidejobError('MISCONFIGURED', `PUBLIC_URL: expected a URL like "https://jobs.example.com", got "${url}"`)
  if (!url || !mount) return env
  const at = (address: string) =>
    URL.canParse(address) && new URL(address).pathname.endsWith(mount) ? address : `${address}${mount}`
  const versionUrl = env.SIDEJOB_VERSION_URL?.replace(/\/+$/, '')
  return { ...env, PUBLIC_URL: at(url), ...(versionUrl ? { SIDEJOB_VERSION_URL: at(versionUrl) } : {}) }
}

/** Unlike http/bucket.ts, the binding counts requests of many isolates. */
const limiterOf = ({ SIDEJOB_LIMITER: binding }: SidejobEnv) =>
  binding ? { limiter: async (address: string) => (await binding.limit({ key: `sidejob ${address}` })).success } : {}

function downloadsOf(
  { FILES }: SidejobEnv,
  { downloads, fileSecret, publicUrl }: Deployment,
  now: () => number,
  tenant?: string,
) {
  if (!FILES) return undefined
  const whole = r2Bucket(FILES)
  const bucket = tenant === undefined ? whole : folderOf(whole, `t/${tenant}/`)
  const files = createFiles({ bucket, secret: fileSecret, publicUrl, now })
  return { ...downloads, files } satisfies Downloads
}

function historyOf(
  { HISTORY }: SidejobEnv,
  { historyDays, historyRetain }: Deployment,
): Pick<EngineOptions, 'historyStore'> {
  if (!HISTORY) return {}
  const db = 'prepare' in HISTORY ? d1Database(HISTORY) : HISTORY
  return { historyStore: { store: createHistoryStore(db), days: historyDays, retain: historyRetain } }
}

function making<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (isOutage(error)) throw error
    throw new SidejobError('MISCONFIGURED', messageOf(error), { cause: error })
  }
}

function failed(error: unknown): Response {
  console.error(error)
  const shown =
    error instanceof SidejobError
      ? error
      : new SidejobError('INTERNAL', 'sidejob had an internal error; the log of the deployment has the cause')
  return Response.json(errorBody(shown), { status: shown.status })
}

/** The path of the URL is a secret, so an error shows only the host. */
async function beat(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(HEARTBEAT_MS) })
  await answer.body?.cancel()
  if (!answer.ok) throw new Error(`SIDEJOB_HEARTBEAT_URL: ${new URL(url).host} answered ${answer.status}`)
}

/**
 * Creates a Worker that serves jobs, alone or together with your own app.
 *
 * @example
 * const jobs = createWorker({ functions: [double], mount: '/_sidejob' })
 * const app = new Hono<{ Bindings: Env }>()
 * app.post('/orders', async (c) => c.json(await jobs.client(c.env).jobs.enqueue({ class: 'double' })))
 * export default jobs.with(app)
 */
export function createWorker<E extends object = Cloudflare.Env>(settings: WorkerSettings<E>) {
  const { storing, alerts, cron = TICK } = settings
  const functions = alerts ? [...settings.functions, alerts.worker] : settings.functions
  checkWorkers(functions)
  reportLoaded(() => [...functions, ...(storing?.(NO_RESOURCES) ?? [])])
  const retry = settings.retry && readRetry(settings.retry)
  const mount = mountOf(settings.mount)
  const invocation = new AsyncLocalStorage<ExecutionContext>()
  /** Returns false in an isolated run: the run itself must wait for the work. */
  const keep = (work: Promise<unknown>): boolean => {
    const context = invocation.getStore()
    context?.waitUntil(work)
    return context !== undefined
  }
  const clock = createClock()

  /** All tenants share the locator. */
  let locate: ReturnType<typeof createLocator>
  const locatorOf = (env: SidejobEnv) =>
    (locate ??= buildOf() === undefined ? undefined : createLocator(deploymentOf(mounted(env, mount)).engine))

  function placeOf(env: SidejobEnv, deployment: Deployment, tenant?: string) {
    const { engine: options, publicUrl, s3, maxDownload, log } = deployment
    checkPins(deployment, functions)
    const downloads = storing && downloadsOf(env, deployment, clock.now, tenant)
    const engine = createEngine({
      ...options,
      ...historyOf(env, deployment),
      workers: downloads
        ? [...functions, ...storing({ ...downloads, s3, maxSize: maxDownload, now: clock.now })]
        : functions,
      payloads: downloads && settings.payloads?.(downloads),
      clock: () => clock.offset,
      defer: keep,
      isolate: (claimed) =>
        invocation.getStore()?.exports?.Isolate?.run(claimed, tenant) ?? performIsolated(claimed, env, tenant),
      tenant,
      env,
      retry,
      hook: runHook({ ...settings, level: log, keep }),
      locate: locatorOf(env),
    })
    return { engine, publicUrl, downloads }
  }

  function make(env: SidejobEnv): Served {
    const deployment = deploymentOf(mounted(env, mount))
    // The key names the caller in idempotency keys and links, so it must be the same in all isolates.
    const key = (deployment.engine.apiKey ||= `client:${env.UPSTASH_REDIS_REST_TOKEN}:${env.QSTASH_TOKEN}`)
    const { signingKeys, testClock, log, origins, heartbeat } = deployment
    if (log === 'all') markConsole()
    printRejections()
    const own = placeOf(env, deployment)
    const { engine } = own
    const places = createPlaces(engine, (name) => placeOf(env, deploymentFor(deployment, name), name))
    async function watch(hasTicked: boolean): Promise<void> {
      await alerts?.check({ engine, publicUrl: own.publicUrl, now: clock.now() })
      if (heartbeat && hasTicked) await beat(heartbeat)
    }
    const tick: typeof places.tick = async (by) => {
      const ticking = places.tick(by)
      const [{ status }] = await Promise.allSettled([ticking])
      // An error of the alerts must not fail the tick.
      await watch(status === 'fulfilled').catch((error) => console.error(error))
      return ticking
    }
    const tenants = { ...places, tick }
    const app = createApp({
      ...own,
      verify: verifier({ ...signingKeys, now: clock.now }),
      facades: settings.facades,
      dashboard: settings.dashboard,
      report: (error) => console.error(error),
      tenants,
      origins,
      ...limiterOf(env),
      ...(log === 'none' ? {} : { hearAudit: tellAudit }),
      ...(testClock ? { clock: { advance: (ms: number) => clock.advance(env, ms) } } : {}),
    })
    return { engine, app, key, tenants }
  }

  let served: Served | undefined
  const serve = (env: SidejobEnv): Served => (served ??= making(() => make(env)))
  performAlone = async (claimed, env, tenant) => {
    const { engine, tenants } = serve(env)
    const place = tenant === undefined ? { engine } : await tenants.open(tenant)
    return place?.engine.performAlone(claimed)
  }

  function clientOf(env: SidejobEnv): Client {
    const fake = currentFake()
    if (fake) return createClient({ url: 'http://sidejob', key: 'fake', fetch: fake(functions) })
    const { app, key } = serve(env)
    const call = async (request: Request) => {
      await clock.catchUp(env)
      return app.fetch(request)
    }
    return createClient({ url: 'http://sidejob', key, fetch: call })
  }

  async function answer(request: Request, env: SidejobEnv): Promise<Response> {
    await clock.catchUp(env)
    const { app } = serve(env)
    const url = new URL(request.url)
    url.pathname = url.pathname.slice(mount.length) || '/'
    const [name, hook] = hookAt(settings.hooks, url.pathname) ?? []
    if (hook)
      return answerHook(request, {
        name: name!,
        hook,
        client: clientOf(env),
        env: env as SidejobEnv & E,
        now: clock.now,
      })
    return app.fetch(mount ? new Request(url, request) : request)
  }

  const isOurs = (path: string): boolean => !mount || path === mount || path.startsWith(`${mount}/`)

  const within = <T>(context: ExecutionContext, work: () => Promise<T>): Promise<T> => {
    const answer = invocation.run(context, work)
    // If the caller disconnects, the invocation must live on to release claimed jobs.
    context.waitUntil(answer.catch(() => undefined))
    return answer
  }

  const fetch = (request: Request, env: E, context: ExecutionContext): Promise<Response> =>
    within(context, () => answer(request, env as SidejobEnv).catch(failed))

  async function tick(env: SidejobEnv): Promise<void> {
    await clock.catchUp(env)
    await serve(env).tenants.tick('cron')
  }

  const scheduled = (_event: unknown, env: E, context: ExecutionContext): void =>
    context.waitUntil(invocation.run(context, () => tick(env as SidejobEnv)))

  return {
    fetch,
    scheduled,

    /**
     * Serves sidejob below `mount`, and passes all other requests to your own Worker.
     *
     * @example export default jobs.with(app)
     */
    with<Own extends OwnWorker>(own: Own) {
      if (!mount) throw new Error("with(app) needs a mount: createWorker({ functions, mount: '/_sidejob' })")
      /** Outside of an invocation, `enqueue` would wait for the run of its job if `SIDEJOB_DISPATCH` is `eager`. */
      const inside = <Given extends Handler>(handler: Given) =>
        ((...given: never[]) => invocation.run(given[2]!, () => handler.apply(own, given))) as Given
      return {
        ...own,
        ...(own.queue && { queue: inside(own.queue) }),
        ...(own.email && { email: inside(own.email) }),
        fetch(request: Request, env: E, context: ExecutionContext): Response | Promise<Response> {
          const { pathname } = new URL(request.url)
          if (isOurs(pathname)) return fetch(request, env, context)
          if (pathname === WELL_KNOWN) return Response.json({ mount, cron })
          return within(context, async () => own.fetch(...([request, env, context] as never[])) as Promise<Response>)
        },
        scheduled(event: { cron: string }, env: E, context: ExecutionContext): unknown {
          if (event.cron === cron || !own.scheduled) return scheduled(event, env, context)
          return inside(own.scheduled)(...([event, env, context] as never[]))
        },
      }
    },

    /**
     * Returns a client that calls this Worker's sidejob in the same process, without a request and without a key.
     *
     * @example await jobs.client(env).jobs.enqueue({ class: 'double', inputs: { n: [1] } })
     */
    client: (env: E): Client => clientOf(env as SidejobEnv),
  }
}

export type SidejobWorker = ReturnType<typeof createWorker>
