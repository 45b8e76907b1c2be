// Downloads files that are larger than the memory of a Worker.

import { createHash, type Hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startS3 } from '../../facades/downloader/s3.ts'
import { atLeast, atMost, defineShow, exactly, type Measured, told } from './show.ts'
import { type Soak, startSoak } from './stack.ts'

const MiB = 1024 * 1024
const CREDENTIALS = { SIDEJOB_S3_ACCESS_KEY_ID: 'key', SIDEJOB_S3_SECRET_ACCESS_KEY: 'secret', SIDEJOB_S3_BUCKETS: '*' }

/** `/<MiB>` sends a Content-Length, and `/<MiB>/chunked` does not. */
async function startOrigin() {
  const hashes = new Map<string, Hash>()
  const server = createServer(async (request, response) => {
    const path = request.url!
    const [, size, chunked] = path.split('/')
    const hash = createHash('sha256')
    hashes.set(path, hash)
    if (!chunked) response.setHeader('content-length', Number(size) * MiB)
    const block = Buffer.alloc(MiB, 'sidejob ')
    for (let n = 0; n < Number(size) && !response.destroyed; n++) {
      block.writeUInt32LE(n)
      hash.update(block)
      // The stream may send the block later, so it needs a copy.
      if (!response.write(Buffer.from(block))) await new Promise((resolve) => response.once('drain', resolve))
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sha256: (path: string) => hashes.get(path)!.digest('hex'),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** MiB. */
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

async function hashOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of body) hash.update(chunk)
  return hash.digest('hex')
}

type Result = { result: { file: string; size: number; sha256: string } }

type Way = { into: 'R2' | 'S3'; chunked: boolean; size: number }
type Streamed = { idle: number; peak: number; seconds: number; steps: number; whole: boolean }

async function watch({ client }: Soak, id: number): Promise<number> {
  const seen = new Set<string>()
  for (;;) {
    const { status, progress, error } = await client.jobs.get(id)
    if (progress) seen.add(JSON.stringify(progress))
    if (status === 'completed') return seen.size
    if (status !== 'running' && error) throw new Error(`the download is ${status}: ${JSON.stringify(error)}`)
    await sleep(100)
  }
}

/** Starts a new stack, because a process keeps its memory peak. */
async function stream({ into, chunked, size }: Way): Promise<Streamed> {
  const [origin, s3] = [await startOrigin(), await startS3()]
  const soak = await startSoak({ vars: CREDENTIALS })
  try {
    // The first download loads modules, so it is not measured.
    const warm = { queue: 'downloader', class: 'download', args: { url: `${origin.url}/1` } }
    await watch(soak, (await soak.client.jobs.enqueue(warm)).id)
    const idle = peakOf(soak.worker.pid!)
    const began = performance.now()
    const path = `/${size}${chunked ? '/chunked' : ''}`
    const bucket = into === 'S3' ? { bucket: { name: 'theirs', region: 'eu-west-1', endpoint: s3.url } } : {}
    const args = { url: origin.url + path, ...bucket }
    const { id } = await soak.client.jobs.enqueue({ queue: 'downloader', class: 'download', args, keepResult: true })
    const steps = await watch(soak, id)
    const seconds = (performance.now() - began) / 1_000
    const peak = peakOf(soak.worker.pid!)
    const { result } = (await soak.client.jobs.result(id)) as Result
    const stored =
      into === 'S3'
        ? s3.read(`/theirs/${result.file.slice(0, 3)}/${result.file}`)
        : (await fetch((await soak.client.files.show(result.file)).url)).body!
    const wanted = origin.sha256(path)
    const whole = result.size === size * MiB && result.sha256 === wanted && (await hashOf(stored)) === wanted
    return { idle, peak, seconds, steps, whole }
  } finally {
    await soak.close()
    await Promise.all([origin.close(), s3.close()])
  }
}

export const streams = defineShow({
  title: 'bodies larger than a Worker may hold',
  sizes: { small: 256, large: 1_024 },
  async run({ small, large }, say) {
    const rows: Measured[] = []
    for (const into of ['R2', 'S3'] as const)
      for (const chunked of [false, true]) {
        const [first, second] = [
          await stream({ into, chunked, size: small }),
          await stream({ into, chunked, size: large }),
        ]
        const name = `${into}, ${chunked ? 'no length' : 'with length'}`
        say(`${name}: ${JSON.stringify([first, second])}`)
        rows.push(
          told(`${name}: workerd before`, second.idle, ' MiB'),
          told(`${name}: peak at ${small} MiB`, first.peak, ' MiB'),
          atMost(`${name}: peak at ${large} MiB`, second.peak, 1.2 * first.peak, ' MiB'),
          exactly(`${name}: bodies stored as they were`, [first, second].filter(({ whole }) => whole).length, 2),
          atLeast(`${name}: steps of progress seen`, second.steps, 3),
          told(`${name}: seconds for ${large} MiB`, second.seconds),
        )
      }
    return rows
  },
})
