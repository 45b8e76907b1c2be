// A server whose jobs wait in an old version of ten classes, and a project with the next version.

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { findServer } from '../../../infra/stand-ins/redis.ts'
import { claimPort } from '../../../src/dev/ports.ts'
import { defineWorker, type Job } from '../../../src/index.ts'
import { appOf, KEY } from '../../kit/client.ts'
import { rawCommand, startKit } from '../../kit/index.ts'
import { isQuiet } from '../../redis/commandstats.ts'
import { makeProject } from '../dev/project.ts'

const root = resolve(import.meta.dirname, '../../..')
const CLI = resolve(root, 'src/cli/index.ts')

/** The deployed version: each class keeps a step and waits for days. */
const deployed = Array.from({ length: 10 }, (_, n) =>
  defineWorker({
    class: `class_${n}`,
    async perform(job: Job) {
      const price = await job.step('price', () => n)
      await job.sleep(n === 7 ? '14 days' : '3 days')
      await job.step('charge', () => price)
    },
  }),
)

/** The next version: six classes stay; one renames a step, one waits less, one is gone, and one throws. */
const next = `
import { createWorker } from '${root}/src/cloudflare/index.ts'
import { defineWorker } from '${root}/src/index.ts'
import { DurableObject, env } from 'cloudflare:workers'
import { writeFileSync } from 'node:fs'

export class Counter extends DurableObject {}

const acts = (name) => writeFileSync(new URL('../acted', import.meta.url), name)

const functions = [0, 1, 2, 3, 4, 5, 6, 7, 9].map((n) => defineWorker({
  class: 'class_' + n,
  async perform(job) {
    console.log('not a part of the report')
    await job.step(n === 6 ? 'price in cents' : 'price', () => acts('price'))
    await job.sleep(n === 7 ? '1 hour' : '3 days')
    if (n === 9) throw new Error('not ready for class 9')
    await job.step('charge', () => acts(job.env.WHO))
  },
}))
export default createWorker({ functions })
`

/** Redis that allows DEBUG. */
async function startDebuggable() {
  const port = await claimPort(0, { setting: 'PORT' })
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--enable-debug-command', 'local']
  const server = spawn(findServer()!, options, { stdio: 'ignore' })
  for (;;) {
    const answer = await rawCommand(port, 'PING').catch(() => '')
    if (answer.startsWith('+PONG')) break
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
    await new Promise((done) => setTimeout(done, 20))
  }
  return { port, stop: () => new Promise((done) => server.once('exit', done) && server.kill()) }
}

/** @example const { run, digest } = await startRehearsal(100) */
export async function startRehearsal(jobs: number) {
  const redis = await startDebuggable()
  const kit = await startKit({ workers: [...deployed], on: `redis://127.0.0.1:${redis.port}` as never })
  const app = appOf(kit.engine)
  const server = createServer(async ({ method, url, headers }, response) => {
    const answer = await app.fetch(new Request(`http://127.0.0.1${url}`, { method, headers: headers as HeadersInit }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const project = makeProject()
  project.write('src/index.ts', next)

  for (let from = 0; from < jobs; from += 1_000)
    await kit.engine.jobs.enqueue(
      Array.from({ length: Math.min(1_000, jobs - from) }, (_, i) => ({ queue: 'default', class: `class_${i % 10}` })),
    )
  await kit.until(async () => {
    const { queues } = await kit.engine.queues.list()
    return queues.some(({ name, counts, lanes }) => name === 'default' && counts.scheduled === jobs && lanes === 0)
  }, 120_000)
  const digest = () => rawCommand(redis.port, 'DEBUG', 'DIGEST')
  // Lanes that end write to their queue.
  await kit.until(async () => {
    const before = await digest()
    await new Promise((done) => setTimeout(done, 1_000))
    return (await isQuiet(kit)) && (await digest()) === before
  }, 60_000)

  return {
    kit,
    project,
    digest,
    async run(...words: string[]) {
      const env = { ...process.env, SIDEJOB_URL: address, SIDEJOB_API_KEY: KEY }
      const child = spawn(process.execPath, [CLI, 'rehearse', project.dir, ...words], { env })
      const exit = new Promise<number>((done) => child.once('close', done))
      const [printed, noted] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { exit: await exit, printed, noted }
    },
    async close() {
      await new Promise((done) => server.close(done))
      await kit.close()
      await redis.stop()
      project.remove()
    },
  }
}
