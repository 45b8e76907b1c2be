// Rules 1–4: lanes and bells.

import { expect } from 'vitest'
import { type Facts, queuesOf, type World } from '../direct.ts'

const many = (world: World, n: number, job = {}) =>
  world.store.enqueue(Array.from({ length: n }, () => ({ queue: 'q', class: 'plain', known: true, ...job })))

async function fill(world: World, n: number) {
  await world.store.settings('q', { lanes: n, batch: 1 })
  const { rings } = await many(world, n)
  const lanes = rings.map(({ bell }) => ({ bell, lane: world.lane() }))
  const runs = []
  for (const { bell, lane } of lanes) runs.push(...(await lane.ask({ bell })).runs)
  return { lanes: lanes.map(({ lane }) => lane), runs }
}

const rule1: Facts = {
  async 'a lane takes the place of the bell that woke it'(world) {
    const { rings } = await many(world, 2)
    expect((await world.queueOf()).lanes).toBe(1)
    await world.lane().ask({ bell: rings[0]!.bell })
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'a bell delivered twice starts two lanes, which never get the same run'(world) {
    await world.store.settings('q', { batch: 2 })
    const { rings } = await many(world, 4)
    const one = await world.lane().ask({ bell: rings[0]!.bell })
    const other = await world.lane().ask({ bell: rings[0]!.bell })
    expect(new Set([...one.ids, ...other.ids]).size).toBe(4)
    expect((await world.queueOf()).lanes).toBeGreaterThanOrEqual(2)
  },
  async 'an unknown bell does nothing while the lanes are full'(world) {
    await fill(world, 2)
    await many(world, 1)
    const late = await world.lane().ask({ bell: 'bell-of-yesterday' })
    expect(late).toMatchObject({ word: 'full', ids: [], rings: [] })
    expect((await world.queueOf()).lanes).toBe(2)
  },
  async 'the same request of a lane again gets the same answers and the same runs'(world) {
    await many(world, 3)
    const lane = world.lane()
    const first = await lane.ask({ max: 1 })
    const again = await lane.ask({ max: 1, at: 1 })
    expect(again.runs.map(({ token }) => token)).toEqual(first.runs.map(({ token }) => token))
    const runs = [await first.runs[0]!.settled({ end: 'suspended' })]
    const second = await lane.ask({ max: 1, at: 2, runs })
    expect(second.answers).toEqual(['suspended'])
    const repeated = await lane.ask({ max: 1, at: 2, runs })
    expect(repeated.answers).toEqual(['suspended'])
    expect(repeated.ids).toEqual(second.ids)
    expect((await world.queueOf()).leases).toBe(1)
  },
  async 'a repeated request gets no run that is now leased to another lane'(world) {
    await many(world, 1)
    const lane = world.lane()
    await lane.ask()
    world.advance(46_000)
    await world.tick()
    world.advance(2_000)
    expect(await world.claim()).toHaveLength(1)
    expect(await lane.ask({ at: 1 })).toMatchObject({ word: 'ok', ids: [] })
  },
  async 'an older request of a lane is stale, and does nothing'(world) {
    await many(world, 2)
    const lane = world.lane()
    await lane.ask({ max: 1, at: 5 })
    expect(await lane.ask({ max: 1, at: 4 })).toMatchObject({ word: 'stale', ids: [] })
    expect((await world.queueOf()).leases).toBe(1)
  },
  async 'a lane that has left still gets its last answers again'(world) {
    const { rings } = await many(world, 1)
    const lane = world.lane()
    const { runs } = await lane.ask({ bell: rings[0]!.bell })
    const done = [await runs[0]!.settled({ end: 'completed' })]
    expect(await lane.ask({ at: 2, runs: done })).toMatchObject({ word: 'empty', answers: ['completed'] })
    expect((await world.queueOf()).lanes).toBe(0)
    expect(await lane.ask({ at: 2, runs: done })).toMatchObject({ word: 'empty', answers: ['completed'] })
    expect(await lane.ask({ at: 1 })).toMatchObject({ word: 'stale' })
    expect(await world.client.ask((redis) => redis.pttl(world.store.keys.lane(lane.id)))).toBeGreaterThan(50_000)
  },
}

const rule2: Facts = {
  async 'one bell rings per batch of ready jobs'(world) {
    const { rings } = await many(world, 201)
    expect(queuesOf(rings)).toEqual(['q', 'q', 'q'])
  },
  async 'never more bells ring than the queue has lanes'(world) {
    await world.store.settings('q', { lanes: 2, batch: 1 })
    expect((await many(world, 5)).rings).toHaveLength(2)
  },
  async 'a bell that has not arrived counts as a lane'(world) {
    expect((await many(world, 1)).rings).toHaveLength(1)
    expect((await many(world, 1)).rings).toHaveLength(0)
  },
  async 'a lost bell is rung again after 20 seconds'(world) {
    await many(world, 1)
    world.advance(19_000)
    expect(await world.tick()).toEqual([])
    world.advance(2_000)
    expect(queuesOf(await world.tick())).toEqual(['q'])
  },
  async 'a lane that finds more jobs than its batch can hold rings for the remaining jobs'(world) {
    await world.store.settings('q', { batch: 2 })
    const { rings: first } = await many(world, 1)
    for (let i = 0; i < 5; i++) expect((await many(world, 1)).rings).toEqual([])
    const { rings, ids } = await world.lane().ask({ bell: first[0]!.bell })
    expect(ids).toHaveLength(2)
    expect(queuesOf(rings)).toEqual(['q'])
  },
  async 'a bell that could not be published is taken back, and the tick rings again'(world) {
    const engine = world.engine({ workers: [] })
    await engine.workers.register('q', 'remote', { pull: false })
    await engine.jobs.enqueue([{ queue: 'q', class: 'remote' }])
    expect((await world.queueOf()).lanes).toBe(0)
    world.advance(21_000)
    expect(queuesOf(await world.tick())).toEqual(['q'])
  },
  async 'a lane lives for 45 seconds from its last request'(world) {
    await many(world, 1)
    const lane = world.lane()
    const [run] = (await lane.ask()).runs
    world.advance(40_000)
    await world.store.extend('q', [run!.token], 45_000, { lane: lane.id })
    world.advance(40_000)
    expect((await world.queueOf()).lanes).toBe(1)
    world.advance(6_000)
    expect((await world.queueOf()).lanes).toBe(0)
  },
  async 'a claim renews its lane'(world) {
    await world.store.settings('q', { lanes: 1, batch: 1 })
    const { rings } = await many(world, 3)
    const lane = world.lane()
    await lane.ask({ bell: rings[0]!.bell })
    world.advance(40_000)
    await lane.ask()
    world.advance(40_000)
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'an expired lane may still commit, but claims only if a lane is free'(world) {
    const { lanes, runs } = await fill(world, 1)
    world.advance(44_000)
    await runs[0]!.extend()
    world.advance(2_000)
    const { rings } = await many(world, 2)
    expect(rings).toHaveLength(1)
    await world.lane().ask({ bell: rings[0]!.bell })
    const answer = await lanes[0]!.ask({ runs: [await runs[0]!.settled({ end: 'completed' })] })
    expect(answer).toMatchObject({ word: 'full', answers: ['completed'], ids: [] })
  },
  async 'the jobs of a dead invocation run again within two minutes'(world) {
    await many(world, 1)
    await world.lane().ask()
    world.advance(60_000)
    await world.tick()
    world.advance(60_000)
    expect(queuesOf(await world.tick())).toEqual(['q'])
    expect(await world.claim()).toHaveLength(1)
  },
}

const rule3: Facts = {
  async 'a lane leaves only if no job is ready'(world) {
    await world.store.settings('q', { lanes: 1, batch: 2 })
    const { rings } = await many(world, 3)
    const lane = world.lane()
    const first = await lane.ask({ bell: rings[0]!.bell })
    const second = await lane.ask({ runs: await Promise.all(first.runs.map((run) => run.settled({}))) })
    expect(second).toMatchObject({ word: 'ok', ids: [expect.any(Number)] })
    expect((await world.queueOf()).lanes).toBe(1)
    expect(await lane.ask({ runs: [await second.runs[0]!.settled({})] })).toMatchObject({ word: 'empty' })
    expect(await world.queueOf()).toMatchObject({ ready: 0, lanes: 0, completed: 3 })
  },
  async 'a lane that found only entries of moved jobs continues'(world) {
    await many(world, 1)
    const stale = Array.from({ length: 1001 }, (_, i) => ({
      score: -1,
      member: `${String(i).padStart(13, '0')}:999999`,
    }))
    await world.client.ask((redis) => redis.zadd(`${world.store.keys.queue('q')}:ready`, stale[0]!, ...stale.slice(1)))
    const lane = world.lane()
    expect(await lane.ask()).toMatchObject({ word: 'more', ids: [] })
    expect((await world.queueOf()).lanes).toBeGreaterThan(0)
    expect((await lane.ask()).ids).toHaveLength(1)
  },
  async 'a bell replaces a lane at the end of its time'(world) {
    await world.store.settings('q', { lanes: 1, batch: 1 })
    const { rings } = await many(world, 2)
    const lane = world.lane()
    const { runs } = await lane.ask({ bell: rings[0]!.bell })
    const last = await lane.ask({ leave: true, runs: [await runs[0]!.settled({ end: 'completed' })] })
    expect(last).toMatchObject({ word: 'empty', ids: [] })
    expect(queuesOf(last.rings)).toEqual(['q'])
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'a lane that leaves while jobs wait for a rate rings for the next start, if it is near'(world) {
    for (const [period, rung] of [
      [40_000, ['q']],
      [120_000, []],
    ] as const) {
      const limit = { key: `every ${period}`, how: 'set' as const, rate: { limit: 1, period } }
      await world.make({ limits: [limit] })
      await world.make({ limits: [limit] })
      const lane = world.lane()
      const { runs } = await lane.ask()
      expect(runs).toHaveLength(1)
      world.advance(21_000)
      const last = await lane.ask({ leave: true, runs: [await runs[0]!.settled({ end: 'completed' })] })
      expect(queuesOf(last.rings.filter(({ at }) => at === undefined))).toEqual(rung)
      world.advance(300_000)
      for (const run of await world.claim()) await run.commit()
    }
  },
  async 'a lane that leaves an empty queue rings no bell'(world) {
    await many(world, 1)
    const lane = world.lane()
    const { runs } = await lane.ask()
    const last = await lane.ask({ leave: true, runs: [await runs[0]!.settled({ end: 'completed' })] })
    expect(last.rings).toEqual([])
  },
  async 'jobs of pull workers ring no bell, and no lane gets them'(world) {
    await world.store.register('q', [{ name: 'plain', definition: '{"pull":true}', serves: 'pull' }])
    const { rings } = await many(world, 1)
    expect(rings).toEqual([])
    expect(await world.lane().ask()).toMatchObject({ word: 'empty', ids: [] })
    expect(await world.claim({ pull: true })).toHaveLength(1)
  },
  async 'a job with a tag waits for pull workers, even after lanes begin to serve its class'(world) {
    const made = world.store.enqueue([{ queue: 'q', class: 'plain', known: true, tag: 'rare' }])
    await expect(made).rejects.toMatchObject({ code: 'REFUSED', path: ['tag'] })
    const id = await world.make({ pull: true, tag: 'rare' })
    expect(await world.claim({ pull: true })).toEqual([])
    await world.store.register('q', [{ name: 'plain', definition: '{}', serves: 'push' }])
    expect(await world.queueOf()).toMatchObject({ ready: 0, pull: 1 })
    const claim = { max: 1, lease: 45_000, begun: 1, pull: true, tags: ['rare'] }
    expect((await world.store.commit({ queue: 'q', claim })).claimed.map((claimed) => claimed.id)).toEqual([id])
  },
  async 'the job of a pull worker waits for pull workers again when it is repeated'(world) {
    const id = await world.make({ pull: true, in: { in: {} } })
    await (await world.claimOne({ pull: true })).suspend()
    await world.push(id, 'in', '1')
    expect(await world.claim()).toEqual([])
    expect((await world.claimOne({ pull: true })).id).toBe(id)
  },
  async 'a registration moves the waiting jobs of its class to its new place'(world) {
    await many(world, 3, { class: 'moving' })
    await world.store.register('q', [{ name: 'moving', definition: '{"pull":true}', serves: 'pull' }])
    expect(await world.queueOf()).toMatchObject({ ready: 0, pull: 3 })
    world.advance(60_000)
    await world.tick()
    const served = { name: 'moving', definition: '{}', serves: 'push' as const }
    expect(queuesOf((await world.store.register('q', [served])).rings)).toEqual(['q'])
    expect(await world.queueOf()).toMatchObject({ ready: 3, pull: 0 })
  },
  async 'a change of a queue’s mode moves its waiting jobs, and the reverse change moves them back'(world) {
    await many(world, 3)
    await world.store.settings('q', { mode: 'pull' })
    expect(await world.queueOf()).toMatchObject({ ready: 0, pull: 3 })
    world.advance(60_000)
    await world.tick()
    const { rings } = await world.store.settings('q', { mode: 'push' })
    expect(await world.queueOf()).toMatchObject({ ready: 3, pull: 0 })
    expect(queuesOf(rings)).toEqual(['q'])
  },
  async 'a job that is suspended while its class moves goes to the new place when it wakes'(world) {
    const id = await world.make({ in: { in: {} }, at: world.now() + 10_000 })
    await world.store.register('q', [{ name: 'plain', definition: '{"pull":true}', serves: 'pull' }])
    world.advance(10_001)
    const [run] = await world.claim({ pull: true })
    await run!.suspend()
    await world.store.register('q', [{ name: 'plain', definition: '{}', serves: 'push' }])
    await world.push(id, 'in', '1')
    expect(await world.queueOf()).toMatchObject({ ready: 1, pull: 0 })
  },
  async 'any number of waiting jobs is moved: some at once, and the remaining jobs by ticks'(world) {
    // Jobs with `keepResult` are never packed into one record.
    for (let n = 0; n < 3; n++) await many(world, 1_500, { class: 'moving', keepResult: 5 })
    await many(world, 1_500, { class: 'staying' })
    await world.store.register('q', [{ name: 'moving', definition: '{"pull":true}', serves: 'pull' }])
    expect((await world.queueOf()).pull).toBeGreaterThanOrEqual(2_500)
    for (let n = 0; n < 10; n++) await world.tick()
    expect(await world.queueOf()).toMatchObject({ ready: 1_500, pull: 4_500 })
    const ids = (await world.claim({ pull: true, max: 100 })).map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  },
}

async function resting(world: World, making = {}) {
  const parent = await world.make({ queue: 'other', ...making })
  const run = await world.claimOne({ queue: 'other' })
  const spawn = { op: 'spawn' as const, name: 'a', queue: 'q', class: 'child' }
  return { parent, run, spawn }
}

const rule4: Facts = {
  async 'the end of a child rings for its parent in another queue'(world) {
    const { parent, run, spawn } = await resting(world)
    await run.suspend({ ops: [spawn] })
    world.advance(60_000)
    await world.tick()
    const child = await world.claimOne()
    const { rings } = await world.store.commit({ queue: 'q', runs: [await child.settled({})] })
    expect(queuesOf(rings)).toEqual(['other'])
    expect(await world.status(parent)).toBe('queued')
  },
  async 'the last of the awaited children rings for its parent in another queue'(world) {
    const { parent, run, spawn } = await resting(world)
    await run.suspend({ ops: [spawn], waitFor: 'children' })
    world.advance(60_000)
    await world.tick()
    const child = await world.claimOne()
    const { rings } = await world.store.commit({ queue: 'q', runs: [await child.settled({})] })
    expect(queuesOf(rings)).toEqual(['other'])
    expect(await world.status(parent)).toBe('queued')
  },
  async 'a child terminated from outside rings for the parent that waits for it'(world) {
    const { run, spawn } = await resting(world)
    await run.suspend({ ops: [spawn], waitFor: 'children' })
    world.advance(60_000)
    await world.tick()
    const [child] = (await world.store.list({ mode: 'all', queue: 'q', limit: 1 })).jobs
    const { rings } = await world.store.change(String(child!.id), [['terminate', '', '']])
    expect(queuesOf(rings)).toEqual(['other'])
  },
  async 'a message rings for every queue that has a subscriber'(world) {
    await world.make({ queue: 'other', in: { news: { channels: ['/a'] } } })
    const subscriber = await world.claimOne({ queue: 'other' })
    await subscriber.suspend()
    world.advance(60_000)
    await world.tick()
    await world.make()
    const run = await world.claimOne()
    const publish = { op: 'publish' as const, channel: '/a/b', message: '1' as never }
    const { rings } = await world.store.commit({ queue: 'q', runs: [await run.settled({ ops: [publish] })] })
    expect(queuesOf(rings)).toEqual(['other'])
  },
  async 'a change of status rings for the job in another queue that listens to it'(world) {
    await world.make({ queue: 'other', quiet: true, in: { news: { channels: ['/sidejob'] } } })
    const listener = await world.claimOne({ queue: 'other' })
    await listener.suspend()
    world.advance(60_000)
    await world.tick()
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])
    expect(queuesOf(rings)).toEqual(['other', 'q'])
  },
}

export const lanes: Record<number, Facts> = { 1: rule1, 2: rule2, 3: rule3, 4: rule4 }
