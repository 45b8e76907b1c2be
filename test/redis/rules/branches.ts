// Rule 72: several scripts handle a family of jobs that is too large for one script.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const DAY = 86_400_000

async function large(world: World, size = 600, deep = 3, retain = DAY) {
  const root = await world.make({ at: world.now() + 300 * DAY, retain })
  const child = { queue: 'q', class: 'plain', known: true, at: world.now() + 300 * DAY }
  const below = async (of: (i: number) => number, n: number) =>
    (
      await world.store.enqueue(
        Array.from({ length: n }, (_, i) => ({ ...child, parent: String(of(i)), name: `c${i}` })),
      )
    ).made.map(({ id }) => id)
  const children = await below(() => root, size)
  const grandchildren = await below((i) => children[i % deep]!, 2 * deep)
  return { root, children, grandchildren }
}

const goOn = (world: World) => world.claim({ queue: 'sidejob.bulk' })
async function goThrough(world: World, most = 60): Promise<string> {
  for (let n = 0; n < most; n++) {
    const [run] = await goOn(world)
    if (!run) throw new Error('nothing goes through the family')
    const answer = await run.goThrough()
    if (answer !== 'queued') return answer
  }
  throw new Error(`still under way after ${most} runs`)
}
const terminate = (world: World, id: number) => world.change(id, 'terminate', '', '1')
const remove = (world: World, id: number, force = '1') => world.change(id, 'delete', '', force)
const counts = async (world: World) => {
  const { timers, terminated, ready } = await world.queueOf()
  return { timers, terminated, ready }
}
async function waitsForSomebody(world: World): Promise<boolean> {
  for (let n = 0; n < 60; n++) {
    const [run] = await goOn(world)
    if (!run) return true
    await run.goThrough()
  }
  return false
}
const LEASE_OVER = 45_001

async function circle(world: World) {
  const top = await world.make({ at: world.now() + DAY })
  const below = await world.make({ at: world.now() + DAY, parent: String(top), name: 'below' })
  await world.restore(top, { ...(await world.document(top)), pa: String(below), pn: 'up', ch: '1' } as never)
  await world.restore(below, { ...(await world.document(below)), ch: '1' } as never)
  await world.client.ask((redis) => redis.hset(`${world.store.keys.children(below)}`, { up: `${top},queued,plain` }))
  return { top, below }
}

const CHAIN = `
for i = 1, #ARGV - 1 do
  local key = KEYS[1] .. ARGV[i]
  local above, below = cjson.decode(redis.call('GET', key)), cjson.decode(redis.call('GET', KEYS[1] .. ARGV[i + 1]))
  above.ch, below.pa, below.pn = '1', ARGV[i], 'below'
  redis.call('SET', key, cjson.encode(above))
  redis.call('SET', KEYS[1] .. ARGV[i + 1], cjson.encode(below))
  redis.call('HSET', key .. ':children', 'below', ARGV[i + 1] .. ',queued,' .. below.c)
end
return 0`

const chain = (world: World, ids: number[]) =>
  world.client.ask((redis) => redis.eval(CHAIN, [`${world.namespace}job:`], ids.map(String)))

