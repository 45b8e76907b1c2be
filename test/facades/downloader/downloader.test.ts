import { createHash, createHmac, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Handler } from '../../kit/receiver.ts'
import { type DownloadKit, SECRET, startDownloads } from './kit.ts'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** A PNG header of 10 × 10 pixels, followed by random bytes. */
const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a08060000008d32cfbd', 'hex'),
  Buffer.from('0000000049444154', 'hex'),
  randomBytes(30_000),
])
const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffc0000b080014001e01011100ffda', 'hex'),
  randomBytes(32_000),
])
const bmp = Buffer.concat([
  Buffer.from('424d460000000000000036000000280000000a0000000a000000', 'hex'),
  randomBytes(200),
])
const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(2_000)])
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

const gives =
  (bytes: Uint8Array, status = 200): Handler =>
  (_, response) => {
    response.writeHead(status, { 'content-length': bytes.length }).end(bytes)
  }
const says =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end()

const inTurn = (...answers: Handler[]): Handler => {
  let turn = 0
  return (...asked) => answers[Math.min(turn++, answers.length - 1)]!(...asked)
}

let kit: DownloadKit
beforeAll(async () => {
  kit = await startDownloads()
})
afterAll(() => kit.close())
afterEach(() => {
  kit.origin.came.length = 0
  kit.caller.came.length = 0
  kit.caller.answer = says(200)
})

const called = (id: string, times = 1) => kit.until(() => kit.calls(id).length >= times)
const settled = (id: string) =>
  kit.until(async () => {
    const { download_state, callback_state } = await kit.stateOf(id)
    return ['Success', 'Failed'].includes(download_state) && callback_state !== 'InProgress'
  })
const waiting = (id: string, attempts: number) =>
  kit.until(async () => {
    const is = await kit.stateOf(id)
    return is.download_state === 'Pending' && is.download_count === attempts
  })

