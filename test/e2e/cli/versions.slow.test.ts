import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createIo, talking } from '../../../src/cli/io.ts'
import { main } from '../../../src/cli/main.ts'
import type { Worker } from '../../../src/core/worker.ts'
import { createEngine, type Engine } from '../../../src/engine/index.ts'
import { defineWorker } from '../../../src/index.ts'
import { drain } from '../../../src/testing/index.ts'
import { appOf, KEY } from '../../kit/client.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { startWorkerd, type Workerd } from '../workerd/kit.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const VERSION = '88f62d2b'
const URL_OF_APP = 'http://versions.test'

let kit: Workerd
beforeAll(async () => {
  kit = await startWorkerd({ vars: { SIDEJOB_TEST_CLOCK: '1', SIDEJOB_VERSION: VERSION, SIDEJOB_LOG: 'all' } })
  vi.stubEnv('SIDEJOB_URL', kit.stack.url)
  vi.stubEnv('SIDEJOB_API_KEY', kit.stack.apiKey)
})
afterAll(() => kit.close())

async function deployed(kit: Kit, version: string, message?: string): Promise<Engine> {
  const resize = defineWorker({
    class: 'resize',
    retry: { max: 0 },
    perform() {
      if (message) throw new Error(message)
    },
  })
  const engine = createEngine({ ...kit.engineOptions, workers: [resize as Worker], version })
  await engine.tick()
  await engine.jobs.enqueue([1, 2].map(() => ({ queue: 'default', class: 'resize' })) as never)
  await drain(engine, { errors: 'keep' })
  return engine
}

async function linesOf(...words: string[]): Promise<string[]> {
  const printed: string[] = []
  const exit = await main(words, (json) => {
    const print = (line: string) => void printed.push(line)
    return { ...createIo(json), print, note: print, ...talking(json, print, print) }
  })
  expect([exit, printed]).toEqual([0, expect.any(Array)])
  return printed
}

test('show, runs, deploys and the log name the version that performed a run', async () => {
  const { id } = await kit.client.jobs.enqueue({ class: 'noop', retain: '1h' } as never)
  await kit.reaches(id, 'completed')
  expect(await linesOf('show', String(id))).toContainEqual(expect.stringMatching(new RegExp(`^version +${VERSION}$`)))
  const [head, run] = await linesOf('runs', String(id))
  expect(run!.slice(head!.indexOf('version'))).toBe(VERSION)
  expect((await linesOf('deploys', 'ls'))[1]).toContain(VERSION)
  const logged = kit.printed.flatMap((line) => /\{"sidejob":"run".*\}/.exec(line)?.[0] ?? [])
  expect(logged.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ job: id, version: VERSION }))
})

test('deploys compare shows runs, errors and durations of each class before and after, and new kinds of errors', async () => {
  const kit = await startKit({ hold: true })
  try {
    await deployed(kit, 'v1')
    await kit.advance(3_600_000)
    const app = appOf(await deployed(kit, 'v2', 'no memory'))
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (...given: Parameters<typeof fetch>) => {
      const request = new Request(...given)
      return request.url.startsWith(URL_OF_APP) ? app.fetch(request) : fetch(...given)
    })
    vi.stubEnv('SIDEJOB_URL', URL_OF_APP)
    vi.stubEnv('SIDEJOB_API_KEY', KEY)
    const [before, after, , ...rows] = await linesOf('deploys', 'compare')
    expect([before, after]).toEqual([expect.stringMatching(/^before: v1, /), expect.stringMatching(/^after: v2, /)])
    expect(rows).toEqual([
      expect.stringMatching(/^default +resize +2 → 2 +0% → 100% +[\d.]+–[\d.]+ ms → [\d.]+–[\d.]+ ms$/),
      'new error: resize: no memory (2 jobs)',
    ])
  } finally {
    vi.unstubAllGlobals()
    await kit.close()
  }
})
