import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, QstashDailyRatelimitError, QstashError, Receiver } from '@upstash/qstash'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { development, startQstash } from '../../infra/stand-ins/qstash.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// The client prints every refusal, but these tests expect refusals.
beforeAll(() => {
  vi.spyOn(console, 'error').mockReturnValue()
  vi.spyOn(console, 'warn').mockReturnValue()
})

describe('publishing', () => {
  facts({
    'B1 the destination keeps its query': async ({ client, receiver }) => {
      await client.publish({ url: receiver.at('/tick?a=b&c=d%20e') })
      expect((await receiver.next()).url).toBe('/tick?a=b&c=d%20e')
    },

    'B2 the body arrives byte for byte': async ({ client, receiver }) => {
      const body = randomBytes(70_000)
      await client.publish({ url: receiver.at('/'), body: new Blob([body]) })
      expect((await receiver.next()).body.equals(body)).toBe(true)
    },

    'B2 a delivery has the headers of QStash and the forwarded headers': async ({ client, receiver }) => {
      const headers = { 'x-my': '1', Authorization: 'Bearer mine' }
      const { messageId } = await client.publishJSON({ url: receiver.at('/'), body: { x: 1 }, headers })
      const got = await receiver.next()
      expect(got.body.toString()).toBe('{"x":1}')
      expect(got.headers).toMatchObject({
        'user-agent': 'Upstash-QStash',
        'content-type': 'application/json',
        'upstash-message-id': messageId,
        'upstash-retried': '0',
        'upstash-caller-ip': '127.0.0.1',
        'upstash-region': 'EU-CENTRAL-1',
        'upstash-signature': expect.stringMatching(/^ey.+\..+\..+$/),
        'x-my': '1',
        authorization: 'Bearer mine',
      })
      expect(got.headers).not.toHaveProperty('upstash-method')
    },

    'B1 the delivery has the requested method': async ({ client, receiver }) => {
      await client.publish({ url: receiver.at('/'), method: 'DELETE' })
      expect((await receiver.next()).method).toBe('DELETE')
    },

    'B1 a batch is answered in its order, and a single item may be refused': async ({ client, receiver, qstash }) => {
      const answers = await client.batchJSON([
        { url: receiver.at('/1'), body: 1, delay: 1 },
        { url: 'ftp://nowhere', body: 2 },
        { url: receiver.at('/3'), body: 3 },
      ])
      expect(answers).toEqual([
        { messageId: expect.stringMatching(/^msg_/) },
        { error: expect.stringContaining('must start with http') },
        { messageId: expect.stringMatching(/^msg_/) },
      ])
      await qstash.advance(SECOND)
      expect(receiver.paths()).toEqual(['/3', '/1'])
    },

    'B1 without the token the answer is 401': async ({ qstash, receiver }) => {
      const client = new Client({ baseUrl: qstash.url, token: 'other', devMode: false })
      await refused(client.publish({ url: receiver.at('/') }), 401)
    },

    'B1 a destination without http is 400': async ({ client }) => {
      await refused(client.publish({ url: 'example.com' }), 400)
    },

    'B1 invalid settings return 400': async ({ client, receiver }) => {
      const url = receiver.at('/')
      await refused(client.publish({ url, delay: 'soon' as '1s' }), 400)
      await refused(client.publish({ url, headers: { 'Upstash-Retries': 'many' } }), 400)
    },

    'unsupported options of QStash are refused by name': async ({ client, receiver }) => {
      const url = receiver.at('/')
      await expect(client.publish({ url, callback: url })).rejects.toThrow(
        'upstash-callback: this stand-in supports only',
      )
      await expect(client.publish({ url, deduplicationId: 'd-1' })).rejects.toThrow('upstash-deduplication-id')
      await refused(client.publish({ url, flowControl: { key: 'k', rate: 1 } }), 400)
      await refused(client.queue({ queueName: 'q' }).enqueue({ url }), 404)
    },

    'B3 over the daily quota a publish is refused with 429': async ({ client, receiver, qstash }) => {
      qstash.faults.refuse(429)
      await expect(client.publish({ url: receiver.at('/') })).rejects.toBeInstanceOf(QstashDailyRatelimitError)
      qstash.faults.refuse(500)
      await refused(client.publish({ url: receiver.at('/') }), 500)
      await client.publish({ url: receiver.at('/') })
      expect(qstash.counts.published).toBe(1)
    },
  })
})

