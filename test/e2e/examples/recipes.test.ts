import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agent, model } from '../../../examples/recipes/agent.ts'
import { bank, refund } from '../../../examples/recipes/approval.ts'
import { changed, reindex } from '../../../examples/recipes/debounce.ts'
import { extract, load, ordersFlow, transform } from '../../../examples/recipes/etl.ts'
import { measure, measureAll } from '../../../examples/recipes/fan_out.ts'
import { importRows, source, target } from '../../../examples/recipes/import_rows.ts'
import { fetchLong, parts } from '../../../examples/recipes/long_download.ts'
import { moveJob } from '../../../examples/recipes/move.ts'
import { nightlyReport, reports } from '../../../examples/recipes/nightly.ts'
import { api, syncContact } from '../../../examples/recipes/rate_limited.ts'
import { bookings, bookTrip } from '../../../examples/recipes/saga.ts'
import { eventJob, handleEvent } from '../../../examples/recipes/webhook.ts'
import { flow } from '../../../functions/flow.ts'
import { createClient } from '../../../src/client/index.ts'
import { createApp } from '../../../src/http/app.ts'
import { type Kit, startKit } from '../../kit/index.ts'

const workers = [
  agent,
  refund,
  reindex,
  measure,
  measureAll,
  importRows,
  nightlyReport,
  syncContact,
  bookTrip,
  handleEvent,
  extract,
  transform,
  load,
  fetchLong,
  flow,
]

let kit: Kit
let client: ReturnType<typeof createClient>
beforeAll(async () => {
  kit = await startKit({ workers })
  const app = createApp({ engine: kit.engine, verify: async () => false, publicUrl: 'http://127.0.0.1' })
  client = createClient({
    url: 'http://127.0.0.1',
    key: 'dev',
    fetch: (...args) => Promise.resolve(app.request(...args)),
  })
})
afterAll(() => kit.close())

let did: string[] = []
beforeEach(() => {
  did = []
})

async function enqueue(input: { class: string; args?: object; unique?: object; retry?: object }): Promise<number> {
  return (await client.jobs.enqueue({ ...input, keepResult: '1 hour' } as { class: string })).id
}
const resultOf = async (id: number) => ((await client.jobs.result(id)) as { result: unknown }).result
const errorOf = async (id: number) => ((await client.jobs.get(id)).error as { message: string }).message

test('a webhook that arrives three times is handled once', async () => {
  const event = { id: 'evt_1', type: 'invoice.paid' }
  const ids: number[] = []
  for (let i = 0; i < 3; i++) ids.push(await enqueue(eventJob(event)))
  expect(new Set(ids).size).toBe(1)
  await kit.rest(ids[0]!, 'completed')
  expect(await enqueue(eventJob(event))).toBe(ids[0])
  expect(await enqueue(eventJob({ ...event, id: 'evt_2' }))).not.toBe(ids[0])
  expect(await resultOf(ids[0]!)).toBe('invoice.paid of evt_1')
})

test('one job measures each word of a list, and the results are added up', async () => {
  const { result } = await client.run(measureAll, {}, { args: { words: ['to', 'be', 'or', 'not'] } })
  expect(result).toBe(9)
})

test('an approval continues after a person decides, or after a timeout', async () => {
  const [approved, forgotten] = [
    await enqueue({ class: 'refund', args: { order: '7', amount: 12 } }),
    await enqueue({ class: 'refund', args: { order: '8', amount: 12 } }),
  ]
  const waits = async (id: number) => (await client.jobs.why(id)).reasons.some(({ code }) => code === 'INPUT')
  for (const id of [approved, forgotten]) await kit.until(() => waits(id))
  await client.ports.write(approved, 'in', 'decision', { values: [{ approved: true, by: 'ann' }] })
  await kit.rest(approved, 'completed')
  expect(await resultOf(approved)).toBe('paid, approved by ann')
  await kit.advance(3 * 86_400_000 + 1_000)
  await kit.engine.tick()
  await kit.rest(forgotten, 'completed')
  expect(await resultOf(forgotten)).toBe('no decision')
})

