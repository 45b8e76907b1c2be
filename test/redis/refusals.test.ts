// Redis refuses each write of a script in turn. After the call is repeated, each effect must have happened once.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeValue } from '../../src/core/codec/value.ts'
import type { Op } from '../../src/core/run.ts'
import { commit, enqueue } from '../../src/redis/scripts.generated.ts'
import { kind, rawCommand, startState } from '../kit/index.ts'
import { createWorld, type Scripts, type World } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

function refusing(name: 'commit' | 'enqueue', nth: number): Scripts {
  const text = `local real, left = redis, ${nth}
local needs_room = { ZADD = 1, SADD = 1, HSET = 1, RPUSH = 1, MSET = 1, SET = 1, XADD = 1 }
local redis = setmetatable({ call = function(verb, ...)
  if needs_room[verb] then
    left = left - 1
    if left == 0 then error('ERR max single record size exceeded. Limit: 1 bytes, Actual: 2 bytes') end
  end
  return real.call(verb, ...)
end }, { __index = real })
${{ commit, enqueue }[name].text}`
  return new Map([[name, { text, sha: createHash('sha1').update(text).digest('hex') }]])
}

const big = (name: string) => encodeValue(name.repeat(1_000))
const FULL = { code: 'FULL', status: 507 }

async function mend(world: World): Promise<string[]> {
  const engine = world.engine()
  const found = await world.faults()
  for (let cursor: string | undefined | null; cursor !== null; ) cursor = (await engine.doctor.repair(cursor)).cursor
  expect(await world.faults()).toEqual([])
  return found
}

async function commitRefused(nth: number): Promise<boolean> {
  const world = await createWorld(state.direct)
  const listener = await world.make({ queue: 'other', in: { in: { channels: ['/news'] } } })
  await (await world.claimOne({ queue: 'other' })).suspend()
  const parent = await world.make({ queue: 'q', in: { in: {} }, out: { out: {}, far: {} } })
  await world.push(parent, 'in', `"${'x'.repeat(2_000)}"`, '"second"')
  const run = await world.claimOne()
  const ops: Op[] = [
    { op: 'read', from: { in: 'in' }, cursor: 0, count: 1 },
    { op: 'write', to: { out: 'out' }, values: [big('a'), big('b')] },
    { op: 'write', to: { out: 'far' }, values: [big('c')] },
    { op: 'spawn', name: 'child', queue: 'other', class: 'child', args: big('d') },
    { op: 'alias', add: 'heir' },
    { op: 'publish', channel: '/news', message: encodeValue('once') },
    { op: 'step', name: 'one', value: big('e') },
    { op: 'log', entry: encodeValue('said') },
  ]
  const outcome = await run.settled({ end: 'suspended', ops })
  const broken = await createWorld(state.direct, refusing('commit', nth), undefined, world.namespace)
  const refused = await broken.store.commit({ queue: '', runs: [outcome] }).then(
    () => false,
    (error) => {
      expect(error).toMatchObject(FULL)
      return true
    },
  )
  await mend(world)
  expect((await world.store.commit({ queue: '', runs: [outcome] })).answers).toEqual(['suspended'])
  expect(await world.faults()).toEqual([])

  const { jobs } = await world.store.list({ mode: 'children', name: String(parent), limit: 10 })
  expect(jobs.map(({ document }) => [document.childName, document.class])).toEqual([['child', 'child']])
  const values = async (id: number, dir: 'in' | 'out', port: string) =>
    (await world.store.values(id, dir, port, 0, 10)).map((item) => item.slice(-5))
  expect(await values(parent, 'out', 'out')).toEqual(['aaaa"', 'bbbb"'])
  expect(await values(parent, 'out', 'far')).toEqual(['cccc"'])
  expect(await values(parent, 'in', 'in')).toEqual(['cond"'])
  expect(await values(listener, 'in', 'in')).toEqual(['once"'])
  expect((await world.store.inspect('heir')).id).toBe(parent)
  for (const queue of ['q', 'other', 'other'])
    for (const next of await world.claim({ queue })) expect(await next.commit()).toBe('completed')
  expect(await world.faults()).toEqual([])
  return refused
}

async function enqueueRefused(nth: number): Promise<boolean> {
  const world = await createWorld(state.direct)
  const before = await world.make()
  const jobs = [
    { queue: 'q', class: 'plain', known: true },
    { queue: 'q', class: 'plain', known: true, wait: 60_000, aliases: ['a'], in: { in: { channels: ['/x'] } } },
    {
      queue: 'q',
      class: 'plain',
      known: true,
      in: { in: {} },
      inputs: { in: [`${'x'.repeat(2_000)}`] },
      group: 'g',
      groupConcurrency: 1,
    },
    { queue: 'other', class: 'plain', known: true, parent: String(before), name: 'child' },
  ]
  const broken = await createWorld(state.direct, refusing('enqueue', nth), undefined, world.namespace)
  const refused = await broken.store.enqueue(jobs as never).then(
    () => false,
    (error) => {
      expect(error).toMatchObject(FULL)
      return true
    },
  )
  await mend(world)
  if (refused) await world.store.enqueue(jobs as never)
  const { jobs: all } = await world.store.list({ mode: 'all', limit: 100 })
  expect(all).toHaveLength(5)
  expect(await world.claim()).toHaveLength(3)
  expect(await world.claim({ queue: 'other' })).toHaveLength(1)
  expect(await world.faults()).toEqual([])
  return refused
}

describe('a write that is refused in the middle', () => {
  test.each([
    ['of a commit', commitRefused],
    ['of an enqueue', enqueueRefused],
  ])(
    '%s leaves no changes, for each of its writes',
    async (_, refused) => {
      let nth = 1
      while (await refused(nth)) nth++
      expect(nth).toBeGreaterThan(5)
    },
    60_000,
  )
})

describe.skipIf(kind === 'embedded')('a Redis without free memory', () => {
  const config = (...words: string[]) => rawCommand(state.redis.port, 'CONFIG', 'SET', ...words)

  test('refuses a script at its first write, before any change', async () => {
    const world = await createWorld(state.direct)
    await world.make()
    const run = await world.claimOne()
    await config('maxmemory', '1')
    await expect(world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])).rejects.toMatchObject(FULL)
    await expect(run.commit({ result: big('r') })).rejects.toMatchObject(FULL)
    await config('maxmemory', '0')
    expect(await world.faults()).toEqual([])
    expect(await world.document(run.id)).toEqual(run.document)
    expect(await run.commit({ result: big('r') })).toBe('completed')
  })
})
