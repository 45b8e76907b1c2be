import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import type { Bucket, StoreOptions } from '../../src/core/files.ts'

type Kept = StoreOptions & { etag: string }

const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT'

export function folderBucket(root: string): Bucket {
  const pathOf = (key: string) => join(root, key)

  async function keep(key: string, options: StoreOptions): Promise<void> {
    const etag = `"${createHash('md5').update(`${key}${Math.random()}`).digest('hex')}"`
    await writeFile(`${pathOf(key)}.json`, JSON.stringify({ ...options, etag } satisfies Kept))
  }

  async function head(key: string) {
    try {
      const { size, mtimeMs } = await stat(pathOf(key))
      const { type, metadata = {}, etag } = JSON.parse(await readFile(`${pathOf(key)}.json`, 'utf8')) as Kept
      return { size, type, metadata, etag, storedAt: Math.floor(mtimeMs) }
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  return {
    head,
    async get(key, range) {
      const known = await head(key)
      if (!known) return null
      const part = range && { start: range.offset, end: range.offset + range.length - 1 }
      const body = Readable.toWeb(createReadStream(pathOf(key), part)) as ReadableStream<Uint8Array>
      return { ...known, body }
    },
    async put(key, bytes, options) {
      await mkdir(dirname(pathOf(key)), { recursive: true })
      await writeFile(pathOf(key), bytes)
      await keep(key, options)
    },
    async upload(key, options) {
      await mkdir(dirname(pathOf(key)), { recursive: true })
      const part = `${pathOf(key)}.part`
      await rm(part, { force: true })
      return {
        part: (_, bytes) => appendFile(part, bytes),
        async complete() {
          await rename(part, pathOf(key))
          await keep(key, options)
        },
        abort: () => rm(part, { force: true }),
      }
    },
    async list({ limit, cursor = '' }) {
      const entries = await readdir(root, { recursive: true, withFileTypes: true })
      const keys = entries
        .filter((entry) => entry.isFile() && !/\.(json|part)$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .filter((key) => key > cursor)
        .sort()
      const page = keys.slice(0, limit)
      const objects = await Promise.all(page.map(async (key) => ({ key, ...(await head(key))! })))
      return { objects, ...(keys.length > limit ? { cursor: page.at(-1) } : {}) }
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
      await rm(`${pathOf(key)}.json`, { force: true })
    },
  }
}
