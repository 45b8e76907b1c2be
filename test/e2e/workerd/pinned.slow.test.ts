import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startGateway } from '../../../infra/stand-ins/gateway.ts'
import { development, startQstash } from '../../../infra/stand-ins/qstash.ts'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { createClient } from '../../../src/client/index.ts'
import { configOf } from '../../../src/dev/index.ts'
import { claimPort } from '../../../src/dev/ports.ts'
import { type RunningWorker, startWorker } from '../../../src/dev/worker.ts'
import { kind } from '../../kit/index.ts'
import { makeProject } from '../dev/project.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const root = new URL('../../..', import.meta.url).pathname
const KEY = 'key-of-a-test-with-two-versions'
const GATEWAY = 'token-of-a-test-with-two-versions'

const sourceOf = (version: string, step: string) => `
import { createWorker } from '${root}src/cloudflare/index.ts'
import { defineWorker } from '${root}src/index.ts'

const order = defineWorker({
  class: 'order',
  pin: true,
  in: { paid: {} },
  async perform(job) {
    const reserved = await job.step('reserve', () => '${version}')
    await job.waitFor('paid', { timeout: '14 days' })
    const shipped = await job.step('${step}', () => '${version}')
    return { reserved, shipped }
  },
})

export default createWorker({ functions: [order] })
`

const project = makeProject()
const parts: (() => unknown)[] = []
const versions: Record<string, RunningWorker> = {}
let redis: Awaited<ReturnType<typeof startRedis>>
let vars: Record<string, string>
let serving = ''
let url: string

async function startDoor(): Promise<string> {
  const door = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, headers } = request
    const { host: _, connection: __, ...sent } = headers as Record<string, string>
    const body = method === 'GET' ? undefined : Buffer.concat(chunks)
    const answer = await fetch(`${serving}${request.url}`, { method, headers: sent, body }).catch(() => undefined)
    response.writeHead(answer?.status ?? 502, { 'content-type': answer?.headers.get('content-type') ?? 'text/plain' })
    response.end(answer ? Buffer.from(await answer.arrayBuffer()) : '')
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  parts.push(() => {
    door.closeAllConnections()
    door.close()
  })
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}`
}

async function deploy(version: string, step: string): Promise<void> {
  project.write('src/index.ts', sourceOf(version, step))
  const port = await claimPort(0, { setting: 'PORT' })
  const address = `http://127.0.0.1:${port}`
  const own = { SIDEJOB_VERSION: version, SIDEJOB_VERSION_URL: address }
  const worker = await startWorker({
    port,
    dir: join(project.dir, version),
    config: configOf(project.dir),
    vars: { ...vars, ...own },
    say: () => undefined,
    onExit: () => undefined,
  })
  versions[version] = worker
  parts.unshift(worker.close)
  await worker.ready
  serving = address
  await expect.poll(async () => (await fetch(`${address}/health`)).status, { timeout: 20_000 }).toBe(200)
}

const client = () => createClient({ url, key: KEY })

beforeAll(async () => {
  redis = await startRedis({ force: kind, persist: false })
  const gateway = await startGateway({ redis, token: GATEWAY })
  const qstash = await startQstash({ token: 'qstash-of-this-test' })
  parts.push(qstash.close, gateway.close, redis.close)
  url = await startDoor()
  vars = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: GATEWAY,
    QSTASH_URL: qstash.url,
    QSTASH_TOKEN: qstash.token,
    QSTASH_CURRENT_SIGNING_KEY: development.currentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: development.nextSigningKey,
    PUBLIC_URL: url,
    SIDEJOB_API_KEY: KEY,
    SIDEJOB_ALLOW_HOSTS: '127.0.0.1',
    // An idle lane of v1 would claim new jobs for some seconds after the deploy of v2.
    SIDEJOB_LANE_WARM: '0s',
  }
})
afterAll(async () => {
  for (const close of parts) await close()
  project.remove()
})

const begin = async (): Promise<number> => {
  const { id } = await client().jobs.enqueue({ class: 'order', keepResult: '1h' } as never)
  await expect.poll(async () => (await client().jobs.get(id)).status, { timeout: 20_000 }).toBe('queued')
  await expect.poll(async () => (await client().jobs.get(id)).pinnedTo, { timeout: 20_000 }).not.toBeNull()
  return id
}

const ends = async (id: number) => {
  await expect.poll(async () => (await client().jobs.get(id)).status, { timeout: 20_000 }).toBe('completed')
  const { result } = (await client().jobs.result(id)) as { result: unknown }
  return { result, version: (await client().jobs.get(id)).version }
}

test('a job that waits on v1 ends on v1 while v2 serves new jobs, and can be moved when v1 is gone', async () => {
  await deploy('v1', 'ship')
  const [first, second] = [await begin(), await begin()]
  await deploy('v2', 'send')
  const third = await begin()
  for (const id of [first, third]) await client().ports.write(id, 'in', 'paid', { value: true })
  expect(await ends(first)).toEqual({ result: { reserved: 'v1', shipped: 'v1' }, version: 'v1' })
  expect(await ends(third)).toEqual({ result: { reserved: 'v2', shipped: 'v2' }, version: 'v2' })

  await versions.v1!.close()
  await client().ports.write(second, 'in', 'paid', { value: true })
  const reason = async () => (await client().jobs.why(second)).reasons[0]
  await expect.poll(async () => (await reason())?.code, { timeout: 20_000 }).toBe('VERSION')
  expect((await reason())!.message).toMatch(
    /^version v1 at http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*: deploy it again, or rehearse the new code and run: sidejob move \d+ --to <version>/,
  )
  const move = { action: 'move', to: 'v2', filter: { class: 'order' } } as const
  expect(await client().bulk.start(move, { query: { preview: true } })).toMatchObject({ fits: 1 })
  await client().bulk.start(move)
  expect(await ends(second)).toEqual({ result: { reserved: 'v1', shipped: 'v2' }, version: 'v2' })
})
