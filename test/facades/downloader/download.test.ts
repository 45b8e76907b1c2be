import { createHash, randomBytes } from 'node:crypto'
import { buffer, text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startReceiver } from '../../kit/receiver.ts'
import { type DownloadKit, startDownloads } from './kit.ts'
import { startS3 } from './s3.ts'

const MiB = 1024 * 1024
const DAY = 86_400_000
const large = randomBytes(17 * MiB + 3)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let kit: DownloadKit
let s3: Awaited<ReturnType<typeof startS3>>
beforeAll(async () => {
  s3 = await startS3()
  const toS3: typeof fetch = (url, init) =>
    fetch(String(url).replace('https://s3.eu-west-1.amazonaws.com', s3.url), init)
  kit = await startDownloads({
    s3: { accessKeyId: 'key', secretAccessKey: 'secret', buckets: ['theirs', `${s3.url}/theirs`] },
    fetch: toS3,
  })
})
afterAll(() => Promise.all([kit.close(), s3.close()]))
afterEach(() => {
  kit.origin.came.length = 0
})

const make = (args: object, more: object = {}) =>
  kit.make('download', {
    queue: 'downloader',
    args: JSON.stringify({ url: `${kit.origin.url}/file`, ...args }),
    keepResult: true,
    ...more,
  })

const resultOf = async (id: number) => {
  await kit.rest(id)
  const found = await kit.engine.jobs.result(String(id), {})
  if (!found.ended || found.result?.type !== 'success') throw new Error(`job ${id}: ${JSON.stringify(found)}`)
  return JSON.parse(found.result.result) as { file: string; sha256: string; size: number }
}
const errorOf = async (id: number) => {
  await kit.rest(id, 'failed')
  return JSON.parse((await kit.engine.jobs.get(String(id))).error!) as { message: string; detail: { code: string } }
}

test('a large body goes to a bucket of the caller in parts, signed, with its metadata', async () => {
  kit.origin.answer = (_, response) => response.end(large)
  const id = await make({
    bucket: { name: 'theirs', region: 'eu-west-1', endpoint: s3.url, metadata: { info: 'foobar' } },
  })
  const result = await resultOf(id)
  expect(result).toMatchObject({ size: large.length, sha256: sha256(large), type: 'application/octet-stream' })
  const key = `/theirs/${result.file.slice(0, 3)}/${result.file}`
  expect(sha256(await buffer(s3.read(key)))).toBe(sha256(large))
  expect(s3.objects.get(key)!.headers['x-amz-meta-info']).toBe('foobar')
  expect([s3.unsigned, s3.uploads.size]).toEqual([[], 0])
})

test('a small file is stored in one request', async () => {
  kit.origin.answer = (_, response) => response.end('hello')
  const { file } = await resultOf(await make({ bucket: { name: 'theirs', region: 'eu-west-1', endpoint: s3.url } }))
  expect(await text(s3.read(`/theirs/${file.slice(0, 3)}/${file}`))).toBe('hello')
})

test('a submission with a bucket needs no callback; extra is metadata, and the file stays', async () => {
  kit.origin.answer = (_, response) => response.end('hello')
  const extra = JSON.stringify({ a: 'b', n: 4.9, left: [1], out: true })
  const id = await kit.submit({ callback_url: undefined, s3_bucket: 'theirs', s3_region: 'eu-west-1', extra })
  await kit.until(async () => (await kit.stateOf(id)).download_state === 'Success')
  expect(await kit.stateOf(id)).toMatchObject({ callback_state: '' })
  const key = `/theirs/${id.slice(0, 3)}/${id}`
  const { headers } = s3.objects.get(key)!
  expect(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'))).toEqual([
    ['x-amz-meta-a', 'b'],
    ['x-amz-meta-n', '4'],
  ])
  await kit.advance(40 * DAY)
  await kit.until(async () => (await kit.ask('GET', `/downloader/jobs/${id}`)).status === 404)
  expect(await text(s3.read(key))).toBe('hello')
  expect(await kit.bucket.head(key.slice(8))).toBeNull()
})

test('a file that could not be removed is tried again', async () => {
  kit.origin.answer = (_, response) => response.end('hello')
  const { file } = await resultOf(await make({ keep: DAY }))
  const remove = kit.bucket.delete
  let times = 0
  kit.bucket.delete = () => {
    times++
    return Promise.reject(new Error('the bucket is down'))
  }
  await kit.advance(DAY)
  await kit.until(() => times === 1)
  kit.bucket.delete = remove
  await kit.advance(13_000)
  await kit.until(async () => (await kit.bucket.head(`${file.slice(0, 3)}/${file}`)) === null)
})

test('if a bucket is down, the download is tried again', async () => {
  s3.self.broken = true
  kit.origin.answer = (_, response) => response.end('hello')
  const id = await make({ bucket: { name: 'theirs', region: 'eu-west-1', endpoint: s3.url } })
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).attempt === 1)
  await kit.until(async () => (await kit.engine.jobs.get(String(id))).status === 'queued')
  expect(JSON.parse((await kit.engine.jobs.get(String(id))).error!).detail).toMatchObject({ code: 'STORAGE' })
  s3.self.broken = false
  await kit.advance(121_000)
  await resultOf(id)
})

