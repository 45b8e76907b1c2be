import { spawn } from 'node:child_process'
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from './embedded-redis.ts'
import { listen, portTaken } from './listen.ts'
import { inUse, readNote } from './note.ts'
import { type Address, type Connection, ConnectionLost, connect, RespError, text } from './resp.ts'
import { startStrict } from './strict/index.ts'

type RedisKind = 'url' | 'server' | 'strict' | 'embedded'

export type RunningRedis = Address & {
  kind: RedisKind
  describe: string
  close(): Promise<void>
}

type RedisOptions = {
  force?: string
  dir?: string
  persist?: boolean
  port?: number
  say?: (line: string) => void
  /** The server exited and is not restarted. */
  onExit?: (error: Error) => void
}

export async function startRedis({
  force = process.env.SIDEJOB_REDIS || process.env.REDIS_URL,
  dir = '.sidejob/redis',
  persist = true,
  port,
  say = () => {},
  onExit = () => {},
}: RedisOptions = {}): Promise<RunningRedis> {
  const binary = findServer()
  const choice = force ?? (binary ? 'server' : 'embedded')
  if (/^rediss?:\/\//.test(choice)) return useUrl(choice)
  if (choice === 'embedded') return useEmbedded(persist ? dir : undefined, port)
  if (choice !== 'server' && choice !== 'strict')
    throw new Error(`SIDEJOB_REDIS: expected embedded, server, strict or redis://host:port, got "${choice}"`)
  const options = { persist, dir: resolve(dir), say, onExit }
  if (binary && choice === 'strict') return strictly(await keepRunning(binary, options), port)
  if (binary) return keepRunning(binary, { ...options, port })
  throw new Error('neither redis-server nor valkey-server is on the PATH: install one, or set SIDEJOB_REDIS=embedded')
}

export function findServer(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return folders
    .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => join(folder, name)))
    .find(isExecutable)
}

async function useUrl(given: string): Promise<RunningRedis> {
  const address = parseUrl(given)
  const redis = await connect(address).catch((error) => {
    throw new Error(`${error.message}: start it, correct REDIS_URL, or unset it to use a Redis of this machine`)
  })
  await redis.close()
  const { host, port, db = 0 } = address
  return { ...address, kind: 'url', describe: `Redis at ${host}:${port}, database ${db}`, close: async () => {} }
}

function parseUrl(given: string): Address {
  const url = URL.parse(given)
  if (!url?.hostname) throw new Error('expected a Redis address like redis://user:password@host:6379/0')
  const db = Number(url.pathname.slice(1) || 0)
  if (!Number.isInteger(db))
    throw new Error(`expected a number as the database in a Redis address, got "${url.pathname.slice(1)}"`)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 6379),
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    db,
    tls: url.protocol === 'rediss:',
  }
}

async function useEmbedded(dir: string | undefined, port: number | undefined): Promise<RunningRedis> {
  const redis = await startEmbedded({ dir: dir && resolve(dir), port })
  const describe = dir
    ? `embedded Redis, data in ${resolve(dir)}`
    : 'embedded Redis, data is discarded when this process ends'
  return { ...redis, kind: 'embedded', describe }
}

type Server = RunningRedis & { crashed: Promise<void> }
type KeepOptions = Required<Omit<RedisOptions, 'force' | 'port'>> & { port?: number }

const MIN_UPTIME_MS = 1_000

/** Restarts a server that crashes, with its data and port. */
async function keepRunning(binary: string, { persist, dir, port, say, onExit }: KeepOptions): Promise<RunningRedis> {
  let current = start(port)

  async function start(port?: number): Promise<Server> {
    const server = persist ? await startPersistent(binary, dir, port) : await startForgetful(binary, port)
    const startedAt = Date.now()
    const restart = () => {
      if (!persist) throw new Error('Redis exited unexpectedly. Its data was only in memory and is lost')
      if (Date.now() - startedAt < MIN_UPTIME_MS) throw new Error('Redis exited unexpectedly soon after its start')
      say('Redis exited unexpectedly. It is being restarted with its data.')
      current = start(server.port)
      return current
    }
    server.crashed.then(restart).catch(onExit)
    return server
  }

  return { ...(await current), close: async () => (await current.catch(() => undefined))?.close() }
}

async function strictly(server: RunningRedis, port?: number): Promise<RunningRedis> {
  const strict = await startStrict({ redis: server, port })
  return {
    ...strict.address,
    kind: 'strict',
    describe: `${server.describe}, behind the vendor's Lua and limits`,
    async close() {
      await strict.close()
      await server.close()
    },
  }
}

async function startForgetful(binary: string, port?: number): Promise<Server> {
  const server = await launch(binary, ['--dir', tmpdir(), '--appendonly', 'no'], port)
  return { ...server, describe: `${server.describe}, data is discarded when this process ends` }
}

