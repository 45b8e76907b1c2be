// Rule 34: each end of a job is reported once. The script that ends the job also creates a job for the report.

import { expect } from 'vitest'
import type { Facts, Making, World } from '../direct.ts'

const DAY = 86_400_000
const HOST = 'example.com'
const callback = { spec: `{"url":"https://${HOST}/"}`, host: HOST }

const make = (world: World, more: Making = {}) => world.make({ callback, ...more })
const claim = (world: World, max = 100) => world.claim({ queue: 'sidejob', max })
const told = async (world: World) =>
  (await world.store.list({ mode: 'all', queue: 'sidejob', limit: 100 })).jobs.map(
    ({ document }) => document.callbackEnd,
  )
const groups = async (world: World) => (await world.store.limits()).map(({ key, waiting }) => [key, waiting])
const shut = (world: World, until?: number) => world.store.limit(`group:callback:${HOST}`, 'shut', { until })

async function end(world: World, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await make(world)
  for (const run of await world.claim()) await run.commit()
}

const rule34: Facts = {
  async 'an end is reported in its own step, once, for any number of retries of that step'(world) {
    await make(world)
    const run = await world.claimOne()
    expect([await run.commit(), await run.commit()]).toEqual(['completed', 'completed'])
    expect(await told(world)).toEqual([1])
  },
  async 'an ended job is not reported again when it is terminated'(world) {
    for (const className of ['plain', 'closing']) {
      const id = await make(world, { class: className })
      await (await world.claimOne()).commit()
      await world.change(id, 'terminate', '', '')
      for (const run of await world.claim()) await run.commit()
      expect(await world.status(id)).toBe('terminated')
    }
    expect(await told(world)).toEqual([1, 1])
  },
  async 'a second end is reported again, even if the job was terminating in between'(world) {
    const id = await make(world, { class: 'closing' })
    await (await world.claimOne()).commit()
    await world.change(id, 'terminate', '', '')
    await world.change(id, 'run', '', '1', '', '', '')
    await (await world.claimOne()).commit()
    expect(await told(world)).toEqual([2, 1])
  },
  async 'a deleted job is reported before it is removed'(world) {
    const id = await make(world)
    await world.change(id, 'delete', '', '1')
    expect(await told(world)).toEqual([1])
  },
  async 'a job stores the result of its callback, and is not removed before'(world) {
    const id = await make(world)
    await (await world.claimOne()).commit()
    world.advance(DAY + 1)
    await world.tick()
    expect(await world.status(id)).toBe('completed')
    await (await claim(world))[0]!.commit()
    expect((await world.document(id)).callbackStatus).toBe('DELIVERED')
    world.advance(DAY)
    await world.tick()
    await expect(world.status(id)).rejects.toThrow('does not exist')
  },
  async 'callbacks to one destination are a group with a limit, which is deleted after the last callback'(world) {
    await end(world, 10)
    const runs = await claim(world)
    expect(runs).toHaveLength(8)
    expect(await groups(world)).toEqual([[`group:callback:${HOST}`, 2]])
    for (const run of runs) await run.commit()
    for (const run of await claim(world)) await run.commit()
    expect(await groups(world)).toEqual([])
  },
  async 'a paused destination gets no callback, and is not checked, until the pause ends'(world) {
    await end(world, 3)
    const until = world.now() + 60_000
    await shut(world, until)
    expect(await claim(world)).toEqual([])
    const { nextDue } = await world.lane(undefined, 'sidejob').ask()
    expect(nextDue).toBe(until)
    await end(world, 1)
    expect(await claim(world)).toEqual([])
    world.advance(60_001)
    expect(await claim(world)).toHaveLength(4)
  },
  async 'a resumed destination gets the waiting callbacks at once'(world) {
    await end(world, 2)
    await shut(world, world.now() + 60_000)
    expect(await claim(world)).toEqual([])
    await shut(world)
    expect(await claim(world)).toHaveLength(2)
  },
  async 'an unused destination is not kept'(world) {
    await shut(world, world.now() + 60_000)
    expect(await groups(world)).toEqual([])
  },
}

export const callbacks: Record<number, Facts> = { 34: rule34 }