describe('when', () => {
  facts({
    'B1 a message is delivered after its delay': async ({ client, receiver, qstash }) => {
      await client.publish({ url: receiver.at('/'), delay: '1h' })
      await qstash.advance(HOUR - 1)
      expect(receiver.got).toEqual([])
      await qstash.advance(1)
      expect(receiver.waits()).toEqual([HOUR])
    },

    'B1 not-before overrides delay': async ({ client, receiver, qstash }) => {
      const seconds = Math.ceil(qstash.now() / SECOND) + 60
      await client.publish({ url: receiver.at('/'), delay: 5, notBefore: seconds })
      await qstash.advance(DAY)
      expect(receiver.got.map(({ at }) => at)).toEqual([seconds * SECOND])
    },

    'B3 a delay over one year returns 412': async ({ client, receiver }) => {
      await refused(client.publish({ url: receiver.at('/'), delay: '366d' }), 412)
    },

    'advance delivers in the order of the due times': async ({ client, receiver, qstash }) => {
      for (const delay of [3, 1, 2]) await client.publish({ url: receiver.at(`/${delay}`), delay })
      await qstash.advance(MINUTE)
      expect(receiver.paths()).toEqual(['/1', '/2', '/3'])
      expect(receiver.waits()).toEqual([1, 2, 3].map((s) => s * SECOND))
    },
  })

  test('a clock that runs by itself needs no advance', async () => {
    await using world = await makeWorld({ now: Date.now })
    await world.client.publish({ url: world.receiver.at('/'), headers: { 'Upstash-Delay': '20ms' } })
    await world.receiver.next()
    await world.client.publish({ url: world.receiver.at('/'), delay: '1h' })
    await world.qstash.advance(HOUR - 20)
    await world.receiver.next()
  })
})

describe('retries', () => {
  const table = [12, 2 * 60 + 28, 30 * 60 + 8, 6 * 3600 + 7 * 60 + 6, 86_400, 86_400].map((s) => s * SECOND)
  const words = ['first retry waits 12s', 'second retry waits 2m28s', 'third retry waits 30m8s'].concat([
    'fourth retry waits 6h7m6s',
    'fifth retry waits a day',
    'sixth retry waits a day',
  ])
  for (const [i, word] of words.entries()) {
    facts({
      [`B2 the ${word}`]: async ({ client, receiver, qstash }) => {
        receiver.answer(...Array(i + 1).fill(500))
        await client.publish({ url: receiver.at('/'), retries: 6 })
        await qstash.advance(10 * DAY)
        expect(receiver.gaps().at(i)).toBe(table[i])
        expect(receiver.got.at(-1)!.headers['upstash-retried']).toBe(String(i + 1))
      },
    })
  }

  const steered = (headers: Record<string, string>, gap: number) => async (world: World) => {
    world.receiver.answer({ status: 503, headers })
    await world.client.publish({ url: world.receiver.at('/') })
    await world.qstash.advance(DAY)
    expect(world.receiver.gaps()).toEqual([gap])
  }
  facts({
    'B2 after three retries, which are the default, the message is dead': async ({ client, receiver, qstash }) => {
      receiver.answer(...Array(9).fill(500))
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(10 * DAY)
      expect(receiver.got.map(({ headers }) => headers['upstash-retried'])).toEqual(['0', '1', '2', '3'])
      expect(qstash.counts).toMatchObject({ failed: 1, delivered: 0 })
    },

    'B2 any 2xx is a delivery, 3xx is not': async ({ client, receiver, qstash }) => {
      receiver.answer(302, 204)
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(DAY)
      expect(receiver.gaps()).toEqual([12 * SECOND])
    },

    'B2 Retry-After in seconds sets the wait': steered({ 'Retry-After': '7' }, 7 * SECOND),
    'B2 Retry-After as a duration sets the wait': steered({ 'Retry-After': '6m5s' }, 6 * MINUTE + 5 * SECOND),
    'B2 Retry-After 0 is at once': steered({ 'Retry-After': '0' }, 0),
    'B2 Retry-After over a day is not followed': steered({ 'Retry-After': '86401' }, 12 * SECOND),
    'B2 X-RateLimit-Reset sets the wait': steered({ 'X-RateLimit-Reset': '3' }, 3 * SECOND),

    'B2 Retry-After as a date sets the time': async ({ client, receiver, qstash }) => {
      const date = Math.ceil(qstash.now() / SECOND) * SECOND + HOUR
      receiver.answer({ status: 429, headers: { 'Retry-After': new Date(date).toUTCString() } })
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(DAY)
      expect(receiver.got[1]!.at).toBe(date)
    },

    'B2 a delivery to a destination that is not up yet is retried': async ({ client, qstash }) => {
      const receiver = await startReceiver(qstash.now)
      const url = receiver.at('/')
      await receiver.close()
      await client.publish({ url })
      await qstash.advance(11 * SECOND)
      await using late = await startReceiver(qstash.now, receiver.port)
      await qstash.advance(SECOND)
      expect(late.got.map(({ headers }) => headers['upstash-retried'])).toEqual(['1'])
    },

    'B1 a delivery to a receiver that is silent for longer than the timeout is retried': async ({
      client,
      receiver,
      qstash,
    }) => {
      receiver.answer('silence')
      await client.publish({ url: receiver.at('/'), timeout: 30 })
      await receiver.next()
      await qstash.advance(30 * SECOND - 1, { maxWait: 0 })
      expect(await states(client)).toEqual(['ACTIVE', 'CREATED'])
      await qstash.advance(12 * SECOND + 1, { maxWait: 0 })
      await receiver.next()
      expect(receiver.gaps()).toEqual([42 * SECOND])
      await qstash.advance(0)
      const { logs } = await client.logs({ filter: { state: 'ERROR' } })
      expect(logs).toMatchObject([{ error: 'no answer within 30 s' }])
    },
  })
})

