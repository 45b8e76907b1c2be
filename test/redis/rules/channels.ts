// Rule 29: messages for more listeners than one script may reach.

import { expect } from 'vitest'
import type { Op } from '../../../src/core/run.ts'
import { itemOf } from '../../../src/redis/item.ts'
import type { Facts, World } from '../direct.ts'

const DAY = 86_400_000
const CHANNEL = '/many'
const DIRECT = 500

const channelsOf = async (world: World) => (await world.store.channels('0')).channels

async function listeners(world: World, n: number): Promise<number[]> {
  const one = { queue: 'q', class: 'plain', known: true, in: { in: { channels: [CHANNEL] } }, at: world.now() + DAY }
  const ids: number[] = []
  while (ids.length < n) {
    const { made } = await world.store.enqueue(Array(Math.min(DIRECT, n - ids.length)).fill(one))
    ids.push(...made.map(({ id }) => id))
  }
  return ids
}

const publish = async (world: World, value: number) =>
  Number((await world.change('', 'publish', CHANNEL, `=${value}`))[0])

async function heard(world: World, ids: number[]): Promise<string[]> {
  const ports = await world.store.peek(
    ids.map((id) => ({ id, dir: 'i', port: 'in' })),
    DIRECT,
  )
  return [...new Set(ports.map((port) => port!.items.map((item) => itemOf(item).data).join()))]
}

const relayRun = (world: World) => world.claimOne({ queue: 'sidejob.relay' })

async function relayAll(world: World, most = 20): Promise<number> {
  for (let runs = 1; runs <= most; runs++) if ((await (await relayRun(world)).relay()) === 'completed') return runs
  throw new Error(`the relay still runs after ${most} runs`)
}

const relayOf = async (world: World): Promise<number> => Number((await channelsOf(world))[CHANNEL]!.split(',')[1] ?? 0)

