// If a message has more than 500 listeners, a relay delivers it, page by page.

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RELAYS } from '../../src/engine/remote/relay.ts'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const heard = new Map<number, unknown[]>()

const reader = defineWorker({
  class: 'reader',
  queue: 'readers',
  in: { news: { channels: ['/news'] } },
  async perform(job) {
    const all = heard.get(job.id) ?? []
    heard.set(job.id, all)
    for await (const { news } of job.inputs('news')) all.push(news)
  },
})
const broken = defineWorker({
  class: 'broken',
  queue: 'readers',
  in: { news: { channels: ['/news'] } },
  async perform(job) {
    if ((await job.read('news')) !== undefined) throw new Error('I hear nothing')
  },
})
const herald = defineWorker({
  class: 'herald',
  queue: 'heralds',
  out: { say: { channels: ['/news/today'] } },
  perform: (job) => job.write('say', 'written'),
})

const N = 2_000

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [reader, broken, herald] })
})
afterAll(() => kit.close())

const queueIs = (queue: string, paused: boolean) => kit.engine.queues.update(queue, { paused })

const served = (queue: string) =>
  kit.until(async () => {
    const { counts } = (await kit.engine.queues.list()).queues.find(({ name }) => name === queue)!
    return counts.queued + counts.running === 0
  }, 60_000)

async function listen(className: string, n: number): Promise<number[]> {
  const ids: number[] = []
  while (ids.length < n) {
    const one = { queue: 'readers', class: className }
    const { jobs } = await kit.engine.jobs.enqueue(Array(Math.min(1_000, n - ids.length)).fill(one))
    ids.push(...jobs.map(({ id }) => id))
  }
  return ids
}

test(`a message reaches ${N} listeners in one round trip, and a broken listener affects no other`, async () => {
  const ids = [...(await listen('reader', N / 2)), ...(await listen('broken', 1)), ...(await listen('reader', N / 2))]
  const readers = ids.filter((_, i) => i !== N / 2)
  await served('readers')
  await kit.engine.jobs.remove(String(readers.pop()), { force: true })
  await kit.engine.workers.unregister('readers', 'broken')
  await queueIs(RELAYS.queue, true)

  const before = kit.gateway.counters.requests
  expect(await kit.engine.channels.publish('/news', '1')).toEqual({ subscribers: N })
  expect(kit.gateway.counters.requests - before).toBe(1)

  await kit.engine.channels.publish('/news', '2')
  await queueIs(RELAYS.queue, false)
  await served(RELAYS.queue)
  await served('readers')
  expect(readers.filter((id) => `${heard.get(id)}` !== '1,2')).toEqual([])
}, 120_000)

test('writes of a run to a port with a channel are published the same way', async () => {
  const { jobs } = await kit.engine.jobs.enqueue([{ queue: 'heralds', class: 'herald' }])
  await kit.rest(jobs[0]!.id, 'completed')
  await served(RELAYS.queue)
  await served('readers')
  const last = [...heard.values()].map((values) => values.at(-1))
  expect(last.filter((value) => value === 'written')).toHaveLength(N - 1)
}, 120_000)

test('the relay is shown as a job', async () => {
  const { jobs } = await kit.engine.jobs.list({ queue: RELAYS.queue })
  expect(jobs).toMatchObject([{ class: 'relay', args: '"\\/news"', status: 'completed', in: { in: { size: 0 } } }])
  const { channels } = await kit.engine.channels.list()
  expect(channels.map(({ name }) => name)).toEqual(['/news'])
})

test('a channel lists classes that publish on it or below it, and is listed if no job listens to it', async () => {
  const silent = { class: 'silent', queue: 'readers', in: { news: { channels: ['/new', '/news/today/7'] } } } as const
  await kit.engine.workers.register(silent.queue, silent.class, {
    pull: true,
    in: { news: { channels: [...silent.in.news.channels] } },
  })
  const job = await kit.make(silent.class, { queue: silent.queue, in: silent.in })
  const publishers = Object.fromEntries(
    (await kit.engine.channels.list({ publishers: true })).channels.map((one) => [one.name, one.publishers]),
  )
  expect(publishers).toEqual({
    '/news': [{ queue: 'heralds', class: 'herald', port: 'say' }],
    '/news/today': [{ queue: 'heralds', class: 'herald', port: 'say' }],
    '/new': [],
    '/news/today/7': [],
  })
  await kit.engine.jobs.remove(String(job), { force: true })
})

test('a plain SUBSCRIBE in Redis receives the messages of a channel only while a stream of it is open', async () => {
  const texts: string[] = []
  const socket = connect(kit.redis.port, '127.0.0.1')
  socket.setEncoding('utf8').on('data', (text: string) => texts.push(text))
  const live = kit.store.keys.live('/told')
  for (const channel of [live, '/told']) socket.write(`SUBSCRIBE ${channel}\r\n`)
  await kit.until(() => texts.join('').includes(':2\r\n'))
  await kit.engine.channels.publish('/told/below', '"unheard"')

  const stop = new AbortController()
  const stream = (await kit.engine.channels.subscribe(['/told'], stop.signal))[Symbol.asyncIterator]()
  await kit.engine.channels.publish('/told/below', '"heard"')
  expect((await stream.next()).value).toEqual({ channel: '/told/below', message: '"heard"' })
  await kit.until(() => texts.join('').includes('"heard"'))
  const ended = stream.next().catch(({ name }) => name)
  stop.abort()
  expect(await ended).toBe('AbortError')
  socket.destroy()
  expect(texts.join('')).toContain(`${live}\r\n`)
  expect(texts.join('')).toContain('/told/below\t"heard"\r\n')
  expect(texts.join('')).not.toContain('unheard')
  expect(texts.join('').match(/message\r\n\$\d+\r\n\/told\r\n/)).toBeNull()
})
