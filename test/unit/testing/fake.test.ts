import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { createWorker } from '../../../src/cloudflare/node.ts'
import { defineWorker, port } from '../../../src/index.ts'
import { fakeJobs } from '../../../src/testing/index.ts'

const order = defineWorker({
  class: 'order',
  args: z.object({ amount: z.number() }),
  in: { paid: port(z.boolean()) },
  perform() {},
})
const jobs = createWorker<object>({ functions: [order], mount: '/_sidejob' })
const app = jobs.with({
  async fetch(request: Request, env: object) {
    const answer = await jobs
      .client(env)
      .jobs.enqueue((await request.json()) as never)
      .catch(({ code, status, message }) => ({ code, status, message }))
    return Response.json(answer)
  },
})
const post = async (body: unknown) => {
  const request = new Request('http://w/orders', { method: 'POST', body: JSON.stringify(body) })
  return (await app.fetch(request, {}, { waitUntil: () => undefined })).json()
}

let fake: ReturnType<typeof fakeJobs>
beforeEach(() => {
  fake = fakeJobs()
})
afterEach(() => fake.restore())

test('the jobs that a route creates are listed, without settings and without an engine', async () => {
  expect(await post({ class: 'order', args: { amount: 1 }, wait: '5m' })).toEqual({ id: 1, status: 'queued' })
  expect(
    await post([
      { class: 'order', args: { amount: 2 } },
      { class: 'order', args: { amount: 3 } },
    ]),
  ).toEqual({
    jobs: [
      { id: 2, status: 'queued' },
      { id: 3, status: 'queued' },
    ],
  })
  expect(fake.made).toEqual([
    { id: 1, queue: 'default', class: 'order', args: { amount: 1 }, wait: '5m' },
    { id: 2, queue: 'default', class: 'order', args: { amount: 2 } },
    { id: 3, queue: 'default', class: 'order', args: { amount: 3 } },
  ])
})

test.each<[object, string, number, string]>([
  [{ class: 'order', args: { amount: 'x' } }, 'REFUSED', 422, 'args.amount: expected a number, got "x"'],
  [{ class: 'order', args: { amount: 1 }, inputs: { other: [1] } }, 'REFUSED', 422, 'has no input port "other"'],
  [{ class: 'ordr' }, 'REFUSED', 422, 'class ordr is not registered for queue default'],
  [{ class: 'order', retries: 3 }, 'BAD_REQUEST', 400, 'retries: unknown member'],
])('%j is refused like in the API, and no job is created', async (job, code, status, message) => {
  expect(await post(job)).toEqual({ code, status, message: expect.stringContaining(message) })
  expect(fake.made).toEqual([])
})

test('other calls are errors that name the way to test them', async () => {
  await expect(jobs.client({}).jobs.get(1)).rejects.toMatchObject({
    status: 501,
    message: 'fakeJobs supports only jobs.enqueue, got GET /v1/jobs/1: test this call with startDev of sidejob/dev',
  })
})

test('after restore the Worker asks for its settings again', () => {
  fake.restore()
  expect(() => jobs.client({})).toThrow('not configured')
})
