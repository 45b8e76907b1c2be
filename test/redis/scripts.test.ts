import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/redis/client.ts'
import type { NewJob } from '../../src/redis/new-job.ts'
import { createStore, type Store } from '../../src/redis/store.ts'
import { kind, rawCommand, startState } from '../kit/index.ts'

let state: Awaited<ReturnType<typeof startState>>
let store: Store
let offset = 0
let spaces = 0

beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())
beforeEach(() => {
  offset = 0
  store = createStore({ client: createClient(state.options), namespace: `t${++spaces}:`, clock: () => offset })
})

const job = (more: Partial<NewJob> = {}): NewJob => ({ queue: 'q', class: 'c', known: true, ...more })
const port = { in: { n: {} }, out: { m: {} } }
const make = async (more: Partial<NewJob> = {}) => (await store.enqueue([job(more)])).made[0]!.id
const document = async (id: number) => (await store.inspect(String(id))).document
const claim = async (max = 1, more: object = {}) =>
  (
    await store.commit({
      queue: 'q',
      lane: { id: crypto.randomUUID(), seq: 1 },
      claim: { max, lease: 45_000, begun: max },
      ...more,
    })
  ).claimed
const finish = (token: string, end: 'completed' | 'suspended' = 'completed', words: string[] = []) =>
  store.commit({ queue: '', runs: [{ token, n: 0, end, words }] })
const change = (id: number, ...ops: string[][]) => store.change(String(id), ops)

