// Applies Cloudflare's limits to each invocation of a local Worker. Never deployed.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isLocal } from '../../core/url.ts'
import { BOUNDS, type Bounds } from './bounds.ts'

type Context = { waitUntil: (work: Promise<unknown>) => void; exports?: Record<string, object> }
type Env = Record<string, unknown>

const TOO_MANY_SUBREQUESTS =
  'Too many subrequests by single Worker invocation. To configure this limit, refer to https://developers.cloudflare.com/workers/platform/limits/'
const CUT_OFF =
  'waitUntil() tasks did not complete within the allowed time after invocation end and have been cancelled. See: https://developers.cloudflare.com/workers/runtime-apis/context/#waituntil'
/** Cloudflare documents the error but not its text, so this text is ours. */
const TOO_MANY_INVOCATIONS = 'Too many Worker invocations by a single request.'

const current = new AsyncLocalStorage<Invocation>()
/** Stored here, because the Worker may later replace the functions of the console. */
const print = { log: console.log.bind(console), error: console.error.bind(console) }
/** Stored as single functions, because they throw if they are called as methods of another object. */
const { fetch: request, setTimeout: startTimer, setInterval: startInterval } = globalThis

const never = new Promise<never>(() => {})

class Invocation {
  readonly #bounds: Bounds
  readonly #context: Context
  readonly #stop = new AbortController()
  readonly #waiting: (() => void)[] = []
  #connections = 0
  #counts = { subrequests: 0, services: 0, invocations: 1 }
  readonly #kept = new Set<() => void>()
  #rested = () => {}

  constructor(bounds: Bounds, context: Context) {
    this.#bounds = bounds
    this.#context = context
  }

  get isCut(): boolean {
    return this.#stop.signal.aborted
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  count(what: 'subrequests' | 'services' | 'invocations', message = TOO_MANY_SUBREQUESTS): void {
    if (++this.#counts[what] > (this.#bounds[what] ?? Number.POSITIVE_INFINITY)) throw new Error(message)
  }

  /** Counts a connection as open until the headers of its response arrive. */
  async send<T>(call: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
    await this.#connect(signal)
    try {
      return await this.goOn(call())
    } finally {
      this.#disconnect()
    }
  }

  async #connect(signal?: AbortSignal | null): Promise<void> {
    if (this.#connections < (this.#bounds.connections ?? Number.POSITIVE_INFINITY)) {
      this.#connections++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1)
      reject(signal!.reason)
    }
    this.#waiting.push(resolve)
    signal?.addEventListener('abort', leave, { once: true })
    await promise
    signal?.removeEventListener('abort', leave)
  }

  #disconnect(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#connections--
  }

  async goOn<T>(work: Promise<T>): Promise<T> {
    try {
      const value = await work
      return this.isCut ? never : value
    } catch (error) {
      if (this.isCut) return never
      throw error
    }
  }

