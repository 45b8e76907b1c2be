// The list of files: each with its type and the job that stored it, in the API and on the page.

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf } from '../../src/core/files.ts'
import { createFiles } from '../../src/files.ts'
import { folderBucket } from '../kit/folder-bucket.ts'
import { KEY, ORIGIN, startPages } from './kit.ts'

const bytes = new TextEncoder().encode('what is in it')

let pages: Awaited<ReturnType<typeof startPages>>
let files: ReturnType<typeof createFiles>
beforeAll(async () => {
  const bucket = folderBucket(await mkdtemp(join(tmpdir(), 'sidejob-files-')))
  files = createFiles({ bucket, secret: 'files of the test', publicUrl: ORIGIN, now: Date.now })
  pages = await startPages({}, () => ({ downloads: { files, allowHosts: [], keep: 3_600_000 } }))
})
afterAll(() => pages.close())

test('a file is listed with its type and its job; one that we did not name has no job', async () => {
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
})
