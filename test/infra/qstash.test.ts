// The stand-in for QStash behaves as the vendor does, seen through the real client, at a real receiver.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, QstashDailyRatelimitError, QstashError, Receiver } from '@upstash/qstash'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { development, startQstash } from '../../infra/qstash.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// The client reports every refusal on the console; here they are meant.
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

    'B1 settings may stand in the query of the destination and are not passed on': async ({ qstash, receiver }) => {
      const url = `${receiver.at('/tick')}?a=b&upstash-forward-x=1&qstash_token=${encodeURIComponent(qstash.token)}`
      await fetch(`${qstash.url}/v2/publish/${url}`, { method: 'POST' })
      const got = await receiver.next()
      expect([got.url, got.headers.x]).toEqual(['/tick?a=b', '1'])
    },

    'B2 the body arrives byte for byte': async ({ client, receiver }) => {
      const body = randomBytes(70_000)
      await client.publish({ url: receiver.at('/'), body: new Blob([body]) })
      expect((await receiver.next()).body.equals(body)).toBe(true)
    },

    'B2 a delivery carries the headers of the vendor and the forwarded ones': async ({ client, receiver }) => {
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

    'B1 the method is the one that was asked for': async ({ client, receiver }) => {
      await client.publish({ url: receiver.at('/'), method: 'DELETE' })
      expect((await receiver.next()).method).toBe('DELETE')
    },

    'B1 a batch is answered in its order, an item may be refused alone': async ({ client, receiver, qstash }) => {
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

    'B1 a URL group is answered with a receipt for each endpoint': async ({ client, receiver }) => {
      const endpoints = [{ name: 'one', url: receiver.at('/1') }, { url: receiver.at('/2') }]
      await client.urlGroups.addEndpoints({ name: 'group', endpoints })
      expect(await client.publishJSON({ urlGroup: 'group', body: {} })).toEqual(
        endpoints.map(({ url }) => ({ url, messageId: expect.stringMatching(/^msg_/) })),
      )
      expect((await receiver.next()).headers['upstash-topic-name']).toBe('group')
      await client.urlGroups.removeEndpoints({ name: 'group', endpoints: [{ name: 'one' }] })
      expect(await client.urlGroups.get('group')).toMatchObject({ name: 'group', endpoints: [endpoints[1]] })
      await client.urlGroups.delete('group')
      expect(await client.urlGroups.list()).toEqual([])
    },

    'B1 without the token the answer is 401': async ({ qstash, receiver }) => {
      const client = new Client({ baseUrl: qstash.url, token: 'other', devMode: false })
      await refused(client.publish({ url: receiver.at('/') }), 401)
    },

    'B1 a destination without http is 400, an unknown URL group 404': async ({ client }) => {
      await refused(client.publish({ url: 'example.com' }), 400)
      await refused(client.publish({ url: 'group' }), 404)
    },

    'B1 settings that can not be read are 400': async ({ client, receiver }) => {
      const url = receiver.at('/')
      await refused(client.publish({ url, delay: 'soon' as '1s' }), 400)
      await refused(client.publish({ url, callback: 'nowhere' }), 400)
      await refused(client.publish({ url, headers: { 'Upstash-Retries': 'many' } }), 400)
      await refused(client.publish({ url, retryDelay: 'process.exit(1)' }), 400)
      await refused(client.publish({ url, retryDelay: 'pow(2 retried)' }), 400)
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
    'B1 a delay is waited for': async ({ client, receiver, qstash }) => {
      await client.publish({ url: receiver.at('/'), delay: '1h' })
      await qstash.advance(HOUR - 1)
      expect(receiver.got).toEqual([])
      await qstash.advance(1)
      expect(receiver.waits()).toEqual([HOUR])
    },

    'B1 not-before wins over delay': async ({ client, receiver, qstash }) => {
      const seconds = Math.ceil(qstash.now() / SECOND) + 60
      await client.publish({ url: receiver.at('/'), delay: 5, notBefore: seconds })
      await qstash.advance(DAY)
      expect(receiver.got.map(({ at }) => at)).toEqual([seconds * SECOND])
    },

    'B3 a delay over one year is 412': async ({ client, receiver }) => {
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
    'B2 there are three retries by default, then the message is dead': async ({ client, receiver, qstash }) => {
      receiver.answer(...Array(9).fill(500))
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(10 * DAY)
      expect(receiver.got.map(({ headers }) => headers['upstash-retried'])).toEqual(['0', '1', '2', '3'])
      expect((await client.dlq.listMessages()).messages).toHaveLength(1)
    },

    'B2 any 2xx is a delivery, 3xx is not': async ({ client, receiver, qstash }) => {
      receiver.answer(302, 204)
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(DAY)
      expect(receiver.gaps()).toEqual([12 * SECOND])
    },

    'B1 a retry-delay expression gives milliseconds': async ({ client, receiver, qstash }) => {
      receiver.answer(500, 500, 500)
      await client.publish({ url: receiver.at('/'), retryDelay: '1000 * (1 + retried)' })
      await qstash.advance(DAY)
      expect(receiver.gaps()).toEqual([1, 2, 3].map((s) => s * SECOND))
    },

    'B1 a retry-delay expression knows nine functions': async ({ client, receiver, qstash }) => {
      const all =
        'max(min(pow(2, 10), 9999), sqrt(abs(-16))) + floor(1.9) + ceil(0.1) + round(1.5) - exp(0) - 7 % 4 / 3'
      receiver.answer(500)
      await client.publish({ url: receiver.at('/'), retryDelay: all })
      await qstash.advance(DAY)
      expect(receiver.gaps()).toEqual([1024 + 1 + 1 + 2 - 1 - 1])
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

    'B2 489 with Upstash-NonRetryable-Error is dead at once': async ({ client, receiver, qstash }) => {
      receiver.answer({ status: 489, headers: { 'Upstash-NonRetryable-Error': 'true' } })
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(DAY)
      expect(receiver.got).toHaveLength(1)
      expect((await client.dlq.listMessages()).messages).toMatchObject([{ responseStatus: 489 }])
    },

    'B2 489 alone is retried': async ({ client, receiver, qstash }) => {
      receiver.answer(489)
      await client.publish({ url: receiver.at('/') })
      await qstash.advance(DAY)
      expect(receiver.got).toHaveLength(2)
    },

    'B2 a destination that is not up yet is retried': async ({ client, qstash }) => {
      const receiver = await startReceiver(qstash.now)
      const url = receiver.at('/')
      await receiver.close()
      await client.publish({ url })
      await qstash.advance(11 * SECOND)
      await using late = await startReceiver(qstash.now, receiver.port)
      await qstash.advance(SECOND)
      expect(late.got.map(({ headers }) => headers['upstash-retried'])).toEqual(['1'])
    },

    'B1 a receiver that is silent for longer than the timeout is retried': async ({ client, receiver, qstash }) => {
      receiver.answer('silence')
      await client.publish({ url: receiver.at('/'), timeout: 30 })
      await receiver.next()
      await qstash.advance(30 * SECOND - 1, { patience: 0 })
      expect(await states(client)).toEqual(['ACTIVE', 'CREATED'])
      await qstash.advance(12 * SECOND + 1, { patience: 0 })
      await receiver.next()
      expect(receiver.gaps()).toEqual([42 * SECOND])
      await qstash.advance(0)
      const { logs } = await client.logs({ filter: { state: 'ERROR' } })
      expect(logs).toMatchObject([{ error: 'no answer within 30 s' }])
    },
  })
})

describe('deduplication', () => {
  facts({
    'B1 the second message with an id is answered 202 with the first id': async ({ client, receiver, qstash }) => {
      const first = await client.publish({ url: receiver.at('/'), deduplicationId: 'd-1' })
      const again = await client.publish({ url: receiver.at('/other'), deduplicationId: 'd-1' })
      expect(again).toEqual({ messageId: first.messageId, deduplicated: true })
      const raw = await fetch(`${qstash.url}/v2/publish/${receiver.at('/')}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${qstash.token}`, 'Upstash-Deduplication-Id': 'd-1' },
      })
      expect(raw.status).toBe(202)
      await qstash.advance(0)
      expect(receiver.paths()).toEqual(['/'])
    },

    'B2 an id is taken for ten minutes': async ({ client, receiver, qstash }) => {
      const publish = () => client.publish({ url: receiver.at('/'), deduplicationId: 'd-1' })
      await publish()
      await qstash.advance(10 * MINUTE - 1)
      expect(await publish()).toMatchObject({ deduplicated: true })
      await qstash.advance(1)
      expect(await publish()).not.toHaveProperty('deduplicated')
    },

    'B2 an id stays taken when its message was cancelled': async ({ client, receiver }) => {
      const request = { url: receiver.at('/'), deduplicationId: 'd-1', delay: 60 }
      await client.messages.cancel((await client.publish(request)).messageId)
      expect(await client.publish(request)).toMatchObject({ deduplicated: true })
    },

    'B2 content is the destination, the body, the type and the forwarded headers': async ({
      client,
      receiver,
      qstash,
    }) => {
      const send = (path: string, body: string, headers = {}) =>
        client.publish({ url: receiver.at(path), body, headers, contentBasedDeduplication: true })
      await send('/', 'a')
      await send('/', 'a')
      await send('/other', 'a')
      await send('/', 'b')
      await send('/', 'a', { x: '1' })
      await send('/', 'a', { 'Content-Type': 'text/html' })
      expect(qstash.counts).toMatchObject({ published: 5, deduplicated: 1 })
    },
  })
})

