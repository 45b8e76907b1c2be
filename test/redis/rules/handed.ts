// Rule 92: a job that is created in an empty queue is leased in the same call. Rule 93: if a queue has few runs, the
// record of the queue contains their leases. Rule 94: a lane does not read an index that is counted as empty. Rule 98:
// the effects of runs are written before a claim that must see them.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Op } from '../../../src/core/run.ts'
import { LANE_MARK } from '../../../src/redis/store.ts'
import { type Facts, queuesOf, type World } from '../direct.ts'
import { callsTo, WARM, warmed } from './warm.ts'

const UNPACKED = { history: 3 }
const make = (world: World) => world.make(UNPACKED)
const many = (world: World, n: number, more: object = UNPACKED) =>
  world.store.enqueue(Array.from({ length: n }, () => ({ queue: 'q', class: 'plain', known: true, ...more })))

const lentBy = (world: World, calls: string[]) => world.runOf(calls.flatMap(world.store.lentByCall)[0]!)
const tokenOf = async (world: World, id: number) => (await world.document(id)).token!

const rule92: Facts = {
  async 'a job is leased to the waiting lane, and the call brings it'(world) {
    const lane = await warmed(world)
    let id = 0
    const calls = await callsTo(
      world,
      lane,
      async () => (id = await world.make({ ...UNPACKED, args: '{"n":1}' as never })),
    )
    expect(calls).toHaveLength(1)
    const run = lentBy(world, calls)
    expect(run.snapshot.job).toMatchObject({ id, args: '{"n":1}' })
    expect(await world.status(id)).toBe('running')
    const done = await run.settled({ end: 'completed' })
    expect(await lane.ask({ heard: [run.token], runs: [done], warm: WARM })).toMatchObject({
      word: 'warm',
      answers: ['completed'],
      ids: [],
    })
  },
  async 'the token of a leased job names its lane'(world) {
    const lane = await warmed(world)
    expect((await tokenOf(world, await make(world))).split('.')[2]!.slice(0, LANE_MARK)).toBe(
      lane.id.slice(0, LANE_MARK),
    )
  },
  async 'a lane that missed the call gets the job with its next answer, and again if it repeats the request'(world) {
    const lane = await warmed(world)
    const id = await make(world)
    expect(await lane.ask({ at: 2, warm: WARM })).toMatchObject({ word: 'ok', ids: [id] })
    expect(await lane.ask({ at: 2, warm: WARM })).toMatchObject({ word: 'ok', ids: [id] })
  },
  async 'a lane that received the call gets no job twice'(world) {
    const lane = await warmed(world)
    const heard = [await tokenOf(world, await make(world))]
    expect(await lane.ask({ heard, warm: WARM })).toMatchObject({ word: 'warm', ids: [] })
    expect((await lane.ask({ warm: WARM })).ids).toEqual([])
  },
  async 'jobs that arrive before the lane answers a call are leased to the lane too'(world) {
    const lane = await warmed(world)
    const ids = [await make(world), await make(world), await make(world)]
    const heard = [await tokenOf(world, ids[1]!)]
    expect((await lane.ask({ heard, warm: WARM })).ids).toEqual([ids[0], ids[2]])
  },
  async 'a committing lane receives recent leases, or gets them with a later commit'(world) {
    const lane = await warmed(world)
    await many(world, 3)
    const runs = (await lane.ask({ warm: WARM })).runs
    const done = await Promise.all(runs.map((run) => run.settled({ end: 'completed' })))
    expect((await lane.ask({ runs: [done[0]!], warm: WARM })).word).toBe('warm')
    const id = await make(world)
    expect(await lane.ask({ runs: [done[1]!], warm: WARM })).toMatchObject({ word: 'warm', ids: [] })
    world.advance(1_100)
    expect((await lane.ask({ runs: [done[2]!], warm: WARM })).ids).toEqual([id])
  },
  async 'a lane that would leave with its last run gets all its leases'(world) {
    const lane = await warmed(world)
    await make(world)
    const [run] = (await lane.ask({ warm: WARM })).runs
    expect((await lane.ask({ warm: WARM })).word).toBe('warm')
    const id = await make(world)
    expect((await lane.ask({ leave: true, runs: [await run!.settled({ end: 'completed' })] })).ids).toEqual([id])
  },
  async 'a leaving lane gets the leases that it has not received'(world) {
    const lane = await warmed(world)
    const id = await make(world)
    expect((await lane.ask({ leave: true })).ids).toEqual([id])
  },
  async 'a lease that was not received is taken back as soon as a lost bell is, and no run is counted'(world) {
    await warmed(world)
    const id = await make(world)
    const token = await tokenOf(world, id)
    world.advance(19_000)
    expect(await world.tick()).toEqual([])
    world.advance(2_000)
    expect((await world.queueOf()).lanes).toBe(0)
    expect(queuesOf(await world.tick())).toEqual(['q'])
    const { token: none, backoffUntil, lostInARow, lostRuns } = await world.document(id)
    expect({ none, backoffUntil, lostInARow, lostRuns }).toEqual({ lostInARow: 0 })
    const late = [{ token, n: 0, end: 'completed' as const, words: [] }]
    expect((await world.store.commit({ queue: '', runs: late })).answers).toEqual(['lost'])
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'a lane that has not answered a call for two seconds is called to fetch its jobs'(world) {
    const lane = await warmed(world)
    const first = await make(world)
    world.advance(3_000)
    let second = 0
    expect(await callsTo(world, lane, async () => (second = await make(world)))).toEqual(['ready'])
    expect(await world.status(second)).toBe('queued')
    expect((await lane.ask({ warm: WARM })).ids.sort()).toEqual([first, second])
  },
  async 'at most sixteen jobs are leased in this way before the lane answers'(world) {
    const lane = await warmed(world)
    await many(world, 15)
    const calls = await callsTo(world, lane, async () => {
      await make(world)
      await make(world)
    })
    expect(calls.map((call) => call.split('\t')[0])).toEqual(['lent', 'ready'])
    expect((await lane.ask({ warm: WARM })).ids).toHaveLength(17)
  },
  async 'a job after other jobs is not leased before them'(world) {
    const lane = await warmed(world)
    await many(world, 17)
    const record = { ...(await world.queueDocument()), wm: `${lane.id} ${world.now() + WARM}` }
    await world.client.ask((redis) => redis.set(world.store.keys.queue('q'), JSON.stringify(record)))
    expect(await callsTo(world, lane, () => make(world))).toEqual(['ready'])
    expect((await world.queueOf()).ready).toBe(18)
  },
  async 'no job is leased to a lane that has left'(world) {
    const lane = await warmed(world)
    await lane.ask({ leave: true })
    expect(await world.status(await make(world))).toBe('queued')
  },
  async 'a paused queue leases no job'(world) {
    const lane = await warmed(world)
    await world.store.settings('q', { paused: true })
    expect(await world.status(await make(world))).toBe('queued')
    expect((await lane.ask({ warm: WARM })).ids).toEqual([])
  },
  async 'jobs whose runs make calls wait until the lane reports its capacity'(world) {
    await world.store.register('q', [{ name: 'plain', definition: '{"push":{}}', serves: 'call' }])
    const lane = await warmed(world)
    expect(await callsTo(world, lane, () => make(world))).toEqual(['ready'])
    expect((await world.queueOf()).ready).toBe(1)
  },
  async 'pieces are not split for a call'(world) {
    const lane = await warmed(world)
    expect(await callsTo(world, lane, () => many(world, 12, {}))).toEqual(['ready'])
    expect((await lane.ask({ warm: WARM })).ids).toHaveLength(12)
  },
  async 'a job takes its slot, and the next job waits for the slot'(world) {
    const lane = await warmed(world)
    const limits = [{ key: 'k', how: 'set' as const, concurrency: 1 }]
    const calls = await callsTo(world, lane, () => many(world, 2, { limits }))
    expect((await world.store.limits('k'))[0]).toMatchObject({ running: 1, waiting: 1 })
    expect(calls).toHaveLength(1)
    await lentBy(world, calls).commit()
    expect((await world.store.limits('k'))[0]).toMatchObject({ running: 0, waiting: 0 })
  },
  async 'the call only announces a large job'(world) {
    const lane = await warmed(world)
    const most = 'x'.repeat(480)
    const large = { ...UNPACKED, args: JSON.stringify(most), createdBy: most, by: most, retry: most }
    let made: { id: number }[] = []
    const calls = await callsTo(world, lane, async () => (made = (await many(world, 16, large)).made))
    expect(
      (await world.client.ask((redis) => redis.get<string>(world.store.keys.job(made[0]!.id))))!.length,
    ).toBeGreaterThan(2_048)
    expect(calls).toEqual(['ready'])
    expect((await lane.ask({ warm: WARM })).ids).toEqual(made.map(({ id }) => id))
  },
  async 'a run that reads more than its document requests the rest'(world) {
    const lane = await warmed(world)
    const value = JSON.stringify('x'.repeat(600))
    const calls = await callsTo(world, lane, () => world.make({ ...UNPACKED, args: value as never }))
    expect(calls).toEqual(['ready'])
    expect((await lane.ask({ warm: WARM })).runs[0]!.snapshot.job.args).toBe(value)
  },
  async 'a job that is leased at once is counted without a waiting time'(world) {
    await warmed(world)
    await make(world)
    expect((await world.queueDocument()).wh?.[0]).toBe(1)
  },
  async 'the same request again leases nothing, and calls no lane'(world) {
    const lane = await warmed(world)
    const once = { key: 'twice', period: 60_000, fingerprint: '' }
    const job = { queue: 'q', class: 'plain', known: true, ...UNPACKED }
    const calls = await callsTo(world, lane, async () => {
      await world.store.enqueue([job], once)
      expect((await world.store.enqueue([job], once)).again).toBe(true)
    })
    expect(calls).toHaveLength(1)
    expect((await lane.ask({ warm: WARM })).ids).toHaveLength(1)
  },
  async 'each of several queues calls its own lane'(world) {
    const lane = await warmed(world)
    const calls = await callsTo(world, lane, () =>
      world.store.enqueue(['q', 'other'].map((queue) => ({ queue, class: 'plain', known: true, ...UNPACKED }))),
    )
    expect(calls.flatMap(world.store.lentByCall)).toHaveLength(1)
    expect((await world.queueOf('other')).ready).toBe(1)
  },
}

const inIndex = (world: World) => world.client.ask((redis) => redis.zcard(`${world.store.keys.queue('q')}:leases`))
const inDocument = async (world: World) => Object.keys((await world.queueDocument()).ls ?? {}).length
async function lend(world: World, n: number) {
  await many(world, n)
  return world.claim()
}

const rule93: Facts = {
  async 'up to sixteen leases are in the document, and are removed when their runs end'(world) {
    const runs = await lend(world, 16)
    expect([await inDocument(world), await inIndex(world)]).toEqual([16, 0])
    for (const run of runs) await run.commit()
    expect([await inDocument(world), await inIndex(world)]).toEqual([0, 0])
  },
  async 'more leases of one call are all in the index'(world) {
    await lend(world, 17)
    expect([await inDocument(world), await inIndex(world)]).toEqual([0, 17])
  },
  async 'leases without room in the document are in the index'(world) {
    await lend(world, 10)
    await lend(world, 10)
    expect([await inDocument(world), await inIndex(world)]).toEqual([10, 10])
  },
  async 'a renewed lease stays in place'(world) {
    const [run, ...others] = await lend(world, 17)
    for (const other of others) await other.commit()
    await run!.extend()
    expect([await inDocument(world), await inIndex(world)]).toEqual([0, 1])
    const [few] = await lend(world, 1)
    await few!.extend(60_000)
    world.advance(50_000)
    await world.tick()
    expect(await world.status(few!.id)).toBe('running')
    expect([await inDocument(world), await inIndex(world)]).toEqual([1, 0])
  },
  async 'each lease is taken back when it ends'(world) {
    await many(world, 3)
    const [short] = await world.claim({ max: 1, lease: 10_000 })
    const [long] = await world.claim({ max: 1, lease: 45_000 })
    const [longest] = await world.claim({ max: 1, lease: 90_000 })
    world.advance(11_000)
    await world.tick()
    expect([await world.status(short!.id), await world.status(long!.id)]).toEqual(['queued', 'running'])
    world.advance(35_000)
    await world.tick()
    expect([await world.status(long!.id), await world.status(longest!.id)]).toEqual(['queued', 'running'])
    expect(await inDocument(world)).toBe(1)
  },
  async 'lists show the runs of both kinds of leases'(world) {
    const runs = [...(await lend(world, 10)), ...(await lend(world, 10))]
    const ids = runs.map(({ id }) => id).sort((a, b) => a - b)
    const sorted = (list: number[]) => list.sort((a, b) => a - b)
    const { jobs } = await world.store.list({ mode: 'all', queue: 'q', status: 'running', limit: 50 })
    expect(sorted(jobs.map(({ id }) => id))).toEqual(ids)
    expect(sorted((await world.store.atWork(50)).runs.map(({ job }) => job))).toEqual(ids)
    expect(sorted((await world.store.near('q', 50))!.runs.map(({ job }) => job))).toEqual(ids)
    expect((await world.queueOf()).leases).toBe(20)
  },
}

const rule94: Facts = {
  async 'a starting lane checks the queue, whatever its counts are'(world) {
    const id = await make(world)
    const record = { ...(await world.queueDocument()), at: {} }
    await world.client.ask((redis) => redis.set(world.store.keys.queue('q'), JSON.stringify(record)))
    const lane = world.lane()
    expect((await lane.ask()).ids).toEqual([id])
  },
  async 'a lane gets ready jobs with its commit, including jobs made ready by it'(world) {
    await many(world, 2)
    const lane = world.lane()
    const [first] = (await lane.ask({ max: 1 })).runs
    const again = await lane.ask({ max: 1, runs: [await first!.settled({ end: 'completed' })] })
    expect(again.ids).toHaveLength(1)
    const more = await lane.ask({ runs: [await again.runs[0]!.settled({ end: 'again' })] })
    expect(more.ids).toEqual(again.ids)
  },
  async 'a due job is leased with a commit'(world) {
    const id = await world.make({ ...UNPACKED, wait: 5_000 } as never)
    await make(world)
    const lane = world.lane()
    const [run] = (await lane.ask()).runs
    world.advance(6_000)
    expect((await lane.ask({ runs: [await run!.settled({ end: 'completed' })] })).ids).toEqual([id])
  },
}

const large = JSON.stringify('x'.repeat(600)) as Encoded

const rule98: Facts = {
  async 'a claim sees values that earlier runs wrote to a ready job'(world) {
    await make(world)
    const lane = world.lane()
    const [writer] = (await lane.ask()).runs
    const id = await world.make({ ...UNPACKED, in: { in: {} } })
    const write: Op = { op: 'write', to: { job: id, in: 'in' }, values: [large, large] }
    const { runs } = await lane.ask({ runs: [await writer!.settled({ ops: [write] })] })
    expect(runs.map((run) => run.claimed.inputs.in!.map((item) => item.includes(large)))).toEqual([[true, true]])
  },
}

export const handed: Record<number, Facts> = { 92: rule92, 93: rule93, 94: rule94, 98: rule98 }
