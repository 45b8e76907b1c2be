// Rule 82: counts of runs and jobs per minute, hour and day, and when they are deleted.

import { expect } from 'vitest'
import { createStats } from '../../../src/engine/api/stats.ts'
import type { Context } from '../../../src/engine/context.ts'
import type { Facts, World } from '../direct.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

const statsOf = ({ store }: World) => createStats({ store } as Context)
const points = async (world: World, step: 'minute' | 'hour' = 'minute', queue: string | undefined = 'q') =>
  (await statsOf(world).series({ queue, step })).points

/** Moves the clock to the start of a period, so that the period does not end during a test. */
const toNext = (world: World, ms: number) => world.advance(ms - (world.now() % ms) + 1_000)

async function once(world: World, queue = 'q') {
  await world.make({ queue })
  return (await world.claimOne({ queue })).commit()
}

const kept: Facts = {
  async 'the counts of a day remain after it, and the next day starts from zero'(world) {
    toNext(world, DAY)
    await once(world)
    const yesterday = new Date(world.now()).toISOString().slice(0, 10)
    toNext(world, DAY)
    await once(world)
    await once(world)
    const stats = await statsOf(world).totals({ days: 2 })
    expect(stats).toMatchObject({
      processed: 3,
      failed: 0,
      today: { q: { runs: 2 } },
      total: { q: { runs: 3, made: 3 } },
    })
    expect(stats.waits.q!.reduce((sum, n) => sum + n, 0)).toBe(2)
    expect(stats.days).toMatchObject([
      { counts: { runs: 2 }, queues: { q: { counts: { runs: 2 } } } },
      { day: yesterday, counts: { runs: 1 }, queues: { q: { counts: { runs: 1 } } } },
    ])
  },
  async 'a run that is leased and ends in the first minute of a day belongs to that day'(world) {
    toNext(world, DAY)
    await once(world)
    await world.make({ unique: { key: 'first' } })
    await world.make({ unique: { key: 'second' } })
    toNext(world, DAY)
    for (const _ of [1, 2]) await (await world.claimOne({ max: 1 })).commit()
    const stats = await statsOf(world).totals({ days: 2 })
    expect(stats).toMatchObject({ today: { q: { runs: 2, completed: 2 } }, total: { q: { runs: 3, made: 3 } } })
    expect(stats.days).toMatchObject([{ counts: { runs: 2 } }, { counts: { runs: 1, made: 3 } }])
  },
  async 'a queue that is idle since yesterday shows no counts today, and keeps the counts of yesterday'(world) {
    toNext(world, DAY)
    await once(world)
    toNext(world, DAY)
    const stats = await statsOf(world).totals({ days: 2 })
    expect(stats).toMatchObject({ processed: 1, today: { q: {} }, waits: { q: [] } })
    expect(stats.days).toMatchObject([{ counts: { runs: 1 } }])
  },
  async 'series show each queue separately on request, and all together as well'(world) {
    toNext(world, MINUTE)
    await once(world)
    await once(world)
    await once(world, 'other')
    const { points: all, queues } = await statsOf(world).series({ details: true })
    expect(all.map(({ runs }) => runs)).toEqual([3])
    expect(Object.entries(queues!).map(([name, [point]]) => [name, point!.runs])).toEqual([
      ['other', 1],
      ['q', 2],
    ])
    expect((await statsOf(world).series({})).queues).toBeUndefined()
  },
  async 'queues share the record of a day'(world) {
    toNext(world, DAY)
    await once(world)
    await once(world, 'other')
    toNext(world, DAY)
    await once(world)
    await once(world, 'other')
    const [, before] = (await statsOf(world).totals({ days: 2 })).days!
    expect(before).toMatchObject({ counts: { runs: 2 }, queues: { q: {}, other: {} } })
  },
  async 'a day is removed after five years, and its counts stay in the total'(world) {
    toNext(world, DAY)
    await once(world)
    for (const days of [1, 1_826]) {
      world.advance(days * DAY)
      await once(world)
    }
    const fields = await world.client.ask((redis) => redis.hkeys(world.store.keys.days))
    expect(fields).toHaveLength(1)
    expect(await statsOf(world).totals()).toMatchObject({ processed: 3 })
  },
  async 'a failed run is counted once'(world) {
    await world.make()
    await (await world.claimOne()).fail()
    expect(await statsOf(world).totals()).toMatchObject({ processed: 1, failed: 1, total: { q: { failed: 1 } } })
  },
  async 'a minute shows its events'(world) {
    toNext(world, HOUR)
    await once(world)
    world.advance(3 * MINUTE)
    await once(world)
    await once(world)
    expect(await points(world)).toMatchObject([
      { made: 1, runs: 1, completed: 1 },
      { made: 2, runs: 2, completed: 2 },
    ])
    const [first, second] = await points(world)
    expect(second!.at - first!.at).toBe(3 * MINUTE)
    expect(await points(world, 'hour')).toMatchObject([{ made: 3, runs: 3 }])
  },
  async 'a minute shows the numbers of ready, running and limited jobs at its first event'(world) {
    toNext(world, MINUTE)
    const group = { group: 'g', limits: [{ key: 'group:g', how: 'first' as const, concurrency: 1 }] }
    for (let n = 0; n < 2; n++) await world.make(group)
    await world.claimOne()
    await world.make()
    const since = world.now()
    toNext(world, MINUTE)
    await world.make({ queue: 'q' })
    const last = (await points(world)).at(-1)!
    expect(last).toMatchObject({ made: 1, running: 1 })
    expect(last.ready + last.limited).toBe(2)
    expect(Math.abs(last.oldestReady! - since)).toBeLessThan(10_000)
  },
  async 'an hour shows its events, over midnight too'(world) {
    toNext(world, DAY)
    world.advance(23 * HOUR)
    await once(world)
    world.advance(HOUR)
    await once(world)
    expect(await points(world, 'hour')).toMatchObject([{ runs: 1 }, { runs: 1 }])
  },
  async 'only the last four hours are shown by the minute, and older places are reused'(world) {
    toNext(world, HOUR)
    await once(world)
    world.advance(240 * MINUTE)
    expect(await points(world)).toEqual([])
    await once(world)
    expect(await points(world)).toMatchObject([{ runs: 1 }])
    const keys = await world.client.ask((redis) => redis.keys(`${world.namespace}counts:q:m*`))
    expect(keys).toHaveLength(1)
  },
  async 'the longest wait of a minute is the wait of the next job'(world) {
    toNext(world, HOUR)
    await world.make()
    world.advance(7_000)
    await (await world.claimOne()).commit()
    await once(world)
    const [point] = await points(world)
    expect(point!.longestWait).toBeGreaterThanOrEqual(7_000)
    expect(point!.longestWait).toBeLessThan(60_000)
    const { waits } = await statsOf(world).totals()
    expect(waits.q).toHaveLength(9)
    expect(waits.q![4]).toBe(1)
    expect(waits.q!.reduce((sum, n) => sum + n, 0)).toBe(2)
    world.advance(2 * MINUTE)
    await once(world)
    expect((await points(world)).map(({ longestWait }) => longestWait >= 7_000)).toEqual([true, false])
  },
  async 'a minute without a wait does not show the longest wait of its hour'(world) {
    toNext(world, HOUR)
    await world.make()
    world.advance(7_000)
    await (await world.claimOne()).commit()
    world.advance(2 * MINUTE)
    await world.make()
    expect((await points(world)).map(({ longestWait }) => longestWait)).toEqual([expect.any(Number), 0])
    const [hour] = await points(world, 'hour')
    expect(hour!.longestWait).toBeGreaterThanOrEqual(7_000)
  },
  async 'without a name all queues are shown together'(world) {
    toNext(world, HOUR)
    await once(world)
    await once(world, 'other')
    expect(await points(world, 'minute', '')).toMatchObject([{ runs: 2 }])
    expect(await points(world)).toMatchObject([{ runs: 1 }])
  },
}

export const stats: Record<number, Facts> = { 82: kept }
