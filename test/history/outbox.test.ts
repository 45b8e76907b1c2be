import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { createEngine, type Engine } from '../../src/engine/index.ts'
import type { SqlDatabase } from '../../src/history/database.ts'
import { createHistoryStore, type HistoryStore } from '../../src/history/store.ts'
import { defineWorker, Terminal } from '../../src/index.ts'
import { createClient } from '../../src/redis/client.ts'
import { drain } from '../../src/testing/index.ts'
import { counted } from '../kit/counted.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { costOf } from '../redis/commandstats.ts'
import { databases } from './databases.ts'

const plain = defineWorker({ class: 'plain', perform: () => undefined })
const adds = defineWorker({
  class: 'adds',
  perform: ({ args }) => {
    const { n, fail } = (args ?? {}) as { n?: number; fail?: string }
    if (fail) throw new Terminal(fail)
    return { sum: (n ?? 0) + 1 }
  },
})
const secret = defineWorker({ class: 'secret', redact: ['args.card', 'result.card'], perform: ({ args }) => args })
const brief = defineWorker({ class: 'brief', retain: 0, perform: () => 'done' })
const calls = defineWorker({
  class: 'calls',
  async perform(job) {
    for (const _ of [1, 2]) await job.callWorker('plain')
  },
})
const more = Array.from({ length: 40 }, (_, n) => `args.private.field_${n}`)
const careful = defineWorker({
  class: 'careful',
  redact: ['args.card', 'error.message', ...more],
  perform: ({ args }) => {
    throw new Terminal((args as { card: string }).card)
  },
})
const workers = [plain, adds, secret, brief, calls, careful]

