import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/index.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, rawCommand, startKit } from '../kit/index.ts'

const ODD = 'media zip ä?#%2F'
const noop = defineWorker({ class: 'noop', perform: () => undefined })
/** The timeout is shorter than the 27 s for which a run may continue after the response. */
const brief = defineWorker({ class: 'brief', timeout: 5_000, perform: () => undefined })

type Item = { destination: string; body: string; headers: Record<string, string> }
let close: (() => Promise<void>) | undefined
let kit: Kit
afterEach(async () => {
  await kit?.close()
  await close?.()
})

async function startRefusing(answer: (response: ServerResponse, items: Item[]) => unknown) {
  const came: Item[][] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const items = JSON.parse(Buffer.concat(chunks).toString()) as Item[]
    came.push(items)
    answer(response, items)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came }
}

const refusing = (status: number) => (response: ServerResponse) =>
  response.writeHead(status).end('{"error":"quota exceeded"}')

const startWith = async (url: string, more = {}) => {
  kit = await startKit({
    workers: [noop, brief],
    qstash: { url, token: 'test', publicUrl: 'https://jobs.example.com' },
    ...more,
  })
}

const make = (n: number, queue = 'default', name = 'noop') =>
  kit.engine.jobs.enqueue(Array(n).fill({ queue, class: name, args: '1', retain: 60_000 }))

async function callsOf(work: () => Promise<unknown>) {
  const before = kit.gateway.requests
  await work()
  return { calls: kit.gateway.requests - before }
}

const counts = async () => (await kit.engine.queues.list()).queues.find(({ name }) => name === 'default')!.counts

describe('a QStash that accepts requests and never responds', () => {
  test('delays no enqueue by 3 seconds, and the tick runs 1,000 jobs', async () => {
    const { url } = await startRefusing(() => undefined)
    await startWith(url)
    const begun = performance.now()
    await make(1_000)
    expect(performance.now() - begun).toBeLessThan(3_000)
    await kit.advance(21_000)
    await kit.engine.tick()
    expect(await counts()).toMatchObject({ queued: 0, running: 0, completed: 1_000 })
    expect(await kit.engine.health()).toMatchObject({
      ok: true,
      problems: [{ of: 'qstash', message: expect.stringContaining('did not answer within 2000 ms') }],
    })
  })

  test('is not called for a while after three requests without a response', async () => {
    const { url, came } = await startRefusing(() => undefined)
    await startWith(url, { qstash: { url, token: 'test', publicUrl: 'https://jobs.example.com', timeout: 20 } })
    for (let i = 0; i < 5; i++) await make(1)
    expect(came.length).toBe(3)
  })

  test('delays no caller if the invocation outlives its response and can serve the queue itself', async () => {
    const { url } = await startRefusing(() => undefined)
    const deferred: Promise<unknown>[] = []
    const qstash = { url, token: 'test', publicUrl: 'https://jobs.example.com', timeout: 100 }
    await startWith(url, { qstash, defer: (work: Promise<unknown>) => deferred.push(work) })
    const rest = async () => {
      for (let done = 0; done < deferred.length; ) done = (await Promise.all([...deferred])).length
    }
    await make(10, 'default', 'brief')
    await rest()
    expect(await counts()).toMatchObject({ queued: 0, completed: 10 })
    // The default timeout of 30 s is longer than the time that is left in the invocation, so the next tick starts these
    // jobs.
    const { calls } = await callsOf(async () => {
      await make(10)
      await rest()
    })
    expect(await counts()).toMatchObject({ queued: 10, completed: 10 })
    expect(calls).toBeLessThanOrEqual(3)
    await kit.advance(21_000)
    await kit.engine.tick()
    expect(await counts()).toMatchObject({ queued: 0, completed: 20 })
  })
})

test('a caller waits for its bell if the invocation ends with the response, as in an isolated run', async () => {
  const { url, came } = await startRefusing((response, items) =>
    response.writeHead(200).end(JSON.stringify(items.map(() => ({ messageId: 'm' })))),
  )
  await startWith(url, { defer: () => false })
  await make(1)
  expect(came).toHaveLength(1)
})

describe('a used-up quota of daily messages', () => {
  test('leaves the jobs to the tick, and /health and /v1/stats report the reason and the count', async () => {
    const { url } = await startRefusing(refusing(429))
    await startWith(url)
    await make(1)
    await make(250)
    await kit.advance(21_000)
    await kit.engine.tick()
    expect(await counts()).toMatchObject({ queued: 0, completed: 251 })
    const problem = { of: 'qstash', message: expect.stringMatching(/429.*plan/), inARow: expect.any(Number) }
    const health = await kit.engine.health()
    expect(health.problems).toMatchObject([problem])
    expect(health.problems![0]!.inARow).toBeGreaterThanOrEqual(3)
    expect(await kit.engine.stats.totals()).toMatchObject({ bells: { refused: expect.any(Number) } })
    const other = createEngine(kit.engineOptions)
    expect((await other.health()).problems).toMatchObject([problem])
  })

  test('is no longer reported after the first accepted bell', async () => {
    let status = 429
    const { url } = await startRefusing((response, items) =>
      response.writeHead(status).end(status === 200 ? JSON.stringify(items.map(() => ({ messageId: 'm' }))) : '{}'),
    )
    await startWith(url)
    await make(1)
    expect((await kit.engine.health()).problems).toHaveLength(1)
    status = 200
    await make(101)
    expect((await kit.engine.health()).problems).toBeUndefined()
    expect((await createEngine(kit.engineOptions).health()).problems).toBeUndefined()
    await kit.advance(21_000)
    await kit.engine.tick()
  })
})

describe('a batch of bells', () => {
  test('takes back only the messages that QStash refuses', async () => {
    const { url, came } = await startRefusing((response, items) =>
      response
        .writeHead(200)
        .end(
          JSON.stringify(items.map((_, i) => (i === 0 ? { error: 'invalid destination' } : { messageId: `m${i}` }))),
        ),
    )
    await startWith(url)
    await make(301)
    expect(came[0]).toHaveLength(4)
    expect((await kit.store.overview('default')).queues[0]!.lanes).toBe(3)
  })

  test('contains the name of the queue, with any characters in it', async () => {
    const { url, came } = await startRefusing((response, items) =>
      response.writeHead(200).end(JSON.stringify(items.map(() => ({ messageId: 'm' })))),
    )
    await startWith(url, { workers: [{ ...noop, queue: ODD }] })
    await make(1, ODD)
    expect(came[0]![0]!.destination).toBe(`https://jobs.example.com/dispatch/${encodeURIComponent(ODD)}`)
    expect(JSON.parse(came[0]![0]!.body)).toEqual({ bell: expect.any(String) })
  })
})

test('a signed bell for a missing queue creates neither the queue nor a key', async () => {
  kit = await startKit({ workers: [noop], hold: true })
  expect(await kit.engine.dispatch('nowhere', 'b1')).toEqual({ runs: 0, ended: 'full' })
  expect(await rawCommand(kit.redis.port, 'KEYS', '*')).toBe('*0\r\n')
})