describe('queues', () => {
  facts({
    'B2 a queue is first in, first out, and waits for the retries of its head': async ({
      client,
      receiver,
      qstash,
    }) => {
      receiver.answer(500)
      const queue = client.queue({ queueName: 'q' })
      for (const path of ['/1', '/2', '/3']) await queue.enqueueJSON({ url: receiver.at(path), body: {} })
      await qstash.advance(11 * SECOND)
      expect(receiver.paths()).toEqual(['/1'])
      expect(await queue.get()).toMatchObject({ name: 'q', parallelism: 1, paused: false, lag: 3 })
      await qstash.advance(SECOND)
      expect(receiver.paths()).toEqual(['/1', '/1', '/2', '/3'])
    },

    'B2 a queue waits for the callback of its head': async ({ client, receiver, qstash }) => {
      receiver.answer(200, 500)
      const queue = client.queue({ queueName: 'q' })
      await queue.enqueue({ url: receiver.at('/1'), callback: receiver.at('/callback') })
      await queue.enqueue({ url: receiver.at('/2') })
      await qstash.advance(11 * SECOND)
      expect(receiver.paths()).toEqual(['/1', '/callback'])
      await qstash.advance(SECOND)
      expect(receiver.paths()).toEqual(['/1', '/callback', '/callback', '/2'])
    },

    'B1 the parallelism of a queue is how many are on their way': async ({ client, receiver, qstash }) => {
      receiver.answer('silence', 'silence', 'silence')
      const queue = client.queue({ queueName: 'q' })
      await queue.upsert({ parallelism: 2 })
      for (const path of ['/1', '/2', '/3']) await queue.enqueue({ url: receiver.at(path) })
      await qstash.advance(MINUTE, { patience: 0 })
      await receiver.took(2)
      expect(receiver.paths()).toEqual(['/1', '/2'])
      receiver.got[0]!.reply(200)
      await receiver.took(3)
    },

    'B1 a paused queue keeps its messages until it is resumed': async ({ client, receiver, qstash }) => {
      const queue = client.queue({ queueName: 'q' })
      await queue.upsert({ paused: true })
      await queue.enqueue({ url: receiver.at('/') })
      await qstash.advance(HOUR)
      expect(receiver.got).toEqual([])
      await queue.resume()
      await receiver.next()
      await queue.delete()
      expect(await queue.list()).toEqual([])
    },

    'B1 an item of a batch may name its queue': async ({ client, receiver, qstash }) => {
      receiver.answer(500)
      const item = (path: string) => ({ url: receiver.at(path), body: {}, queueName: 'q' })
      await client.batchJSON([item('/1'), item('/2')])
      await qstash.advance(DAY)
      expect(receiver.paths()).toEqual(['/1', '/1', '/2'])
    },
  })
})

