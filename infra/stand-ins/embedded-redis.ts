// Runs Redis in this process. Saves the data to a file at most once a second, and at the end.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { KeyspaceEntry, RedisDatabase, RedisServerState } from 'js-redis-server/core'
import { createExecutor, createState } from './embedded-repairs.ts'
import { listen } from './listen.ts'
import { inUse, readNote } from './note.ts'
import { connect } from './resp.ts'

const HOST = '127.0.0.1'

type EmbeddedOptions = {
  dir?: string
  port?: number
}

/** Opens the port itself, because js-redis-server would accept connections from the whole network. */
export async function startEmbedded({ dir, port = 0 }: EmbeddedOptions) {
  const core = await import('js-redis-server/core').catch((cause) => {
    throw new Error('The embedded Redis needs js-redis-server, which is not installed: run npm install', { cause })
  })
  const state = createState(core)
  if (dir) await takeOver(dir)
  const snapshots = dir ? keepSnapshots(state, join(dir, 'embedded.snapshot')) : undefined
  const executor = createExecutor(core)
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    core.attachSession(new core.SocketConnectionTransport(socket), { state, executor })
  })
  const address = { host: HOST, port: await listen(server, 'Redis', HOST, port) }
  if (dir) writeFileSync(noteOf(dir), JSON.stringify({ pid: process.pid, port: address.port }))

  return {
    ...address,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
      await snapshots?.close()
      state.close()
      if (dir) rmSync(noteOf(dir), { force: true })
    },
  }
}

const noteOf = (dir: string) => join(dir, 'embedded.json')

/** Refuses a folder that another process uses, because both would overwrite each other's data. */
async function takeOver(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true })
  const note = readNote(noteOf(dir))
  if (!note || !isAlive(note.pid)) return
  // Try for a while, because a process that is ending still accepts connections.
  for (let left = 20; ; left--) {
    const other = await connect({ host: HOST, port: note.port }, { timeout: 1_000 }).catch(() => undefined)
    if (!other) return
    await other.close()
    if (left === 0) throw inUse(dir, note.pid)
    await sleep(50)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

type Snapshot = { version: 1; databases: { id: number; entries: KeyspaceEntry[] }[] }

const INTERVAL_MS = 1_000
/** Saving blocks this process, so the process saves for at most 1/SHARE of the time. */
const SHARE = 20

function keepSnapshots(state: RedisServerState, file: string) {
  load(state.databases, file)
  let isChanged = false
  let timer: NodeJS.Timeout | undefined
  let pause = INTERVAL_MS
  let saving = Promise.resolve()

  for (const database of state.databases)
    database.subscribe(() => {
      isChanged = true
      timer ??= setTimeout(later, pause).unref()
    })

  function later() {
    timer = undefined
    saving = saving
      .then(save)
      .catch((error: Error) => console.error(`sidejob: Redis could not be saved: ${error.message}`))
  }

  async function save(): Promise<void> {
    if (!isChanged) return
    // A running script has made only some of its changes, so wait until all scripts have ended.
    const turns = await Promise.all(state.databases.map((database) => database.turnQueue.waitTurn()))
    isChanged = false
    const began = performance.now()
    try {
      write(file, serialize(snapshotOf(state.databases)))
    } finally {
      for (const turn of turns) turn.release()
    }
    pause = Math.max(INTERVAL_MS, SHARE * (performance.now() - began))
  }

  return {
    async close(): Promise<void> {
      clearTimeout(timer)
      await saving
      await save()
    },
  }
}

const snapshotOf = (databases: RedisDatabase[]): Snapshot => ({
  version: 1,
  databases: databases.flatMap((database) =>
    database.size() > 0 ? [{ id: database.id, entries: database.entriesSnapshot() }] : [],
  ),
})

function load(databases: RedisDatabase[], file: string): void {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  for (const { id, entries } of read(bytes, file).databases)
    for (const { key, value, expiresAt } of entries)
      databases[id]!.set(key, value, expiresAt === undefined ? {} : { expiresAt })
}

function read(bytes: Buffer, file: string): Snapshot {
  try {
    const snapshot = deserialize(bytes) as Snapshot
    if (snapshot.version === 1) return snapshot
  } catch {}
  throw new Error(`Cannot read the snapshot ${file}: delete it to start with an empty Redis`)
}

function write(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.next`, bytes, { mode: 0o600 })
  renameSync(`${file}.next`, file)
}