const rule72: Facts = {
  async 'one script terminates a small family'(world) {
    const { root } = await large(world, 20)
    expect((await terminate(world, root))[2]).toBe('')
    expect(await counts(world)).toEqual({ timers: 0, terminated: 27, ready: 0 })
  },
  async 'an internal job terminates a large family completely'(world) {
    const { root } = await large(world)
    expect((await terminate(world, root)).slice(1)).toEqual(['terminated', expect.stringMatching(/^\d+$/)])
    expect(await counts(world)).toMatchObject({ terminated: 1 })
    expect(await goThrough(world)).toBe('completed')
    expect(await counts(world)).toEqual({ timers: 0, terminated: 607, ready: 0 })
  },
  async 'many small families in one call count as one large family'(world) {
    const children = (await large(world, 300)).root
    const others = (await large(world, 300)).root
    const words = [children, others].map((id) => ['terminate', String(id), '1'])
    await world.store.change('', words)
    expect((await counts(world)).terminated).toBe(308)
    expect(await goThrough(world)).toBe('completed')
    expect((await counts(world)).terminated).toBe(614)
  },
  async 'an internal job deletes a large family, children first'(world) {
    const { root } = await large(world)
    expect(await remove(world, root)).toEqual(['ending'])
    expect(await remove(world, root)).toEqual(['ending'])
    expect(await goThrough(world)).toBe('completed')
    expect(await goOn(world)).toEqual([])
    expect(await counts(world)).toEqual({ timers: 0, terminated: 0, ready: 0 })
    world.advance(DAY + 1_000)
    await world.tick()
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}job:*`))).toEqual([])
  },
  async 'a deletion waits for current runs'(world) {
    const { root, grandchildren } = await large(world)
    await world.change(grandchildren[0]!, 'run', '', '', '', '', '')
    const run = await world.claimOne()
    await remove(world, root)
    expect(await waitsForSomebody(world)).toBe(true)
    await run.commit()
    world.advance(1_001)
    await world.tick()
    expect(await goThrough(world)).toBe('completed')
    expect(await counts(world)).toEqual({ timers: 0, terminated: 0, ready: 0 })
  },
  async 'without force, no job is deleted while a job of the family is not terminated'(world) {
    const { root, grandchildren } = await large(world)
    await terminate(world, root)
    await goThrough(world)
    await world.change(grandchildren[0]!, 'run', '', '1', '', '', '')
    expect(await remove(world, root, '')).toEqual(['ending'])
    expect(await goThrough(world)).toMatch(/^refused:WRONG_STATUS/)
    expect(await counts(world)).toMatchObject({ terminated: 606 })
  },
  async 'a job restored during a deletion stays'(world) {
    const { root } = await large(world)
    await remove(world, root)
    await world.change(root, 'run', '', '1', '', '', '')
    expect(await goThrough(world)).toBe('completed')
    expect(await world.status(root)).toBe('queued')
  },
  async 'a lost slice changes nothing'(world) {
    const { root } = await large(world)
    await terminate(world, root)
    const [dead] = await goOn(world)
    world.advance(LEASE_OVER)
    await world.tick()
    expect(await dead!.goThrough()).toBe('lost')
    expect(await counts(world)).toMatchObject({ terminated: 1 })
    world.advance(60_000)
    await world.tick()
    expect(await goThrough(world)).toBe('completed')
    expect(await counts(world)).toMatchObject({ terminated: 607 })
  },
  async 'the runs for a large family do not count as a runaway'(world) {
    const { root } = await large(world)
    const [, , id] = await terminate(world, root)
    await goThrough(world)
    expect((await world.document(Number(id))).runsThisMinute).toMatch(/:0$/)
  },
  async 'large ended families are removed in several sweeps'(world) {
    const roots = [
      await large(world, 450, 1, 1_000),
      await large(world, 450, 1, 1_000),
      await large(world, 450, 1, 1_000),
    ]
    for (const { root } of roots) await terminate(world, root)
    world.advance(2_000)
    expect((await world.store.tick()).more).toBe(true)
    expect((await counts(world)).terminated).toBeGreaterThan(0)
    for (let n = 0; n < 9; n++) await world.store.tick()
    expect((await counts(world)).terminated).toBe(0)
  },
  async 'a circle of jobs is terminated and deleted like any family'(world) {
    const { top, below } = await circle(world)
    expect((await terminate(world, below))[1]).toBe('terminated')
    expect(await world.status(top)).toBe('terminated')
    expect(await remove(world, below)).toEqual(['gone'])
    expect((await counts(world)).terminated).toBe(0)
  },
  async 'a job with a thousand ancestors adopts no job, so that it cannot close a circle'(world) {
    const { made } = await world.store.enqueue(
      Array.from({ length: 1_003 }, () => ({ queue: 'q', class: 'plain', known: true, at: world.now() + DAY })),
    )
    const ids = made.map(({ id }) => id)
    await chain(world, ids)
    await expect(world.change(ids.at(-1)!, 'adopt', String(ids[0]), 'up')).rejects.toMatchObject({ code: 'LIMITED' })
    await expect(world.change(ids[500]!, 'adopt', String(ids[0]), 'up')).rejects.toMatchObject({ code: 'REFUSED' })
  },
}

export const branching: Record<number, Facts> = { 72: rule72 }
