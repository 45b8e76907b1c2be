// Rule 130: a channel keeps its last message if the publisher requests it.

import { expect } from 'vitest'
import type { Encoded } from '../../../src/core/codec/value.ts'
import { publishedWords } from '../../../src/redis/changes.ts'
import type { Facts, World } from '../direct.ts'

const MINUTE = 60_000
const MOST = 500

const say = (world: World, channel: string, message: string, keep?: 0 | 1) =>
  world.store.change('', publishedWords(channel, message as Encoded, world.store.vault, { keep }))

const keep = (world: World, channel: string, message: string) => say(world, channel, message, 1)

async function kept({ store }: World): Promise<Record<string, string | number>> {
  const channels = await store.keptChannels()
  const last = await store.lastMessages(channels)
  expect(last).not.toContain(undefined)
  return Object.fromEntries(channels.map((name, i) => [name, last[i]!.message ?? last[i]!.size]))
}

const counted = async ({ store }: World, channel: string) => (await store.lastMessages([channel]))[0]!.counted

const keys = ({ client, namespace }: World) =>
  client.ask<string[]>((redis) => redis.keys(`${namespace.replace(/[[\]*?\\]/g, '\\$&')}message*`))

async function fill(world: World, n: number, from = 0): Promise<void> {
  for (let i = from; i < from + n; i++) await keep(world, `/c/${i}`, String(i))
}

const rule130: Facts = {
  async 'the last message is kept on request, with its time and size, and other messages are not'(world) {
    await say(world, '/a', '1')
    expect(await keys(world)).toEqual([])
    await keep(world, '/a/b', '2')
    await keep(world, '/a/b', '3')
    await say(world, '/a/b', '4')
    expect(await kept(world)).toEqual({ '/a/b': '3' })
    const [last] = await world.store.lastMessages(['/a/b'])
    expect(last).toMatchObject({ size: '@\n/a/b\n\n3'.length, message: '3' })
    expect(Math.abs(last!.at - world.now())).toBeLessThan(5_000)
  },
  async 'kept messages are counted, minute by minute, for ten minutes'(world) {
    for (const value of ['1', '2']) await keep(world, '/a', value)
    expect(await counted(world, '/a')).toMatch(/^\d+:2$/)
    world.advance(MINUTE)
    await keep(world, '/a', '3')
    expect(await counted(world, '/a')).toMatch(/^\d+:1:2$/)
    world.advance(11 * MINUTE)
    await keep(world, '/a', '4')
    expect(await counted(world, '/a')).toMatch(/^\d+:1$/)
  },
  async 'a kept message is deleted on request, and the next message is kept again'(world) {
    await keep(world, '/a', '1')
    await keep(world, '/b', '2')
    await say(world, '/a', '3', 0)
    await say(world, '/never', '3', 0)
    expect(await kept(world)).toEqual({ '/b': '2' })
    expect(await keys(world)).toHaveLength(2)
    await keep(world, '/a', '4')
    expect(await counted(world, '/a')).toMatch(/^\d+:1$/)
  },
  async 'a refused message is not kept'(world) {
    await keep(world, '/a', '1')
    const words = publishedWords('/a', '2' as Encoded, world.store.vault, { keep: 1 })
    const twice = [...words, ...Array.from({ length: 5_000 }, () => words[1]!)]
    await expect(world.store.change('', twice)).rejects.toThrow('expected at most 10000 parts of channel names')
    expect(await kept(world)).toEqual({ '/a': '1' })
  },
  async 'a message above 4 KiB is kept as its size, without its text'(world) {
    const head = '@\n/a\n\n'.length
    await keep(world, '/a', `"${'x'.repeat(4_096 - head - 2)}"`)
    expect(await kept(world)).toEqual({ '/a': expect.stringMatching(/^"x+"$/) })
    await keep(world, '/a', `"${'x'.repeat(4_096 - head - 1)}"`)
    expect(await kept(world)).toEqual({ '/a': 4_097 })
  },
  async '500 messages are kept; a new channel replaces the channel without messages for the longest time'(world) {
    await fill(world, 2)
    world.advance(MINUTE)
    await fill(world, MOST - 2, 2)
    await keep(world, '/c/0', '7')
    await keep(world, '/d', '1')
    const all = await kept(world)
    expect(Object.keys(all)).toHaveLength(MOST)
    expect(all).toMatchObject({ '/c/0': '7', '/d': '1' })
    expect(all).not.toHaveProperty('/c/1')
    expect(await keys(world)).toHaveLength(MOST + 1)
  },
}

export const lastMessages: Record<number, Facts> = { 130: rule130 }
