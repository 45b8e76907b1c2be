// The deployed entry: reads the environment, makes engine and app once, answers requests and the minute's tick.

import { WorkerEntrypoint } from 'cloudflare:workers'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Hono } from 'hono'
import { storing, workers } from '../functions/index.ts'
import type { Downloads } from './core/files.ts'
import { createEngine } from './engine/index.ts'
import { type Deployment, deploymentOf, type Environment } from './environment.ts'
import { downloaderPayload } from './facades/downloader/index.ts'
import { facades } from './facades/index.ts'
import { createFiles, type R2, r2Bucket } from './files.ts'
import { createApp } from './http/app.ts'
import { verifier } from './http/signature.ts'
import type { Settled } from './redis/changes.ts'
import type { Lent } from './redis/types.ts'

type Env = Environment & { FILES?: R2; SELF?: { run: (lent: Lent) => Promise<Settled | undefined> } }

type Served = { engine: ReturnType<typeof createEngine>; app: Hono }

type Context = { waitUntil: (work: Promise<unknown>) => void }

/** The invocation that is under way: it is kept alive for what outlasts its answer. */
const invocation = new AsyncLocalStorage<Context>()

// Milliseconds by which a test has moved the clock of this isolate.
let offset = 0

let isInTime = false

/** Moves our clock with that of the QStash stand-in, which outlives us and knows how far it has been moved. */
async function advance(env: Env, ms: number): Promise<void> {
  // Before it does: what it delivers at its new time must find us there.
  offset += ms
  const asked = { method: 'POST', body: JSON.stringify({ advance: ms }) }
  const answer = await fetch(`${env.QSTASH_URL}/test/clock`, asked)
  const { moved = offset } = answer.ok ? ((await answer.json()) as { moved: number }) : {}
  offset = moved
  isInTime = true
}

/** An isolate that is new finds the clock where a test has left it. */
const catchUp = async (env: Env) => env.SIDEJOB_TEST_CLOCK === '1' && !isInTime && advance(env, 0)

/** A deployment without a bucket has no downloads. */
function downloadsOf({ FILES }: Env, { downloads, fileSecret, publicUrl }: Deployment, now: () => number) {
  if (!FILES || !fileSecret) return undefined
  const files = createFiles({ bucket: r2Bucket(FILES), secret: fileSecret, publicUrl, now })
  return { ...downloads, files } satisfies Downloads
}

function make(env: Env): Served {
  const deployment = deploymentOf(env)
  const { engine: options, publicUrl, signingKeys, testClock, s3 } = deployment
  const now = () => Date.now() + offset
  const downloads = downloadsOf(env, deployment, now)
  const engine = createEngine({
    ...options,
    workers: downloads ? [...workers, ...storing({ ...downloads, s3, now })] : workers,
    payloads: downloads ? { downloader: downloaderPayload(downloads) } : {},
    clock: () => offset,
    defer: (work) => invocation.getStore()?.waitUntil(work),
    isolate: env.SELF && ((lent) => env.SELF!.run(lent)),
  })
  const app = createApp({
    engine,
    verify: verifier({ ...signingKeys, now }),
    publicUrl,
    facades,
    report: (error) => console.error(error),
    downloads,
    ...(testClock ? { clock: { advance: (ms: number) => advance(env, ms) } } : {}),
  })
  return { engine, app }
}

let served: Served | undefined
const serve = (env: Env): Served => (served ??= make(env))

/** One run in an invocation of its own, called through the service binding only. */
export class Isolate extends WorkerEntrypoint<Env> {
  run(lent: Lent): Promise<Settled | undefined> {
    return serve(this.env).engine.performAlone(lent)
  }
}

export default {
  fetch(request: Request, env: Env, context: Context) {
    const answer = invocation.run(context, async () => {
      await catchUp(env)
      return serve(env).app.fetch(request)
    })
    // Whose caller has gone ends there and then, unless something is waited for: what it was lent is to be given back.
    context.waitUntil(answer.catch(() => undefined))
    return answer
  },
  scheduled: (_event: unknown, env: Env, context: Context) =>
    context.waitUntil(catchUp(env).then(() => serve(env).engine.tick())),
}