test('a decision after the timeout pays nothing, and further decisions do not pay again', async () => {
  bank.pay = async (amount) => {
    did.push(`paid ${amount}`)
    return 'P1'
  }
  const waits = async (id: number) => (await client.jobs.why(id)).reasons.some(({ code }) => code === 'INPUT')
  const lastRunOf = async (id: number) => (await client.jobs.get(id)).ranAt
  const decide = async (id: number) => {
    const before = await lastRunOf(id)
    await client.ports.write(id, 'in', 'decision', { values: [{ approved: true, by: 'ann' }] })
    await kit.until(async () => (await lastRunOf(id)) !== before)
    await kit.rest(id, 'completed')
  }
  const [late, paid] = [
    await enqueue({ class: 'refund', args: { order: '9', amount: 12 } }),
    await enqueue({ class: 'refund', args: { order: '10', amount: 7 } }),
  ]
  for (const id of [late, paid]) await kit.until(() => waits(id))
  await decide(paid)
  await kit.advance(3 * 86_400_000 + 1_000)
  await kit.engine.tick()
  await kit.rest(late, 'completed')
  for (const id of [late, paid, late]) await decide(id)
  expect(did).toEqual(['paid 7'])
  expect(await resultOf(late)).toBe('no decision')
  expect(await resultOf(paid)).toBe('paid, approved by ann')
})

