import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobInput } from '../../src/core/schemas.ts'
import { runLines } from '../../src/engine/api/past-runs.ts'
import { breakerDefaults } from '../../src/engine/remote/circuit-breaker.ts'
import { defineWorker, type Job, Terminal } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'
import { type Came, type Receiver, startReceiver } from '../kit/receiver.ts'

const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
/** During a change of the secret, the old secret and this secret are valid. */
const NEXT = `whsec_${Buffer.from('the next secret').toString('base64')}`
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

const answer = defineWorker({ class: 'answer', perform: (job: Job) => job.args })
const gone = defineWorker({ class: 'gone', retain: 0, perform: () => ({ gone: true }) })
const broken = defineWorker({
  class: 'broken',
  perform() {
    throw new Terminal('no such thing', { detail: { code: 7 } })
  },
})
const stays = defineWorker({ class: 'stays', perform: (job: Job) => job.suspend() })
const tidies = defineWorker({ class: 'tidies', perform: () => 1, shutdown: () => undefined })

function isSigned({ headers, body }: Came, secret = SECRET): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  return headers['webhook-signature']!.split(' ').includes(expected)
}

let kit: Kit
let receiver: Receiver
let offset = 0

beforeAll(async () => {
  kit = await startKit({
    workers: [answer, gone, broken, stays, tidies],
    webhookSecrets: [SECRET, NEXT],
    random: () => 0.5,
  })
  // The tick registers the class of callbacks as a class that makes HTTP calls. A lane claims only a few of its jobs.
  await kit.engine.tick()
})
afterAll(() => kit.close())
beforeEach(async () => {
  receiver = await startReceiver(undefined, () => Date.now() + offset)
})
afterEach(() => receiver.close())

const make = (className: string, more: object = {}) =>
  kit.make(className, { callback: { url: `${receiver.url}/hook` }, ...more })
const callbackOf = async (id: number) => (await kit.engine.jobs.get(String(id))).callback
const state = (id: number, wanted: string) => kit.until(async () => (await callbackOf(id))?.state === wanted)
const tried = (id: number, attempts: number) =>
  kit.until(async () => {
    const is = await callbackOf(id)
    return is?.state === 'PENDING' && is.attempts === attempts
  })
const endsOf = (came: readonly Came[]) => came.map(({ headers }) => headers['webhook-id']!.replace(/_[a-z0-9]{8}$/, ''))
const advance = async (ms: number) => {
  offset += ms
  await kit.advance(ms)
  await kit.engine.tick()
}

