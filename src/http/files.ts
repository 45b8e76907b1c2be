import * as z from 'zod'
import { SidejobError } from '../core/errors.ts'
import { type Files, idIn, keyOf, rangeOf, type Stored } from '../core/files.ts'
import { count, duration, flag, jobId, moment, within } from '../core/schemas.ts'
import { DAY, HOUR } from '../core/units.ts'
import { route } from './route.ts'

const listedFile = z.object({
  id: z.string(),
  size: z.int(),
  storedAt: moment,
  type: z.string().nullable(),
  job: jobId.nullable().describe('job that stored the file'),
})
type ListedFile = z.output<typeof listedFile>

const filesTotal = z.object({
  files: z.int(),
  bytes: z.int(),
  more: z.boolean().describe('true if not all files were counted (at most 10,000)'),
})
export type FilesTotal = z.output<typeof filesTotal>

const fileView = listedFile.extend({
  etag: z.string(),
  url: z.string(),
  expiresAt: moment,
})

/** Bytes. */
const PREVIEW = 4_096

/** Returns the beginning, or undefined if the file is not text. */
export async function textOf({ bucket }: Files, { id, type, size }: ListedFile): Promise<string | undefined> {
  if (!/^text|^app.*[/+](json|xml)/.test(type ?? '')) return undefined
  const found = await bucket.get(keyOf(id), { offset: 0, length: PREVIEW })
  return found ? (await new Response(found.body).text()) + (size > PREVIEW ? '…' : '') : undefined
}

const WEEK = 7 * DAY

export const files = {
  get: route('GET /files/:file', {
    scope: 'open',
    summary: 'Download a file by its signed address',
    description: 'Returns the file. Supports `Range`.',
    query: z.strictObject({ expires: z.string().max(20).optional(), signature: z.string().max(100).optional() }),
    answers: { 200: z.string() },
    media: 'application/octet-stream',
    only: 'downloads',
    handle: async ({ deps, params, query, c }) => {
      const { files } = deps.downloads!
      if (!(await files.verify(params.file, query)))
        throw new SidejobError(
          'FORBIDDEN',
          'the signature of this address is invalid or has expired: request a new one',
        )
      return send(files, params.file, c.req.raw.headers)
    },
  }),

  getById: route('GET /files/:folder/:file', {
    scope: 'open',
    summary: 'Download a file by its id',
    description: 'Returns the file. The address needs no signature. Requires `SIDEJOB_DOWNLOAD_URL`. Supports `Range`.',
    answers: { 200: z.string() },
    media: 'application/octet-stream',
    only: 'downloads',
    handle: async ({ deps, params, c }) => {
      const { files, base } = deps.downloads!
      if (base === undefined)
        throw new SidejobError(
          'FORBIDDEN',
          'files are available only at signed addresses; GET /v1/files/:file returns the address',
        )
      if (!params.file.startsWith(params.folder)) throw missing()
      return send(files, params.file, c.req.raw.headers)
    },
  }),

  list: route('GET /v1/files', {
    scope: 'read',
    summary: 'List files',
    description: 'Returns the files ordered by id.',
    query: z.strictObject({
      limit: count(1, 1_000).optional(),
      cursor: z.string().max(2_000).optional(),
      total: flag.optional().describe('true to add the total number of files and their bytes'),
    }),
    answers: {
      200: z.object({ files: z.array(listedFile), cursor: z.string().nullable(), total: filesTotal.optional() }),
    },
    only: 'downloads',
    handle: async ({ deps, query: { limit = 1_000, cursor, total } }) => {
      const { files } = deps.downloads!
      const [page, counted] = await Promise.all([listFiles(files, { limit, cursor }), total && totalOf(files)])
      return { ...page, total: counted || undefined }
    },
  }),

  show: route('GET /v1/files/:file', {
    scope: 'read',
    summary: 'Get a file',
    description: 'Returns a signed download address that expires.',
    query: z.strictObject({
      for: duration.refine(...within(1, WEEK, 'more than 0 and at most 7 days')).optional(),
    }),
    answers: { 200: fileView },
    only: 'downloads',
    handle: async ({ deps, params, query }) => {
      const { files } = deps.downloads!
      const found = await files.bucket.head(await ownKey(files, params.file))
      if (!found) throw missing()
      const { size, type = null, etag, storedAt } = found
      const job = (await files.jobOf(params.file)) ?? null
      return { id: params.file, job, size, type, etag, storedAt, ...(await files.sign(params.file, query.for ?? HOUR)) }
    },
  }),

  remove: route('DELETE /v1/files/:file', {
    scope: 'write',
    summary: 'Delete a file',
    description: 'Signed download addresses of the file stop working.',
    only: 'downloads',
    handle: async ({ deps, params }) => {
      const { files } = deps.downloads!
      await files.bucket.delete(await ownKey(files, params.file))
    },
  }),
}

