import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import { keyOf } from '../../src/core/files.ts'
import { createFiles } from '../../src/files.ts'
import { totalOf } from '../../src/http/files.ts'
import { folderBucket } from '../kit/folder-bucket.ts'
import { KEY, ORIGIN, startPages } from './kit.ts'

const bytes = new TextEncoder().encode('content of the file')

let pages: Awaited<ReturnType<typeof startPages>>
let files: ReturnType<typeof createFiles>
beforeAll(async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  files = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  pages = await startPages({}, () => ({ downloads: { files, allowHosts: [], keep: 3_600_000 } }))
})
afterAll(() => pages.close())

test('a file is listed with its type and its job; an unknown name has no job', async () => {
  const id = await files.idOf(7, Date.now())
  await files.bucket.put(keyOf(id), bytes, { type: 'text/plain' })
  const foreign = 'AAAAAAAAAAAAAA'
  await files.bucket.put(keyOf(foreign), bytes, {})
  const answer = await pages.ask('/v1/files', { headers: { authorization: `Bearer ${KEY}` } })
  const { files: listed } = (await answer.json()) as { files: { id: string }[] }
  const shown = Object.fromEntries(listed.map((file) => [file.id, file]))
  expect(shown[id]).toMatchObject({ size: bytes.length, type: 'text/plain', job: 7 })
  expect(shown[foreign]).toMatchObject({ type: null, job: null })
  const html = await (await pages.enter(['read'])).html('/ui/files')
  expect(html).toContain('text/plain')
  expect(html).toContain('href="/ui/jobs/7"')
  expect(html).toContain('never')
})

test('a file shows when the job that deletes it will run', async () => {
  const id = await files.idOf(8, Date.now())
  await files.bucket.put(keyOf(id), bytes, {})
  await pages.engine.workers.register('files', 'reap', { pull: true })
  const goes = { queue: 'files', args: encodeValue({ file: id }), wait: 7_200_000 + 30_000 }
  await pages.make('reap', goes as never)
  pages.forget()
  const row = (await (await pages.enter(['read'])).html('/ui/files')).split('<tr>').find((row) => row.includes(id))!
  expect(row.replace(/<[^>]*>/g, '')).toContain('in 2 h')
})

test('the list contained a valid address of each file, which anyone who saw the page could use for 12 hours', async () => {
  const id = await files.idOf(9, Date.now())
  await files.bucket.put(keyOf(id), bytes, {})
  const reader = await pages.enter(['read'])
  expect(await reader.html('/ui/files')).not.toContain('signature=')
  const answer = await reader.get(`/ui/files?get=${id}`)
  expect(answer.status).toBe(303)
  const { pathname, search } = new URL(answer.headers.get('location')!)
  expect(await (await pages.ask(`${pathname}${search}`)).text()).toBe('content of the file')
  expect((await reader.get('/ui/files?get=AAAAAAAAAAAAAA')).status).toBe(404)
  expect((await pages.ask(`/ui/files?get=${id}`)).headers.get('location')).toContain('/ui/login')
})

test('the content of a file was visible only after a download', async () => {
  const reader = await pages.enter(['read'])
  const store = async (job: number, type: string, content: string) => {
    const id = await files.idOf(job, Date.now())
    await files.bucket.put(keyOf(id), new TextEncoder().encode(content), { type })
    return id
  }
  const opened = async (id: string) => (await reader.html(`/ui/files?open=${id}`)).replace(/<table.*<\/table>/s, '')
  const csv = await store(11, 'text/csv', 'sku,price\n<b>mug</b>,7')
  expect(await reader.html('/ui/files')).toContain(`href="/ui/files?open=${csv}"`)
  expect(await opened(csv)).toContain('sku,price\n&lt;b&gt;mug&lt;/b&gt;,7</pre>')
  expect(await opened(await store(12, 'application/json', `["${'x'.repeat(5_000)}"]`))).toContain('xx…</pre>')
  const image = await store(13, 'image/png', 'pixels')
  expect(await opened(image)).toContain(`<img class="body" src="/ui/files?get=${image}"`)
  expect(await opened(await store(14, 'application/pdf', 'pages'))).toContain('Only images and text have a preview.')
  const excel = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  expect(await opened(await store(15, excel, 'PK'))).toContain('Only images and text have a preview.')
  expect(await opened('AAAAAAAAAAAAAB')).not.toContain('have a preview')
})

test('an SVG file was read for a preview of its text, which was not shown', async () => {
  const { bucket } = files
  const id = await files.idOf(16, Date.now())
  await bucket.put(keyOf(id), new TextEncoder().encode('<svg/>'), { type: 'image/svg+xml' })
  const get = vi.spyOn(bucket, 'get')
  expect(await (await pages.enter(['read'])).html(`/ui/files?open=${id}`)).toContain(`src="/ui/files?get=${id}"`)
  expect(get).not.toHaveBeenCalled()
  get.mockRestore()
})