describe('one callback for each end', () => {
  test('a completed job is reported with its result, signed', async () => {
    const id = await make('answer', { args: '{"n":12345678901234567890}' })
    await state(id, 'DELIVERED')
    expect(receiver.came).toHaveLength(1)
    const [came] = receiver.came
    expect(came).toMatchObject({ method: 'POST', path: '/hook' })
    const { finishedAt } = JSON.parse(came!.body) as { finishedAt: string }
    expect(came!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `end_${id}_1_${Date.parse(finishedAt).toString(36)}`,
    })
    expect(JSON.parse(came!.body)).toMatchObject({ id, class: 'answer', status: 'completed', type: 'success' })
    expect([isSigned(came!), isSigned(came!, NEXT)]).toEqual([true, true])
    expect(await callbackOf(id)).toMatchObject({ state: 'DELIVERED', attempts: 1, lastError: null })
  })

  test('a failed job is reported with its error, without its stack', async () => {
    const id = await make('broken')
    await state(id, 'DELIVERED')
    expect(JSON.parse(receiver.came[0]!.body)).toMatchObject({
      status: 'failed',
      type: 'failure',
      reason: 'other',
      message: 'no such thing',
      error: { code: 7 },
    })
    expect(receiver.came[0]!.body).not.toContain('stack')
  })

  test('a terminated job is reported once', async () => {
    const id = await make('stays')
    await kit.rest(id, 'suspended')
    expect(await callbackOf(id)).toEqual({ state: null, attempts: 0, lastError: null, job: null })
    await kit.engine.jobs.terminate(String(id), {})
    await kit.engine.jobs.terminate(String(id), {})
    await state(id, 'DELIVERED')
    expect(JSON.parse(receiver.came[0]!.body)).toMatchObject({ status: 'terminated', type: 'failure' })
    expect(receiver.came).toHaveLength(1)
  })

  test('a job that is deleted at its end is still reported', async () => {
    await make('gone')
    await kit.until(() => receiver.came.length === 1)
    expect(JSON.parse(receiver.came[0]!.body)).toMatchObject({ result: { gone: true } })
  })

  test('a job that ends twice is reported twice, each time under its own id', async () => {
    const id = await make('answer', { args: '1' })
    await state(id, 'DELIVERED')
    await kit.engine.jobs.run(String(id), {})
    await kit.until(() => receiver.came.length === 2)
    expect(endsOf(receiver.came)).toEqual([`end_${id}_1`, `end_${id}_2`])
  })

  test('a reported end is not reported again when the job is terminated or deleted', async () => {
    const [plain, hooked, deleted] = await Promise.all([
      make('answer', { args: '1' }),
      make('tidies'),
      make('answer', { args: '2' }),
    ])
    for (const id of [plain, hooked, deleted]) await state(id, 'DELIVERED')
    await kit.engine.jobs.terminate(String(plain), {})
    await kit.engine.jobs.terminate(String(hooked), {})
    await kit.engine.jobs.remove(String(deleted), { force: true })
    for (const id of [plain, hooked]) await kit.rest(id, 'terminated')
    const last = await make('answer', { args: '3' })
    await state(last, 'DELIVERED')
    expect(receiver.came).toHaveLength(4)
  })

  test('a job terminated or deleted before its end is reported once', async () => {
    const [terminated, deleted] = await Promise.all([make('answer', { wait: HOUR }), make('answer', { wait: HOUR })])
    await kit.engine.jobs.terminate(String(terminated), {})
    await kit.engine.jobs.terminate(String(terminated), {})
    await kit.engine.jobs.remove(String(terminated), {})
    await kit.engine.jobs.remove(String(deleted), { force: true })
    await kit.until(() => receiver.came.length === 2)
    const told = receiver.came.map(({ body }) => JSON.parse(body) as { id: number; status: string })
    expect(told.map(({ status }) => status)).toEqual(['terminated', 'terminated'])
    expect(told.map(({ id }) => id).sort()).toEqual([terminated, deleted].sort())
  })

  test('a job that runs again after termination, or is retried manually, is reported again', async () => {
    const forced = await make('answer', { args: '1' })
    await state(forced, 'DELIVERED')
    await kit.engine.jobs.terminate(String(forced), {})
    await kit.engine.jobs.run(String(forced), { force: true })
    await kit.until(() => receiver.came.length === 2)
    const retried = await make('broken')
    await state(retried, 'DELIVERED')
    await kit.engine.jobs.retry(String(retried))
    await kit.until(() => receiver.came.length === 4)
    expect(endsOf(receiver.came)).toEqual([
      `end_${forced}_1`,
      `end_${forced}_2`,
      `end_${retried}_1`,
      `end_${retried}_2`,
    ])
  })

  test('a job without a callback sends none', async () => {
    const id = await kit.make('answer', { args: '1' })
    await kit.rest(id, 'completed')
    expect(await callbackOf(id)).toBeNull()
  })

  test("the callback's own headers and secret are used", async () => {
    const own = `whsec_${Buffer.from('another').toString('base64')}`
    const id = await make('answer', {
      args: '1',
      callback: { url: receiver.url, headers: { 'x-tenant': 'a' }, secret: own },
    })
    await state(id, 'DELIVERED')
    expect(receiver.came[0]!.headers['x-tenant']).toBe('a')
    expect(isSigned(receiver.came[0]!, own)).toBe(true)
    expect(isSigned(receiver.came[0]!)).toBe(false)
  })

  test('a forbidden address is refused when the job is created', async () => {
    await expect(make('answer', { callback: { url: 'http://10.0.0.1/' } })).rejects.toMatchObject({
      code: 'REFUSED',
      path: ['callback', 'url'],
    })
  })

  test('a callback through a Kafka REST proxy is a record, and a refusal by the broker is a failure', async () => {
    let refuse = true
    receiver.answer = (_, response) => {
      const offset = refuse ? { error_code: 1, error: 'no leader' } : { partition: 0, offset: 1 }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ offsets: [offset] }))
    }
    const id = await make('answer', { args: '5', callback: { kafka: { url: receiver.url, topic: 'ends' } } })
    await kit.until(async () => (await callbackOf(id))!.lastError !== null)
    expect((await callbackOf(id))!.lastError).toContain('no leader')
    refuse = false
    await advance(6 * SECOND)
    await state(id, 'DELIVERED')
    expect(receiver.came[0]!.path).toBe('/topics/ends')
    expect(JSON.parse(receiver.came[0]!.body).records[0].value).toMatchObject({ id, result: 5 })
  })
})

