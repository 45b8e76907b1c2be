// The typed client: every route of the API as a method, over fetch and nothing else.

import type * as z from 'zod'
import type { jobInput } from '../core/schemas.ts'
import type { AnyDefined, ArgsOf, InputsOf } from '../core/worker.ts'
import type { Enqueued } from '../engine/engine.ts'
import type { Routes } from '../http/routes.ts'
import type { List } from './list.ts'
import { type Ran, type RunOptions, run } from './run.ts'
import { type Served, table } from './table.ts'

export { type Ran, RunFailed, type RunOptions } from './run.ts'

// Types: what a method takes and gives follows from its route.

type Param<Name> = Name extends 'job' ? string | number : Name extends 'dir' ? 'in' | 'out' : string

type PathArgs<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? [Param<Name>, ...PathArgs<`/${More}`>]
    : [Param<Rest>]
  : []

/** In a query, numbers and booleans may stand as they are. */
type Loose<Query> = { [Name in keyof Query]: Query[Name] | number | boolean }

type Input<R> = R extends { body?: infer Body; query?: infer Query }
  ? [Extract<Body, z.ZodType>, Extract<Query, z.ZodType>] extends [infer B, infer Q]
    ? [B] extends [never]
      ? [Q] extends [never]
        ? Record<string, never>
        : Loose<z.input<Q & z.ZodType>>
      : z.input<B & z.ZodType>
    : never
  : never

type Args<In> =
  Record<string, never> extends In ? [input?: In, options?: CallOptions] : [input: In, options?: CallOptions]

type Given<R> = R extends { answers: infer A }
  ? { [Status in keyof A]: A[Status] extends z.ZodType ? z.input<A[Status]> : never }[keyof A]
  : never

type Verb<R> = R extends { path: infer Path }
  ? (...args: [...PathArgs<Path>, ...Args<Input<R>>]) => Promise<Given<R>>
  : never

/** A job as it is asked for. */
export type JobInput = z.input<typeof jobInput>
type Job = JobInput

/** The classes of a list of functions, or of a module that exports them. */
type ClassesOf<F> = Extract<F extends readonly (infer W)[] ? W : F[keyof F], AnyDefined>

/** A job of one of these classes: its args and first values are those of the class. */
type JobOf<W> = W extends AnyDefined
  ? Omit<Job, 'class' | 'args' | 'inputs'> & { class: W['class']; args?: ArgsOf<W>; inputs?: InputsOf<W> }
  : never

/** Whether nothing is said of the functions. */
type IsAny<F> = unknown extends F ? true : F extends undefined ? true : false

type Enqueue<One> = {
  (job: One, options?: CallOptions): Promise<Enqueued>
  (jobs: One[], options?: CallOptions): Promise<{ jobs: Enqueued[] }>
}

type Subscribe = (
  channel: string,
  input?: Record<string, never>,
  options?: CallOptions,
) => Promise<AsyncIterable<Given<Routes['channels']['subscribe']>>>

type Listen = (
  input: { channel: string[] },
  options?: CallOptions,
) => Promise<AsyncIterable<Given<Routes['channels']['listen']>>>

type Verbs = { [R in keyof Served]: { [V in keyof Served[R]]: Verb<Served[R][V]> } }

/** A client that knows the types of these functions; without them it takes jobs of any class. */
export type Client<F = undefined> = Omit<Verbs, 'jobs' | 'channels'> & {
  jobs: Omit<Verbs['jobs'], 'enqueue' | 'list'> & {
    enqueue: Enqueue<IsAny<F> extends true ? Job : JobOf<ClassesOf<F>>>
    list: List<CallOptions>
  }
  /**
   * Makes a job, waits for its end, and answers what it returned and wrote; throws `RunFailed` where it failed.
   *
   * @example const { out } = await client.run(double, { n: [1, 2, 3] }) // out: { doubled: [2, 4, 6] }
   */
  run: <W extends IsAny<F> extends true ? AnyDefined : ClassesOf<F>>(
    worker: W,
    inputs?: InputsOf<W>,
    options?: RunOptions<W>,
  ) => Promise<Ran<W>>
  channels: Omit<Verbs['channels'], 'subscribe' | 'listen'> & { subscribe: Subscribe; listen: Listen }
}

export type CallOptions = {
  signal?: AbortSignal
  idempotencyKey?: string
  /** The hash of the graph that a change was made from: with another one in force it is refused with 412. */
  ifMatch?: string
  /** What stands in the query of a call that has a body: `{ preview: true }`. */
  query?: Record<string, string | number | boolean>
}

