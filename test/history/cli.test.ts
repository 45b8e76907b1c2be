import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { historyCommands } from '../../src/cli/history.ts'
import { createClient } from '../../src/client/index.ts'
import { createEngine } from '../../src/engine/index.ts'
import { sqliteDatabase } from '../../src/history/sqlite.ts'
import { createHistoryStore } from '../../src/history/store.ts'
import { createApp } from '../../src/http/app.ts'
import { createPlaces } from '../../src/http/places.ts'
import { defineWorker } from '../../src/index.ts'
import { drain } from '../../src/testing/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const zip = defineWorker({ class: 'zip', perform: ({ args }) => args })
const secret = defineWorker({ class: 'secret', redact: ['args.card'], perform: () => undefined })
const db = sqliteDatabase(':memory:')
const historyStore = { store: createHistoryStore(db), days: 90 }

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [zip, secret], hold: true, historyStore })
  await kit.engine.history.begin()
})
afterAll(async () => {
  await kit.close()
  db.close()
})

const clientOf = (engine: Kit['engine'], { url = 'http://sidejob', key = 'dev' } = {}) => {
  const app = createApp({
    engine,
    verify: async () => true,
    publicUrl: 'http://sidejob',
    report: console.error,
    tenants: createPlaces(engine, (tenant) => ({
      engine: createEngine({ ...kit.engineOptions, namespace: `~t:${tenant}:`, tenant, apiKey: undefined }),
      publicUrl: `http://sidejob/t/${tenant}`,
    })),
  })
  return createClient({ url, key, fetch: async (request) => app.fetch(request) })
}

async function shell(name: string, given: object, words: string[] = [], json = true): Promise<unknown[]> {
  const shown: unknown[] = []
  const io = { show: (data: unknown) => shown.push(data), note: (line: string) => shown.push(line), json }
  await historyCommands[name]!.run(clientOf(kit.engine), given as never, io as never, words)
  return shown
}

test('an ended job is found by label and by args after Redis has forgotten it', async () => {
  const client = clientOf(kit.engine)
  const { id } = await client.jobs.enqueue({
    class: 'zip',
    args: { order: 4711 },
    labels: { customer: '7' },
    retain: 0,
  })
  await client.jobs.enqueue({ class: 'zip', args: { order: 4712 } })
  await drain(kit.engine)
  await kit.engine.tick()
  await expect(client.jobs.get(id)).rejects.toThrow('does not exist')
  const { jobs } = await client.history.list({ labels: { customer: '7' }, args: { order: '4711' } })
  expect(jobs).toMatchObject([
    { id, status: 'completed', args: { order: 4711 }, result: { order: 4711 }, labels: { customer: '7' } },
  ])
  expect(Date.parse(jobs[0]!.endedAt)).toBeGreaterThan(0)
  expect(await client.history.get(id)).toMatchObject({ ends: [{ id }], runs: [] })
  expect(await shell('history ls', { label: ['customer=7'], arg: ['order=4711'], limit: '5' })).toMatchObject([
    { jobs: [{ id }], cursor: null },
  ])
  expect(await shell('history ls', { class: 'zip', limit: '1' }, [], false)).toMatchObject([
    [{ class: 'zip' }],
    expect.stringMatching(/^searched back to .* more with --cursor \d+\.\d+$/),
  ])
  expect(await shell('history show', {}, [String(id)])).toMatchObject([{ ends: [{ id }] }])
  expect(await shell('history status', {})).toMatchObject([{ on: true, waiting: 0, full: false, keptDays: 90 }])
})

test('a deployment without a history shows the remedy, and an unknown job is not found', async () => {
  const { historyStore: _, ...without } = kit.engineOptions
  await expect(clientOf(createEngine(without)).history.list()).rejects.toThrow(
    'this deployment has no history: bind a D1 database as HISTORY',
  )
  await expect(clientOf(kit.engine).history.get(9_999)).rejects.toThrow('the history has no job 9999')
})

test('an admin can query in SQL, values stay sealed and masked, and the audit log has the query', async () => {
  const client = clientOf(kit.engine)
  await client.jobs.enqueue({ class: 'secret', args: { card: '4111', name: 'Ann' } })
  await drain(kit.engine)
  await kit.engine.history.drain()
  const sql = "SELECT class, count(*) AS n, max(args) AS args FROM ends WHERE class = 'secret'"
  const rows = [{ class: 'secret', n: 1, args: '{"card":"[redacted]","name":"Ann"}' }]
  expect(await client.history.sql({ sql })).toEqual({ rows, more: false })
  expect(await shell('history sql', { limit: '5' }, [sql])).toEqual([{ rows, more: false }])
  expect(await shell('history sql', { limit: '1' }, ['SELECT job FROM ends'], false)).toMatchObject([
    [{ job: expect.any(Number) }],
    'more rows match: add conditions, or LIMIT and OFFSET',
  ])
  await expect(client.history.sql({ sql: 'DROP TABLE ends' })).rejects.toThrow(
    'sql: expected a query that begins with SELECT, WITH, VALUES',
  )
  const { entries } = await kit.engine.audit.read({ limit: 10 })
  expect(entries.find(({ change }) => change?.includes('DROP TABLE'))).toMatchObject({ verb: 'history.sql' })
})

test('the queries of the manual are answered', async () => {
  const page = readFileSync(new URL('../../docs/history.md', import.meta.url), 'utf8')
  const queries = [...page.matchAll(/^npx sidejob history sql "(.*)"$/gm)].map(([, query]) => query!)
  expect(queries).toHaveLength(2)
  for (const query of queries)
    expect(await shell('history sql', { limit: '9' }, [query])).toMatchObject([{ more: false }])
})

test('SQL needs the scope admin, and is not available inside a tenant', async () => {
  const { key } = await kit.engine.keys.add({ name: 'writer', scopes: ['read', 'write'] })
  const body = { sql: 'SELECT 1' }
  await expect(clientOf(kit.engine, { key }).history.sql(body)).rejects.toThrow(/needs the scope "?admin/)
  await clientOf(kit.engine).tenants.add('globex', {})
  const inside = clientOf(kit.engine, { url: 'http://sidejob/t/globex' })
  await expect(inside.history.sql(body)).rejects.toThrow('is not available inside a tenant')
  expect(await inside.history.list()).toMatchObject({ jobs: [] })
})

test('erasing a tenant erases only its history', async () => {
  const client = clientOf(kit.engine)
  const before = (await client.history.list()).jobs.length
  await client.tenants.add('acme', {})
  const engine = createEngine({ ...kit.engineOptions, namespace: '~t:acme:', tenant: 'acme' })
  await engine.history.begin()
  await engine.jobs.enqueue([{ queue: 'default', class: 'zip' }] as never)
  await drain(engine)
  await engine.history.drain()
  expect((await engine.history.list({})).jobs).toHaveLength(1)
  for (let cursor: string | null | undefined; cursor !== null; )
    ({ cursor } = await client.tenants.remove('acme', { erase: true, ...(cursor ? { cursor } : {}) } as never))
  expect((await engine.history.list({})).jobs).toEqual([])
  expect((await client.history.list()).jobs).toHaveLength(before)
})
