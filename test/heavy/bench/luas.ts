import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { startGateway } from '../../../infra/stand-ins/gateway.ts'
import { startRedis } from '../../../infra/stand-ins/redis.ts'
import { type Address, connect, text } from '../../../infra/stand-ins/resp.ts'
import { startStrict } from '../../../infra/stand-ins/strict/index.ts'

export const luas = ['server', 'strict', 'embedded'] as const
export type Lua = (typeof luas)[number]

const TOKEN = 'luas'

type Started = {
  address: Address
  pid: number
  describe: string
  /** Milliseconds of Lua without Redis commands. Only the stand-in for Upstash reports this time. */
  luaMs?: () => Promise<number>
  close: () => Promise<void>
}

async function startServer(): Promise<Started> {
  const server = await startRedis({ force: 'server', persist: false })
  const connection = await connect(server)
  const pid = Number(/process_id:(\d+)/.exec(text(await connection.call('INFO', 'server')))![1])
  await connection.close()
  return { address: server, pid, describe: server.describe, close: server.close }
}

/** Compiles each script once, although Upstash may compile a script for each call. */
async function startVendor(): Promise<Started> {
  const server = await startServer()
  const strict = await startStrict({ redis: server.address, plan: 'off', compileEach: false })
  const connection = await connect(strict.address)
  return {
    address: strict.address,
    pid: strict.pid,
    describe: "the vendor's Lua before a redis-server",
    luaMs: async () => JSON.parse(text(await connection.call('STRICT', 'COUNTS'))).luaMs as number,
    async close() {
      await connection.close()
      await strict.close()
      await server.close()
    },
  }
}

async function startEmbedded(): Promise<Started> {
  const child = spawn(process.execPath, [import.meta.filename], { stdio: ['pipe', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    address: { host: '127.0.0.1', port: Number(line) },
    pid: child.pid!,
    describe: 'the embedded Redis',
    async close() {
      child.stdin.end()
      await exited
    },
  }
}

const starts: Record<Lua, () => Promise<Started>> = {
  server: startServer,
  strict: startVendor,
  embedded: startEmbedded,
}

export async function startLua(lua: Lua) {
  const started = await starts[lua]()
  const gateway = await startGateway({ redis: started.address, token: TOKEN })
  return {
    options: { url: gateway.url, token: TOKEN },
    pid: started.pid,
    describe: started.describe,
    luaMs: started.luaMs,
    async close() {
      await gateway.close()
      await started.close()
    },
  }
}

export type Host = Awaited<ReturnType<typeof startLua>>

if (import.meta.main) {
  console.log((await startRedis({ force: 'embedded', persist: false })).port)
  process.stdin.resume().once('end', () => process.exit(0))
}
