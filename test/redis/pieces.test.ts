// Several jobs can share one record in Redis, a piece. Such a job must end in the same state as a job with its own
// record.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Encoded } from '../../src/core/codec/value.ts'
import type { Changes } from '../../src/core/run.ts'
import type { JobRecord } from '../../src/redis/record.ts'
import { createStore, type Store } from '../../src/redis/store.ts'
import { createVault } from '../../src/redis/vault.ts'
import { startState } from '../kit/index.ts'
import { createWorld, encodeRecord, type Making, type Way, type World, ways } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

/** User data that looks like a record of Redis, and must not be read as one. */
const misleading = JSON.stringify(' {"n":"0","z":"l","tk":"1.1.x","le":"9","rd":"5","q":"q","l":"1","m":"1:1",^i:o:')

const plain: Record<string, Making> = {
  'without anything': {},
  'with args': { args: '{"n":1}' },
  'with args that look like a document': { args: misleading },
  'with args beyond ASCII': { args: '"\\u2028 \u00e9 \u{1f600}"' },
  'that is gone when it has ended': { retain: 0 },
  'that is kept for a while': { retain: 5_000, args: '[1.0]' },
  'with ports': { in: { n: {} }, out: { n: { default: '"x"' } } },
  'with values at a port': { in: { n: {}, m: {} }, out: { n: {} }, inputs: { n: ['=1', '@{"job":1}\n\n\n"\u00e9"'] } },
  'with values and args': { args: '[1]', in: { n: {} }, inputs: { n: ['=1'] }, retain: 5_000 },
  'with all that is plain': {
    priority: -7,
    timeout: 9,
    createdBy: 'job:"7"',
    retry: '{"max":3}',
    quiet: true,
    shutdown: true,
  },
}

const encoded = (record: JobRecord): Record<string, string> => JSON.parse(encodeRecord(record))

function shape({ u: _, t: __, ...doc }: Record<string, string>): Record<string, string> {
  const of = (value: string) =>
    value
      .replace(/\b\d{13}\b/g, 'T')
      .replace(/^\d+(\.\d+)\.\w+/, 'ID$1')
      .replace(/^\d{8}:/, 'M:')
      .replace(/("job\\*":)\d+/, '$1ID')
  return Object.fromEntries(Object.entries(doc).map(([name, value]) => [name, name === 'n' ? 'N' : of(value)]))
}

const textOf = ({ client, store }: World, id: number) =>
  client.ask<string | null>((redis) => redis.get(store.keys.job(id)))

async function life(making: Making, way: Way) {
  const world = await createWorld(state.direct, undefined, way)
  const job = { queue: 'q', class: 'plain', known: true, ...making }
  const { made } = await world.store.enqueue([job, job])
  const id = made[0]!.id
  const looks: (Record<string, string> | null)[] = []
  const isPacked: boolean[] = []
  const look = async () => {
    isPacked.push((await textOf(world, id)) === null)
    const found = await world.document(id).catch(() => null)
    looks.push(found && shape(encoded(found)))
  }
  await look()
  const lane = world.lane()
  const { claimed } = await lane.ask({ max: 9 })
  await look()
  const did = {
    reads: Object.fromEntries(
      Object.entries(claimed[0]!.inputs).map(([port, { length }]) => [port, { cursor: 0, count: length }]),
    ),
    ops: making.out ? [{ op: 'write', to: { out: 'n' }, values: ['"out"'] }] : [],
  } as unknown as Partial<Changes>
  const runs = await Promise.all(claimed.map((one) => world.runOf(one).settled(did)))
  const { answers } = await lane.ask({ runs, max: 9 })
  await look()
  const {
    counts,
    packed: _,
    ...queue
  } = await world
    .queueOf()
    .then(({ settings, ...row }) => ({ ...row, counts: settings.counts, packed: settings.packed, oldest: null }))
  const taken = way === 'in pieces' && making.retain !== 0 ? await leaving(world, id) : null
  return {
    isPacked,
    taken,
    seen: {
      claimed: shape(encoded(claimed[0]!.document)),
      answers,
      looks,
      counts,
      queue,
      faults: await world.faults(),
    },
  }
}

async function leaving(world: World, id: number) {
  await world.change(id, 'alias', 'left')
  const { al: __, ...left } = JSON.parse((await textOf(world, id))!) as Record<string, string>
  return shape(left)
}

describe.each(Object.entries(plain))('a job %s', (_, making) => {
  test('leaves the same data, in a piece or in its own document', async () => {
    const [alone, packed] = await Promise.all(ways.map((way) => life(making, way)))
    expect(packed!.isPacked).toEqual([true, true, true])
    expect(alone!.isPacked).toEqual([false, false, making.retain === 0])
    expect(packed!.seen).toEqual(alone!.seen)
    expect(packed!.seen.faults).toEqual([])
    if (packed!.taken) expect(packed!.taken).toEqual(alone!.seen.looks.at(-1))
  })
})

