// Tests of this folder must not import from src.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, encode } from '@msgpack/msgpack'
import { afterAll, beforeAll, expect, vi } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
export const MSGPACK = 'application/vnd.msgpack'

// biome-ignore lint/suspicious/noExplicitAny: bodies are untyped.
export type Body = any

export type Answer = { status: number; body: Body; headers: Headers }

export type Asking = {
  key?: string | null
  headers?: Record<string, string>
  raw?: BodyInit
  signal?: AbortSignal
}

async function freePort(): Promise<number> {
  const listener = createListener()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  await new Promise((resolve) => listener.close(resolve))
  return port
}

async function start(env: Record<string, string> = {}) {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'sidejob-conformance-'))
  const server = spawn(process.execPath, ['infra/start.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      SIDEJOB_TEST_CLOCK: '1',
      SIDEJOB_API_KEY: 'dev',
      ...env,
      PORT: String(port),
      SIDEJOB_DIR: dir,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Stop the server when the process ends, because no test file knows whether it is the last.
  process.once('exit', () => {
    server.kill('SIGTERM')
    rmSync(dir, { recursive: true, force: true })
  })
  let said = ''
  const ended = new Promise((resolve) => server.once('close', resolve))
  await new Promise<void>((resolve, reject) => {
    server.once('close', () => reject(new Error(`it ended: ${said}`)))
    for (const output of [server.stdout, server.stderr])
      output.on('data', (chunk) => /^ready on/m.test((said += chunk)) && resolve())
  })
  return {
    url: `http://127.0.0.1:${port}`,
    said: () => said,
    async close() {
      server.kill('SIGTERM')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const bodyOf = (bytes: Uint8Array, type: string | null): Body => {
  if (bytes.length === 0) return undefined
  if (type?.includes('msgpack')) return decode(bytes, { useBigInt64: false })
  const text = new TextDecoder().decode(bytes)
  return type?.startsWith('application/json') ? JSON.parse(text) : text
}

const sent = (body: unknown, { raw, headers = {} }: Asking): BodyInit | undefined => {
  if (raw !== undefined) return raw
  if (body === undefined) return undefined
  return headers['content-type']?.includes('msgpack') ? (encode(body) as BodyInit) : JSON.stringify(body)
}

export type Stack = ReturnType<typeof useStack>

/** All files of a process share one stack, because its start takes longer than most files. */
let shared: ReturnType<typeof start> | undefined
let classes = 0

export function useStack(env?: Record<string, string>) {
  vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 })
  let running: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    running = await (env ? start(env) : (shared ??= start()))
  })
  afterAll(() => (env ? running?.close() : undefined))

  async function ask(address: string, body?: unknown, asking: Asking = {}): Promise<Answer> {
    const [method, path] = address.split(/ (.*)/s) as [string, string]
    const { key = 'dev', headers = {}, signal } = asking
    const response = await fetch(`${running.url}${path}`, {
      method,
      signal,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: sent(body, asking),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    return {
      status: response.status,
      headers: response.headers,
      body: bodyOf(bytes, response.headers.get('content-type')),
    }
  }

  async function done(address: string, body?: unknown, asking?: Asking): Promise<Body> {
    const answer = await ask(address, body, asking)
    if (answer.status > 299) throw new Error(`${address} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  return {
    get url() {
      return running.url
    },
    said: () => running.said(),
    ask,
    done,
    make: async (job: object): Promise<number> => (await done('POST /v1/jobs', job)).id,
    get: (job: number | string) => done(`GET /v1/jobs/${job}`),
    async pull(definition: object = {}): Promise<{ queue: string; class: string }> {
      const name = `c${++classes}`
      await done(`PUT /v1/workers/${name}/${name}`, { pull: true, retry: { max: 0 }, ...definition })
      return { queue: name, class: name }
    },
    async claim(queue: string, options: object = {}): Promise<Body> {
      const { status, body } = await ask(`POST /v1/queues/${queue}/claim`, options)
      if (status !== 200) throw new Error(`nothing to claim in ${queue}: ${status} ${JSON.stringify(body)}`)
      return body.runs[0]
    },
    commit: (token: string, changes: object) => ask(`POST /v1/runs/${token}/commit`, changes),
    async reaches(job: number | string, status: string): Promise<Body> {
      let found: Body
      await eventually(async () => {
        found = await done(`GET /v1/jobs/${job}`)
        expect(found.status).toBe(status)
      })
      return found
    },
    advance: (by: number | string) => done('POST /v1/test/clock', { advance: by }),
  }
}

export async function eventually<T>(fact: () => Promise<T> | T, ms = 10_000): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    try {
      return await fact()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

export type Call = { path: string; headers: Record<string, string>; bytes: Uint8Array; body: Body }

export function useServer(answer: (call: Call, response: ServerResponse) => unknown) {
  const calls: Call[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const headers = request.headers as Record<string, string>
    const call = { path: request.url!, headers, bytes, body: bodyOf(bytes, headers['content-type'] ?? null) }
    calls.push(call)
    const said = await answer(call, response)
    if (response.headersSent || response.writableEnded) return
    if (said === undefined) response.end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  let url = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return {
    calls,
    get url() {
      return url
    },
  }
}
