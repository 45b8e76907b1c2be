// Upstash stores old jobs on disk. Before a script blocks all other calls, Upstash loads the keys that the script
// declares. So scripts that read old jobs declare the keys of these jobs.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/redis/client.ts'
import { createStore } from '../../src/redis/store.ts'
import { counted } from '../kit/counted.ts'
import { startState } from '../kit/index.ts'
import { commandStats } from './commandstats.ts'

const N = 300

let state: Awaited<ReturnType<typeof startState>>
let store: ReturnType<typeof createStore>
const calls: string[][] = []

beforeAll(async () => {
  state = await startState()
  const client = createClient(state.options)
  const evaluate: typeof client.evaluate = (script, keys, args, rest) => {
    calls.push(keys)
    return client.evaluate(script, keys, args, rest)
  }
  // Jobs are packed only from N + 1 jobs on, so each job has its own key.
  store = createStore({ client: { ...client, evaluate }, packedFrom: N + 1 })
  for (let from = 0; from < N; from += 100)
    await store.enqueue(
      Array.from({ length: 100 }, (_, i) => ({ queue: 'q', class: i % 50 ? 'often' : 'rare', known: true })),
    )
  calls.length = 0
})
afterAll(() => state.close())

type Filter = Parameters<typeof store.list>[0]

async function pagesOf(filter: Filter): Promise<{ ids: number[]; declared: string[][] }> {
  calls.length = 0
  const ids: number[] = []
  for (let before: string | undefined; before !== ''; ) {
    const { jobs, cursor } = await store.list({ ...filter, before })
    ids.push(...jobs.map(({ id }) => id))
    before = cursor ?? ''
  }
  return { ids, declared: calls.splice(0) }
}

const newestFirst = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i)
const documents = (ids: readonly number[]) => ids.map(store.keys.job)

test('each page of all jobs declares its documents, except the first, which has the newest', async () => {
  const { ids, declared } = await pagesOf({ mode: 'all', limit: 100 })
  expect(ids).toEqual(newestFirst(N, 1))
  expect(declared.map((keys) => keys.length)).toEqual([0, 102, 102])
  expect(declared[1]).toEqual(expect.arrayContaining(documents(newestFirst(200, 101))))
  expect(declared[2]).toEqual(expect.arrayContaining(documents(newestFirst(100, 1))))
})

test('a page of a class declares all the jobs that it searches', async () => {
  const { ids, declared } = await pagesOf({ mode: 'all', class: 'rare', limit: 4 })
  expect(ids).toEqual([251, 201, 151, 101, 51, 1])
  expect(declared[1]).toEqual(expect.arrayContaining(documents(newestFirst(100, 1))))
})

test('a later page of a status reads its index first, and declares its documents in a second call', async () => {
  const { ids, declared } = await pagesOf({ mode: 'all', status: 'queued', limit: 150 })
  expect(ids).toEqual(newestFirst(N, 1))
  expect(declared.map((keys) => keys.length)).toEqual([0, 0, 152])
  expect(declared[2]).toEqual(expect.arrayContaining(documents(newestFirst(150, 1))))
})

test('a list of ids declares the jobs, and the pieces that may contain them', async () => {
  await store.list({ mode: 'ids', name: '250,107,9', limit: 3 })
  expect(calls.splice(0)).toEqual([[...documents([250, 107, 9]), ...[2, 1, 0].map(store.keys.piece)]])
})

const spent = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
  const before = await commandStats(state)
  await work()
  const after = await commandStats(state)
  return Object.fromEntries([...after].map(([name, n]) => [name, n - (before.get(name) ?? 0)]).filter(([, n]) => n))
}

counted('a series locks no other keys: it is read without a script, a queue with one command', async () => {
  const { rows } = await store.series('q', 'minute', 50)
  expect(rows).toMatchObject([{ queue: 'q', latest: expect.stringContaining(String(N)) }])
  expect(await spent(() => store.series('q', 'minute', 50))).toEqual({ mget: 1 })
  await store.series('', 'minute', 50)
  expect(await spent(() => store.series('', 'hour', 50))).toEqual({ smembers: 1, mget: 1 })
})

test('a new queue is in the series of the first request after its creation', async () => {
  const queues = async () => (await store.series('', 'minute', 50)).rows.map(({ queue }) => queue)
  expect(await queues()).toEqual(['q'])
  await store.enqueue([{ queue: 'new', class: 'often', known: true }])
  expect(await queues()).toEqual(['new', 'q'])
})
