// Rule 37: a job that has waited long enough starts before a job with a smaller priority.

import { expect } from 'vitest'
import type { Facts, Making, World } from '../direct.ts'

const STEP = 60_000
const FOR_LONG = 100 * STEP
const age = (world: World, ageing: number | null = STEP, queue = 'q') => world.store.settings(queue, { ageing })

async function order(world: World, n: number, claiming: { pull?: boolean; queue?: string } = {}): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < n; i++) {
    const [run] = await world.claim({ ...claiming, max: 1 })
    ids.push(run!.id)
    await run!.commit()
  }
  return ids
}

const making = (priority: number, more: Making = {}): Making => ({ priority, ...more })
async function downwards(world: World, priorities: number[], gapMs: number, more: Making = {}): Promise<number[]> {
  const ids: number[] = []
  for (const priority of priorities) {
    ids.push(await world.make(making(priority, more)))
    world.advance(gapMs)
  }
  return ids
}

const narrow = (concurrency = 1, how: 'first' | 'set' = 'set', key = 'k'): Making => ({
  limits: [{ key, how, concurrency }],
})
const tidy = async (world: World) => expect(await world.faults()).toEqual([])
async function settled(world: World, key?: string): Promise<void> {
  const texts = [world.store.keys.queue('q'), ...(key ? [world.store.keys.limit(key)] : [])]
  for (const name of texts) expect(await world.client.ask((redis) => redis.get(name))).not.toContain('"so"')
  await tidy(world)
}
async function settle(world: World, key?: string): Promise<void> {
  for (let i = 0; i < 5; i++) await world.tick()
  await settled(world, key)
}

