import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { claimPort } from '../../../src/dev/ports.ts'
import { kind } from '../../kit/index.ts'
import { temporaryFolder } from './kit.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const WITHIN = 5_000
// A start takes three seconds of CPU time, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let folder: ReturnType<typeof temporaryFolder>
let port: number
const started: { end: () => Promise<number> }[] = []
beforeEach(async () => {
  folder = temporaryFolder()
  port = await claimPort(0, { setting: '' })
})
afterEach(async () => {
  for (const one of started.splice(0)) await one.end()
  folder.remove()
})

function npmStart(env: Record<string, string> = {}) {
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port), SIDEJOB_DIR: folder.dir, SIDEJOB_REDIS: kind, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const output of [npm.stdout, npm.stderr]) output.on('data', (chunk) => (said += chunk))
  const exited = new Promise<number | null>((resolve) => npm.once('close', resolve))
  const one = {
    exited,
    said: () => said,
    lines: () => said.trim().split('\n'),
    async ready() {
      while (!/^ready on/m.test(said)) {
        if (npm.exitCode !== null) throw new Error(`it has ended: ${said}`)
        await sleep(20)
      }
    },
    /** Signals only npm, and returns the milliseconds until all processes have ended. */
    async end(signal: NodeJS.Signals = 'SIGTERM') {
      const at = Date.now()
      if (npm.exitCode === null && npm.signalCode === null) npm.kill(signal)
      await exited
      return Date.now() - at
    },
  }
  started.push(one)
  return one
}

const portsOf = (said: string) => [
  ...new Set([...said.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))),
]

async function isFree(port: number) {
  return claimPort(port, { setting: '' }).then(
    () => true,
    () => false,
  )
}

test('npm start lists its services and addresses, and finally reports that it is ready', async () => {
  const start = npmStart()
  await start.ready()
  expect(start.lines().at(-1)).toBe(`ready on http://127.0.0.1:${port}`)
  expect(start.said()).toMatch(/^API key +dev_\w{48}$/m)
  expect(start.said()).toMatch(/^Webhooks +signed with whsec_/m)
  expect(start.said()).toContain('npm run demo')
  expect(start.said()).toContain(`data in ${folder.dir}`)
})

describe.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('%s to npm alone', (signal) => {
  test('ends all processes in time, and the ports are free', async () => {
    const start = npmStart()
    await start.ready()
    const ports = portsOf(start.said())
    expect(ports.length).toBeGreaterThanOrEqual(3)
    expect(await start.end(signal)).toBeLessThan(WITHIN)
    await expect.poll(() => Promise.all(ports.map(isFree)), { timeout: 1_000 }).toEqual(ports.map(() => true))
  })
})

test('a second start finds the jobs and the messages of the first', async () => {
  const first = npmStart()
  await first.ready()
  const [, key] = /^API key +(\S+)$/m.exec(first.said())!
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: key! })
  const { id } = await client.jobs.enqueue({ class: 'count_words', wait: '3s', inputs: { text: ['one two'] } })
  await first.end()
  const second = npmStart()
  await second.ready()
  await expect.poll(async () => (await client.jobs.get(id)).status, { timeout: 15_000 }).toBe('completed')
  expect(await client.ports.read(id, 'out', 'counts')).toMatchObject({ values: [{ data: { one: 1, two: 1 } }] })
})

test('a port in use is reported with the setting to change, and no process remains', async () => {
  const other: Server = createServer().listen(port, '127.0.0.1')
  const start = npmStart()
  expect(await start.exited).toBe(1)
  other.close()
  expect(start.lines().at(-1)).toBe(`sidejob: port ${port} is in use by another process. Set PORT to another port`)
})
