// Rule 80: pull workers that claim under a name.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const MINUTE = 60_000
const only = async (world: World) => (await world.store.atWork(100)).processes[0]!
const ask = (world: World, process: string, queue = 'q') => world.claim({ queue, pull: true, process })

const heard: Facts = {
  async 'a named program is known, with the queues of its claims'(world) {
    await ask(world, 'a:1')
    await ask(world, 'a:1', 'other')
    expect(await only(world)).toMatchObject({ name: 'a:1', signal: null, queues: ['q', 'other'] })
  },
  async 'an unnamed program is unknown'(world) {
    await world.claim({ pull: true })
    expect((await world.store.atWork(100)).processes).toEqual([])
  },
  async 'the contact time of a process is stored at most every five seconds'(world) {
    await ask(world, 'a:1')
    const { since, seenAt } = await only(world)
    world.advance(4_000)
    await ask(world, 'a:1')
    expect(await only(world)).toMatchObject({ since, seenAt })
    world.advance(2_000)
    await ask(world, 'a:1')
    expect((await only(world)).seenAt).toBeGreaterThanOrEqual(since + 6_000)
    expect((await only(world)).since).toBe(since)
  },
  async 'the runs of a process are known until they end'(world) {
    const id = await world.make({ pull: true })
    const [run] = await ask(world, 'a:1')
    expect((await world.store.atWork(100)).runs).toMatchObject([{ job: id, process: 'a:1' }])
    await run!.suspend()
    expect((await world.document(id)).process).toBeUndefined()
  },
  async 'a heartbeat of a run counts as contact with its process'(world) {
    await world.make({ pull: true })
    const [run] = await ask(world, 'a:1')
    world.advance(20_000)
    expect(await world.store.heartbeat(run!.token, MINUTE)).toEqual({ leaseUntil: expect.any(Number) })
    expect((await only(world)).seenAt).toBeGreaterThanOrEqual((await only(world)).since + 20_000)
  },
  async 'the history of a job names the process of each run'(world) {
    const id = await world.make({ pull: true, history: 5 })
    const [run] = await ask(world, 'a:1')
    await run!.suspend()
    expect(await world.engine().jobs.runs(String(id))).toMatchObject({ runs: [{ by: 'a:1' }] })
  },
  async 'a process without contact for ten minutes starts again without earlier signals'(world) {
    await ask(world, 'a:1')
    const { since } = await only(world)
    await world.store.signal('a:1', 'quiet')
    world.advance(11 * MINUTE)
    await ask(world, 'a:1')
    expect(await only(world)).toMatchObject({ signal: null })
    expect((await only(world)).since).toBeGreaterThan(since + 10 * MINUTE)
  },
  async 'a thousand processes are known, and new processes replace silent ones'(world) {
    const beats = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`old:${i}`, `${world.now()},${world.now()},`]),
    )
    await world.client.ask((redis) => redis.hset(world.store.keys.processes, beats))
    await ask(world, 'new:1')
    expect((await world.store.atWork(100)).processes).toHaveLength(1_000)
    world.advance(11 * MINUTE)
    await ask(world, 'new:1')
    expect(await only(world)).toMatchObject({ name: 'new:1' })
    expect((await world.store.atWork(100)).processes).toHaveLength(1)
  },
  async 'a working lane is listed, and its bells are not'(world) {
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])
    expect((await world.store.atWork(100)).lanes).toEqual([])
    const lane = world.lane()
    const { ids } = await lane.ask({ bell: rings[0]!.bell })
    const { lanes, runs } = await world.store.atWork(100)
    expect(lanes).toMatchObject([{ queue: 'q', lane: lane.id }])
    expect(runs.map(({ job }) => job)).toEqual(ids)
    expect(runs[0]!.token.split('.')[2]!.slice(0, 6)).toBe(lane.id.slice(0, 6))
  },
  async 'the number of shown runs is bounded, and more are reported'(world) {
    for (let i = 0; i < 3; i++) await world.make()
    await world.claim()
    expect(await world.store.atWork(2)).toMatchObject({ runs: [{}, {}], more: true })
    expect(await world.store.atWork(3)).toMatchObject({ runs: [{}, {}, {}], more: false })
  },
  async 'runs of many queues are shown, of queues with few and with many runs'(world) {
    const made: number[] = []
    for (const [queue, n] of Object.entries({ a: 1, b: 20, c: 40, d: 20 }))
      for (let i = 0; i < n; i++) made.push(await world.make({ queue }))
    for (const queue of ['a', 'b', 'c', 'd']) await world.claim({ queue, max: 100 })
    const shown = async (most: number) => {
      const { runs, more } = await world.store.atWork(most)
      return { jobs: new Set(runs.map(({ job }) => job)).size, more }
    }
    expect(await shown(30)).toEqual({ jobs: 30, more: true })
    expect(await shown(80)).toEqual({ jobs: 80, more: true })
    expect(await shown(81)).toEqual({ jobs: 81, more: false })
    expect(new Set((await world.store.atWork(81)).runs.map(({ job }) => job))).toEqual(new Set(made))
  },
}

const told: Facts = {
  async 'a quiet process gets no jobs until it is resumed'(world) {
    await world.make({ pull: true })
    await ask(world, 'a:1', 'other')
    expect(await world.store.signal('a:1', 'quiet')).toBe(true)
    expect(await ask(world, 'a:1')).toEqual([])
    await world.store.signal('a:1', null)
    expect(await ask(world, 'a:1')).toHaveLength(1)
  },
  async 'another process gets the job of a quiet process'(world) {
    await world.make({ pull: true })
    await ask(world, 'a:1', 'other')
    await world.store.signal('a:1', 'stop')
    expect(await ask(world, 'b:2')).toHaveLength(1)
  },
  async 'a waiting quiet process is not called for a job that another process could take'(world) {
    await ask(world, 'a:1')
    await world.store.signal('a:1', 'quiet')
    const waiter = { id: 'w', wait: MINUTE }
    const claim = { max: 1, lease: MINUTE, pull: true, process: 'a:1', waiter }
    expect(await world.store.commit({ queue: 'q', claim })).toMatchObject({ signal: 'quiet' })
    expect(await world.client.ask((redis) => redis.zcard(`${world.store.keys.queue('q')}:waiters`))).toBe(0)
  },
  async 'a signal is returned with each claim, and with a heartbeat of a run'(world) {
    await world.make({ pull: true })
    const [run] = await ask(world, 'a:1')
    await world.store.signal('a:1', 'stop')
    const claim = { max: 1, lease: MINUTE, pull: true, process: 'a:1' }
    expect(await world.store.commit({ queue: 'q', claim })).toMatchObject({ signal: 'stop' })
    expect(await world.store.heartbeat(run!.token, MINUTE)).toMatchObject({ signal: 'stop' })
  },
  async 'an unknown name is reported as unknown'(world) {
    expect(await world.store.signal('a:1', 'stop')).toBe(false)
  },
}

export const processes: Record<number, Facts> = { 80: heard, 81: told }
