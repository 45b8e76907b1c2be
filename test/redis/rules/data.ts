// Rule 41: of which schema the data are, and that Redis may go back to older ones.

import { expect } from 'vitest'
import { createStore } from '../../../src/redis/store.ts'
import type { Facts, World } from '../direct.ts'

const say = (world: World, schema: string) =>
  world.client.ask((redis) => redis.set(world.store.keys.schema, schema).then(() => undefined))
const moment = (world: World) => world.client.ask((redis) => redis.zscore(world.store.keys.wake, 'u:schema'))
const HOUR = 3_600_000

/** Gives a limit's indexes the names that they had before there were schemas. */
async function becomeFormer(world: World, key: string): Promise<void> {
  for (const part of ['held', 'window', 'waiting']) {
    const [index, former] = [`limit-${part}:${key}`, `limit:${key}:${part}`].map((name) => world.namespace + name)
    await world.client.ask(async (redis) => {
      if (await redis.exists(index!)) await redis.rename(index!, former!)
    })
  }
  await say(world, '0')
}
const said = (world: World) => world.client.ask((redis) => redis.get<string>(world.store.keys.schema))

/** What an isolate does that has seen nothing yet. */
const another = ({ client, namespace }: World) => createStore({ client, namespace })

const goBackTo = (world: World, id: number) =>
  world.client.ask((redis) =>
    redis.mset({ [world.store.keys.lastId]: id, [world.store.keys.highestId]: id }).then(() => undefined),
  )