test('a body above the limit is refused, by its declared length or while it arrives', async () => {
  kit.origin.answer = ({ path }, response) => {
    if (path === '/declared') response.writeHead(200, { 'content-length': large.length })
    response.end(large)
  }
  for (const path of ['/declared', '/chunked']) {
    const { message, detail } = await errorOf(await make({ url: kit.origin.url + path, maxSize: 9 * MiB }))
    expect([detail.code, message]).toEqual(['TOO_LARGE', expect.stringContaining('larger than 9437184 bytes')])
  }
})

test('an unchanged file is not stored again, and is kept for the longest requested time', async () => {
  kit.origin.answer = ({ headers }, response) => {
    if (headers['if-none-match'] === '"v1"') return response.writeHead(304).end()
    return response.writeHead(200, { etag: '"v1"' }).end('hello')
  }
  const first = await resultOf(await make({ dedup: true, keep: 2 * DAY }))
  await kit.advance(DAY)
  const second = await resultOf(await make({ dedup: true, keep: 3 * DAY }))
  expect(second).toMatchObject({ file: first.file, sha256: first.sha256, reused: true })
  const isThere = async () => (await kit.bucket.head(`${first.file.slice(0, 3)}/${first.file}`)) !== null
  await kit.advance(1.5 * DAY)
  await kit.until(async () => {
    const { queues } = await kit.engine.queues.list()
    const files = queues.find(({ name }) => name === 'files')!
    return files.counts.running === 0 && files.counts.queued === files.counts.scheduled
  })
  expect(await isThere()).toBe(true)
  await kit.advance(3 * DAY)
  await kit.until(async () => !(await isThere()))
  expect(await resultOf(await make({ dedup: true }))).not.toHaveProperty('reused')
})

test('a server without etags gets the header if-modified-since', async () => {
  const changed = 'Sat, 21 Nov 2026 00:00:00 GMT'
  kit.origin.answer = ({ headers }, response) =>
    headers['if-modified-since'] === changed
      ? response.writeHead(304).end()
      : response.writeHead(200, { 'last-modified': changed }).end('hello')
  const url = `${kit.origin.url}/modified`
  const first = await resultOf(await make({ url, dedup: true }))
  expect(await resultOf(await make({ url, dedup: true }))).toMatchObject({ file: first.file, reused: true })
})

test('progress is visible during the download', async () => {
  let end = () => {}
  kit.origin.answer = (_, response) => {
    response.writeHead(200, { 'content-length': 2 * MiB })
    response.write(large.subarray(0, MiB))
    end = () => response.end(large.subarray(MiB, 2 * MiB))
  }
  const id = await make({})
  const progress = async () =>
    JSON.parse((await kit.engine.jobs.get(String(id))).progress ?? '{}') as { bytes?: number }
  await kit.until(async () => ((await progress()).bytes ?? 0) > 0)
  expect(await progress()).toMatchObject({ total: 2 * MiB })
  end()
  await resultOf(id)
})

test('a certificate error reported by Cloudflare is final', async () => {
  kit.origin.answer = (_, response) => response.writeHead(526).end()
  expect((await errorOf(await make({}))).detail).toMatchObject({ code: 'TLS', status: 0 })
})

test('invalid arguments end the job at once', async () => {
  expect((await errorOf(await make({ url: 7 }))).message).toContain('args')
  expect((await errorOf(await make({ url: 'http://10.0.0.1/' }))).detail.code).toBe('REFUSED')
  expect(kit.origin.came).toHaveLength(0)
})