describe('the account', () => {
  test('B3 the account has its own parallelism', async () => {
    await using world = await makeWorld({ parallelism: 2 })
    const { client, receiver, qstash } = world
    receiver.answer('silence', 'silence', 'silence')
    for (let i = 0; i < 3; i++) await client.publish({ url: receiver.at('/') })
    await receiver.took(2)
    await qstash.advance(MINUTE, { maxWait: 0 })
    expect(await client.flowControl.getGlobalParallelism()).toEqual({ parallelismMax: 2, parallelismCount: 2 })
    receiver.got[0]!.reply(200)
    await receiver.took(3)
  })
})

describe('schedules', () => {
  facts({
    'B2 a cron ticks by the minute, in UTC, and names the schedule': async ({ client, receiver, qstash }) => {
      await qstash.advance(HOUR - (qstash.now() % HOUR))
      const start = qstash.now()
      const { scheduleId } = await client.schedules.create({
        destination: receiver.at('/'),
        cron: '*/20 * * * *',
        body: 'tick',
        headers: { 'X-Mine': 'y' },
      })
      expect(scheduleId).toMatch(/^scd_/)
      await qstash.advance(HOUR)
      expect(receiver.got.map(({ at }) => at - start)).toEqual([20, 40, 60].map((m) => m * MINUTE))
      expect(receiver.got[0]).toMatchObject({
        method: 'POST',
        headers: { 'upstash-schedule-id': scheduleId, 'x-mine': 'y' },
      })
      expect(receiver.got[0]!.body.toString()).toBe('tick')
    },

    'B2 CRON_TZ moves a cron to a zone': async ({ client, receiver, qstash }) => {
      await client.schedules.create({ destination: receiver.at('/'), cron: 'CRON_TZ=Asia/Tokyo 0 4 * * *' })
      await qstash.advance(DAY)
      expect(receiver.got.map(({ at }) => at % DAY)).toEqual([19 * HOUR])
    },

    'B2 a cron of six fields has seconds': async ({ client, receiver, qstash }) => {
      await client.schedules.create({ destination: receiver.at('/'), cron: '*/15 * * * * *' })
      await qstash.advance(MINUTE)
      expect(receiver.got.map(({ at }) => at % (15 * SECOND))).toEqual([0, 0, 0, 0])
    },

    'B2 a schedule with the same id replaces the earlier schedule': async ({ client, receiver, qstash }) => {
      const create = (path: string) =>
        client.schedules.create({ scheduleId: 'mine', destination: receiver.at(path), cron: '0 * * * *' })
      await create('/old')
      await create('/new')
      await qstash.advance(HOUR)
      expect(receiver.paths()).toEqual(['/new'])
      expect(await client.schedules.list()).toHaveLength(1)
    },

    'B1 a schedule is paused and resumed by PATCH and by POST': async ({ client, receiver, qstash }) => {
      await client.schedules.create({ scheduleId: 'mine', destination: receiver.at('/'), cron: '0 * * * *' })
      await client.schedules.pause({ schedule: 'mine' })
      await qstash.advance(DAY)
      expect(receiver.got).toEqual([])
      expect(await client.schedules.get('mine')).toMatchObject({ isPaused: true })
      const headers = { Authorization: `Bearer ${qstash.token}` }
      await fetch(`${qstash.url}/v2/schedules/mine/resume`, { method: 'POST', headers })
      await qstash.advance(HOUR)
      expect(receiver.got).toHaveLength(1)
    },

    'B1 a schedule shows its options and its results': async ({ client, receiver, qstash }) => {
      receiver.answer(500)
      await client.schedules.create({
        scheduleId: 'mine',
        destination: receiver.at('/'),
        cron: '0 * * * *',
        body: 'tick',
        retries: 0,
        delay: 5,
      })
      await qstash.advance(HOUR + 5 * SECOND)
      const id = String(receiver.got[0]!.headers['upstash-message-id'])
      expect(await client.schedules.get('mine')).toMatchObject({
        scheduleId: 'mine',
        cron: '0 * * * *',
        destination: receiver.at('/'),
        method: 'POST',
        header: { 'Content-Type': ['application/json'] },
        body: 'tick',
        retries: 0,
        delay: 5,
        isPaused: false,
        lastScheduleTime: receiver.got[0]!.at - 5 * SECOND,
        nextScheduleTime: receiver.got[0]!.at - 5 * SECOND + HOUR,
        lastScheduleStates: { [id]: 'FAIL' },
      })
    },

    'B1 a schedule that is deleted is gone': async ({ client, receiver, qstash }) => {
      await client.schedules.create({ scheduleId: 'mine', destination: receiver.at('/'), cron: '0 * * * *' })
      await client.schedules.delete('mine')
      await qstash.advance(DAY)
      expect(receiver.got).toEqual([])
      await refused(client.schedules.get('mine'), 404)
    },

    'B1 a bad cron and a bad id are 400': async ({ client, receiver }) => {
      const destination = receiver.at('/')
      await refused(client.schedules.create({ destination, cron: 'daily' }), 400)
      await refused(client.schedules.create({ destination, cron: 'CRON_TZ=Mars/Base 0 0 * * *' }), 400)
      await refused(client.schedules.create({ destination, cron: '0 0 * * *', scheduleId: 'a b' }), 400)
    },
  })
})

