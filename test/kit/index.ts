// A complete sidejob in one process, with a real Redis and a clock that tests can move.

import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { startGateway } from '../../infra/stand-ins/gateway.ts'
import { startQstash } from '../../infra/stand-ins/qstash.ts'
import { findServer, startRedis } from '../../infra/stand-ins/redis.ts'
import type { Worker } from '../../src/core/worker.ts'
import { createEngine, type EngineOptions } from '../../src/engine/index.ts'
import type { LaneOptions } from '../../src/engine/lane/lane-options.ts'
import { createClient } from '../../src/redis/client.ts'
import { createStore } from '../../src/redis/store.ts'
import { countsOf } from '../redis/commandstats.ts'
import { borrowServer } from './servers.ts'
import { withoutHttp } from './without-http.ts'

export const kind: 'server' | 'strict' | 'embedded' =
  process.env.SIDEJOB_REDIS === 'embedded' || !findServer()
    ? 'embedded'
    : process.env.SIDEJOB_REDIS === 'strict'
      ? 'strict'
      : 'server'

export type KitOptions = Partial<EngineOptions> & {
  workers?: Worker[]
  lane?: LaneOptions
  hold?: boolean
  on?: typeof kind
}

const TOKEN = 'test'

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export async function startState(on = kind) {
  const redis = on === 'server' ? await borrowServer() : await startRedis({ force: on, persist: false })
  const gateway = await startGateway({ redis, token: TOKEN })
  const options = { url: gateway.url, token: TOKEN }
  return {
    redis,
    gateway,
    options,
    direct: withoutHttp(redis, options),
    /** Deletes all data. Scripts stay loaded. */
    clear: () => rawCommand(redis.port, 'FLUSHALL'),
    async close() {
      await gateway.close()
      await redis.close()
    },
  }
}

export async function rawCommand(port: number, ...words: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`*${words.length}\r\n${words.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join('')}`)
  const chunk = await new Promise<Buffer>((resolve, reject) => socket.once('data', resolve).once('error', reject))
  socket.destroy()
  return chunk.toString()
}

/** With `hold`, no bell starts a lane, so the test decides when jobs run. */
export async function startKit({ hold = false, on = kind, ...options }: KitOptions = {}) {
  const state = await startState(on)
  let offset = 0
  const clock = () => offset
  const qstash = await startQstash({ now: () => Date.now() + offset })
  const running = new Set<Promise<unknown>>()
  const receiver = createServer(async (request, response) => {
    const [, route, queue = ''] = request.url!.split('/')
    const body = await bodyOf(request)
    const work =
      route === 'tick'
        ? engine.tick()
        : hold
          ? Promise.resolve()
          : engine.dispatch(decodeURIComponent(queue), JSON.parse(body).bell)
    running.add(work)
    const failed = await work.then(
      () => false,
      () => true,
    )
    running.delete(work)
    response.writeHead(failed ? 500 : 200).end()
  })
  const port = await listen(receiver)
  const engineOptions: EngineOptions = {
    redis: state.options,
    qstash: { url: qstash.url, token: qstash.token, publicUrl: `http://127.0.0.1:${port}` },
    allowHosts: ['127.0.0.1'],
    webhookSecrets: ['whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM='],
    apiKey: 'dev',
    clock,
    // No retries, because most tests check the effects of a failure.
    retry: { max: 0 },
    ...options,
  }
  const engine = createEngine(engineOptions)
  const store = createStore({ client: createClient(state.options), clock })

  async function until(fact: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
    const end = Date.now() + ms
    while (!(await fact())) {
      if (Date.now() > end) throw new Error(`not true after ${ms} ms: ${fact}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  const statusOf = async (id: number) => (await engine.jobs.get(String(id))).status
  const atRest = new Set(['suspended', 'completed', 'failed', 'terminated'])

  return {
    ...state,
    engine,
    engineOptions,
    store,
    qstash,
    until,
    counts: () => countsOf(state.gateway, qstash),
    statusOf,
    rest: (id: number, status?: string, within?: number) =>
      until(async () => {
        const is = await statusOf(id)
        return status ? is === status : atRest.has(is)
      }, within),
    now: () => Date.now() + offset,
    advance: async (ms: number) => {
      offset += ms
      await qstash.advance(0)
    },
    async make(className: string, input: object = {}) {
      const { jobs } = await engine.jobs.enqueue([{ queue: 'default', class: className, ...input } as never])
      return jobs[0]!.id
    },
    async close() {
      const faults = await engine.doctor.verify()
      await qstash.close()
      // Idle lanes wait for new jobs until their subscriptions end.
      if (running.size > 0) await rawCommand(state.redis.port, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
      await Promise.allSettled(running)
      const closed = new Promise((resolve) => receiver.close(resolve))
      receiver.closeAllConnections()
      await closed
      await state.close()
      if (faults.length) throw new Error(`left behind: ${JSON.stringify(faults)}`)
    },
  }
}

export type Kit = Awaited<ReturnType<typeof startKit>>