describe('enqueue', () => {
  test('creates ready jobs with ids from 1, and returns the bells to ring', async () => {
    const { made, rings } = await store.enqueue([job(), job()])
    expect(made).toEqual([
      { id: 1, status: 'queued' },
      { id: 2, status: 'queued' },
    ])
    expect(rings).toMatchObject([{ queue: 'q' }])
  })

  test('the same key creates jobs once, and rings once', async () => {
    const once = { key: 'k', period: 60_000, fingerprint: 'f' }
    const first = await store.enqueue([job()], once)
    const second = await store.enqueue([job()], once)
    expect(second).toEqual({ made: first.made, again: true, rings: [], claimed: [] })
  })

  const lane = (id = 'l') => ({ id, max: 2, lease: 45_000, begun: 2 })
  const idsOf = (claimed: { id: number }[]) => claimed.map(({ id }) => id)

  test('a lane starts with the new jobs, in their order, and bells ring for the rest', async () => {
    await store.settings('q', { batch: 2 })
    const jobs = [job({ priority: 2 }), job({ priority: 1 }), job({ priority: 1 })]
    const { made, claimed, rings } = await store.enqueue(jobs, undefined, '', lane())
    expect(made.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(idsOf(claimed)).toEqual([2, 3])
    expect(rings).toHaveLength(1)
    const runs = claimed.map(({ document }) => ({ token: document.token!, n: 0, end: 'completed' as const, words: [] }))
    const next = await store.commit({ queue: 'q', runs, lane: { id: 'l', seq: 2 }, claim: { max: 2, lease: 45_000 } })
    expect(next).toMatchObject({ word: 'ok', answers: ['completed', 'completed'] })
    expect(idsOf(next.claimed)).toEqual([1])
    expect((await store.verify()).faults).toEqual([])
  })

  test('a lane that begins with jobs gets the same runs when it asks again, until their leases end', async () => {
    const once = { key: 'k', period: 60_000 }
    const first = await store.enqueue([job()], once, '', lane())
    const again = await store.enqueue([job()], once, '', lane())
    expect(again).toMatchObject({ again: true, rings: [] })
    expect(again.claimed).toEqual(first.claimed)
    expect((await store.enqueue([job()], once, '', lane('other'))).claimed).toEqual([])
    await finish(first.claimed[0]!.document.token!)
    expect((await store.enqueue([job()], once, '', lane())).claimed).toEqual([])
  })

  test.each([
    ['if a job was ready before', () => make()],
    ['in a queue that is paused', () => store.settings('q', { paused: true })],
    [
      'in addition to the maximum of lanes',
      () =>
        make()
          .then(() => claim())
          .then(() => store.settings('q', { lanes: 1 })),
    ],
  ])('no lane begins %s', async (_, given) => {
    await given()
    const { claimed } = await store.enqueue([job()], undefined, '', lane())
    expect(claimed).toEqual([])
    expect((await store.verify()).faults).toEqual([])
  })

  test('a lane does not begin with jobs of two queues', async () => {
    expect((await store.enqueue([job(), job({ queue: 'r' })], undefined, '', lane())).claimed).toEqual([])
  })

  test('a lane begins with a piece, and with jobs that a limit lets through', async () => {
    const many = { id: 'l', max: 100, lease: 45_000, begun: 100 }
    const jobs = Array.from({ length: 12 }, () => job())
    const { made, claimed } = await store.enqueue(jobs, { key: 'k', period: 60_000 }, '', many)
    expect(idsOf(claimed)).toEqual(idsOf(made))
    expect(idsOf((await store.enqueue(jobs, { key: 'k', period: 60_000 }, '', many)).claimed)).toEqual(idsOf(made))
    const runs = claimed.map(({ document }) => ({ token: document.token!, n: 0, end: 'completed' as const, words: [] }))
    const { answers } = await store.commit({ queue: 'q', runs, lane: { id: 'l', seq: 2 } })
    expect(new Set(answers)).toEqual(new Set(['completed']))
    const limits = [{ key: 'one', how: 'set' as const, concurrency: 1 }]
    const bounded = [job({ queue: 's', limits }), job({ queue: 's', limits })]
    expect((await store.enqueue(bounded, undefined, '', { ...many, id: 'm' })).claimed).toHaveLength(1)
    expect((await store.verify()).faults).toEqual([])
  })

  test('the same key is refused for another body', async () => {
    await store.enqueue([job()], { key: 'k', period: 60_000, fingerprint: 'f' })
    await expect(store.enqueue([job()], { key: 'k', period: 60_000, fingerprint: 'g' })).rejects.toMatchObject({
      code: 'TAKEN',
    })
  })

  test('a refused job refuses its whole batch, and no id is lost', async () => {
    const bad = job({ known: false, class: 'unheard' })
    await expect(store.enqueue([job(), bad])).rejects.toMatchObject({ code: 'REFUSED', path: [1] })
    expect((await store.enqueue([job()])).made[0]!.id).toBe(1)
  })

  test('a unique key finds its job until the job has ended', async () => {
    const unique = { key: 'u' }
    const id = await make({ unique })
    expect((await store.enqueue([job({ unique })])).made).toEqual([{ id, status: 'queued', existing: true }])
    const [claimed] = await claim()
    await finish(claimed!.document.token!)
    expect((await store.enqueue([job({ unique })])).made[0]!.existing).toBeUndefined()
  })

  test('a job with a later time has a timer and a bell', async () => {
    const { rings } = await store.enqueue([job({ wait: 30_000 })])
    expect(rings).toHaveLength(1)
    expect(rings[0]!.at).toBeGreaterThan(Date.now() + 25_000)
    expect(await claim()).toEqual([])
  })

  test('a parent gets a named child, and the name is then taken', async () => {
    const parent = await make()
    await make({ parent: String(parent), name: 'a' })
    await expect(store.enqueue([job({ parent: String(parent), name: 'a' })])).rejects.toMatchObject({ code: 'TAKEN' })
    await expect(store.enqueue([job({ parent: '99', name: 'a' })])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('aliases refer to the job, and belong to one job only', async () => {
    const id = await make({ aliases: ['nightly'] })
    expect((await store.inspect('nightly')).id).toBe(id)
    await expect(store.enqueue([job({ aliases: ['nightly'] })])).rejects.toMatchObject({ code: 'TAKEN' })
  })

  test('values over 512 bytes are stored next to the document and read completely', async () => {
    const args = JSON.stringify('x'.repeat(2_000))
    const id = await make({ args })
    expect((await document(id)).args).toBe(args)
    expect((await claim())[0]!.document.args).toBe(args)
  })
})

describe('commit', () => {
  test('a claim leases jobs by priority, then by age', async () => {
    await store.enqueue([job({ priority: 5 }), job(), job({ priority: -1 }), job()])
    expect((await claim(4)).map(({ id }) => id)).toEqual([3, 2, 4, 1])
  })

  test('the same lane and number again gets the same runs', async () => {
    await make()
    const request = { queue: 'q', lane: { id: 'L', seq: 1 }, claim: { max: 1, lease: 45_000 } }
    const first = await store.commit(request)
    expect(await store.commit(request)).toMatchObject({ word: first.word, claimed: first.claimed })
  })

  test('all effects of a run are stored, or none of them', async () => {
    const id = await make(port)
    await change(id, ['write', '', 'i', 'n', '', '2', '=1', '=2'])
    const [claimed] = await claim()
    expect(claimed!.inputs).toEqual({ n: ['=1', '=2'] })
    const words = ['consume', '', 'i', 'n', '0', '1', 'set', 'x', '7', 'write', '', 'o', 'm', '', '1', '=9']
    const refused = await finish(claimed!.document.token!, 'completed', [
      ...words,
      'write',
      '>nobody',
      'i',
      'n',
      '',
      '1',
      '=0',
    ])
    expect(refused.answers[0]).toMatch(/^refused:NOT_FOUND/)
    expect(await document(id)).toMatchObject({ 'i:n': '2,0', 'o:m': '0,0', place: 'f' })
  })

  test('a repeated commit by token gets the first answer, also if the job is gone', async () => {
    await make({ retain: 0 })
    const [claimed] = await claim()
    const token = claimed!.document.token!
    expect((await finish(token)).answers).toEqual(['completed'])
    expect((await finish(token)).answers).toEqual(['completed'])
    await expect(store.inspect('1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('a commit after the end of the lease is refused as lost, and changes nothing', async () => {
    const id = await make()
    const [claimed] = await claim()
    offset += 46_000
    expect((await finish(claimed!.document.token!, 'completed', ['set', 'x', '1'])).answers).toEqual(['lost'])
    expect((await document(id))['s:x']).toBeUndefined()
  })
})

describe('extend', () => {
  test('moves the ends of leases, and returns the lost runs', async () => {
    await make()
    const [claimed] = await claim()
    const token = claimed!.document.token!
    offset += 40_000
    const [end] = await store.extend('q', [token], 45_000)
    expect(end).toBeGreaterThan(claimed!.document.leaseUntil!)
    expect(await store.extend('q', [token, '1.1.other'], 45_000)).toEqual([expect.any(Number), null])
  })
})

describe('change', () => {
  test.each([
    ['an unknown job', '99', [['terminate', '', '']], 'NOT_FOUND'],
    ['an unknown alias', 'nobody', [['terminate', '', '']], 'NOT_FOUND'],
    ['an undeclared port', '1', [['write', '', 'i', 'nope', '', '1', '=1']], 'REFUSED'],
    ['a child that does not exist', '1', [['disown', 'x']], 'NOT_FOUND'],
    ['adopting itself', '1', [['adopt', '1', 'x']], 'REFUSED'],
    ['deleting an unterminated job', '1', [['delete', '', '']], 'WRONG_STATUS'],
    ['retrying a job that has not failed', '1', [['retry', '']], 'WRONG_STATUS'],
    ['unlocking without the token', '1', [['unlock', 'x']], 'CONFLICT'],
    ['an alias that it does not have', '1', [['unalias', 'x']], 'NOT_FOUND'],
  ])('refuses %s', async (_, id, ops, code) => {
    await make(port)
    await expect(store.change(id, ops)).rejects.toMatchObject({ code })
  })

  test('all ops of a call happen, or none', async () => {
    const id = await make(port)
    await expect(change(id, ['set', 'x', '1'], ['disown', 'nobody'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await document(id))['s:x']).toBeUndefined()
  })

  test('the same key takes values once, and returns them again', async () => {
    const id = await make(port)
    await change(id, ['write', '', 'i', 'n', '', '2', '=1', '=2'])
    const once = { key: 'take', period: 60_000 }
    const take = () => store.change(String(id), [['take', '', 'i', 'n', '1']], once)
    expect((await take()).answer).toEqual(['', '=1'])
    expect((await take()).answer).toEqual(['', '=1'])
    expect((await document(id))['i:n']).toBe('2,1')
  })

  test('a locked job is not leased until the lock is released', async () => {
    const id = await make()
    await change(id, ['lock', '60000', 'T'])
    await expect(change(id, ['lock', '60000', 'U'])).rejects.toMatchObject({ code: 'BUSY' })
    expect(await claim()).toEqual([])
    await change(id, ['unlock', 'T'])
    expect(await claim()).toHaveLength(1)
  })

  test('connect moves all values and copies the default to every target', async () => {
    const from = await make({ out: { m: { default: '0' } } })
    const to = await make({ in: { n: {} } })
    await change(from, ['write', '', 'o', 'm', '', '2', '=1', '=2'])
    const { answer } = await change(from, ['connect', '', 'o', 'm', '1', String(to), 'i', 'n'])
    expect(answer).toEqual(['2'])
    expect(await document(to)).toMatchObject({ 'i:n': '2,0', 'di:n': '=0' })
    expect(await document(from)).toMatchObject({ 'o:m': '2,2' })
  })

  test('a message reaches every port that listens to its channel or to a channel above', async () => {
    const id = await make({
      in: { here: { channels: ['/a/b'] }, above: { channels: ['/a'] }, beside: { channels: ['/c'] } },
    })
    const { answer } = await store.change('', [['publish', '/a/b', '=1']])
    expect(answer).toEqual(['2'])
    expect(await document(id)).toMatchObject({ 'i:here': '1,0', 'i:above': '1,0', 'i:beside': '0,0' })
  })

  test('redefining ports keeps the values of remaining ones, and drops the rest', async () => {
    const id = await make({ in: { a: {}, b: {} } })
    await change(id, ['write', '', 'i', 'a', '', '1', '=1'], ['write', '', 'i', 'b', '', '1', '=1'])
    await change(id, ['ports', '', 'i', '2', 'a', '1', '=9', '0', 'c', '0', '', '0'])
    expect(await document(id)).toMatchObject({ 'i:a': '1,0', 'di:a': '=9', 'i:b': '1,1,d', 'i:c': '0,0' })
  })

  test('a tree is deleted when all of its jobs are terminated', async () => {
    const id = await make()
    await make({ parent: String(id), name: 'a' })
    await change(id, ['terminate', '', '1'])
    expect((await change(id, ['delete', '', ''])).answer).toEqual(['gone'])
    expect((await store.list({ mode: 'all', limit: 10 })).jobs).toEqual([])
  })
})

describe('tick', () => {
  test('changes nothing, and costs nothing more, while no job is due', async () => {
    expect(await store.tick()).toEqual({ rings: [], more: false, faults: [] })
  })

  test('rings again after a lost bell', async () => {
    await make()
    offset += 21_000
    expect((await store.tick()).rings).toMatchObject([{ queue: 'q' }])
  })

  test('takes back the jobs of a lost lane', async () => {
    const id = await make()
    await claim()
    offset += 46_000
    await store.tick()
    expect(await document(id)).toMatchObject({ lostRuns: 1, place: 't' })
    offset += 2_000
    expect(await claim()).toHaveLength(1)
  })

  test('removes expired jobs', async () => {
    await make({ retain: 60_000 })
    const [claimed] = await claim()
    await finish(claimed!.document.token!)
    offset += 61_000
    await store.tick()
    await expect(store.inspect('1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('read access', () => {
  test('inspect returns all data of a job and its place in the queue', async () => {
    await make()
    const id = await make(port)
    await change(id, ['write', '', 'i', 'n', '', '1', '=1'])
    const seen = await store.inspect(String(id), { dir: 'i', port: 'n', limit: 10 })
    expect(seen).toMatchObject({ id, items: ['=1'], ahead: 1, queue: { paused: false, lanes: 1 } })
  })

  test('list pages through all jobs, newest first', async () => {
    await store.enqueue(Array.from({ length: 7 }, () => job()))
    const first = await store.list({ mode: 'all', limit: 4 })
    const second = await store.list({ mode: 'all', limit: 4, before: first.cursor! })
    expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(second.cursor).toBeNull()
  })

  test('list filters by status, by parent and by alias', async () => {
    const id = await make({ aliases: ['top'] })
    await make({ parent: String(id), name: 'a' })
    await claim()
    const ids = async (filter: object) =>
      (await store.list({ mode: 'all', limit: 10, ...filter })).jobs.map((one) => one.id)
    expect(await ids({ queue: 'q', status: 'running' })).toEqual([1])
    expect(await ids({ queue: 'q', status: 'queued' })).toEqual([2])
    expect(await ids({ mode: 'children', name: 'top' })).toEqual([2])
    expect(await ids({ mode: 'alias', name: 'top' })).toEqual([1])
  })

  test.skipIf(kind === 'embedded')('a page of many children reads at most 1,000 jobs', async () => {
    const many = 2_500
    const parent = await make()
    const others = await make()
    for (let made = 0; made < many; made += 500)
      await store.enqueue(Array.from({ length: 500 }, () => job({ parent: String(parent) })))
    const reads = async (work: () => Promise<unknown>) => {
      const read = async () =>
        Number(/keyspace_hits:(\d+)/.exec(await rawCommand(state.redis.port, 'INFO', 'stats'))![1])
      const before = await read()
      await work()
      return (await read()) - before
    }
    const ids: number[] = []
    let cursor: string | null | undefined
    do {
      const page = { mode: 'children' as const, name: String(parent), limit: 700, before: cursor ?? undefined }
      expect(
        await reads(async () => {
          const answer = await store.list(page)
          ids.push(...answer.jobs.map(({ id }) => id))
          cursor = answer.cursor
        }),
      ).toBeLessThan(1_010)
    } while (cursor !== null)
    expect(ids).toEqual(Array.from({ length: many }, (_, i) => others + many - i))
  })

  test('tree, peek and overview show a job with its child', async () => {
    const id = await make()
    const child = await make({ ...port, parent: String(id), name: 'a' })
    await change(child, ['write', '', 'o', 'm', '', '1', '=5'])
    expect((await store.tree(String(id))).members.map((one) => [one.id, one.parent, one.name])).toEqual([
      [1, null, ''],
      [2, 1, 'a'],
    ])
    expect(
      await store.peek(
        [
          { id: child, dir: 'o', port: 'm' },
          { id: 9, dir: 'o', port: 'm' },
        ],
        10,
      ),
    ).toEqual([{ taken: 0, items: ['=5'], more: 0 }, null])
    expect((await store.overview()).queues).toMatchObject([{ name: 'q', ready: 2, leases: 0 }])
  })
})

describe('settings and register', () => {
  test('a paused queue leases nothing, and rings when it is resumed', async () => {
    await store.settings('q', { paused: true })
    await make()
    expect(await claim()).toEqual([])
    expect(await store.settings('q', { paused: false })).toMatchObject({ rings: [{ queue: 'q' }] })
  })

  test('a class that becomes a pull class takes its waiting jobs with it', async () => {
    await make()
    await store.register('q', [{ name: 'c', definition: '{"pull":true}', serves: 'pull' }])
    expect(await claim()).toEqual([])
    expect((await store.overview()).queues[0]).toMatchObject({ ready: 0, pull: 1 })
    await store.register('q', [{ name: 'c', definition: '{}', serves: 'push' }])
    expect((await store.overview()).queues[0]).toMatchObject({ ready: 1, pull: 0 })
  })
})

test('verify reports nothing for healthy data, and reports a document that was changed directly', async () => {
  const id = await make()
  expect((await store.verify()).faults).toEqual([])

  await createClient(state.options).ask((redis) => redis.del(`t${spaces}:queue:q:ready`))
  expect((await store.verify()).faults).toMatchObject([
    { who: String(id), what: expect.stringContaining('0 places') },
    { who: 'q', what: 'has 0 jobs in ready, but its count is 1' },
  ])
})