const rule41: Facts = {
  async 'the first job says which schema the data are of'(world) {
    expect(await said(world)).toBeNull()
    await world.make()
    expect(await said(world)).toBe('2')
  },

  async 'data of the schema before are read, and are of this one an hour after the first look'(world) {
    const id = await world.make()
    await say(world, '0')
    expect(await world.status(id)).toBe('queued')
    const claimed = await world.claimOne().catch(() => undefined)
    expect(claimed?.id).toBe(id)
    await claimed!.commit()
    expect(await said(world)).toBe('0')
    await world.tick()
    expect(await said(world)).toMatch(/^0,\d+,0$/)
    world.advance(HOUR - 10_000)
    await world.tick()
    expect(await said(world)).toMatch(/^0,/)
    world.advance(10_000)
    await world.tick()
    expect(await said(world)).toBe('2')
    await world.tick()
    expect(await moment(world)).toBeNull()
  },

  async 'data that say no schema are of the one before, unless there are none'(world) {
    const id = await world.make()
    await world.client.ask((redis) => redis.del(world.store.keys.schema))
    await world.change(id, 'terminate', '', '')
    expect(await said(world)).toMatch(/^0,\d+,0$/)
  },

  async 'until then every write asks for the tick, which a former version may have answered'(world) {
    await world.make()
    await say(world, '0')
    await world.make()
    expect(await moment(world)).not.toBeNull()
    await world.client.ask((redis) => redis.zrem(world.store.keys.wake, 'u:schema'))
    await world.make()
    await world.tick()
    expect(await said(world)).toMatch(/^0,\d+,0$/)
    expect(await moment(world)).not.toBeNull()
  },

  async 'what has been left at a limit under its former names is found by whoever looks there first'(world) {
    const limits = [{ key: 'x', how: 'set' as const, concurrency: 1 }]
    const ids = [await world.make({ limits }), await world.make({ limits })]
    const run = await world.claimOne()
    expect(run.id).toBe(ids[0])
    await becomeFormer(world, 'x')
    expect(await world.make({ limits })).toBe(ids[1]! + 1)
    expect(await world.claim()).toEqual([])
    await becomeFormer(world, 'x')
    await run.commit()
    const next = await world.claimOne()
    expect(next.id).toBe(ids[1])
    await next.commit()
    expect(await world.faults()).toEqual([])
  },

  async 'a limit whose former names are another limit keeps that one'(world) {
    const limits = [
      { key: 'x', how: 'set' as const, concurrency: 1 },
      { key: 'x:held', how: 'set' as const, concurrency: 2 },
    ]
    for (let i = 0; i < 3; i++) await world.make({ limits })
    await say(world, '0')
    await (await world.claimOne()).commit()
    await (await world.claimOne()).commit()
    expect((await world.store.limits('x:held'))[0]).toMatchObject({ concurrency: 2, running: 0 })
  },

  async 'where both have written, a long line at a limit is brought over by the tick, a piece at a time'(world) {
    const limits = [{ key: 'x', how: 'set' as const, concurrency: 1 }]
    const many = (n: number) =>
      world.store.enqueue(Array.from({ length: n }, () => ({ queue: 'q', class: 'plain', known: true, limits })))
    const made = [...(await many(600)).made, ...(await many(600)).made]
    await world.store.limit('x', 'set', { paused: true })
    const waiting = async () => (await world.store.limits('x'))[0]!.waiting
    while ((await waiting()) < 1_200) expect(await world.claim()).toEqual([])
    await becomeFormer(world, 'x')
    await say(world, '1')
    await many(1)
    await say(world, '0')
    await world.make()
    expect(await world.store.tick()).toMatchObject({ more: true })
    expect(await waiting()).toBe(1_001)
    expect(await world.store.tick()).toMatchObject({ more: false })
    expect(await waiting()).toBe(1_201)
    await world.store.limit('x', 'set', { paused: false })
    const ready = await world.claim()
    expect(ready.map(({ id }) => id)).toContain(made[0]!.id)
    for (const run of ready) await run.commit()
    expect((await world.claimOne()).id).toBe(made[1]!.id)
    expect(await world.faults()).toEqual([])
  },

  async 'an API key of before stands under its id once somebody asks for it, and does not come back when it is gone'(
    world,
  ) {
    const key = `${world.namespace}keys`
    await world.client.ask((redis) => redis.hset(key, { former: 'about' }))
    const adopt = () => world.change('', 'apikey', 'id', 'about', 'former', '')
    await adopt()
    expect(await world.client.ask((redis) => redis.hkeys(key))).toEqual(['id'])
    await world.client.ask((redis) => redis.del(key))
    expect(await adopt().catch(({ code }) => code)).toBe('NOT_FOUND')
  },

  async 'data of a newer schema are left alone, by all who would change a job'(world) {
    await world.make()
    const run = await world.claimOne()
    const waiting = await world.make()
    await say(world, '3')
    const refused = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the data are of schema 3'),
      retryAfter: 10,
    }
    await expect(world.make()).rejects.toMatchObject(refused)
    await expect(world.claim()).rejects.toMatchObject(refused)
    await expect(run.commit()).rejects.toMatchObject(refused)
    await expect(run.extend()).rejects.toMatchObject(refused)
    await expect(world.change(waiting, 'terminate', '', '')).rejects.toMatchObject(refused)
    expect(await said(world)).toBe('3')
    await say(world, '2')
    expect(await run.commit()).toBe('completed')
    expect(await world.claimOne()).toMatchObject({ id: waiting })
  },

  async 'the tick leaves newer data alone'(world) {
    await world.make({ wait: 1_000 })
    await say(world, '3')
    world.advance(60_000)
    await expect(world.tick()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await say(world, '1')
    expect(await world.tick()).toHaveLength(1)
  },

  async 'ids that were given before Redis went back to older data are not given again to who knows them'(world) {
    const ids = [await world.make(), await world.make(), await world.make()]
    expect((await world.store.standing()).restored).toBeNull()
    await goBackTo(world, ids[0]!)
    const before = world.now()
    const step = ids[2]! - ids[1]!
    expect(await world.make()).toBe(ids[2]! + step)
    const lost = { from: ids[0]! + 1, to: ids[2]! }
    const noticed = (await world.store.standing()).restored
    expect(noticed).toMatchObject({ times: 1, lost })
    expect(noticed!.noticedAt).toBeGreaterThanOrEqual(before - 1_000)
    expect(await world.make()).toBe(ids[2]! + 2 * step)
    expect((await world.store.standing()).restored).toEqual(noticed)
  },

  async 'who has been lent a job knows its id, and says so when it makes another'(world) {
    await another(world).enqueue([{ queue: 'q', class: 'plain', known: true }])
    const run = await world.claimOne()
    await goBackTo(world, 0)
    const next = await world.make()
    expect(next).toBeGreaterThan(run.id)
    await goBackTo(world, 0)
    await world.make()
    expect((await world.store.standing()).restored).toMatchObject({ times: 2, lost: { from: 1, to: next } })
  },
}

export const data: Record<number, Facts> = { 41: rule41 }
