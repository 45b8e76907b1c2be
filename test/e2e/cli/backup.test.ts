import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// esbuild must be imported first: it remembers the working directory, and tests change the directory.
import 'esbuild'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createIo, talking } from '../../../src/cli/io.ts'
import { main } from '../../../src/cli/main.ts'
import { exported, imported, type Line } from '../../../src/redis/backup.ts'
import { createClient } from '../../../src/redis/client.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { dump } from '../../redis/dump.ts'

const folder = mkdtempSync(join(tmpdir(), 'sidejob-backup-'))

let kit: Kit
let redis: Redis
beforeAll(async () => {
  kit = await startKit({ hold: true })
  redis = new Redis({ ...kit.options, automaticDeserialization: false })
})
afterAll(async () => {
  await kit.close()
  rmSync(folder, { recursive: true })
})

async function run(words: string[], namespace: string | undefined) {
  vi.stubEnv('UPSTASH_REDIS_REST_URL', kit.options.url)
  vi.stubEnv('UPSTASH_REDIS_REST_TOKEN', kit.options.token)
  vi.stubEnv('SIDEJOB_NAMESPACE', namespace)
  const notes: string[] = []
  const note = (line: string) => void notes.push(line)
  const io = { ...createIo(false), note, ...talking(false, note, note), progress: () => {} }
  const exit = await main(words, () => io)
  vi.unstubAllEnvs()
  return { exit, noted: notes.join('\n') }
}

async function contentOf(namespace: string): Promise<Record<string, unknown>> {
  const lines = await dump(redis, `${namespace}*`)
  const sorted = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value)
  return Object.fromEntries(
    lines.map(({ key, type, value, ttl }) => [
      key.slice(namespace.length),
      [type, type === 'list' ? value : sorted(value), ttl === undefined],
    ]),
  )
}

const place = (namespace: string) => ({ client: createClient(kit.options), namespace })

async function fill(namespace: string): Promise<void> {
  await redis.set(`${namespace}schema`, '2')
  await redis.set(`${namespace}once:a`, 'answer', { px: 3_600_000 })
  await redis.sadd(`${namespace}queues`, 'default', 'pull')
  await redis.hset(`${namespace}workers:default`, { plain: '{}', 'ü "': '{"pull":true}' })
  await redis.zadd(`${namespace}q-ready:default`, { score: 1.5, member: '1:1' }, { score: -3, member: '2:2' })
  await redis.rpush(`${namespace}job:3:in:wide`, ...Array.from({ length: 30 }, (_, i) => `=${i}${'x'.repeat(100_000)}`))
  await redis.mset(
    Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${namespace}job:${1_000 + i}`, `{"n":"${i}"}`])),
  )
  await redis.xadd(`${namespace}log`, '1-1', { e: 'entry ü "\n' })
}

test('an export of a namespace without keys fails, lists the namespaces, and leaves no file', async () => {
  await redis.mset({ 'seen:jobs:last_id': '3', 'seen:t:acme:jobs:last_id': '1' })
  const file = join(folder, 'nothing.jsonl')
  const { exit, noted } = await run(['export', file], 'my-jobs-staging:')
  expect(exit).toBe(2)
  expect(noted).toMatch(
    /^sidejob export: No keys in the namespace my-jobs-staging:; nothing is exported\. Set SIDEJOB_NAMESPACE/,
  )
  expect(noted).toMatch(/ seen:, seen:t:acme:$/)
  expect(existsSync(file)).toBe(false)
  await redis.del('seen:jobs:last_id', 'seen:t:acme:jobs:last_id')
})

test('without SIDEJOB_NAMESPACE the Worker of the folder sets the namespace', async () => {
  const project = mkdtempSync(join(tmpdir(), 'sidejob-backup-project-'))
  writeFileSync(join(project, 'wrangler.jsonc'), '{ "name": "shop", "main": "index.ts" }')
  await redis.set('shop:jobs:last_id', '1')
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(project)
  try {
    const { noted } = await run(['export', join(project, 'shop.jsonl')], undefined)
    expect(noted).toBe('exported 1 keys of shop:')
  } finally {
    cwd.mockRestore()
    await redis.del('shop:jobs:last_id')
    rmSync(project, { recursive: true })
  }
})

test('an export is imported unchanged, into another namespace and after an interruption', async () => {
  await fill('a:')
  const file = join(folder, 'a.jsonl')
  expect(await run(['export', file], 'a:')).toMatchObject({
    exit: 0,
    noted: expect.stringMatching(/^exported \d+ keys of a:$/),
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const lines = readFileSync(file, 'utf8')
  for (const line of lines.split('\n')) expect(line.length).toBeLessThan(3_000_000)

  truncateSync(file, Buffer.byteLength(lines.slice(0, lines.indexOf('{"cursor"'))) + 60)
  expect((await run(['import', file], 'b:')).noted).toContain('expected')
  await redis.unlink(...((await redis.keys('b:*')) as [string]))
  expect(await run(['export', file], 'a:')).toMatchObject({
    exit: 0,
    noted: expect.stringContaining('continuing after'),
  })

  const whole = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  async function* until(end: number): AsyncGenerator<Line> {
    for (const line of whole.slice(0, end)) yield JSON.parse(line)
    throw new Error('the line is cut')
  }
  await expect(imported(place('b:'), until(Math.floor(whole.length / 2)))).rejects.toThrow('the line is cut')
  expect(await run(['import', file], 'b:')).toMatchObject({ exit: 0 })
  const { log: _, ...copied } = await contentOf('b:')
  expect(copied).toEqual(await contentOf('a:'))
  expect(await redis.xrange('b:log', '-', '+')).toEqual(await redis.xrange('a:log', '-', '+'))
}, 60_000)

test('if an older copy replaces newer data, ids are not reused and lost ids are listed', async () => {
  const make = async () => (await kit.engine.jobs.enqueue([{ queue: 'q', class: 'c', in: {} } as never])).jobs[0]!.id
  await kit.engine.queues.update('q', { mode: 'pull' } as never)
  const first = await make()
  const lines: Line[] = []
  for await (const line of exported(place('sidejob:'))) lines.push(line)
  const last = [await make(), await make()].at(-1)!
  async function* copy(during = async () => {}): AsyncGenerator<Line> {
    for (const [i, line] of lines.entries()) {
      if (i === lines.length - 1) await during()
      yield line
    }
  }
  await expect(imported(place('sidejob:'), copy())).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining('--over'),
  })
  const answered: unknown[] = []
  const { lost } = await imported(
    place('sidejob:'),
    copy(async () => answered.push(await make().catch((error) => error.code)) as never),
    { over: true },
  )
  expect(answered).toEqual(['UNAVAILABLE'])
  expect(lost).toEqual({ from: first + 1, to: last })
  expect(await kit.engine.health()).toMatchObject({ ok: true, restored: { times: 1, lost } })
  expect(await kit.engine.doctor.verify()).toEqual([])
  expect(await make()).toBe(last + 1)
  expect((await kit.engine.runs.claim('q', { max: 9 })).map(({ job }) => job.id)).toEqual([first, last + 1])
}, 30_000)
