// These tests move the clock by months, so they have their own stack.

import { describe, expect, test } from 'vitest'
import { type Body, eventually, useStack } from './kit.ts'

const stack = useStack({})
const { ask, done, make, get, pull, claim, commit, advance } = stack

const gone = async (id: number) => expect((await ask(`GET /v1/jobs/${id}`)).status).toBe(404)
const nothing = async (queue: string) => expect((await ask(`POST /v1/queues/${queue}/claim`, {})).status).toBe(204)
const fail = (token: string) => commit(token, { end: 'failed', error: { message: 'no' } })

test('POST /v1/test/clock advances the clock by seconds or a duration', async () => {
  const kind = await pull()
  const created = async () => Date.parse((await get(await make(kind))).createdAt)
  const before = await created()
  await advance(3600)
  await advance('1h')
  const moved = (await created()) - before
  expect(moved).toBeGreaterThanOrEqual(7_200_000)
  expect(moved).toBeLessThan(7_230_000)
  expect((await ask('POST /v1/test/clock', { advance: 'soon' })).status).toBe(400)
})

describe('retention', () => {
  test('a job without input ports is removed a day after its end, and a job with input ports stays', async () => {
    const kind = await pull()
    const inputs = await pull({ in: { a: {} } })
    const ids = [await make(kind), await make(inputs)]
    for (const { queue } of [kind, inputs]) await commit((await claim(queue)).run.token, { end: 'completed' })
    await advance('23h')
    for (const id of ids) expect((await get(id)).status).toBe('completed')
    await advance('2h')
    await eventually(() => gone(ids[0]!))
    expect((await get(ids[1]!)).status).toBe('completed')
  })

  test('the class sets retain, 0 removes a job at once, and failed jobs stay for 30 days', async () => {
    const short = await pull({ retain: '1h' })
    const zero = await pull({ retain: 0 })
    const [a, b, c] = [await make(short), await make(zero), await make(short)] as [number, number, number]
    const { body } = await ask(`POST /v1/queues/${short.queue}/claim`, { max: 2 })
    for (const { run, job } of body.runs)
      await (job.id === a ? commit(run.token, { end: 'completed' }) : fail(run.token))
    await commit((await claim(zero.queue)).run.token, { end: 'completed' })
    await eventually(() => gone(b))
    await advance('2h')
    await eventually(() => gone(a))
    expect((await get(c)).status).toBe('failed')
    await advance('31 days')
    await eventually(() => gone(c))
  })

  test('a parent and its children are removed together, after all of them have ended', async () => {
    const kind = await pull()
    const parent = await make(kind)
    await commit((await claim(kind.queue)).run.token, {
      end: 'suspended',
      waitFor: 'children',
      ops: [
        { op: 'spawn', name: 'a', ...kind },
        { op: 'spawn', name: 'b', ...kind },
      ],
    })
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 2 })
    const [a, b] = body.runs
    await commit(a.run.token, { end: 'completed' })
    await advance('2 days')
    await eventually(async () => expect((await get(b.job.id)).status).toBe('queued'))
    expect((await get(a.job.id)).status).toBe('completed')
    await advance('2h')
    await commit((await claim(kind.queue, { wait: 5 })).run.token, { end: 'completed' })
    await commit((await claim(kind.queue, { wait: 5 })).run.token, { end: 'completed' })
    expect((await get(parent)).status).toBe('completed')
    await advance('2 days')
    for (const id of [parent, a.job.id, b.job.id]) await eventually(() => gone(id))
  })

  test('an unread result is deleted after an hour, or after keepResult', async () => {
    const kind = await pull({ in: { a: {} } })
    const hour = await make({ ...kind, keepResult: true })
    const longer = await make({ ...kind, keepResult: '3h' })
    const { body } = await ask(`POST /v1/queues/${kind.queue}/claim`, { max: 2 })
    for (const { run } of body.runs) await commit(run.token, { end: 'completed', result: 1 })
    await advance('61m')
    expect((await ask(`GET /v1/jobs/${hour}/result`)).body).toBeNull()
    expect((await ask(`GET /v1/jobs/${longer}/result`)).body).toMatchObject({ result: 1 })
  })
})

describe('backoff', () => {
  test('starts at 10 s and doubles up to an hour, plus up to 20%', async () => {
    const kind = await pull()
    const id = await make({ ...kind, retry: { max: 20 } })
    for (let n = 0; n < 11; n++) {
      await fail((await claim(kind.queue)).run.token)
      const { until } = (await done(`GET /v1/jobs/${id}/why`)).reasons[0]
      const now = Date.parse((await get(await make(await pull()))).createdAt)
      const wait = (Date.parse(until) - now) / 1000
      const base = Math.min(3600, 10 * 2 ** n)
      expect(wait).toBeGreaterThan(base - 3)
      expect(wait).toBeLessThan(base * 1.2 + 1)
      await nothing(kind.queue)
      await advance(base * 1.2 + 1)
    }
  })
})

