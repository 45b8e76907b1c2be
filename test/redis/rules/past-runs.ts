// Rules 117, 118 and 131: the stored past runs of a job show their effects, inputs and values.

import { expect } from 'vitest'
import { encodeValue } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import type { RunOutcome } from '../../../src/redis/changes.ts'
import { setRun } from '../../../src/redis/ops.ts'
import { childrenOf, effectsOf, pastRunOf } from '../../../src/redis/record.ts'
import type { Sealed } from '../../../src/redis/vault.ts'
import type { Facts, World } from '../direct.ts'

const runsOf = async (world: World, id: number) => (await world.store.runs(id)).map(pastRunOf)
const didOf = async (world: World, id: number) => effectsOf((await world.store.runs(id))[0]!)
const again = (world: World, id: number) => world.change(id, 'run', '', '', '', '', '')

const writes = (port: string, n: number): Op => ({
  op: 'write',
  to: { out: port },
  values: Array.from({ length: n }, (_, i) => encodeValue(i)),
})
const spawns = (name: string): Op => ({ op: 'spawn', name, queue: 'q', class: 'child' })
const publishes: Op = { op: 'publish', channel: '/sums', message: encodeValue(1) }

const none = { reads: [], writes: [], published: [], made: [], more: 0 }

const rule117: Facts = {
  async 'a past run has its number, the ready time of the job, and the number of its commits'(world) {
    const id = await world.make({ history: 2 })
    const made = world.now()
    world.advance(5_000)
    const first = await world.claimOne()
    await first.commit({ end: 'checkpoint' })
    await first.commit({ end: 'checkpoint', n: 1 })
    world.advance(1_000)
    await first.commit({ end: 'again', n: 2 })
    const ended = world.now()
    world.advance(3_000)
    await (await world.claimOne({ lease: 5_000 })).suspend()
    const [second, one] = await runsOf(world, id)
    expect(one).toMatchObject({ n: 1, outcome: 'again', commits: 3 })
    expect(second).toMatchObject({ n: 2, outcome: 'suspended', commits: 1 })
    expect(Math.abs(one!.readyAt! - made)).toBeLessThan(1_000)
    expect(one!.startedAt - one!.readyAt!).toBeGreaterThanOrEqual(5_000)
    expect(Math.abs(second!.readyAt! - ended)).toBeLessThan(1_000)
    expect(second!.startedAt - second!.readyAt!).toBeGreaterThanOrEqual(3_000)
    await again(world, id)
    await world.claimOne({ lease: 5_000 })
    world.advance(6_000)
    await world.tick()
    expect((await runsOf(world, id)).map(({ n, outcome, commits }) => [n, outcome, commits])).toEqual([
      [3, 'lost', 0],
      [2, 'suspended', 1],
    ])
    expect(await world.store.runBehind(id, 0)).toMatch(/,lost,/)
    expect(await world.store.runBehind(id, 2)).toBeNull()
  },
  async 'a past run has its reads, writes, messages and new jobs'(world) {
    const id = await world.make({ in: { left: {}, right: {} }, out: { sum: {} }, history: 9 })
    await world.push(id, 'left', '1', '2', '3')
    await (await world.claimOne()).suspend({
      reads: { left: { cursor: 0, count: 2 } },
      ops: [writes('sum', 2), writes('sum', 1), publishes, spawns('a b'), spawns('c')],
    })
    const { made, ...did } = await didOf(world, id)
    expect(did).toEqual({
      reads: [{ job: id, dir: 'in', port: 'left', values: 2 }],
      writes: [{ job: id, dir: 'out', port: 'sum', values: 3 }],
      published: [{ channel: '/sums', messages: 1 }],
      more: 0,
    })
    expect(made.map(({ name }) => name)).toEqual(['a b', 'c'])
    const children = childrenOf((await world.store.inspect(String(id))).children)
    expect(made.map((child) => child.id)).toEqual(['a b', 'c'].map((name) => children[name]!.id))
  },
  async 'committed effects before the end of a run are recorded, and refused effects are not'(world) {
    const id = await world.make({ out: { sum: {} }, history: 9 })
    const run = await world.claimOne({ lease: 5_000 })
    await run.commit({ end: 'checkpoint', ops: [writes('sum', 2)] })
    await run.commit({ end: 'checkpoint', n: 1, ops: [writes('sum', 1), publishes] })
    world.advance(50_000)
    await world.tick()
    const told = { writes: [{ job: id, dir: 'out', port: 'sum', values: 3 }], published: [{ messages: 1 }] }
    expect(await didOf(world, id)).toMatchObject(told)
    world.advance(60_000)
    await world.tick()
    const next = await world.claimOne()
    expect(await next.commit({ ops: [writes('sum', 5), writes('none', 1)] })).toMatch(/^refused/)
    expect(await didOf(world, id)).toEqual(none)
    expect((await world.document(id)).runDid).toBeUndefined()
  },
  async 'beyond the maximum only the number of effects is kept'(world) {
    const id = await world.make({ out: { '*': {} }, history: 9 })
    const ports = Array.from({ length: 100 }, (_, i) => `${'x'.repeat(60)}${i}`)
    await (await world.claimOne()).suspend({ ops: ports.map((port) => writes(port, 2)) })
    const { writes: told, more } = await didOf(world, id)
    expect(told.length).toBeGreaterThan(40)
    expect(told.length * 2 + more).toBe(200)
    expect((await world.store.runs(id))[0]!.length).toBeLessThan(6_000)
  },
  async 'each run has the version of its code: alone, in a piece, failed, given back'(world) {
    const lastOf = async (id: number) => pastRunOf((await world.document(id)).lastRun!)
    const { made } = await world.store.enqueue(
      Array.from({ length: 12 }, () => ({ queue: 'q', class: 'plain', known: true })),
    )
    const lane = world.lane()
    const { runs } = await lane.ask()
    const settled = await Promise.all(runs.map((run) => run.settled({})))
    await lane.ask({ runs: settled, version: '88f62d2b' })
    for (const { id } of made) expect(await lastOf(id)).toMatchObject({ attempt: 1, version: '88f62d2b' })

    const id = await world.make({ history: 9 })
    const end = async (outcome: RunOutcome) =>
      world.store.commit({ queue: '', runs: [outcome], version: '1.4.0-rc.1+5' })
    const failing = { end: 'failed', error: { message: 'a,b@c' } } as const
    await end(await (await world.claimOne()).settled(failing, { max: 3, backoff: { base: 0, cap: 0 } }))
    await end({ ...(await (await world.claimOne()).settled({})), end: 'released', words: [] })
    await end(await (await world.claimOne()).settled({ end: 'suspended', version: 'theirs' }))
    await again(world, id)
    await (await world.claimOne()).suspend()
    expect((await runsOf(world, id)).map(({ outcome, attempt, version }) => [outcome, attempt, version])).toEqual([
      ['suspended', 1, undefined],
      ['suspended', 2, 'theirs'],
      ['released', 2, '1.4.0-rc.1+5'],
      ['failed', 1, '1.4.0-rc.1+5'],
    ])
    expect(await lastOf(id)).not.toHaveProperty('version')
  },
  async 'other jobs have no cost for past runs'(world) {
    for (const history of [undefined, 0]) {
      const id = await world.make({ out: { sum: {} }, history })
      const run = await world.claimOne()
      await run.commit({ end: 'checkpoint', ops: [writes('sum', 2)] })
      expect(await world.document(id)).not.toHaveProperty('runDid')
      await run.commit({ end: 'failed', n: 1, error: { message: 'broken' } })
      expect(await world.document(id)).not.toHaveProperty('runsNoted')
      for (const one of await runsOf(world, id)) expect(one).not.toHaveProperty('n')
    }
  },
}