describe('options of one caller do not affect another caller', () => {
  test('a bucket needs an endpoint without a path, and must be configured in the deployment', async () => {
    kit.origin.answer = (_, response) => response.end('hello')
    const bucket = { name: 'theirs', region: 'eu-west-1' }
    const before = s3.objects.size
    for (const [given, message] of [
      [{ endpoint: `${s3.url}/other-bucket/secret#` }, 'bucket.endpoint: expected an origin like'],
      [{ endpoint: `${s3.url}/?x=` }, 'bucket.endpoint: expected an origin like'],
      [{ endpoint: s3.url, name: 'payroll' }, `bucket ${s3.url}/payroll is not configured in this deployment`],
      [{ endpoint: kit.origin.url }, 'is not configured in this deployment'],
      [{ name: 'payroll' }, 'bucket payroll is not configured in this deployment'],
    ] as const) {
      const error = await errorOf(await make({ bucket: { ...bucket, ...given } }))
      expect(error.message).toContain(message)
    }
    expect(s3.objects.size).toBe(before)
  })

  test('another origin gets none of the caller’s headers', async () => {
    const secrets = ['x-api-key', 'private-token', 'x-amz-security-token', 'authorization', 'cookie', 'x-mine']
    const other = await startReceiver(undefined, kit.now)
    other.answer = (_, response) => response.end('hello')
    kit.origin.answer = (_, response) => response.writeHead(302, { location: `${other.url}/there` }).end()
    await resultOf(await make({ headers: Object.fromEntries(secrets.map((name) => [name, 'secret'])) }))
    const [asked] = other.came
    expect(secrets.filter((name) => name in asked!.headers)).toEqual([])
    expect(asked!.headers['user-agent']).toBe('sidejob')
    await other.close()
  })

  test('a file downloaded with credentials is not shared with other callers', async () => {
    kit.origin.answer = ({ headers }, response) =>
      headers['if-none-match'] ? response.writeHead(304).end() : response.writeHead(200, { etag: '"v1"' }).end('hello')
    const url = `${kit.origin.url}/account`
    const ask = (headers: object) => make({ url, dedup: true, headers })
    const mallory = await resultOf(await ask({ authorization: 'Bearer mallory' }))
    expect((await resultOf(await ask({ authorization: 'Bearer alice' }))).file).not.toBe(mallory.file)
    expect((await resultOf(await ask({}))).file).not.toBe(mallory.file)
    const german = await resultOf(await ask({ 'accept-language': 'de' }))
    expect((await resultOf(await ask({ 'accept-language': 'fr' }))).file).not.toBe(german.file)
    expect(await resultOf(await ask({ 'Accept-Language': 'de' }))).toMatchObject({ file: german.file, reused: true })
  })

  test('invalid headers are refused at once, without another attempt', async () => {
    for (const [headers, expected] of [
      [{ 'x-a': 'b\r\nhost: c' }, '.x-a: expected a valid HTTP header value, got something else'],
      [{ 'a b': 'c' }, '.a b: expected a valid HTTP header name, got something else'],
      [{ host: 'c' }, ': expected no header that controls the connection, got host'],
      [{ 'Transfer-Encoding': 'chunked' }, ': expected no header that controls the connection, got Transfer-Encoding'],
    ] as const) {
      const id = await make({ headers })
      expect((await errorOf(id)).message).toBe(`args of job ${id} at headers${expected}`)
      expect((await kit.engine.jobs.get(String(id))).attempt).toBe(1)
    }
  })

  test('a small body that decompresses to a very large one is abandoned', async () => {
    kit.origin.answer = (_, response) => {
      const body = gzipSync(Buffer.alloc(32 * MiB))
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body)
    }
    const { message, detail } = await errorOf(await make({ url: `${kit.origin.url}/bomb` }))
    expect([detail.code, message]).toEqual(['TOO_LARGE', expect.stringContaining('the decoded body is larger than')])
  })
})

test('a deployment has a maximum download size, regardless of the options of jobs', async () => {
  const small = await startDownloads({ maxSize: MiB })
  small.origin.answer = (_, response) => response.end(Buffer.alloc(2 * MiB))
  const args = JSON.stringify({ url: `${small.origin.url}/file`, maxSize: 5 * MiB })
  const id = await small.make('download', { queue: 'downloader', args })
  await small.rest(id, 'failed')
  expect((await small.engine.jobs.get(String(id))).error).toContain('larger than 1048576 bytes')
  await small.close()
})

test('a signed address expires, and an id alone gives no access to signed files', async () => {
  const signed = await startDownloads({ signed: true })
  signed.origin.answer = (_, response) => response.end('hello')
  signed.caller.answer = (_, response) => response.end()
  const id = await signed.submit()
  await signed.until(() => signed.caller.came.length > 0)
  const { download_url } = JSON.parse(signed.caller.came[0]!.body)
  expect(await (await fetch(download_url)).text()).toBe('hello')
  expect((await fetch(`${signed.url}/files/${id.slice(0, 3)}/${id}`)).status).toBe(403)
  const shown = await (await signed.ask('GET', `/v1/files/${id}?for=1s`)).json()
  expect((await fetch(shown.url)).status).toBe(200)
  await signed.advance(2_001)
  expect((await fetch(shown.url)).status).toBe(403)
  expect((await signed.ask('GET', `/v1/files/${id}?for=8%20days`)).status).toBe(400)
  await signed.close()
})

test('a callback sends the same bytes on every attempt, even with signed addresses', async () => {
  const signed = await startDownloads({ signed: true })
  signed.origin.answer = (_, response) => response.end('hello')
  signed.caller.answer = (_, response) => response.writeHead(signed.caller.came.length === 1 ? 500 : 200).end()
  const id = await signed.submit()
  await signed.until(
    async () => signed.calls(id).length === 1 && (await signed.stateOf(id)).callback_state === 'Pending',
  )
  await signed.advance(6_000)
  await signed.until(() => signed.calls(id).length === 2)
  const [first, second] = signed.caller.came.map(({ body }) => body)
  expect(second).toBe(first)
  await signed.close()
})