describe('lost runs', () => {
  test('are leased again with backoff, and the tenth fails the job', async () => {
    const kind = await pull()
    const id = await make(kind)
    for (let lost = 0; lost < 10; lost++) {
      const { run } = await claim(kind.queue, { lease: 30, wait: 5 })
      expect([run.lost, run.attempt]).toEqual([lost, 1])
      await advance('31s')
      await ask(`POST /v1/queues/${kind.queue}/claim`, {})
      await advance('2h')
    }
    expect(await get(id)).toMatchObject({ status: 'failed', lost: 10 })
  })

  test('are found by the tick, without a call', async () => {
    const kind = await pull()
    const id = await make(kind)
    await claim(kind.queue, { lease: 30 })
    await advance('3m')
    await eventually(async () => expect(await get(id)).toMatchObject({ status: 'queued', lost: 1 }))
  })
})

describe('schedules', () => {
  const slots = async (repeat: object, from: string): Promise<string[]> => {
    const kind = await pull()
    const { id } = await done('POST /v1/schedules', { ...kind, repeat, at: from })
    return (await done(`GET /v1/schedules/${id}`)).next
  }

  test('a cron time in a skipped hour runs once after it, and in a repeated hour once, the first time', async () => {
    const berlin = { cron: '30 2 * * *', tz: 'Europe/Berlin' }
    // Clock changes: 2:00 becomes 3:00 on 28 March 2027, and 3:00 becomes 2:00 on 31 October 2027.
    expect((await slots(berlin, '2027-03-27T01:30:00Z')).slice(0, 3)).toEqual([
      '2027-03-27T01:30:00.000Z',
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
    expect((await slots(berlin, '2027-10-30T00:30:00Z')).slice(0, 3)).toEqual([
      '2027-10-30T00:30:00.000Z',
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ])
  })

  test('hourly patterns run in both repeated hours', async () => {
    const hourly = { cron: '15 * * * *', tz: 'Europe/Berlin' }
    expect((await slots(hourly, '2027-10-30T23:15:00Z')).slice(0, 4)).toEqual([
      '2027-10-30T23:15:00.000Z',
      '2027-10-31T00:15:00.000Z',
      '2027-10-31T01:15:00.000Z',
      '2027-10-31T02:15:00.000Z',
    ])
  })

  test('a pattern with six fields begins with seconds', async () => {
    expect((await slots({ cron: '*/20 * * * * *' }, '2027-01-01T00:00:00Z')).slice(0, 3)).toEqual([
      '2027-01-01T00:00:00.000Z',
      '2027-01-01T00:00:20.000Z',
      '2027-01-01T00:00:40.000Z',
    ])
  })

  test('SCHEDULED runs for each missed time, and FINISHED does not', async () => {
    const runs = async (repeat: string) => {
      const kind = await pull()
      await make({ ...kind, repeat })
      await commit((await claim(kind.queue)).run.token, { end: 'completed' })
      await advance('190m')
      let n = 0
      for (;;) {
        const { status, body } = await ask(`POST /v1/queues/${kind.queue}/claim`, {})
        if (status === 204) return n
        n += 1
        await commit(body.runs[0].run.token, { end: 'completed' })
      }
    }
    expect(await runs('SCHEDULED, +1 HOUR')).toBe(3)
    expect(await runs('FINISHED, +1 HOUR')).toBe(1)
  })
})

test('a push job that waits for months runs at its time', async () => {
  const id = await make({ class: 'count_words', wait: '120 days' })
  await advance('119 days')
  expect((await get(id)).status).toBe('queued')
  await advance('2 days')
  await eventually(async () => expect((await get(id)).status).toBe('completed'))
})

test('a debounced job runs once after the last request, with the newest args', async () => {
  const kind = await pull()
  const unique = { key: 'd', debounce: { wait: '10m', max: '25m' } }
  const trigger = (n: number, key: string): Promise<Body> =>
    done('POST /v1/jobs', { ...kind, args: { n }, unique }, { headers: { 'idempotency-key': `debounced ${key}` } })
  const { id } = await trigger(1, 'a')
  for (const n of [2, 3]) {
    await advance('9m')
    expect(await trigger(n, `${n}`)).toMatchObject({ id, status: 'queued', existing: true })
  }
  const { runAt } = await get(id)
  await advance('6m')
  expect(await trigger(3, '3')).toMatchObject({ id, existing: true })
  expect((await get(id)).runAt).toBe(runAt)
  await advance('2m')
  const run = await claim(kind.queue)
  expect(run.job).toMatchObject({ id, args: { n: 3 } })
  expect((await trigger(4, 'd')).id).not.toBe(id)
})

test('a unique key is free after its job has ended, and an Idempotency-Key is forgotten after a day', async () => {
  const kind = await pull({ in: { a: {} } })
  const once = { headers: { 'idempotency-key': 'long ago' } }
  const first = await done('POST /v1/jobs', kind, once)
  await advance('25h')
  const again: Body = await done('POST /v1/jobs', kind, once)
  expect(again.id).not.toBe(first.id)
})

test('a key that a client created for its retries is forgotten after ten minutes', async () => {
  const kind = await pull()
  const once = { headers: { 'idempotency-key': 'retry:1' } }
  const first = await done('POST /v1/jobs', kind, once)
  await advance('9m')
  expect(await done('POST /v1/jobs', kind, once)).toMatchObject({ id: first.id })
  await advance('2m')
  expect((await done('POST /v1/jobs', kind, once)).id).not.toBe(first.id)
})