const rule118: Facts = {
  async 'inputs of the last run that read some are kept, in order, also across checkpoints'(world) {
    const id = await world.make({ in: { left: {}, right: {} }, history: 1 })
    await world.push(id, 'left', '1', '"ü"', '3')
    await world.push(id, 'right', `"${'x'.repeat(600)}"`)
    const takes = (left: number, right: number) => ({
      reads: { left: { cursor: left, count: 1 }, right: { cursor: right, count: right === 0 ? 1 : 0 } },
    })
    const run = await world.claimOne()
    expect(await world.store.keptInputs(id)).toBeNull()
    await run.commit({ end: 'checkpoint', ...takes(0, 0) })
    await run.suspend({ n: 1, ...takes(1, 1) })
    const kept = { left: ['1', '"ü"'], right: [`"${'x'.repeat(600)}"`] }
    expect(await world.store.keptInputs(id)).toEqual(kept)
    await again(world, id)
    await (await world.claimOne()).suspend()
    expect(await world.store.keptInputs(id)).toEqual(kept)
    await again(world, id)
    expect(await (await world.claimOne()).suspend(takes(0, 1))).toBe('conflict')
    await (await world.claimOne()).fail({ max: 3, backoff: { base: 1, cap: 1 } })
    expect(await world.store.keptInputs(id)).toEqual(kept)
    world.advance(10_000)
    await world.tick()
    const last = await world.claimOne()
    await last.commit({ end: 'checkpoint' })
    await last.suspend({ n: 1, ...takes(2, 1) })
    const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.inputs(id)))
    expect(JSON.parse(text!).of).toEqual({ left: ['=3'] })
    expect(await world.store.keptInputs(id)).toEqual({ left: ['3'] })
  },
  async 'inputs above 64 KiB are not kept, nor are many values'(world) {
    for (const values of [Array(3).fill(`"${'x'.repeat(30_000)}"`), Array(2_500).fill('1')]) {
      const id = await world.make({ in: { left: {} }, history: 1 })
      await world.push(id, 'left', ...values)
      const reads = { left: { cursor: 0, count: values.length } }
      await (await world.claimOne()).suspend({ reads })
      expect(await world.store.keptInputs(id)).toEqual({})
      expect(await world.values(id, 'in', 'left')).toEqual([])
    }
  },
  async 'other jobs keep no inputs, and values taken by other callers are not kept'(world) {
    const id = await world.make({ in: { left: {} }, out: { sum: {} }, history: 0 })
    const own = await world.make({ out: { sum: {} }, history: 1 })
    await world.push(id, 'left', '1')
    for (const run of await world.claim())
      await run.suspend({
        ops: [writes('sum', 1)],
        ...(run.id === id ? { reads: { left: { cursor: 0, count: 1 } } } : {}),
      })
    await again(world, own)
    const taken: Op = { op: 'read', from: { out: 'sum' }, cursor: 0, count: 1 }
    expect(await (await world.claimOne()).suspend({ ops: [taken] })).toBe('suspended')
    for (const one of [id, own]) expect(await world.store.keptInputs(one)).toBeNull()
  },
  async 'past runs are deleted with their job, even at its end'(world) {
    for (const retain of [0, 1]) {
      const id = await world.make({ in: { left: {} }, history: 1, retain })
      await world.push(id, 'left', '1', '2')
      const run = await world.claimOne()
      await run.commit({ end: 'checkpoint', reads: { left: { cursor: 0, count: 1 } } })
      expect(await world.store.keptInputs(id)).toEqual({ left: ['1'] })
      if (retain > 0) await world.change(id, 'terminate', '', '')
      await run.commit({ n: 1, reads: { left: { cursor: 1, count: 1 } } })
      if (retain > 0) await world.change(id, 'delete', '')
      expect(await world.client.ask((redis) => redis.keys(`${world.store.keys.job(id)}*`))).toEqual([])
    }
  },
}