describe('events', () => {
  facts({
    'B1 list what happened to a message, newest first': async ({ client, receiver, qstash }) => {
      receiver.answer(500)
      const { messageId } = await client.publish({ url: receiver.at('/') })
      await qstash.advance(MINUTE)
      await client.publish({ url: receiver.at('/other'), delay: 600 })
      expect((await client.logs()).logs).toHaveLength(7)
      const { logs } = await client.logs({ filter: { messageId } })
      const story = ['DELIVERED', 'ACTIVE', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED']
      expect(logs.map(({ state }) => state)).toEqual(story)
      expect(logs[2]).toMatchObject({ messageId, nextDeliveryTime: receiver.got[1]!.at })
      const headers = { Authorization: `Bearer ${qstash.token}` }
      const page = await (await fetch(`${qstash.url}/v2/events?count=2&messageId=${messageId}`, { headers })).json()
      expect(page).toMatchObject({ events: [{ state: 'DELIVERED' }, { state: 'ACTIVE' }], cursor: '2' })
    },
  })
})

describe('the signature', () => {
  const deliver = async ({ client, receiver }: World) => {
    await client.publishJSON({ url: receiver.at('/tick'), body: { x: 1 } })
    return receiver.next()
  }
  facts({
    'B4 is valid with the current key': async (world) => {
      expect(await verify(await deliver(world), world.receiver.at('/tick'))).toBe(true)
    },

    'B4 is valid after a rotation of the keys': async (world) => {
      const headers = { Authorization: `Bearer ${world.qstash.token}` }
      const before = await (await fetch(`${world.qstash.url}/v2/keys`, { headers })).json()
      expect(before).toEqual({ current: development.currentSigningKey, next: development.nextSigningKey })
      await fetch(`${world.qstash.url}/v2/keys/rotate/`, { method: 'POST', headers })
      const got = await deliver(world)
      expect(await verify(got, world.receiver.at('/tick'))).toBe(true)
      const onlyOld = {
        currentSigningKey: development.currentSigningKey,
        nextSigningKey: development.currentSigningKey,
      }
      await expect(verify(got, world.receiver.at('/tick'), onlyOld)).rejects.toThrow('signature verification failed')
    },

    'B4 is invalid with another key': async (world) => {
      const keys = { currentSigningKey: 'sig_a', nextSigningKey: 'sig_b' }
      await expect(verify(await deliver(world), world.receiver.at('/tick'), keys)).rejects.toThrow(
        'verification failed',
      )
    },

    'B4 is invalid if the body was changed': async (world) => {
      const got = { ...(await deliver(world)), body: Buffer.from('{"x":2}') }
      await expect(verify(got, world.receiver.at('/tick'))).rejects.toThrow('body hash does not match')
    },

    'B4 is invalid for another URL': async (world) => {
      await expect(verify(await deliver(world), world.receiver.at('/tick/'))).rejects.toThrow('invalid subject')
    },

    'B4 has the claims of QStash': async (world) => {
      const got = await deliver(world)
      const [header, claims] = String(got.headers['upstash-signature']).split('.').slice(0, 2).map(fromBase64Json)
      const iat = Math.floor(got.at / SECOND)
      expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
      expect(claims).toEqual({
        iss: 'Upstash',
        sub: world.receiver.at('/tick'),
        exp: iat + 300,
        nbf: 0,
        iat,
        jti: expect.stringMatching(/^jwt_/),
        body: expect.stringMatching(/^[\w-]{43}=$/),
      })
    },

    'B4 is valid for an empty body': async ({ client, receiver }) => {
      await client.publish({ url: receiver.at('/'), method: 'GET' })
      expect(await verify(await receiver.next(), receiver.at('/'))).toBe(true)
    },
  })

  test('B4 expires after five minutes', async () => {
    await using old = await makeWorld({ now: () => Date.now() - 301 * SECOND })
    await expect(verify(await deliver(old), old.receiver.at('/tick'))).rejects.toThrow('verification failed')
    await using recent = await makeWorld({ now: () => Date.now() - 290 * SECOND })
    expect(await verify(await deliver(recent), recent.receiver.at('/tick'))).toBe(true)
  })
})

describe('faults', () => {
  facts({
    'B2 a message may be delivered twice, at once': async ({ client, receiver, qstash }) => {
      qstash.faults.duplicate()
      await client.publish({ url: receiver.at('/') })
      await receiver.took(2)
      expect(receiver.got[0]!.headers['upstash-message-id']).toBe(receiver.got[1]!.headers['upstash-message-id'])
      await qstash.advance(DAY)
      expect(qstash.counts).toMatchObject({ attempts: 2, delivered: 1 })
    },

    'B2 a message may be delivered again after its answer': async ({ client, receiver, qstash }) => {
      qstash.faults.duplicate({ when: 'after' })
      receiver.answer('silence')
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(MINUTE, { maxWait: 0 })
      await receiver.took(1)
      expect(receiver.got).toHaveLength(1)
      receiver.got[0]!.reply(200)
      await receiver.took(2)
    },

    'B2 a message may be late': async ({ client, receiver, qstash }) => {
      qstash.faults.late(MINUTE)
      await client.publish({ url: receiver.at('/1') })
      await client.publish({ url: receiver.at('/2') })
      await qstash.advance(HOUR)
      expect(receiver.paths()).toEqual(['/2', '/1'])
      expect(receiver.gaps()).toEqual([MINUTE])
    },

    'B2 published messages have no order': async ({ client, receiver, qstash }) => {
      qstash.faults.reorder(3)
      for (const path of ['/1', '/2', '/3', '/4']) await client.publish({ url: receiver.at(path) })
      await qstash.advance(0)
      const { logs } = await client.logs({ filter: { state: 'ACTIVE' } })
      expect(logs.reverse().map(({ url }) => new URL(url).pathname)).toEqual(['/3', '/2', '/1', '/4'])
    },

    'B5 a lost answer makes the client publish again': async ({ client, receiver, qstash }) => {
      qstash.faults.dropAnswer()
      await client.publish({ url: receiver.at('/') })
      await receiver.took(2)
      expect(qstash.counts.published).toBe(2)
    },
  })
})

describe('the file', () => {
  test('a stack that is started again resumes messages and schedules', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'qstash-'))
    const file = join(folder, 'qstash.jsonl')
    const start = Date.now()
    {
      await using world = await makeWorld({ file, now: () => start })
      const { client, qstash, receiver } = world
      receiver.answer(500)
      await client.publish({ url: receiver.at('/retried'), body: 'in' })
      await client.publish({ url: receiver.at('/delivered') })
      await qstash.advance(0)
      await client.publish({ url: receiver.at('/delayed'), delay: 60 })
      await client.schedules.create({ scheduleId: 'mine', destination: receiver.at('/tick'), cron: '0 0 1 1 *' })
    }
    await using world = await makeWorld({ file, now: () => start + HOUR })
    const { client, qstash, receiver } = world
    expect(await client.schedules.list()).toMatchObject([{ scheduleId: 'mine', cron: '0 0 1 1 *' }])
    await qstash.advance(0)
    expect(qstash.counts.attempts).toBe(2)
    expect((await client.logs({ filter: { state: 'ACTIVE' } })).logs.map(({ url }) => new URL(url).pathname)).toEqual([
      '/delayed',
      '/retried',
    ])
    expect(receiver.got).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

type World = Awaited<ReturnType<typeof makeWorld>>
type Got = {
  method: string
  url: string
  headers: http.IncomingHttpHeaders
  body: Buffer
  at: number
  reply(status: number): void
}
type Scripted = number | 'silence' | { status: number; headers?: Record<string, string>; body?: string }

function facts(rows: Record<string, (world: World) => Promise<void>>) {
  test.each(Object.entries(rows))('%s', async (_, run) => {
    await using world = await makeWorld()
    await run(world)
  })
}

async function makeWorld(options: Parameters<typeof startQstash>[0] = {}) {
  const start = Date.now()
  const qstash = await startQstash({ now: () => start, ...options })
  const receiver = await startReceiver(qstash.now)
  const client = new Client({ baseUrl: qstash.url, token: qstash.token, devMode: false })
  return {
    qstash,
    receiver,
    client,
    async [Symbol.asyncDispose]() {
      await qstash.close()
      await receiver.close()
    },
  }
}

async function startReceiver(now: () => number, port = 0) {
  const got: Got[] = []
  const script: Scripted[] = []
  const born = now()
  let read = 0
  let notify = () => {}

  const server = http.createServer(async (request, response) => {
    const answer = script.shift() ?? 200
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const reply = (status: number, headers = {}, body = '') => void response.writeHead(status, headers).end(body)
    const { method, url, headers } = request
    got.push({ method: method!, url: url!, headers, body: Buffer.concat(chunks), at: now(), reply })
    notify()
    if (answer === 'silence') return
    if (typeof answer === 'number') reply(answer)
    else reply(answer.status, answer.headers, answer.body)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo

  return {
    got,
    port: address.port,
    at: (path: string) => `http://127.0.0.1:${address.port}${path}`,
    answer: (...answers: Scripted[]) => void script.push(...answers),
    paths: () => got.map(({ url }) => url),
    waits: () => got.map(({ at }) => at - born),
    gaps: () => got.slice(1).map(({ at }, i) => at - got[i]!.at),
    took,

    async next(): Promise<Got> {
      await took(++read)
      return got[read - 1]!
    },

    close,
    [Symbol.asyncDispose]: close,
  }

  async function took(count: number) {
    while (got.length < count) await new Promise<void>((resolve) => (notify = resolve))
  }

  async function close() {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const states = async (client: Client) => (await client.logs()).logs.map(({ state }) => state as string)

async function refused(promise: Promise<unknown>, status: number) {
  const error = await promise.then(
    () => new Error('was not refused'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(QstashError)
  expect(error).toMatchObject({ status })
  expect(JSON.parse(error.message)).toEqual({ error: expect.any(String) })
}

function verify({ headers, body }: Got, url: string, keys: ConstructorParameters<typeof Receiver>[0] = development) {
  const receiver = new Receiver({ ...keys, devMode: false })
  return receiver.verify({ signature: String(headers['upstash-signature']), body: body.toString(), url })
}

const fromBase64Json = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
