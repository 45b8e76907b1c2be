// Rule 41: of which schema the data are, and that Redis may go back to older ones.

import { expect } from 'vitest'
import { createStore } from '../../../src/redis/store.ts'
import type { Facts, World } from '../direct.ts'

const say = (world: World, schema: string) =>
  world.client.ask((redis) => redis.set(world.store.keys.schema, schema).then(() => undefined))
const said = (world: World) => world.client.ask((redis) => redis.get<string>(world.store.keys.schema))

/** What an isolate does that has seen nothing yet. */
const another = ({ client, namespace }: World) => createStore({ client, namespace })

const goBackTo = (world: World, id: number) =>
  world.client.ask((redis) => redis.set(world.store.keys.lastId, String(id)).then(() => undefined))

const rule41: Facts = {
  async 'the first job says which schema the data are of'(world) {
    expect(await said(world)).toBeNull()
    await world.make()
    expect(await said(world)).toBe('1')
  },

  async 'data of the schema before are read, and are of this one from the first write on'(world) {
    const id = await world.make()
    await say(world, '0')
    expect(await world.status(id)).toBe('queued')
    expect(await said(world)).toBe('0')
    await (await world.claimOne()).commit()
    expect(await said(world)).toBe('1')
  },

  async 'data of a newer schema are left alone, by all who would change a job'(world) {
    await world.make()
    const run = await world.claimOne()
    const waiting = await world.make()
    await say(world, '2')
    const refused = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the data are of schema 2'),
      retryAfter: 10,
    }
    await expect(world.make()).rejects.toMatchObject(refused)
    await expect(world.claim()).rejects.toMatchObject(refused)
    await expect(run.commit()).rejects.toMatchObject(refused)
    await expect(run.extend()).rejects.toMatchObject(refused)
    await expect(world.change(waiting, 'terminate', '', '')).rejects.toMatchObject(refused)
    expect(await said(world)).toBe('2')
    await say(world, '1')
    expect(await run.commit()).toBe('completed')
    expect(await world.claimOne()).toMatchObject({ id: waiting })
  },

  async 'the tick leaves newer data alone'(world) {
    await world.make({ wait: 1_000 })
    await say(world, '2')
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
    expect(await world.make()).toBe(ids[2]! + 1)
    const lost = { from: ids[0]! + 1, to: ids[2]! }
    const noticed = (await world.store.standing()).restored
    expect(noticed).toMatchObject({ times: 1, lost })
    expect(noticed!.noticedAt).toBeGreaterThanOrEqual(before - 1_000)
    expect(await world.make()).toBe(ids[2]! + 2)
    expect((await world.store.standing()).restored).toEqual(noticed)
  },

  async 'who has been lent a job knows its id, and says so when it makes another'(world) {
    await another(world).enqueue([{ queue: 'q', class: 'plain', known: true }])
    const run = await world.claimOne()
    await goBackTo(world, 0)
    expect(await world.make()).toBe(run.id + 1)
    await goBackTo(world, 0)
    await world.make()
    expect((await world.store.standing()).restored).toMatchObject({ times: 2, lost: { from: 1, to: run.id + 1 } })
  },
}

export const data: Record<number, Facts> = { 41: rule41 }
