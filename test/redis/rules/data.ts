// Rule 41: the stored data has a schema number. Nothing breaks if Redis is restored from a backup.

import { expect } from 'vitest'
import { createStore } from '../../../src/redis/store.ts'
import type { Facts, World } from '../direct.ts'

const say = (world: World, schema: string) =>
  world.client.ask((redis) => redis.set(world.store.keys.schema, schema).then(() => undefined))
const said = (world: World) => world.client.ask((redis) => redis.get<string>(world.store.keys.schema))

const another = ({ client, namespace }: World) => createStore({ client, namespace })

const goBackTo = (world: World, id: number) =>
  world.client.ask((redis) =>
    redis.mset({ [world.store.keys.lastId]: id, [world.store.keys.highestId]: id }).then(() => undefined),
  )

const rule41: Facts = {
  async 'the first job sets the schema of the data'(world) {
    expect(await said(world)).toBeNull()
    await world.make()
    expect(await said(world)).toBe('2')
  },

  async 'a late change does not restore a removed API key'(world) {
    const key = `${world.namespace}keys`
    const changed = (known: string) => world.change('', 'apikey', 'id', 'about', known, '')
    await changed('')
    await changed('id')
    expect(await world.client.ask((redis) => redis.hkeys(key))).toEqual(['id'])
    await world.client.ask((redis) => redis.del(key))
    expect(await changed('id').catch(({ code }) => code)).toBe('NOT_FOUND')
  },

  async 'no call changes a job in data of a newer schema'(world) {
    await world.make()
    const run = await world.claimOne()
    const waiting = await world.make()
    await say(world, '3')
    const refused = {
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        /has schema 3, and this version of sidejob reads schema 2: deploy the newer version$/,
      ),
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

  async 'the tick does not change newer data'(world) {
    await world.make({ wait: 1_000 })
    await say(world, '3')
    world.advance(60_000)
    await expect(world.tick()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await say(world, '2')
    expect(await world.tick()).toHaveLength(1)
  },

  async 'data of an unsupported schema is refused and stays unchanged'(world) {
    const id = await world.make()
    for (const schema of ['1', 'import']) {
      await say(world, schema)
      await expect(world.change(id, 'terminate', '', '')).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/reads schema 2: first deploy a version that can read the data$/),
        retryAfter: 10,
      })
    }
    await say(world, '2')
    expect(await world.status(id)).toBe('queued')
  },

  async 'ids from before a restore of Redis are not reused for callers that know them'(world) {
    const ids = [await world.make(), await world.make(), await world.make()]
    expect((await world.store.systemState()).restored).toBeNull()
    await goBackTo(world, ids[0]!)
    const before = world.now()
    const step = ids[2]! - ids[1]!
    expect(await world.make()).toBe(ids[2]! + step)
    const lost = { from: ids[0]! + 1, to: ids[2]! }
    const noticed = (await world.store.systemState()).restored
    expect(noticed).toMatchObject({ times: 1, lost })
    expect(noticed!.noticedAt).toBeGreaterThanOrEqual(before - 1_000)
    expect(await world.make()).toBe(ids[2]! + 2 * step)
    expect((await world.store.systemState()).restored).toEqual(noticed)
  },

  async 'a worker with a leased job knows its id, and reports it when it creates another'(world) {
    await another(world).enqueue([{ queue: 'q', class: 'plain', known: true }])
    const run = await world.claimOne()
    await goBackTo(world, 0)
    const next = await world.make()
    expect(next).toBeGreaterThan(run.id)
    await goBackTo(world, 0)
    await world.make()
    expect((await world.store.systemState()).restored).toMatchObject({ times: 2, lost: { from: 1, to: next } })
  },
}

export const data: Record<number, Facts> = { 41: rule41 }
