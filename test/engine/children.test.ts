import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineWorker } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const N = 2_500

type Seen = { first: number; all: number; read: Record<string, number[]>; last: Record<string, number[]> }
let seen: Seen | undefined

const head = defineWorker({
  class: 'head',
  async perform(job) {
    if (job.args === 'quiet') return job.suspend()
    const first = Object.keys(job.children).length
    const last = await job.readChildren<number>('out', [`c${N - 1}`])
    seen = { first, all: Object.keys(await job.allChildren()).length, read: await job.readChildren('out'), last }
    return job.suspend()
  },
})
const limb = defineWorker({
  class: 'limb',
  out: { out: {} },
  perform: (job) => job.write('out', job.args),
})

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: [head, limb] })
})
// The checks of `close` take about 20 s with the embedded Redis, and longer while other tests run.
afterAll(() => kit.close(), 120_000)

async function family(args: string, more: object = {}): Promise<number> {
  const parent = await kit.make('head', { args, ...more })
  for (let from = 0; from < N; from += 500)
    await kit.engine.jobs.enqueue(
      Array.from({ length: 500 }, (_, i) => ({
        queue: 'default',
        class: 'limb',
        args: String(from + i) as never,
        parent: String(parent),
        name: `c${from + i}`,
        at: kit.now() + 3_600_000,
      })),
    )
  return parent
}

test('children beyond 1,000 are read page by page, each once', async () => {
  const parent = await family('"quiet"')
  await kit.rest(parent, 'suspended')
  const view = await kit.engine.jobs.get(String(parent))
  const shown = Object.keys(view.children).length
  expect(shown).toBeLessThan(1_100)
  expect(shown + view.moreChildren!).toBe(N)
  const listed = new Set<number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Awaited<ReturnType<Kit['engine']['jobs']['list']>> = await kit.engine.jobs.list({
      parent: String(parent),
      limit: 400,
      ...(cursor ? { cursor } : {}),
    })
    for (const { id } of page.jobs) listed.add(id)
    cursor = page.cursor
  }
  expect(listed.size).toBe(N)
})

test('a run sees the first thousand at once and the rest on request, and reads from all of them', async () => {
  const parent = await family('"loud"', { at: kit.now() + 3_600_000 })
  const { children } = await kit.engine.jobs.get(String(parent))
  const newest = `c${N - 1}`
  const { id: last } = (await kit.engine.jobs.list({ parent: String(parent), limit: 1 })).jobs[0]!
  // The first thousand have the order of a hash in Redis, so the newest child can be the first of them.
  const [name, { id: some }] = Object.entries(children).find(([name]) => name !== newest)!
  for (const id of [some, last])
    await kit.engine.ports.write(String(id), 'out', 'out', [String(id) as never], { notify: false })
  await kit.engine.jobs.run(String(parent), {})
  await kit.until(() => seen !== undefined)
  const { first, ...rest } = seen!
  expect(first).toBeLessThan(1_100)
  expect(rest).toEqual({ all: N, last: { [newest]: [last] }, read: { [name]: [some] } })
})

test('a pull worker reads children with the token of its run', async () => {
  await kit.engine.workers.register('far', 'head', { pull: true })
  const parent = await family('"far"', { queue: 'far' })
  const [run] = await kit.engine.runs.claim('far', {})
  const names = new Set<string>()
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page: Awaited<ReturnType<Kit['engine']['runs']['children']>> = await kit.engine.runs.children(
      run!.run.token,
      cursor,
    )
    for (const name of Object.keys(page.children)) names.add(name)
    cursor = page.cursor
  }
  expect([run!.job.id, names.size, run!.moreChildren! + Object.keys(run!.children).length]).toEqual([parent, N, N])
})
