// Rules 90 and 91: scripts record the time of the last bell, and the class of each log entry.

import { expect } from 'vitest'
import { logWords } from '../../../src/redis/changes.ts'
import type { Facts, World } from '../direct.ts'

const bellAt = async ({ store }: World) => (await store.systemState()).bellAt

const rule90: Facts = {
  async 'the last bell that became a lane is reported with its time'(world) {
    const { rings } = await world.store.enqueue([{ queue: 'q', class: 'plain', known: true }])
    expect(await bellAt(world)).toBeNull()
    world.advance(5_000)
    await world.lane().ask({ bell: rings[0]!.bell })
    const came = (await bellAt(world))!
    expect(Math.abs(came - world.now())).toBeLessThan(2_000)
    world.advance(60_000)
    await world.lane().ask({ bell: 'not-a-bell-of-ours' })
    expect(await bellAt(world)).toBe(came)
  },
}

const logged = async ({ client, store }: World): Promise<(string | null)[]> => {
  const rows = await client.ask((redis) => redis.xrange(store.keys.log, '-', '+') as Promise<unknown>)
  return (rows as [string, string[]][]).map(([, flat]) => flat[flat.indexOf('class') + 1] ?? null)
}

const rule91: Facts = {
  async 'an entry of the log has the class of its job, for entries of a run and for its failure'(world) {
    await world.make({ class: 'listener' })
    await (await world.claimOne()).commit({ ops: [{ op: 'log', entry: '{"a":1}' as never }] })
    await world.make({ class: 'plain' })
    await (await world.claimOne()).fail()
    expect(await logged(world)).toEqual(['listener', 'plain'])
  },
  async 'an entry without an author has no class'(world) {
    await world.store.change('', [logWords('{"a":1}' as never, world.store.vault)])
    expect(await logged(world)).toEqual([''])
  },
}

export const told: Record<number, Facts> = { 90: rule90, 91: rule91 }