describe.each(Object.entries(databases))('with %s', (_, open) => {
  let opened: { db: SqlDatabase; close: () => unknown }
  let kit: Kit
  let store: HistoryStore
  let broken: 'before' | 'after' | undefined

  beforeAll(async () => {
    opened = await open()
    const base = createHistoryStore(opened.db)
    store = {
      ...base,
      async write(...rows) {
        if (broken === 'before') throw new Error('D1_ERROR: database is down')
        await base.write(...rows)
        if (broken === 'after') throw new Error('D1_ERROR: connection lost')
      },
    }
    kit = await startKit({ workers, hold: true, historyStore: { store, days: 30 } })
    await kit.engine.history.begin()
  })
  afterAll(async () => {
    await kit.close()
    await opened.close()
  })
  beforeEach(() => {
    broken = undefined
  })
  afterEach(async () => {
    expect(await kit.engine.doctor.verify()).toEqual([])
  })

  const ends = async (engine: Engine = kit.engine) => (await engine.history.list({ limit: 1_000 })).jobs
  const endsOf = async (id: number) => (await ends()).filter((job) => job.id === id)
  const settle = async () => {
    for (let n = 0; n < 3; n++) await drain(kit.engine).catch(() => undefined)
  }
  const stored = async () => {
    await kit.engine.history.drain()
    return (await kit.engine.history.status()).waiting
  }

  test('an ended job is stored with its facts, result, error and labels', async () => {
    const id = await kit.make('adds', { args: '{"n":4}', labels: '{"customer":"7"}', priority: 3, createdBy: 'ana' })
    const bad = await kit.make('adds', { args: '{"fail":"card 4711 is closed"}' })
    await settle()
    expect(await stored()).toBe(0)
    const [good] = await endsOf(id)
    expect(good).toMatchObject({
      status: 'completed',
      queue: 'default',
      class: 'adds',
      args: '{"n":4}',
      result: '{"sum":5}',
      error: null,
      labels: { customer: '7' },
      priority: 3,
      createdBy: 'ana',
      attempts: 1,
    })
    expect(good!.endedAt).toBeGreaterThanOrEqual(good!.startedAt!)
    const { ends: found, runs } = await kit.engine.history.get(String(bad))
    expect(found).toMatchObject([{ status: 'failed', kind: expect.stringMatching(/^[0-9a-f]{16}$/) }])
    expect(JSON.parse(found[0]!.error!)).toMatchObject({ message: 'card 4711 is closed' })
    expect(runs).toMatchObject([{ outcome: 'failed', attempt: 1 }])
    expect(await kit.engine.jobs.get(String(bad))).toMatchObject({ status: 'failed' })
  })

  test('a function that ran three times had one attempt in the history', async () => {
    const id = await kit.make('calls')
    await settle()
    await stored()
    expect(await endsOf(id)).toMatchObject([{ status: 'completed', attempts: 3 }])
    expect((await kit.engine.jobs.get(String(id), { details: true })).cost).toMatchObject({ total: 3 })
  })

  test('jobs that wait and end in pieces are stored separately', async () => {
    const before = (await ends()).length
    const { jobs } = await kit.engine.jobs.enqueue(
      Array.from({ length: 250 }, (_, n) => ({
        queue: 'default',
        class: 'plain',
        args: `{"n":${n}}`,
        labels: '{"lot":"1"}',
      })) as never,
    )
    await kit.engine.dispatch('default', '')
    expect(await stored()).toBe(0)
    const all = await ends()
    expect(all.length - before).toBe(250)
    expect(all.find(({ id }) => id === jobs[117]!.id)).toMatchObject({ args: '{"n":117}', labels: { lot: '1' } })
  })

  test('a job that is deleted at its end, or by force, is stored with large args', async () => {
    const args = JSON.stringify({ text: 'x'.repeat(2_000) })
    const gone = await kit.make('brief', { args })
    const deleted = await kit.make('plain', { args, wait: 60_000 })
    await kit.engine.jobs.remove(String(deleted), { force: true })
    await drain(kit.engine)
    await expect(kit.engine.jobs.get(String(gone))).rejects.toThrow('does not exist')
    expect(await stored()).toBe(0)
    expect(await endsOf(gone)).toMatchObject([{ status: 'completed', args, result: '"done"' }])
    expect(await endsOf(deleted)).toMatchObject([{ status: 'terminated', args }])
  })

  test('values above 32 KiB are replaced by their size', async () => {
    const id = await kit.make('plain', { args: JSON.stringify('x'.repeat(40_000)) })
    await drain(kit.engine)
    await stored()
    expect(await endsOf(id)).toMatchObject([{ args: '{"$large":40002}' }])
  })

  test('redacted values are masked before they are stored', async () => {
    const id = await kit.make('secret', { args: '{"card":"4111","name":"Ann"}' })
    await drain(kit.engine)
    await stored()
    const masked = '{"card":"[redacted]","name":"Ann"}'
    expect(await endsOf(id)).toMatchObject([{ args: masked, result: masked }])
    const rows = await opened.db.all(['SELECT args, result FROM ends WHERE job = ?', id])
    expect(JSON.stringify(rows)).not.toContain('4111')
  })

  test('the history stored the secrets of a class with more than 512 bytes of redacted paths', async () => {
    const id = await kit.make('careful', { args: '{"card":"4111","name":"Ann"}' })
    await settle()
    await stored()
    const rows = await Promise.all(
      ['ends', 'runs'].map((table) => opened.db.all([`SELECT * FROM ${table} WHERE job = ?`, id])),
    )
    expect(rows.map(({ length }) => length)).toEqual([1, 1])
    expect(JSON.stringify(rows)).not.toContain('4111')
  })

  test('a job that is run again is stored with both ends', async () => {
    const id = await kit.make('adds', { args: '{"fail":"no"}' })
    await settle()
    await kit.engine.jobs.update(String(id), { args: encodeValue({ n: 1 }) })
    await kit.engine.jobs.retry(String(id))
    await drain(kit.engine)
    await stored()
    expect((await endsOf(id)).map(({ status }) => status)).toEqual(['completed', 'failed'])
  })

  test('an error of the database before or after the write neither loses nor doubles an end', async () => {
    const before = (await ends()).length
    for (const when of ['before', 'after'] as const) {
      broken = when
      await kit.make('plain')
      await drain(kit.engine)
      expect(await stored()).toBeGreaterThan(0)
      expect((await kit.engine.history.status()).error).toMatch(/^D1_ERROR/)
      expect((await kit.engine.health()).problems).toMatchObject([{ of: 'history' }])
      broken = undefined
      expect(await stored()).toBe(0)
      expect((await kit.engine.history.status()).error).toBeNull()
    }
    expect((await ends()).length - before).toBe(2)
  })

  test('many isolates that store at the same time store each end once', async () => {
    const before = (await ends()).length
    for (let n = 0; n < 40; n++) await kit.make('plain', { args: String(n) })
    await kit.engine.dispatch('default', '')
    const others = Array.from({ length: 5 }, () =>
      createEngine({ ...kit.engineOptions, historyStore: { store, days: 30 } }),
    )
    await Promise.all(others.map((engine) => engine.history.drain()))
    expect(await stored()).toBe(0)
    expect((await ends()).length - before).toBe(40)
  })

  test('a database that was down for an hour stores all ends afterwards', async () => {
    const before = (await ends()).length
    broken = 'before'
    for (let minute = 0; minute < 60; minute += 10) {
      await kit.make('plain')
      await drain(kit.engine)
      await kit.engine.tick()
      await kit.advance(600_000)
    }
    expect((await ends()).length).toBe(before)
    broken = undefined
    await kit.engine.tick()
    expect((await ends()).length - before).toBe(6)
  })

  test('a full outbox stops claims until the history has stored it', async () => {
    const redis = createClient(kit.options)
    await stored()
    const head = (await redis.ask((one) => one.get('sidejob:outbox'))) as string
    const [from, till] = head.split(',')
    await redis.ask((one) => one.set('sidejob:outbox', `${from},${Number(till) + 1},67108864,${kit.now()}`))
    await redis.ask((one) => one.set(`sidejob:outbox:${till}`, '["x"'))
    expect((await kit.engine.history.status()).full).toBe(true)
    const { problems } = await kit.engine.health()
    expect(problems).toMatchObject([{ of: 'history', message: expect.stringContaining('no jobs are claimed') }])
    const id = await kit.make('plain')
    await kit.engine.dispatch('default', '')
    expect(await kit.statusOf(id)).toBe('queued')
    expect(await stored()).toBe(0)
    await kit.engine.dispatch('default', '')
    expect(await kit.statusOf(id)).toBe('completed')
  })

  test('a full outbox is deleted if no deployment reads it for an hour, so that jobs run', async () => {
    const redis = createClient(kit.options)
    await stored()
    const [from, till] = ((await redis.ask((one) => one.get('sidejob:outbox'))) as string).split(',')
    await redis.ask((one) => one.set(`sidejob:outbox:${till}`, '["x"'))
    await redis.ask((one) => one.set('sidejob:outbox', `${from},${Number(till) + 1},67108864,${kit.now() - 3_700_000}`))
    const { historyStore: _, ...without } = kit.engineOptions
    const other = createEngine(without)
    await kit.make('plain')
    await kit.advance(120_000)
    await other.tick()
    expect(await redis.ask((one) => one.keys('sidejob:outbox*'))).toEqual([])
    await drain(other)
    expect((await other.history.status()).on).toBe(false)
    await createEngine(kit.engineOptions).history.begin()
  })

  counted('without a history, no ended job is stored, and a history adds no command to a commit', async () => {
    const run = async (engine: Engine) => {
      await engine.jobs.enqueue(
        Array.from({ length: 100 }, (_, n) => ({ queue: 'default', class: 'plain', args: String(n) })) as never,
      )
      const { billed } = await costOf(kit, () => engine.dispatch('default', ''))
      return billed
    }
    await run(kit.engine)
    await stored()
    const withHistory = await run(kit.engine)
    await createClient(kit.options).ask((one) => one.del('sidejob:outbox'))
    const { historyStore: _, ...without } = kit.engineOptions
    const other = createEngine(without)
    await run(other)
    const bare = await run(other)
    expect(withHistory).toBe(bare)
    expect(await createClient(kit.options).ask((one) => one.exists('sidejob:outbox'))).toBe(0)
    await createEngine(kit.engineOptions).history.begin()
  })

  test('the tick deletes ends that are older than the set number of days', async () => {
    const id = await kit.make('adds', { args: '{"fail":"old"}', labels: '{"age":"old"}' })
    await settle()
    await stored()
    expect(await endsOf(id)).toHaveLength(1)
    await kit.advance(31 * 86_400_000)
    await kit.engine.tick()
    expect(await endsOf(id)).toHaveLength(0)
    for (const table of ['ends', 'labels', 'runs'])
      expect(await opened.db.all([`SELECT count(*) AS n FROM ${table}`])).toEqual([{ n: 0 }])
  })
})
