import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { findServer } from '../../../infra/stand-ins/redis.ts'
import { claimPort } from '../../../src/dev/ports.ts'
import { defineWorker, type Job, port } from '../../../src/index.ts'
import { appOf, KEY } from '../../kit/client.ts'
import { rawCommand, startKit } from '../../kit/index.ts'
import { isQuiet } from '../../redis/commandstats.ts'
import { makeProject } from '../dev/project.ts'

const root = resolve(import.meta.dirname, '../../..')
const CLI = resolve(root, 'src/cli/index.ts')

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

export const adder = (from: string, big: string) => `
import { defineWorker, port } from '${from}'
import * as z from 'zod'

export const adder = defineWorker({
  class: 'adder',
  args: z.object({ n: z.number() }),
  out: { sum: port() },
  history: { values: true },
  async perform(job) {
    const one = await job.step('one', () => 1)
    job.write('sum', one + job.args.n)
    return { sum: job.args.n > 5 ? ${big} : one + job.args.n }
  },
})
`

const deployedAdder = defineWorker({
  class: 'adder',
  history: { values: true },
  out: { sum: port() },
  async perform(job) {
    const one = await job.step('one', () => 1)
    const { n } = job.args as { n: number }
    job.write('sum', one + n)
    return { sum: one + n }
  },
})

const next = `
import { createWorker } from '${root}/src/cloudflare/index.ts'
import { defineWorker } from '${root}/src/index.ts'
import { DurableObject, env } from 'cloudflare:workers'
import { writeFileSync } from 'node:fs'
import { adder } from './adder.ts'

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
const contract = defineWorker({
  class: 'contract',
  queue: 'pinned',
  pin: true,
  async perform(job) {
    await job.step('send again', () => acts('send'))
    await job.sleep('90 days')
  },
})
const card = defineWorker({
  class: 'card',
  queue: 'cards',
  async perform(job) {
    await job.step('check', () => acts('check'))
    await job.step('charge ' + job.args.number, () => acts('charge'))
  },
})
export default createWorker({ functions: [...functions, adder, contract, card] })
`

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

export async function command(words: string[], more: Record<string, string> = {}, cwd = root) {
  const child = spawn(process.execPath, words, { cwd, env: { ...process.env, ...more } })
  const exit = new Promise<number>((done) => child.once('close', done))
  const [printed, noted] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exit: await exit, printed, noted }
}

export async function startRehearsal(jobs: number) {
  const redis = await startDebuggable()
  const kit = await startKit({ workers: [...deployed, deployedAdder], on: `redis://127.0.0.1:${redis.port}` as never })
  const app = appOf(kit.engine)
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    const body = method === 'GET' ? undefined : await text(request)
    const sent = { method, body, headers: headers as HeadersInit }
    const answer = await app.fetch(new Request(`http://127.0.0.1${url}`, sent))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const project = makeProject()
  project.write('src/index.ts', next)
  project.write('src/adder.ts', adder(`${root}/src/index.ts`, '0'))

  for (let from = 0; from < jobs; from += 1_000)
    await kit.engine.jobs.enqueue(
      Array.from({ length: Math.min(1_000, jobs - from) }, (_, i) => ({ queue: 'default', class: `class_${i % 10}` })),
    )
  await kit.until(async () => {
    const { queues } = await kit.engine.queues.list()
    return queues.some(({ name, counts, lanes }) => name === 'default' && counts.scheduled === jobs && lanes === 0)
  }, 120_000)
  const digest = () => rawCommand(redis.port, 'DEBUG', 'DIGEST')
  // A lane writes to its queue when it ends, so wait for this write before the comparison.
  await kit.until(async () => {
    const before = await digest()
    await new Promise((done) => setTimeout(done, 1_000))
    return (await isQuiet(kit)) && (await digest()) === before
  }, 60_000)

  const environment = { SIDEJOB_URL: address, SIDEJOB_API_KEY: KEY }
  return {
    kit,
    project,
    digest,
    run: (...words: string[]) => command([CLI, 'rehearse', project.dir, ...words], environment),
    runOnTerminal: (...words: string[]) =>
      command([CLI, 'rehearse', project.dir, ...words], {
        ...environment,
        NODE_OPTIONS: '--import=data:text/javascript,process.stderr.isTTY=true',
      }),
    schemas: () => command([CLI, 'schemas', project.dir], environment),
    move: (...words: string[]) => command([CLI, 'move', ...words], environment),
    record: (...words: string[]) => command([CLI, 'record', ...words], environment),
    async close() {
      await new Promise((done) => server.close(done))
      await kit.close()
      await redis.stop()
      project.remove()
    },
  }
}
