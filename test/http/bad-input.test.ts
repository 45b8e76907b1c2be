import { expect, test } from 'vitest'
import { parseMsgpack } from '../../src/core/codec/msgpack-reader.ts'
import { SidejobError } from '../../src/core/errors.ts'
import { badInputs } from './bad-input.ts'
import { strictVerbs } from './fake-engine.ts'
import { setUp } from './kit.ts'

test.each(badInputs)('$name: $code', async ({ request, code, status, message, path, by }) => {
  const { ask, calls, reported } = setUp(strictVerbs)
  const answer = await ask(request)
  const { error } = (await answer.json()) as { error: Record<string, unknown> }
  expect({ ...error, status: answer.status }).toEqual({
    doc_url: `https://jobs.example.com/docs/errors#${code}`,
    code,
    status,
    message: expect.stringContaining(message),
    ...(path && { path }),
  })
  expect(calls).toHaveLength(by === 'engine' ? 1 : 0)
  expect(reported).toEqual([])
})

test('the table has at least 60 bad inputs, with distinct names', () => {
  expect(badInputs.length).toBeGreaterThanOrEqual(60)
  expect(new Set(badInputs.map(({ name }) => name)).size).toBe(badInputs.length)
})

test('the operator sees the details of an unexpected error, and the caller only that it occurred', async () => {
  const fault = new TypeError('redis://user:secret@host refused')
  const { ask, reported } = setUp({
    stats: {
      totals: async () => {
        throw fault
      },
    },
  })
  const answer = await ask({ method: 'GET', path: '/v1/stats' })
  expect(answer.status).toBe(500)
  expect(await answer.json()).toEqual({
    error: {
      code: 'INTERNAL',
      message: 'sidejob had an internal error; the log of the deployment has the cause',
      doc_url: expect.stringMatching(/\/docs\/errors#INTERNAL$/),
    },
  })
  expect(reported).toEqual([fault])
})

test('an error has a Retry-After header', async () => {
  const { ask } = setUp({
    stats: {
      totals: async () => {
        throw new SidejobError('LIMITED', 'the next is free soon', { retryAfter: 1.2 })
      },
    },
  })
  const answer = await ask({ method: 'GET', path: '/v1/stats' })
  expect(answer.status).toBe(429)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(await answer.json()).toMatchObject({ error: { code: 'LIMITED', retryAfter: 1.2 } })
})

test('an error has the requested format', async () => {
  const { ask } = setUp()
  const answer = await ask({ method: 'GET', path: '/v1/nothing', headers: { accept: 'application/x-msgpack' } })
  expect(answer.headers.get('content-type')).toBe('application/vnd.msgpack')
  const read = parseMsgpack(new Uint8Array(await answer.arrayBuffer()))
  expect(read).toMatchObject({ error: { code: 'NOT_FOUND' } })
})

test('a body larger than its Content-Length is cut off', async () => {
  const { app, calls } = setUp()
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_048_576).fill(0x20)),
  })
  const headers = { authorization: 'Bearer admin', 'content-length': '10' }
  const answer = await app.request('/v1/jobs', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  expect(answer.status).toBe(413)
  expect(calls).toEqual([])
})