describe('flow control', () => {
  facts({
    'B2 a key lets so many through at once, in order': async ({ client, receiver, qstash }) => {
      receiver.answer('silence')
      const flowControl = { key: 'k', parallelism: 1 }
      for (const path of ['/1', '/2', '/3']) await client.publish({ url: receiver.at(path), flowControl })
      await receiver.took(1)
      await qstash.advance(MINUTE, { patience: 0 })
      expect(await client.flowControl.get('k')).toEqual({
        flowControlKey: 'k',
        waitListSize: 2,
        parallelismMax: 1,
        parallelismCount: 1,
        rateMax: 0,
        rateCount: 0,
        ratePeriod: 1,
        ratePeriodStart: expect.any(Number),
        isPaused: false,
        isPinnedParallelism: false,
        isPinnedRate: false,
      })
      receiver.got[0]!.reply(200)
      await receiver.took(3)
      expect(receiver.paths()).toEqual(['/1', '/2', '/3'])
    },

    'B2 a key lets so many through per period, across destinations': async ({ client, receiver, qstash }) => {
      const flowControl = { key: 'k', rate: 2, period: '1m' } as const
      for (let i = 0; i < 5; i++) await client.publish({ url: receiver.at(`/${i}`), flowControl })
      await qstash.advance(HOUR)
      expect(receiver.waits()).toEqual([0, 0, MINUTE, MINUTE, 2 * MINUTE])
    },

    'B2 the period is one second by default': async ({ client, receiver, qstash }) => {
      for (let i = 0; i < 3; i++) await client.publish({ url: receiver.at('/'), flowControl: { key: 'k', rate: 1 } })
      await qstash.advance(HOUR)
      expect(receiver.waits()).toEqual([0, SECOND, 2 * SECOND])
    },

    'B1 a key can be paused and resumed': async ({ client, receiver, qstash }) => {
      await client.flowControl.pause('k')
      await client.publish({ url: receiver.at('/'), flowControl: { key: 'k', rate: 9 } })
      await qstash.advance(HOUR)
      expect(await client.flowControl.get('k')).toMatchObject({ isPaused: true, waitListSize: 1, rateMax: 9 })
      await client.flowControl.resume('k')
      await receiver.next()
    },

    'B1 a pin wins over what the messages say': async ({ client, receiver, qstash }) => {
      await client.flowControl.pin('k', { rate: 1, period: 60 })
      for (let i = 0; i < 3; i++) await client.publish({ url: receiver.at('/'), flowControl: { key: 'k', rate: 100 } })
      await qstash.advance(MINUTE)
      expect(receiver.waits()).toEqual([0, MINUTE])
      expect(await client.flowControl.get('k')).toMatchObject({ isPinnedRate: true, rateMax: 1, ratePeriod: 60 })
      await client.flowControl.unpin('k', { rate: true })
      await receiver.took(3)
    },

    'B1 a rate can be reset': async ({ client, receiver }) => {
      const flowControl = { key: 'k', rate: 1, period: '1d' } as const
      for (const path of ['/1', '/2']) await client.publish({ url: receiver.at(path), flowControl })
      await receiver.took(1)
      await client.flowControl.resetRate('k')
      await receiver.took(2)
    },
  })

  test('B3 the account has a parallelism of its own', async () => {
    await using world = await makeWorld({ parallelism: 2 })
    const { client, receiver, qstash } = world
    receiver.answer('silence', 'silence', 'silence')
    for (let i = 0; i < 3; i++) await client.publish({ url: receiver.at('/') })
    await receiver.took(2)
    await qstash.advance(MINUTE, { patience: 0 })
    expect(await client.flowControl.getGlobalParallelism()).toEqual({ parallelismMax: 2, parallelismCount: 2 })
    receiver.got[0]!.reply(200)
    await receiver.took(3)
  })
})

