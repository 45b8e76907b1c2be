import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../../kit/receiver.ts'
import { startWorkerd, type Workerd } from './kit.ts'

let kit: Workerd
let origin: Receiver
let caller: Receiver

const MiB = 1024 * 1024
const bytes = randomBytes(20 * MiB + 7)
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

beforeAll(async () => {
  kit = await startWorkerd()
  caller = await startReceiver()
  // Without Content-Length, the size is known only at the end.
  origin = await startReceiver(({ path }, response) => {
    if (path === '/small') return response.end('hello')
    for (let at = 0; at < bytes.length; at += MiB) response.write(bytes.subarray(at, at + MiB))
    response.end()
  })
}, 60_000)
afterAll(() => Promise.all([kit.close(), origin.close(), caller.close()]))

test('a large file without a length is stored in parts, byte for byte, and served in ranges', async () => {
  const { id } = await kit.client.jobs.enqueue({
    queue: 'downloader',
    class: 'download',
    args: { url: `${origin.url}/large` },
    keepResult: true,
  })
  await kit.reaches(id, 'completed', 30_000)
  const found = (await kit.client.jobs.result(id)) as { result: Record<string, unknown> }
  expect(found.result).toMatchObject({ size: bytes.length, sha256: sha256(bytes), status: 200 })
  const file = await kit.client.files.show(String(found.result.file))
  const whole = await fetch(file.url)
  expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(bytes))
  const part = await fetch(file.url, { headers: { range: `bytes=${8 * MiB - 2}-${8 * MiB + 1}` } })
  expect([part.status, part.headers.get('content-range')]).toEqual([
    206,
    `bytes ${8 * MiB - 2}-${8 * MiB + 1}/${bytes.length}`,
  ])
  expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(8 * MiB - 2, 8 * MiB + 2))
})

test('a submitted download sends a callback, and its file is at the reported address', async () => {
  const response = await kit.ask('/downloader/download', {
    method: 'POST',
    body: JSON.stringify({
      aggr_id: 'shop',
      aggr_limit: 1,
      url: `${origin.url}/small`,
      callback_url: `${caller.url}/x`,
    }),
  })
  expect(response.status).toBe(201)
  for (const end = Date.now() + 15_000; caller.came.length === 0 && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 20))
  const told = JSON.parse(caller.came[0]!.body) as Record<string, string>
  expect(told).toMatchObject({ success: true, error: '', response_code: 200 })
  expect(await (await fetch(told.download_url!)).text()).toBe('hello')
})