test('a file with 192 earlier removals was shown as never removed', async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  const own = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const there = await startPages({}, () => ({ downloads: { files: own, allowHosts: [], keep: 3_600_000 } }))
  const id = await own.idOf(1, Date.now())
  await bucket.put(keyOf(id), bytes, {})
  await there.engine.workers.register('files', 'reap', { pull: true })
  const reapers = (names: string[]) =>
    there.engine.jobs.enqueue(
      names.map((file) => ({ queue: 'files', class: 'reap', args: encodeValue({ file }), wait: 7_200_000 })),
    )
  await reapers([id])
  const reader = await there.enter(['read'])
  const textOf = async () =>
    (await reader.html('/ui/files'))
      .split('<tr>')
      .at(-1)!
      .replace(/<[^>]*>/g, ' ')
  expect(await textOf()).toMatch(/in [12] h/)
  await reapers(Array.from({ length: 200 }, (_, n) => `other-${n}`))
  there.forget()
  expect(await textOf()).not.toMatch(/never|in [12] h/)
  await there.close()
})

test('all files are counted with their bytes on each page, and other objects are not', async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  const counted = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const own = await startPages({}, () => ({ downloads: { files: counted, allowHosts: [], keep: 3_600_000 } }))
  for (const job of [1, 2, 3]) await bucket.put(keyOf(await counted.idOf(job, Date.now())), bytes, {})
  await bucket.put('notes/of-somebody', bytes, {})
  const asked = async (query: string) =>
    (await own.ask(`/v1/files${query}`, { headers: { authorization: `Bearer ${KEY}` } })).json()
  expect(await asked('?limit=1&total=true')).toMatchObject({
    total: { files: 3, bytes: 3 * bytes.length, more: false },
  })
  expect(await asked('?limit=1')).not.toHaveProperty('total')
  expect(await (await own.enter(['read'])).html('/ui/files')).toContain(`3 files, ${3 * bytes.length} bytes`)
  await own.close()
})

test('files are found by their id, type or job, page by page, and a link shows the same files', async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  const own = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const there = await startPages({}, () => ({ downloads: { files: own, allowHosts: [], keep: 3_600_000 } }))
  const ids: string[] = []
  for (let job = 1; job <= 120; job++) {
    // Ids depend on the time. With this time, no id of another file contains 77.
    ids.push(await own.idOf(job, Date.UTC(2026, 0, 1)))
    await bucket.put(keyOf(ids.at(-1)!), bytes, { type: job === 77 ? 'image/png' : 'text/plain' })
  }
  const reader = await there.enter(['read'])
  const shown = async (q: string) => {
    const html = await reader.html(`/ui/files?q=${encodeURIComponent(q)}`)
    return { html, files: ids.filter((id) => html.includes(`<span class="dim mono">${id}</span>`)) }
  }
  for (const q of ['77', '#77', 'IMAGE/png', ids[76]!, ids[76]!.slice(0, 9)])
    expect((await shown(q)).files, q).toEqual([ids[76]])
  const { html } = await shown('#77')
  expect(html).toMatch(/class="note"[^>]*>1 file</)
  expect(html).toMatch(/<input[^>]*name="q"[^>]*value="#77"/)
  expect((await shown('text/plain')).files.length).toBeGreaterThanOrEqual(100)
  const none = await shown('nothing has it')
  expect(none.files).toEqual([])
  expect(none.html).toContain('No files match.')
  await there.close()
})

test('files were not found by the name that the list shows', async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  const own = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const there = await startPages({}, () => ({ downloads: { files: own, allowHosts: [], keep: 3_600_000 } }))
  await there.engine.workers.register('downloader', 'download', { pull: true })
  const ids: string[] = []
  for (const name of ['Mug-blue.jpg', 'plate.jpg']) {
    const args = encodeValue({ url: `https://shop.example/${name}?size=mug` })
    const job = await there.make('download', { queue: 'downloader', args })
    ids.push(await own.idOf(job, Date.now()))
    await bucket.put(keyOf(ids.at(-1)!), bytes, {})
  }
  const html = await (await there.enter(['read'])).html('/ui/files?q=mug')
  expect(ids.map((id) => html.includes(`<span class="dim mono">${id}</span>`))).toEqual([true, false])
  expect(html).toContain('<b>Mug-blue.jpg</b>')
  await there.close()
})

test('a search without a match shows the number of searched files, and its link leads to the match', async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  const own = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  const there = await startPages({}, () => ({ downloads: { files: own, allowHosts: [], keep: 3_600_000 } }))
  const keys = await Promise.all(
    Array.from({ length: 1_100 }, async (_, n) => keyOf(await own.idOf(n + 1, Date.now()))),
  )
  for (const key of keys.sort())
    await bucket.put(key, bytes, { type: key === keys.at(-1) ? 'image/png' : 'text/plain' })
  const reader = await there.enter(['read'])
  const first = await reader.html('/ui/files?q=image%2Fpng')
  expect(first).toContain('No match in 1,000 files')
  expect(first).toContain('data-more="100"')
  expect(first).not.toContain('No files match.')
  const [, next] = /<div class="further".*?href="([^"]*)"/s.exec(first)!
  const second = await reader.html(next!.replaceAll('&amp;', '&'))
  expect(second).toContain('image/png')
  expect(second).not.toContain('id="further"')
  await there.close()
})

test('at most ten thousand files are counted, in ten requests', async () => {
  let requests = 0
  const page = await Promise.all(
    Array.from({ length: 1_000 }, async (_, n) => keyOf(await files.idOf(n + 1, Date.now()))),
  )
  const objects = page.map((key) => ({ key, size: 2, storedAt: 1 }))
  const list = async () => ({ objects, cursor: String(++requests) })
  expect(await totalOf({ ...files, bucket: { ...files.bucket, list } })).toEqual({
    files: 10_000,
    bytes: 20_000,
    more: true,
  })
  expect(requests).toBe(10)
})
