import type { Context } from 'hono'
import type * as z from 'zod'
import type { SidejobError } from '../core/errors.ts'
import {
  alias,
  className,
  dir,
  done,
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

/**
 * Required access: a key with this scope, `any` key, `open` (no key), `signed` (by QStash), or `version` (signed by
 * another version of the deployment).
 */
export type Entry = Scope | 'any' | 'open' | 'signed' | 'version'

export const isSigned = ({ scope }: { scope: Entry }): boolean => scope === 'signed' || scope === 'version'

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
  deployment: label,
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

type Params<Path> = {
  [Name in ParamName<Path>]: Name extends keyof typeof pathParams ? z.output<(typeof pathParams)[Name]> : never
}

export type Answers = { [status: number]: z.ZodType }

type Inside<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

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

export const reply = <Status extends number, Body>(status: Status, body: Body, headers?: Record<string, string>) =>
  new Reply(status, body, headers)

export type Answer<A extends Answers> =
  | (200 extends keyof A ? z.output<A[200]> : never)
  | { [Status in keyof A & number]: Reply<Status, z.output<A[Status]>> }[keyof A & number]
  | Response

export type Facade = {
  failure: z.ZodType
  fail: (c: Context, error: SidejobError) => Response
  /** The body is JSON with any Content-Type. Without `json`, the facade reads the body itself. */
  json?: true
}

export type Asked<Path, Query, Body> = {
  engine: Engine
  deps: Deps
  params: Params<Path>
  query: Inside<Query>
  body: Inside<Body>
  /** Pass this to every verb that changes data, so that repeated requests are safe. */
  call: Call
  caller?: Caller
  /** A stream must call this when it ends. For other routes, the app does. */
  hangUp: () => void
  bytes: Uint8Array
  c: Context
  document: () => OpenApi
  guide: () => string
}

type Definition<
  Path extends string,
  Query extends z.ZodType | undefined,
  Body extends z.ZodType | undefined,
  A extends Answers,
> = {
  /** Hono's pattern, if it differs from `path`. */
  pattern?: string
  scope: Entry
  /** `?force=true` needs this scope instead. */
  forced?: Scope
  /** Imperative: `Create a job`. */
  summary: string
  description: string
  query?: Query
  body?: Body
  /** Without `answers`, the answer is an empty object. */
  answers?: A
  /** Descriptions that replace `OK` and `Created` in the OpenAPI document. */
  named?: Partial<Record<number, string>>
  media?: 'text/html' | 'text/event-stream' | 'text/plain' | 'application/octet-stream'
  facade?: Facade
  /** Accepts `If-Match`, and returns 412 if the resource has changed. */
  matches?: true
  repeated?: readonly string[]
  /** These query parameters have a name after a dot (`args.<name>`), and become maps. */
  mapped?: readonly string[]
  /** Callers with a key see more. */
  greets?: true
  /** For clients that cannot send headers, a token in the query gives access too. */
  byToken?: true
  /** A stream, or a call with `wait`. The number of open requests is limited. */
  listens?: true
  only?: 'clock' | 'downloads' | 'tenants'
  handle: (asked: Asked<Path, Query, Body>) => Promise<Answer<A>>
}

export type Route<
  M extends Method = Method,
  Path extends string = string,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  A extends Answers = Answers,
> = Definition<Path, Query, Body, A> & { method: M; path: Path; answers: A }

/** `handle` must be the last member of a route, because TypeScript infers its type from the members before it. */
export const route = <
  const M extends Method,
  const Path extends string,
  const A extends Answers = { 200: typeof done },
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  address: `${M} ${Path}`,
  definition: Definition<Path, Query, Body, A>,
): Route<M, Path, Query, Body, A> => {
  const [method, path] = address.split(' ') as [M, Path]
  return { method, path, answers: { 200: done } as Answers as A, ...definition }
}