const beside: Record<string, Making> = {
  'a port that listens': { in: { left: { channels: ['/a'] } } },
  'any ports': { in: { '*': {} } },
  'a large value': { in: { n: {} }, inputs: { n: [`="${'x'.repeat(600)}"`] } },
  'a callback': { callback: { spec: '{}', host: 'example.com' } },
  'a result that is kept': { keepResult: 1_000 },
  'a tag': { tag: 't', pull: true },
  'a history': { history: 1 },
  'a time': { wait: 1_000 },
  'a pull worker': { pull: true },
  'args of more than a KiB': { args: JSON.stringify('x'.repeat(1_023)) },
}

test.each(Object.entries(beside))('a job with %s has its own document', async (_, making) => {
  const world = await createWorld(state.direct, undefined, 'in pieces')
  expect(await textOf(world, await world.make(making))).toMatch(/^\{/)
})

test('args of 1 KiB wait in a piece, and get their own key when the job leaves the piece', async () => {
  const args: Encoded = JSON.stringify('x'.repeat(1_022))
  const world = await createWorld(state.direct, undefined, 'in pieces')
  const job = { queue: 'q', class: 'plain', known: true, args }
  const { made } = await world.store.enqueue([job, job])
  const id = made[0]!.id
  expect(await textOf(world, id)).toBeNull()
  await world.change(id, 'alias', 'left')
  expect(JSON.parse((await textOf(world, id))!)).toMatchObject({ a: args })
  const { claimed } = await world.lane().ask({ max: 9 })
  expect(claimed.map(({ document }) => document.args)).toEqual([args, args])
  expect(await world.faults()).toEqual([])
})

test('marked documents of the previous version, which had no pieces, can still be read', async () => {
  const world = await createWorld(state.direct)
  const id = await world.make({ args: '{"n":1}' })
  const key = world.store.keys.job(id)
  const text = await textOf(world, id)
  await world.client.ask((redis) => redis.set(key, ` ${text}`))
  expect(await world.document(id)).toMatchObject({ args: '{"n":1}' })
  const run = await world.claimOne()
  expect(await run.commit()).toBe('completed')
  expect(await world.faults()).toEqual([])
})

test('args are sealed separately, and unreadable args fail only their own job', async () => {
  const world = await createWorld(state.direct)
  const key = (byte: number) => new Uint8Array(32).fill(byte)
  const storeWith = (...keys: Uint8Array[]) =>
    createStore({ client: world.client, namespace: world.namespace, vault: createVault({ keys }), packedFrom: 1 })
  const make = (store: Store, n: number, from: number) =>
    store.enqueue(
      Array.from({ length: n }, (_, i) => ({
        queue: 'q',
        class: 'plain',
        known: true,
        args: `"secret ${from + i}"` as Encoded,
      })),
    )
  await make(storeWith(key(1)), 2, 0)
  const { made } = await make(storeWith(key(2)), 2, 2)
  const text = await world.client.ask((redis) =>
    redis.get<string>(world.store.keys.piece(Math.floor(made[0]!.id / 100))),
  )
  expect(text).not.toContain('secret')
  const request = { queue: 'q', lane: { id: 'l', seq: 1 }, claim: { max: 9, lease: 45_000, begun: 9 } }
  const { claimed } = await storeWith(key(1)).commit(request)
  expect(claimed.map(({ document, fault }) => fault?.code ?? document.args)).toEqual([
    '"secret 0"',
    '"secret 1"',
    'REFUSED',
    'REFUSED',
  ])
  const again = await storeWith(key(1), key(2)).commit(request)
  expect(again.claimed.map(({ document }) => document.args)).toEqual([0, 1, 2, 3].map((n) => `"secret ${n}"`))
  expect(await world.faults()).toEqual([])
})

test('values at ports are sealed separately, and readable with the key', async () => {
  const world = await createWorld(state.direct)
  const key = (byte: number) => new Uint8Array(32).fill(byte)
  const storeWith = (...keys: Uint8Array[]) =>
    createStore({ client: world.client, namespace: world.namespace, vault: createVault({ keys }), packedFrom: 1 })
  const ports = { in: { n: { default: '"secret 9"' as Encoded } }, out: {} }
  const jobs = ['=1', '="secret 2"'].map((item) => ({
    queue: 'q',
    class: 'plain',
    known: true,
    ...ports,
    inputs: { n: [item] },
  }))
  const { made } = await storeWith(key(1)).enqueue(jobs)
  const text = await world.client.ask((redis) =>
    redis.get<string>(world.store.keys.piece(Math.floor(made[0]!.id / 100))),
  )
  expect(text).toMatch(/^11\n/)
  expect(text).not.toContain('secret')
  const request = { queue: 'q', lane: { id: 'l', seq: 1 }, claim: { max: 9, lease: 45_000, begun: 9 } }
  const { claimed } = await storeWith(key(1)).commit(request)
  expect(claimed.map(({ inputs, document }) => [inputs, document['di:n']])).toEqual([
    [{ n: ['=1'] }, '="secret 9"'],
    [{ n: ['="secret 2"'] }, '="secret 9"'],
  ])
  const without = await storeWith(key(2)).commit(request)
  expect(without.claimed.map(({ fault }) => fault?.code)).toEqual(['REFUSED', 'REFUSED'])
})
