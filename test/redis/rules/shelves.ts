// Rule 129: one key stores the answers of several calls. No caller receives the answer of another call.

import { expect } from 'vitest'
import type { Once } from '../../../src/redis/types.ts'
import type { Facts, World } from '../direct.ts'

const TEN_MINUTES = 600_000
const once = (key: string, fingerprint = 'body'): Once => ({ key, period: TEN_MINUTES, fingerprint })
const enqueue = async (world: World, asked: Once, n = 1, more: (i: number) => object = () => ({})) =>
  (
    await world.store.enqueue(
      Array.from({ length: n }, (_, i) => ({ queue: 'q', class: 'plain', known: true, ...more(i) })),
      asked,
    )
  ).made
const jobs = async (world: World) => (await world.queueOf()).ready
const own = (world: World, key: string) => world.client.ask((redis) => redis.pttl(world.store.keys.once(key)))
const shelf = async (world: World, key: string) =>
  (await world.client.ask((redis) => redis.get<string>(world.store.keys.shelf(key)))) ?? ''
const lines = async (world: World, key: string) => (await shelf(world, key)).split('\n').length - 1

function together(world: World, n: number): string[] {
  const { shelf } = world.store.keys
  const keys: string[] = []
  for (let i = 0; keys.length < n; i++) if (shelf(`k${i}`) === shelf('k0')) keys.push(`k${i}`)
  return keys
}

const rule129: Facts = {
  async 'a repeated call within minutes gets the same answer, which has no separate key'(world) {
    const first = await enqueue(world, once('a'))
    expect(await enqueue(world, once('a'))).toEqual(first)
    expect(await jobs(world)).toBe(1)
    expect(await own(world, 'a')).toBe(-2)
    expect(await lines(world, 'a')).toBe(1)
  },
  async 'a key that was used for another body is refused'(world) {
    await enqueue(world, once('a'))
    await expect(enqueue(world, once('a', 'other'))).rejects.toMatchObject({ code: 'TAKEN' })
    expect(await jobs(world)).toBe(1)
  },
  async 'an answer lasts for the time of its key, and no longer'(world) {
    await enqueue(world, once('a'))
    world.advance(TEN_MINUTES - 1_000)
    await enqueue(world, once('a'))
    expect(await jobs(world)).toBe(1)
    world.advance(1_001)
    await enqueue(world, once('a', 'other'))
    expect(await jobs(world)).toBe(2)
  },
  async 'an expired answer is removed when a new answer is added'(world) {
    const [one, two, three] = together(world, 3) as [string, string, string]
    await enqueue(world, once(one))
    world.advance(TEN_MINUTES / 2)
    await enqueue(world, once(two))
    expect(await lines(world, one)).toBe(2)
    world.advance(TEN_MINUTES / 2 + 1)
    await enqueue(world, once(three))
    const text = await shelf(world, one)
    expect([one, two, three].map((key) => text.includes(`${world.store.keys.once(key)}\n`))).toEqual([
      false,
      true,
      true,
    ])
  },
  async 'each call on a shared key gets its own answer'(world) {
    const keys = together(world, 4)
    const made = []
    for (const key of keys) made.push(...(await enqueue(world, once(key))))
    expect(await lines(world, 'k0')).toBe(4)
    for (const [i, key] of keys.entries()) expect(await enqueue(world, once(key))).toEqual([made[i]])
    expect(await jobs(world)).toBe(4)
  },
  async 'an answer without room in its shared key has a separate key, which expires'(world) {
    const keys = together(world, 90)
    const made = []
    for (const key of keys) made.push(...(await enqueue(world, once(key))))
    expect((await shelf(world, 'k0')).length).toBeLessThanOrEqual(4_096)
    expect(await lines(world, 'k0')).toBeGreaterThan(10)
    const last = keys.at(-1)!
    expect(await own(world, last)).toBeGreaterThan(TEN_MINUTES - 10_000)
    for (const [i, key] of keys.entries()) expect(await enqueue(world, once(key))).toEqual([made[i]])
    expect(await jobs(world)).toBe(90)
    world.advance(TEN_MINUTES + 1)
    await enqueue(world, once(keys[0]!, 'other'))
    expect(await lines(world, 'k0')).toBe(1)
  },
  async 'a long answer has a separate key'(world) {
    const first = await enqueue(world, once('many'), 300, (priority) => ({ priority }))
    expect(await own(world, 'many')).toBeGreaterThan(TEN_MINUTES - 10_000)
    expect(await shelf(world, 'many')).toBe('')
    expect(await enqueue(world, once('many'), 300, (priority) => ({ priority }))).toEqual(first)
    expect(await jobs(world)).toBe(300)
  },
  async 'combined calls are stored in shared keys, and each gets its own job again'(world) {
    const keys = together(world, 5)
    const made = (await Promise.all(keys.map((key) => enqueue(world, once(key))))).flat()
    expect(new Set(made.map(({ id }) => id)).size).toBe(5)
    expect(await lines(world, 'k0')).toBe(5)
    const again = (await Promise.all(keys.map((key) => enqueue(world, once(key))))).flat()
    expect(again.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    expect(await jobs(world)).toBe(5)
  },
  async 'longer-lived answers are never in a shared key'(world) {
    await enqueue(world, { ...once('a'), period: TEN_MINUTES + 1 })
    expect(await own(world, 'a')).toBeGreaterThan(TEN_MINUTES - 10_000)
    expect(await world.client.ask((redis) => redis.keys(`${world.namespace}again:*`))).toEqual([])
  },
}

export const shelves: Record<number, Facts> = { 129: rule129 }
