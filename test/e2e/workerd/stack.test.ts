import { encode } from '@msgpack/msgpack'
import { Client } from '@upstash/qstash'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { countWords } from '../../../examples/functions/word_count.ts'
import { zip } from '../../../functions/zip.ts'
import { RunFailed } from '../../../src/client/index.ts'
import { parseMsgpack } from '../../../src/core/codec/msgpack-reader.ts'
import { badInputs } from '../../http/bad-input.ts'
import { createAsker } from './asker.ts'
import { startWorkerd, type Workerd } from './kit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let workerd: Workerd
beforeAll(async () => {
  workerd = await startWorkerd()
})
afterAll(() => workerd?.close())

test('a job that is enqueued is completed', async () => {
  const { client, reaches } = workerd
  const { id, status } = await client.jobs.enqueue({ class: 'count_words' })
  expect(status).toBe('queued')
  await reaches(id, 'completed')
})

test('run creates a job, waits for it, and returns its result and outputs, or its failure', async () => {
  const { client } = workerd
  const { out, result } = await client.run(countWords, { text: ['to be or not to be'] })
  expect({ out, result }).toEqual({ out: { counts: [{ to: 2, be: 2, or: 1, not: 1 }] }, result: null })
  const failing = client.run(zip, { in: ['x'] as never })
  await expect(failing).rejects.toThrow(/^job \d+ \(zip\) has failed: input port "in" of job/)
  await expect(failing).rejects.toBeInstanceOf(RunFailed)
})

test('children work for their parent', async () => {
  const { client, reaches } = workerd
  const { id } = await client.jobs.enqueue({ class: 'fibonacci', args: { n: 7 } })
  const { children } = await reaches(id, 'completed')
  expect(Object.values(children).map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect(await client.ports.read(id, 'out', 'answer')).toMatchObject({ values: [{ data: 13 }] })
})

test('a write to a port wakes the job, and its answer can be read once', async () => {
  const { client, reaches } = workerd
  const { id } = await client.jobs.enqueue({ class: 'count_words', inputs: { text: ['To be or not to be'] } })
  await reaches(id, 'completed')
  await client.ports.write(id, 'in', 'text', { value: 'be' })
  await expect.poll(async () => (await client.ports.look(id, 'out', 'counts')).size).toBe(2)
  const { values } = await client.ports.read(id, 'out', 'counts', { max: 5 })
  expect(values.map(({ data }) => data)).toEqual([{ to: 2, be: 2, or: 1, not: 1 }, { be: 1 }])
  expect(await client.ports.read(id, 'out', 'counts')).toEqual({ values: [] })
})

test('a subscriber of a channel receives messages of it and its subchannels', async () => {
  const { client } = workerd
  const controller = new AbortController()
  const events = (await client.channels.subscribe('/news', {}, { signal: controller.signal }))[Symbol.asyncIterator]()
  const heard = [events.next(), events.next(), events.next()]
  await new Promise((resolve) => setTimeout(resolve, 200))
  await client.channels.publish({ channel: '/news', message: 'first' })
  await client.channels.publish({ channel: '/news/local', message: { n: 2 } })
  await workerd.ask('/v1/publish', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"channel":"/news","message":["on","\\n",\n"lines"]}',
  })
  const values = (await Promise.all(heard)).map(({ value }) => value)
  controller.abort()
  expect(values).toEqual([
    { channel: '/news', message: 'first' },
    { channel: '/news/local', message: { n: 2 } },
    { channel: '/news', message: ['on', '\n', 'lines'] },
  ])
})