describe('callbacks', () => {
  facts({
    'B2 a callback comes after every attempt': async ({ client, receiver, qstash }) => {
      receiver.answer({ status: 500, body: 'no' }, 200, { status: 201, body: 'yes', headers: { 'X-Mine': '1' } })
      const request = { url: receiver.at('/work'), body: 'in', callback: receiver.at('/callback') }
      const { messageId } = await client.publish({ ...request, headers: { 'X-Src': 's' } })
      await qstash.advance(MINUTE)
      expect(receiver.paths()).toEqual(['/work', '/callback', '/work', '/callback'])
      const [first, second] = receiver.bodies('/callback')
      expect(first).toMatchObject({ status: 500, body: base64('no'), retried: 0 })
      expect(second).toMatchObject({
        status: 201,
        header: { 'X-Mine': ['1'] },
        body: base64('yes'),
        retried: 1,
        maxRetries: 3,
        sourceMessageId: messageId,
        url: receiver.at('/work'),
        method: 'POST',
        sourceHeader: { 'X-Src': ['s'] },
        sourceBody: base64('in'),
        notBefore: expect.any(Number),
        createdAt: expect.any(Number),
        callerIP: '127.0.0.1',
      })
    },

    'B2 a failure callback comes at the end and names the dead letter': async ({ client, receiver, qstash }) => {
      receiver.answer(500, 500)
      await client.publish({ url: receiver.at('/work'), retries: 1, failureCallback: receiver.at('/failed') })
      await qstash.advance(DAY)
      expect(receiver.paths()).toEqual(['/work', '/work', '/failed'])
      const { messages } = await client.dlq.listMessages()
      expect(receiver.bodies('/failed')).toMatchObject([{ dlqId: messages[0]!.dlqId, status: 500, retried: 1 }])
    },

    'B1 callback headers configure the callback': async ({ client, receiver, qstash }) => {
      receiver.answer(200, 500)
      await client.publish({
        url: receiver.at('/work'),
        callback: receiver.at('/callback'),
        headers: {
          'Upstash-Callback-Method': 'PUT',
          'Upstash-Callback-Retry-Delay': '500',
          'Upstash-Callback-Forward-X-Mine': 'y',
        },
      })
      await qstash.advance(MINUTE)
      expect(receiver.gaps().at(-1)).toBe(500)
      expect(receiver.got.at(-1)).toMatchObject({ method: 'PUT', headers: { 'x-mine': 'y' } })
    },

    'B1 failure callback headers configure the failure callback': async ({ client, receiver, qstash }) => {
      receiver.answer(500, 500, 500)
      await client.publish({
        url: receiver.at('/work'),
        retries: 0,
        failureCallback: receiver.at('/failed'),
        headers: { 'Upstash-Failure-Callback-Retries': '1', 'Upstash-Failure-Callback-Forward-X-Mine': 'y' },
      })
      await qstash.advance(DAY)
      expect(receiver.paths()).toEqual(['/work', '/failed', '/failed'])
      expect(receiver.got[1]!.headers['x-mine']).toBe('y')
    },

    'B2 a callback is signed and is a message of its own': async ({ client, receiver, qstash }) => {
      const { messageId } = await client.publish({ url: receiver.at('/work'), callback: receiver.at('/callback') })
      await qstash.advance(0)
      const callback = receiver.got[1]!
      expect(callback.headers['upstash-message-id']).not.toBe(messageId)
      expect(await verify(callback, receiver.at('/callback'))).toBe(true)
      expect(qstash.counts).toMatchObject({ published: 1, callbacks: 1 })
    },

    'B2 a delayed callback is refused': async ({ client, receiver }) => {
      const headers = { 'Upstash-Callback-Delay': '5s' }
      await refused(client.publish({ url: receiver.at('/'), callback: receiver.at('/callback'), headers }), 400)
    },
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

    'B2 the same id overwrites': async ({ client, receiver, qstash }) => {
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

    'B1 a schedule shows what it was made of and how it went': async ({ client, receiver, qstash }) => {
      receiver.answer(500)
      await client.schedules.create({
        scheduleId: 'mine',
        destination: receiver.at('/'),
        cron: '0 * * * *',
        body: 'tick',
        retries: 0,
        delay: 5,
        queueName: 'q',
        label: ['a', 'b'],
        flowControl: { key: 'k', rate: 3, period: '1m' },
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
        queueName: 'q',
        isPaused: false,
        labels: ['a', 'b'],
        flowControlKey: 'k',
        rate: 3,
        period: 60,
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

describe('messages, dead letters, logs', () => {
  facts({
    'B1 a message is shown until it is delivered': async ({ client, receiver, qstash }) => {
      const request = { url: receiver.at('/'), body: { x: 1 }, delay: 60, label: 'mine', headers: { 'X-Mine': 'y' } }
      const { messageId } = await client.publishJSON({ ...request, retryDelay: '5' })
      const now = qstash.now()
      expect(await client.messages.get(messageId)).toMatchObject({
        messageId,
        url: receiver.at('/'),
        method: 'POST',
        header: { 'Content-Type': ['application/json'], 'X-Mine': ['y'] },
        body: '{"x":1}',
        maxRetries: 3,
        retryDelayExpression: '5',
        createdAt: now,
        notBefore: now + MINUTE,
        callerIP: '127.0.0.1',
        label: 'mine',
        labels: ['mine'],
      })
      await qstash.advance(MINUTE)
      await refused(client.messages.get(messageId), 404)
    },

    'B1 a body that is not text is shown as base64': async ({ client, receiver }) => {
      const body = Buffer.from([0xff, 0xfe])
      const { messageId } = await client.publish({ url: receiver.at('/'), body: new Blob([body]), delay: 60 })
      const shown = await client.messages.get(messageId)
      expect([shown.body, shown.bodyBase64]).toEqual([undefined, body.toString('base64')])
    },

    'B1 redacted fields are shown as their hash and delivered as they are': async ({ client, receiver, qstash }) => {
      const request = { url: receiver.at('/'), body: 'secret', delay: 60, headers: { 'X-Mine': 'y', 'X-Open': 'z' } }
      const { messageId } = await client.publish({ ...request, redact: { body: true, header: ['X-Mine'] } })
      const hash = (text: string) => `REDACTED:${createHash('sha256').update(text).digest('hex')}`
      expect(await client.messages.get(messageId)).toMatchObject({
        body: hash('secret'),
        header: { 'X-Mine': [hash('y')], 'X-Open': ['z'] },
      })
      await qstash.advance(MINUTE)
      expect(receiver.got[0]!.body.toString()).toBe('secret')
    },

    'B1 a cancelled message is not delivered, and cancelling it again is 404': async ({ client, receiver, qstash }) => {
      const { messageId } = await client.publish({ url: receiver.at('/'), delay: 60 })
      await client.messages.cancel(messageId)
      await qstash.advance(HOUR)
      expect(receiver.got).toEqual([])
      await refused(client.messages.cancel(messageId), 404)
    },

    'B1 a message that is cancelled on its way is not retried': async ({ client, receiver, qstash }) => {
      receiver.answer('silence')
      const { messageId } = await client.publish({ url: receiver.at('/') })
      await receiver.next()
      await client.messages.cancel(messageId)
      receiver.got[0]!.reply(500)
      await qstash.advance(DAY)
      expect(receiver.got).toHaveLength(1)
      expect(await states(client)).toEqual(['CANCELLED', 'ERROR', 'CANCEL_REQUESTED', 'ACTIVE', 'CREATED'])
    },

    'B1 many are cancelled by their ids, by a filter, or all': async ({ client, receiver }) => {
      const publish = async (label: string) =>
        (await client.publish({ url: receiver.at('/'), delay: 60, label })).messageId
      const ids = [await publish('a'), await publish('a'), await publish('b'), await publish('c')]
      expect(await client.messages.cancel([ids[0]!, 'msg_unknown'])).toEqual({ cancelled: 1 })
      expect(await client.messages.cancel({ filter: { label: ['a', 'b'] } })).toEqual({ cancelled: 2 })
      expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 1 })
    },

    'B1 a dead letter shows the message and the last answer': async ({ client, receiver, qstash }) => {
      const { dlqId } = await kill({ client, receiver, qstash })
      expect((await client.dlq.listMessages()).messages).toMatchObject([
        {
          dlqId,
          url: receiver.at('/dead'),
          body: 'in',
          responseStatus: 500,
          responseBody: 'no',
          responseHeader: { 'X-Why': ['1'] },
        },
      ])
    },

    'B1 a dead letter that is retried is a new message and leaves the list': async ({ client, receiver, qstash }) => {
      const { dlqId, messageId } = await kill({ client, receiver, qstash })
      const { responses } = await client.dlq.retry(dlqId)
      expect(responses).toEqual([{ messageId: expect.stringMatching(/^msg_/) }])
      await qstash.advance(0)
      const again = receiver.got.at(-1)!
      expect([again.body.toString(), again.headers['upstash-retried']]).toEqual(['in', '0'])
      expect(again.headers['upstash-message-id']).not.toBe(messageId)
      expect((await client.dlq.listMessages()).messages).toEqual([])
    },

    'B1 a retry of a dead letter may change its settings': async ({ client, receiver, qstash }) => {
      const { dlqId } = await kill({ client, receiver, qstash })
      const headers = {
        Authorization: `Bearer ${qstash.token}`,
        'Upstash-Forward-X-Mine': 'y',
        'Upstash-Method': 'PUT',
      }
      const answer = await fetch(`${qstash.url}/v2/dlq/retry/${dlqId}`, { method: 'POST', headers })
      expect(answer.status).toBe(201)
      await qstash.advance(0)
      expect(receiver.got.at(-1)).toMatchObject({ method: 'PUT', headers: { 'x-mine': 'y' } })
    },

    'B1 dead letters are deleted one by one, by ids, or page by page': async ({ client, receiver, qstash }) => {
      const ids: string[] = []
      for (let i = 0; i < 5; i++) ids.push((await kill({ client, receiver, qstash })).dlqId)
      expect(await client.dlq.delete(ids[0]!)).toEqual({ deleted: 1 })
      expect(await client.dlq.delete([ids[1]!])).toMatchObject({ deleted: 1 })
      expect(await client.dlq.delete({ all: true, count: 2 })).toEqual({ deleted: 2, cursor: '0' })
      expect(await client.dlq.delete({ all: true, cursor: '0' })).toEqual({ deleted: 1, cursor: '' })
      await refused(client.dlq.delete(ids[0]!), 404)
    },

    'B1 logs tell the story of a message, newest first': async ({ client, receiver, qstash }) => {
      receiver.answer(500)
      const { messageId } = await client.publish({ url: receiver.at('/') })
      await qstash.advance(MINUTE)
      const { logs } = await client.logs({ filter: { messageId } })
      const story = ['DELIVERED', 'ACTIVE', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED']
      expect(logs.map(({ state }) => state)).toEqual(story)
      expect(logs[2]).toMatchObject({ messageId, nextDeliveryTime: receiver.got[1]!.at })
      const headers = { Authorization: `Bearer ${qstash.token}` }
      const plain = await (await fetch(`${qstash.url}/v2/logs?count=2`, { headers })).json()
      expect(plain).toMatchObject({ logs: [{ state: 'DELIVERED' }, { state: 'ACTIVE' }], cursor: '2' })
    },
  })
})

describe('the signature', () => {
  const deliver = async ({ client, receiver }: World) => {
    await client.publishJSON({ url: receiver.at('/tick'), body: { x: 1 } })
    return receiver.next()
  }
  facts({
    'B4 holds with the current key': async (world) => {
      expect(await verify(await deliver(world), world.receiver.at('/tick'))).toBe(true)
    },

    'B4 holds after a rotation of the keys': async (world) => {
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

    'B4 fails with another key': async (world) => {
      const keys = { currentSigningKey: 'sig_a', nextSigningKey: 'sig_b' }
      await expect(verify(await deliver(world), world.receiver.at('/tick'), keys)).rejects.toThrow(
        'verification failed',
      )
    },

    'B4 fails when the body was changed': async (world) => {
      const got = { ...(await deliver(world)), body: Buffer.from('{"x":2}') }
      await expect(verify(got, world.receiver.at('/tick'))).rejects.toThrow('body hash does not match')
    },

    'B4 fails when the URL is another': async (world) => {
      await expect(verify(await deliver(world), world.receiver.at('/tick/'))).rejects.toThrow('invalid subject')
    },

    'B4 has the claims of the vendor': async (world) => {
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

    'B4 holds for an empty body': async ({ client, receiver }) => {
      await client.publish({ url: receiver.at('/'), method: 'GET' })
      expect(await verify(await receiver.next(), receiver.at('/'))).toBe(true)
    },
  })

  test('B4 is over after five minutes', async () => {
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
      await qstash.advance(MINUTE, { patience: 0 })
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

    'B5 a lost answer costs nothing with a deduplication id': async ({ client, receiver, qstash }) => {
      qstash.faults.dropAnswer()
      expect(await client.publish({ url: receiver.at('/'), deduplicationId: 'd-1' })).toMatchObject({
        deduplicated: true,
      })
      await qstash.advance(0)
      expect(receiver.got).toHaveLength(1)
    },
  })
})

describe('the file', () => {
  test('a stack that is started again resumes messages, schedules, queues and dead letters', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'qstash-'))
    const file = join(folder, 'qstash.jsonl')
    const start = Date.now()
    {
      await using world = await makeWorld({ file, now: () => start })
      const { client, qstash, receiver } = world
      await kill(world)
      receiver.answer(500)
      await client.publish({ url: receiver.at('/retried'), body: 'in' })
      await client.publish({ url: receiver.at('/delivered') })
      await qstash.advance(0)
      await client.publish({ url: receiver.at('/delayed'), delay: 60 })
      await client.queue({ queueName: 'q' }).upsert({ parallelism: 3, paused: true })
      await client.schedules.create({ scheduleId: 'mine', destination: receiver.at('/tick'), cron: '0 0 1 1 *' })
    }
    await using world = await makeWorld({ file, now: () => start + HOUR })
    const { client, qstash, receiver } = world
    expect((await client.dlq.listMessages()).messages).toMatchObject([{ body: 'in' }])
    expect(await client.queue({ queueName: 'q' }).get()).toMatchObject({ parallelism: 3, paused: true })
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

// ── The kit ──

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

/** One test for each fact, each in a world of its own whose clock stands still. */
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

/** A destination that keeps what it got and answers by script, else 200. */
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
    bodies: (path: string) => got.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body.toString())),
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

/** A message that ends in the dead letter queue at once. */
async function kill({ client, receiver, qstash }: Pick<World, 'client' | 'receiver' | 'qstash'>) {
  receiver.answer({ status: 500, body: 'no', headers: { 'X-Why': '1' } })
  const { messageId } = await client.publish({ url: receiver.at('/dead'), body: 'in', retries: 0 })
  await qstash.advance(0)
  const { messages } = await client.dlq.listMessages({ filter: { messageId } })
  return { messageId, dlqId: messages[0]!.dlqId }
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

const base64 = (text: string) => Buffer.from(text).toString('base64')
const fromBase64Json = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
