// What goes the way of plain jobs (lib/fast/plain.lua) leaves the same behind as what goes the long way.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobRecord } from '../../src/redis/record.ts'
import { startState } from '../kit/index.ts'
import { createWorld, encodeRecord, type Making, type Way, type World, ways } from './direct.ts'

let state: Awaited<ReturnType<typeof startState>>
beforeAll(async () => {
  state = await startState()
})
afterAll(() => state.close())

/** Names of fields as user data: where they stand as text, nothing may take them for fields. */
const misleading = JSON.stringify(' {"n":"0","z":"l","tk":"1.1.x","le":"9","rd":"5","q":"q","l":"1","m":"1:1",^i:o:')

const plain: Record<string, Making> = {
  'without anything': {},
  'with args': { args: '{"n":1}' },
  'with args that look like a document': { args: misleading },
  'with args beyond ASCII': { args: '"\\u2028 \u00e9 \u{1f600}"' },
  'that is gone when it has ended': { retain: 0 },
  'that is kept for a while': { retain: 5_000, args: '[1.0]' },
  'with all that is plain': {
    priority: -7,
    timeout: 9,
    createdBy: 'job:"7"',
    retry: '{"max":3}',
    quiet: true,
    shutdown: true,
  },
}

/** A record as it stands in Redis. */
const encoded = (record: JobRecord): Record<string, string> => JSON.parse(encodeRecord(record))

/** The same for every run: without what is new each time, and when it was made, which a sequence says too. */
function shape({ u: _, t: __, ...doc }: Record<string, string>): Record<string, string> {
  const of = (value: string) =>
    value
      .replace(/\b\d{13}\b/g, 'T')
      .replace(/^(\d+\.\d+)\.\w+/, '$1')
      .replace(/^\d{8}:/, 'M:')
  return Object.fromEntries(Object.entries(doc).map(([name, value]) => [name, name === 'n' ? 'N' : of(value)]))
}

const textOf = ({ client, store }: World, id: number) =>
  client.ask<string | null>((redis) => redis.get(store.keys.job(id)))

/** A job from its making to its end: its document at each step, where it stands in the queue, and what is counted. */
async function life(making: Making, way: Way, begun: number) {
  const world = await createWorld(state.options, undefined, way)
  const id = await world.make(making)
  const looks: (Record<string, string> | null)[] = []
  const look = async () => {
    const text = await textOf(world, id)
    looks.push(text ? shape(JSON.parse(text)) : null)
    return text?.startsWith(' ') ?? false
  }
  const marked = [await look()]
  const lane = world.lane()
  const { lent } = await world.store.commit({
    queue: 'q',
    lane: { id: lane.id, seq: 1 },
    claim: { max: 9, lease: 45_000, begun },
  })
  marked.push(await look())
  const settled = await world.runOf(lent[0]!).settled({})
  const { answers } = await world.store.commit({
    queue: 'q',
    runs: [settled],
    lane: { id: lane.id, seq: 2 },
    claim: { max: 9, lease: 45_000 },
  })
  await look()
  const { counts, ...queue } = await world
    .queueOf()
    .then(({ settings, ...row }) => ({ ...row, counts: settings.counts, oldest: null }))
  return {
    marked,
    seen: { lent: shape(encoded(lent[0]!.document)), answers, looks, counts, queue, faults: await world.faults() },
  }
}

describe.each(Object.entries(plain))('a plain job %s', (_, making) => {
  test.each([0, 1])('leaves the same behind, begun at once %i', async (begun) => {
    const [short, long] = await Promise.all(ways.map((way) => life(making, way, begun)))
    expect(short!.marked).toEqual([true, true])
    expect(long!.marked).toEqual([false, false])
    expect(short!.seen).toEqual(long!.seen)
    expect(short!.seen.faults).toEqual([])
  })
})

const beside: Record<string, Making> = {
  'a port': { in: { left: {} } },
  'a callback': { callback: { spec: '{}', host: 'example.com' } },
  'a result that is kept': { keepResult: 1_000 },
  'a tag': { tag: 't', pull: true },
  'a history': { history: 1 },
  'a time': { wait: 1_000 },
  'a pull worker': { pull: true },
  'args that are too big for the document': { args: JSON.stringify('x'.repeat(600)) },
}

test.each(Object.entries(beside))('a job with %s is not plain', async (_, making) => {
  const world = await createWorld(state.options)
  expect(await textOf(world, await world.make(making))).toMatch(/^\{/)
})

test('a plain job that somebody else changes is plain no more', async () => {
  const world = await createWorld(state.options)
  const id = await world.make()
  await world.change(id, 'set', 'n', '1')
  expect(await textOf(world, id)).toMatch(/^\{/)
  expect(await world.document(id)).toMatchObject({ 's:n': '1' })
})

test('what one commit does to a plain job that it has just lent or ended holds', async () => {
  const world = await createWorld(state.options)
  const [other, id] = [await world.make(), await world.make()]
  const lane = world.lane()
  const { runs } = await lane.ask()
  const ending = await runs[0]!.settled({ ops: [{ op: 'terminate', job: id }] })
  const { answers } = await lane.ask({ runs: [ending, await runs[1]!.settled({})] })
  expect(answers).toEqual(['completed', 'completed'])
  expect([await world.status(other), await world.status(id)]).toEqual(['completed', 'terminated'])
  expect(await world.faults()).toEqual([])
})
