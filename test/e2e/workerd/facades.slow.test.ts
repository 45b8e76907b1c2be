import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decode, encode } from '@msgpack/msgpack'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startWorkerd, type Workerd } from './kit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let workerd: Workerd
beforeAll(async () => {
  workerd = await startWorkerd()
})
afterAll(() => workerd?.close())

const MSGPACK = 'application/vnd.msgpack'

test('S53 of Bedrock: a parent runs again with the data of its children', async () => {
  const send = async (command: string, headers: Record<string, string> = {}) => {
    const answer = await workerd.ask(`/bedrock/${command}`, { method: 'POST', headers })
    expect([command, answer.headers.get('x-bedrock-status')]).toEqual([command, '200 OK'])
    return (await answer.json()) as Record<string, unknown>
  }
  const { jobID: P } = await send('CreateJob', { name: 'parent', data: '{"foo":"bar"}' })
  await send('GetJob', { name: 'parent' })
  const child = { parentjobid: String(P) }
  const { jobID: C1 } = await send('CreateJob', { name: 'c1', ...child })
  const { jobID: C2 } = await send('CreateJob', { name: 'c2', data: '{"baz":"foo"}', ...child })
  const waiting = send('GetJob', { name: 'c1', 'x-bedrock-connection': 'wait', timeout: '20000' })
  await send('FinishJob', { jobid: String(P) })
  expect(await waiting).toMatchObject({ jobID: C1, parentJobID: P, parentData: { foo: 'bar' } })
  await send('CancelJob', { jobid: String(C2) })
  await send('FinishJob', { jobid: String(C1), data: '{"bar":"baz"}' })
  expect(await send('GetJob', { name: 'parent' })).toMatchObject({
    data: { foo: 'bar' },
    finishedChildJobs: [{ data: { bar: 'baz' }, jobID: C1 }],
    cancelledChildJobs: [{ data: { baz: 'foo' }, jobID: C2 }],
  })
  await send('FinishJob', { jobid: String(P) })
  const gone = await workerd.ask('/bedrock/QueryJob', { method: 'POST', headers: { jobid: String(C1) } })
  expect([gone.status, await gone.json()]).toEqual([404, { code: 404, message: '404 No job with this jobID' }])
})

test('Q1 and Q8 of JQ: a worker receives the bytes of a job, and its result can be read once', async () => {
  const called: unknown[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    called.push(decode(Buffer.concat(chunks)))
    const map = { type: 'success', finished_at: '2026-03-11T12:00:00Z', result: new Uint8Array([1, 2]) }
    response.writeHead(200, { 'content-type': MSGPACK }).end(encode(map))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const put = (path: string, method: string, body: unknown) =>
      workerd.ask(path, { method, body: encode(body) as BodyInit, headers: { 'content-type': MSGPACK } })
    expect((await put('/jq/workers/thumb', 'PUT', { url })).status).toBe(200)
    const made = await put('/jq/jobs', 'POST', { name: 'thumb', argument: { id: 7 }, keep_result: true })
    expect([made.status, made.headers.get('content-type')]).toEqual([201, MSGPACK])
    const { id } = decode(await made.arrayBuffer()) as { id: string }
    const take = () => workerd.ask(`/jq/jobs/${id}/result`)
    await workerd.reaches(Number(id), 'completed')
    expect(called).toEqual([{ id, name: 'thumb', argument: { id: 7 }, attempt: 1, timeout: 30 }])
    expect(decode(await (await take()).arrayBuffer())).toMatchObject({
      type: 'success',
      result: new Uint8Array([1, 2]),
    })
    expect(Buffer.from(await (await take()).arrayBuffer()).toString('hex')).toBe('c0')
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