export type ClientOptions = {
  url: string
  key: string
  fetch?: (request: Request) => Promise<Response>
  /** How often a call is made at most, when the network fails or the answer is 503. */
  attempts?: number
}

/** An answer that is an error: its code, its status, and where in the input the fault is. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly path?: (string | number)[]
  readonly retryAfter?: number

  constructor(status: number, { code, message, path, retryAfter }: Failure) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.path = path
    this.retryAfter = retryAfter
  }
}

type Failure = { code: string; message: string; path?: (string | number)[]; retryAfter?: number }

/**
 * Makes a client. A call takes the names in its path, then its body or query.
 *
 * @example const client = createClient({ url: 'http://127.0.0.1:8787', key: 'dev' })
 *   const { id } = await client.jobs.enqueue({ class: 'zip' })
 *   await client.ports.write(id, 'in', 'left', { values: [1, 2] })
 * @example const client = createClient<typeof functions>({ url, key }) // knows their classes, args, ports and results
 */
export const createClient = <F = undefined>(options: ClientOptions): Client<F> => {
  const verbs = (addresses: Record<string, string>) =>
    mapped(
      addresses,
      (address) =>
        (...args: unknown[]) =>
          call(options, address, args),
    )
  const client = mapped(table, verbs)
  const runs = (...given: unknown[]) => run(client as never, ...(given as [never]))
  return { ...client, run: runs } as unknown as Client<F>
}

const mapped = <Value, To>(values: Record<string, Value>, to: (value: Value) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]))

const call = async (client: ClientOptions, address: string, args: unknown[]): Promise<unknown> => {
  const [method, pattern] = address.split(' ') as [string, string]
  const rest = [...args]
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encoded(name, String(rest.shift())))
  const [input, options = {}] = rest as [object?, CallOptions?]
  const inQuery = method === 'GET' || method === 'DELETE'
  const request = (): Request =>
    new Request(`${client.url}${path}${queryOf(inQuery ? input : options.query)}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${client.key}`,
        'idempotency-key': key,
        ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
      },
      body: inQuery ? undefined : JSON.stringify(input ?? {}),
      signal: options.signal,
    })
  // Every call has a key, a GET too: taking a result is one.
  const key = options.idempotencyKey ?? crypto.randomUUID()
  return persist(client, request)
}

const headers = { accept: 'application/json', 'content-type': 'application/json' }

// A channel may have slashes, which are part of the path; the one it begins with is already there.
const encoded = (name: string, value: string): string =>
  name === 'channel' ? value.replace(/^\//, '').split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)

const queryOf = (input: object = {}): string => {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const words = given.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]))
  return words.length > 0 ? `?${new URLSearchParams(words)}` : ''
}

/** Asks again when the network fails or the answer is 503: with the same key, so that it happens once. */
const persist = async (
  { fetch = (request) => globalThis.fetch(request), attempts = 3 }: ClientOptions,
  request: () => Request,
): Promise<unknown> => {
  for (let attempt = 1; ; attempt++) {
    const asked = request()
    try {
      // An answer that breaks off is none.
      return await opened(await fetch(asked))
    } catch (error) {
      if (attempt >= attempts || asked.signal.aborted || isFinal(error)) throw error
      await pause(attempt, error)
    }
  }
}

const isFinal = (error: unknown): boolean => error instanceof ApiError && error.status !== 503

// 0.1 s, 0.2 s, … or as long as the answer asks for, within 5 s.
const pause = (attempt: number, error: unknown): Promise<void> => {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
  const ms = Math.min(5_000, Math.max(asked, 50 * 2 ** attempt * (1 + Math.random())))
  return new Promise((resolve) => setTimeout(resolve, ms))
}

const opened = async (answer: Response): Promise<unknown> => {
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.ok) throw new ApiError(answer.status, await failureOf(answer))
  if (answer.status === 204) return null
  if (type.startsWith('text/event-stream')) return events(answer.body!)
  return type.startsWith('application/json') ? answer.json() : answer.text()
}

const failureOf = async (answer: Response): Promise<Failure> => {
  const body = (await answer.json().catch(() => undefined)) as { error?: Failure | string } | undefined
  const unknown = { code: 'UNKNOWN', retryAfter: Number(answer.headers.get('retry-after') ?? 0) }
  // Facades have words of their own.
  if (typeof body?.error === 'string') return { ...unknown, message: body.error }
  return body?.error ?? { ...unknown, message: `the answer was ${answer.status} without an explanation` }
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const whole = (text + chunk).split('\n\n')
    text = whole.pop()!
    for (const event of whole) {
      const data = event.split('\n').filter((line) => line.startsWith('data: '))
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(6)).join('\n'))
    }
  }
}
