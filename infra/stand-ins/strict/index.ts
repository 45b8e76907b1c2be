// Starts a Go program that adds Upstash's Lua and limits to redis-server.

import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type PlanName, planOf, plans } from '../plan.ts'
import type { Address } from '../resp.ts'

const run = promisify(execFile)

/** Folder of Debian's package golang-github-yuin-gopher-lua-dev. */
const GOPATH = '/usr/share/gocode'
const cache = join(import.meta.dirname, '../../../node_modules/.cache/sidejob-strict')

export const canBuild = (): boolean =>
  existsSync(`${GOPATH}/src/github.com/yuin/gopher-lua`) && existsSync('/usr/bin/go')

export async function strictBinary(): Promise<string> {
  const sources = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.go'))
  const hash = createHash('sha1')
  for (const file of sources) hash.update(readFileSync(join(import.meta.dirname, file)))
  const binary = join(cache, `strict-${hash.digest('hex').slice(0, 12)}`)
  if (existsSync(binary)) return binary
  if (!canBuild())
    throw new Error(
      'the strict Redis needs golang-go and golang-github-yuin-gopher-lua-dev: install them, or set SIDEJOB_REDIS=server',
    )
  mkdirSync(cache, { recursive: true })
  const fresh = `${binary}.${process.pid}`
  const env = { ...process.env, GO111MODULE: 'off', GOPATH, GOCACHE: join(cache, 'go') }
  await run('go', ['build', '-o', fresh, '.'], { cwd: import.meta.dirname, env })
  renameSync(fresh, binary)
  return binary
}

type StrictOptions = { redis: Address; port?: number; plan?: PlanName; compileEach?: boolean }

export async function startStrict({
  redis,
  port = 0,
  plan = planOf(),
  compileEach = process.env.SIDEJOB_STRICT_COMPILE === 'each',
}: StrictOptions) {
  const { record, commandsAMonth, commandsASecond } = plans[plan].redis
  const most = (n: number) => (Number.isFinite(n) ? String(n) : '0')
  const args = ['-redis', `${redis.host}:${redis.port}`, '-port', String(port), '-record', most(record)]
  args.push('-monthly', most(commandsAMonth), '-per-second', most(commandsASecond))
  if (compileEach) args.push('-compile-each')
  const child = spawn(await strictBinary(), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    exited.then(() => Promise.reject(new Error('the strict Redis did not start; see its output above'))),
  ])
  child.unref()
  for (const pipe of [child.stdin, child.stdout]) (pipe as unknown as { unref(): void }).unref()
  return {
    address: { host: '127.0.0.1', port: Number(first.split(' ')[1]) },
    pid: child.pid!,
    async close() {
      child.ref()
      child.stdin.end()
      await exited
    },
  }
}

/** Returns the registers of each function, beginning with the script itself. gopher-lua allows 200. */
export async function registersOf(text: string): Promise<{ line: number; registers: number; upvalues: number }[]> {
  const running = run(await strictBinary(), ['-registers'], { maxBuffer: 1 << 26 })
  running.child.stdin!.end(text)
  return JSON.parse((await running).stdout)
}
