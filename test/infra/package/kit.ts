import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

/** Commands use the Node of this process. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
const environment = { ...process.env, PATH, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', CI: '1' }

export type Ended = { code: number | null; out: string }

export function run(folder: string, command: string, env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn('bash', ['-c', command], { cwd: folder, env: { ...environment, ...env } })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
  return new Promise((done) => child.once('close', (code) => done({ code, out })))
}

export const waited = { ms: 0 }

export async function must(folder: string, command: string, env: Record<string, string> = {}): Promise<string> {
  const began = performance.now()
  const { code, out } = await run(folder, command, env)
  waited.ms += performance.now() - began
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${out.slice(-4_000)}`)
  return out
}

export const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => done(port))
    })
  })

export function start(folder: string, command: string, env: Record<string, string> = {}) {
  const child: ChildProcess = spawn('bash', ['-c', `exec ${command}`], { cwd: folder, env: { ...environment, ...env } })
  let out = ''
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const one of waiting) one()
  }
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      out += chunk
      wake()
    })
  const ended = new Promise<void>((done) => child.once('close', () => done()))
  child.once('close', wake)
  return {
    get out() {
      return out
    },
    async prints(like: RegExp, from = 0): Promise<RegExpExecArray> {
      for (;;) {
        const found = like.exec(out.slice(from))
        if (found) return found
        if (child.exitCode !== null) throw new Error(`${command} has ended:\n${out}`)
        await new Promise<void>((done) => {
          const once = () => {
            waiting.delete(once)
            done()
          }
          waiting.add(once)
        })
      }
    },
    async close() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export async function pack() {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-pack-'))
  const out = await must(root, `npm pack --json --pack-destination ${folder}`)
  const [{ filename, files, size }] = JSON.parse(out.slice(out.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[]; size: number },
  ]
  await must(join(root, 'infra/create-sidejob'), `npm pack --pack-destination ${folder}`)
  const tarball = join(folder, filename)
  return {
    folder,
    tarball,
    creator: join(folder, 'create-sidejob-0.1.0.tgz'),
    files: files.map(({ path }) => path),
    size,
    env: { SIDEJOB_PACKAGE: `file:${tarball}` },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export type Packed = Awaited<ReturnType<typeof pack>>

export function shareModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  cpSync(join(from, 'node_modules'), join(to, 'node_modules'), { recursive: true, verbatimSymlinks: true })
}

/** npm may print lines before the JSON. */
export const jsonOf = (out: string) =>
  JSON.parse(
    out
      .trim()
      .split('\n')
      .findLast((line) => /^[[{]/.test(line))!,
  )

export const textOf = (...path: string[]): string => readFileSync(join(...path), 'utf8')
