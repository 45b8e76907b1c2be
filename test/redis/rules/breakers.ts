// Rule 38: calls to a failing host pause, and each failure makes the pause longer. After the pause, one call tests the
// host.

import { expect } from 'vitest'
import type { Facts, World } from '../direct.ts'

const settings = { threshold: 3, base: 10_000, cap: 30_000, probing: 5_000 }
type Word = Parameters<World['store']['breaker']>[1]

const say = (
  world: World,
  word: Word,
  { host = 'h', ...more }: { host?: string; floor?: number; probing?: number } = {},
) => world.store.breaker(host, word, { ...settings, ...more })
async function fail(world: World, times: number) {
  for (let i = 0; i < times; i++) await say(world, 'failed')
}
const openFor = async (world: World) => Math.round(((await say(world, 'ask')).until! - world.now()) / 1_000)

async function openedBefore(world: World) {
  await fail(world, 3)
  world.advance(11_000)
}

const listed = (world: World) => world.client.ask((redis) => redis.zrange(world.store.keys.breakers, 0, -1))

const rule38: Facts = {
  async 'a host is called until it has failed three times in a row'(world) {
    await fail(world, 2)
    expect(await say(world, 'ask')).toEqual({ state: 'closed', failures: 2 })
    await say(world, 'succeeded')
    await fail(world, 2)
    expect((await say(world, 'ask')).state).toBe('closed')
  },
  async 'a host with consecutive failures is not called for a while'(world) {
    await fail(world, 3)
    expect(await say(world, 'ask')).toMatchObject({ state: 'open', failures: 3 })
    world.advance(9_000)
    expect((await say(world, 'ask')).state).toBe('open')
  },
  async 'a failing host is listed from its first pause until it answers'(world) {
    await fail(world, 2)
    expect(await world.store.openBreakers(10)).toEqual([])
    await fail(world, 1)
    const [open] = await world.store.openBreakers(10)
    expect(open).toMatchObject({ host: 'h', failures: 3 })
    expect(Math.round((open!.until - world.now()) / 1_000)).toBe(10)
    await say(world, 'succeeded')
    expect(await world.store.openBreakers(10)).toEqual([])
    expect(await listed(world)).toEqual([])
  },
  async 'a host without news for a day is no longer listed'(world) {
    await fail(world, 3)
    world.advance(2 * 86_400_000)
    for (let i = 0; i < 3; i++) await say(world, 'failed', { host: 'other' })
    expect(await listed(world)).toEqual(['other'])
  },
  async 'other hosts are still called while a host pauses'(world) {
    await fail(world, 3)
    expect(await say(world, 'ask', { host: 'other' })).toEqual({ state: 'closed', failures: 0 })
  },
  async 'failures of calls that began before the pause do not extend the pause'(world) {
    await fail(world, 6)
    expect(await say(world, 'ask')).toMatchObject({ state: 'open', failures: 3 })
    expect(await openFor(world)).toBe(10)
  },
  async 'after the pause one caller may probe the host, and other callers wait for the result'(world) {
    await openedBefore(world)
    expect((await say(world, 'ask')).state).toBe('probe')
    expect((await say(world, 'ask')).state).toBe('open')
  },
  async 'a caller during a probe retries soon, and after the pause if the probe failed'(world) {
    const probing = { probing: 35_000 }
    await openedBefore(world)
    await say(world, 'ask', probing)
    expect(await openFor(world)).toBe(10)
    world.advance(30_000)
    expect(await openFor(world)).toBe(5)
    const { until } = await say(world, 'probe failed')
    expect(Math.round((until! - world.now()) / 1_000)).toBe(20)
    expect(await openFor(world)).toBe(20)
  },
  async 'a failed probe doubles the pause, up to a maximum'(world) {
    await openedBefore(world)
    const lengths: number[] = []
    for (let i = 0; i < 3; i++) {
      await say(world, 'ask')
      await say(world, 'probe failed')
      lengths.push(await openFor(world))
      world.advance(31_000)
    }
    expect(lengths).toEqual([20, 30, 30])
  },
  async 'a host with a Retry-After is called no earlier'(world) {
    await openedBefore(world)
    await say(world, 'ask')
    await say(world, 'probe failed', { floor: 120_000 })
    expect(await openFor(world)).toBe(120)
  },
  async 'a successful probe admits all calls'(world) {
    await openedBefore(world)
    await say(world, 'ask')
    await say(world, 'succeeded')
    expect(await say(world, 'ask')).toEqual({ state: 'closed', failures: 0 })
  },
  async 'after a probe without an answer, another caller may probe'(world) {
    await openedBefore(world)
    await say(world, 'ask')
    world.advance(6_000)
    expect((await say(world, 'ask')).state).toBe('probe')
  },
}

export const broken: Record<number, Facts> = { 38: rule38 }
