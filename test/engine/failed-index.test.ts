import { afterAll, beforeAll, expect, test } from 'vitest'
import { kindOfFailed } from '../../src/engine/jobs/kind.ts'
import { defineWorker, type Job } from '../../src/index.ts'
import { type Kit, startKit } from '../kit/index.ts'

const MINUTE = 60_000
const causes = ['card declined', 'timeout', 'no stock', 'bad address']
const queues = ['first', 'second']

const shaky = queues.map((queue) =>
  defineWorker({
    class: 'shaky',
    queue,
    retry: { max: 0 },
    perform(job: Job) {
      const { cause, ok } = job.args as { cause: string; ok?: boolean }
      if (!ok) throw Object.assign(new Error(cause), { stack: '' })
    },
  }),
)

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ workers: shaky })
  for (const queue of queues) await kit.engine.workers.register(queue, 'pulled', { pull: true })
})
afterAll(() => kit.close())

async function scanned(): Promise<
  Record<string, { count: number; newest: number[]; queues: string[]; minutes: number }>
> {
  const found: { id: number; kind: string; queue: string }[] = []
  for (let before: string | undefined; ; ) {
    const page = await kit.store.list({ mode: 'all', before, limit: 1_000 })
    for (const { id, document } of page.jobs)
      if (document.place === 'f') found.push({ id, kind: kindOfFailed(document).fingerprint, queue: document.queue })
    if (page.cursor === null) break
    before = page.cursor
  }
  const kinds = [...Map.groupBy(found, ({ kind }) => kind)].map(([kind, own]) => {
    const ids = own.map(({ id }) => id).sort((a, b) => b - a)
    const queues = [...new Set(own.map(({ queue }) => queue))].sort()
    return [kind, { count: own.length, newest: ids.slice(0, 3), queues, minutes: own.length }]
  })
  return Object.fromEntries(kinds)
}

async function indexed() {
  const { errors } = await kit.engine.errors.list({ details: true })
  const kinds = errors.map(({ error, count, jobs, queues, minutes }) => [
    error,
    { count, newest: jobs, queues: queues.toSorted(), minutes: minutes!.reduce((sum, one) => sum + one.count, 0) },
  ])
  return Object.fromEntries(kinds)
}

async function listed(error: string): Promise<number[]> {
  const ids: number[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await kit.engine.jobs.list({ error, limit: 7, cursor })
    ids.push(...page.jobs.map(({ id }) => id))
    if (page.cursor === null) return ids
    cursor = page.cursor
  }
}

const random = (() => {
  let seed = 20_261_126
  return (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
})()

const enqueue = (n: number) =>
  kit.engine.jobs.enqueue(
    Array.from({ length: n }, () => ({
      queue: queues[random(2)]!,
      class: 'shaky',
      args: JSON.stringify({ cause: `${causes[random(4)]} ${random(1_000)}`, ok: random(5) === 0 }),
    })),
  )

async function lose(): Promise<void> {
  const queue = queues[random(2)]!
  await kit.store.enqueue([{ queue, class: 'pulled', known: true, maxLost: 1 }])
  await kit.store.commit({ queue, claim: { max: 1, lease: 5_000, begun: 1, pull: true, patterns: ['pulled'] } })
}

async function failedIds(): Promise<number[]> {
  return (await kit.engine.jobs.list({ status: ['failed'], limit: 200 })).jobs.map(({ id }) => id)
}

async function some(ids: readonly number[], act: (id: string) => Promise<unknown>): Promise<void> {
  await Promise.all(
    ids.filter(() => random(4) === 0).map((id) => act(String(id)).catch((error: { code?: string }) => error.code)),
  )
}

test('fails, retries, deletions, retention and lost runs at the same time leave an index that equals a scan', async () => {
  for (let round = 0; round < 6; round++) {
    const ids = await failedIds()
    await Promise.all([
      enqueue(60),
      lose(),
      some(ids, (id) => kit.engine.jobs.retry(id)),
      some(ids, (id) => kit.engine.jobs.remove(id, { force: true })),
      kit.engine.tick(),
    ])
    await kit.advance(3 * MINUTE)
    await kit.engine.tick()
  }
  await kit.until(
    async () => (await kit.engine.jobs.list({ status: ['queued', 'running'], class: 'shaky' })).jobs.length === 0,
  )
  const [index, scan] = [await indexed(), await scanned()]
  expect(Object.keys(scan).length).toBeGreaterThanOrEqual(4)
  expect(index).toEqual(scan)
  for (const [error, { count }] of Object.entries(scan)) {
    const ids = await listed(error)
    expect([new Set(ids).size, ids.length]).toEqual([count, count])
    const { ids: counted } = await kit.engine.bulk.preview({ filter: { error }, action: 'retry' })
    expect(counted).toEqual(ids)
  }
})