export async function listFiles(files: Files, page: { limit: number; cursor?: string }) {
  const { objects, cursor } = await files.bucket.list(page)
  const named = objects.flatMap(({ key, size, storedAt, type = null }) => {
    const id = idIn(key)
    return id === undefined ? [] : [{ id, size, storedAt, type }]
  })
  const jobs = await Promise.all(named.map(({ id }) => files.jobOf(id)))
  return { files: named.map((file, i) => ({ ...file, job: jobs[i] ?? null })), cursor: cursor ?? null }
}

const has = ({ id, type, job }: ListedFile, name: string, wanted: string): boolean =>
  id.includes(wanted) ||
  [name, type ?? ''].some((text) => text.toLowerCase().includes(wanted.toLowerCase())) ||
  `#${job}` === `#${wanted.replace(/^#/, '')}`

const PAGES = 10

/** `wanted` is a part of a name, id or type, or the id of a job. `namesOf` is called for each page of the bucket. */
export async function searchFiles(
  files: Files,
  wanted: string,
  { limit, cursor: from = null, looked = 0 }: { limit: number; cursor?: string | null; looked?: number },
  namesOf: (files: ListedFile[]) => Promise<(file: ListedFile) => string>,
) {
  const found: ListedFile[] = []
  let cursor = from
  for (let page = 0; page < PAGES && found.length < limit; page++) {
    const listed = await listFiles(files, { limit, cursor: cursor ?? undefined })
    const nameOf = await namesOf(listed.files)
    found.push(...listed.files.filter((file) => has(file, nameOf(file), wanted)))
    looked += listed.files.length
    cursor = listed.cursor
    if (cursor === null) break
  }
  return { files: found, cursor, looked }
}

const COUNTED = 10_000
const PAGE = 1_000

/** R2 reports no totals, so the pages of the bucket are added up. */
export async function totalOf({ bucket }: Files): Promise<FilesTotal> {
  const total = { files: 0, bytes: 0, more: false }
  let cursor: string | undefined
  for (let seen = 0; seen < COUNTED; ) {
    const page = await bucket.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const { key, size } of page.objects) {
      if (idIn(key) === undefined) continue
      total.files++
      total.bytes += size
    }
    cursor = page.cursor
    if (cursor === undefined) return total
    seen += Math.max(PAGE / 10, page.objects.length)
  }
  return { ...total, more: true }
}

const missing = () => new SidejobError('NOT_FOUND', 'there is no such file')

/** A lookup costs a request, so ids that this deployment did not issue are refused first. */
const ownKey = async (files: Files, id: string): Promise<string> => {
  if ((await files.jobOf(id)) === undefined) throw missing()
  return keyOf(id)
}

const send = async (files: Files, id: string, asked: Headers): Promise<Response> => {
  const key = await ownKey(files, id)
  const known = await files.bucket.head(key)
  if (!known) throw missing()
  const cached = asked.get('if-none-match')?.split(/\s*,\s*/)
  if (cached?.includes(known.etag)) return new Response(null, { status: 304, headers: headersOf(known) })
  const range = rangeOf(mayRange(asked, known) ? asked.get('range') : null, known.size)
  if (range === null) return new Response(null, { status: 416, headers: { 'content-range': `bytes */${known.size}` } })
  const found = await files.bucket.get(key, range)
  if (!found) throw missing()
  const headers = headersOf(known)
  headers.set('content-length', String(range?.length ?? known.size))
  if (range) headers.set('content-range', `bytes ${range.offset}-${range.offset + range.length - 1}/${known.size}`)
  return new Response(found.body, { status: range ? 206 : 200, headers })
}

const mayRange = (asked: Headers, { etag }: Stored): boolean => !asked.has('if-range') || asked.get('if-range') === etag

// Untrusted content must never run on our domain.
const headersOf = ({ type, etag }: Stored): Headers =>
  new Headers({
    'content-type': type ?? 'application/octet-stream',
    'content-disposition': 'attachment',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    etag,
  })
