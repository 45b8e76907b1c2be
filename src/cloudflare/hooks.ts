import type { CallOptions, Client, JobInput } from '../client/index.ts'
import { readUpTo } from '../core/bytes.ts'
import { type Code, errorBody, SidejobError } from '../core/errors.ts'
import { checkSignature, type Dialect } from '../core/hook-signature.ts'
import { HOOK_PREFIX } from '../core/idempotency.ts'

export type HookEvent = {
  /** All deliveries of an event have the same id. For GitHub, this is the SHA-256 of the body. */
  id: string
  /** Type of the event, such as `payment_intent.succeeded` or `push`. Absent if the service sends none. */
  type?: string
  body: unknown
  headers: Headers
}

export type HookWrite = { job: number | string; port: string; value: unknown }

export type Hook<E = unknown> = {
  signed: Dialect
  /** Name of the variable with the secret. During a rotation, the variable has two secrets, separated by a comma. */
  secret: string
  /** Return nothing to ignore the event. */
  to: (event: HookEvent, env: E) => JobInput | HookWrite | undefined | Promise<JobInput | HookWrite | undefined>
}

const LARGEST = 1_048_576
const path = /^\/hooks\/([^/]+)$/

export function hookAt<E>(
  hooks: Record<string, Hook<E>> | undefined,
  pathname: string,
): [name: string, hook: Hook<E>] | undefined {
  const name = path.exec(pathname)?.[1]
  return name !== undefined && hooks && Object.hasOwn(hooks, name) ? [name, hooks[name]!] : undefined
}

async function bodyOf(request: Request): Promise<Uint8Array> {
  const bytes = await readUpTo(request.body, LARGEST)
  if (!bytes) throw new SidejobError('TOO_LARGE', `the body: expected at most ${LARGEST} bytes`)
  return bytes
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new SidejobError('BAD_REQUEST', 'the body: expected JSON (application/json)')
  }
}

function secretsOf(name: string, { secret }: Hook, env: object): string[] {
  const value = (env as Record<string, unknown>)[secret]
  const secrets = typeof value === 'string' ? value.split(',').flatMap((one) => one.trim() || []) : []
  if (secrets.length > 0) return secrets
  throw new SidejobError(
    'MISCONFIGURED',
    `hook ${name}: expected the secret of the hook in the variable ${secret}, got none`,
  )
}

const isWrite = (wanted: object): wanted is HookWrite => 'port' in wanted && 'value' in wanted

async function done(client: Client, wanted: JobInput | HookWrite | undefined, options: CallOptions): Promise<object> {
  if (wanted === undefined) return { ignored: true }
  if (!isWrite(wanted)) return client.jobs.enqueue(wanted, options)
  const { job, port, value } = wanted
  const { size } = await client.ports.write(job, 'in', port, { value }, options)
  return { job, port, size }
}

type Served<E> = { name: string; hook: Hook<E>; client: Client; env: E & object; now: () => number }

async function received<E>(request: Request, { name, hook, client, env, now }: Served<E>): Promise<Response> {
  if (request.method !== 'POST')
    throw new SidejobError('WRONG_METHOD', `/hooks/${name} accepts POST, got ${request.method}`)
  const { headers } = request
  const secrets = secretsOf(name, hook as Hook, env)
  const signed = { headers, body: () => bodyOf(request), secrets, now: now() }
  const { id: named, bytes } = await checkSignature(hook.signed, signed)
  const body = parsed(bytes) as { id?: unknown; type?: unknown } | null
  const id = named ?? String(body?.id ?? '')
  if (id === '')
    throw new SidejobError('BAD_REQUEST', 'the event has no id, so repeated deliveries could not be recognized')
  const type = headers.get('x-github-event') ?? (typeof body?.type === 'string' ? body.type : undefined)
  const wanted = await hook.to({ id, type, body, headers }, env)
  const options = {
    idempotencyKey: `${HOOK_PREFIX}${name}:${id}`,
    traceparent: headers.get('traceparent') ?? undefined,
  }
  return Response.json(await done(client, wanted, options))
}

const refused = (code: string, message: string, status: number): Response =>
  Response.json(errorBody(new SidejobError(code as Code, message)), { status })

export function answerHook<E>(request: Request, served: Served<E>): Promise<Response> {
  return received(request, served).catch((error: Error & { code?: string; status?: number }) => {
    if (error instanceof SidejobError || error.name === 'ApiError')
      return refused(error.code!, error.message, error.status!)
    console.error(error)
    return refused('INTERNAL', `hook ${served.name} has failed: see the log of this Worker`, 500)
  })
}