test('a limited API gets at most two calls at once and ten a second, and none during its Retry-After', async () => {
  let open = 0
  let most = 0
  const server = createServer((request, response) => {
    most = Math.max(most, ++open)
    setTimeout(() => {
      open--
      const isFirst = request.url!.endsWith('busy') && !did.includes('busy')
      if (isFirst) did.push('busy')
      response.writeHead(isFirst ? 429 : 200, { 'retry-after': '2' }).end()
    }, 20)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  api.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const ids: number[] = []
  for (const id of ['busy', ...Array.from({ length: 11 }, (_, i) => String(i))])
    ids.push(await enqueue({ class: 'sync_contact', args: { id } }))
  for (const id of ids) await kit.rest(id, 'completed')
  server.close()
  expect(most).toBeLessThanOrEqual(2)
  expect(did).toEqual(['busy'])
  const { ranAt, createdAt } = await kit.engine.jobs.get(String(ids[0]))
  expect(ranAt! - createdAt).toBeGreaterThanOrEqual(2_000)
})

test('after an outage, the report of each missed night is created', async () => {
  await kit.engine.tick()
  const [schedule] = (await client.schedules.list()).schedules
  expect(schedule).toMatchObject({ class: 'nightly_report', aliases: ['cron:default/nightly_report'] })
  reports.save = async (night) => {
    did.push(night)
  }
  await kit.advance(3 * 86_400_000)
  await kit.until(async () => {
    await kit.engine.tick()
    return did.length >= 3
  })
  const days = did.map((night) => Date.parse(night) / 86_400_000)
  expect(days).toEqual([days[0], days[0]! + 1, days[0]! + 2])
})

test('the flight is cancelled if there is no hotel room', async () => {
  bookings.cancel = async (id) => {
    did.push(`cancel ${id}`)
  }
  const [good, bad] = [
    await enqueue({ class: 'book_trip', args: { rooms: true } }),
    await enqueue({ class: 'book_trip', args: { rooms: false } }),
  ]
  await kit.rest(good, 'completed')
  expect(await resultOf(good)).toEqual({ flight: 'F1', room: 'R1' })
  await kit.rest(bad, 'failed')
  expect(await errorOf(bad)).toBe('no room is available; the flight was cancelled')
  expect(did).toEqual(['cancel F1'])
})

test('an agent stops at the end of its budget, and requests no turn twice', async () => {
  model.ask = async (task, turn) => {
    did.push(`${task} ${turn}`)
    return { says: `turn ${turn}`, cents: 20, done: task === 'easy' && turn === 2 }
  }
  const easy = await enqueue({ class: 'agent', args: { task: 'easy', budget: 100 } })
  const hard = await enqueue({ class: 'agent', args: { task: 'hard', budget: 50 } })
  await kit.rest(easy, 'completed')
  expect(await resultOf(easy)).toEqual({ says: 'turn 2', cents: 40 })
  await kit.rest(hard, 'failed')
  expect(await errorOf(hard)).toBe('the budget is used up after 60 cents: turn 3')
  expect(did.toSorted()).toEqual(['easy 1', 'easy 2', 'hard 1', 'hard 2', 'hard 3'])
})

test('a million rows are processed page by page, and only a failed page is repeated', async () => {
  const pages = ['a', 'b', 'c', 'd']
  source.page = async (cursor) => ({
    rows: [`${cursor || 'a'}1`, `${cursor || 'a'}2`],
    next: pages[pages.indexOf(cursor || 'a') + 1] ?? null,
  })
  const keys = new Set<string>()
  target.upsert = async (rows, key) => {
    did.push(rows[0]!)
    keys.add(key)
    if (rows[0] === 'c1' && did.filter((row) => row === 'c1').length === 1) throw new Error('the database went away')
  }
  const id = await enqueue({ class: 'import_rows', retry: { max: 10, backoff: 0 } })
  await kit.rest(id, 'completed')
  expect(await resultOf(id)).toBe(8)
  expect(did).toEqual(['a1', 'b1', 'c1', 'c1', 'd1'])
  expect(keys.size).toBe(4)
})

test('a page that changes often is indexed once, in its newest version', async () => {
  const ids: number[] = []
  for (let version = 1; version <= 3; version++) ids.push(await enqueue(changed('home', version)))
  expect(new Set(ids).size).toBe(1)
  await kit.advance(31_000)
  await kit.engine.tick()
  await kit.rest(ids[0]!, 'completed')
  expect(await resultOf(ids[0]!)).toBe('home at version 3')
})

test('order lines pass through three jobs, and the flow outputs their totals', async () => {
  const { id } = await client.jobs.enqueue(ordersFlow('FI,10\nSE,5\nnobody\nFI,2.5'))
  await kit.rest(id, 'completed')
  const { values } = await client.ports.read(id, 'out', 'totals')
  expect(values[0]!.data).toEqual({ FI: 12.5, SE: 5 })
  const rejected = await client.ports.read(id, 'out', 'rejected')
  expect(rejected.values.map(({ data }) => data)).toEqual(['nobody'])
})

test('a long file is requested in parts, and only a failed part is requested again', async () => {
  const file = 'a file of more than one part'
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.range!)
    const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(request.headers.range!)!.map(Number)
    if (from === 10 && asked.filter((one) => one === request.headers.range).length === 1)
      return request.socket.destroy()
    const part = file.slice(from, to + 1)
    const range = `bytes ${from}-${from + part.length - 1}/${file.length}`
    response.writeHead(206, { 'content-range': range, etag: '"1"' }).end(part)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  parts.size = 10
  parts.store = async (number, bytes) => void did.push(`${number}: ${new TextDecoder().decode(bytes)}`)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const id = await enqueue({ class: 'fetch_long', args: { url }, retry: { max: 2, backoff: 0 } })
  await kit.rest(id, 'completed')
  server.close()
  expect(await resultOf(id)).toEqual({ bytes: file.length, parts: 3 })
  expect(did).toEqual(['1: a file of ', '2: more than ', '3: one part'])
  expect(asked).toEqual(['bytes=0-9', 'bytes=10-19', 'bytes=10-19', 'bytes=20-29'])
})

test('a job that has not started moves to another queue once, with the values at its ports', async () => {
  await kit.engine.queues.update('slow', { paused: true })
  await kit.engine.queues.update('fast', { paused: true })
  for (const queue of ['slow', 'fast']) await kit.engine.workers.register(queue, 'moved', { pull: true, in: { n: {} } })
  const { id } = await client.jobs.enqueue({ class: 'moved', queue: 'slow', args: { a: 1 }, inputs: { n: [1, 2] } })
  const moved = await moveJob(client, id, 'fast')
  expect((await client.jobs.get(id)).status).toBe('terminated')
  expect(await moveJob(client, id, 'fast')).toBe(moved)
  expect(await client.jobs.get(moved)).toMatchObject({ queue: 'fast', args: { a: 1 }, in: { n: { size: 2 } } })
  await kit.engine.queues.update('fast', { paused: false })
  await client.queues.claim('fast', { max: 1 })
  await expect(moveJob(client, moved, 'slow')).rejects.toMatchObject({ status: 409 })
})

test('docs/recipes.md shows the current files', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/recipes.md'), 'utf8')
  const shown = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!)
  const folder = join(import.meta.dirname, '../../../examples/recipes')
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  const asInstalled = files.map((code) =>
    code.replaceAll("'../../src/index.ts'", "'sidejob'").replaceAll("'../../src/client/index.ts'", "'sidejob/client'"),
  )
  expect(shown.toSorted()).toEqual(asInstalled.toSorted())
})