async function record(world: World, run: Awaited<ReturnType<World['claimOne']>>, recorded: string, end = {}) {
  const settled = await run.settled({ end: 'suspended', ...end })
  const runs = [{ ...settled, words: [...settled.words, ...setRun.values({ recorded: recorded as Sealed })] }]
  return (await world.store.commit({ queue: '', runs })).answers[0]
}

const rule131: Facts = {
  async 'a job keeps the recorded values of its last run, and their bytes count for its size'(world) {
    const id = await world.make()
    expect(await record(world, await world.claimOne(), '{"small":1}')).toBe('suspended')
    const small = await world.document(id)
    expect(small.lastValues).toBe('{"small":1}')
    for (const size of [40_000, 20_000]) {
      await again(world, id)
      await record(world, await world.claimOne(), JSON.stringify('x'.repeat(size - 2)))
      const { lastValues, size: bytes } = (await world.store.inspect(String(id))).document
      expect(lastValues).toHaveLength(size)
      expect(Number.parseInt(bytes!, 10)).toBeGreaterThanOrEqual(size)
      expect(Number.parseInt(bytes!, 10)).toBeLessThan(size + 40_000 + 1_000)
    }
  },
  async 'a refused or lost run records no values, and a deleted job leaves none'(world) {
    const id = await world.make()
    const run = await world.claimOne({ lease: 5_000 })
    world.advance(6_000)
    await world.tick()
    expect(await record(world, run, '{"late":1}')).toBe('lost')
    world.advance(60_000)
    await world.tick()
    expect((await world.document(id)).lastValues).toBeUndefined()
    await record(world, await world.claimOne(), JSON.stringify('x'.repeat(2_000)), { end: 'completed' })
    expect((await world.document(id)).lastValues).toHaveLength(2_002)
    await world.change(id, 'terminate', '', '')
    await world.change(id, 'delete', '')
    expect(await world.client.ask((redis) => redis.keys(`${world.store.keys.job(id)}*`))).toEqual([])
  },
}

export const pastRuns: Record<number, Facts> = { 117: rule117, 118: rule118, 131: rule131 }
