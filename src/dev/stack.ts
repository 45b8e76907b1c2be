import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from '../../infra/stand-ins/gateway.ts'
import { type PlanName, planOf, plans } from '../../infra/stand-ins/plan.ts'
import { development, startQstash } from '../../infra/stand-ins/qstash.ts'
import { type RunningRedis, startRedis } from '../../infra/stand-ins/redis.ts'
import { createClient } from '../client/index.ts'
import { mountOf } from '../deploy/mount.ts'
import { askForTick, EVERY_MINUTE, scheduleTick } from '../deploy/tick.ts'
import { LAST_ATTEMPT } from '../engine/jobs/outcome.ts'
import { loginLink } from './login-link.ts'
import { claimPort } from './ports.ts'
import { type HostOptions, type RunningJob, startWorker } from './worker.ts'

export type StackOptions = Omit<HostOptions, 'port' | 'vars' | 'inspectorPort'> & {
  port?: number
  portFrom?: string
  apiKey?: string
  webhookSecret?: string
  redis?: string
  persist?: boolean
  qstash?: { url: string } & Partial<Keys>
  vars?: Record<string, string | undefined>
  plan?: PlanName
  /** CPU milliseconds after which a run counts as an endless loop (default: the limit of the plan). */
  loopAfter?: number
  say?: (line: string) => void
  onReload?: (ms: number) => void
  onLoop?: () => void
  signal?: AbortSignal
}

type Keys = { token: string; currentSigningKey: string; nextSigningKey: string }

export type Stack = Awaited<ReturnType<typeof startStack>>

export type StackNote = {
  url: string
  apiKey: string
  pid: number
  redis: Pick<RunningRedis, 'kind' | 'host' | 'port' | 'username' | 'password' | 'db'>
  gateway: { url: string; token: string }
  qstash: { url: string; token: string }
}

export const noteOf = (dir: string) => join(resolve(dir), 'stack.json')

const LOCAL_SECRET = `whsec_${btoa('the local webhook secret')}`

/** QStash stops before the Worker, because a failed delivery would count as an attempt. */
const order = ['note', 'qstash', 'worker', 'gateway', 'redis'] as const
type Part = (typeof order)[number]
type Close = () => unknown

/** If the stack is closed while it starts, later parts are closed immediately. */
function createRunning() {
  const parts = new Map<Part, Close>()
  let isClosed = false
  return {
    async add(part: Part, close: Close | undefined): Promise<void> {
      if (!close) return
      if (isClosed) await close()
      else parts.set(part, close)
    },
    async close(): Promise<void> {
      isClosed = true
      for (const part of order) {
        const close = parts.get(part)
        parts.delete(part)
        await close?.()
      }
    },
  }
}

type Running = ReturnType<typeof createRunning>

export async function startStack(options: StackOptions) {
  const running = createRunning()
  try {
    options.signal?.throwIfAborted()
    return await Promise.race([started(options, running), aborted(options.signal)])
  } catch (error) {
    await running.close()
    throw error
  }
}

const aborted = (signal?: AbortSignal) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))

async function started(options: StackOptions, running: Running) {
  const { persist, webhookSecret = LOCAL_SECRET } = options
  const folder = resolve(options.dir)
  makePrivate(folder)
  const apiKey = options.apiKey ?? secretIn(folder, 'api-key', () => `dev_${randomBytes(24).toString('hex')}`, persist)
  const filesSecret = secretIn(folder, 'files-secret', () => randomUUID() + randomUUID(), persist)
  const origin = `http://127.0.0.1:${await claimPort(options.port ?? 0, { setting: options.portFrom ?? 'PORT' })}`
  const exited = Promise.withResolvers<never>()
  exited.promise.catch(() => {})
  const services = await startServices(options, folder, running, exited.reject)
  const { redis, gateway, qstash, standIn } = services
  const tick: { at?: Ticking } = {}
  let url = origin
  const vars = varsOf({ ...services, origin, apiKey, webhookSecret, filesSecret }, options.vars)
  const worker = await startWorker({
    ...hostOf(options),
    port: Number(new URL(origin).port),
    dir: join(folder, 'worker'),
    ...(persist === false ? {} : { state: options.state ?? join(folder, 'state') }),
    vars,
    onReload(ms) {
      options.onReload?.(ms)
      // The tick finds work that the replaced build left unfinished, and registers new classes.
      if (tick.at) void askForTick(tick.at).catch(() => undefined)
    },
    async onLost(runs) {
      // Otherwise the jobs would wait for the end of their leases.
      const client = createClient({ url, key: apiKey })
      for (const { token } of runs) await client.runs.release(token).catch(() => undefined)
    },
    async onLoop(jobs, seconds) {
      await failLooping({ url, apiKey, jobs, seconds, say: options.say }).catch(() => undefined)
      options.onLoop?.()
    },
    onExit: exited.reject,
  })
  await running.add('worker', worker.close)
  await Promise.race([worker.ready, exited.promise])
  options.signal?.throwIfAborted()
  url = `${origin}${await mountOf(origin)}`
  await Promise.race([healthy(url), exited.promise])
  const ticking = { url: qstash.url, token: qstash.token, publicUrl: url }
  tick.at = ticking
  await scheduleTick(ticking, 'local', EVERY_MINUTE)
  await askForTick(ticking)
  const note = noteFor(url, apiKey, services)
  await running.add('note', keepNote(folder, note, options.say))

  return {
    url,
    apiKey,
    webhookSecret,
    redis,
    gateway,
    note,
    worker,
    qstash: standIn,
    login: () => loginLink({ url, key: apiKey }).catch(() => undefined),
    tick: () => askForTick(ticking),
    gone: exited.promise,
    close: running.close,
  }
}