const rule29: Facts = {
  async 'up to 500 listeners get a message in the call that publishes it'(world) {
    const ids = await listeners(world, DIRECT)
    expect(await publish(world, 1)).toBe(DIRECT)
    expect(await heard(world, ids)).toEqual(['1'])
    expect(await relayOf(world)).toBe(0)
  },
  async 'more than 500 listeners get a message once from the relay of the channel, a page in each run'(world) {
    const ids = await listeners(world, 2 * DIRECT + 1)
    expect(await publish(world, 1)).toBe(2 * DIRECT + 1)
    expect(await heard(world, ids)).toEqual([''])
    expect(await relayAll(world)).toBe(3)
    expect(await heard(world, ids)).toEqual(['1'])
  },
  async 'messages arrive in the order in which they were published'(world) {
    const ids = await listeners(world, DIRECT + 1)
    for (const value of [1, 2, 3]) await publish(world, value)
    await relayAll(world)
    expect(await heard(world, ids)).toEqual(['1,2,3'])
  },
  async 'a later message does not overtake an earlier message, even with few listeners left'(world) {
    const ids = await listeners(world, DIRECT + 1)
    await publish(world, 1)
    await (await relayRun(world)).relay()
    const deaf = ids.slice(100, 110)
    for (const id of deaf) await world.change(id, 'channels', '', 'i', 'in', 0)
    const left = ids.filter((id) => !deaf.includes(id))
    await publish(world, 2)
    await relayAll(world)
    expect(await heard(world, left)).toEqual(['1,2'])
    await publish(world, 3)
    expect(await heard(world, left)).toEqual(['1,2,3'])
  },
  async 'a relay lost in the middle continues from its last page'(world) {
    const ids = await listeners(world, 2 * DIRECT + 1)
    await publish(world, 1)
    await (await relayRun(world)).relay()
    const dead = await relayRun(world)
    world.advance(46_000)
    await world.tick()
    expect(await dead.relay()).toBe('lost')
    world.advance(5_000)
    expect(await relayAll(world)).toBe(2)
    expect(await heard(world, ids)).toEqual(['1'])
  },
  async 'a repeated commit of a page has no further effect'(world) {
    const ids = await listeners(world, DIRECT + 1)
    await publish(world, 1)
    const run = await relayRun(world)
    expect(await run.relay()).toBe('queued')
    expect(await run.relay()).toBe('queued')
    await relayAll(world)
    expect(await heard(world, ids)).toEqual(['1'])
  },
  async 'a listener that no longer exists is removed, and the message reaches all other listeners'(world) {
    const ids = await listeners(world, DIRECT + 1)
    const [gone, ...others] = ids.sort((a, b) => (`${a}:in` < `${b}:in` ? -1 : 1))
    await world.client.ask((redis) => redis.del(world.store.keys.job(gone!)))
    await world.client.ask((redis) => redis.zrem(`${world.namespace}queue:q:timers`, String(gone)))
    await world.recount()
    await publish(world, 1)
    await relayAll(world)
    expect(await heard(world, others)).toEqual(['1'])
    expect((await channelsOf(world))[CHANNEL]).toBe(`${DIRECT},${await relayOf(world)}`)
  },
  async 'a new listener receives messages of the same step, and a former listener receives none'(world) {
    for (const n of [2, 20]) {
      const ids = await listeners(world, n)
      await world.make({ queue: 'other', in: { in: {} } })
      const run = await world.claimOne({ queue: 'other' })
      const ops: Op[] = [
        { op: 'channels', of: { in: 'in' }, set: [CHANNEL] },
        { op: 'channels', of: { job: ids[0]!, in: 'in' }, set: [] },
        { op: 'publish', channel: CHANNEL, message: '1' as never },
      ]
      await run.suspend({ ops })
      expect(await heard(world, [...ids.slice(1), run.id])).toEqual(['1'])
      expect(await heard(world, ids.slice(0, 1))).toEqual([''])
      for (const id of [...ids, run.id]) await world.change(id, 'delete', '', '1')
      expect(await channelsOf(world)).toEqual({})
    }
  },
  async 'a few listeners are stored by name, and again after many have left'(world) {
    const names = () => world.client.ask<string | null>((redis) => redis.get(world.store.keys.audience(CHANNEL)))
    const ids = await listeners(world, 8)
    expect((await names())!.split(' ')).toHaveLength(9)
    ids.push(...(await listeners(world, 1)))
    expect(await names()).toBe('9')
    ids.push(...(await listeners(world, 11)))
    expect(await names()).toBe('20')
    for (const id of ids.slice(2)) await world.change(id, 'channels', '', 'i', 'in', 0)
    expect(await publish(world, 1)).toBe(2)
    const left = ids.slice(0, 2)
    expect((await names())!.split(' ').sort()).toEqual(['2', ...left.map((id) => `${id}:in`)].sort())
    expect(await publish(world, 2)).toBe(2)
    expect(await heard(world, left)).toEqual(['1,2'])
  },
  async 'a listener that stops in the same batch as a page is subtracted once'(world) {
    await listeners(world, DIRECT)
    await world.make({ in: { in: { channels: [CHANNEL] } } })
    await publish(world, 1)
    const [deaf, page] = [await world.claimOne(), await relayRun(world)]
    const stop = await deaf.settled({ ops: [{ op: 'channels', of: { in: 'in' }, set: [] }] })
    await world.store.commit({ queue: '', runs: [stop, await page.relaying()] })
    await relayAll(world)
    expect((await channelsOf(world))[CHANNEL]).toMatch(new RegExp(`^${DIRECT},`))
  },
  async 'a relay ended by a caller runs again for the next message, and loses no message'(world) {
    const ids = await listeners(world, DIRECT + 1)
    await publish(world, 1)
    const relay = await relayOf(world)
    await world.change(relay, 'terminate', '', '')
    expect(await world.status(relay)).toBe('terminated')
    await publish(world, 2)
    await relayAll(world)
    expect(await heard(world, ids)).toEqual(['1,2'])
    expect(await relayOf(world)).toBe(relay)
  },
  async 'the runs of a relay do not count as a runaway'(world) {
    await listeners(world, 2 * DIRECT + 1)
    await publish(world, 1)
    const id = await relayOf(world)
    await (await relayRun(world)).relay()
    expect((await world.document(id)).runsThisMinute).toMatch(/:0$/)
    await relayAll(world)
  },
  async 'a relay is removed a day after its last use'(world) {
    await listeners(world, DIRECT + 1)
    await publish(world, 1)
    await relayAll(world)
    const relay = await relayOf(world)
    world.advance(DAY - 1_000)
    await world.tick()
    expect(await world.status(relay)).toBe('completed')
    world.advance(2_000)
    await world.tick()
    await expect(world.document(relay)).rejects.toThrow(`job ${relay} does not exist`)
    expect(await channelsOf(world)).toEqual({ [CHANNEL]: String(DIRECT + 1) })
  },
  async 'a channel is removed with its last listener'(world) {
    const [id] = await listeners(world, 1)
    await world.change(id!, 'channels', '', 'i', 'in', 0)
    expect(await channelsOf(world)).toEqual({})
  },
}

export const channels: Record<number, Facts> = { 29: rule29 }
