// What a route is: one entry of the table from which checks, scopes, OpenAPI, docs and the typed client come.

import type { Context } from 'hono'
import type * as z from 'zod'
import type { SidejobError } from '../core/errors.ts'
import {
  alias,
  className,
  dir,
  errorKind,
  fileFolder,
  fileName,
  label,
  lockToken,
  pathRef,
  portName,
  processName,
  queueName,
  runNumber,
  tenantName,
  wireName,
} from '../core/schemas.ts'
import type { Call, Scope } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Deps } from './deps.ts'
import type { OpenApi } from './openapi-types.ts'
import type { Caller } from './places.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who may come in: a key with this scope, with whatever scope (`any`), anyone (`open`), or QStash alone (`signed`). */
export type Entry = Scope | 'any' | 'open' | 'signed'

/** What each name in a path may be, the same in every route. */
export const pathParams = {
  job: pathRef,
  dir,
  port: portName,
  alias,
  channel: label,
  queue: queueName,
  class: className,
  token: lockToken,
  key: label,
  file: fileName,
  folder: fileFolder,
  component: label,
  command: label,
  process: processName,
  name: className,
  tenant: tenantName,
  id: label,
  wire: wireName,
  n: runNumber,
  kind: errorKind,
} satisfies Record<string, z.ZodType>

type ParamName<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamName<`/${More}`>
    : Rest
  : never

export type Params<Path> = {
  [Name in ParamName<Path>]: Name extends keyof typeof pathParams ? z.output<(typeof pathParams)[Name]> : never
}

export type Answers = { [status: number]: z.ZodType }

type Inside<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** An answer with another status than 200. */
export class Reply<Status extends number = number, Body = unknown> {
  readonly status: Status
  readonly body: Body
  readonly headers: Record<string, string>

  constructor(status: Status, body: Body, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** @example reply(202, { status: 'running' }) */
export const reply = <Status extends number, Body>(status: Status, body: Body, headers?: Record<string, string>) =>
  new Reply(status, body, headers)

/** What a handler may return: the body of a 200 as it is, a reply with another status, or a stream or page. */
export type Answer<A extends Answers> =
  | (200 extends keyof A ? z.output<A[200]> : never)
  | { [Status in keyof A & number]: Reply<Status, z.output<A[Status]>> }[keyof A & number]
  | Response

/** How another system shows errors. */
export type Facade = {
  failure: z.ZodType
  fail: (c: Context, error: SidejobError) => Response
  /** Bodies are JSON, whatever their Content-Type says; without this it reads them itself. */
  json?: true
}

export type Asked<Path, Query, Body> = {
  engine: Engine
  deps: Deps
  params: Params<Path>
  query: Inside<Query>
  body: Inside<Body>
  /** Makes asking twice safe: passed on to every verb that changes something. */
  call: Call
  /** The key that it came with; absent where none was needed. */
  caller?: Caller
  /** The body as it came. */
  bytes: Uint8Array
  c: Context
  /** The OpenAPI document of this very app. */
  document: () => OpenApi
  /** /llms.txt of this very app. */
  guide: () => string
}

export type Definition<
  M extends Method = Method,
  Path extends string = string,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  A extends Answers = Answers,
> = {
  method: M
  path: Path
  /** The router's pattern, where that is not the path itself. */
  pattern?: string
  scope: Entry
  /** The scope that `?force=true` asks for instead. */
  forced?: Scope
  /** What the route does, in the imperative: `Create a job`. */
  summary: string
  /** What the summary leaves out: dry runs, order, limits, what stays. */
  description?: string
  query?: Query
  body?: Body
  answers: A
  /** Descriptions of statuses, if the usual ones (`OK`, `Created`) say too little. */
  named?: Partial<Record<number, string>>
  /** The media type of an answer that is not data. */
  media?: 'text/html' | 'text/event-stream' | 'text/plain' | 'application/octet-stream'
  /** Set on routes that speak another system's words. */
  facade?: Facade
  /** Takes an `If-Match`: refused with 412 where what is changed is not what its caller has seen. */
  matches?: true
  /** What may stand in the query more than once: it comes as a list. */
  repeated?: readonly string[]
  /** What stands in the query as `args.<name>`, under this name: it comes as a map. */
  mapped?: 'args'
  /** Open to all, but a caller that sends a key is looked up, and sees more. */
  greets?: true
  /** Opened by a token in the query too, for whoever cannot send a header. */
  byToken?: true
  /** The part that an app must have been given for the route to exist. */
  only?: 'clock' | 'downloads' | 'tenants'
}

export type Route<
  M extends Method = Method,
  Path extends string = string,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  A extends Answers = Answers,
> = Definition<M, Path, Query, Body, A> & { handle: (asked: Asked<Path, Query, Body>) => Promise<Answer<A>> }

/**
 * Makes an entry of the table; what the handler gets and may answer follows from the definition.
 *
 * @example route({ method: 'GET', path: '/v1/jobs/:job', scope: 'read', summary: 'Get a job', answers: { 200: jobView } },
 *   ({ engine, params }) => engine.get(params.job))
 */
export const route = <
  const M extends Method,
  const Path extends string,
  const A extends Answers,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  definition: Definition<M, Path, Query, Body, A>,
  handle: (asked: Asked<Path, Query, Body>) => Promise<Answer<A>>,
): Route<M, Path, Query, Body, A> => ({ ...definition, handle })