test('a 200 from a server other than a Kafka REST proxy delivers nothing', async () => {
  for (const answer of ['<html>', 'null', '{"offsets":[]}', 'x'.repeat(100_000)]) {
    receiver.answer = (_, response) => response.writeHead(200).end(answer)
    const callback = { kafka: { url: receiver.url, topic: 'ends' }, retry: [] }
    const id = await make('answer', { args: '5', callback })
    await state(id, 'FAILED')
    expect((await callbackOf(id))!.lastError).toContain('expected the response of a Kafka REST proxy')
  }
})

describe('attempts', () => {
  test('a failed attempt is repeated on schedule, with the same body and id', async () => {
    let broken = 2
    receiver.answer = (_, response) => response.writeHead(broken-- > 0 ? 500 : 204).end()
    const id = await make('answer', { args: '{"a":[1,2]}' })
    await kit.until(async () => (await callbackOf(id))!.lastError !== null)
    expect(await callbackOf(id)).toMatchObject({ state: 'PENDING', attempts: 1 })
    expect((await callbackOf(id))!.lastError).toContain('answered 500')
    await advance(6 * SECOND)
    await kit.until(() => receiver.came.length === 2)
    await tried(id, 2)
    await advance(4 * MINUTE)
    expect(receiver.came).toHaveLength(2)
    await advance(MINUTE + SECOND)
    await state(id, 'DELIVERED')
    expect(new Set(receiver.came.map(({ body }) => body)).size).toBe(1)
    expect(new Set(receiver.came.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.came.every((came) => isSigned(came))).toBe(true)
    expect((await callbackOf(id))!.attempts).toBe(3)
  })

  test('Retry-After is a minimum delay', async () => {
    receiver.answer = (_, response) => response.writeHead(503, { 'retry-after': '120' }).end()
    const id = await make('answer', { args: '1' })
    await kit.until(async () => (await callbackOf(id))!.lastError !== null)
    await advance(60 * SECOND)
    expect(receiver.came).toHaveLength(1)
    receiver.answer = (_, response) => response.end()
    await advance(61 * SECOND)
    await state(id, 'DELIVERED')
  })

  test('an unanswered callback is abandoned at its timeout', async () => {
    receiver.answer = () => undefined
    const id = await make('answer', { args: '1', callback: { url: receiver.url, timeout: 200, retry: [] } })
    await state(id, 'FAILED')
    expect((await callbackOf(id))!.lastError).toContain('did not answer in time')
  })

  test('410 ends the attempts, and a redirect is not followed', async () => {
    receiver.answer = ({ path }, response) =>
      response.writeHead(path === '/hook' ? 410 : 302, { location: `${receiver.url}/other` }).end()
    const stopped = await make('answer', { args: '1' })
    await state(stopped, 'FAILED')
    const moved = await make('answer', { args: '1', callback: { url: `${receiver.url}/moved`, retry: [] } })
    await state(moved, 'FAILED')
    expect((await callbackOf(moved))!.lastError).toContain('redirects are not followed')
    expect(receiver.came.map(({ path }) => path)).toEqual(['/hook', '/moved'])
  })

  test('a failed callback is listed, and can be sent again', async () => {
    receiver.answer = (_, response) => response.writeHead(404).end()
    const id = await make('answer', { args: '1', callback: { url: `${receiver.url}/h?token=x`, retry: [] } })
    await state(id, 'FAILED')
    const { callbacks } = await kit.engine.callbacks.list({ state: 'FAILED' })
    expect(callbacks[0]).toMatchObject({ of: id, end: 1, attempts: 1, url: `${receiver.url}/h`, state: 'FAILED' })
    const to = async (host: string) => (await kit.engine.callbacks.list({ host })).callbacks.map(({ of }) => of)
    expect(await to(new URL(receiver.url).host)).toContain(id)
    expect(await to('elsewhere.example.com')).toEqual([])
    receiver.answer = (_, response) => response.end()
    await kit.engine.callbacks.resend(String(id))
    await state(id, 'DELIVERED')
    expect(receiver.came[1]!.body).toBe(receiver.came[0]!.body)
    expect(receiver.came[1]!.headers['webhook-id']).toBe(receiver.came[0]!.headers['webhook-id'])
  })

  test('the attempt before the newest was listed twice while the next one ended', () => {
    const kept = ['30,40,failed,1,b,,function\n', '10,20,failed,1,a,,function\n']
    const document = { lastRun: '10,20,failed,1' } as Parameters<typeof runLines>[0]
    expect(runLines(document, kept)).toEqual(kept)
  })

  test('while its host was not called, a callback listed an attempt without a call', async () => {
    const { host } = new URL(receiver.url)
    for (let i = 0; i < breakerDefaults.threshold; i++) await kit.store.breaker(host, 'failed', breakerDefaults)
    const id = await make('answer')
    await kit.until(async () => {
      const job = (await callbackOf(id))?.job
      const runs = job ? (await kit.engine.jobs.runs(String(job))).runs : []
      return runs.some(({ outcome }) => outcome === 'released')
    })
    expect(receiver.came).toEqual([])
    expect(await kit.engine.callbacks.tries(String(id))).toEqual({ tries: [] })
  })

  test('a callback fails after ten attempts', async () => {
    receiver.answer = (_, response) => response.writeHead(404).end()
    const id = await make('answer', { args: '1' })
    for (let attempt = 1; attempt < 10; attempt++) {
      await tried(id, attempt)
      await advance(27 * HOUR)
    }
    await kit.until(() => receiver.came.length === 10)
    await state(id, 'FAILED')
    expect((await callbackOf(id))!.attempts).toBe(10)
  })
})

describe('destinations', () => {
  const groupOf = (url: string) => `callback:${new URL(url).host}`
  const groups = async () => (await kit.engine.groups.list()).groups.filter(({ id }) => id.startsWith('callback:'))

  test('each destination has its own group with a limit, deleted after the last callback', async () => {
    const slow = await startReceiver(() => undefined)
    receiver.answer = (_, response) => response.end()
    const ids: number[] = []
    for (let i = 0; i < 20; i++) ids.push(await make('answer', { args: '1', callback: { url: slow.url, retry: [] } }))
    await kit.until(() => slow.came.length === 8)
    const other = await make('answer', { args: '2' })
    await state(other, 'DELIVERED')
    const found = (await groups()).find(({ id }) => id === groupOf(slow.url))
    expect(found).toMatchObject({ concurrency: 8, running: 8, waiting: 12, jobs: 20 })
    await slow.close()
    await advance(HOUR)
    for (const id of ids) await kit.until(async () => ['FAILED', 'PENDING'].includes((await callbackOf(id))!.state!))
    await advance(100 * HOUR)
    for (const id of ids) {
      await kit.until(async () => {
        await advance(6 * MINUTE)
        return (await callbackOf(id))!.state === 'FAILED'
      })
    }
    expect(slow.most()).toBe(8)
    expect(await groups()).toEqual([])
    expect(await kit.engine.doctor.verify()).toEqual([])
  })

  test('eight failing callbacks of one API key do not delay callbacks of another key to the same host', async () => {
    receiver.answer = ({ path }, response) => response.writeHead(path === '/bad' ? 500 : 200).end()
    const ask = async (by: string, path: string) => {
      const callback = { url: `${receiver.url}${path}` }
      const job = { queue: 'default', class: 'answer', args: '1' as never, callback }
      return (await kit.engine.jobs.enqueue([job], { by })).jobs[0]!.id
    }
    const bad = await Promise.all(Array.from({ length: 8 }, () => ask('key:mallory', '/bad')))
    await kit.until(() => receiver.came.filter(({ path }) => path === '/bad').length >= 5)
    await kit.until(async () => (await groups()).some(({ id, paused }) => id.endsWith('/mallory') && !paused))
    const good = await ask('key:alice', '/good')
    await state(good, 'DELIVERED')
    expect((await callbackOf(bad[0]!))!.state).not.toBe('DELIVERED')
    receiver.answer = (_, response) => response.end()
    for (const id of bad) {
      await kit.until(async () => {
        await advance(6 * MINUTE)
        return (await callbackOf(id))!.state === 'DELIVERED'
      })
    }
  })

  test('the limit of a destination can be changed while callbacks wait', async () => {
    const held: (() => void)[] = []
    receiver.answer = (_, response) => void held.push(() => response.end())
    for (let i = 0; i < 12; i++) await make('answer', { args: '1' })
    await kit.until(() => held.length === 8)
    await kit.engine.groups.set(groupOf(receiver.url), { concurrency: 10 })
    await kit.until(() => held.length === 10)
    receiver.answer = (_, response) => response.end()
    for (const answer of held) answer()
    await kit.until(() => receiver.came.length === 12)
  })

  test('no caller can create a group with the name of a destination', async () => {
    expect(jobInput.safeParse({ class: 'a', group: { id: 'callback:example.com' } }).success).toBe(false)
  })
})

test('after an outage of 30 minutes, a receiver gets everything once, without a burst', async () => {
  const COUNT = 60
  let down = true
  receiver.answer = (_, response) => response.writeHead(down ? 503 : 200).end()
  const ids: number[] = []
  for (let i = 0; i < COUNT; i++) ids.push(await make('answer', { args: String(i) }))
  for (const id of ids) await kit.rest(id, 'completed')
  const start = Date.now() + offset
  const queueOf = async () => (await kit.engine.queues.list()).queues.find(({ name }) => name === 'sidejob')!
  const step = async () => {
    await advance(30 * SECOND)
    await kit.until(async () => {
      const { counts } = await queueOf()
      return counts.running === 0 && counts.queued === counts.scheduled + counts.limited
    })
  }
  await step()
  while (Date.now() + offset < start + 30 * MINUTE) await step()
  const hits = receiver.came.length
  // The first calls fail, and calls to the host pause. After that, only test calls reach the host.
  expect(hits).toBeGreaterThan(8)
  expect(hits).toBeLessThan(30)
  down = false
  const back = Date.now() + offset
  const after = () => receiver.came.slice(hits)
  const delivered = () => new Set(after().map(({ headers }) => headers['webhook-id'])).size
  while (delivered() < COUNT && Date.now() + offset < back + HOUR) await step()
  expect(delivered()).toBe(COUNT)
  expect(after()).toHaveLength(COUNT)
  expect(receiver.most()).toBeLessThanOrEqual(8)
  const late = after()
    .map(({ at }) => at - back)
    .sort((a, b) => a - b)
  // Callbacks that had no attempt yet follow the next test call. Callbacks with a failed attempt wait for their retry.
  expect(late[Math.floor(COUNT * 0.6)]!).toBeLessThan(6 * MINUTE)
  expect(late.at(-1)!).toBeLessThan(15 * MINUTE)
  for (const id of ids) expect((await callbackOf(id))!.state).toBe('DELIVERED')
  expect(await kit.engine.doctor.verify()).toEqual([])
}, 60_000)