const WATCH_MS = 1_000

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
}

/** Stores the secret, so that files, tokens and keys stay valid after a restart. */
function secretIn(folder: string, name: string, create: () => string, persist = true): string {
  const path = join(folder, name)
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  const secret = create()
  if (persist) writeFileSync(path, secret, { mode: 0o600 })
  return secret
}

function keepNote(folder: string, note: StackNote, say: StackOptions['say'] = () => {}): Close {
  const path = noteOf(folder)
  const write = () => writeFileSync(path, JSON.stringify(note), { mode: 0o600 })
  write()
  const watching = setInterval(() => {
    if (existsSync(path)) return
    makePrivate(folder)
    write()
    say(`${folder} was deleted. Its data is in memory until this process ends, and lost afterwards.`)
  }, WATCH_MS).unref()
  return () => {
    clearInterval(watching)
    rmSync(path, { force: true })
  }
}

type Looping = { url: string; apiKey: string; jobs: RunningJob[]; seconds: number; say: StackOptions['say'] }

const SHOWN = 5

const nameOf = ({ class: name, job, place }: RunningJob): string => `${name} #${job}${place ? ` (${place})` : ''}`

/**
 * If only one run was in progress, fails its job. If several runs were in progress, any run may loop, so their jobs are
 * claimed again one at a time.
 */
async function failLooping({ url, apiKey, jobs, seconds, say = () => {} }: Looping): Promise<void> {
  const [job] = jobs
  if (!job) return
  if (jobs.length > 1) {
    const [some, more] = [jobs.slice(0, SHOWN).map(nameOf).join(', '), jobs.length - SHOWN]
    return say(`One of these runs loops: ${some}${more > 0 ? ` and ${more} more` : ''}`)
  }
  await healthy(url)
  const message = `The code of this run loops: it used ${seconds} s of CPU without an answer${job.place ? ` (class at ${job.place})` : ''}`
  const failed = { end: 'failed', n: LAST_ATTEMPT, error: { message, retry: false } } as const
  await createClient({ url, key: apiKey }).runs.commit(job.token, failed)
  say(`✗ ${nameOf(job)} failed and is not retried: its code loops`)
}

type Ticking = Parameters<typeof askForTick>[0]
type Services = Awaited<ReturnType<typeof startServices>>

async function startServices(options: StackOptions, folder: string, running: Running, onExit: (error: Error) => void) {
  const { redis: force, persist = true, qstash: own, vars = {}, say } = options
  const redis = await startRedis({ force, persist, dir: join(folder, 'redis'), say, onExit })
  await running.add('redis', redis.close)
  const gateway = await startGateway({ redis, token: randomUUID() })
  await running.add('gateway', gateway.close)
  const standIn = own ? undefined : await standInFor({ folder, persist, vars })
  await running.add('qstash', standIn?.close)
  return {
    redis,
    gateway,
    standIn,
    qstash: { ...development, ...defined(own ?? { token: standIn!.token }), url: own?.url ?? standIn!.url },
  }
}

function hostOf({ plan = planOf(), bounds = {}, loopAfter, say = () => {}, ...options }: StackOptions) {
  const { config, entry, isWatching, alone } = options
  const { invocation, cpu, memory } = plans[plan].workers
  return {
    config,
    entry,
    isWatching,
    alone,
    say,
    cpu: loopAfter ?? cpu,
    memory,
    bounds: plan === 'off' ? undefined : { ...invocation, ...bounds },
  }
}

type Connections = Pick<Services, 'gateway' | 'qstash'> & {
  origin: string
  apiKey: string
  webhookSecret: string
  filesSecret: string
}

const varsOf = (
  { gateway, qstash, origin, apiKey, webhookSecret, filesSecret }: Connections,
  vars: StackOptions['vars'] = {},
) =>
  defined({
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    QSTASH_URL: qstash.url,
    QSTASH_TOKEN: qstash.token,
    QSTASH_CURRENT_SIGNING_KEY: qstash.currentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: qstash.nextSigningKey,
    PUBLIC_URL: origin,
    SIDEJOB_API_KEY: apiKey,
    SIDEJOB_WEBHOOK_SECRET: webhookSecret,
    SIDEJOB_ALLOW_HOSTS: '127.0.0.1,localhost',
    SIDEJOB_FILES_SECRET: filesSecret,
    ...defined(vars),
  })

function noteFor(url: string, apiKey: string, { redis, gateway, qstash }: Services): StackNote {
  const { kind, host, port, username, password, db } = redis
  return {
    url,
    apiKey,
    pid: process.pid,
    redis: { kind, host, port, username, password, db },
    gateway: { url: gateway.url, token: gateway.token },
    qstash: { url: qstash.url, token: qstash.token },
  }
}

type StandIn = { folder: string; persist: boolean; vars: NonNullable<StackOptions['vars']> }

function standInFor({ folder, persist, vars }: StandIn) {
  return startQstash({
    ...(persist ? { file: join(folder, 'qstash.jsonl') } : {}),
    control: vars.SIDEJOB_TEST_CLOCK === '1',
    // Random, because a website that knows the token can call the Worker.
    token: randomUUID(),
  })
}

/** Milliseconds until a request is repeated, because a starting server may never answer it. */
const SILENT = 5_000

async function healthy(url: string) {
  for (let left = 100; ; left--) {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(SILENT) }).catch((error: Error) => error)
    if (answer instanceof Response && answer.ok) return
    if (left === 0) {
      const why = answer instanceof Response ? await answer.text() : answer.message
      throw new Error(`the Worker did not become healthy: ${why}`)
    }
    await sleep(50)
  }
}

const defined = (vars: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(vars).filter((entry): entry is [string, string] => !!entry[1]))
