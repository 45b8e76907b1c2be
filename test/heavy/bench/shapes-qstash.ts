// Benchmarks QStash without sidejob: each job is a message to a small server. QStash stores no state, so the workloads
// that need state are missing.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, Receiver } from '@upstash/qstash'
import { development, startQstash } from '../../../infra/stand-ins/qstash.ts'
import { chunksOf, inTurns, lone, trickle } from './load.ts'
import { ALL_DELIVERIES, latency } from './served.ts'
import type { Side } from './workloads.ts'

const BATCH = 1_000
const MEBIBYTE = 1_048_576

type Work = { id: number; left?: number; text?: string }

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export async function startDirect(far: boolean) {
  const qstash = await startQstash()
  if (far) qstash.faults.late(latency.qstash, { times: ALL_DELIVERIES })
  const client = new Client({ baseUrl: qstash.url, token: qstash.token, devMode: false })
  const receiver = new Receiver({
    currentSigningKey: development.currentSigningKey,
    nextSigningKey: development.nextSigningKey,
  })
  const ends = new Map<number, (at: number) => void>()
  let [messages, next] = [0, 0]

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    await receiver.verify({ signature: String(request.headers['upstash-signature']), body })
    const { id, left }: Work = JSON.parse(body)
    if (left) await publish({ id, left: left - 1 })
    response.end()
    if (left) return
    ends.get(id)?.(performance.now())
    ends.delete(id)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/work`

  const publish = (body: Work, notBefore?: number) => {
    messages++
    return client.publishJSON({ url, body, notBefore })
  }
  const ended = (id: number) => new Promise<number>((resolve) => ends.set(id, resolve))

  async function one(left?: number): Promise<number> {
    const id = next++
    const end = ended(id)
    const began = performance.now()
    await publish({ id, left })
    return (await end) - began
  }

  async function many(n: number, { text, notBefore }: { text?: string; notBefore?: number }, size = BATCH) {
    const work = Array.from({ length: n }, (): Work => ({ id: next++, text }))
    const all = Promise.all(work.map(({ id }) => ended(id)))
    const began = performance.now()
    messages += n
    await inTurns(chunksOf(work, size), 1, (some) => client.batchJSON(some.map((body) => ({ url, body, notBefore }))))
    return Math.max(...(await all)) - began
  }

  const side: Partial<Side> = {
    lone: (n) => lone(n, one),
    trickle: (rate, seconds) => trickle(rate, seconds, one),
    withArgs: (n, bytes) =>
      many(n, { text: 'x'.repeat(bytes - 2) }, Math.min(BATCH, Math.floor((4 * MEBIBYTE) / bytes))),
    chain: (n) => one(n - 1),
    async delayed(n, ms) {
      const at = Math.ceil((Date.now() + ms) / 1_000)
      await many(n, { notBefore: at })
      return Date.now() - at * 1_000
    },
  }
  return {
    ...side,
    cost: () => Promise.resolve({ billed: 0, messages }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await qstash.close()
    },
  }
}