async function startPersistent(binary: string, dir: string, port?: number): Promise<Server> {
  mkdirSync(dir, { recursive: true })
  await retire(dir)
  const server = await launch(binary, ['--dir', dir, '--appendonly', 'yes', '--appendfsync', 'everysec'], port)
  // While this process keeps this connection, other processes see that the server has an owner.
  const owner = await connect(server)
  await owner.call('CLIENT', 'SETNAME', `${OWNER}${process.pid}`)
  owner.unref()
  writeFileSync(noteOf(dir), JSON.stringify({ pid: server.pid, port: server.port }))
  return {
    ...server,
    describe: `${server.describe}, data in ${dir}`,
    async close() {
      await owner.close()
      await server.close()
      rmSync(noteOf(dir), { force: true })
    },
  }
}

const HOST = '127.0.0.1'
const OWNER = 'sidejob-owner-'
const ownerPattern = new RegExp(`name=${OWNER}(\\d+)`)
const noteOf = (dir: string) => join(dir, 'server.json')

/** Stops an earlier server without an owner, because two servers would destroy the data of a folder. */
async function retire(dir: string) {
  const note = readNote(noteOf(dir))
  const redis = note && (await connect({ host: HOST, port: note.port }, { timeout: 1_000 }).catch(() => undefined))
  if (!redis) return
  try {
    if ((await infoOf(redis)).pid !== note.pid) return
    const owner = await remainingOwner(redis)
    if (owner) throw inUse(dir, owner)
    const answer = await redis.call('SHUTDOWN').catch(() => undefined)
    if (answer instanceof RespError) {
      throw new Error(`the Redis of an earlier run (process ${note.pid}) does not stop: ${answer.message}`)
    }
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error
  } finally {
    await redis.close()
  }
}

async function remainingOwner(redis: Connection) {
  for (let wait = 20; ; wait--) {
    const owner = ownerPattern.exec(text(await redis.call('CLIENT', 'LIST')))?.[1]
    if (!owner || wait === 0) return owner
    await sleep(50)
  }
}

async function launch(binary: string, options: string[], wanted?: number) {
  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? (await freePort())
    const server = spawnServer(binary, ['--port', String(port), '--bind', HOST, '--save', '', ...options])
    const info = await ready(port, server)
    if (info) {
      const { pid, crashed, stop: close } = server
      const describe = `${info.version} on ${HOST}:${port}`
      return { kind: 'server' as const, host: HOST, port, pid, crashed, describe, close }
    }
    const taken = /address already in use/i.test(server.said())
    if (!taken) throw new Error(`${binary} does not start:\n${server.said().trim()}`)
    if (wanted || attempt === 3) throw portTaken('Redis', HOST, port)
  }
}

/** If this process ends, the pipe breaks, and the shell stops the server. Ctrl-C does not reach the shell. */
function spawnServer(binary: string, options: string[]) {
  const script = '(read answer <&3 || kill $$) & exec "$@" 3<&-'
  const child = spawn('/bin/sh', ['-c', script, 'sh', binary, ...options], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const pipe = child.stdio[3] as Socket
  let printed = ''
  for (const output of [child.stdout as Socket, child.stderr as Socket]) {
    output.on('data', (chunk) => (printed = (printed + chunk).slice(-4_000)))
    output.unref()
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve(void pipe.end('ended\n'))))
  let isStopping = false
  pipe.on('error', () => {})
  pipe.unref()
  child.unref()

  return {
    pid: child.pid!,
    said: () => printed,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    /** Resolves if the server exits before a call of `stop`. */
    crashed: new Promise<void>((resolve) => exited.then(() => isStopping || resolve())),
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const waited = new AbortController()
      const late = sleep(4_000, undefined, { signal: waited.signal }).then(
        // A kill loses no acknowledged data, because the operating system already has it.
        () => child.kill('SIGKILL'),
        () => {},
      )
      await exited
      waited.abort()
      await late
    },
  }
}

async function ready(port: number, server: ReturnType<typeof spawnServer>) {
  while (!server.hasExited()) {
    const redis = await connect({ host: HOST, port }, { timeout: 1_000 }).catch(() => undefined)
    const info = await redis
      ?.call('PING')
      .then((pong) => (pong instanceof RespError ? undefined : infoOf(redis)))
      .catch(() => undefined)
    await redis?.close()
    // If another server answers at the port, the new server will end soon.
    if (info?.pid === server.pid) return info
    await sleep(20)
  }
}

async function infoOf(redis: Connection) {
  const info = text(await redis.call('INFO', 'server'))
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const valkey = field('valkey_version')
  return {
    pid: Number(field('process_id')),
    version: valkey ? `valkey-server ${valkey}` : `redis-server ${field('redis_version')}`,
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listen(probe, 'Redis', HOST, 0)
  await new Promise((resolve) => probe.close(resolve))
  return port
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
