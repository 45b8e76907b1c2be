// Rule 83: if a queue often has work, its idle lane waits for the next job.

import { expect } from 'vitest'
import { type Facts, queuesOf, type World } from '../direct.ts'

export const WARM = 10_000

const make = (world: World, n = 1) =>
  world.store.enqueue(Array.from({ length: n }, () => ({ queue: 'q', class: 'plain', known: true })))

export async function warmed(world: World) {
  await world.lane().ask({ warm: WARM })
  world.advance(1_000)
  const lane = world.lane()
  expect(await lane.ask({ warm: WARM })).toMatchObject({ word: 'warm', ids: [] })
  return lane
}

export async function callsTo(world: World, lane: { id: string }, work: () => Promise<unknown>): Promise<string[]> {
  const over = new AbortController()
  const calls = world.client.listen(world.store.keys.calls(lane.id), over.signal)[Symbol.asyncIterator]()
  await calls.next()
  const heard: string[] = []
  const hearing = (async () => {
    for (let call = await calls.next(); !call.done; call = await calls.next()) heard.push(call.value)
  })().catch(() => undefined)
  await work()
  // Messages arrive in order, so all earlier messages have arrived before this message.
  await world.client.ask((redis) => redis.publish(world.store.keys.calls(lane.id), 'end'))
  while (!heard.includes('end')) await new Promise((resolve) => setTimeout(resolve, 5))
  over.abort()
  await hearing
  return heard.slice(0, -1)
}

const rule83: Facts = {
  async 'a lane leaves a queue that has been empty for long'(world) {
    const lane = world.lane()
    expect(await lane.ask({ warm: WARM })).toMatchObject({ word: 'empty' })
    world.advance(WARM)
    expect(await world.lane().ask({ warm: WARM })).toMatchObject({ word: 'empty' })
    expect((await world.queueOf()).lanes).toBe(0)
  },
  async 'a lane waits if the queue became empty a moment ago, and keeps its place'(world) {
    await warmed(world)
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'a lane that does not request a wait leaves'(world) {
    await world.lane().ask({ warm: WARM })
    expect(await world.lane().ask()).toMatchObject({ word: 'empty' })
  },
  async 'one lane of a queue waits, and the other lanes leave'(world) {
    await warmed(world)
    expect(await world.lane().ask({ warm: WARM })).toMatchObject({ word: 'empty' })
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'a waiting lane continues to wait'(world) {
    const lane = await warmed(world)
    expect(await lane.ask({ warm: WARM })).toMatchObject({ word: 'warm' })
  },
  async 'a lane of a paused queue leaves'(world) {
    await world.lane().ask({ warm: WARM })
    await world.store.settings('q', { paused: true })
    expect(await world.lane().ask({ warm: WARM })).toMatchObject({ word: 'empty' })
  },
  async 'a job calls the waiting lane, and rings no bell'(world) {
    const lane = await warmed(world)
    let rings: unknown[] = []
    expect(await callsTo(world, lane, async () => (rings = (await make(world)).rings))).toHaveLength(1)
    expect(rings).toEqual([])
    expect((await lane.ask({ warm: WARM })).ids).toHaveLength(1)
  },
  async 'a waiting lane is called once, for any number of jobs before its answer'(world) {
    const lane = await warmed(world)
    const calls = await callsTo(world, lane, async () => {
      expect((await make(world, 20)).rings).toEqual([])
      expect((await make(world, 20)).rings).toEqual([])
    })
    expect(calls).toHaveLength(1)
  },
  async 'a lane is called again when it waits again'(world) {
    const lane = await warmed(world)
    const calls = await callsTo(world, lane, async () => {
      await make(world)
      const { runs } = await lane.ask({ warm: WARM })
      const done = [await runs[0]!.settled({ end: 'completed' })]
      expect(await lane.ask({ warm: WARM, runs: done })).toMatchObject({ word: 'warm' })
      await make(world)
    })
    expect(calls).toHaveLength(2)
  },
  async 'more jobs than a batch ring for the missing lanes'(world) {
    const lane = await warmed(world)
    let rings: unknown[] = []
    expect(await callsTo(world, lane, async () => (rings = (await make(world, 250)).rings))).toEqual(['ready'])
    expect(rings).toHaveLength(2)
  },
  async 'for runs that make calls, a waiting lane counts as one of the needed lanes'(world) {
    await world.store.register('q', [{ name: 'plain', definition: '{"push":{}}', serves: 'call' }])
    const lane = await warmed(world)
    expect((await make(world, 8)).rings).toHaveLength(1)
    expect((await world.queueOf()).lanes).toBe(2)
    expect((await lane.ask({ warm: WARM })).word).toBe('ok')
  },
  async 'the tick finds a lost call like a lost bell'(world) {
    await warmed(world)
    await make(world)
    world.advance(19_000)
    expect(await world.tick()).toEqual([])
    world.advance(2_000)
    expect(queuesOf(await world.tick())).toEqual(['q'])
  },
  async 'a lane past its waiting time is not called'(world) {
    await warmed(world)
    world.advance(WARM + 1)
    world.advance(20_000)
    expect(queuesOf((await make(world)).rings)).toEqual(['q'])
  },
  async 'a lane that has left is not called'(world) {
    const lane = await warmed(world)
    await lane.ask({ leave: true })
    expect(queuesOf((await make(world)).rings)).toEqual(['q'])
  },
  async 'a lane that ends while jobs arrive rings for the next lane'(world) {
    const lane = await warmed(world)
    expect(queuesOf((await lane.ask({ leave: 'next' })).rings)).toEqual(['q'])
  },
  async 'the next lane waits even if it has found no job'(world) {
    const lane = await warmed(world)
    const { rings } = await lane.ask({ leave: 'next' })
    expect(await world.lane().ask({ bell: rings[0]!.bell, warm: WARM })).toMatchObject({ word: 'warm' })
    expect((await world.queueOf()).lanes).toBe(1)
  },
  async 'a repeated request of a waiting lane gets the same answer'(world) {
    const lane = await warmed(world)
    expect(await lane.ask({ at: 1, warm: WARM })).toMatchObject({ word: 'warm' })
    expect((await make(world)).rings).toEqual([])
  },
}

export const warm: Record<number, Facts> = { 83: rule83 }
