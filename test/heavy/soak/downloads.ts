import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, defineShow, exactly, quantile, told } from './show.ts'
import { type Soak, startSoak } from './stack.ts'

const PACKAGES = fileURLToPath(new URL('../../../node_modules/', import.meta.url))
const [KiB, MiB] = [1024, 1024 * 1024]

/** Size in bytes, and share of files of this size. The largest files are stored in parts. */
const classes: [number, number][] = [
  [4 * KiB, 0.4],
  [64 * KiB, 0.4],
  [MiB, 0.18],
  [8 * MiB, 0.015],
  [64 * MiB, 0.005],
]

type File = { path: string; size: number }

function allFiles(): File[] {
  return readdirSync(PACKAGES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, size: statSync(path).size }))
}

function chosenFiles(count: number): File[] {
  const all = allFiles()
  const chosen = classes.flatMap(([most, share], i) => {
    const least = classes[i - 1]?.[0] ?? 0
    const those = all.filter(({ size }) => size > least && size <= most)
    const wanted = Math.min(those.length, Math.max(1, Math.floor(count * share)))
    return Array.from({ length: wanted }, (_, n) => those[Math.floor((n / wanted) * those.length)]!)
  })
  const small = all.filter(({ size }) => size <= 4 * KiB)
  return Array.from({ length: count }, (_, i) => chosen[i] ?? small[i % small.length]!)
}

const listen = async (handler: (request: IncomingMessage, response: ServerResponse) => unknown) => {
  const server = createServer(handler)
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function startOrigin(files: readonly File[]) {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  const self = { requests: 0 }
  const server = await listen(async (request, response) => {
    const [, aggregation = '', number] = request.url!.split('/')
    self.requests++
    const now = (open.get(aggregation) ?? 0) + 1
    open.set(aggregation, now)
    most.set(aggregation, Math.max(most.get(aggregation) ?? 0, now))
    let ended = false
    const end = () => {
      if (!ended) open.set(aggregation, open.get(aggregation)! - 1)
      ended = true
    }
    response.once('finish', end).once('close', end)
    await sleep(10 + Math.random() * 40)
    const { path, size } = files[Number(number)]!
    if (Number(number) % 3) response.setHeader('content-length', size)
    createReadStream(path).pipe(response)
  })
  return { ...server, most, self }
}

type Call = { success: boolean; error: string; extra: string; download_url: string; job_id: string }

async function startCaller() {
  const calls = new Map<string, Call[]>()
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const id = String(request.headers['webhook-id'])
    calls.set(id, [...(calls.get(id) ?? []), JSON.parse(Buffer.concat(chunks).toString()) as Call])
    response.end()
  })
  return { ...server, calls }
}

async function forEach<T>(items: readonly T[], work: (item: T, i: number) => Promise<void>, atOnce = 8): Promise<void> {
  let next = 0
  const go = async () => {
    while (next < items.length) {
      const i = next++
      await work(items[i]!, i)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, go))
}

function killing({ worker }: Soak, times: number, done: () => number): () => number {
  let killed = 0
  let last: number | undefined
  const timer = setInterval(() => {
    // Until the next process has started, `pid` is still the killed process.
    if (done() < (killed + 1) / (times + 1) || !worker.pid || worker.pid === last) return
    last = worker.pid
    process.kill(last, 'SIGKILL')
    if (++killed === times) clearInterval(timer)
  }, 10)
  if (times === 0) clearInterval(timer)
  timer.unref()
  return () => killed
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function isStored({ download_url, extra }: Call, files: readonly File[]): Promise<boolean> {
  const response = await fetch(download_url)
  const stored = new Uint8Array(await response.arrayBuffer())
  return response.ok && sha256(stored) === sha256(readFileSync(files[Number(extra)]!.path))
}

const limitOf = (aggregation: number): number => 1 + (aggregation % 8)
const WITHIN = 900_000

export const downloads = defineShow({
  title: 'downloads of real files, with the Worker killed',
  sizes: { files: 2_000, aggregations: 20, kills: 5 },
  async run({ files: count, aggregations, kills }, say) {
    const files = chosenFiles(count)
    const [origin, caller] = [await startOrigin(files), await startCaller()]
    const soak = await startSoak({ vars: { SIDEJOB_LANE_LEASE: '5s' } })
    const ticking = setInterval(() => soak.tick().catch(() => {}), 1_000)
    try {
      const began = performance.now()
      const ids = new Set<string>()
      const submitted = forEach(files, async (_, i) => {
        const aggregation = i % aggregations
        const { id } = await soak.client.downloader.download({
          aggr_id: `a${aggregation}`,
          aggr_limit: limitOf(aggregation),
          url: `${origin.url}/a${aggregation}/${i}`,
          callback_url: `${caller.url}/`,
          extra: String(i),
          download_timeout: 60,
        })
        ids.add(id)
      })
      let refused: unknown
      submitted.catch((error: unknown) => (refused = error))
      const killed = killing(soak, kills, () => caller.calls.size / count)
      for (let said = began; caller.calls.size < count; await sleep(20)) {
        if (performance.now() - said > 10_000) {
          said = performance.now()
          say(`${caller.calls.size} of ${count} told, the Worker killed ${killed()} times`)
        }
        if (refused) throw refused
        if (performance.now() - began > WITHIN) throw new Error(`${caller.calls.size} of ${count} within ${WITHIN} ms`)
      }
      await submitted
      const seconds = (performance.now() - began) / 1_000
      await sleep(6_000)
      const calls = [...caller.calls.values()]
      let wrong = 0
      await forEach(calls, async ([call]) => {
        if (!(call!.success && ids.has(call!.job_id) && (await isStored(call!, files)))) wrong++
      })
      const exceeded = [...origin.most].filter(([name, most]) => most > limitOf(Number(name.slice(1))))
      const reached = [...origin.most].filter(([name, most]) => most === limitOf(Number(name.slice(1))))
      const bodies = calls.filter((same) => new Set(same.map((call) => JSON.stringify(call))).size > 1)
      const jobs = await soak.allJobs()
      return [
        told('MiB of files', files.reduce((sum, { size }) => sum + size, 0) / MiB),
        told('the largest, in MiB', Math.max(...files.map(({ size }) => size)) / MiB),
        told(
          'the median, in KiB',
          quantile(
            files.map(({ size }) => size),
            0.5,
          ) / KiB,
        ),
        exactly('Workers killed', killed(), kills),
        atLeast(
          'runs lost',
          jobs.reduce((sum, { lost }) => sum + lost, 0),
          kills > 0 ? 1 : 0,
        ),
        exactly('files asked for', ids.size, count),
        told('requests for them', origin.self.requests),
        exactly('files that differ from the served ones', wrong, 0),
        exactly('limits exceeded', exceeded.length, 0),
        told('limits reached', reached.length),
        exactly('callbacks, by their id', caller.calls.size, count),
        exactly('jobs told of', new Set(calls.map(([call]) => call!.job_id)).size, count),
        told('callbacks sent more than once', calls.filter((same) => same.length > 1).length),
        exactly('callbacks with another body', bodies.length, 0),
        exactly('groups left', (await soak.client.groups.list()).groups.length, 0),
        exactly('faults in Redis', await soak.faults(), 0),
        atMost('seconds', seconds, WITHIN / 1_000),
      ]
    } finally {
      clearInterval(ticking)
      await soak.close()
      await Promise.all([origin.close(), caller.close()])
    }
  },
})
