// Rule 45: the record of a queue counts the jobs in each index of the queue, and names the oldest ready job.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const sequenceOf = async (world: World, id: number) => (await world.document(id)).sequence
async function front(world: World, index: 'ready' | 'ready:pull' = 'ready') {
  const key = `${world.store.keys.queue('q')}:${index}`
  const [first] = await world.client.ask((redis) => redis.zrange<string[]>(key, 0, 0))
  const told = (await world.queueDocument())[index === 'ready' ? 'fr' : 'fp'] ?? null
  return { told, is: first?.slice(0, 13) ?? null }
}

async function expectFront(world: World, id: number | null, index?: 'ready:pull') {
  const { told, is } = await front(world, index)
  expect(told).toBe(is)
  expect(told).toBe(id === null ? null : await sequenceOf(world, id))
}

const counts: Facts = {
  async 'a queue knows its front job, through all arrivals and departures'(world) {
    const [a, b, c, d] = [await world.make(), await world.make(), await world.make(), await world.make()]
    await expectFront(world, a)
    await world.claimOne({ max: 1 })
    await expectFront(world, b)
    await world.change(b, 'terminate', '', '')
    await expectFront(world, c)
    await world.change(d, 'terminate', '', '')
    await expectFront(world, c)
    await world.claimOne()
    await expectFront(world, null)
    const last = await world.make()
    await expectFront(world, last)
  },
  async 'a queue knows its front job when many jobs are created and leased together'(world) {
    const many = () => world.store.enqueue(Array(250).fill({ queue: 'q', class: 'plain', known: true }))
    const { made } = await many()
    await expectFront(world, made[0]!.id)
    await world.claim({ max: 100 })
    await expectFront(world, made[100]!.id)
    await many()
    await expectFront(world, made[100]!.id)
    await world.claim({ max: 1_000 })
    expect((await front(world)).told).toBe((await front(world)).is)
  },
  async 'a queue knows its front job for pull workers, which claim in any order'(world) {
    const a = await world.make({ pull: true })
    const b = await world.make({ class: 'child', pull: true })
    await expectFront(world, a, 'ready:pull')
    await world.claim({ pull: true, names: ['child'] })
    await expectFront(world, a, 'ready:pull')
    await world.make({ class: 'child', pull: true })
    const [run] = await world.claim({ pull: true, names: ['plain'], max: 1 })
    expect([run!.id, b]).toEqual([a, b])
    expect((await front(world, 'ready:pull')).told).toBe((await front(world, 'ready:pull')).is)
  },
  async 'a queue knows its front job after many unclaimed jobs'(world) {
    const { made } = await world.store.enqueue([
      { queue: 'q', class: 'plain', known: true },
      // Adjacent jobs have different classes, so that they are not packed: packed jobs have the same sequence number.
      ...Array.from({ length: 120 }, (_, i) => ({ queue: 'q', class: i % 2 ? 'child' : 'other', known: true })),
      { queue: 'q', class: 'plain', known: true },
    ])
    await world.store.settings('q', { mode: 'pull' })
    expect(await world.claim({ pull: true, names: ['plain'], max: 2 })).toHaveLength(2)
    await expectFront(world, made[1]!.id, 'ready:pull')
  },
  async 'removing a job from a wrong place leaves the counts unchanged'(world) {
    for (let i = 0; i < 3; i++) {
      await world.make()
      await (await world.claimOne()).suspend()
    }
    const id = await world.make()
    await world.store.repair([{ kind: 'job', who: String(id) }])
    expect((await world.queueDocument()).at).toEqual({ r: 1, s: 3 })
  },
  async 'a queue document without counts is counted when it is next written'(world) {
    await world.make()
    await (await world.claimOne()).suspend()
    const waiting = await world.make()
    await world.make({ wait: 60_000 })
    await world.recount()
    await world.make()
    expect((await world.queueDocument()).at).toEqual({ r: 2, s: 1, t: 1 })
    await expectFront(world, waiting)
  },
  async 'a queue document without counts is counted when it is read, and stays counted'(world) {
    await world.make()
    await world.recount()
    expect(await world.queueOf()).toMatchObject({ ready: 1, oldest: expect.any(Number) })
    const text = await world.client.ask((redis) => redis.get<string>(world.store.keys.queue('q')))
    expect(text).toMatch(/^\{.*"at":\{"r":1\}/)
  },
  async 'an uncounted arrival is counted after enough reads'(world) {
    const id = await world.make()
    const key = `${world.store.keys.queue('q')}:failed`
    await world.client.ask((redis) => redis.zadd(key, { score: world.now() + 60_000, member: '88888' }))
    for (let i = 0; i < 200 && (await world.queueOf()).failed === 0; i++);
    // Check the stored counts, because `queueOf` may count an index again without storing the count.
    expect((await world.queueDocument()).at).toEqual({ r: 1, f: 1 })
    expect(await world.queueOf()).toMatchObject({ ready: 1, failed: 1 })
    await world.client.ask((redis) => redis.zrem(key, '88888'))
    await world.recount()
    expect((await world.claimOne()).id).toBe(id)
  },
  async 'removing entries that were never counted leaves the counts unchanged'(world) {
    await world.make()
    const entry = { score: -1, member: '0000000000000:99999' }
    await world.client.ask((redis) => redis.zadd(`${world.store.keys.queue('q')}:ready`, entry))
    await world.claim()
    expect((await world.queueDocument()).at).toEqual({ l: 1 })
  },
}

export const counting: Record<number, Facts> = { 45: counts }
