// Repairs details in which js-redis-server differs from Redis.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type * as Core from 'js-redis-server/core'
import type { CommandExecutor, RedisLuaRuntime, RedisServerState, RedisValue } from 'js-redis-server/core'

const require = createRequire(import.meta.url)

// In a WebAssembly file, these bytes set the size of the memory. Unused memory costs nothing.
const MIB_64 = Buffer.from([5, 6, 1, 1, 0x80, 8, 0x80, 8])
const MIB_512 = Buffer.from([5, 6, 1, 1, 0x80, 64, 0x80, 64])

/** The package gives Lua 64 MiB, but scripts that read a page of large jobs need more. */
function readWasm(): Buffer {
  const lua = createRequire(require.resolve('js-redis-server/core')).resolve('lua-redis-wasm')
  const wasm = readFileSync(join(dirname(lua), 'redis_lua.wasm'))
  const at = wasm.indexOf(MIB_64)
  if (at >= 0) wasm.set(MIB_512, at)
  return wasm
}

type Inner = {
  engine: {
    exports: { HEAPU8: Uint8Array }
    evalWithArgs(script: string, keys: string[], args: (string | Buffer)[]): unknown
  }
}

/** Bytes. Shorter scripts are not cached: they compile fast, and their text may differ from call to call. */
const LONG = 1_000

/** Offset of the flag `readonly` in the record of a Lua table. */
const READ_ONLY = 8

/**
 * Caches compiled functions in Lua's table `string`, because compiling a script takes up to 10 ms. This table is
 * writable only while the cache is created.
 */
function keepFunctions(runtime: RedisLuaRuntime): void {
  const { engine } = runtime as unknown as Inner
  const ask = (script: string, ...args: (string | Buffer)[]) => String(engine.evalWithArgs(script, [], args))
  const flag = Number(ask('return tostring(string)').slice('table: '.length)) + READ_ONLY
  const memory = engine.exports.HEAPU8
  if (memory[flag] !== 1) return
  memory[flag] = 0
  ask('string.kept = {}')
  memory[flag] = 1

  const evaluate = runtime.eval.bind(runtime)
  const kept = new Set<string>()
  runtime.eval = (script, ...call) => {
    if (script.length < LONG) return evaluate(script, ...call)
    const sha = hash('sha1', script)
    const keep = "string.kept[ARGV[1]] = loadstring(ARGV[2], '@user_script') return string.kept[ARGV[1]] and 'kept'"
    if (!kept.has(sha) && ask(keep, sha, script) === 'kept') kept.add(sha)
    if (!kept.has(sha)) return evaluate(script, ...call)
    const reply = evaluate(Buffer.from(`return string.kept['${sha}']()`), ...call)
    if (reply && typeof reply === 'object' && 'meta' in reply && reply.meta) reply.meta.sha = sha
    return reply
  }
}

type Mutation = { value?: unknown }
type Keyspace = {
  get(key: Buffer): unknown
  getLiveEntry(key: Buffer): { value: unknown } | null
  mutations: { emit(mutation: Mutation): void }
}

const NO_VALUE = { type: 'string', value: Buffer.alloc(0) }

/** The package copies the whole value of a key at each read and write: 5 ms in a queue of 10,000 jobs. */
function shareValues({ databases }: RedisServerState): void {
  for (const { keyspace } of databases as unknown as { keyspace: Keyspace }[]) {
    keyspace.get = (key) => keyspace.getLiveEntry(key)?.value ?? null
    const { mutations } = keyspace
    const emit = mutations.emit.bind(mutations)
    mutations.emit = (mutation) => emit('value' in mutation ? { ...mutation, value: NO_VALUE } : mutation)
  }
}

/** Maximum instructions of one script. Checks of large jobs need more than the default. */
const MAX_FUEL = 2_000_000_000

/** After a script exceeds the memory, all later scripts in the same Lua fail, so the next script starts a new Lua. */
export function createState(core: typeof Core): RedisServerState {
  core.setLuaWasmLoadOptions({ wasmBytes: readWasm(), limits: { maxFuel: MAX_FUEL } })
  const state = new core.RedisServerState({ databaseCount: 16 })
  shareValues(state)
  let lua: ReturnType<typeof start> | undefined
  async function start() {
    const runtime = await core.createRedisLuaRuntime(state.profile)
    keepFunctions(runtime)
    const evaluate = runtime.eval.bind(runtime)
    runtime.eval = (...args) => {
      try {
        return evaluate(...args)
      } catch (cause) {
        lua = undefined
        throw new Error('a script needs more than the 512 MiB of the embedded Redis: install redis-server', { cause })
      }
    }
    return runtime
  }
  state.getLuaRuntime = () => (lua ??= start())
  return state
}

type Scan = { cursor: bigint; count?: number; noValues?: boolean }
type Bulk = RedisValue & { value: Buffer }
type Page = { value: RedisValue & { items: [cursor: Bulk, RedisValue & { items: Bulk[] }] } }

/** If keys are deleted between two pages of a scan, js-redis-server skips other keys: its cursor is a position. */
export function createExecutor(core: typeof Core): CommandExecutor {
  const registry = core.createRedisCommandRegistry()
  for (const name of ['scan', 'sscan', 'hscan', 'zscan']) {
    const scan = registry.get(name)!
    const execute: typeof scan.execute = (args, context) => {
      const { cursor, count = 10, noValues } = args as Scan
      const all = { ...(args as Scan), cursor: 0n, count: Number.MAX_SAFE_INTEGER }
      const { items } = (scan.execute(all, context) as Page).value.items[1]
      const step = name === 'zscan' || (name === 'hscan' && !noValues) ? 2 : 1
      const hashes = Array.from({ length: items.length / step }, (_, i) => ({
        hash: crc32(items[i * step]!.value),
        at: i * step,
      }))
      const rest = hashes.filter(({ hash }) => hash >= cursor).sort((a, b) => a.hash - b.hash)
      const end = rest.findIndex(({ hash }, i) => i >= count && hash !== rest[i - 1]!.hash)
      const page = end < 0 ? rest : rest.slice(0, end)
      const { array, bulkString } = core.RedisValue
      const next = bulkString(Buffer.from(String(rest[end]?.hash ?? 0)))
      return core.RedisResult.create(array([next, array(page.flatMap(({ at }) => items.slice(at, at + step)))]))
    }
    registry.override({ ...scan, execute })
  }
  return Object.assign(core.createRedisCommandExecutor(), { registry })
}