test('a browser’s EventSource subscribes with a token instead of a key', async () => {
  const path = '/v1/subscribe/pages/one'
  const { token } = await workerd.client.channels.token('/pages/one')
  const open = (query: string) =>
    fetch(`${workerd.stack.url}${path}?token=${query}`, { headers: { accept: 'text/event-stream' } })
  const refused = await open(token.replace(/.$/, '!'))
  expect(refused.status).toBe(401)
  await refused.body?.cancel()
  const events = await open(token)
  expect([events.status, events.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
  let heard = (await reader.read()).value!
  await new Promise((resolve) => setTimeout(resolve, 200))
  await workerd.client.channels.publish({ channel: '/pages/one', message: 'hello' })
  while (!heard.includes('data:')) heard += (await reader.read()).value
  expect(heard).toContain('data: {"channel":"/pages/one","message":"hello"}')
  await reader.cancel()
})

test('requests and responses can be MessagePack', async () => {
  const type = 'application/vnd.msgpack'
  const bytes = new Uint8Array([1, 2, 255])
  const body = encode({ class: 'noop', at: '2100-01-01T00:00:00Z', args: { bytes } })
  const headers = { 'content-type': type, accept: type }
  const made = await workerd.ask('/v1/jobs', { method: 'POST', body, headers })
  expect([made.status, made.headers.get('content-type')]).toEqual([201, type])
  const { id } = parseMsgpack(new Uint8Array(await made.arrayBuffer())) as { id: number }
  const packed = await workerd.ask(`/v1/jobs/${id}`, { headers: { accept: type } })
  expect(parseMsgpack(new Uint8Array(await packed.arrayBuffer()))).toMatchObject({ args: { bytes } })
  expect(await workerd.client.jobs.get(id)).toMatchObject({ args: { bytes: { $bin: 'AQL/' } } })
})

test('a repeated commit of a pull worker has one effect', async () => {
  const { client } = workerd
  await client.workers.register('core', 'by_hand', { pull: true, out: { greeting: {} } })
  const { id } = await client.jobs.enqueue({ queue: 'core', class: 'by_hand' })
  const claimed = await client.queues.claim('core', { names: ['by_*'], wait: 5 })
  const [run] = claimed!.runs
  expect(run!.job.id).toBe(id)
  const changes = { end: 'completed', ops: [{ op: 'write', to: { out: 'greeting' }, values: ['hello'] }] } as const
  expect(await client.runs.commit(run!.run.token, changes as never)).toEqual({ status: 'completed' })
  expect(await client.runs.commit(run!.run.token, changes as never)).toEqual({ status: 'completed' })
  expect(await client.ports.look(id, 'out', 'greeting')).toMatchObject({ size: 1 })
})

test('a delayed job runs when the clock reaches its time', async () => {
  const { client, reaches } = workerd
  const { id } = await client.jobs.enqueue({ class: 'count_words', wait: '1h' })
  expect(await client.jobs.get(id)).toMatchObject({ status: 'queued', ranAt: null })
  await client.system.advance({ advance: '1h' })
  await reaches(id, 'completed')
})

test('QStash asks for a tick every minute', async () => {
  const { url, token } = workerd.stack.note.qstash
  const schedules = await new Client({ baseUrl: url, token, devMode: false }).schedules.list()
  expect(schedules).toMatchObject([
    { scheduleId: 'sidejob-tick-local', cron: '* * * * *', destination: `${workerd.stack.url}/tick` },
  ])
})

test.each([
  ['/health', 'application/json', '"redis":true'],
  ['/openapi.json', 'application/json', '"openapi":"3.1'],
  ['/docs', 'text/html', '/v1/jobs'],
])('%s is open to everyone', async (path, type, part) => {
  const answer = await fetch(`${workerd.stack.url}${path}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toContain(type)
  expect(await answer.text()).toContain(part)
})

describe('bad input', () => {
  let ask: Awaited<ReturnType<typeof createAsker>>
  const jobs = async () => (await workerd.client.jobs.list({ limit: 1000 })).jobs
  let before: unknown
  beforeAll(async () => {
    ask = await createAsker(workerd)
    before = await jobs()
  })

  test.each(badInputs)('$name: $code', async ({ request, code, status, message, path, by }) => {
    const answer = await ask(request)
    const { error } = (await answer.json()) as { error: Record<string, unknown> }
    expect({ ...error, status: answer.status }).toEqual({
      code,
      status,
      doc_url: expect.stringMatching(new RegExp(`/docs/errors#${code}$`)),
      message: by === 'engine' ? expect.any(String) : expect.stringContaining(message),
      ...(path && { path }),
    })
  })

  test('has changed nothing', async () => {
    expect(await jobs()).toEqual(before)
    // Ignore log lines of runs, because a run of an earlier test may have failed.
    expect(workerd.printed.filter((line) => !line.includes('"sidejob":"run"'))).toEqual([])
  })
})