describe('a download that works', () => {
  test('D1 a file is stored byte for byte, and one signed callback has all ten keys', async () => {
    kit.origin.answer = gives(jpeg)
    const id = await kit.submit({ mime_type: '!image/vnd.adobe.photoshop,image/jpeg' })
    expect(id).toMatch(/^[A-Za-z0-9_-]{14}$/)
    await called(id)
    const download_url = `${kit.url}/files/${id.slice(0, 3)}/${id}`
    expect(kit.calls(id)).toEqual([
      {
        success: true,
        error: '',
        extra: 'foobar',
        image_size: '',
        resource_url: `${kit.origin.url}/file`,
        download_url,
        job_id: id,
        response_code: 200,
        delivered: true,
        delivery_error: '',
      },
    ])
    const stored = await fetch(download_url)
    expect(stored.headers.get('content-type')).toBe('image/jpeg')
    expect(md5(new Uint8Array(await stored.arrayBuffer()))).toBe(md5(jpeg))
    const [{ headers, body }] = kit.caller.came as [(typeof kit.caller.came)[0]]
    expect(headers['content-type']).toBe('application/json')
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(SECRET.slice(6), 'base64')
    expect(headers['webhook-signature']!.split(' ')).toContain(
      `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
    )
    await settled(id)
    expect(await kit.stateOf(id)).toMatchObject({
      download_state: 'Success',
      callback_state: 'Success',
      callback_count: 1,
      aggr_id: 'shop',
    })
  })

  test('D9 returns the size of pictures, and of no other files', async () => {
    const sizes: unknown[] = []
    for (const bytes of [png, jpeg, bmp, pdf]) {
      kit.origin.answer = gives(bytes)
      const id = await kit.submit({ extract_image_size: true })
      await called(id)
      sizes.push([kit.calls(id)[0]!.success, kit.calls(id)[0]!.image_size])
    }
    expect(sizes).toEqual([
      [true, '10x10'],
      [true, '30x20'],
      [true, ''],
      [true, ''],
    ])
  })

  test('sends the requested headers, including numbers', async () => {
    kit.origin.answer = gives(pdf)
    const id = await kit.submit({ request_headers: { 'User-Agent': 'Test-Agent', 'X-N': 5 } })
    await called(id)
    expect(kit.origin.came[0]!.headers).toMatchObject({ 'user-agent': 'Test-Agent', 'x-n': '5' })
  })

  test('an empty body is stored as a file', async () => {
    kit.origin.answer = gives(Buffer.alloc(0))
    const id = await kit.submit({ mime_type: 'application/x-empty' })
    await called(id)
    expect(kit.calls(id)[0]).toMatchObject({ success: true })
  })

  test('redirects are followed, five at most, and host-specific headers are not forwarded', async () => {
    kit.origin.answer = ({ path }, response, request) => {
      const n = Number(path.slice(1))
      if (n > 0) return says(302, { location: `/${n - 1}` })({} as never, response, request)
      return gives(pdf)({} as never, response, request)
    }
    const five = await kit.submit({ url: `${kit.origin.url}/5`, max_retries: 0 })
    const six = await kit.submit({ url: `${kit.origin.url}/6`, max_retries: 0 })
    await called(five)
    await called(six)
    expect(kit.calls(five)[0]).toMatchObject({ success: true })
    expect(kit.calls(six)[0]).toMatchObject({ success: false, response_code: 0 })
    expect(kit.calls(six)[0]!.error).toContain('stopped after 5 redirects')
  })
})

describe('a download that fails', () => {
  const failure = async (more: object = {}) => {
    const id = await kit.submit({ max_retries: 0, ...more })
    await called(id)
    return kit.calls(id)[0]!
  }

  test('a 404 is final, and is reported without the address of a file', async () => {
    kit.origin.answer = says(404)
    expect(await failure({ max_retries: 2 })).toMatchObject({ success: false, response_code: 404, download_url: '' })
    expect(kit.origin.came).toHaveLength(1)
  })

  test('an unwanted media type is final, regardless of the type that the server names', async () => {
    kit.origin.answer = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(pdf)
    const told = await failure({ max_retries: 2, mime_type: 'image/png' })
    expect(told).toMatchObject({ success: false, response_code: 200 })
    expect(told.error).toContain('Expected mime-type to be (image/png), found (application/pdf)')
    const second = await failure({ mime_type: '!application/pdf' })
    expect(second.error).toContain('Expected mime-type not to be (application/pdf) found - (application/pdf)')
  })

  test('a status outside 2xx is a failure, and a 304 to a request without a condition is not retried', async () => {
    kit.origin.answer = says(304)
    expect(await failure({ max_retries: 2 })).toMatchObject({ success: false, response_code: 304, download_url: '' })
  })

  test('a TLS handshake that fails is final, and has no status', async () => {
    const told = await failure({ max_retries: 2, url: kit.origin.url.replace('http:', 'https:') })
    expect(told).toMatchObject({ success: false, response_code: 0 })
    expect(told.error).toContain('retriable: false')
  })

  test('the error of an attempt is cleared when the next one starts', async () => {
    let answer = () => {}
    kit.origin.answer = inTurn(says(500), (_, response) => {
      answer = () => response.end(pdf)
    })
    const id = await kit.submit()
    await waiting(id, 1)
    expect(await kit.stateOf(id)).toMatchObject({ response_code: 500, error: expect.stringContaining('500') })
    await kit.advance(121 * SECOND)
    await kit.until(async () => (await kit.stateOf(id)).download_state === 'InProgress')
    expect(await kit.stateOf(id)).toMatchObject({ response_code: 0, error: '' })
    answer()
    await called(id)
  })

  test('no retries means one attempt, and one retry means two', async () => {
    kit.origin.answer = says(500)
    expect(await failure()).toMatchObject({ response_code: 500 })
    expect(kit.origin.came).toHaveLength(1)
    const id = await kit.submit({ max_retries: 1 })
    await waiting(id, 1)
    expect(await kit.stateOf(id)).toMatchObject({ response_code: 500, callback_state: '' })
    await kit.advance(121 * SECOND)
    await called(id)
    expect(kit.origin.came).toHaveLength(3)
  })

  test('a picture without a readable header is final', async () => {
    kit.origin.answer = gives(Buffer.concat([Buffer.from('ffd8ffe000104a46494600', 'hex'), Buffer.alloc(50)]))
    const told = await failure({ extract_image_size: true })
    expect(told).toMatchObject({ success: false })
    expect(told.error).toContain('extracting image-size')
  })

  test('a redirect to a private address is refused', async () => {
    const inner = [
      'http://169.254.169.254/latest/meta-data',
      '//10.0.0.1/x',
      'http://0xa000001/',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://db.internal/',
      'http://anything.localtest.me/',
      'http://10.0.0.1.nip.io/',
    ]
    for (const location of inner) {
      kit.origin.answer = says(302, { location })
      const told = await failure({ max_retries: 2 })
      expect(told).toMatchObject({ success: false, response_code: 0 })
      expect(told.error).toContain('in a private network')
    }
    for (const location of ['file:///etc/passwd', 'http://me@example.com/']) {
      kit.origin.answer = says(302, { location })
      expect((await failure({ max_retries: 2 })).error).toContain('Error while performing request, expected a URL')
    }
    expect(kit.origin.came).toHaveLength(inner.length + 2)
  })

  test('a loop of redirects ends', async () => {
    kit.origin.answer = says(302, { location: '/file' })
    expect((await failure()).error).toContain('redirects')
    expect(kit.origin.came).toHaveLength(6)
  })

  test('a silent server is abandoned at the timeout', async () => {
    kit.origin.answer = () => undefined
    const told = await failure({ download_timeout: 1 })
    expect(told).toMatchObject({ success: false, response_code: 0 })
    expect(told.error).toContain('longer than 1000 ms')
  })

  test('a body that stalls is abandoned at the timeout, and its connection is closed', async () => {
    let closed = false
    kit.origin.answer = (_, response) => {
      response.once('close', () => (closed = true))
      response.writeHead(200, { 'content-length': 1_000 }).write('0123456789')
    }
    expect((await failure({ download_timeout: 1 })).error).toContain('longer than 1000 ms')
    await kit.until(() => closed)
  })

  test('a refused connection is reported', async () => {
    const told = await failure({ url: 'http://127.0.0.1:1/' })
    expect(told.error).toContain('Error while performing request')
  })
})

describe('tries', () => {
  test('D5 a download that gets 500 and then 503 is tried again after 2 minutes, and after 4 more minutes', async () => {
    kit.origin.answer = inTurn(says(500), says(503), gives(pdf))
    const id = await kit.submit()
    await waiting(id, 1)
    await kit.advance(118 * SECOND)
    expect(kit.origin.came).toHaveLength(1)
    await kit.advance(2 * SECOND)
    await waiting(id, 2)
    await kit.advance(238 * SECOND)
    expect(kit.origin.came).toHaveLength(2)
    await kit.advance(2 * SECOND)
    await called(id)
    expect(kit.calls(id)).toMatchObject([{ success: true, error: '', response_code: 200 }])
  })

  test('D7 a download whose body is shorter than declared is tried again, for any wanted type', async () => {
    kit.origin.answer = (_, response) => {
      response.writeHead(200, { 'content-length': 42 }).write('0123456789')
      setTimeout(() => response.destroy(), 20)
    }
    const id = await kit.submit({ mime_type: 'type/mismatch' })
    for (const attempt of [1, 2]) {
      await waiting(id, attempt)
      await kit.advance(attempt * 121 * SECOND)
    }
    await called(id)
    expect(kit.origin.came).toHaveLength(3)
    expect(kit.calls(id)[0]!.error).toContain('unexpected EOF')
  })

  test('429 is tried again, not before Retry-After', async () => {
    kit.origin.answer = inTurn(says(429, { 'retry-after': '300' }), gives(pdf))
    const id = await kit.submit()
    await waiting(id, 1)
    await kit.advance(290 * SECOND)
    expect(kit.origin.came).toHaveLength(1)
    await kit.advance(12 * SECOND)
    await called(id)
    expect(kit.calls(id)[0]).toMatchObject({ success: true })
  })

  test('D13 a retry frees its slot for the next job of its aggregation', async () => {
    kit.origin.answer = ({ path }, response, request) =>
      (path === '/bad' ? says(500) : gives(pdf))({} as never, response, request)
    const first = await kit.submit({ aggr_id: 'one', url: `${kit.origin.url}/bad` })
    const second = await kit.submit({ aggr_id: 'one', url: `${kit.origin.url}/good` })
    await called(second)
    expect(await kit.stateOf(first)).toMatchObject({ download_state: 'Pending' })
    await kit.ask('DELETE', `/downloader/jobs/${first}`)
  })
})

describe('aggregations', () => {
  test('D11 each aggregation keeps its limit, and aggregations run at the same time', async () => {
    const HOLD = 300
    const open: Record<string, number> = { a: 0, b: 0 }
    const most: Record<string, number> = { a: 0, b: 0, both: 0 }
    kit.origin.answer = ({ path }, response) => {
      const name = path[1]!
      if (!(name in open)) return response.writeHead(404).end()
      most[name] = Math.max(most[name]!, ++open[name]!)
      if (open.a! > 0 && open.b! > 0) most.both = 1
      setTimeout(() => {
        open[name]!--
        response.end(pdf)
      }, HOLD)
    }
    const began = performance.now()
    const ids = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) =>
        kit.submit({ aggr_id: 'a', aggr_limit: 2, url: `${kit.origin.url}/a${i}` }),
      ),
      ...Array.from({ length: 3 }, (_, i) =>
        kit.submit({ aggr_id: 'b', aggr_limit: 1, url: `${kit.origin.url}/b${i}` }),
      ),
    ])
    for (const id of ids) await called(id)
    expect(most).toEqual({ a: 2, b: 1, both: 1 })
    expect(performance.now() - began).toBeGreaterThan(3 * HOLD)
    expect(ids.map((id) => kit.calls(id).length)).toEqual(ids.map(() => 1))
  })

  test('the first submission of an aggregation sets the limit, which can be changed and ends with the last job', async () => {
    kit.origin.answer = says(500)
    const limit = async () => {
      const response = await kit.ask('GET', '/v1/groups/first')
      return response.ok ? ((await response.json()) as { concurrency: number }).concurrency : response.status
    }
    const ids = [await kit.submit({ aggr_id: 'first', aggr_limit: 3 })]
    ids.push(await kit.submit({ aggr_id: 'first', aggr_limit: 7 }))
    expect(await limit()).toBe(3)
    await kit.ask('PATCH', '/v1/groups/first', { concurrency: 5 })
    expect(await limit()).toBe(5)
    for (const id of ids) await waiting(id, 1)
    for (const id of ids) await kit.ask('DELETE', `/downloader/jobs/${id}`)
    expect(await limit()).toBe(404)
    ids.push(await kit.submit({ aggr_id: 'first', aggr_limit: 7 }))
    expect(await limit()).toBe(7)
    await kit.ask('DELETE', `/downloader/jobs/${ids[2]}`)
  })

  test('a constraint limits the downloads from a host, across aggregations', async () => {
    const [open, most] = [{ n: 0 }, { n: 0 }]
    kit.origin.answer = (_, response) => {
      most.n = Math.max(most.n, ++open.n)
      setTimeout(() => {
        open.n--
        response.end(pdf)
      }, 50)
    }
    const match = { queue: 'downloader', args: { host: new URL(kit.origin.url).host } }
    await kit.ask('PUT', '/v1/constraints/polite', { match, groupBy: 'host', concurrency: 1 })
    const ids = await Promise.all([1, 2, 3, 4].map((n) => kit.submit({ aggr_id: `polite${n}`, aggr_limit: 4 })))
    for (const id of ids) await called(id)
    expect(most.n).toBe(1)
    await kit.ask('DELETE', '/v1/constraints/polite')
  })

  test('downloads can be paused; downloads submitted during the pause wait', async () => {
    kit.origin.answer = gives(pdf)
    await kit.ask('PATCH', '/v1/queues/downloader', { paused: true })
    const id = await kit.submit()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(kit.origin.came).toEqual([])
    await kit.ask('PATCH', '/v1/queues/downloader', { paused: false })
    await called(id)
  })

  test('75 downloads in 5 aggregations: 25 work, 50 fail, and each is reported with its extra', async () => {
    kit.origin.answer = ({ path }, response, request) =>
      (path.endsWith('2') ? says(404) : gives(path.endsWith('1') ? pdf : jpeg))({} as never, response, request)
    const ids = new Map<string, string>()
    const submit = async (i: number) => {
      const more = { aggr_id: `load:${i % 5}`, aggr_limit: 10, extra: `extra ${i}`, mime_type: 'image/jpeg' }
      ids.set(await kit.submit({ ...more, url: `${kit.origin.url}/${i % 3}` }), more.extra)
    }
    await Promise.all(Array.from({ length: 75 }, (_, i) => submit(i)))
    await kit.until(() => kit.caller.came.length === 75, 30_000)
    const told = kit.caller.came.map(
      ({ body }) => JSON.parse(body) as { job_id: string; extra: string; success: boolean },
    )
    expect(new Map(told.map(({ job_id, extra }) => [job_id, extra]))).toEqual(ids)
    expect(told.filter(({ success }) => success)).toHaveLength(25)
  }, 60_000)

  test('the dashboard lists aggregations with waiting downloads', async () => {
    kit.origin.answer = says(500)
    const id = await kit.submit({ aggr_id: 'x:0' })
    await waiting(id, 1)
    const response = await kit.ask('GET', '/downloader/dashboard/aggregations')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toContainEqual({ name: 'jobs:x:0', size: 1 })
    expect((await kit.ask('DELETE', `/downloader/jobs/${id}`)).status).toBe(204)
    await called(id)
    expect(kit.calls(id)[0]).toMatchObject({ success: false })
  })
})

describe('callbacks', () => {
  test('D15 the second attempt follows after its delay, with the same bytes', async () => {
    kit.origin.answer = gives(pdf)
    kit.caller.answer = inTurn(says(500), says(200))
    const id = await kit.submit()
    await called(id)
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Pending')
    await kit.advance(4 * SECOND)
    expect(kit.calls(id)).toHaveLength(1)
    await kit.advance(2 * SECOND)
    await called(id, 2)
    const [first, second] = kit.caller.came.map(({ body }) => body)
    expect(second).toBe(first)
  })

  test('a failed download can be sent again, a running or finished download cannot', async () => {
    kit.origin.answer = gives(pdf)
    kit.caller.answer = says(410)
    const id = await kit.submit()
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Failed')
    kit.caller.answer = says(200)
    expect((await kit.ask('POST', `/downloader/retry/${id}`)).status).toBe(204)
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Success')
    const again = await kit.ask('POST', `/downloader/retry/${id}`)
    expect([again.status, await again.json()]).toEqual([
      400,
      { error: 'Error with callback state of the job: Success' },
    ])
    expect((await kit.ask('POST', '/downloader/retry/AAAAAAAAAAAAAA')).status).toBe(404)
  })

  test('an id from before Redis was restored from older data is not mistaken for a new job', async () => {
    kit.origin.answer = gives(pdf)
    kit.caller.answer = says(200)
    const id = await kit.submit()
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Success')
    const job = (await kit.files.jobOf(id))!
    for (const other of [await kit.files.idOf(job), await kit.files.idOf(job, kit.now() - 60_000)]) {
      expect(await kit.files.jobOf(other)).toBe(job)
      expect((await kit.ask('GET', `/downloader/jobs/${other}`)).status).toBe(404)
      expect((await kit.ask('GET', `/v1/files/${other}`)).status).toBe(404)
    }
    expect((await kit.ask('GET', `/v1/files/${id}`)).status).toBe(200)
  })

  test('a repeated submission downloads again and sends another callback', async () => {
    kit.origin.answer = inTurn(gives(pdf), gives(jpeg))
    const id = await kit.submit()
    await called(id)
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Success')
    expect((await kit.ask('POST', `/downloader/jobs/${id}/download`)).status).toBe(204)
    await called(id, 2)
    const stored = await fetch(`${kit.url}/files/${id.slice(0, 3)}/${id}`)
    expect(md5(new Uint8Array(await stored.arrayBuffer()))).toBe(md5(jpeg))
  })

  test('a file whose callback failed is deleted after 30 days', async () => {
    kit.origin.answer = gives(pdf)
    kit.caller.answer = says(410)
    const id = await kit.submit()
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Failed')
    const isThere = async () => (await kit.bucket.head(`${id.slice(0, 3)}/${id}`)) !== null
    await kit.advance(29 * 24 * HOUR)
    expect(await isThere()).toBe(true)
    await kit.advance(25 * HOUR)
    await kit.until(async () => !(await isThere()))
  })

  test('a callback through Kafka has the same body, as a record of the topic', async () => {
    const own = await startDownloads({ kafka: true })
    own.origin.answer = gives(pdf)
    own.caller.answer = (_, response) => response.end('{"offsets":[{"partition":0,"offset":1}]}')
    const id = await own.submit({ callback_url: undefined, callback_type: 'kafka', callback_dst: 'ends' })
    await own.until(() => own.caller.came.length === 1)
    const [{ path, body }] = own.caller.came as [(typeof own.caller.came)[0]]
    expect(path).toBe('/topics/ends')
    expect(JSON.parse(body).records[0].value).toMatchObject({ success: true, job_id: id, extra: 'foobar' })
    // The topic becomes a part of the URL of the Kafka proxy, and these topics would change its path.
    for (const callback_dst of ['..', '.', 'a/b', 'a?b']) {
      const given = own.usual({ callback_url: undefined, callback_type: 'kafka', callback_dst })
      const refused = await own.ask('POST', '/downloader/download', given)
      expect([callback_dst, refused.status, await refused.json()]).toMatchObject([
        callback_dst,
        400,
        { field: 'callback_dst' },
      ])
    }
    await own.close()
  })

  test('D19 the file is deleted 3 hours after delivery; it stays if its callback failed', async () => {
    kit.origin.answer = gives(pdf)
    kit.caller.answer = ({ path }, response, request) =>
      says(path === '/gone' ? 410 : 200)({} as never, response, request)
    const [id, kept] = [await kit.submit(), await kit.submit({ callback_url: `${kit.caller.url}/gone` })]
    await kit.until(async () => (await kit.stateOf(id)).callback_state === 'Success')
    await kit.until(async () => (await kit.stateOf(kept)).callback_state === 'Failed')
    const status = async (one: string) => (await fetch(`${kit.url}/files/${one.slice(0, 3)}/${one}`)).status
    const counted = async (name: string) => {
      const stats = (await (await kit.ask('GET', '/downloader/stats/processor')).json()) as Record<string, number>
      return stats[name]! >= 1
    }
    // Counts are per day, and a new day may begin in these three hours.
    await kit.until(() => counted('download.response.200'))
    await kit.advance(179 * MINUTE)
    expect(await status(id)).toBe(200)
    await kit.advance(2 * MINUTE)
    await kit.until(async () => (await status(id)) === 404)
    expect(await status(kept)).toBe(200)
    await kit.until(() => counted('reaperSuccessfulDeletions'))
  })
})

describe('requests', () => {
  const accepted: object[] = [
    { aggr_proxy: '' },
    { extra: '' },
    { extra: undefined },
    { extra: '{"info":"foobar"}' },
    { download_timeout: 12 },
    { max_retries: 0 },
    { request_headers: { 'User-Agent': 'Test-Agent', 'X-N': 5 } },
    { foo: 1 },
    { user_agent: 'z' },
    { expiresAt: 5 },
    { callback_url: 5, callback_type: 'http', callback_dst: 'http://127.0.0.1:9/' },
    { callback_url: undefined, s3_bucket: 'bucket', s3_region: 'eu-west-1', extra: '' },
    { callback_url: undefined, callback_type: 'http', s3_bucket: 'bucket', s3_region: 'eu-west-1', extra: '' },
    { s3_bucket: 5, s3_region: 5 },
    { callback_url: undefined, callback_type: 'http', callback_dst: 'http://127.0.0.1:9/' },
    { mime_type: '!image/vnd.adobe.photoshop,image/*' },
  ]
  test.each(accepted)('D3 %j is accepted', async (more) => {
    kit.origin.answer = gives(pdf)
    const response = await kit.ask('POST', '/downloader/download', kit.usual(more))
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toContain('application/json')
  })

  const refused: [object, string][] = [
    [{ url: 'foo' }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'ftp://example.com/x' }, 'url'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ aggr_id: '' }, 'aggr_id'],
    [{ aggr_id: 3 }, 'aggr_id'],
    [{ aggr_limit: 0 }, 'aggr_limit'],
    [{ aggr_limit: 4.9 }, 'aggr_limit'],
    [{ aggr_limit: '4' }, 'aggr_limit'],
    [{ aggr_limit: undefined }, 'aggr_limit'],
    [{ aggr_proxy: 'http://proxy.example.com' }, 'aggr_proxy'],
    [{ aggr_proxy: null }, 'aggr_proxy'],
    [{ callback_url: '' }, 'callback_url'],
    [{ callback_url: 'http://169.254.169.254/' }, 'callback_url'],
    [{ callback_url: undefined, callback_type: 'http', callback_dst: 'http://[::1]/' }, 'callback_dst'],
    [{ callback_url: undefined }, 'callback_type'],
    [{ callback_url: undefined, callback_type: 'foo', callback_dst: 'http://x.example.com' }, 'callback_type'],
    [{ callback_url: undefined, callback_type: 'http' }, 'callback_dst'],
    [{ callback_url: undefined, callback_type: 'kafka', callback_dst: 'topic' }, 'callback_type'],
    [{ callback_url: undefined, callback_dst: 'x', s3_bucket: 'bucket', s3_region: 'r', extra: '' }, 'callback_type'],
    [{ aggr_id: 'callback:127.0.0.1' }, 'aggr_id'],
    [{ aggr_id: 'a'.repeat(201) }, 'aggr_id'],
    [{ max_retries: 101 }, 'max_retries'],
    [{ download_timeout: 841 }, 'download_timeout'],
    [{ extra: {} }, 'extra'],
    [{ extra: 'text', s3_bucket: 'bucket', s3_region: 'eu-west-1' }, 'extra'],
    [{ s3_bucket: 'bucket' }, 's3_bucket'],
    [{ s3_region: 'eu-west-1' }, 's3_region'],
    [{ mime_type: 'image/[' }, 'mime_type'],
    [{ mime_type: 1 }, 'mime_type'],
    [{ max_retries: -1 }, 'max_retries'],
    [{ max_retries: null }, 'max_retries'],
    [{ extract_image_size: 'yes' }, 'extract_image_size'],
    [{ download_timeout: 0 }, 'download_timeout'],
    [{ download_timeout: '3' }, 'download_timeout'],
    [{ request_headers: [] }, 'request_headers'],
    [{ request_headers: { a: {} } }, 'request_headers.a'],
  ]
  test.each(refused)('%j is refused, and the field is named', async (more, field) => {
    const response = await kit.ask('POST', '/downloader/download', kit.usual(more))
    const answer = (await response.json()) as { error: string; field: string }
    expect([response.status, answer.field]).toEqual([400, field])
    expect(JSON.stringify(answer)).not.toContain('foobar')
  })

  test.each<[object, string]>([
    [{ request_headers: { 'a b': 'c' } }, 'request_headers.a b: expected a valid HTTP header name, got "a b"'],
    [
      { s3_bucket: '?', s3_region: 'eu' },
      's3_bucket: expected a bucket name: 3 to 63 characters from a-z, A-Z, 0-9, "_", "." and "-", got "?"',
    ],
  ])('%j is refused with the expected and the received value', async (more, error) => {
    const response = await kit.ask('POST', '/downloader/download', kit.usual(more))
    expect(await response.json()).toMatchObject({ error })
  })

  test('a body that is not JSON returns 400 too, and any Content-Type is read as JSON', async () => {
    const post = (body: string, type: string) =>
      fetch(`${kit.url}/downloader/download`, {
        method: 'POST',
        headers: { authorization: 'Bearer dev', 'content-type': type },
        body,
      })
    expect((await post('{', 'application/json')).status).toBe(400)
    kit.origin.answer = gives(pdf)
    expect((await post(JSON.stringify(kit.usual()), 'text/plain')).status).toBe(201)
  })

  test('a wrong method returns 405, and a missing key returns 401', async () => {
    for (const [method, path] of [
      ['GET', '/downloader/download'],
      ['GET', '/downloader/retry/AAAAAAAAAAAAAA'],
      ['POST', '/downloader/stats/processor'],
      ['POST', '/downloader/dashboard/aggregations'],
    ] as const) {
      const wrong = await kit.ask(method, path)
      expect([wrong.status, await wrong.text()]).toEqual([405, 'Invalid request method'])
    }
    const stranger = await fetch(`${kit.url}/downloader/download`, { method: 'POST', body: '{}' })
    expect(stranger.status).toBe(401)
  })

  test('if Redis cannot be reached, the answer is 503 in the form of the facade', async () => {
    kit.gateway.faults.refuse(503, { times: 100 })
    const response = await kit.ask('POST', '/downloader/download', kit.usual())
    kit.gateway.faults.clear()
    expect([response.status, await response.json()]).toEqual([503, { error: expect.any(String) }])
  })

  test('the same submission with the same key creates one job', async () => {
    kit.origin.answer = gives(pdf)
    const body = kit.usual()
    const headers = { 'idempotency-key': 'once' }
    const ids = await Promise.all(
      [1, 2].map(async () => (await (await kit.ask('POST', '/downloader/download', body, headers)).json()) as object),
    )
    expect(ids[0]).toEqual(ids[1])
  })

  test('D17 the heartbeat returns 503 while it is drained, but jobs are still accepted', async () => {
    kit.origin.answer = gives(pdf)
    const beat = async () => {
      const response = await fetch(`${kit.url}/downloader/hb`)
      return [response.status, await response.text()]
    }
    expect(await beat()).toEqual([200, 'OK'])
    await kit.ask('PUT', '/downloader/hb', { enabled: false })
    expect(await beat()).toEqual([503, 'Service disabled'])
    await kit.submit()
    await kit.ask('PUT', '/downloader/hb', { enabled: true })
    expect(await beat()).toEqual([200, 'OK'])
  })

  test('both components have stats', async () => {
    const notifier = await kit.ask('GET', '/downloader/stats/notifier?x=1')
    expect(notifier.headers.get('access-control-allow-origin')).toBe('*')
    expect(await notifier.json()).toMatchObject({ alive: 1 })
    expect((await kit.ask('GET', '/downloader/stats/other')).status).toBe(404)
  })
})

test('after all these downloads, the data is consistent', async () => {
  await kit.advance(HOUR)
  expect(await kit.engine.doctor.verify()).toEqual([])
})
