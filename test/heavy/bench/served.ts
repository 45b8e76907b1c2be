import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examples } from '../../../examples/functions/index.ts'
import { workers } from '../../../functions/index.ts'
import { startLocalStack } from '../../../infra/stack.ts'
import { type Gateway, startGateway } from '../../../infra/stand-ins/gateway.ts'
import { development, type Qstash, startQstash } from '../../../infra/stand-ins/qstash.ts'
import type { Address } from '../../../infra/stand-ins/resp.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { deploymentOf } from '../../../src/environment.ts'
import { createApp } from '../../../src/http/app.ts'
import { verifier } from '../../../src/http/signature.ts'
import { countsOf } from '../../redis/commandstats.ts'

export const KEY = 'bench'

/** Added latency in milliseconds, typical for services in the same region. */
export const latency = { redis: 2, qstash: 50 } as const

export const ALL_DELIVERIES = 100_000

/** `warm`: time that an idle lane waits for work. `eager`: a lane starts within the request that creates a job. */
export type Lanes = { warm: string; eager: boolean }

const varsOf = ({ warm, eager }: Lanes) => ({
  SIDEJOB_LANE_WARM: warm,
  SIDEJOB_DISPATCH: eager ? 'eager' : 'bell',
  // The lines of the audit log would stand between the results.
  SIDEJOB_LOG: 'none',
})

function moveAway(gateway: Gateway, qstash: Qstash): void {
  gateway.faults.delay(latency.redis, { times: Number.POSITIVE_INFINITY })
  qstash.faults.late(latency.qstash, { times: ALL_DELIVERIES })
}

async function inWorkerd(redis: Address, { warm, eager }: Lanes) {
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-bench-'))
  const { url, gateway, qstash, worker, close } = await startLocalStack({
    dir,
    apiKey: KEY,
    redis: `redis://${redis.host}:${redis.port}`,
    persist: false,
    say: console.error,
    vars: varsOf({ warm, eager }),
    // Omits the wrapper that simulates the limits of a plan, because a deployment has no such wrapper.
    alone: true,
    plan: 'off',
  })
  return {
    url,
    workerd: worker.pid,
    moveAway: () => moveAway(gateway, qstash!),
    counts: () => countsOf(gateway, qstash!),
    async close() {
      await close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function inNode(redis: Address, lanes: Lanes) {
  const gateway = await startGateway({ redis, token: KEY })
  const qstash = await startQstash()
  let serve: (request: Request) => Promise<Response> | Response
  const server = createServer(async (request, response) => {
    const answer = await serve(await requestOf(request))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { engine, publicUrl, signingKeys } = deploymentOf({
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: KEY,
    QSTASH_URL: qstash.url,
    QSTASH_TOKEN: qstash.token,
    QSTASH_CURRENT_SIGNING_KEY: development.currentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: development.nextSigningKey,
    PUBLIC_URL: url,
    SIDEJOB_API_KEY: KEY,
    ...varsOf(lanes),
  })
  const verify = verifier({ ...signingKeys, now: Date.now })
  serve = createApp({
    engine: createEngine({ ...engine, workers: [...workers, ...examples] }),
    publicUrl,
    verify,
  }).fetch
  return {
    url,
    workerd: undefined,
    moveAway: () => moveAway(gateway, qstash),
    counts: () => countsOf(gateway, qstash),
    async close() {
      await qstash.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await gateway.close()
    },
  }
}

async function requestOf(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method = 'GET', headers, url } = request
  const body = method === 'GET' ? undefined : (Buffer.concat(chunks) as BodyInit)
  return new Request(`http://${headers.host}${url}`, { method, headers: headers as Record<string, string>, body })
}

export const startServed = (redis: Address, under: 'workerd' | 'node', lanes: Lanes) =>
  ({ workerd: inWorkerd, node: inNode })[under](redis, lanes)