const rule37: Facts = {
  async 'without ageing a priority is strict, for any waiting time'(world) {
    const low = await world.make(making(1))
    world.advance(30 * 86_400_000)
    const high = await world.make(making(0))
    expect(await order(world, 2)).toEqual([high, low])
  },
  async 'each full step of waiting counts as one level of priority'(world) {
    await age(world)
    const early = await world.make(making(2))
    world.advance(1.5 * STEP)
    const better = await world.make(making(0))
    world.advance(STEP)
    const late = await world.make(making(0))
    await tidy(world)
    expect(await order(world, 3)).toEqual([better, early, late])
  },
  async 'jobs created in one call and jobs that become ready later share that order'(world) {
    await age(world)
    const [early] = (
      await world.store.enqueue([1, 2, 3].map(() => ({ queue: 'q', class: 'plain', known: true, priority: 1 })))
    ).made
    // `later` is ready at 40 s, and counts like priority 0 at 100 s. `fresh` is created at 80 s, because a slow
    // machine may need some seconds.
    const later = await world.make({ ...making(1), wait: 40_000 })
    world.advance(STEP + 20_000)
    const fresh = await world.make(making(0))
    world.advance(20_000)
    await tidy(world)
    expect(await order(world, 5)).toEqual([early!.id, early!.id + 1, early!.id + 2, fresh, later])
  },
  async 'a changed priority keeps the waiting time of the job'(world) {
    await age(world)
    const [a, b] = await downwards(world, [0, 0], STEP)
    await world.change(a!, 'patch', 1, 'p', '2')
    await tidy(world)
    expect(await order(world, 2)).toEqual([b, a])
  },
  async 'pull workers get jobs in the order of ageing, and jobs of one priority on request'(world) {
    await age(world)
    const [a, b] = await downwards(world, [1, 0], STEP + 1_000, { pull: true })
    await tidy(world)
    const asked = await world.store.commit({
      queue: 'q',
      claim: { max: 1, lease: 45_000, begun: 1, pull: true, priority: 0 },
    })
    expect(asked.claimed.map(({ id }) => id)).toEqual([b])
    expect(await order(world, 1, { pull: true })).toEqual([a])
  },
  async 'jobs waiting at a limit are admitted in the order of ageing, to the step'(world) {
    await age(world)
    await world.make(narrow())
    const run = await world.claimOne({ lease: FOR_LONG })
    const [a, b, c] = await downwards(world, [4, 0, 0], STEP + 1_000, narrow())
    const d = await world.make({ ...making(2), ...narrow() })
    await tidy(world)
    await run.commit()
    expect(await order(world, 4)).toEqual([b, c, a, d])
  },
  async 'jobs waiting at the limit of their own group are ordered to the millisecond'(world) {
    await age(world)
    const grouped: Making = { group: 'g', ...narrow(1, 'first', 'group:g') }
    await world.make(grouped)
    const run = await world.claimOne({ lease: FOR_LONG })
    const early = await world.make({ ...making(1), ...grouped })
    world.advance(STEP / 2)
    const better = await world.make({ ...making(0), ...grouped })
    await tidy(world)
    await run.commit()
    expect(await order(world, 2)).toEqual([better, early])
  },
  async 'a waiting job gets its new place when the ageing is set, changed or removed'(world) {
    const [a, b, c] = await downwards(world, [2, 1, 0], STEP + 1_000)
    await age(world)
    await tidy(world)
    expect((await world.claimOne({ max: 1 })).id).toBe(a)
    await age(world, 10 * STEP)
    await tidy(world)
    const d = await world.make(making(0))
    expect((await world.claimOne({ max: 1 })).id).toBe(c)
    await age(world, null)
    await tidy(world)
    expect(await order(world, 2)).toEqual([d, b])
  },
  async 'a job waiting for a pull worker or at a limit gets its new place and turn too'(world) {
    await world.make(narrow())
    const run = await world.claimOne({ lease: FOR_LONG })
    const [a, b] = await downwards(world, [2, 0], 2 * STEP + 1_000, narrow())
    const [p, q] = await downwards(world, [2, 0], 2 * STEP + 1_000, { class: 'child', pull: true })
    await age(world)
    await settle(world, 'k')
    expect(await order(world, 2, { pull: true })).toEqual([p, q])
    await run.commit()
    const first = await world.claimOne({ lease: FOR_LONG })
    expect(first.id).toBe(a)
    const [c, d] = await downwards(world, [1, 0], STEP + 1_000, narrow())
    await age(world, null)
    await settle(world, 'k')
    await first.commit()
    expect(await order(world, 3)).toEqual([b, d, c])
  },
  async 'large queues are reordered in steps, by ticks or claims, and all jobs run'(world) {
    // Jobs with `keepResult` are never packed into one record.
    const job = { queue: 'q', class: 'plain', known: true, priority: 5, keepResult: 5 }
    for (const n of [1_000, 1_000, 1_000, 1_000, 900]) await world.store.enqueue(Array.from({ length: n }, () => job))
    world.advance(6 * STEP)
    const better = await world.make(making(0))
    await age(world)
    expect(await world.faults()).toEqual([])
    await settle(world)
    await age(world, 2 * STEP)
    const claimed = new Set<number>()
    for (let left = 6; left > 0; left--) for (const { id } of await world.claim({ max: 9 })) claimed.add(id)
    await settled(world)
    for (let got = 1; got > 0; ) {
      const runs = await world.claim({ max: 1_000 })
      for (const { id } of runs) claimed.add(id)
      got = runs.length
    }
    expect(claimed.size).toBe(4_901)
    expect(claimed).toContain(better)
  },
  async 'groups take turns within a step'(world) {
    await age(world, 3_600_000)
    await world.make(narrow())
    const run = await world.claimOne({ lease: FOR_LONG })
    const a = await downwards(world, [0, 0, 0], 1, { group: 'a', ...narrow() })
    const b = await downwards(world, [0, 0], 1, { group: 'b', ...narrow() })
    await tidy(world)
    await run.commit()
    expect((await order(world, 2)).toSorted()).toEqual([a[0], b[0]])
  },
  async 'the lowest and highest priorities are in order with steps of an hour'(world) {
    await age(world, 3_600_000)
    const most = 2 ** 31 - 1
    const [a, b] = await downwards(world, [most, most - 1], 1)
    const [c, d] = await downwards(world, [-most, -most - 1], 1)
    await tidy(world)
    expect(await order(world, 4)).toEqual([d, c, b, a])
  },
}

export const ageing: Record<number, Facts> = { 37: rule37 }