  /** Does not use Promise.race, because workerd would never free its promises. */
  waitUntil(work: Promise<unknown>): void {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const letGo = () => resolve(undefined)
    const ended = () => {
      this.#kept.delete(letGo)
      if (this.#kept.size === 0) this.#rested()
    }
    this.#kept.add(letGo)
    Promise.resolve(work).finally(ended).then(resolve, reject)
    this.#context.waitUntil(promise)
  }

  answered(): void {
    const { kept } = this.#bounds
    if (kept === undefined) return
    this.#context.waitUntil(this.#cutAfter(kept))
  }

  async #cutAfter(ms: number): Promise<void> {
    // Work that ends together with the response is still in #kept for a moment.
    await new Promise((resolve) => startTimer(resolve, 0))
    if (this.#kept.size === 0) return
    const late = await new Promise<boolean>((resolve) => {
      const timer = startTimer(() => resolve(true), ms)
      this.#rested = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })
    if (!late) return
    console.warn(CUT_OFF)
    this.#stop.abort(new Error(CUT_OFF))
    for (const letGo of this.#kept) letGo()
  }
}

const signalOf = (input: unknown, init?: RequestInit): AbortSignal | null | undefined =>
  init?.signal ?? (input instanceof Request ? input.signal : undefined)

globalThis.fetch = async (...[input, init]: Parameters<typeof fetch>) => {
  const own = current.getStore()
  if (!own) return request(input, init)
  own.count('subrequests')
  const signal = signalOf(input, init)
  const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal
  return own.send(() => request(input, { ...init, signal: either }), signal)
}

const held = <T extends typeof setTimeout | typeof setInterval>(start: T): T =>
  ((act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const own = current.getStore()
    return start(own ? (...given) => own.isCut || act(...given) : act, ms, ...args)
  }) as T
globalThis.setTimeout = held(startTimer)
globalThis.setInterval = held(startInterval)

const services = new Set(['R2Bucket', 'R2MultipartUpload', 'KvNamespace', 'WorkerQueue'])

function heldService<T extends object>(service: T): T {
  return new Proxy(service, {
    get(target, key) {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => called(() => value.apply(target, args))
    },
  })
}

function called(call: () => unknown): unknown {
  const own = current.getStore()
  if (!own) return call()
  own.count('services')
  return own.send(async () => {
    const answer = await call()
    return isService(answer) ? heldService(answer) : answer
  })
}

const isService = (one: unknown): one is object =>
  typeof one === 'object' && one !== null && services.has(one.constructor?.name)

const environments = new WeakMap<object, { env: Env; bounds: Bounds }>()

function heldEnv(given: object): { env: Env; bounds: Bounds } {
  const known = environments.get(given)
  if (known) return known
  const { [BOUNDS]: bounds, ...rest } = given as Env
  const env = Object.fromEntries(
    Object.entries(rest).map(([name, one]) => [name, isService(one) ? heldService(one) : one]),
  )
  const made = { env, bounds: JSON.parse((bounds as string | undefined) ?? '{}') as Bounds }
  environments.set(given, made)
  return made
}

function heldExports(exports: Record<string, object>, own: Invocation): Record<string, object> {
  const counted = (target: object, key: string | symbol) => {
    const method = Reflect.get(target, key)
    if (typeof method !== 'function') return method
    return (...args: unknown[]) => {
      own.count('subrequests')
      own.count('invocations', TOO_MANY_INVOCATIONS)
      return own.goOn(Promise.resolve(Reflect.apply(method, target, args)))
    }
  }
  return new Proxy(exports, {
    get(target, name) {
      const entry = Reflect.get(target, name, target) as object | undefined
      return entry && new Proxy(entry, { get: counted })
    },
  })
}

function heldContext(context: Context, own: Invocation): Context {
  return new Proxy(context, {
    get(target, key) {
      if (key === 'waitUntil') return (work: Promise<unknown>) => own.waitUntil(work)
      const value = Reflect.get(target, key, target)
      if (key === 'exports' && value) return heldExports(value, own)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type Identity = { new (): { readable: ReadableStream; writable: WritableStream } }

function answerOf(response: Response, own: Invocation): Response {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    own.answered()
    return response
  }
  const { IdentityTransformStream } = globalThis as unknown as { IdentityTransformStream: Identity }
  const { readable, writable } = new IdentityTransformStream()
  void response.body
    .pipeTo(writable)
    .catch(() => undefined)
    .finally(() => own.answered())
  return new Response(readable, response)
}

type Handler = (event: never, env: object, context: Context) => unknown

function heldHandler(handler: Handler, isLong: boolean): Handler {
  return (event, given, context) => {
    const { env, bounds } = heldEnv(given)
    // Cron and queue handlers have 15 minutes, even for work that is not awaited.
    const own = new Invocation(isLong ? { ...bounds, kept: undefined } : bounds, context)
    return current.run(own, async () => {
      try {
        const answer = await own.goOn(Promise.resolve(handler(event, env, heldContext(context, own))))
        if (answer instanceof Response) return answerOf(answer, own)
        own.answered()
        return answer
      } catch (error) {
        own.answered()
        print.error(`Uncaught ${stackOf(error)}`)
        throw error
      }
    })
  }
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? String(error)) : String(error))

type Started = { job: number; class: string; token: string }

/** Logs the start of each run, because a run in an endless loop logs nothing itself. */
export function announceRuns(): void {
  Object.assign(globalThis, {
    [Symbol.for('sidejob.announce')]: ({ job, class: name, token }: Started) => {
      print.log(JSON.stringify({ sidejob: 'start', job, class: name, token }))
      return () => print.log(JSON.stringify({ sidejob: 'end', job }))
    },
  })
}

const FIRE_CRON = '/cdn-cgi/handler/scheduled'

export function withCronRoute<T extends object>(worker: T): T {
  const { fetch: own, scheduled } = worker as Partial<Record<string, Handler>>
  if (!own || !scheduled) return worker
  const fetch = async (request: Request, env: object, context: Context) => {
    const url = new URL(request.url)
    if (url.pathname !== FIRE_CRON) return own.call(worker, request as never, env, context)
    const cron = url.searchParams.get('cron') ?? ''
    const event = { cron, scheduledTime: Date.now(), type: 'scheduled', noRetry: () => {} }
    await scheduled.call(worker, event as never, env, context)
    return new Response('ok\n')
  }
  return { ...worker, fetch }
}

/** Protects against DNS rebinding: if a website points its domain to 127.0.0.1, its requests keep that domain as host. */
function refusedHost({ url }: Request, { PUBLIC_URL }: { PUBLIC_URL?: string }): Response | undefined {
  const { hostname } = new URL(url)
  if (isLocal(url) || hostname === '0.0.0.0' || hostname === URL.parse(PUBLIC_URL ?? '')?.hostname) return undefined
  const message = `expected a request to localhost, or to the host of PUBLIC_URL, got ${hostname}`
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 403 })
}

const local =
  (handler: Handler): Handler =>
  (event, env, context) =>
    refusedHost(event as Request, env) ?? handler(event, env, context)

const handlers = ['fetch', 'scheduled', 'queue', 'email', 'tail'] as const

export function hold<T extends object>(worker: T): T {
  const own = worker as Partial<Record<(typeof handlers)[number], Handler>>
  const holding = handlers
    .filter((name) => own[name])
    .map(
      (name) =>
        [
          name,
          heldHandler(name === 'fetch' ? local(own[name]!.bind(worker)) : own[name]!.bind(worker), name !== 'fetch'),
        ] as const,
    )
  return { ...worker, ...Object.fromEntries(holding) }
}

type Entrypoint = new (context: Context, env: object) => object

export function holdEntrypoint<T>(entrypoint: T): T {
  const Own = entrypoint as unknown as Entrypoint
  class Held extends Own {
    declare readonly ctx: Context
    readonly #bounds: Bounds
    constructor(context: Context, given: object) {
      super(context, given)
      const { env, bounds } = heldEnv(given)
      Object.defineProperty(this, 'env', { value: env })
      this.#bounds = bounds
    }
    begin(): Invocation {
      return new Invocation(this.#bounds, this.ctx)
    }
  }
  for (const name of Object.getOwnPropertyNames(Own.prototype).filter((one) => one !== 'constructor')) {
    const method = (Own.prototype as Record<string, (...args: unknown[]) => unknown>)[name]!
    Object.defineProperty(Held.prototype, name, {
      value(this: Held, ...args: unknown[]) {
        const own = this.begin()
        return current.run(own, async () => {
          try {
            return await method.apply(this, args)
          } finally {
            own.answered()
          }
        })
      },
    })
  }
  return Held as unknown as T
}
